//! The leading eigenvectors of a diagonal with an update of low rank, certified.
//!
//! Three ways lead to them, the first that suits the matrix's shape: a small exact subspace when the update has
//! few columns beside the number of eigenvectors (`rational_subspace.rs`), block Lanczos iteration when the matrix is
//! large beside that number (`block_lanczos.rs`), and the dense decomposition. An answer of the first two counts only if
//! each pair's residual is below the tolerance and the matrix's inertia says that no larger eigenvalue was
//! missed; otherwise the dense decomposition answers.

use ndarray::{Array1, Array2, ArrayView1, Axis, s};

use crate::block_lanczos::by_lanczos;
use crate::error::Result;
use crate::rational_subspace::by_rational_subspace;
use crate::symmetric_eigen::{SymmetricEigen, symmetric_eigen};
use crate::updated_diagonal::UpdatedDiagonal;

/// A residual, relative to the largest eigenvalue, at which a pair counts as found.
pub(crate) const TOLERANCE: f64 = 1e-8;
/// The name of the matrix, should a decomposition fail.
pub(crate) const WHAT: &str = "the projected domains";

/// Leading eigenpairs.
pub(crate) struct Leading {
    /// Eigenvalues, largest first.
    pub(crate) values: Array1<f64>,
    /// Orthonormal eigenvectors, as rows.
    pub(crate) vectors: Array2<f64>,
    /// The dimension of the space in which they were found, or of a smaller one that would have done.
    pub(crate) searched: usize,
}

/// The `count` largest eigenvalues with their eigenvectors. `similar` is what was searched for those of a matrix that is
/// nearly the same: it saves work, and changes the answer within the tolerance only.
pub(crate) fn leading_eigenpairs(
    matrix: &UpdatedDiagonal,
    count: usize,
    similar: Option<usize>,
) -> Result<Leading> {
    let found = match by_rational_subspace(matrix, count, similar)? {
        None => by_lanczos(matrix, count, similar)?,
        found => found,
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let SymmetricEigen { values, vectors } = symmetric_eigen(matrix.dense().view(), WHAT)?;
    Ok(Leading {
        values: values.slice_move(s![..count]),
        vectors: vectors.slice(s![.., ..count]).t().as_standard_layout().into_owned(),
        searched: matrix.size(),
    })
}

/// Whether every eigenvalue of the matrix above the `count`-th Ritz value is one of the Ritz values. Their
/// residuals are below the tolerance; `ritz` are all Ritz values, largest first.
pub(crate) fn is_complete(
    matrix: &UpdatedDiagonal,
    ritz: ArrayView1<'_, f64>,
    count: usize,
) -> Result<bool> {
    // Below the eigenvalue that belongs to the last pair.
    let shift = ritz[count - 1] - 4.0 * TOLERANCE * ritz[0];
    let found = ritz.iter().take_while(|&&value| value > shift).count();
    Ok(matrix.count_above(shift)? == found)
}

/// Orthonormal rows Q and coefficients C with rows = C Q, up to the rows that the earlier ones bring below the
/// `floor`, which are left out of Q.
pub(crate) fn orthonormal_rows(mut rows: Array2<f64>, floor: f64) -> (Array2<f64>, Array2<f64>) {
    let count = rows.nrows();
    let mut coefficients = Array2::zeros((count, count));
    let mut kept = 0;
    for place in 0..count {
        let (before, mut rest) = rows.view_mut().split_at(Axis(0), place);
        let mut row = rest.row_mut(0);
        let mut norm = row.dot(&row).sqrt();
        // Once leaves what rounding makes of cancellation; if there was some, twice is enough.
        for _ in 0..2 {
            let before_it = norm;
            for (earlier, other) in before.rows().into_iter().take(kept).enumerate() {
                let overlap = other.dot(&row);
                row.scaled_add(-overlap, &other);
                coefficients[[place, earlier]] += overlap;
            }
            norm = row.dot(&row).sqrt();
            if norm > 0.1 * before_it {
                break;
            }
        }
        if norm > floor {
            row /= norm;
            let row = row.to_owned();
            rows.row_mut(kept).assign(&row);
            coefficients[[place, kept]] = norm;
            kept += 1;
        }
    }
    (rows.slice_move(s![..kept, ..]), coefficients.slice_move(s![.., ..kept]))
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// √D (I − Σ q qᵀ + q′ q′ᵀ) √D with a decaying D and nearly orthonormal q: as the methods' matrices are.
    fn matrix(size: usize, updates: usize, decay: f64) -> UpdatedDiagonal {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let diagonal =
            Array1::from_shape_fn(size, |place| 100.0 / (1.0 + place as f64).powf(decay));
        let updates = Array2::from_shape_fn((updates, size), |(_, place)| {
            random.gen_range(-1.0..1.0) * (3.0 / size as f64 * diagonal[place]).sqrt()
        });
        let signs =
            Array1::from_shape_fn(updates.nrows(), |place| if place == 2 { 1.0 } else { -1.0 });
        UpdatedDiagonal { diagonal, updates, signs }
    }

    fn diagonal(size: usize, entry: impl Fn(usize) -> f64) -> UpdatedDiagonal {
        UpdatedDiagonal {
            diagonal: Array1::from_shape_fn(size, entry),
            updates: Array2::zeros((1, size)),
            signs: Array1::from_elem(1, -1.0),
        }
    }

    fn assert_is_leading(found: Option<Leading>, matrix: &UpdatedDiagonal, count: usize) {
        let found = found.expect("a certified answer");
        let dense = symmetric_eigen(matrix.dense().view(), WHAT).unwrap();
        let scale = dense.values[0];
        assert_eq!(found.values.len(), count);
        for (value, expected) in found.values.iter().zip(&dense.values) {
            assert!((value - expected).abs() <= TOLERANCE * scale, "{value} and {expected}");
        }
        let residual = matrix.apply(found.vectors.view())
            - &found.vectors * &found.values.view().insert_axis(Axis(1));
        assert!(residual.iter().all(|entry| entry.abs() <= 2.0 * TOLERANCE * scale));
        let overlaps = found.vectors.dot(&found.vectors.t()) - Array2::<f64>::eye(count);
        assert!(overlaps.iter().all(|entry| entry.abs() < 1e-12));
    }

    #[test]
    fn block_lanczos_finds_the_eigenpairs_of_the_dense_decomposition() {
        let matrix = matrix(600, 60, 1.5);
        for count in [1, 10, 40] {
            assert_is_leading(by_lanczos(&matrix, count, None).unwrap(), &matrix, count);
        }
    }

    #[test]
    fn the_rational_subspace_has_the_eigenpairs_of_the_dense_decomposition() {
        for decay in [0.3, 1.0, 2.0] {
            let matrix = matrix(400, 6, decay);
            for count in [20, 40] {
                assert_is_leading(
                    by_rational_subspace(&matrix, count, None).unwrap(),
                    &matrix,
                    count,
                );
            }
        }
    }

    /// Eigenvalues of a higher multiplicity than a block has vectors, of which the iteration sees no more.
    #[test]
    fn missed_eigenvalues_are_noticed() {
        let matrix = diagonal(200, |place| 0.5_f64.powi(i32::try_from(place / 9).unwrap()));
        assert!(by_lanczos(&matrix, 12, None).unwrap().is_none());
    }

    #[test]
    fn eigenvalues_of_any_multiplicity_are_found() {
        for multiplicity in [5, 30, 300] {
            let matrix = diagonal(300, |place| 1.0 / (1 + place / multiplicity) as f64);
            let found = leading_eigenpairs(&matrix, 12, None).unwrap();
            assert_is_leading(Some(found), &matrix, 12);
        }
    }

    #[test]
    fn dependent_rows_are_left_out() {
        let rows = ndarray::array![[3.0, 4.0, 0.0], [6.0, 8.0, 0.0], [0.0, 1.0, 2.0]];
        let (orthonormal, coefficients) = orthonormal_rows(rows.clone(), 1e-12);
        assert_eq!(orthonormal.nrows(), 2);
        let difference = coefficients.dot(&orthonormal) - rows;
        assert!(difference.iter().all(|entry| entry.abs() < 1e-14));
    }
}
