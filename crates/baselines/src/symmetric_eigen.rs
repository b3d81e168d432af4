//! Eigenvalues and eigenvectors of a dense symmetric matrix, largest first.

use faer::{MatRef, Side};
use ndarray::{Array1, Array2, ArrayView2};

use crate::error::{Error, Result};

/// The eigenvalues in descending order, and the eigenvectors as the columns of an orthogonal matrix.
pub(crate) struct SymmetricEigen {
    pub(crate) values: Array1<f64>,
    pub(crate) vectors: Array2<f64>,
}

/// Decomposes a symmetric matrix, of which only the lower triangle is read; `what` names it should that fail.
pub(crate) fn symmetric_eigen(
    matrix: ArrayView2<'_, f64>,
    what: &'static str,
) -> Result<SymmetricEigen> {
    let size = matrix.nrows();
    let failed = Error::Decomposition { what };
    if size == 0 {
        return Ok(SymmetricEigen { values: Array1::zeros(0), vectors: Array2::zeros((0, 0)) });
    }
    let matrix = matrix.as_standard_layout();
    let Some(entries) = matrix.as_slice() else { return Err(failed) };
    if !entries.iter().all(|entry| entry.is_finite()) {
        return Err(failed);
    }
    let Ok(eigen) =
        MatRef::from_row_major_slice(entries, size, size).self_adjoint_eigen(Side::Lower)
    else {
        return Err(failed);
    };
    let (ascending, vectors) = (eigen.S().column_vector(), eigen.U());
    Ok(SymmetricEigen {
        values: Array1::from_shape_fn(size, |place| ascending[size - 1 - place]),
        vectors: Array2::from_shape_fn((size, size), |(row, place)| {
            vectors[(row, size - 1 - place)]
        }),
    })
}
