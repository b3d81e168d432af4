//! Transfer subspace learning (TSL): a subspace that serves a criterion and in which source and target are
//! distributed alike.
//!
//! S. Si, D. Tao and B. Geng, "Bregman Divergence-Based Regularization for Transfer Subspace Learning", IEEE
//! Transactions on Knowledge and Data Engineering 22(7), 2010. Over the W with WᵀW = I it minimises
//!
//! F(W) + λ D_W(P_s ‖ P_t),
//!
//! where F is Fisher's criterion, or that of PCA or of LPP ([`Criterion`]), and D_W the quadratic divergence
//! between kernel density estimates of the projected domains (`divergence`). Both depend on the subspace
//! alone, not on its basis, so the search goes along the Grassmann manifold (`grassmann`).
//!
//! These are readings chosen here, for their agreement with published accuracies or their stability; they were not
//! compared with the publication's own text or program:
//!
//! - Samples are scaled to unit norm, before and after the projection.
//! - The search happens in the first 100 principal components of both domains together, without the directions
//!   in which so little varies that a ratio of scatters is noise. The scatter within classes is shrunk by the
//!   estimate of Ledoit and Wolf. Where a class has few samples, results depend strongly on both; 100 was
//!   chosen because it came nearest to published accuracies, not derived.
//! - Fisher's criterion is the ratio of traces, whose minimum over orthonormal bases is known for any k, also
//!   where there are fewer classes than dimensions; the search starts there.
//! - The estimates are normalised densities, and their bandwidth follows the projection. A density of k dimensions
//!   has the unit (1/length)^k: lengths are measured such that the mean variance of the components is 1. Of the two
//!   readings of [`DivergenceKernel`] this comes closest to the accuracies that the paper reports for TSL, and is the
//!   default for that reason.
//!
//! As densities the estimates are so thin that from about ten dimensions on no weight of the usual grids
//! (up to 1000) makes the divergence felt: the subspace is then Fisher's. [`DivergenceKernel::UnitPeak`] leaves the
//! densities' factor out, where the divergence should count in many dimensions.

mod criterion;
mod divergence;
mod grassmann;
mod kernel;
mod locality;
mod shrinkage;
#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

use crate::checks::{check_dimensions, check_domains, check_labels, check_positive};
use crate::embedding::{Embedding, scale_rows_to_unit_norm};
use crate::error::{Error, Result};
use crate::principal::PrincipalComponents;
use criterion::TraceRatio;
use divergence::Divergence;
use grassmann::{Limits, minimise};

pub use criterion::Criterion;
pub use divergence::DivergenceKernel;
pub use grassmann::Stop;

const WHAT: &str = "the source and target samples";

/// What can be chosen in TSL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TslOptions {
    /// The criterion F.
    pub criterion: Criterion,
    /// The number of principal components of both domains in which the subspace is sought; fewer where the
    /// samples' rank is less.
    pub components: usize,
    /// Whether samples are scaled to unit norm, before and after the projection.
    pub unit_norm: bool,
    /// The variance of the kernel, in units of the mean squared distance between projected samples.
    pub bandwidth: f64,
    /// The kernel of the divergence.
    pub kernel: DivergenceKernel,
    /// The most steps of one minimisation. Where the divergence prevails, all are used, which
    /// [`TslOutcome::stop`] reports.
    pub max_iterations: usize,
    /// A minimisation ends when the gradient is this small, relative to the objective.
    pub tolerance: f64,
}

impl Default for TslOptions {
    fn default() -> Self {
        Self {
            criterion: Criterion::Fisher,
            components: 100,
            unit_norm: true,
            bandwidth: 1.0,
            kernel: DivergenceKernel::Density,
            max_iterations: 20,
            tolerance: 1e-3,
        }
    }
}

/// TSL between two domains, with the work that all weights and dimensions share.
#[derive(Debug)]
pub struct Tsl {
    samples: Array2<f64>,
    source_samples: usize,
    criterion: TraceRatio,
    divergence: Divergence,
    options: TslOptions,
}

/// One minimisation of F + λ D.
#[derive(Debug, Clone)]
pub struct TslOutcome {
    /// Both domains in the subspace that was found.
    pub embedding: Embedding,
    /// F(W) + λ D_W at the start and after each step; never increases.
    pub objectives: Vec<f64>,
    /// F(W) at the end.
    pub criterion: f64,
    /// D_W at the end.
    pub divergence: f64,
    /// The norm of the Riemannian gradient at the end, relative to the objective.
    pub relative_gradient: f64,
    /// Why the minimisation ended.
    pub stop: Stop,
}

impl Tsl {
    /// Takes the labelled source samples and the target samples; rows are samples.
    pub fn new(
        source: ArrayView2<'_, f64>,
        labels: &[usize],
        target: ArrayView2<'_, f64>,
        options: TslOptions,
    ) -> Result<Self> {
        check_domains(source, target)?;
        check_labels(source, labels)?;
        check_positive("bandwidth", options.bandwidth)?;
        check_positive("tolerance", options.tolerance)?;
        if options.components == 0 {
            return Err(Error::Parameter {
                name: "components",
                value: "0".to_owned(),
                rule: "at least one principal component is needed",
            });
        }
        let mut all = concatenate![Axis(0), source, target];
        if options.unit_norm {
            scale_rows_to_unit_norm(&mut all);
        }
        let components = PrincipalComponents::new(all.view(), WHAT)?;
        let mut samples = components.coordinates(options.components.min(components.rank()));
        // The unit of the densities: no result depends on that of the features.
        let mean_square =
            samples.iter().map(|value| value * value).sum::<f64>() / samples.len() as f64;
        samples /= mean_square.sqrt();
        let criterion =
            TraceRatio::new(options.criterion, samples.view(), &labels[..source.nrows()])?;
        let divergence =
            Divergence::new(samples.view(), source.nrows(), options.bandwidth, options.kernel);
        Ok(Self { samples, source_samples: source.nrows(), criterion, divergence, options })
    }

    /// The largest number of dimensions that a subspace can have.
    #[must_use]
    pub fn max_k(&self) -> usize {
        self.samples.ncols()
    }

    /// The k-dimensional subspace for one weight of the divergence, sought from the minimiser of F on.
    pub fn fit(&self, weight: f64, k: usize) -> Result<TslOutcome> {
        let mut outcomes = self.fit_path(&[weight], k)?;
        Ok(outcomes.swap_remove(0))
    }

    /// The k-dimensional subspaces for several weights of the divergence. The objective has local minima:
    /// each search starts where that of the weight before it ended, the first at the minimiser of F.
    /// Ascending weights follow the minimum as the divergence gains on the criterion; an outcome depends
    /// on the weights before it and not on those after it.
    pub fn fit_path(&self, weights: &[f64], k: usize) -> Result<Vec<TslOutcome>> {
        check_dimensions(k, WHAT, self.max_k())?;
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0))
        {
            return Err(Error::Parameter {
                name: "the weight of the divergence",
                value: weight.to_string(),
                rule: "a finite number that is not negative is needed",
            });
        }
        let limits = Limits {
            max_iterations: self.options.max_iterations,
            tolerance: self.options.tolerance,
        };
        let mut basis = self.criterion.minimiser(k)?;
        let mut terms = self.terms(basis.view());
        let mut embedding = self.embed(basis.view());
        let mut outcomes = Vec::with_capacity(weights.len());
        for &weight in weights {
            let start = terms.objective(weight);
            let minimum = minimise(basis, start, limits, |basis| self.objective(basis, weight))?;
            basis = minimum.basis;
            let has_moved = minimum.objectives.len() > 1;
            if has_moved {
                terms = self.terms(basis.view());
                embedding = self.embed(basis.view());
            }
            outcomes.push(TslOutcome {
                embedding: embedding.clone(),
                criterion: terms.criterion.0,
                divergence: terms.divergence.0,
                objectives: minimum.objectives,
                relative_gradient: minimum.relative_gradient,
                stop: minimum.stop,
            });
        }
        Ok(outcomes)
    }

    /// F + λ D and its gradient in the entries of W.
    fn objective(&self, basis: ArrayView2<'_, f64>, weight: f64) -> (f64, Array2<f64>) {
        if weight == 0.0 {
            return self.criterion.value_and_gradient(basis);
        }
        self.terms(basis).objective(weight)
    }

    fn terms(&self, basis: ArrayView2<'_, f64>) -> Terms {
        Terms {
            criterion: self.criterion.value_and_gradient(basis),
            divergence: self.divergence.value_and_gradient(basis),
        }
    }

    fn embed(&self, basis: ArrayView2<'_, f64>) -> Embedding {
        let mut projected = self.samples.dot(&basis);
        if self.options.unit_norm {
            scale_rows_to_unit_norm(&mut projected);
        }
        Embedding {
            source: projected.slice(s![..self.source_samples, ..]).to_owned(),
            target: projected.slice(s![self.source_samples.., ..]).to_owned(),
        }
    }
}

/// F and D at one subspace, each with its gradient in the entries of W: what all weights have in common there.
struct Terms {
    criterion: (f64, Array2<f64>),
    divergence: (f64, Array2<f64>),
}

impl Terms {
    /// F + λ D and its gradient.
    fn objective(&self, weight: f64) -> (f64, Array2<f64>) {
        let (criterion, slope) = &self.criterion;
        let (divergence, divergence_slope) = &self.divergence;
        let mut gradient = slope.clone();
        gradient.scaled_add(weight, divergence_slope);
        (criterion + weight * divergence, gradient)
    }
}
