//! Matrix products on one core, by the kernels of `faer`, which use the widest vectors of the machine.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2};

/// `left · right`.
pub(crate) fn product(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut output = Array2::zeros((left.nrows(), right.ncols()));
    write_product(1.0, left, right, Accum::Replace, &mut output);
    output
}

/// `output = weight · left · right`, or `output + weight · left · right`.
pub(crate) fn write_product(
    weight: f64,
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    accumulate: Accum,
    output: &mut Array2<f64>,
) {
    let (rows, columns) = output.dim();
    if let (Some(left), Some(right), Some(output)) =
        (whole(left), whole(right), output.as_slice_mut())
    {
        let output = MatMut::from_row_major_slice_mut(output, rows, columns);
        matmul(output, accumulate, left, right, weight, Par::Seq);
    } else {
        let keep = if matches!(accumulate, Accum::Add) { 1.0 } else { 0.0 };
        general_mat_mul(weight, &left, &right, keep, output);
    }
}

/// M Mᵀ, half of it computed and the other half its mirror image.
pub(crate) fn gram(matrix: &Array2<f64>) -> Array2<f64> {
    let size = matrix.nrows();
    let mut gram = Array2::zeros((size, size));
    let (Some(factor), Some(values)) = (whole(matrix.view()), gram.as_slice_mut()) else {
        return matrix.dot(&matrix.t());
    };
    triangular_matmul(
        MatMut::from_row_major_slice_mut(values, size, size),
        BlockStructure::TriangularLower,
        Accum::Replace,
        factor,
        BlockStructure::Rectangular,
        factor.transpose(),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    for row in 0..size {
        for column in 0..row {
            gram[[column, row]] = gram[[row, column]];
        }
    }
    gram
}

/// A matrix that fills its memory, by rows or by columns.
fn whole(matrix: ArrayView2<'_, f64>) -> Option<MatRef<'_, f64>> {
    let (rows, columns) = matrix.dim();
    if let Some(values) = matrix.to_slice() {
        return Some(MatRef::from_row_major_slice(values, rows, columns));
    }
    let values = matrix.reversed_axes().to_slice()?;
    Some(MatRef::from_column_major_slice(values, rows, columns))
}

#[cfg(test)]
mod tests {
    use ndarray::s;

    use super::*;

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
