//! Small dense kernels for run-time sizes, and the sparse factor of the mass matrix along the kinematic tree.
//!
//! Matrices are row-major over slices, with a row stride of their own; [`padded`] rounds a stride up so that rows start
//! on a vector boundary. Everything rests on two inner loops: a register tile of a product, and a row from which a
//! combination of other rows is subtracted. Each entry sums in the order of its index, whatever the tile, so the bits
//! do not depend on the target. Shapes are checked by the callers at the border, and here by debug assertions.

mod cholesky;
mod cholesky_blocks;
mod corrected_solve;
mod few_rows;
mod ldlt;
mod lu;
mod matrix;
mod mirror;
mod pivoted_cholesky;
mod product;
mod row_product;
mod rows;
pub mod tree;
mod triangular;
mod whole_rows;

pub use cholesky::{NotPositiveDefinite, cholesky, cholesky_solve, cholesky_solve_vector};
pub(crate) use cholesky_blocks::{
    cholesky_in_blocks, cholesky_solve_in_blocks, eliminate_in_blocks, solve_lower_in_blocks, solve_upper_in_blocks,
};
pub(crate) use corrected_solve::{Correction, Given, NOT_GIVEN, System, solve_corrected};
pub(crate) use few_rows::{exchange_rows, mix_three_rows, three_rows};
pub use ldlt::{SmallPivot, ldlt, ldlt_solve};
pub(crate) use lu::partial_dot;
pub use lu::{Singular, lu, lu_solve, lu_solve_matrix, lu_solve_transposed};
pub use matrix::{MatMut, MatRef, padded};
pub(crate) use mirror::mirror;
pub use pivoted_cholesky::pivoted_cholesky;
pub use product::{add_a_b, add_a_bt, add_at_a_upper, add_at_b, add_at_b_upper};
pub(crate) use product::{subtract_at_a_upper, subtract_at_b, write_at_b, write_gram_rows, write_sum_upper};
pub(crate) use row_product::{add_rows_a_b, add_symmetric_product, subtract_rows_at_b};
pub(crate) use rows::{chunk, chunk_mut};
pub use triangular::{solve_lower, solve_unit_lower, solve_upper};
pub(crate) use whole_rows::{add_few_rows, transpose};
