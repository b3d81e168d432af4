//! Transfer component analysis: Pan, Tsang, Kwok & Yang, "Domain adaptation via transfer component analysis",
//! IEEE Transactions on Neural Networks 22, 2011.
//!
//! The projection that brings the two domains' means together while it keeps the variance: the eigenproblem
//! of `mmd.rs` with M = e_0 e_0ᵀ. In the publication λ is called μ and the kernel formulation is used.

use ndarray::ArrayView2;

use crate::discrepancy::{ClassSums, Compared, Discrepancies};
use crate::embedding::Embedding;
use crate::error::Result;
use crate::mmd::{MmdOptions, MmdProblem};

/// Transfer component analysis of two domains, for every λ and k.
#[derive(Debug)]
pub struct Tca {
    problem: MmdProblem,
    discrepancies: Discrepancies,
}

impl Tca {
    /// Decomposes the samples (rows) of both domains.
    pub fn new(
        source: ArrayView2<'_, f64>,
        target: ArrayView2<'_, f64>,
        options: MmdOptions,
    ) -> Result<Self> {
        let problem = MmdProblem::new(source, target, options)?;
        let (source, target) = problem.domains();
        let whole =
            |domain: ArrayView2<'_, f64>| ClassSums::new(domain, &vec![0; domain.nrows()], 1);
        let discrepancies = Discrepancies::new(&whole(source), &whole(target), Compared::Domains);
        Ok(Self { problem, discrepancies })
    }

    /// The largest k that [`Tca::embed`] accepts: the rank of the centred samples.
    #[must_use]
    pub fn max_k(&self) -> usize {
        self.problem.max_k()
    }

    /// Both domains, projected to k dimensions with the penalty λ > 0.
    pub fn embed(&self, lambda: f64, k: usize) -> Result<Embedding> {
        let projection = self.problem.solve(&self.discrepancies, lambda, k, None)?;
        Ok(self.problem.embedding(self.problem.project(&projection)?.view()))
    }
}
