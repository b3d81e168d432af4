//! Entropic optimal transport, eq. `cuturi` of the paper:
//! min over γ ∈ Π(a, b) of ⟨γ, C⟩ + λ Σ γ ln γ, for any λ > 0 and unscaled costs.
//! Newton's method on the semi-dual with continuation in λ; not for λ = 0 (the exact solver).

mod ascent;
mod candidates;
mod continuation;
mod cost_summary;
mod curvature;
mod feasibility;
mod kernel;
mod kernels;
mod list;
mod matrix;
mod options;
mod penalty;
mod problem;
mod projection;
mod rough;
mod sparse_factor;

use ndarray::{Array2, ArrayView2};

use crate::checks::check_length;
use crate::error::{Error, Result};
use crate::stop::Stop;
use ascent::{Ascent, AscentEnd};
use continuation::Continuation;
use kernel::Kernel;
use rough::Rough;

pub(crate) use penalty::ClassPenalty;
pub(crate) use problem::Problem;

pub use options::{Options, Potentials, Solution};

/// Outside this range λ or its reciprocal would overflow in products.
const ENTROPY_WEIGHTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// The memory of a solve. Reusing one for paths of problems of the same size allocates little but the results; the plan of a
/// single solve takes the largest part of it along.
#[derive(Default)]
pub struct Workspace {
    ascent: Ascent,
    rough: Rough,
}

/// Solves one entropic transport problem.
pub fn solve(
    cost: ArrayView2<'_, f64>,
    source_mass: &[f64],
    target_mass: &[f64],
    entropy_weight: f64,
    warm_start: Option<&Potentials>,
    workspace: &mut Workspace,
    options: &Options,
) -> Result<Solution> {
    check(&[entropy_weight], options)?;
    let problem = Problem::new(cost, source_mass, target_mass)?;
    if let Some(potentials) = warm_start {
        let mut start = |_| Ok(potentials.clone());
        return solve_from(&problem, entropy_weight, &mut start, None, workspace, options);
    }
    Ok(solve_cold(problem, entropy_weight, workspace, options))
}

/// Solves a problem without a start. λ and the options are checked.
pub(crate) fn solve_cold(
    mut problem: Problem<'_>,
    entropy_weight: f64,
    workspace: &mut Workspace,
    options: &Options,
) -> Solution {
    let Workspace { ascent, rough } = workspace;
    let mut continuation =
        Continuation::rough(ascent, rough, &mut problem, entropy_weight, options);
    let room = |kernel: &mut Kernel| kernel.give_memory(problem.shape());
    solution_at(&mut continuation, ascent, &problem, entropy_weight, options, room)
}

/// Solves one problem, perhaps with penalties, from potentials that `start` gives for a weight: for λ, and where those do
/// not serve for larger ones. `recycled` is a plan that is no longer needed, whose memory serves for the kernel and the
/// new plan. The objective that is returned is that without penalties, the dual value that with them.
pub(crate) fn solve_from(
    problem: &Problem<'_>,
    entropy_weight: f64,
    start: &mut dyn FnMut(f64) -> Result<Potentials>,
    recycled: Option<Array2<f64>>,
    workspace: &mut Workspace,
    options: &Options,
) -> Result<Solution> {
    check(&[entropy_weight], options)?;
    let Workspace { ascent, rough } = workspace;
    if let Some(plan) = recycled {
        ascent.kernel.take_memory(plan);
    }
    let room = |kernel: &mut Kernel| kernel.give_memory(problem.shape());
    let mut turned = problem.clone();
    if turned.turn_to_targets() && turned.is_plain() {
        let near = inner_start(&turned, &start(entropy_weight)?)?;
        let goal = (options.tolerance, options.iteration_limit);
        if let Some(found) = rough.approach_from(&turned, entropy_weight, &near, goal) {
            let near = (rough, &found);
            let mut continuation =
                Continuation::near(ascent, near, &turned, entropy_weight, options);
            let continuation = &mut continuation;
            return Ok(solution_at(continuation, ascent, &turned, entropy_weight, options, room));
        }
    }
    ascent.resize(problem);
    let mut start = |weight| inner_start(problem, &start(weight)?);
    let mut continuation =
        Continuation::warm(ascent, problem, entropy_weight, &mut start, options)?;
    Ok(solution_at(&mut continuation, ascent, problem, entropy_weight, options, room))
}

/// Solves the same problem for several λ, from the largest to the smallest, and returns the
/// solutions in the order of `entropy_weights`.
pub fn solve_path(
    cost: ArrayView2<'_, f64>,
    source_mass: &[f64],
    target_mass: &[f64],
    entropy_weights: &[f64],
    workspace: &mut Workspace,
    options: &Options,
) -> Result<Vec<Solution>> {
    check(entropy_weights, options)?;
    let problem = Problem::new(cost, source_mass, target_mass)?;
    let mut order: Vec<usize> = (0..entropy_weights.len()).collect();
    order.sort_by(|&a, &b| entropy_weights[b].total_cmp(&entropy_weights[a]));
    let Some(&largest) = order.first() else { return Ok(Vec::new()) };
    let ascent = &mut workspace.ascent;
    ascent.resize(&problem);
    let mut continuation = Continuation::cold(ascent, &problem, entropy_weights[largest]);
    let mut solutions: Vec<(usize, Solution)> = Vec::with_capacity(order.len());
    for index in order {
        let weight = entropy_weights[index];
        // The next λ needs the kernel.
        let room = |kernel: &mut Kernel| kernel.copy_for_plan(&problem);
        let solution = solution_at(&mut continuation, ascent, &problem, weight, options, room);
        solutions.push((index, solution));
    }
    solutions.sort_by_key(|(index, _)| *index);
    Ok(solutions.into_iter().map(|(_, solution)| solution).collect())
}

/// Fails unless λ and the options are usable.
pub(crate) fn check(entropy_weights: &[f64], options: &Options) -> Result<()> {
    if let Some(&value) = entropy_weights.iter().find(|w| !ENTROPY_WEIGHTS.contains(w)) {
        return Err(Error::Argument {
            name: "lambda",
            value: value.to_string(),
            rule: "it lies between 1e-100 and 1e100; for 0 use the exact solver",
        });
    }
    if !(options.tolerance.is_finite() && options.tolerance > 0.0) {
        return Err(Error::Argument {
            name: "tolerance",
            value: options.tolerance.to_string(),
            rule: "it is positive and finite",
        });
    }
    Ok(())
}

/// What the inner side of a problem takes of potentials.
fn inner_start(problem: &Problem<'_>, potentials: &Potentials) -> Result<Vec<f64>> {
    let (rows, columns) = problem.shape();
    check_length("the source potentials", potentials.source.len(), "the rows of cost", rows)?;
    check_length("the target potentials", potentials.target.len(), "the columns of cost", columns)?;
    let start = if problem.inner_is_source { &potentials.source } else { &potentials.target };
    // A sample that had no mass in the earlier problem comes with −∞.
    let finite = |&position: &usize| Some(start[position]).filter(|value| value.is_finite());
    Ok(problem.inner.iter().map(|position| finite(position).unwrap_or(0.0)).collect())
}

/// Solves at a λ and projects into what `room` makes, perhaps of the kernel.
fn solution_at(
    continuation: &mut Continuation,
    ascent: &mut Ascent,
    problem: &Problem<'_>,
    entropy_weight: f64,
    options: &Options,
    room: impl FnOnce(&mut Kernel) -> Array2<f64>,
) -> Solution {
    let before = continuation.iterations;
    let stop = match continuation.descend(ascent, problem, entropy_weight, options) {
        AscentEnd::Reached => Stop::Converged,
        AscentEnd::IterationLimit => Stop::IterationLimit,
        AscentEnd::Stalled => Stop::Stalled,
    };
    continuation.iterations = ascent.iterations;
    ascent.kernel.list_where_digits_end(problem, entropy_weight);
    let plan = room(&mut ascent.kernel);
    let projected = projection::project(&ascent.kernel, problem, entropy_weight, plan);
    Solution {
        entropy_weight,
        objective: projected.transport_cost + entropy_weight * projected.negentropy,
        transport_cost: projected.transport_cost,
        dual_objective: projected.dual_objective,
        marginal_error: projected.marginal_error,
        plan: projected.plan,
        potentials: projected.potentials,
        iterations: ascent.iterations - before,
        stop,
    }
}
