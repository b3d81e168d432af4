//! Leading eigenpairs by block Lanczos iteration with full reorthogonalisation: Golub & Underwood, "The block
//! Lanczos method for computing eigenvalues", 1977.

use ndarray::{Array2, ArrayView2, Axis, s};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::leading_eigenpairs::{Leading, TOLERANCE, WHAT, is_complete, orthonormal_rows};
use crate::product::product;
use crate::symmetric_eigen::{SymmetricEigen, symmetric_eigen};
use crate::updated_diagonal::UpdatedDiagonal;

/// Vectors a block: eigenvalues of up to this multiplicity are found, and products are matrix products.
const BLOCK: usize = 8;
/// What one more block makes of the residual, roughly: a guess that decides about work only.
const BLOCKWISE_GAIN: f64 = 0.1;

/// None when the iteration cannot certify its answer, or would cost as much as a dense decomposition. `similar` is the
/// dimension that sufficed for a similar matrix: decompositions of smaller spaces, which cost most, are then spared.
pub(crate) fn by_lanczos(
    matrix: &UpdatedDiagonal,
    count: usize,
    similar: Option<usize>,
) -> Result<Option<Leading>> {
    let size = matrix.size();
    let least = 2 * count + 4 * BLOCK;
    let most = 3 * size / 4;
    if most < least {
        return Ok(None);
    }
    let largest = matrix.diagonal.fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let floor = 1e-3 * TOLERANCE * largest;
    let mut space = KrylovSpace::new(size, most + BLOCK);
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let start = Array2::from_shape_fn((BLOCK, size), |_| random.gen_range(-1.0..1.0_f64));
    let (mut block, _) = orthonormal_rows(start, floor);
    let step = (count / 4).max(BLOCK);
    let mut next_check = similar.unwrap_or(least).min(most);
    while block.nrows() == BLOCK && space.dimension < most {
        let (next, coupling) = space.extend(matrix, &block, floor);
        if space.dimension >= next_check {
            let ritz = symmetric_eigen(space.projected(), WHAT)?;
            let residual = space.largest_residual(&ritz, &coupling, count) / ritz.values[0];
            if residual <= TOLERANCE {
                let is_complete = is_complete(matrix, ritz.values.view(), count)?;
                let spare = if residual <= BLOCKWISE_GAIN * TOLERANCE { BLOCK } else { 0 };
                return Ok(is_complete.then(|| space.leading(&ritz, count, spare)));
            }
            next_check = space.dimension + step;
        }
        block = next;
    }
    Ok(None)
}

/// An orthonormal basis, grown block by block, and the matrix in it.
struct KrylovSpace {
    /// Basis vectors as rows, the first `dimension` of them in use.
    basis: Array2<f64>,
    projection: Array2<f64>,
    dimension: usize,
}

impl KrylovSpace {
    fn new(size: usize, capacity: usize) -> Self {
        Self {
            basis: Array2::zeros((capacity, size)),
            projection: Array2::zeros((capacity, capacity)),
            dimension: 0,
        }
    }

    /// Adds an orthonormal block and returns the next one, with the coefficients in which the block's image
    /// depends on it. Where the space is invariant, up to the floor, that block is smaller.
    fn extend(
        &mut self,
        matrix: &UpdatedDiagonal,
        block: &Array2<f64>,
        floor: f64,
    ) -> (Array2<f64>, Array2<f64>) {
        let (from, to) = (self.dimension, self.dimension + block.nrows());
        self.basis.slice_mut(s![from..to, ..]).assign(block);
        self.dimension = to;
        let basis = self.basis.slice(s![..to, ..]);
        let mut image = matrix.apply(block.view());
        // Twice is enough: once leaves what rounding makes of cancellation.
        for _ in 0..2 {
            let overlaps = product(image.view(), basis.t());
            image -= &product(overlaps.view(), basis);
            let mut rows = self.projection.slice_mut(s![from..to, ..to]);
            rows += &overlaps;
        }
        orthonormal_rows(image, floor)
    }

    fn leading(&self, ritz: &SymmetricEigen, count: usize, spare: usize) -> Leading {
        let basis = self.basis.slice(s![..self.dimension, ..]);
        Leading {
            values: ritz.values.slice(s![..count]).to_owned(),
            vectors: product(ritz.vectors.slice(s![.., ..count]).t(), basis),
            searched: self.dimension - spare,
        }
    }

    /// The matrix in the basis; its lower triangle.
    fn projected(&self) -> ArrayView2<'_, f64> {
        self.projection.slice(s![..self.dimension, ..self.dimension])
    }

    /// The largest residual ‖A v − θ v‖ of the leading Ritz pairs: only the last block's image leaves the space.
    fn largest_residual(&self, ritz: &SymmetricEigen, coupling: &Array2<f64>, count: usize) -> f64 {
        let last = ritz.vectors.slice(s![self.dimension - coupling.nrows().., ..count]);
        let outside = coupling.t().dot(&last);
        outside.axis_iter(Axis(1)).map(|column| column.dot(&column).sqrt()).fold(0.0, f64::max)
    }
}
