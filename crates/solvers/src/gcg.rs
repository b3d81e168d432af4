//! Generalized conditional gradient, algorithm `algo:fws`, for eq. `optreg_disc`:
//! min over γ ∈ Π(a, b) of ⟨γ, C⟩ + λ Ω_s(γ) + η Ω_c(γ).
//!
//! Each direction solves an entropic problem with the linearized Ω_c. Where η/λ is large the linearization
//! holds only nearby and the plain algorithm crawls, so the direction problem carries a damping
//! τ KL(γ | γᵏ), which keeps it entropic (with weight λ + τ and cost C + η∇Ω_c − τ ln γᵏ). The line search
//! tells τ: a step of α says that the objective curves 1/α times as much as its model. τ = 0 is the
//! algorithm as printed, which is what a well-conditioned or concave Ω_c runs with. A quadratic Ω_c is
//! accelerated, or minimized by Newton's method in the moved samples where these have few dimensions. Group lasso and
//! ℓp-ℓ1 have faster solvers of their own: [`crate::group_lasso`], [`crate::lp_l1`].

mod accelerated;
mod average;
mod iteration;
mod line_search;
mod moved;
mod newton;
mod path;
mod response;
mod sides;
mod sinkhorn;
mod terms;

use ndarray::{Array2, ArrayView2};

use crate::checks::{check_cost, check_length, check_weight};
use crate::entropic::{self, Potentials, Workspace};
use crate::error::Result;
use crate::marginals::masses_of;
use crate::regularizer::Regularizer;
use crate::stop::Stop;
use iteration::State;
use moved::Start;

pub use path::QuadraticPath;

/// When to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct GcgOptions {
    /// Largest duality gap, relative to the objective.
    pub relative_gap: f64,
    /// Most directions.
    pub iteration_limit: usize,
    /// For the entropic problems.
    pub entropic: entropic::Options,
}

impl Default for GcgOptions {
    fn default() -> Self {
        Self { relative_gap: 1e-6, iteration_limit: 1000, entropic: entropic::Options::default() }
    }
}

impl GcgOptions {
    /// The entropic options with a tolerance that is not tighter than theirs.
    fn rough(&self, tolerance: f64) -> entropic::Options {
        entropic::Options { tolerance: tolerance.max(self.entropic.tolerance), ..self.entropic }
    }
}

/// The three terms of eq. `optreg_disc`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Objective {
    /// ⟨γ, C⟩.
    pub transport: f64,
    /// λ Ω_s(γ).
    pub entropy: f64,
    /// η Ω_c(γ).
    pub regularization: f64,
}

impl Objective {
    /// The sum of the three.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.transport + self.entropy + self.regularization
    }
}

/// One iteration, for plots and diagnosis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GcgStep {
    /// The objective before the step.
    pub objective: f64,
    /// An estimate of the duality gap; the last one of a converged solve is the certified gap.
    pub gap: f64,
    /// The damping τ of the direction problem.
    pub damping: f64,
    /// The step α.
    pub step: f64,
}

/// A regularized plan with its certificate.
#[derive(Debug, Clone)]
pub struct GcgSolution {
    /// The transport plan γ; its marginals hold to rounding.
    pub plan: Array2<f64>,
    /// ∇Ω_c at the plan, from which a neighbour starts.
    pub gradient: Array2<f64>,
    /// The potentials of the last linearized problem.
    pub potentials: Potentials,
    /// The objective at the plan, by terms.
    pub objective: Objective,
    /// By how much, at most, the objective exceeds the least one, if Ω_c is convex; a measure of
    /// stationarity otherwise.
    pub duality_gap: f64,
    /// Directions taken, or steps of Newton's method at all λ.
    pub iterations: usize,
    /// Why the iteration ended.
    pub stop: Stop,
    /// The largest marginal error of an entropic problem before its projection.
    pub marginal_error: f64,
    /// How much a quadratic Ω_c was last seen to curve relative to KL, from which a neighbour starts.
    pub curvature: Option<f64>,
    /// Ȳ, at which an Ω_c of moved samples was last linearized, from which a neighbour on a path starts.
    linearized_at: Option<sides::Sides>,
    /// Objective, gap, damping and step over the iterations; of Newton's method, those for the λ itself.
    pub history: Vec<GcgStep>,
}

/// The problem of eq. `optreg_disc`.
#[derive(Clone, Copy)]
pub struct GcgProblem<'a> {
    /// C, with +∞ for forbidden pairs.
    pub cost: ArrayView2<'a, f64>,
    /// a.
    pub source_mass: &'a [f64],
    /// b.
    pub target_mass: &'a [f64],
    /// λ.
    pub entropy_weight: f64,
    /// Ω_c.
    pub regularizer: &'a dyn Regularizer,
    /// η.
    pub regularization_weight: f64,
}

/// Minimizes ⟨γ, C⟩ + λ Ω_s(γ) + η Ω_c(γ) over the plans with the given marginals.
///
/// `start` is the solution of a problem with the same marginals, such as that for the next larger λ of a grid,
/// which pays for a convex Ω_c; without one the solve starts at the entropic plan, which is what decides
/// between the local minima of a concave one.
pub fn solve_gcg(
    problem: &GcgProblem<'_>,
    start: Option<&GcgSolution>,
    workspace: &mut Workspace,
    options: &GcgOptions,
) -> Result<GcgSolution> {
    check_weight("eta", problem.regularization_weight)?;
    entropic::check(&[problem.entropy_weight], &options.entropic)?;
    let (source_mass, target_mass) =
        masses_of(problem.cost, problem.source_mass, problem.target_mass)?;
    problem.regularizer.check_shape(problem.cost.dim())?;
    let problem = &GcgProblem {
        cost: problem.cost.view(),
        source_mass: &source_mass,
        target_mass: &target_mass,
        ..*problem
    };
    check_cost(problem.cost)?;
    if start.is_none()
        && let Some(form) = moved::form(problem)
    {
        let start = Start::far_away(problem, &*form, workspace, options)?;
        let bound = f64::NEG_INFINITY;
        if let Some(solution) = moved::solve(problem, &*form, start, bound, workspace, options)? {
            return Ok(solution);
        }
    }
    let (state, curvature) = if let Some(start) = start {
        check_length("the rows of start", start.plan.nrows(), "cost", problem.cost.nrows())?;
        check_length("the columns of start", start.plan.ncols(), "cost", problem.cost.ncols())?;
        let (plan, potentials) = (start.plan.clone(), start.potentials.clone());
        let state = State::at(problem, plan, potentials, problem.entropy_weight);
        (state, start.curvature.map(|curvature| problem.regularization_weight * curvature))
    } else {
        let weight = problem.entropy_weight;
        (State::at_entropic_plan(problem, weight, workspace, options)?, None)
    };
    if problem.regularizer.is_quadratic() {
        state.run_accelerated(problem, curvature, f64::NEG_INFINITY, workspace, options)
    } else {
        state.run(problem, start.is_none(), workspace, options)
    }
}
