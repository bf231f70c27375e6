//! What stands on the other side of the diagonal.

use super::MatMut;
use crate::scalar::Real;

/// Rows and columns of a square that is moved at once.
const BLOCK: usize = 4;

/// Copies what stands above the diagonal below it, four by four where there are as many rows.
#[inline(never)]
pub(crate) fn mirror<T: Real>(mut matrix: MatMut<'_, T>) {
    let (rows, stride) = (matrix.rows(), matrix.stride());
    let data = matrix.data_mut();
    let whole = rows / BLOCK * BLOCK;
    for first in (0..whole).step_by(BLOCK) {
        let Some((above, below)) = data.split_at_mut_checked(first * stride) else { return };
        mirror_blocks(above, below, first, stride);
    }
    for i in whole..rows {
        let Some((above, row)) = data.split_at_mut_checked(i * stride) else { return };
        for (entry, column) in row.iter_mut().zip(above.chunks(stride.max(1))) {
            *entry = column.get(i).copied().unwrap_or(*entry);
        }
    }
}

/// Four rows up to their diagonal, from the columns of the rows above and from their own.
#[inline(always)]
fn mirror_blocks<T: Real>(above: &[T], below: &mut [T], first: usize, stride: usize) {
    let Some((a, rest)) = below.split_at_mut_checked(stride) else { return };
    let Some((b, rest)) = rest.split_at_mut_checked(stride) else { return };
    let Some((c, rest)) = rest.split_at_mut_checked(stride) else { return };
    let Some(d) = rest.get_mut(..stride) else { return };
    let [a, b, c, d] = [a, b, c, d].map(|row| row.as_chunks_mut::<BLOCK>().0);
    let at = first / BLOCK;
    if let (Some(a), Some(b), Some(c), Some(d)) = (a.get(at), b.get_mut(at), c.get_mut(at), d.get_mut(at)) {
        b[0] = a[1];
        (c[0], c[1]) = (a[2], b[2]);
        (d[0], d[1], d[2]) = (a[3], b[3], c[3]);
    }
    let targets = a.iter_mut().zip(b).zip(c).zip(d);
    let mut sources = above;
    for (((a, b), c), d) in targets {
        let Some((rows, rest)) = sources.split_at_checked(BLOCK * stride) else { return };
        sources = rest;
        let Some([x, y, z, w]) = square(rows, first, stride) else { return };
        *a = [x[0], y[0], z[0], w[0]];
        *b = [x[1], y[1], z[1], w[1]];
        *c = [x[2], y[2], z[2], w[2]];
        *d = [x[3], y[3], z[3], w[3]];
    }
}

/// The square from `column` on in four rows.
#[inline(always)]
fn square<T>(rows: &[T], column: usize, stride: usize) -> Option<[&[T; BLOCK]; BLOCK]> {
    let rows = rows.get(column..)?;
    let (x, rows) = rows.split_at_checked(stride)?;
    let (y, rows) = rows.split_at_checked(stride)?;
    let (z, w) = rows.split_at_checked(stride)?;
    Some([x.first_chunk()?, y.first_chunk()?, z.first_chunk()?, w.first_chunk()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::padded;

    /// Largest matrix, in rows.
    const MOST: usize = 13;

    fn entry(i: usize, j: usize) -> f64 {
        (100 * i + j) as f64
    }

    #[test]
    fn matrices_of_any_size_are_mirrored() {
        for n in 1..=MOST {
            let stride = padded(n);
            let mut a = [f64::NAN; MOST * padded(MOST)];
            (0..n).for_each(|i| (0..n).for_each(|j| a[i * stride + j] = entry(i, j)));
            mirror(MatMut::with_stride(&mut a, n, n, stride));
            for i in 0..n {
                for j in 0..n {
                    assert_eq!(a[i * stride + j], entry(i.min(j), i.max(j)), "{n} rows, mirrored at ({i}, {j})");
                }
            }
        }
    }
}
