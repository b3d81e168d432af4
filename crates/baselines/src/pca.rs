//! PCA of both domains together: "a projection on the first principal components of the joint source/target
//! distribution (estimated from the concatenation of source and target samples)", in the paper's words.
//!
//! With X = [X_s; X_t], centred by the mean of all samples, and X = U S Vᵀ, the samples are embedded as √n U_k:
//! their first k principal components, each scaled to unit variance. The paper does not mention that scaling,
//! but only with it do the accuracies of its table follow, where PCA is far better than no adaptation on faces
//! and worse on digits; the plain components X V_k do the opposite. One decomposition serves every k.

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

use crate::checks::{check_dimensions, check_domains};
use crate::embedding::Embedding;
use crate::error::Result;
use crate::principal::PrincipalComponents;

const WHAT: &str = "the source and target samples";

/// How [`Pca`] scales the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PcaOptions {
    /// Scale each component to unit variance over both domains; otherwise distances are those between the
    /// projected samples.
    pub whiten: bool,
}

impl Default for PcaOptions {
    fn default() -> Self {
        Self { whiten: true }
    }
}

/// The principal components of two domains together.
#[derive(Debug)]
pub struct Pca {
    coordinates: Array2<f64>,
    source_samples: usize,
}

impl Pca {
    /// Decomposes the samples (rows) of both domains together, for embeddings in up to `max_k` dimensions, or
    /// up to the samples' rank where that is less.
    pub fn fit(
        source: ArrayView2<'_, f64>,
        target: ArrayView2<'_, f64>,
        max_k: usize,
        options: PcaOptions,
    ) -> Result<Self> {
        check_domains(source, target)?;
        let all = concatenate![Axis(0), source, target];
        let components = PrincipalComponents::new(all.view(), WHAT)?;
        let most = max_k.min(components.rank());
        let mut coordinates = components.coordinates(most);
        if options.whiten {
            let samples = all.nrows() as f64;
            let deviations = &components.singular_values.slice(s![..most]) / samples.sqrt();
            coordinates /= &deviations;
        }
        Ok(Self { coordinates, source_samples: source.nrows() })
    }

    /// The largest k that [`Pca::embed`] accepts.
    #[must_use]
    pub fn max_k(&self) -> usize {
        self.coordinates.ncols()
    }

    /// Both domains in the coordinates of the first k principal components.
    pub fn embed(&self, k: usize) -> Result<Embedding> {
        check_dimensions(k, WHAT, self.max_k())?;
        let (source, target) =
            self.coordinates.slice(s![.., ..k]).split_at(Axis(0), self.source_samples);
        Ok(Embedding { source: source.to_owned(), target: target.to_owned() })
    }
}
