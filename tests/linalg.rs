//! Every kernel equals nalgebra over odd sizes, rows with and without padding, f64 and f32; bad input is named.

use nalgebra::DMatrix;
use saltus::linalg::tree::{self, Link, Tree};
use saltus::linalg::{
    MatMut, MatRef, NotPositiveDefinite, Singular, SmallPivot, add_a_b, add_a_bt, add_at_a_upper, add_at_b, cholesky,
    cholesky_solve, ldlt, ldlt_solve, lu, lu_solve, lu_solve_matrix, padded, pivoted_cholesky, solve_lower,
    solve_upper,
};
use saltus::scalar::Real;
use saltus_testkit::Random;

/// Around every tile width and vector length, and the sizes of real robots.
const SIZES: [usize; 19] = [1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17, 18, 23, 25, 31, 33, 36, 41];
/// Rounding errors of a sum of products of numbers below one: at most one ε for each term, and for adding it.
const EPSILONS_PER_TERM: f64 = 2.0;
/// Rounding errors of a solve relative to its largest result, per row: the matrices here have condition below 10.
const EPSILONS_PER_ROW: f64 = 20.0;

/// A matrix in memory of its own, whose padding holds NaN: a kernel that lets padding into a result shows it.
#[derive(Clone)]
struct Stored<T> {
    data: Vec<T>,
    rows: usize,
    cols: usize,
    stride: usize,
}

/// How the rows of a matrix stand in memory.
#[derive(Clone, Copy, Debug)]
enum Rows {
    /// One after the other.
    Exact,
    /// On vector boundaries.
    Padded,
    /// Anywhere, and the last one ends without padding.
    Ragged,
}

const LAYOUTS: [Rows; 3] = [Rows::Exact, Rows::Padded, Rows::Ragged];

impl<T: Real> Stored<T> {
    fn new(m: &DMatrix<f64>, rows: Rows) -> Self {
        let stride = match rows {
            Rows::Exact => m.ncols(),
            Rows::Padded => padded(m.ncols()),
            Rows::Ragged => m.ncols() + 5,
        };
        let missing = if matches!(rows, Rows::Ragged) { 5 } else { 0 };
        let mut data = vec![T::from_f64(f64::NAN); m.nrows() * stride - missing];
        for i in 0..m.nrows() {
            for j in 0..m.ncols() {
                data[i * stride + j] = T::from_f64(m[(i, j)]);
            }
        }
        Self { data, rows: m.nrows(), cols: m.ncols(), stride }
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::with_stride(&self.data, self.rows, self.cols, self.stride)
    }

    fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::with_stride(&mut self.data, self.rows, self.cols, self.stride)
    }

    /// What is stored, which for f32 is not what was asked for.
    fn dense(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.rows, self.cols, |i, j| self.data[i * self.stride + j].to_f64())
    }
}

fn random(rng: &mut Random, rows: usize, cols: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows, cols, |_, _| rng.signed())
}

/// Uᵀ D U with unit upper U close to one, whose pivots are known.
fn with_pivots(rng: &mut Random, pivots: &[f64]) -> DMatrix<f64> {
    let n = pivots.len();
    let u = DMatrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { upper(i, j) * rng.signed() / n as f64 });
    let d = DMatrix::from_diagonal(&nalgebra::DVector::from_column_slice(pivots));
    u.transpose() * d * u
}

fn upper(i: usize, j: usize) -> f64 {
    if i < j { 1.0 } else { 0.0 }
}

/// The same matrix with NaN below its diagonal, which no kernel may read.
fn upper_only(m: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(m.nrows(), m.ncols(), |i, j| if i <= j { m[(i, j)] } else { f64::NAN })
}

/// From the upper triangle.
fn symmetric(m: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(m.nrows(), m.ncols(), |i, j| m[(i.min(j), i.max(j))])
}

fn assert_close<T: Real>(what: &str, ours: &DMatrix<f64>, theirs: &DMatrix<f64>, epsilons: f64) {
    assert_eq!(ours.shape(), theirs.shape());
    let scale = theirs.amax().max(1.0);
    let worst = ours
        .iter()
        .zip(theirs.iter())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |m: f64, e| if e.is_nan() { f64::INFINITY } else { m.max(e) });
    let limit = epsilons * T::EPSILON.to_f64() * scale;
    assert!(worst <= limit, "{what}, {:?}: off by {worst:e}, more than {limit:e}", ours.shape());
}

/// Calls `check` with rows, depth and columns of a product, every pair of outer sizes once, and layouts in turn.
fn for_shapes(mut check: impl FnMut(&mut Random, [usize; 3], [Rows; 3])) {
    let mut rng = Random::new(11);
    let mut turn = 0;
    for rows in SIZES {
        for cols in SIZES {
            let depth = SIZES[(rng.uniform() * SIZES.len() as f64) as usize];
            let layouts = [LAYOUTS[turn % 3], LAYOUTS[turn / 3 % 3], LAYOUTS[turn / 9 % 3]];
            turn += 1;
            check(&mut rng, [rows, depth, cols], layouts);
        }
    }
}

fn check_products<T: Real>() {
    for_shapes(|rng, [n, k, m], [of_a, of_b, of_c]| {
        let a = Stored::<T>::new(&random(rng, n, k), of_a);
        let at = Stored::<T>::new(&random(rng, k, n), of_a);
        let b = Stored::<T>::new(&random(rng, k, m), of_b);
        let bt = Stored::<T>::new(&random(rng, m, k), of_b);
        let start = Stored::<T>::new(&random(rng, n, m), of_c);
        let epsilons = EPSILONS_PER_TERM * (k + 1) as f64;
        let mut c = start.clone();
        add_a_b(c.view_mut(), a.view(), b.view());
        assert_close::<T>("A B", &c.dense(), &(start.dense() + a.dense() * b.dense()), epsilons);
        c = start.clone();
        add_at_b(c.view_mut(), at.view(), b.view());
        assert_close::<T>("Aᵀ B", &c.dense(), &(start.dense() + at.dense().transpose() * b.dense()), epsilons);
        c = start.clone();
        add_a_bt(c.view_mut(), a.view(), bt.view());
        assert_close::<T>("A Bᵀ", &c.dense(), &(start.dense() + a.dense() * bt.dense().transpose()), epsilons);
    });
}

#[test]
fn products_equal_nalgebras() {
    check_products::<f64>();
    check_products::<f32>();
}

fn check_symmetric_update<T: Real>() {
    for_shapes(|rng, [n, k, _], [of_a, of_c, _]| {
        let a = Stored::<T>::new(&random(rng, k, n), of_a);
        let mut c = Stored::<T>::new(&random(rng, n, n), of_c);
        let expected = c.dense() + a.dense().transpose() * a.dense();
        add_at_a_upper(c.view_mut(), a.view());
        let epsilons = EPSILONS_PER_TERM * (k + 1) as f64;
        assert_close::<T>("Aᵀ A", &symmetric(&c.dense()), &symmetric(&expected), epsilons);
    });
}

#[test]
fn symmetric_update_equals_nalgebras_on_and_above_the_diagonal() {
    check_symmetric_update::<f64>();
    check_symmetric_update::<f32>();
}

fn check_order<T: Real>() {
    for_shapes(|rng, [n, k, m], [of_a, of_b, of_c]| {
        let a = Stored::<T>::new(&random(rng, n, k), of_a);
        let b = Stored::<T>::new(&random(rng, k, m), of_b);
        let bt = Stored::<T>::new(&b.dense().transpose(), of_a);
        let at = Stored::<T>::new(&a.dense().transpose(), of_b);
        let start = Stored::<T>::new(&random(rng, n, m), of_c);
        let (mut ab, mut atb, mut abt) = (start.clone(), start.clone(), start.clone());
        add_a_b(ab.view_mut(), a.view(), b.view());
        add_at_b(atb.view_mut(), at.view(), b.view());
        add_a_bt(abt.view_mut(), a.view(), bt.view());
        for i in 0..n {
            for j in 0..m {
                let sum = (0..k).fold(T::ZERO, |sum, l| a.view()[(i, l)].mul_add(b.view()[(l, j)], sum));
                let expected = start.view()[(i, j)] + sum;
                assert!([&ab, &atb, &abt].iter().all(|c| c.view()[(i, j)] == expected), "entry ({i}, {j})");
            }
        }
    });
}

#[test]
fn products_have_the_bits_of_a_plain_sum_whatever_the_tile() {
    check_order::<f64>();
    check_order::<f32>();
}

#[test]
fn products_over_no_terms_leave_the_sum_as_it_was() {
    for n in [1, 4, 5, 13, 30] {
        let start: Vec<f64> = Random::new(3).vector(n * n);
        let (none_tall, none_wide) = (MatRef::new(&[], n, 0), MatRef::new(&[], 0, n));
        let mut c = start.clone();
        add_a_b(MatMut::new(&mut c, n, n), none_tall, none_wide);
        add_at_b(MatMut::new(&mut c, n, n), none_wide, none_wide);
        add_a_bt(MatMut::new(&mut c, n, n), none_tall, none_tall);
        add_at_a_upper(MatMut::new(&mut c, n, n), none_wide);
        assert_eq!(c, start);
    }
}

#[test]
fn products_with_no_rows_or_no_columns_do_nothing() {
    let numbers = [1.0; 20];
    let (tall, none) = (MatRef::new(&numbers, 4, 5), MatRef::<f64>::new(&[], 5, 0));
    add_a_b(MatMut::new(&mut [], 4, 0), tall, none);
    add_at_b(MatMut::new(&mut [], 0, 5), MatRef::new(&[], 4, 0), tall);
    add_at_a_upper(MatMut::new(&mut [], 0, 0), none);
}

fn check_cholesky<T: Real>() {
    let mut rng = Random::new(21);
    for n in SIZES {
        for (rows, of_x) in [(Rows::Exact, Rows::Padded), (Rows::Padded, Rows::Ragged), (Rows::Ragged, Rows::Exact)] {
            let pivots: Vec<f64> = (0..n).map(|_| 1.0 + rng.uniform()).collect();
            let mut a = Stored::<T>::new(&upper_only(&with_pivots(&mut rng, &pivots)), rows);
            let full = symmetric(&a.dense());
            let mut x = Stored::<T>::new(&random(&mut rng, n, 1 + n / 2), of_x);
            let oracle = full.clone().cholesky().expect("its pivots are positive");
            let expected = oracle.solve(&x.dense());
            cholesky(a.view_mut()).unwrap();
            let epsilons = EPSILONS_PER_ROW * n as f64;
            let u = oracle.l().transpose();
            assert_close::<T>("U", &a.dense().upper_triangle(), &u, epsilons);
            cholesky_solve(a.view(), x.view_mut());
            assert_close::<T>("cholesky_solve", &x.dense(), &expected, epsilons);
        }
    }
}

#[test]
fn cholesky_and_its_solve_equal_nalgebras() {
    check_cholesky::<f64>();
    check_cholesky::<f32>();
}

/// Rows that are combinations of others fall away, and the rest factors what it names.
fn check_pivoted_cholesky<T: Real>() {
    let mut rng = Random::new(27);
    for n in SIZES {
        for rows in [Rows::Exact, Rows::Padded, Rows::Ragged] {
            let rank = n.div_ceil(2);
            let factor = random(&mut rng, rank, n) + DMatrix::from_diagonal_element(rank, n, 2.0);
            let a = Stored::<T>::new(&(factor.transpose() * &factor), Rows::Padded);
            let mut u = Stored::<T>::new(&DMatrix::zeros(n, n), rows);
            let mut order: Vec<u16> = (0..n as u16).rev().collect();
            let tolerance = T::from_f64(1e4) * T::EPSILON;
            let (found, pivot) =
                pivoted_cholesky(a.view(), &mut order, u.view_mut(), tolerance, &mut vec![T::ZERO; 2 * n]);
            assert!(found == rank && (n == 0 || pivot > tolerance), "rank {found} instead of {rank}");
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..n as u16), "no row is lost");
            let (dense, full) = (u.dense(), a.dense());
            let top = DMatrix::from_fn(rank, n, |i, j| if j >= i { dense[(i, j)] } else { 0.0 });
            let ours = top.transpose() * &top;
            let named = |i: usize, j: usize| full[(usize::from(order[i]), usize::from(order[j]))];
            let tolerance = 8.0 * EPSILONS_PER_ROW * n as f64;
            assert_close::<T>("UᵀU", &ours, &DMatrix::from_fn(n, n, named), tolerance);
        }
    }
}

#[test]
fn a_pivoted_cholesky_factor_ends_at_the_rank() {
    check_pivoted_cholesky::<f64>();
    check_pivoted_cholesky::<f32>();
}

fn check_ldlt<T: Real>() {
    let mut rng = Random::new(22);
    for n in SIZES {
        for (rows, of_x) in [(Rows::Exact, Rows::Padded), (Rows::Padded, Rows::Ragged), (Rows::Ragged, Rows::Exact)] {
            let pivots: Vec<f64> = (0..n).map(|_| (1.0 + rng.uniform()) * rng.signed().signum()).collect();
            let mut a = Stored::<T>::new(&upper_only(&with_pivots(&mut rng, &pivots)), rows);
            let full = symmetric(&a.dense());
            let mut x = Stored::<T>::new(&random(&mut rng, n, 1 + n / 2), of_x);
            let expected = full.lu().solve(&x.dense()).expect("its pivots are not zero");
            ldlt(a.view_mut(), T::EPSILON).unwrap();
            let epsilons = EPSILONS_PER_ROW * n as f64;
            let ours = DMatrix::from_fn(n, 1, |i, _| a.view()[(i, i)].to_f64());
            assert_close::<T>("D", &ours, &DMatrix::from_column_slice(n, 1, &pivots), epsilons);
            ldlt_solve(a.view(), x.view_mut());
            assert_close::<T>("ldlt_solve", &x.dense(), &expected, epsilons);
        }
    }
}

#[test]
fn ldlt_solves_indefinite_systems_as_nalgebra_does() {
    check_ldlt::<f64>();
    check_ldlt::<f32>();
}

fn check_triangular<T: Real>() {
    for_shapes(|rng, [n, _, m], [of_u, of_x, _]| {
        let off = random(rng, n, n);
        let u = DMatrix::from_fn(n, n, |i, j| if i == j { 1.0 + rng.uniform() } else { off[(i, j)] / n as f64 });
        let u = Stored::<T>::new(&upper_only(&u), of_u);
        let start = Stored::<T>::new(&random(rng, n, m), of_x);
        let dense = u.dense().upper_triangle();
        let epsilons = EPSILONS_PER_ROW * n as f64;
        let mut x = start.clone();
        solve_lower(u.view(), x.view_mut());
        let expected = dense.transpose().solve_lower_triangular(&start.dense()).unwrap();
        assert_close::<T>("solve_lower", &x.dense(), &expected, epsilons);
        x = start.clone();
        solve_upper(u.view(), x.view_mut());
        assert_close::<T>("solve_upper", &x.dense(), &dense.solve_upper_triangular(&start.dense()).unwrap(), epsilons);
    });
}

#[test]
fn triangular_solves_equal_nalgebras() {
    check_triangular::<f64>();
    check_triangular::<f32>();
}

#[test]
fn factors_leave_all_but_the_upper_triangle_alone() {
    const SENTINEL: f64 = 123.0;
    let (n, stride, beyond) = (13, 17, 8);
    let m = with_pivots(&mut Random::new(5), &vec![1.0; n]);
    let mut start = vec![SENTINEL; n * stride + beyond];
    for i in 0..n {
        for j in i..n {
            start[i * stride + j] = m[(i, j)];
        }
    }
    let (mut by_cholesky, mut by_ldlt) = (start.clone(), start);
    cholesky(MatMut::with_stride(&mut by_cholesky, n, n, stride)).unwrap();
    ldlt(MatMut::with_stride(&mut by_ldlt, n, n, stride), 0.0).unwrap();
    for data in [by_cholesky, by_ldlt] {
        let outside = |at: usize| at >= n * stride || at % stride >= n || at % stride < at / stride;
        assert!((0..data.len()).filter(|&at| outside(at)).all(|at| data[at] == SENTINEL));
    }
}

#[test]
fn nothing_is_written_beyond_the_last_row() {
    type Kernel<'k> = &'k dyn Fn(MatMut<'_, f64>);
    const SENTINEL: f64 = 123.0;
    let (n, stride) = (13, 16);
    let a = Stored::<f64>::new(&random(&mut Random::new(6), n, n), Rows::Padded);
    let mut data = vec![SENTINEL; n * stride + 40];
    let kernels: [Kernel<'_>; 7] = [
        &|c| add_a_b(c, a.view(), a.view()),
        &|c| add_at_b(c, a.view(), a.view()),
        &|c| add_a_bt(c, a.view(), a.view()),
        &|c| add_at_a_upper(c, a.view()),
        &|c| solve_lower(a.view(), c),
        &|c| solve_upper(a.view(), c),
        &|c| ldlt_solve(a.view(), c),
    ];
    for kernel in kernels {
        kernel(MatMut::with_stride(&mut data, n, n, stride));
        assert!(data[n * stride..].iter().all(|&x| x == SENTINEL));
    }
}

#[test]
fn a_pivot_that_is_not_positive_is_named() {
    let mut rng = Random::new(31);
    for n in SIZES {
        for bad in [0, n / 2, n - 1] {
            let mut pivots = vec![1.5; n];
            pivots[bad] = -0.5;
            let m = with_pivots(&mut rng, &pivots);
            let mut a = Stored::<f64>::new(&m, Rows::Padded);
            assert_eq!(cholesky(a.view_mut()), Err(NotPositiveDefinite { pivot: bad }));
            a = Stored::new(&m, Rows::Exact);
            assert_eq!(ldlt(a.view_mut(), 0.6), Err(SmallPivot { pivot: bad }), "|−0.5| is within 0.6");
            a = Stored::new(&m, Rows::Exact);
            assert_eq!(ldlt(a.view_mut(), 0.4), Ok(()));
        }
    }
}

#[test]
fn a_zero_pivot_is_an_error_at_a_zero_threshold() {
    let mut zero = [1.0_f32, 1.0, 1.0, 1.0];
    assert_eq!(ldlt(MatMut::new(&mut zero, 2, 2), 0.0), Err(SmallPivot { pivot: 1 }));
    zero = [1.0, 1.0, 1.0, 1.0];
    assert_eq!(cholesky(MatMut::new(&mut zero, 2, 2)), Err(NotPositiveDefinite { pivot: 1 }));
}

#[test]
fn what_is_not_finite_is_an_error_at_the_pivot_of_its_column() {
    let n = 11;
    let m = with_pivots(&mut Random::new(32), &vec![1.0; n]);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (i, j) in (0..n).flat_map(|i| (i..n).map(move |j| (i, j))) {
            let mut spoiled = m.clone();
            spoiled[(i, j)] = bad;
            let mut a = Stored::<f64>::new(&spoiled, Rows::Padded);
            assert_eq!(cholesky(a.view_mut()), Err(NotPositiveDefinite { pivot: j }), "{bad} at ({i}, {j})");
            a = Stored::new(&spoiled, Rows::Padded);
            assert_eq!(ldlt(a.view_mut(), 1e-9), Err(SmallPivot { pivot: j }), "{bad} at ({i}, {j})");
            spoiled.transpose_mut();
            a = Stored::new(&spoiled, Rows::Padded);
            let result = tree::factorize(Tree(&chain(n)), a.view_mut(), &mut vec![0.0; n]);
            assert_eq!(result, Err(NotPositiveDefinite { pivot: i }), "{bad} at ({j}, {i})");
        }
    }
}

/// Links from parents, numbered depth first.
fn links(parents: &[Option<usize>]) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (i, parent) in parents.iter().enumerate() {
        let follows = parent.is_some_and(|p| p + 1 == i);
        let run_start = if follows { links[i - 1].run_start } else { i as u16 };
        let parent_index = parent.map_or(Link::ROOT, |p| p as u16);
        links.push(Link { parent: parent_index, run_start, subtree_end: i as u16 + 1 });
        let mut ancestor = *parent;
        while let Some(p) = ancestor {
            links[p].subtree_end = i as u16 + 1;
            ancestor = parents[p];
        }
    }
    links
}

fn chain(n: usize) -> Vec<Link> {
    links(&(0..n).map(|i| i.checked_sub(1)).collect::<Vec<_>>())
}

/// A general matrix whose condition is below 10, with its rows in random order: every column needs an exchange.
fn shuffled(rng: &mut Random, n: usize) -> DMatrix<f64> {
    let mut m = random(rng, n, n) / (3.0 * n as f64) + DMatrix::identity(n, n);
    for i in (1..n).rev() {
        m.swap_rows(i, (rng.uniform() * (i + 1) as f64) as usize);
    }
    m
}

fn check_lu<T: Real>() {
    let mut rng = Random::new(51);
    for n in SIZES {
        for rows in LAYOUTS {
            let mut a = Stored::<T>::new(&shuffled(&mut rng, n), rows);
            let dense = a.dense();
            let start = Stored::<T>::new(&random(&mut rng, n, 1 + n / 2), rows);
            let expected = dense.clone().lu().solve(&start.dense()).expect("regular");
            let mut exchanges = vec![0; n];
            let ratio = lu(a.view_mut(), &mut exchanges).unwrap().to_f64();
            assert!(ratio > 0.1 && ratio <= 1.0, "pivots of a regular matrix differ by {ratio}");

            let factor = a.dense();
            let lower = DMatrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { factor[(i, j)] * upper(j, i) });
            let mut product = lower * factor.upper_triangle();
            for k in (0..n).rev() {
                product.swap_rows(k, usize::from(exchanges[k]));
            }
            let epsilons = EPSILONS_PER_ROW * n as f64;
            assert_close::<T>("Pᵀ L U", &product, &dense, epsilons);

            let mut x = start.clone();
            lu_solve_matrix(a.view(), &exchanges, x.view_mut());
            assert_close::<T>("A⁻¹ X", &x.dense(), &expected, epsilons);
            let mut first: Vec<T> = (0..n).map(|i| start.view()[(i, 0)]).collect();
            lu_solve(a.view(), &exchanges, &mut first);
            let first = DMatrix::from_fn(n, 1, |i, _| first[i].to_f64());
            assert_close::<T>("A⁻¹ x", &first, &expected.columns(0, 1).into_owned(), epsilons);
        }
    }
}

#[test]
fn lu_factor_and_solves_equal_nalgebras() {
    check_lu::<f64>();
    check_lu::<f32>();
}

#[test]
fn lu_names_the_column_without_a_pivot() {
    let mut rng = Random::new(52);
    for n in SIZES {
        for bad in [0, n / 2, n - 1] {
            for hostile in [0.0, f64::NAN, f64::INFINITY] {
                let mut m = DMatrix::identity(n, n);
                m[(bad, bad)] = hostile;
                let mut a = Stored::<f64>::new(&m, Rows::Padded);
                assert_eq!(lu(a.view_mut(), &mut vec![0; n]), Err(Singular { column: bad }));
            }
        }
        // Two equal columns, of numbers that are exact.
        if n > 1 {
            let mut m = DMatrix::from_fn(n, n, |_, _| (8.0 * rng.signed()).round());
            m.set_column(n - 1, &m.column(0).into_owned());
            let mut a = Stored::<f64>::new(&m, Rows::Exact);
            let ratio = lu(a.view_mut(), &mut vec![0; n]).unwrap_or(0.0);
            assert!(ratio < 1e-12, "a singular matrix passed as one with pivots within {ratio}");
        }
    }
    let mut none = Stored::<f64>::new(&DMatrix::zeros(0, 0), Rows::Exact);
    assert_eq!(lu(none.view_mut(), &mut []), Ok(1.0));
}

/// Each degree of freedom hangs on the one before, or on a random ancestor of it, or on nothing.
fn random_parents(rng: &mut Random, n: usize) -> Vec<Option<usize>> {
    let mut parents: Vec<Option<usize>> = Vec::new();
    for i in 0..n {
        let mut parent = i.checked_sub(1);
        if rng.uniform() < 0.4 {
            for _ in 0..(rng.uniform() * 4.0) as usize {
                parent = parent.and_then(|p| parents[p]);
            }
        }
        parents.push(parent);
    }
    parents
}

/// L with unit diagonal and entries where j carries i.
fn random_tree_factor(rng: &mut Random, parents: &[Option<usize>]) -> DMatrix<f64> {
    let n = parents.len();
    let mut l = DMatrix::identity(n, n);
    for i in 0..n {
        let mut ancestor = parents[i];
        while let Some(j) = ancestor {
            l[(i, j)] = rng.signed() / n as f64;
            ancestor = parents[j];
        }
    }
    l
}

/// The same matrix with NaN above its diagonal.
fn lower_only(m: &DMatrix<f64>) -> DMatrix<f64> {
    upper_only(&m.transpose()).transpose()
}

fn check_tree<T: Real>() {
    let mut rng = Random::new(41);
    for n in SIZES {
        for (rows, of_x) in [(Rows::Exact, Rows::Padded), (Rows::Padded, Rows::Ragged), (Rows::Ragged, Rows::Exact)] {
            let parents = random_parents(&mut rng, n);
            let links = links(&parents);
            let tree = Tree(&links);
            let l = random_tree_factor(&mut rng, &parents);
            let d = DMatrix::from_diagonal(&nalgebra::DVector::from_fn(n, |_, _| 1.0 + rng.uniform()));
            let mut m = Stored::<T>::new(&lower_only(&(l.transpose() * &d * &l)), rows);
            let full = symmetric(&m.dense().transpose());
            let epsilons = EPSILONS_PER_ROW * n as f64;

            let x = Stored::<T>::new(&random(&mut rng, n, 1), Rows::Exact);
            let mut y = vec![T::ONE; n];
            tree::multiply(tree, m.view(), &x.data, &mut y);
            let y = DMatrix::from_fn(n, 1, |i, _| y[i].to_f64());
            assert_close::<T>("M x", &y, &(&full * x.dense()), epsilons);

            let mut inverse_pivots = vec![T::ZERO; n];
            tree::factorize(tree, m.view_mut(), &mut inverse_pivots).unwrap();
            let ours = DMatrix::from_fn(n, n, |i, j| if i > j { m.view()[(i, j)].to_f64() } else { l[(i, j)] });
            assert_close::<T>("L", &ours, &l, epsilons);
            for i in 0..n {
                let pivot = m.view()[(i, i)];
                assert!((pivot.to_f64() - d[(i, i)]).abs() <= epsilons * T::EPSILON.to_f64());
                assert!(inverse_pivots[i] == T::ONE / pivot);
            }

            let start = Stored::<T>::new(&random(&mut rng, n, 1 + n / 2), of_x);
            let mut x = start.clone();
            tree::solve(tree, m.view(), |i| inverse_pivots[i], x.view_mut());
            let expected = full.cholesky().expect("positive definite").solve(&start.dense());
            assert_close::<T>("M⁻¹ X", &x.dense(), &expected, epsilons);
            let mut first: Vec<T> = (0..n).map(|i| start.view()[(i, 0)]).collect();
            tree::solve_vector(tree, m.view(), &inverse_pivots, &mut first);
            let first = DMatrix::from_fn(n, 1, |i, _| first[i].to_f64());
            assert_close::<T>("M⁻¹ x", &first, &expected.columns(0, 1).into_owned(), epsilons);
            x = start.clone();
            tree::half_solve(tree, m.view(), x.view_mut());
            assert_close::<T>("L⁻¹ X", &x.dense(), &ours.solve_lower_triangular(&start.dense()).unwrap(), epsilons);
            x = start.clone();
            tree::half_solve_transposed(tree, m.view(), x.view_mut());
            let expected = ours.transpose().solve_upper_triangular(&start.dense()).unwrap();
            assert_close::<T>("L⁻ᵀ X", &x.dense(), &expected, epsilons);
        }
    }
}

#[test]
fn tree_factor_product_and_solves_equal_nalgebras_dense_ones() {
    check_tree::<f64>();
    check_tree::<f32>();
}

#[test]
fn tree_factor_names_the_degree_of_freedom_without_inertia() {
    let mut rng = Random::new(42);
    for n in SIZES {
        let parents = random_parents(&mut rng, n);
        for bad in [0, n / 2, n - 1] {
            let l = random_tree_factor(&mut rng, &parents);
            let d = nalgebra::DVector::from_fn(n, |i, _| if i == bad { -1.0 } else { 1.0 });
            let mut m = Stored::<f64>::new(&(l.transpose() * DMatrix::from_diagonal(&d) * &l), Rows::Padded);
            let result = tree::factorize(Tree(&links(&parents)), m.view_mut(), &mut vec![0.0; n]);
            assert_eq!(result, Err(NotPositiveDefinite { pivot: bad }));
        }
    }
}

#[test]
fn runs_of_a_tree_are_its_ancestors_without_gaps() {
    let mut rng = Random::new(43);
    let parents = random_parents(&mut rng, 41);
    let links = links(&parents);
    let tree = Tree(&links);
    for dof in 0..41 {
        let walk: Vec<usize> = std::iter::successors(Some(dof), |&i| parents[i]).collect();
        let runs: Vec<usize> = tree.runs(dof).flat_map(Iterator::rev).collect();
        assert_eq!(runs, walk);
        let above: Vec<usize> = tree.ancestor_runs(dof).flat_map(Iterator::rev).collect();
        assert_eq!(above, walk[1..]);
        assert!(tree.descendants(dof).all(|i| tree.runs(i).flatten().any(|ancestor| ancestor == dof)));
    }
}
