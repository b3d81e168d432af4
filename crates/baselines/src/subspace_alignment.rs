//! Subspace alignment: Fernando, Habrard, Sebban & Tuytelaars, "Unsupervised visual domain adaptation using
//! subspace alignment", ICCV 2013.
//!
//! The source's principal subspace is turned into the target's by M* = argmin ‖P_s M − P_t‖_F = P_sᵀ P_t; the
//! source is embedded as X_s P_s M* and the target as X_t P_t. Each domain is centred by its own mean, as
//! the publication's z-normalised features are. One pair of decompositions serves every k.

use ndarray::{Array2, ArrayView2, s};

use crate::checks::{check_dimensions, check_domains};
use crate::embedding::Embedding;
use crate::error::Result;
use crate::principal::PrincipalComponents;

const WHAT: &str = "the two domains' subspaces";

/// The principal subspaces of two domains, and each domain's samples in its own.
#[derive(Debug)]
pub struct SubspaceAlignment {
    /// P_sᵀ P_t.
    alignment: Array2<f64>,
    source: Array2<f64>,
    target: Array2<f64>,
}

impl SubspaceAlignment {
    /// Finds the principal subspaces of the samples (rows) of each domain, for alignments of up to `max_k`
    /// dimensions; or up to the lower rank, where that is less.
    pub fn fit(
        source: ArrayView2<'_, f64>,
        target: ArrayView2<'_, f64>,
        max_k: usize,
    ) -> Result<Self> {
        check_domains(source, target)?;
        let source = PrincipalComponents::new(source, "the source samples")?;
        let target = PrincipalComponents::new(target, "the target samples")?;
        let most = max_k.min(source.rank()).min(target.rank());
        Ok(Self {
            alignment: source.axes(most).t().dot(&target.axes(most)),
            source: source.coordinates(most),
            target: target.coordinates(most),
        })
    }

    /// The largest k that [`SubspaceAlignment::embed`] accepts.
    #[must_use]
    pub fn max_k(&self) -> usize {
        self.alignment.ncols()
    }

    /// The source aligned to the target, both in the k coordinates of the target's subspace.
    pub fn embed(&self, k: usize) -> Result<Embedding> {
        check_dimensions(k, WHAT, self.max_k())?;
        let source = self.source.slice(s![.., ..k]);
        Ok(Embedding {
            source: source.dot(&self.alignment.slice(s![..k, ..k])),
            target: self.target.slice(s![.., ..k]).to_owned(),
        })
    }
}
