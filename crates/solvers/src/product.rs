//! Matrix products by the kernels of `faer`, which use the widest vectors of the machine. Threads take panels of rows, whose
//! size depends on the matrices alone, and so do the digits.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Rows that are worth a second thread, and each further one, which has to pack the other factor once more.
const ROWS_OF_TWO_PANELS: usize = 128;
const ROWS_OF_A_PANEL: usize = 512;
/// The panels of a triangle are not alike, and smaller ones share it more evenly.
const ROWS_OF_A_TRIANGULAR_PANEL: usize = 256;

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
    let columns = output.ncols();
    if let (Some(left), Some(right), Some(output)) =
        (whole(left), whole(right), output.as_slice_mut())
    {
        let fewest = if left.nrows() < ROWS_OF_TWO_PANELS { 1 } else { 2 };
        let panels = (left.nrows() / ROWS_OF_A_PANEL).next_power_of_two().max(fewest);
        let of_a_panel = left.nrows().div_ceil(panels);
        let panels = output.par_chunks_mut((of_a_panel * columns).max(1));
        panels.enumerate().for_each(|(panel, output)| {
            let rows = output.len() / columns;
            let output = MatMut::from_row_major_slice_mut(output, rows, columns);
            let left = left.subrows(panel * of_a_panel, rows);
            matmul(output, accumulate, left, right, weight, Par::Seq);
        });
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
    write_upper_gram(1.0, factor, values);
    for row in 0..size {
        for column in 0..row {
            gram[[row, column]] = gram[[column, row]];
        }
    }
    gram
}

/// The upper triangle of `weight · M Mᵀ`, row by row; what is below the diagonal stays.
pub(crate) fn write_upper_gram(weight: f64, factor: MatRef<'_, f64>, values: &mut [f64]) {
    let size = factor.nrows();
    let panels = values.par_chunks_mut((ROWS_OF_A_TRIANGULAR_PANEL * size).max(1)).enumerate();
    panels.for_each(|(panel, values)| {
        let (first, rows) = (panel * ROWS_OF_A_TRIANGULAR_PANEL, values.len() / size);
        let beyond = first + rows;
        let left = factor.subrows(first, rows);
        let output = MatMut::from_row_major_slice_mut(values, rows, size);
        let (diagonal, rest) = output.subcols_mut(first, size - first).split_at_col_mut(rows);
        triangular_matmul(
            diagonal,
            BlockStructure::TriangularUpper,
            Accum::Replace,
            left,
            BlockStructure::Rectangular,
            left.transpose(),
            BlockStructure::Rectangular,
            weight,
            Par::Seq,
        );
        let right = factor.subrows(beyond, size - beyond).transpose();
        matmul(rest, Accum::Replace, left, right, weight, Par::Seq);
    });
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
