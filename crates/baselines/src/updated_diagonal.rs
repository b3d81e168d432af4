//! Symmetric matrices A = diag(d) + Σ_j σ_j c_j c_jᵀ, σ_j = ±1, with few columns c_j: a product with a vector
//! costs as much as the columns have entries, and the number of eigenvalues above a shift follows from the
//! inertia of a matrix of the columns' number.

use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::error::Result;
use crate::product::product;
use crate::symmetric_eigen::symmetric_eigen;

/// A diagonal with an update of low rank.
pub(crate) struct UpdatedDiagonal {
    pub(crate) diagonal: Array1<f64>,
    /// The c_j, as rows.
    pub(crate) updates: Array2<f64>,
    /// The σ_j.
    pub(crate) signs: Array1<f64>,
}

impl UpdatedDiagonal {
    pub(crate) fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// A times each row.
    pub(crate) fn apply(&self, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        let overlaps = product(rows, self.updates.t()) * &self.signs;
        &rows * &self.diagonal + product(overlaps.view(), self.updates.view())
    }

    pub(crate) fn dense(&self) -> Array2<f64> {
        let signed = &self.updates * &self.signs.view().insert_axis(Axis(1));
        let mut dense = product(signed.t(), self.updates.view());
        let mut diagonal = dense.diag_mut();
        diagonal += &self.diagonal;
        dense
    }

    /// The number of eigenvalues above a shift that is no entry of the diagonal.
    ///
    /// The matrix [[Δ, C], [Cᵀ, −Σ]] with Δ = diag(d) − shift has the inertia of Δ and of −Σ − Cᵀ Δ⁻¹ C
    /// together, and that of −Σ and of Δ + C Σ Cᵀ = A − shift together (Sylvester, Haynsworth).
    pub(crate) fn count_above(&self, shift: f64) -> Result<usize> {
        let inverse = self.diagonal.mapv(|entry| (entry - shift).recip());
        let mut complement = -product((&self.updates * &inverse).view(), self.updates.t());
        let mut diagonal = complement.diag_mut();
        diagonal -= &self.signs;
        let complement = symmetric_eigen(complement.view(), "the inertia of the updates")?;
        let is_positive = |value: &&f64| **value > 0.0;
        let together = inverse.iter().filter(is_positive).count()
            + complement.values.iter().filter(is_positive).count();
        let of_signs = self.signs.iter().filter(|sign| **sign < 0.0).count();
        Ok(together.saturating_sub(of_signs))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn matrix() -> UpdatedDiagonal {
        UpdatedDiagonal {
            diagonal: array![4.0, 3.0, 2.0, 1.0],
            updates: array![[1.0, 1.0, 0.5, -0.5], [0.2, -1.0, 2.0, 0.0]],
            signs: array![-1.0, 1.0],
        }
    }

    #[test]
    fn products_are_those_of_the_dense_matrix() {
        let rows = array![[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, 1.0, -1.0]];
        let difference = matrix().apply(rows.view()) - rows.dot(&matrix().dense());
        assert!(difference.iter().all(|entry| entry.abs() < 1e-14));
    }

    #[test]
    fn as_many_eigenvalues_are_counted_above_a_shift_as_there_are() {
        let values = symmetric_eigen(matrix().dense().view(), "the test").unwrap().values;
        for shift in [-1.0, 0.3, 0.7, 1.5, 2.5, 3.5, 4.5, 9.0] {
            let expected = values.iter().filter(|value| **value > shift).count();
            assert_eq!(matrix().count_above(shift).unwrap(), expected, "above {shift}");
        }
    }
}
