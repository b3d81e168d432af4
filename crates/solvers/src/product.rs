//! Matrix products of ndarray's views by faer's kernels, which use the widest vectors of the machine.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2};

/// `left · right`.
pub(crate) fn product(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
    let (Some(first), Some(second)) = (contiguous(left), contiguous(right)) else {
        return left.dot(&right);
    };
    let (rows, columns) = (left.nrows(), right.ncols());
    let mut values = vec![0.0; rows * columns];
    let result = MatMut::from_row_major_slice_mut(&mut values, rows, columns);
    matmul(result, Accum::Replace, first, second, 1.0, Par::Seq);
    Array2::from_shape_vec((rows, columns), values).unwrap_or_else(|_| left.dot(&right))
}

/// The same matrix for faer, if its entries follow each other by rows or by columns.
fn contiguous(matrix: ArrayView2<'_, f64>) -> Option<MatRef<'_, f64>> {
    let (rows, columns) = matrix.dim();
    if let Some(values) = matrix.to_slice() {
        return Some(MatRef::from_row_major_slice(values, rows, columns));
    }
    let values = matrix.reversed_axes().to_slice()?;
    Some(MatRef::from_column_major_slice(values, rows, columns))
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};

    use super::product;

    #[test]
    fn is_the_product_in_every_layout() {
        let left = Array2::from_shape_fn((5, 4), |(i, j)| (i * 3 + j * j) as f64 - 4.0);
        let right = Array2::from_shape_fn((4, 6), |(i, j)| (i + 2 * j) as f64 / 3.0);
        let expected = left.dot(&right);
        let by_columns = right.t().as_standard_layout().into_owned();
        let mut spread = Array2::zeros((4, 12));
        spread.slice_mut(s![.., ..;2]).assign(&right);
        for right in [right.view(), by_columns.t(), spread.slice(s![.., ..;2])] {
            let error = (&product(left.view(), right) - &expected).mapv(f64::abs).sum();
            assert!(error <= 1e-13, "{error}");
        }
        assert_eq!(product(left.slice(s![..0, ..]), right.view()).dim(), (0, 6));
    }
}
