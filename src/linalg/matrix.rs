//! Row-major matrix views over slices.

use core::ops::{Index, IndexMut};

use nalgebra::{Dyn, MatrixView};

use crate::memory::{rest, run, run_mut};
use crate::scalar::Real;

/// Row stride for `cols` columns: the next multiple of four.
pub const fn padded(cols: usize) -> usize {
    cols.next_multiple_of(4)
}

/// A read-only row-major matrix.
///
/// ```
/// use saltus::linalg::MatRef;
///
/// let m = MatRef::new(&[1.0, 2.0, 3.0, 4.0], 2, 2);
/// assert_eq!(m[(1, 0)], 3.0);
/// assert_eq!(m.to_nalgebra()[(1, 0)], 3.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, T> {
    data: &'a [T],
    rows: usize,
    cols: usize,
    stride: usize,
    /// Zero, for places that are not there.
    outside: T,
}

impl<'a, T: Real> MatRef<'a, T> {
    /// Over `rows * cols` contiguous numbers.
    pub fn new(data: &'a [T], rows: usize, cols: usize) -> Self {
        Self::with_stride(data, rows, cols, cols)
    }

    /// Over rows that start every `stride` numbers.
    pub fn with_stride(data: &'a [T], rows: usize, cols: usize, stride: usize) -> Self {
        debug_assert!(cols <= stride && (rows == 0 || data.len() >= (rows - 1) * stride + cols));
        Self { data, rows, cols, stride, outside: T::ZERO }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Numbers from the start of one row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The numbers, padding included.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [T] {
        run(self.data, i * self.stride, self.cols)
    }

    /// Columns `first .. first + cols`.
    pub fn columns(&self, first: usize, cols: usize) -> MatRef<'a, T> {
        debug_assert!(first + cols <= self.cols);
        MatRef { data: rest(self.data, first), rows: self.rows, cols, stride: self.stride, outside: T::ZERO }
    }

    /// The same numbers as a nalgebra view.
    pub fn to_nalgebra(&self) -> MatrixView<'a, T, Dyn, Dyn, Dyn, Dyn> {
        MatrixView::from_slice_with_strides_generic(self.data, Dyn(self.rows), Dyn(self.cols), Dyn(self.stride), Dyn(1))
    }
}

/// A place that is not there reads as zero.
impl<T: Real> Index<(usize, usize)> for MatRef<'_, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        entry(self.data, i * self.stride + j, &self.outside)
    }
}

#[inline(always)]
fn entry<'a, T>(data: &'a [T], at: usize, outside: &'a T) -> &'a T {
    debug_assert!(at < data.len());
    match data.get(at) {
        Some(entry) => entry,
        None => outside,
    }
}

/// A row-major matrix that can be written. It owns its rows whole: what stands between the last column and the next row
/// is padding that kernels may overwrite.
#[derive(Debug)]
pub struct MatMut<'a, T> {
    data: &'a mut [T],
    rows: usize,
    cols: usize,
    stride: usize,
    /// For places that are not there: takes what is written to them.
    outside: T,
}

impl<'a, T: Real> MatMut<'a, T> {
    /// Over `rows * cols` contiguous numbers.
    pub fn new(data: &'a mut [T], rows: usize, cols: usize) -> Self {
        Self::with_stride(data, rows, cols, cols)
    }

    /// Over rows that start every `stride` numbers.
    pub fn with_stride(data: &'a mut [T], rows: usize, cols: usize, stride: usize) -> Self {
        debug_assert!(cols <= stride && (rows == 0 || data.len() >= (rows - 1) * stride + cols));
        Self { data, rows, cols, stride, outside: T::ZERO }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Numbers from the start of one row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The numbers, padding included.
    pub fn data_mut(&mut self) -> &mut [T] {
        self.data
    }

    /// The numbers, for as long as they are borrowed.
    pub(crate) fn into_data(self) -> &'a mut [T] {
        self.data
    }

    /// Columns with as much padding as fills a vector, where the rows have it: kernels run faster over full vectors.
    pub(super) fn full_cols(&self) -> usize {
        let wide = padded(self.cols);
        if wide <= self.stride && self.rows * self.stride <= self.data.len() { wide } else { self.cols }
    }

    /// Row `i`.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        run_mut(self.data, i * self.stride, self.cols)
    }

    /// A view that can be read.
    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef { data: self.data, rows: self.rows, cols: self.cols, stride: self.stride, outside: T::ZERO }
    }

    /// A shorter borrow of the same matrix.
    pub fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut { data: self.data, rows: self.rows, cols: self.cols, stride: self.stride, outside: T::ZERO }
    }

    /// Sets every entry.
    pub fn fill(&mut self, value: T) {
        for i in 0..self.rows {
            self.row_mut(i).fill(value);
        }
    }
}

/// A place that is not there reads as zero.
impl<T: Real> Index<(usize, usize)> for MatMut<'_, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        entry(self.data, i * self.stride + j, &self.outside)
    }
}

/// What is written to a place that is not there is lost.
impl<T: Real> IndexMut<(usize, usize)> for MatMut<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        let at = i * self.stride + j;
        debug_assert!(at < self.data.len());
        match self.data.get_mut(at) {
            Some(entry) => entry,
            None => &mut self.outside,
        }
    }
}
