//! How `runner adapt` calls the solvers.

use anyhow::Result;
use ndarray::Array2;
use solvers::Stop;
use solvers::entropic::{self, Potentials, Workspace};
use solvers::exact::{ExactOptions, solve_exact};
use solvers::gcg::{GcgOptions, GcgProblem, Objective, solve_gcg};
use solvers::group_lasso::{
    GroupLassoOptions, GroupLassoProblem, GroupLassoWorkspace, solve_group_lasso,
};
use solvers::lp_l1::{LpL1Options, LpL1Problem, LpL1Start, solve_lp_l1};
use solvers::regularizers::{Laplacian, LpL1};

use crate::adapt_input::Input;
use crate::cli::{AdaptArguments, AdaptMethod};

/// Of class-regularized problems, relative to the objective.
const DEFAULT_GAP: f64 = 1e-6;
/// What becomes of the tolerance of marginals while OT-IT is not within the gap that is asked for.
const TIGHTENING: f64 = 0.1;

/// What all solvers answer.
pub struct Transport {
    pub plan: Array2<f64>,
    pub objective: Objective,
    pub iterations: usize,
    pub stop: Stop,
    pub marginal_error: f64,
    pub duality_gap: f64,
}

/// Solves the problem that the arguments ask for.
pub fn solve(
    arguments: &AdaptArguments,
    input: &Input,
    cost: &Array2<f64>,
    (source_mass, target_mass): (&[f64], &[f64]),
) -> Result<Transport> {
    // Those that the method needs are there: see `check_weights`.
    let (lambda, eta) = (arguments.lambda.unwrap_or_default(), arguments.eta.unwrap_or_default());
    let gap = arguments.gap.unwrap_or(DEFAULT_GAP);
    let labels = input.source.labels();
    let laplacian = match arguments.method {
        AdaptMethod::OtExact => {
            return exact(cost, source_mass, target_mass);
        }
        AdaptMethod::OtIt => {
            return entropic(cost, (source_mass, target_mass), lambda, arguments.gap);
        }
        AdaptMethod::OtGl => {
            let problem = GroupLassoProblem {
                cost: cost.view(),
                source_mass,
                target_mass,
                source_labels: labels,
                regularization_weight: eta,
            };
            return group_lasso(&problem, lambda, gap);
        }
        AdaptMethod::OtLpl1 => {
            let problem = LpL1Problem {
                cost: cost.view(),
                source_mass,
                target_mass,
                regularizer: &LpL1::new(labels),
                regularization_weight: eta,
            };
            return lp_l1(&problem, lambda, gap);
        }
        AdaptMethod::OtLaplace => Laplacian::of_nearest_neighbours(
            (input.source.features(), input.target.view()),
            labels,
            (source_mass, target_mass),
            Laplacian::DEFAULT_NEIGHBOURS,
            Laplacian::DEFAULT_TRADE_OFF,
        )?,
    };
    let problem = GcgProblem {
        cost: cost.view(),
        source_mass,
        target_mass,
        entropy_weight: lambda,
        regularizer: &laplacian,
        regularization_weight: eta,
    };
    let options = GcgOptions { relative_gap: gap, ..GcgOptions::default() };
    let solution = solve_gcg(&problem, None, &mut Workspace::default(), &options)?;
    Ok(Transport {
        plan: solution.plan,
        objective: solution.objective,
        iterations: solution.iterations,
        stop: solution.stop,
        marginal_error: solution.marginal_error,
        duality_gap: solution.duality_gap,
    })
}

fn exact(cost: &Array2<f64>, source_mass: &[f64], target_mass: &[f64]) -> Result<Transport> {
    let solution = solve_exact(cost.view(), source_mass, target_mass, &ExactOptions::default())?;
    Ok(Transport {
        plan: solution.dense_plan(cost.dim()),
        objective: Objective { transport: solution.cost, ..Objective::default() },
        iterations: solution.pivots,
        stop: solution.stop,
        // Flows are integers: the plan is on the polytope at every pivot.
        marginal_error: 0.0,
        duality_gap: solution.duality_gap(),
    })
}

/// With a gap, to the loosest marginals whose plan is within it; otherwise to those of the solver. The iterations are
/// those of all attempts, as the seconds are.
fn entropic(
    cost: &Array2<f64>,
    (source_mass, target_mass): (&[f64], &[f64]),
    entropy_weight: f64,
    relative_gap: Option<f64>,
) -> Result<Transport> {
    let tightest = entropic::Options::default();
    let mut workspace = Workspace::default();
    let mut solve = |tolerance: f64, start: Option<&Potentials>| {
        let options = entropic::Options { tolerance, ..tightest };
        let masses = (source_mass, target_mass);
        let cost = cost.view();
        entropic::solve(cost, masses.0, masses.1, entropy_weight, start, &mut workspace, &options)
    };
    // What marginals lack costs a few times as much, relatively, as what is transported.
    let mut tolerance = relative_gap.map_or(0.0, |gap| TIGHTENING * gap).max(tightest.tolerance);
    let mut solution = solve(tolerance, None)?;
    let mut iterations = solution.iterations;
    while let Some(gap) = relative_gap
        && solution.duality_gap() > gap * solution.objective.abs()
        && tolerance > tightest.tolerance
    {
        tolerance = (TIGHTENING * tolerance).max(tightest.tolerance);
        solution = solve(tolerance, Some(&solution.potentials))?;
        iterations += solution.iterations;
    }
    let duality_gap = solution.duality_gap();
    Ok(Transport {
        objective: Objective {
            transport: solution.transport_cost,
            entropy: solution.objective - solution.transport_cost,
            regularization: 0.0,
        },
        plan: solution.plan,
        iterations,
        stop: solution.stop,
        marginal_error: solution.marginal_error,
        duality_gap,
    })
}

fn group_lasso(
    problem: &GroupLassoProblem<'_>,
    entropy_weight: f64,
    relative_gap: f64,
) -> Result<Transport> {
    let solution = solve_group_lasso(
        problem,
        entropy_weight,
        None,
        &mut GroupLassoWorkspace::default(),
        &GroupLassoOptions { relative_gap, ..GroupLassoOptions::default() },
    )?;
    let duality_gap = solution.duality_gap();
    Ok(Transport {
        plan: solution.plan,
        objective: solution.objective,
        iterations: solution.iterations,
        stop: solution.stop,
        marginal_error: solution.marginal_error,
        duality_gap,
    })
}

fn lp_l1(problem: &LpL1Problem<'_>, entropy_weight: f64, relative_gap: f64) -> Result<Transport> {
    let mut workspace = Workspace::default();
    let options = LpL1Options {
        relative_gap,
        remaining_gain: relative_gap,
        settles_classes: true,
        ..LpL1Options::default()
    };
    // A start that is a hundredth as far from its optimum as the solution may be. Its plan is gone before the next is made.
    let tolerance = 0.01 * relative_gap;
    let start = LpL1Start::new(
        problem.regularizer,
        &entropic::solve(
            problem.cost,
            problem.source_mass,
            problem.target_mass,
            entropy_weight,
            None,
            &mut workspace,
            &entropic::Options { tolerance, ..entropic::Options::default() },
        )?,
    )?;
    let solution = solve_lp_l1(problem, &start, &mut workspace, &options)?;
    Ok(Transport {
        plan: solution.plan,
        objective: solution.objective,
        iterations: solution.iterations,
        stop: solution.stop,
        marginal_error: solution.marginal_error,
        duality_gap: solution.duality_gap,
    })
}

#[cfg(test)]
mod tests {
    use solvers::marginals::uniform_mass;

    use super::*;

    #[test]
    fn the_iterations_are_those_of_all_attempts() {
        let cost = Array2::from_shape_fn((24, 30), |(row, column)| {
            ((row * 7 + column * 3) as f64 * std::f64::consts::SQRT_2).fract()
        });
        let masses = (&*uniform_mass(24), &*uniform_mass(30));
        // Costs and entropy almost cancel, so that a gap relative to their sum asks for more than the first attempt.
        let (lambda, gap) = (0.0174, 1e-2);
        let options =
            entropic::Options { tolerance: TIGHTENING * gap, ..entropic::Options::default() };
        let mut workspace = Workspace::default();
        let (rows, columns) = masses;
        let first =
            entropic::solve(cost.view(), rows, columns, lambda, None, &mut workspace, &options)
                .unwrap();
        assert!(first.duality_gap() > gap * first.objective.abs());
        let all = entropic(&cost, masses, lambda, Some(gap)).unwrap();
        assert!(all.duality_gap <= gap * all.objective.total().abs());
        assert!(all.iterations > first.iterations, "{} of all", all.iterations);
    }
}
