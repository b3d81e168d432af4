//! Leading eigenpairs of diag(d) + Σ_j σ_j c_j c_jᵀ with few c_j, from a small subspace that contains them to
//! high accuracy: a rational Krylov space, see Ruhe, "Rational Krylov sequence methods for eigenvalue
//! computation", 1984.
//!
//! In an eigenvector for θ, the entries of small d, the tail T, are x_T = (θ − d_T)⁻¹ C_T (Σ Cᵀ x). As a function of
//! θ above the tail that is smooth, so the columns (θ_q − d_T)⁻¹ C_T for a few poles θ_q span it for all leading θ.
//! Together with the other coordinates, the head, taken as they are, they make a Rayleigh–Ritz problem of
//! head + poles · columns dimensions.

use ndarray::{Array1, Array2, Axis, concatenate, s};

use crate::error::Result;
use crate::leading_eigenpairs::{Leading, TOLERANCE, WHAT, is_complete, orthonormal_rows};
use crate::product::product;
use crate::symmetric_eigen::symmetric_eigen;
use crate::updated_diagonal::UpdatedDiagonal;

/// How much is tried, in this order.
const EFFORTS: [Effort; 2] = [Effort { poles: 6, margin: 32 }, Effort { poles: 10, margin: 60 }];
/// A direction of the tail that is shorter than this, beside those before it, is rounding.
const FLOOR: f64 = 1e-11;

/// The size of the subspace.
#[derive(Clone, Copy)]
struct Effort {
    poles: usize,
    /// Coordinates of the head beyond those that interlacing makes necessary: they keep the poles off the tail.
    margin: usize,
}

impl Effort {
    fn head(self, matrix: &UpdatedDiagonal, count: usize) -> usize {
        count + matrix.updates.nrows() + self.margin
    }

    fn dimension(self, matrix: &UpdatedDiagonal, count: usize) -> usize {
        self.head(matrix, count) + self.poles * matrix.updates.nrows()
    }
}

/// None when the subspace is not small beside the matrix, or its answer cannot be certified. The diagonal has to
/// descend. Spaces that are smaller than what sufficed for a `similar` matrix are not tried.
pub(crate) fn by_rational_subspace(
    matrix: &UpdatedDiagonal,
    count: usize,
    similar: Option<usize>,
) -> Result<Option<Leading>> {
    for effort in EFFORTS {
        if effort.dimension(matrix, count) < similar.unwrap_or(0) {
            continue;
        }
        if let Some(leading) = with_effort(matrix, count, effort)? {
            return Ok(Some(leading));
        }
    }
    Ok(None)
}

fn with_effort(matrix: &UpdatedDiagonal, count: usize, effort: Effort) -> Result<Option<Leading>> {
    let (size, columns) = (matrix.size(), matrix.updates.nrows());
    let (head, dimension) = (effort.head(matrix, count), effort.dimension(matrix, count));
    // Lanczos iteration needs about as large a space as this, or a smaller one.
    let by_iteration = 4 * count + 64;
    if dimension > by_iteration || 4 * dimension > 3 * size {
        return Ok(None);
    }
    let diagonal = &matrix.diagonal;
    // By interlacing, the last of the leading eigenvalues is above this one.
    let last = diagonal[count + columns - 1];
    if last <= diagonal[head] {
        return Ok(None);
    }
    let tail_updates = matrix.updates.slice(s![.., head..]);
    let tail_diagonal = diagonal.slice(s![head..]);
    let mut tail = Array2::zeros((0, size - head));
    for pole in poles_between(diagonal[0], last, diagonal[head], effort.poles) {
        let mut rows = &tail_updates * &tail_diagonal.mapv(|entry| (pole - entry).recip());
        for mut row in rows.rows_mut() {
            let norm = row.dot(&row).sqrt();
            if norm > 0.0 {
                row /= norm;
            }
        }
        for _ in 0..2 {
            rows -= &product(product(rows.view(), tail.t()).view(), tail.view());
        }
        tail = concatenate![Axis(0), tail, orthonormal_rows(rows, FLOOR).0];
    }

    // The matrix in the basis of the head's coordinates and the tail's rows.
    let projected = UpdatedDiagonal {
        diagonal: concatenate![Axis(0), diagonal.slice(s![..head]), Array1::zeros(tail.nrows())],
        updates: concatenate![
            Axis(1),
            matrix.updates.slice(s![.., ..head]),
            product(tail_updates, tail.t())
        ],
        signs: matrix.signs.clone(),
    };
    let mut dense = projected.dense();
    let mut corner = dense.slice_mut(s![head.., head..]);
    corner += &product((&tail * &tail_diagonal).view(), tail.t());

    let ritz = symmetric_eigen(dense.view(), WHAT)?;
    let values = ritz.values.slice(s![..count]).to_owned();
    let (in_head, in_tail) = ritz.vectors.slice(s![.., ..count]).split_at(Axis(0), head);
    let vectors = concatenate![Axis(1), in_head.t(), product(in_tail.t(), tail.view())];
    let residual = matrix.apply(vectors.view()) - &vectors * &values.view().insert_axis(Axis(1));
    let limit = (TOLERANCE * values[0]).powi(2);
    let is_accurate = residual.rows().into_iter().all(|row| row.dot(&row) <= limit);
    let is_certain = is_accurate && is_complete(matrix, ritz.values.view(), count)?;
    Ok(is_certain.then_some(Leading { values, vectors, searched: dense.nrows() }))
}

/// Poles between the largest and the last of the leading eigenvalues, in geometric distances from the tail.
fn poles_between(first: f64, last: f64, tail: f64, poles: usize) -> impl Iterator<Item = f64> {
    let ratio = (first - tail) / (last - tail);
    (0..poles).map(move |place| {
        let part = (place as f64 + 0.5) / poles as f64;
        tail + (last - tail) * ratio.powf(part)
    })
}
