//! One node back for a few joints of one axis each: blocks of fixed size instead of rows, tiles and mirrors.
//!
//! Every number sums in the order of the general way, so it is the same number.

use super::Backward;
use crate::linalg::{MatRef, padded};
use crate::mpc::Quadratic;
use crate::scalar::Real;

type Block<T, const ROWS: usize, const COLS: usize> = [[T; COLS]; ROWS];

/// Calls a method for `NV` degrees of freedom and `NU` controls, if there are so few; whether there are.
macro_rules! for_few {
    ($nv:expr, $nu:expr, $self:ident.$method:ident $arguments:tt) => {
        match ($nv, $nu) {
            (1, 1) => for_few!(@call $self.$method, 1, 1, $arguments),
            (2, 1) => for_few!(@call $self.$method, 2, 1, $arguments),
            (2, 2) => for_few!(@call $self.$method, 2, 2, $arguments),
            (3, 1) => for_few!(@call $self.$method, 3, 1, $arguments),
            _ => false,
        }
    };
    (@call $self:ident.$method:ident, $nv:literal, $nu:literal, ($($argument:expr),*)) => {{
        $self.$method::<$nv, $nu>($($argument),*);
        true
    }};
}

impl<T: Real> Backward<'_, T> {
    /// What `pull_gradient`, `keep_configuration`, `project` and `add_value` do. False, and nothing done, where it is not
    /// about a few.
    pub(super) fn add_value_of_few(&mut self, dt_s: T, f: MatRef<'_, T>, quadratic: &mut Quadratic<'_, T>) -> bool {
        let nu = f.cols().saturating_sub(self.value.gradient.len());
        for_few!(self.nv(), nu, self.add_few(dt_s, f, quadratic))
    }

    /// V = l + Mᵀ F − Yᵀ Y. False, and nothing done, where it is not about a few.
    pub(super) fn update_hessian_of_few(&mut self, f: MatRef<'_, T>, quadratic: &Quadratic<'_, T>) -> bool {
        let nu = f.cols().saturating_sub(self.value.gradient.len());
        for_few!(self.nv(), nu, self.update_few(f, quadratic))
    }

    #[inline(never)]
    fn add_few<const NV: usize, const NU: usize>(&mut self, dt_s: T, f: MatRef<'_, T>, q: &mut Quadratic<'_, T>) {
        let (value, stride) = (self.value.rows((0, 2 * NV)), self.value.stride());
        let square = |place| block::<T, NV, NV>(value, stride, place);
        let (qq, qv, vq, vv) = (square((0, 0)), square((0, NV)), square((NV, 0)), square((NV, NV)));
        let (mut p, mut w) = ([[T::ZERO; NV]; NV], [[T::ZERO; NV]; NV]);
        for i in 0..NV {
            for j in 0..NV {
                p[i][j] = dt_s.mul_add(qq[i][j], vq[i][j]);
                w[i][j] = dt_s.mul_add(p[i][j], dt_s.mul_add(qv[i][j], vv[i][j]));
            }
        }
        let (by_q, by_v, by_u) = &blocks_of::<T, NV, NU>(f);
        self.pull_few(dt_s, (by_q, by_v, by_u), q.gradient);
        let (mut m_q, mut m_v, mut m_u) = ([[T::ZERO; NV]; NV], [[T::ZERO; NV]; NV], [[T::ZERO; NU]; NV]);
        add(&mut m_q, &w, by_q);
        add(&mut m_v, &w, by_v);
        add(&mut m_u, &w, by_u);
        for i in 0..NV {
            (0..NV).for_each(|j| m_q[i][j] += p[i][j]);
        }
        let wide = padded(2 * NV + NU);
        put(self.product, wide, (0, 0), &m_q);
        put(self.product, wide, (0, NV), &m_v);

        let (mut crossed_q, mut crossed_v) = ([[T::ZERO; NV]; NU], [[T::ZERO; NV]; NU]);
        let coupled = q.is_coupled();
        let (_, mut hessian) = q.parts_mut();
        let wide = hessian.stride();
        let h = hessian.data_mut();
        if coupled {
            let (of_q, of_v) = (block::<T, NV, NU>(h, wide, (0, 2 * NV)), block::<T, NV, NU>(h, wide, (NV, 2 * NV)));
            (crossed_q, crossed_v) = (transposed(&of_q), transposed(&of_v));
        }
        add(&mut crossed_q, by_u, &m_q);
        add(&mut crossed_v, by_u, &m_v);
        put(self.crossed, stride, (0, 0), &crossed_q);
        put(self.crossed, stride, (0, NV), &crossed_v);

        let mut own = block::<T, NV, NV>(h, wide, (0, 0));
        for i in 0..NV {
            (i..NV).for_each(|j| own[i][j] += qq[i][j]);
        }
        add_upper(&mut own, by_q, &p);
        put(h, wide, (0, 0), &own);
        let mut own = block::<T, NU, NU>(h, wide, (2 * NV, 2 * NV));
        add_upper(&mut own, &m_u, by_u);
        put(h, wide, (2 * NV, 2 * NV), &own);
    }

    /// l_x ← Q_x.
    #[inline(always)]
    fn pull_few<const NV: usize, const NU: usize>(
        &self,
        dt_s: T,
        (by_q, by_v, by_u): (&Block<T, NV, NV>, &Block<T, NV, NV>, &Block<T, NV, NU>),
        out: &mut [T],
    ) {
        let [[g_q], [g_v]] = [0, NV].map(|first| block::<T, 1, NV>(self.value.gradient, 0, (0, first)));
        let mut q = row::<T, NV>(out, 0);
        let (mut v, mut u) = (row::<T, NV>(out, NV), row::<T, NU>(out, 2 * NV));
        for j in 0..NV {
            q[j] += g_q[j];
        }
        for i in 0..NV {
            let pulled = dt_s.mul_add(g_q[i], g_v[i]);
            for j in 0..NV {
                q[j] = pulled.mul_add(by_q[i][j], q[j]);
                v[j] = pulled.mul_add(by_v[i][j], v[j]);
            }
            for j in 0..NU {
                u[j] = pulled.mul_add(by_u[i][j], u[j]);
            }
        }
        put(out, 0, (0, 0), &[q]);
        put(out, 0, (0, NV), &[v]);
        put(out, 0, (0, 2 * NV), &[u]);
    }

    #[inline(never)]
    fn update_few<const NV: usize, const NU: usize>(&mut self, f: MatRef<'_, T>, quadratic: &Quadratic<'_, T>) {
        let (stride, wide, free) = (self.value.stride(), padded(2 * NV + NU), self.bounds.free().len());
        // Y has a row for each free control.
        let y = |first| {
            let mut rows = block::<T, NU, NV>(self.crossed, stride, (0, first));
            rows.iter_mut().skip(free).for_each(|row| *row = [T::ZERO; NV]);
            rows
        };
        let (y_q, y_v) = (&y(0), &y(NV));
        let m = |first| block::<T, NV, NV>(self.product, wide, (0, first));
        let (m_q, m_v) = (&m(0), &m(NV));
        let (by_q, by_v, _) = &blocks_of::<T, NV, NU>(f);
        let hessian = quadratic.hessian();
        let square = |place| block::<T, NV, NV>(hessian.data(), hessian.stride(), place);
        let (mut qq, mut qv, mut vv) = (square((0, 0)), square((0, NV)), square((NV, NV)));
        add_upper(&mut qq, m_q, by_q);
        subtract(&mut qq, y_q, y_q);
        add(&mut qv, m_q, by_v);
        subtract(&mut qv, y_q, y_v);
        add_upper(&mut vv, m_v, by_v);
        subtract(&mut vv, y_v, y_v);
        let mut value = self.value.hessian_mut();
        let v = value.data_mut();
        put(v, stride, (0, 0), &mirrored(&qq));
        put(v, stride, (0, NV), &qv);
        put(v, stride, (NV, 0), &transposed(&qv));
        put(v, stride, (NV, NV), &mirrored(&vv));
    }
}

/// F in its three parts.
#[inline(always)]
fn blocks_of<T: Real, const NV: usize, const NU: usize>(
    f: MatRef<'_, T>,
) -> (Block<T, NV, NV>, Block<T, NV, NV>, Block<T, NV, NU>) {
    let (data, stride) = (f.data(), f.stride());
    (block(data, stride, (0, 0)), block(data, stride, (0, NV)), block(data, stride, (0, 2 * NV)))
}

/// `C` numbers from `first` on.
#[inline(always)]
fn row<T: Real, const C: usize>(from: &[T], first: usize) -> [T; C] {
    let [row] = block::<T, 1, C>(from, 0, (0, first));
    row
}

/// The block of a row-major matrix that starts at `place`; zero where there is none.
#[inline(always)]
fn block<T: Real, const R: usize, const C: usize>(
    from: &[T],
    stride: usize,
    (row, column): (usize, usize),
) -> Block<T, R, C> {
    let mut out = [[T::ZERO; C]; R];
    // One check for all rows.
    let Some(from) = from.get(row * stride + column..(row + R - 1) * stride + column + C) else { return out };
    for (i, out) in out.iter_mut().enumerate() {
        if let Some(row) = from.get(i * stride..i * stride + C).and_then(|row| row.first_chunk()) {
            *out = *row;
        }
    }
    out
}

/// Writes such a block.
#[inline(always)]
fn put<T: Real, const R: usize, const C: usize>(
    to: &mut [T],
    stride: usize,
    (row, column): (usize, usize),
    block: &Block<T, R, C>,
) {
    for (i, block) in block.iter().enumerate() {
        if let Some(to) = to.get_mut((row + i) * stride + column..).and_then(|row| row.first_chunk_mut()) {
            *to = *block;
        }
    }
}

/// C ← C + Aᵀ B.
#[inline(always)]
fn add<T: Real, const R: usize, const A: usize, const B: usize>(
    c: &mut Block<T, A, B>,
    a: &Block<T, R, A>,
    b: &Block<T, R, B>,
) {
    for i in 0..A {
        for j in 0..B {
            c[i][j] += dot(a, i, b, j);
        }
    }
}

/// The same on and above the diagonal.
#[inline(always)]
fn add_upper<T: Real, const R: usize, const N: usize>(c: &mut Block<T, N, N>, a: &Block<T, R, N>, b: &Block<T, R, N>) {
    for i in 0..N {
        for j in i..N {
            c[i][j] += dot(a, i, b, j);
        }
    }
}

/// C ← C − Aᵀ B.
#[inline(always)]
fn subtract<T: Real, const R: usize, const A: usize, const B: usize>(
    c: &mut Block<T, A, B>,
    a: &Block<T, R, A>,
    b: &Block<T, R, B>,
) {
    for i in 0..A {
        for j in 0..B {
            c[i][j] -= dot(a, i, b, j);
        }
    }
}

/// Column i of A times column j of B.
#[inline(always)]
fn dot<T: Real, const R: usize, const A: usize, const B: usize>(
    a: &Block<T, R, A>,
    i: usize,
    b: &Block<T, R, B>,
    j: usize,
) -> T {
    let first = a[0][i] * b[0][j];
    a.iter().zip(b).skip(1).fold(first, |sum, (a, b)| a[i].mul_add(b[j], sum))
}

#[inline(always)]
fn transposed<T: Real, const R: usize, const C: usize>(a: &Block<T, R, C>) -> Block<T, C, R> {
    let mut out = [[T::ZERO; R]; C];
    for i in 0..R {
        (0..C).for_each(|j| out[j][i] = a[i][j]);
    }
    out
}

/// With what stands above the diagonal below it too.
#[inline(always)]
fn mirrored<T: Real, const N: usize>(upper: &Block<T, N, N>) -> Block<T, N, N> {
    let mut out = *upper;
    for i in 0..N {
        (0..i).for_each(|j| out[i][j] = upper[j][i]);
    }
    out
}
