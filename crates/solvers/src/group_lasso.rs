//! Group-lasso transport, eq. `optreg_disc` with eq. `cuturigroup`:
//! min over γ ∈ Π(a, b) of ⟨γ, C⟩ + λ Σ γ ln γ + η Σ_j Σ_c ‖γ(I_c, j)‖₂, for any λ > 0, η ≥ 0 and unscaled costs.
//!
//! The dual is smooth and has one potential a sample. Each group of it is closed up to a scalar root (see `group`), the
//! target's potentials follow from the source's (see `kernel`), and what remains, a concave function of the source
//! potentials, is maximised by Newton's method (see `ascent`) with continuation in λ. The plan is then moved onto
//! the marginals; its objective minus the dual value certifies it. [`crate::gcg`] solves the same problem without any of
//! this, and problems with other regularizers.

mod ascent;
mod blocks;
mod certificate;
mod columns;
mod continuation;
mod curvature;
#[cfg(test)]
mod derivatives;
mod group;
mod kernel;
mod loops;
mod problem;
mod projection;
mod wright_omega;

use std::borrow::Cow;

use ndarray::{Array2, ArrayView2};

use crate::checks::{check_length, check_weight};
use crate::entropic::{self, Potentials};
use crate::error::{Error, Result};
use crate::gcg::Objective;
use crate::stop::Stop;
use ascent::{Ascent, Goal};
use continuation::Continuation;
use problem::Problem;
use projection::AfterPlan;

/// A larger η/λ would overflow in products.
const LARGEST_RATIO: f64 = 1e100;
/// Of the relative gap, for the marginal error at which a plan is certified first, and at most; then this much less,
/// until the gap is small enough.
const FIRST_ERROR: f64 = 3.0;
const LARGEST_ERROR: f64 = 1e-4;
const TIGHTENING: f64 = 0.01;
/// Newton steps that a start from a neighbouring η may take before the path along λ is shorter for what follows.
const CLOSE_STEPS: usize = 3;
/// Marginal error of a start at OT-IT's potentials.
const START_ERROR: f64 = 1e-3;
/// Problems with forbidden pairs are solved this far if rounding allows, because the mass that is
/// missing afterwards cannot be put just anywhere.
const FORBIDDEN_PAIRS_ERROR: f64 = 1e-13;

/// Of the relative gap, where pairs are forbidden.
const LARGEST_MISSING_MASS: f64 = 1e-3;

/// The problem, up to λ.
#[derive(Debug, Clone, Copy)]
pub struct GroupLassoProblem<'a> {
    /// C, with +∞ for forbidden pairs.
    pub cost: ArrayView2<'a, f64>,
    /// a.
    pub source_mass: &'a [f64],
    /// b.
    pub target_mass: &'a [f64],
    /// The class of each source sample: the samples of one class are the rows I_c.
    pub source_labels: &'a [usize],
    /// η.
    pub regularization_weight: f64,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupLassoOptions {
    /// Largest duality gap, relative to the largest term of the objective.
    pub relative_gap: f64,
    /// Newton steps for one λ, including those at the larger λ on the way to it.
    pub iteration_limit: usize,
}

impl Default for GroupLassoOptions {
    fn default() -> Self {
        Self { relative_gap: 1e-6, iteration_limit: 500 }
    }
}

/// A plan with its certificate.
#[derive(Debug, Clone)]
pub struct GroupLassoSolution {
    /// λ.
    pub entropy_weight: f64,
    /// The transport plan γ; its marginals hold to rounding.
    pub plan: Array2<f64>,
    /// The dual potentials; −∞ for a sample without mass.
    pub potentials: Potentials,
    /// The objective at the plan, by terms.
    pub objective: Objective,
    /// The value of the dual at the potentials, as a bound that holds for any accuracy of its groups: no plan has a
    /// smaller objective.
    pub dual_objective: f64,
    /// L1 error of the source marginal before the plan was moved onto it.
    pub marginal_error: f64,
    /// Newton steps since the previous solution.
    pub iterations: usize,
    /// Why the solve ended.
    pub stop: Stop,
}

impl GroupLassoSolution {
    /// By how much, at most, the objective exceeds the least one (negative only by rounding).
    #[must_use]
    pub fn duality_gap(&self) -> f64 {
        self.objective.total() - self.dual_objective
    }

    /// The duality gap relative to the largest term of the objective.
    #[must_use]
    pub fn relative_gap(&self) -> f64 {
        let Objective { transport, entropy, regularization } = self.objective;
        let scale = transport.abs().max(entropy.abs()).max(regularization);
        self.duality_gap() / scale.max(f64::MIN_POSITIVE)
    }
}

/// The memory of a solve. Reusing one for paths of problems of the same size allocates little more than the results; a
/// single solve returns most of it.
#[derive(Default)]
pub struct GroupLassoWorkspace {
    ascent: Ascent,
}

/// Solves the problem for one λ.
///
/// `start` are potentials of a similar problem, such as that of a neighbouring λ or η; only those of the source
/// matter.
pub fn solve_group_lasso(
    problem: &GroupLassoProblem<'_>,
    entropy_weight: f64,
    start: Option<&Potentials>,
    workspace: &mut GroupLassoWorkspace,
    options: &GroupLassoOptions,
) -> Result<GroupLassoSolution> {
    check(problem, &[entropy_weight], options)?;
    let problem = Problem::new(problem)?;
    let (first_weight, start) = match start {
        Some(potentials) => (entropy_weight, Some(Cow::Borrowed(potentials))),
        None => entropic_start(&problem, entropy_weight),
    };
    let ascent = &mut workspace.ascent;
    ascent.resize(&problem);
    let mut continuation = if let Some(potentials) = start {
        ascent.kernel.load(&problem, &potentials)?;
        Continuation::warm(ascent, &problem, first_weight)
    } else {
        Continuation::cold(ascent, &problem, first_weight)
    };
    let after = AfterPlan::FreeKernel;
    Ok(solution_at(&mut continuation, ascent, &problem, (entropy_weight, after), options))
}

/// A λ and the potentials to start at there. Where η ≤ λ the norms hardly move OT-IT's potentials, which cost a fraction
/// of ours: a start at λ, or where η is larger at a λ as large as η. None where those of λ → ∞ are as good.
fn entropic_start(
    problem: &Problem<'_>,
    entropy_weight: f64,
) -> (f64, Option<Cow<'static, Potentials>>) {
    let first_weight = entropy_weight.max(problem.regularization_weight);
    if first_weight >= continuation::FIRST_SHARE * problem.entropic.cost_spread {
        return (entropy_weight, None);
    }
    let options = entropic::Options { tolerance: START_ERROR, ..entropic::Options::default() };
    let memory = &mut entropic::Workspace::default();
    let solution = entropic::solve_cold(problem.entropic.clone(), first_weight, memory, &options);
    (first_weight, Some(Cow::Owned(solution.potentials)))
}

/// Solves the same problem for several λ, from the largest to the smallest, each from the one before, and returns the
/// solutions in the order of `entropy_weights`.
///
/// `neighbours` are the solutions for the same λ and a neighbouring η, or none. As long as they are good starts each λ is
/// solved from its own one instead.
pub fn solve_group_lasso_path(
    problem: &GroupLassoProblem<'_>,
    entropy_weights: &[f64],
    neighbours: &[GroupLassoSolution],
    workspace: &mut GroupLassoWorkspace,
    options: &GroupLassoOptions,
) -> Result<Vec<GroupLassoSolution>> {
    check(problem, entropy_weights, options)?;
    let mut is_close = !neighbours.is_empty();
    if is_close {
        check_length("neighbours", neighbours.len(), "entropy_weights", entropy_weights.len())?;
    }
    let problem = Problem::new(problem)?;
    let mut order: Vec<usize> = (0..entropy_weights.len()).collect();
    order.sort_by(|&a, &b| entropy_weights[b].total_cmp(&entropy_weights[a]));
    let Some(&largest) = order.first() else { return Ok(Vec::new()) };
    let ascent = &mut workspace.ascent;
    ascent.resize(&problem);
    let mut continuation = Continuation::cold(ascent, &problem, entropy_weights[largest]);
    let mut solutions: Vec<(usize, GroupLassoSolution)> = Vec::with_capacity(order.len());
    for index in order {
        let weight = entropy_weights[index];
        is_close = is_close
            && continuation.try_start(ascent, &problem, weight, &neighbours[index].potentials)?;
        let at = (weight, AfterPlan::KeepKernel);
        let solution = solution_at(&mut continuation, ascent, &problem, at, options);
        // A smaller λ makes the difference between two η larger.
        is_close &= solution.iterations <= CLOSE_STEPS;
        solutions.push((index, solution));
    }
    solutions.sort_by_key(|(index, _)| *index);
    Ok(solutions.into_iter().map(|(_, solution)| solution).collect())
}

/// Fails unless the weights and the options are usable.
fn check(
    problem: &GroupLassoProblem<'_>,
    entropy_weights: &[f64],
    options: &GroupLassoOptions,
) -> Result<()> {
    let tolerance = options.relative_gap;
    if !(tolerance.is_finite() && tolerance > 0.0) {
        return Err(Error::Argument {
            name: "relative_gap",
            value: tolerance.to_string(),
            rule: "it is positive and finite",
        });
    }
    entropic::check(entropy_weights, &entropic::Options::default())?;
    let smallest = entropy_weights.iter().copied().fold(f64::INFINITY, f64::min);
    let eta = problem.regularization_weight;
    check_weight("eta", eta)?;
    if eta / smallest > LARGEST_RATIO {
        return Err(Error::Argument {
            name: "eta",
            value: format!("{eta:e}"),
            rule: "it is at most 1e100 times lambda",
        });
    }
    Ok(())
}

fn solution_at(
    continuation: &mut Continuation,
    ascent: &mut Ascent,
    problem: &Problem<'_>,
    (entropy_weight, after): (f64, AfterPlan),
    options: &GroupLassoOptions,
) -> GroupLassoSolution {
    let before = ascent.iterations;
    let mut goal = Goal {
        entropy_weight,
        tolerance: (FIRST_ERROR * options.relative_gap).min(LARGEST_ERROR),
        iteration_limit: before.saturating_add(options.iteration_limit),
    };
    if problem.entropic.has_forbidden_pairs {
        goal.tolerance = goal.tolerance.min(FORBIDDEN_PAIRS_ERROR);
    }
    let mut stop = continuation.descend(ascent, problem, goal);
    loop {
        let dual_objective = certificate::lower_bound(&ascent.kernel, problem, entropy_weight);
        if after == AfterPlan::FreeKernel {
            ascent.curvature.forget_factor();
        }
        let plan = projection::project(&mut ascent.kernel, problem, after);
        let mut solution = GroupLassoSolution {
            entropy_weight,
            objective: projection::objective(&plan, problem, entropy_weight),
            plan,
            potentials: projection::potentials(&ascent.kernel, problem),
            dual_objective,
            marginal_error: ascent.error,
            iterations: ascent.iterations - before,
            stop,
        };
        // Mass that forbidden pairs kept from being placed is missing in the objective, too.
        let is_whole = !problem.entropic.has_forbidden_pairs
            || ascent.error <= LARGEST_MISSING_MASS * options.relative_gap;
        if is_whole && solution.relative_gap() <= options.relative_gap {
            solution.stop = Stop::Converged;
            return solution;
        }
        if stop != Stop::Converged {
            return solution;
        }
        goal.tolerance = TIGHTENING * goal.tolerance.min(ascent.error);
        if goal.tolerance == 0.0 {
            // Nothing is wrong with the marginals: the gap is rounding.
            solution.stop = Stop::Stalled;
            return solution;
        }
        drop(solution);
        if after == AfterPlan::FreeKernel {
            ascent.kernel.resize(problem);
            ascent.evaluate(problem, entropy_weight);
        }
        stop = ascent.climb(problem, goal);
    }
}
