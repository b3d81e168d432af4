//! The geodesic flow kernel: Gong, Shi, Sha & Grauman, "Geodesic flow kernel for unsupervised domain
//! adaptation", CVPR 2012.
//!
//! The principal subspaces P_s and P_t of the two domains, of the same dimension k ≤ d/2, are the ends of a
//! geodesic Φ(t) on the Grassmann manifold. The kernel integrates the projections along it,
//!
//! ```text
//! ⟨z_i, z_j⟩ = ∫₀¹ (Φ(t)ᵀ x_i)ᵀ (Φ(t)ᵀ x_j) dt = x_iᵀ G x_j.
//! ```
//!
//! With P_sᵀ P_t = U Γ Wᵀ, cos θ_i = γ_i, a_i = P_s u_i and b_i = P_t w_i − γ_i a_i (of length sin θ_i), the
//! flow is a_i cos tθ_i + b_i sin tθ_i / sin θ_i, so that G is a sum of 2 × 2 blocks, one for each angle. The
//! embedding is z = Lᵀ(a, b)ᵀx with the Cholesky factor L of each block: 2k coordinates whose Euclidean
//! distance is the kernel's. Samples enter only through their coordinates in P_s and P_t, so that one pair of
//! decompositions serves every k and no matrix of d × d is formed.

use faer::MatRef;
use ndarray::{Array1, Array2, ArrayView2, s};

use crate::checks::{check_dimensions, check_domains};
use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::principal::PrincipalComponents;

const WHAT: &str = "the two domains' subspaces";

/// The principal subspaces of two domains, and their samples in them.
#[derive(Debug)]
pub struct Gfk {
    /// P_sᵀ P_t.
    overlap: Array2<f64>,
    source: Coordinates,
    target: Coordinates,
}

/// One domain's samples in both subspaces.
#[derive(Debug)]
struct Coordinates {
    in_source_subspace: Array2<f64>,
    in_target_subspace: Array2<f64>,
}

impl Gfk {
    /// Finds the principal subspaces of the samples (rows) of each domain, for kernels between subspaces of up
    /// to `max_k` dimensions; or up to the lower rank or half the number of features, where that is less.
    pub fn fit(
        source: ArrayView2<'_, f64>,
        target: ArrayView2<'_, f64>,
        max_k: usize,
    ) -> Result<Self> {
        check_domains(source, target)?;
        if source.ncols() < 2 {
            return Err(Error::Parameter {
                name: "the number of features",
                value: source.ncols().to_string(),
                rule: "a geodesic between subspaces of k dimensions needs 2k features",
            });
        }
        let source_components = PrincipalComponents::new(source, "the source samples")?;
        let target_components = PrincipalComponents::new(target, "the target samples")?;
        let most = max_k
            .min(source_components.rank())
            .min(target_components.rank())
            .min(source.ncols() / 2);
        let source_axes = source_components.axes(most);
        let target_axes = target_components.axes(most);
        let coordinates = |samples: &ArrayView2<'_, f64>| Coordinates {
            in_source_subspace: samples.dot(&source_axes),
            in_target_subspace: samples.dot(&target_axes),
        };
        Ok(Self {
            source: coordinates(&source),
            target: coordinates(&target),
            overlap: source_axes.t().dot(&target_axes),
        })
    }

    /// The largest k that [`Gfk::embed`] accepts.
    #[must_use]
    pub fn max_k(&self) -> usize {
        self.overlap.ncols()
    }

    /// Both domains in 2k coordinates whose inner product is the kernel between subspaces of k dimensions.
    pub fn embed(&self, k: usize) -> Result<Embedding> {
        check_dimensions(k, WHAT, self.max_k())?;
        let angles = PrincipalAngles::new(self.overlap.slice(s![..k, ..k]))?;
        Ok(Embedding { source: angles.embed(&self.source), target: angles.embed(&self.target) })
    }
}

/// The decomposition U Γ Wᵀ of the overlap of two subspaces.
struct PrincipalAngles {
    left: Array2<f64>,
    cosines: Array1<f64>,
    right: Array2<f64>,
    angles: Vec<f64>,
}

impl PrincipalAngles {
    fn new(overlap: ArrayView2<'_, f64>) -> Result<Self> {
        let k = overlap.nrows();
        let failed = Error::Decomposition { what: "the overlap of the two subspaces" };
        let entries: Vec<f64> = overlap.iter().copied().collect();
        let Ok(svd) = MatRef::from_row_major_slice(&entries, k, k).svd() else {
            return Err(failed);
        };
        let (left, right) = (svd.U(), svd.V());
        let left = Array2::from_shape_fn((k, k), |place| left[place]);
        let right = Array2::from_shape_fn((k, k), |place| right[place]);
        let cosines =
            Array1::from_iter(svd.S().column_vector().iter().map(|cosine| cosine.clamp(0.0, 1.0)));
        let angles = cosines.iter().map(|cosine| cosine.acos()).collect();
        Ok(Self { left, cosines, right, angles })
    }

    fn embed(&self, coordinates: &Coordinates) -> Array2<f64> {
        let k = self.cosines.len();
        // ⟨a_i, x⟩ and ⟨b_i, x⟩.
        let along = coordinates.in_source_subspace.slice(s![.., ..k]).dot(&self.left);
        let mut across = coordinates.in_target_subspace.slice(s![.., ..k]).dot(&self.right);
        across -= &(&along * &self.cosines);
        let mut embedded = Array2::zeros((along.nrows(), 2 * k));
        for (place, &angle) in self.angles.iter().enumerate() {
            let [along_along, along_across, across_across] = block(angle);
            let first = along_along.sqrt();
            let second = along_across / first;
            let third = (across_across - second * second).max(0.0).sqrt();
            let (along, across) = (along.column(place), across.column(place));
            let mut columns = embedded.slice_mut(s![.., 2 * place..2 * place + 2]);
            columns.column_mut(0).assign(&(&along * first + &across * second));
            columns.column_mut(1).assign(&(&across * third));
        }
        embedded
    }
}

/// ∫₀¹ of the outer product of (cos tθ, sin tθ / sin θ) with itself: its entries (1, 1), (1, 2) and (2, 2).
fn block(angle: f64) -> [f64; 3] {
    // Below, the series to θ² leave an error of θ⁴ < 1e-16.
    if angle < 1e-4 {
        let square = angle * angle;
        return [1.0 - square / 3.0, 0.5 - square / 12.0, 1.0 / 3.0 + square * 2.0 / 45.0];
    }
    let sine = angle.sin();
    let half_wave = (2.0 * angle).sin() / (4.0 * angle);
    [0.5 + half_wave, sine / (2.0 * angle), (0.5 - half_wave) / (sine * sine)]
}
