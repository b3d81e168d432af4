//! Exact optimal transport (eq. `gzero`): the network simplex on the dense bipartite graph of sources
//! and targets. It returns a vertex of the transport polytope, so a sparse plan, with the dual
//! potentials that certify it. It adds no regularization and knows nothing of labels.
//!
//! The algorithm is the textbook one (Ahuja, Magnanti and Orlin, *Network Flows*, 1993, chapter 11):
//! strongly feasible spanning trees, so that degenerate pivots cannot cycle, priced by candidate lists.
//! Masses are counted in integer units, so flows are exact and cannot become negative. The first basis
//! comes from a scaled auction (Bertsekas and Castañón, *The auction algorithm for the transportation
//! problem*, Annals of Operations Research 20, 1989).

mod auction;
mod certificate;
mod forest;
mod pricing;
mod problem;
mod scan;
mod shortlist;
mod simplex;
mod tree;

use ndarray::{Array2, ArrayView2};

use crate::error::Result;
use crate::stop::Stop;
use problem::Problem;

/// Settings of [`solve_exact`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExactOptions {
    /// Pivots after which the solve stops with [`Stop::IterationLimit`]; `None` allows a thousand for
    /// each sample, where measured inputs took fewer than twenty.
    pub pivot_limit: Option<usize>,
}

/// One pair that the plan sends mass along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanEntry {
    /// Row of the cost matrix.
    pub source: usize,
    /// Column of the cost matrix.
    pub target: usize,
    /// Positive mass sent.
    pub mass: f64,
}

/// A plan and its proof.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactSolution {
    /// At most `n_s + n_t − 1` pairs, sorted by source and then by target.
    pub plan: Vec<PlanEntry>,
    /// `u`, with `u_i + v_j ≤ C_ij` for all pairs.
    pub source_potentials: Vec<f64>,
    /// `v`, see [`ExactSolution::source_potentials`].
    pub target_potentials: Vec<f64>,
    /// `⟨γ, C⟩` of the plan.
    pub cost: f64,
    /// `⟨a, u⟩ + ⟨b, v⟩`: no plan costs less.
    pub dual_value: f64,
    /// Basis changes made after the first basis.
    pub pivots: usize,
    /// Why the solve ended.
    pub stop: Stop,
}

impl ExactSolution {
    /// The plan as a matrix of the cost's shape.
    #[must_use]
    pub fn dense_plan(&self, shape: (usize, usize)) -> Array2<f64> {
        let mut plan = Array2::zeros(shape);
        for entry in &self.plan {
            plan[[entry.source, entry.target]] = entry.mass;
        }
        plan
    }

    /// By how much, at most, the plan costs more than an optimal one (negative only by rounding).
    #[must_use]
    pub fn duality_gap(&self) -> f64 {
        self.cost - self.dual_value
    }
}

/// Solves `min ⟨γ, C⟩` over `γ ≥ 0` with row sums `source_mass` and column sums `target_mass`.
///
/// A cost of `+∞` forbids its pair. Masses may be zero; each side is scaled to sum to exactly one.
///
/// ```
/// use ndarray::array;
/// use solvers::exact::{ExactOptions, solve_exact};
///
/// let cost = array![[0.0, 2.0], [1.0, 0.0]];
/// let solution = solve_exact(cost.view(), &[0.25, 0.75], &[0.5, 0.5], &ExactOptions::default())?;
/// assert_eq!(solution.plan.len(), 3);
/// assert!((solution.cost - 0.25).abs() < 1e-15);
/// # Ok::<(), solvers::Error>(())
/// ```
pub fn solve_exact(
    cost: ArrayView2<f64>,
    source_mass: &[f64],
    target_mass: &[f64],
    options: &ExactOptions,
) -> Result<ExactSolution> {
    let problem = Problem::new(cost, source_mass, target_mass)?;
    let pivot_limit =
        options.pivot_limit.unwrap_or_else(|| 1000 * (problem.rows() + problem.columns()));
    let pairs = auction::promising_pairs(&problem);
    let start = forest::Forest::from_pairs(&problem, pairs);
    let basis = simplex::optimise(&problem, &start, pivot_limit)?;
    Ok(certificate::certify(cost, &problem, &basis))
}
