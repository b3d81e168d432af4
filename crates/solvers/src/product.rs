//! Matrix products on one core, by the kernels of `faer`, which use the widest vectors of the machine.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2};

/// `output = weight · left · right`, or `output + weight · left · right`.
pub(crate) fn product(
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
