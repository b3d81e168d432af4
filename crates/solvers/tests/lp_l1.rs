//! ℓp-ℓ1 by majorization-minimization: monotone, certified, and not worse than the generic solver.

mod common;

use common::{cloud, squared_distances, uniform};
use ndarray::{Array2, ArrayView2, Axis};
use solvers::entropic::{self, Workspace};
use solvers::gcg::{GcgOptions, GcgProblem, solve_gcg};
use solvers::lp_l1::{LpL1Options, LpL1Problem, LpL1Solution, LpL1Start, solve_lp_l1};
use solvers::regularizers::LpL1;
use solvers::{Error, Regularizer, Stop};

fn labels(samples: usize) -> Vec<usize> {
    (0..samples).map(|sample| sample % 4).collect()
}

fn entropic_plan(cost: &Array2<f64>, entropy_weight: f64) -> entropic::Solution {
    let (a, b) = (uniform(cost.nrows()), uniform(cost.ncols()));
    let options = entropic::Options::default();
    let workspace = &mut Workspace::default();
    entropic::solve(cost.view(), &a, &b, entropy_weight, None, workspace, &options).unwrap()
}

fn solve_with(
    cost: &Array2<f64>,
    (entropy_weight, regularization_weight): (f64, f64),
    options: &LpL1Options,
) -> LpL1Solution {
    let (a, b) = (uniform(cost.nrows()), uniform(cost.ncols()));
    let regularizer = LpL1::new(&labels(cost.nrows()));
    let problem = LpL1Problem {
        cost: cost.view(),
        source_mass: &a,
        target_mass: &b,
        regularizer: &regularizer,
        regularization_weight,
    };
    let start = LpL1Start::new(&regularizer, &entropic_plan(cost, entropy_weight)).unwrap();
    solve_lp_l1(&problem, &start, &mut Workspace::default(), options).unwrap()
}

fn solve(cost: &Array2<f64>, weights: (f64, f64)) -> LpL1Solution {
    solve_with(cost, weights, &LpL1Options::default())
}

/// By reweightings of the whole problem alone, and with classes that settle; both until little is left to gain.
fn solve_both_ways(cost: &Array2<f64>, weights: (f64, f64)) -> [LpL1Solution; 2] {
    [false, true].map(|settles_classes| {
        let options =
            LpL1Options { settles_classes, remaining_gain: 1e-6, ..LpL1Options::default() };
        solve_with(cost, weights, &options)
    })
}

/// Up to the rounding of making it again from its potentials.
fn assert_same_plan(plan: &Array2<f64>, expected: &Array2<f64>) {
    let difference = (plan - expected).mapv(f64::abs).sum();
    assert!(difference <= 1e-11, "plans differ by {difference:e}");
}

fn assert_marginals(plan: ArrayView2<'_, f64>) {
    for (axis, count) in [(Axis(1), plan.nrows()), (Axis(0), plan.ncols())] {
        for sum in plan.sum_axis(axis) {
            assert!((sum - 1.0 / count as f64).abs() <= 1e-12, "{sum}");
        }
    }
}

/// ⟨γ, C⟩ + λ Σ γ ln γ + η Ω(γ), from its definition.
fn objective(cost: &Array2<f64>, plan: &Array2<f64>, (lambda, eta): (f64, f64)) -> f64 {
    let pairs = plan.iter().zip(cost).filter(|(mass, _)| **mass > 0.0);
    let smooth: f64 = pairs.map(|(mass, cost)| mass * (cost + lambda * mass.ln())).sum();
    smooth + eta * LpL1::new(&labels(cost.nrows())).value(plan.view())
}

#[test]
fn it_is_not_worse_than_the_generic_solver() {
    for seed in 1..4 {
        let cost = squared_distances(&cloud(24, 3, seed), &cloud(30, 3, seed + 10));
        let regularizer = LpL1::new(&labels(24));
        let (a, b) = (uniform(24), uniform(30));
        for weights in [(1.0, 0.1), (0.2, 0.05), (0.1, 1.0), (0.01, 0.1), (0.01, 10.0)] {
            let solution = solve(&cost, weights);
            let problem = GcgProblem {
                cost: cost.view(),
                source_mass: &a,
                target_mass: &b,
                entropy_weight: weights.0,
                regularizer: &regularizer,
                regularization_weight: weights.1,
            };
            let workspace = &mut Workspace::default();
            let generic = solve_gcg(&problem, None, workspace, &GcgOptions::default()).unwrap();
            let (ours, theirs) = (solution.objective.total(), generic.objective.total());
            assert_eq!(solution.stop, Stop::Converged, "seed {seed}, {weights:?}");
            assert!(
                ours <= theirs + 1e-6 * theirs.abs(),
                "seed {seed}, {weights:?}: {ours} and {theirs}"
            );
        }
    }
}

#[test]
fn the_report_describes_the_plan() {
    let cost = squared_distances(&cloud(24, 3, 1), &cloud(30, 3, 2));
    for weights in [(1.0, 0.1), (1.0, 1.0), (0.1, 1.0), (0.01, 1.0), (1e-4, 100.0)] {
        for solution in solve_both_ways(&cost, weights) {
            assert_marginals(solution.plan.view());
            let expected = objective(&cost, &solution.plan, weights);
            let total = solution.objective.total();
            assert!((total - expected).abs() <= 1e-10 * expected.abs(), "{weights:?}");
            assert!(solution.duality_gap <= 1e-6 * total.abs(), "{weights:?}");
        }
    }
}

#[test]
fn one_more_reweighting_gains_no_more_than_the_gap() {
    // The weights of empty classes are η/(2√ε) ≈ 16η high, a thousand λ and more.
    let cost = squared_distances(&cloud(24, 3, 1), &cloud(30, 3, 2));
    let solutions = [(0.2, 0.05), (0.01, 1.0), (1.0, 1.0)]
        .map(|weights| (weights, solve_both_ways(&cost, weights)));
    let solutions =
        solutions.iter().flat_map(|(weights, both)| both.iter().map(|one| (*weights, one)));
    for ((lambda, eta), solution) in solutions {
        let mut slopes = Array2::zeros(cost.raw_dim());
        LpL1::new(&labels(24)).gradient(solution.plan.view(), &mut slopes);
        let next = entropic_plan(&(&cost + &(eta * &slopes)), lambda);
        let here = solution.objective.transport
            + solution.objective.entropy
            + eta * (&solution.plan * &slopes).sum();
        let rounding = 1e-10 * here.abs();
        assert!(here - next.objective <= solution.duality_gap + rounding, "λ {lambda}, η {eta}");
    }
}

#[test]
fn each_reweighting_lowers_the_objective_and_none_leaves_the_entropic_plan() {
    let cost = squared_distances(&cloud(24, 3, 1), &cloud(30, 3, 2));
    let weights = (0.1, 0.2);
    let start = entropic_plan(&cost, weights.0);
    let mut last = objective(&cost, &start.plan, weights);
    for limit in 0..6 {
        let options = LpL1Options { iteration_limit: limit, ..LpL1Options::default() };
        let solution = solve_with(&cost, weights, &options);
        if limit == 0 {
            assert_eq!((solution.iterations, solution.stop), (0, Stop::IterationLimit));
            assert_same_plan(&solution.plan, &start.plan);
            continue;
        }
        assert!(solution.objective.total() < last, "{limit} reweightings");
        last = solution.objective.total();
    }
}

#[test]
fn classes_that_settle_by_themselves_only_lower_the_objective_and_need_fewer_reweightings() {
    let cost = squared_distances(&cloud(60, 3, 1), &cloud(80, 3, 2));
    for weights in [(1.0, 1.0), (1.0, 0.3)] {
        // They may lead to another local minimum, but not above where they began.
        let options = LpL1Options { iteration_limit: 5, ..LpL1Options::default() };
        let before = solve_with(&cost, weights, &options).objective.total();
        let both = solve_both_ways(&cost, weights);
        for solution in &both {
            assert_eq!(solution.stop, Stop::Converged, "{weights:?}");
            assert!(solution.iterations > 5, "{weights:?}: nothing to settle");
        }
        let [plain, settled] = both.map(|one| (one.objective.total(), one.iterations));
        assert!(settled.0 < before, "{weights:?}: {settled:?}, before {before}");
        assert!(settled.1 < plain.1, "{weights:?}: {plain:?}, {settled:?}");
    }
}

#[test]
fn a_saddle_beside_the_entropic_plan_is_left() {
    // At large λ the plan is nearly abᵀ, where all classes are alike: its gap is small, and the way from it to the
    // minimum long.
    let cost = squared_distances(&cloud(60, 3, 1), &cloud(80, 3, 2));
    let weights = (30.0, 30.0);
    let tight = solve(&cost, weights);
    let start = objective(&cost, &entropic_plan(&cost, weights.0).plan, weights);
    let loose = LpL1Options { relative_gap: 1e-2, ..LpL1Options::default() };
    assert_eq!(solve_with(&cost, weights, &loose).iterations, 0, "it is no saddle");
    let options = LpL1Options { remaining_gain: 1e-2, ..loose };
    for settles_classes in [false, true] {
        let options = LpL1Options { settles_classes, ..options.clone() };
        let found = solve_with(&cost, weights, &options).objective.total();
        let least = tight.objective.total();
        assert!(found <= least + 0.1 * (start - least), "{found}, not {least} ({start})");
    }
}

#[test]
fn without_regularization_the_plan_is_the_entropic_one() {
    let cost = squared_distances(&cloud(15, 2, 3), &cloud(20, 2, 4));
    let solution = solve(&cost, (0.2, 0.0));
    assert_same_plan(&solution.plan, &entropic_plan(&cost, 0.2).plan);
    assert_eq!((solution.iterations, solution.stop), (0, Stop::Converged));
    assert_eq!(solution.objective.regularization, 0.0);
}

#[test]
fn raw_costs_and_the_smallest_lambda_of_the_paper_give_a_finite_answer() {
    let cost = 100.0 * squared_distances(&cloud(24, 3, 1), &cloud(30, 3, 2));
    for eta in [1e-3, 1.0, 1e3] {
        let solution = solve(&cost, (1e-3, eta));
        assert_eq!(solution.stop, Stop::Converged, "η {eta}");
        assert!(solution.objective.total().is_finite(), "η {eta}");
        assert_marginals(solution.plan.view());
    }
}

#[test]
fn forbidden_pairs_stay_empty() {
    let mut cost = squared_distances(&cloud(12, 3, 1), &cloud(16, 3, 2));
    for ((row, column), cost) in cost.indexed_iter_mut() {
        if column < 4 && row % 4 != column {
            *cost = f64::INFINITY;
        }
    }
    for weights in [(0.1, 1.0), (0.01, 10.0), (1.0, 1.0)] {
        for solution in solve_both_ways(&cost, weights) {
            assert_eq!(solution.stop, Stop::Converged);
            assert!(solution.objective.total().is_finite());
            for ((place, mass), cost) in solution.plan.indexed_iter().zip(&cost) {
                assert!(cost.is_finite() || *mass == 0.0, "{place:?}");
            }
            assert_marginals(solution.plan.view());
        }
    }
}

#[test]
fn samples_and_classes_without_mass_stay_empty() {
    let cost = squared_distances(&cloud(12, 3, 1), &cloud(16, 3, 2));
    let labels: Vec<usize> = (0..12).map(|sample| sample / 3).collect();
    // One sample of the first class, and all of the second.
    let source_mass: Vec<f64> =
        (0..12).map(|row| if row == 0 || row / 3 == 1 { 0.0 } else { 0.125 }).collect();
    let target_mass: Vec<f64> =
        (0..16).map(|column| if column == 5 { 0.0 } else { 1.0 / 15.0 }).collect();
    let (options, workspace) = (entropic::Options::default(), &mut Workspace::default());
    let start =
        entropic::solve(cost.view(), &source_mass, &target_mass, 1.0, None, workspace, &options)
            .unwrap();
    let regularizer = LpL1::new(&labels);
    let start = LpL1Start::new(&regularizer, &start).unwrap();
    let problem = LpL1Problem {
        cost: cost.view(),
        source_mass: &source_mass,
        target_mass: &target_mass,
        regularizer: &regularizer,
        regularization_weight: 1.0,
    };
    for settles_classes in [false, true] {
        let options =
            LpL1Options { settles_classes, remaining_gain: 1e-9, ..LpL1Options::default() };
        let solution = solve_lp_l1(&problem, &start, workspace, &options).unwrap();
        assert_eq!(solution.stop, Stop::Converged);
        assert!(solution.iterations > 5, "{}: nothing to settle", solution.iterations);
        for (sums, masses) in [
            (solution.plan.sum_axis(Axis(1)), &source_mass),
            (solution.plan.sum_axis(Axis(0)), &target_mass),
        ] {
            for (sum, mass) in sums.iter().zip(masses) {
                assert!((sum - mass).abs() <= 1e-12, "{sum} and {mass}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let cost = squared_distances(&cloud(12, 3, 1), &cloud(16, 3, 2));
    let start = entropic_plan(&cost, 0.1);
    let (a, b) = (uniform(12), uniform(16));
    let refused = |regularizer: &LpL1, weight: f64, start: &entropic::Solution| {
        let problem = LpL1Problem {
            cost: cost.view(),
            source_mass: &a,
            target_mass: &b,
            regularizer,
            regularization_weight: weight,
        };
        LpL1Start::new(regularizer, start)
            .and_then(|start| {
                let workspace = &mut Workspace::default();
                solve_lp_l1(&problem, &start, workspace, &LpL1Options::default())
            })
            .unwrap_err()
    };
    let regularizer = LpL1::new(&labels(12));
    let error = refused(&regularizer, -1.0, &start);
    assert!(matches!(error, Error::Argument { name: "eta", .. }), "{error}");
    let error = refused(&LpL1::new(&labels(11)), 1.0, &start);
    assert!(matches!(error, Error::Length { found: 11, expected: 12, .. }), "{error}");
    let other = entropic_plan(&squared_distances(&cloud(12, 3, 1), &cloud(9, 3, 2)), 0.1);
    let error = refused(&regularizer, 1.0, &other);
    assert!(matches!(error, Error::Length { found: 9, expected: 16, .. }), "{error}");
}
