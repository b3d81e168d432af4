//! Products of matrices by faer, whose kernels use the widest vectors that the processor has. Those of ndarray
//! stop at AVX2, and the subspace methods spend most of their time here. One thread each: a sweep runs its units
//! in parallel.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, CowArray, Ix2};

/// Left times right, in row-major order.
///
/// # Panics
///
/// If the left matrix has not as many columns as the right one has rows.
pub(crate) fn product(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
    let (rows, columns) = (left.nrows(), right.ncols());
    let (left, right) = (contiguous(left), contiguous(right));
    let mut entries = vec![0.0; rows * columns];
    matmul(
        MatMut::from_row_major_slice_mut(&mut entries, rows, columns),
        Accum::Replace,
        as_faer(&left),
        as_faer(&right),
        1.0,
        Par::Seq,
    );
    Array2::from_shape_vec((rows, columns), entries).expect("rows times columns entries")
}

/// The matrix itself where its rows or its columns follow each other in memory, else a copy.
fn contiguous(matrix: ArrayView2<'_, f64>) -> CowArray<'_, f64, Ix2> {
    if matrix.to_slice().is_some() || matrix.t().to_slice().is_some() {
        matrix.into()
    } else {
        matrix.to_owned().into()
    }
}

fn as_faer<'a>(matrix: &'a CowArray<'_, f64, Ix2>) -> MatRef<'a, f64> {
    let (rows, columns) = matrix.dim();
    if let Some(entries) = matrix.as_slice() {
        MatRef::from_row_major_slice(entries, rows, columns)
    } else {
        let entries = matrix.t().to_slice().expect("columns that follow each other");
        MatRef::from_column_major_slice(entries, rows, columns)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};

    use super::*;

    #[test]
    fn products_are_those_of_ndarray_in_every_layout() {
        let left = Array2::from_shape_fn((5, 7), |(row, column)| (row * 3 + column) as f64 - 9.0);
        let right = Array2::from_shape_fn((7, 4), |(row, column)| (row + 5 * column) as f64 - 6.0);
        let expected = left.dot(&right);
        let by_columns = |matrix: &Array2<f64>| matrix.t().as_standard_layout().into_owned();
        assert_eq!(product(left.view(), right.view()), expected);
        assert_eq!(product(by_columns(&left).t(), by_columns(&right).t()), expected);
        let part = product(left.slice(s![.., 2..]), right.slice(s![2.., 1..3]));
        assert_eq!(part, left.slice(s![.., 2..]).dot(&right.slice(s![2.., 1..3])));
        assert_eq!(product(left.slice(s![..0, ..]), right.view()).dim(), (0, 4));
    }
}
