//! Dense kernels at the sizes of a quadruped's step, beside nalgebra, and the tree factor on stored robots.

use std::hint::black_box;

use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use nalgebra::{DMatrix, RealField, SMatrix};
use saltus::dynamics::{self, Dynamics};
use saltus::linalg::{
    MatMut, MatRef, add_a_b, add_a_bt, add_at_a_upper, add_at_b, cholesky, cholesky_solve, ldlt, ldlt_solve, padded,
    tree,
};
use saltus::memory::{Arena, Block};
use saltus::scalar::Real;
use saltus_testkit::{Oracle, Random};

/// Rows and columns of the product: the state of a quadruped.
const WIDE: usize = 36;
/// Terms of each sum: its velocity.
const DEPTH: usize = 18;
/// Sides of the factored matrices: four feet, a quadruped's velocity, its state.
const SIDES: [usize; 3] = [12, 18, 36];

fn linalg(c: &mut Criterion) {
    products::<f64>(c, "product_36x18x36/f64");
    products::<f32>(c, "product_36x18x36/f32");
    factors::<f64>(c, "f64");
    factors::<f32>(c, "f32");
    for robot in ["go1", "g1"] {
        let oracle = Oracle::load(robot).expect("the figures are in tests/oracles");
        tree_factor::<f64>(c, &format!("tree/{robot}/f64"), &oracle);
        tree_factor::<f32>(c, &format!("tree/{robot}/f32"), &oracle);
    }
}

/// One element is one multiply-add, so that criterion's Gelem/s read as GMAC/s.
fn products<T: Real + RealField>(c: &mut Criterion, name: &str) {
    let mut random = Random::new(1);
    let mut matrix =
        |rows: usize, cols: usize| -> Vec<T> { random.vector(rows * cols).into_iter().map(Real::from_f64).collect() };
    let (a, at, b, bt) = (matrix(WIDE, DEPTH), matrix(DEPTH, WIDE), matrix(DEPTH, WIDE), matrix(WIDE, DEPTH));
    let (a, at) = (MatRef::new(&a, WIDE, DEPTH), MatRef::new(&at, DEPTH, WIDE));
    let (b, bt) = (MatRef::new(&b, DEPTH, WIDE), MatRef::new(&bt, WIDE, DEPTH));
    let mut memory = vec![<T as Real>::ZERO; WIDE * WIDE];
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements((WIDE * DEPTH * WIDE) as u64));
    let mut bench = |kernel: &str, run: &dyn Fn(MatMut<'_, T>)| {
        group.bench_function(kernel, |bencher| bencher.iter(|| run(MatMut::new(black_box(&mut memory), WIDE, WIDE))));
    };
    bench("add_a_b", &|c| add_a_b(c, black_box(a), black_box(b)));
    bench("add_at_b", &|c| add_at_b(c, black_box(at), black_box(b)));
    bench("add_a_bt", &|c| add_a_bt(c, black_box(a), black_box(bt)));

    let (da, db) = (a.to_nalgebra().clone_owned(), b.to_nalgebra().clone_owned());
    let mut dynamic = DMatrix::<T>::zeros(WIDE, WIDE);
    group.bench_function("nalgebra_dynamic", |bencher| {
        bencher.iter(|| dynamic.gemm(<T as Real>::ONE, black_box(&da), black_box(&db), <T as Real>::ONE));
    });
    let sa = SMatrix::<T, WIDE, DEPTH>::from_fn(|i, j| a[(i, j)]);
    let sb = SMatrix::<T, DEPTH, WIDE>::from_fn(|i, j| b[(i, j)]);
    let mut fixed = SMatrix::<T, WIDE, WIDE>::zeros();
    group.bench_function("nalgebra_static", |bencher| {
        bencher.iter(|| fixed.gemm(<T as Real>::ONE, black_box(&sa), black_box(&sb), <T as Real>::ONE));
    });
    group.throughput(Throughput::Elements((DEPTH * WIDE * (WIDE + 1) / 2) as u64));
    group.bench_function("add_at_a_upper", |bencher| {
        bencher.iter(|| add_at_a_upper(MatMut::new(black_box(&mut memory), WIDE, WIDE), black_box(at)));
    });
}

fn factors<T: Real>(c: &mut Criterion, scalar: &str) {
    for n in SIDES {
        let stride = padded(n);
        let (spd, rhs) = positive_definite::<T>(n, stride);
        let mut factored = spd.clone();
        cholesky(MatMut::with_stride(&mut factored, n, n, stride)).expect("positive definite");
        let mut ldlt_factored = spd.clone();
        ldlt(MatMut::with_stride(&mut ldlt_factored, n, n, stride), T::ZERO).expect("positive definite");
        let u = MatRef::with_stride(&factored, n, n, stride);
        let ud = MatRef::with_stride(&ldlt_factored, n, n, stride);

        let mut group = c.benchmark_group(format!("factor/{scalar}"));
        on_copies(&mut group, &format!("cholesky/{n}"), &spd, |m| {
            cholesky(MatMut::with_stride(m, n, n, stride)).expect("positive definite");
        });
        on_copies(&mut group, &format!("ldlt/{n}"), &spd, |m| {
            ldlt(MatMut::with_stride(m, n, n, stride), T::ZERO).expect("positive definite");
        });
        on_copies(&mut group, &format!("cholesky_solve/{n}"), &rhs, |x| {
            cholesky_solve(black_box(u), MatMut::with_stride(x, n, n, stride));
        });
        on_copies(&mut group, &format!("ldlt_solve/{n}"), &rhs, |x| {
            ldlt_solve(black_box(ud), MatMut::with_stride(x, n, n, stride));
        });
    }
}

/// A well-conditioned matrix, and n random right-hand sides in the same shape.
fn positive_definite<T: Real>(n: usize, stride: usize) -> (Vec<T>, Vec<T>) {
    let random: Vec<T> = Random::new(2).vector(n * stride).into_iter().map(T::from_f64).collect();
    let mut spd = vec![T::ZERO; n * stride];
    add_at_a_upper(MatMut::with_stride(&mut spd, n, n, stride), MatRef::with_stride(&random, n, n, stride));
    for i in 0..n {
        spd[i * stride + i] += T::ONE;
    }
    (spd, random)
}

fn tree_factor<T: Real>(c: &mut Criterion, name: &str, oracle: &Oracle) {
    let robot = oracle.model.cast::<T>();
    let model = robot.model();
    let (nv, stride) = (model.nv(), model.dims().stride());
    let get = |field: &str| -> Vec<T> { oracle.states[0].get(field).iter().map(|&x| T::from_f64(x)).collect() };
    let mut memory = vec![Block::EMPTY; Dynamics::<T>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).expect("sized for it");
    dynamics::update(model, &get("q"), &get("v"), &mut work).expect("lengths fit");
    dynamics::mass_matrix(model, &mut work).expect("fits");
    let mass_matrix = work.mass_matrix.to_vec();
    let mut pivots = vec![T::ZERO; nv];

    let mut group = c.benchmark_group(name);
    on_copies(&mut group, "factorize", &mass_matrix, |m| {
        let m = MatMut::with_stride(m, nv, nv, stride);
        tree::factorize(model.tree, m, &mut pivots).expect("positive definite");
    });
    let mut factor = mass_matrix.clone();
    tree::factorize(model.tree, MatMut::with_stride(&mut factor, nv, nv, stride), &mut pivots).expect("as above");
    let l = MatRef::with_stride(&factor, nv, nv, stride);
    for cols in [1, nv, 3 * nv] {
        let wide = padded(cols);
        let rhs = vec![T::ONE; nv * wide];
        on_copies(&mut group, &format!("solve/{cols}"), &rhs, |x| {
            tree::solve(model.tree, black_box(l), |i| pivots[i], MatMut::with_stride(x, nv, cols, wide));
        });
    }
    let (x, mut y) = (get("v"), vec![T::ZERO; nv]);
    group.bench_function("multiply", |b| {
        let m = MatRef::with_stride(&mass_matrix, nv, nv, stride);
        b.iter(|| tree::multiply(model.tree, black_box(m), &x, &mut y));
    });
}

/// Times what changes its input in place, on a fresh copy each time; the copies are not timed.
fn on_copies<T: Real>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    input: &[T],
    mut run: impl FnMut(&mut [T]),
) {
    group.bench_function(name, |b| b.iter_batched_ref(|| input.to_vec(), |x| run(x), BatchSize::SmallInput));
}

criterion_group!(benches, linalg);
criterion_main!(benches);
