//! The group-lasso solver: certified over the whole grid, and equal to what can be computed otherwise.

mod common;

use common::{cloud, squared_distances, uniform};
use ndarray::{Array2, ArrayView2, Axis};
use solvers::entropic;
use solvers::gcg::{GcgOptions, GcgProblem, solve_gcg};
use solvers::group_lasso::{
    GroupLassoOptions, GroupLassoProblem, GroupLassoSolution, GroupLassoWorkspace,
    solve_group_lasso, solve_group_lasso_path,
};
use solvers::regularizers::GroupLasso;
use solvers::{Error, Regularizer, Result, Stop};

const GRID: [f64; 7] = [1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3];

/// Squared distances at the scale of unnormalized features, about 1500.
fn raw_cost(sources: usize, targets: usize) -> Array2<f64> {
    250.0 * squared_distances(&cloud(sources, 3, 1), &cloud(targets, 3, 2))
}

/// Classes of different sizes, not in order.
fn labels(samples: usize) -> Vec<usize> {
    (0..samples).map(|sample| [0, 3, 1, 0, 3, 0, 7][sample % 7]).collect()
}

struct Case {
    cost: Array2<f64>,
    labels: Vec<usize>,
    source_mass: Vec<f64>,
    target_mass: Vec<f64>,
}

impl Case {
    fn new(cost: Array2<f64>) -> Self {
        Self {
            labels: labels(cost.nrows()),
            source_mass: uniform(cost.nrows()),
            target_mass: uniform(cost.ncols()),
            cost,
        }
    }

    fn problem(&self, eta: f64) -> GroupLassoProblem<'_> {
        GroupLassoProblem {
            cost: self.cost.view(),
            source_mass: &self.source_mass,
            target_mass: &self.target_mass,
            source_labels: &self.labels,
            regularization_weight: eta,
        }
    }

    fn try_solve(&self, lambda: f64, eta: f64) -> Result<GroupLassoSolution> {
        let options = GroupLassoOptions::default();
        solve_group_lasso(&self.problem(eta), lambda, None, &mut workspace(), &options)
    }

    fn solve(&self, lambda: f64, eta: f64) -> GroupLassoSolution {
        let solution = self.try_solve(lambda, eta).unwrap();
        self.assert_certified(&solution, eta);
        solution
    }

    /// Marginals, sign, objective, and a small gap of the right sign.
    fn assert_certified(&self, solution: &GroupLassoSolution, eta: f64) {
        let point = format!("λ {}, η {eta}", solution.entropy_weight);
        assert_eq!(solution.stop, Stop::Converged, "{point}: gap {}", solution.relative_gap());
        assert!(solution.plan.iter().all(|mass| *mass >= 0.0), "{point}");
        for (axis, masses) in [(Axis(1), &self.source_mass), (Axis(0), &self.target_mass)] {
            for (sum, mass) in solution.plan.sum_axis(axis).iter().zip(masses) {
                assert!((sum - mass).abs() <= 1e-12, "{point}: {sum}, not {mass}");
            }
        }
        let gap = solution.relative_gap();
        assert!((-1e-12..=1e-6).contains(&gap), "{point}: {gap}");
        let expected = self.objective(solution.plan.view(), solution.entropy_weight, eta);
        let total = solution.objective.total();
        assert!((total - expected).abs() <= 1e-12 * self.scale(expected), "{point}");
    }

    fn scale(&self, objective: f64) -> f64 {
        let largest = self.cost.iter().copied().filter(|cost| cost.is_finite()).fold(0.0, f64::max);
        objective.abs().max(largest)
    }

    fn objective(&self, plan: ArrayView2<'_, f64>, lambda: f64, eta: f64) -> f64 {
        let pairs = plan.iter().zip(&self.cost).filter(|(mass, _)| **mass > 0.0);
        let sum: f64 = pairs.map(|(mass, cost)| mass * (cost + lambda * mass.ln())).sum();
        sum + eta * GroupLasso::new(&self.labels).value(plan)
    }
}

fn workspace() -> GroupLassoWorkspace {
    GroupLassoWorkspace::default()
}

fn distance(left: &Array2<f64>, right: &Array2<f64>) -> f64 {
    (left - right).mapv(f64::abs).sum()
}

#[test]
fn every_point_of_the_grid_converges_on_raw_costs() {
    // Fewer sources than targets, and more.
    for (sources, targets) in [(21, 30), (30, 19)] {
        let case = Case::new(raw_cost(sources, targets));
        let mut workspace = workspace();
        let mut path = Vec::new();
        for eta in GRID {
            let options = GroupLassoOptions::default();
            path =
                solve_group_lasso_path(&case.problem(eta), &GRID, &path, &mut workspace, &options)
                    .unwrap();
            for (solution, lambda) in path.iter().zip(GRID) {
                assert_eq!(solution.entropy_weight, lambda);
                case.assert_certified(solution, eta);
            }
        }
    }
}

#[test]
fn neighbours_change_the_way_and_not_the_solution() {
    let case = Case::new(raw_cost(14, 20));
    let options = GroupLassoOptions::default();
    let mut workspace = workspace();
    let mut solve = |eta, neighbours: &[_]| {
        solve_group_lasso_path(&case.problem(eta), &GRID, neighbours, &mut workspace, &options)
    };
    let light = solve(0.1, &[]).unwrap();
    for eta in [0.11, 30.0] {
        let (alone, beside) = (solve(eta, &[]).unwrap(), solve(eta, &light).unwrap());
        for (alone, beside) in alone.iter().zip(&beside) {
            case.assert_certified(beside, eta);
            let difference = alone.objective.total() - beside.objective.total();
            let gap = alone.duality_gap().max(beside.duality_gap());
            let rounding = 1e-12 * case.scale(alone.objective.total());
            assert!(difference.abs() <= gap + rounding, "λ {}", alone.entropy_weight);
        }
        if eta < 1.0 {
            let steps =
                |path: &[GroupLassoSolution]| path.iter().map(|s| s.iterations).sum::<usize>();
            assert!(steps(&beside) < steps(&alone));
        }
    }
    let error = solve(1.0, &light[1..]).unwrap_err();
    assert!(error.to_string().contains("neighbours"), "{error}");
}

/// With few targets some class sends nothing anywhere for a while.
#[test]
fn many_sources_and_few_targets_converge_along_both_axes_of_the_grid() {
    for seed in 0..8 {
        let cost = 0.3 * squared_distances(&cloud(60, 3, seed), &cloud(12, 3, seed + 100));
        let case = Case::new(cost);
        let options = GroupLassoOptions { relative_gap: 1e-3, ..GroupLassoOptions::default() };
        let mut workspace = workspace();
        let mut last = Vec::new();
        for eta in GRID.into_iter().rev() {
            let problem = case.problem(eta);
            last =
                solve_group_lasso_path(&problem, &GRID, &last, &mut workspace, &options).unwrap();
            for solution in &last {
                assert_eq!(solution.stop, Stop::Converged);
                assert!(solution.relative_gap() <= 1e-3, "{}", solution.relative_gap());
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_digit() {
    // Enough columns for several parts of the plan, the last of them shorter.
    let case = Case::new(raw_cost(12, 611));
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| [(10.0, 1.0), (1.0, 10.0)].map(|(lambda, eta)| case.solve(lambda, eta)))
    };
    for (one, many) in solve(1).iter().zip(&solve(3)) {
        assert_eq!(one.plan, many.plan);
        assert_eq!(one.objective, many.objective);
        assert_eq!(one.iterations, many.iterations);
    }
}

#[test]
fn agrees_with_the_generalized_conditional_gradient() {
    for (sources, targets) in [(14, 20), (20, 11)] {
        let case = Case::new(squared_distances(&cloud(sources, 3, 5), &cloud(targets, 3, 6)));
        let regularizer = GroupLasso::new(&case.labels);
        for (lambda, eta) in [(1.0, 0.1), (0.1, 0.1), (0.1, 10.0), (0.01, 0.1), (10.0, 100.0)] {
            let solution = case.solve(lambda, eta);
            let problem = GcgProblem {
                cost: case.cost.view(),
                source_mass: &case.source_mass,
                target_mass: &case.target_mass,
                entropy_weight: lambda,
                regularizer: &regularizer,
                regularization_weight: eta,
            };
            let options = GcgOptions::default();
            let other =
                solve_gcg(&problem, None, &mut entropic::Workspace::default(), &options).unwrap();
            let (ours, theirs) = (solution.objective.total(), other.objective.total());
            let rounding = 1e-12 * case.scale(ours);
            assert!(ours - theirs <= solution.duality_gap() + rounding, "λ {lambda}, η {eta}");
            assert!(theirs - ours <= other.duality_gap + rounding, "λ {lambda}, η {eta}");
            assert!(solution.dual_objective <= theirs + rounding, "weak duality");
        }
    }
}

#[test]
fn no_plan_is_better_than_the_dual_value() {
    let case = Case::new(raw_cost(12, 15));
    let plans = [(1e3, 0.0), (10.0, 0.0), (10.0, 1e3), (0.1, 10.0)].map(|(l, e)| case.solve(l, e));
    for (lambda, eta) in [(100.0, 10.0), (1.0, 100.0), (0.01, 1.0)] {
        let solution = case.solve(lambda, eta);
        for other in &plans {
            let objective = case.objective(other.plan.view(), lambda, eta);
            assert!(solution.dual_objective <= objective);
        }
    }
}

#[test]
fn without_a_group_term_the_plan_is_the_entropic_one() {
    let mut case = Case::new(raw_cost(13, 18));
    for lambda in [300.0, 10.0, 0.1] {
        let (a, b) = (&case.source_mass, &case.target_mass);
        let mut workspace = entropic::Workspace::default();
        let options = entropic::Options::default();
        let expected =
            entropic::solve(case.cost.view(), a, b, lambda, None, &mut workspace, &options)
                .unwrap();
        for eta in [0.0, 1e-12] {
            let solution = case.solve(lambda, eta);
            let error = distance(&solution.plan, &expected.plan);
            assert!(error <= 1e-5, "λ {lambda}, η {eta}: {error}");
        }
        // A class of one sample has its mass for norm, so that Ω is constant.
        case.labels = (0..13).collect();
        let solution = case.solve(lambda, 50.0);
        let error = distance(&solution.plan, &expected.plan);
        assert!(error <= 1e-5, "λ {lambda}: {error}");
        assert!((solution.objective.regularization - 50.0).abs() <= 1e-9);
        case.labels = labels(13);
    }
}

#[test]
fn a_heavy_group_term_spreads_a_class_evenly() {
    // One class only: the norm of each column is least where the class shares it evenly.
    let mut case = Case::new(raw_cost(6, 9));
    case.labels = vec![2; 6];
    let solution = case.solve(1e-2, 1e7);
    for mass in &solution.plan {
        assert!((mass - 1.0 / 54.0).abs() <= 1e-2 / 54.0, "{mass}");
    }
}

#[test]
fn the_order_of_the_samples_does_not_matter() {
    let case = Case::new(raw_cost(12, 16));
    let rows: Vec<usize> = (0..12).map(|row| row * 5 % 12).collect();
    let columns: Vec<usize> = (0..16).map(|column| column * 7 % 16).collect();
    let mut shuffled = Case::new(case.cost.select(Axis(0), &rows).select(Axis(1), &columns));
    shuffled.labels = rows.iter().map(|&row| case.labels[row]).collect();
    for (lambda, eta) in [(10.0, 100.0), (0.1, 1.0)] {
        let expected = case.solve(lambda, eta).plan.select(Axis(0), &rows);
        let found = shuffled.solve(lambda, eta).plan;
        assert!(distance(&found, &expected.select(Axis(1), &columns)) <= 1e-5);
    }
}

#[test]
fn samples_without_mass_are_as_if_absent() {
    let whole = Case::new(raw_cost(10, 12));
    let (rows, columns): (Vec<usize>, Vec<usize>) = ((2..10).collect(), (0..11).collect());
    let mut part = Case::new(whole.cost.select(Axis(0), &rows).select(Axis(1), &columns));
    part.labels = whole.labels[2..].to_vec();
    let mut whole = whole;
    whole.source_mass = [vec![0.0; 2], uniform(8)].concat();
    whole.target_mass = [uniform(11), vec![0.0]].concat();
    let (with, without) = (whole.solve(5.0, 30.0), part.solve(5.0, 30.0));
    let kept = with.plan.select(Axis(0), &rows).select(Axis(1), &columns);
    assert!(distance(&kept, &without.plan) <= 1e-9);
    assert_eq!(with.potentials.source[0], f64::NEG_INFINITY);
    assert_eq!(with.potentials.target[11], f64::NEG_INFINITY);
}

#[test]
fn forbidden_pairs_stay_empty() {
    let mut case = Case::new(raw_cost(14, 16));
    for ((row, column), cost) in case.cost.indexed_iter_mut() {
        if column < 2 && case.labels[row] != 3 * column {
            *cost = f64::INFINITY;
        }
    }
    for (lambda, eta) in [(100.0, 1.0), (1.0, 100.0), (0.01, 10.0)] {
        let solution = case.solve(lambda, eta);
        for (mass, cost) in solution.plan.iter().zip(&case.cost) {
            assert!(cost.is_finite() || *mass == 0.0);
        }
    }
    case.cost.column_mut(5).fill(f64::INFINITY);
    let refused = case.try_solve(1.0, 1.0).unwrap_err();
    assert!(matches!(refused, Error::Infeasible { .. }), "{refused}");
}

#[test]
fn tiny_entropy_weights_and_huge_ratios_converge() {
    let case = Case::new(raw_cost(12, 17));
    for (lambda, eta) in [(1e-6, 1.0), (1e-6, 1e3), (1e-4, 100.0), (1e-3, 1e6)] {
        case.solve(lambda, eta);
    }
}

#[test]
fn where_rounding_ends_a_solve_it_says_so() {
    // (u − C)/λ is rounded by 1e-5 here, and so is every mass.
    let case = Case::new(raw_cost(12, 17));
    let solution = case.try_solve(1e-8, 10.0).unwrap();
    assert!(solution.iterations < 200);
    assert!(solution.relative_gap() <= 1e-4);
    let is_within = solution.relative_gap() <= 1e-6;
    assert_eq!(solution.stop, if is_within { Stop::Converged } else { Stop::Stalled });
}

#[test]
fn a_start_from_a_neighbour_or_from_nonsense_ends_at_the_same_objective() {
    let case = Case::new(raw_cost(15, 20));
    let cold = case.solve(1.0, 30.0);
    let options = GroupLassoOptions::default();
    let mut neighbour = case.solve(2.0, 10.0).potentials;
    for shift in [0.0, 1e4, f64::NAN] {
        neighbour.source[3] += shift;
        let mut workspace = workspace();
        let problem = case.problem(30.0);
        let warm =
            solve_group_lasso(&problem, 1.0, Some(&neighbour), &mut workspace, &options).unwrap();
        case.assert_certified(&warm, 30.0);
        let difference = (warm.objective.total() - cold.objective.total()).abs();
        assert!(difference <= warm.duality_gap().max(cold.duality_gap()) + 1e-9, "{difference}");
    }
    neighbour.source = neighbour.source.slice(ndarray::s![..14]).to_owned();
    let problem = case.problem(30.0);
    let refused = solve_group_lasso(&problem, 1.0, Some(&neighbour), &mut workspace(), &options);
    assert!(matches!(refused, Err(Error::Length { name: "the source potentials", .. })));
}

#[test]
fn the_smallest_problems_have_their_only_plan() {
    for (rows, columns) in [(1, 1), (1, 4), (4, 1)] {
        let case = Case::new(raw_cost(rows, columns));
        let solution = case.solve(0.5, 3.0);
        let entry = 1.0 / (rows * columns) as f64;
        assert!(solution.plan.iter().all(|mass| (mass - entry).abs() <= 1e-14));
    }
    // Costs without any spread.
    Case::new(Array2::zeros((5, 7))).solve(1e-3, 1.0);
}

#[test]
fn a_plan_that_lacks_mass_is_not_called_converged() {
    // What the first row may not give to the second column is placed nowhere before the first step.
    let mut case = Case::new(Array2::ones((2, 2)));
    case.cost[[0, 1]] = f64::INFINITY;
    let options = GroupLassoOptions { iteration_limit: 0, ..GroupLassoOptions::default() };
    let solution =
        solve_group_lasso(&case.problem(0.0), 0.1, None, &mut workspace(), &options).unwrap();
    assert_eq!(solution.stop, Stop::IterationLimit);
}

#[test]
fn a_gap_that_is_rounding_ends_the_solve() {
    // 1 + 2e-12 − 1 has four digits.
    let mut case = Case::new(Array2::from_elem((1, 1), 2e-12));
    case.labels = vec![usize::MAX];
    let solution = case.try_solve(1.0, 0.0).unwrap();
    assert!(solution.duality_gap().abs() <= 1e-15, "{}", solution.duality_gap());
}

#[test]
fn a_limit_of_steps_is_reported() {
    let case = Case::new(raw_cost(15, 20));
    let options = GroupLassoOptions { iteration_limit: 2, ..GroupLassoOptions::default() };
    let solution =
        solve_group_lasso(&case.problem(10.0), 1e-3, None, &mut workspace(), &options).unwrap();
    assert_eq!(solution.stop, Stop::IterationLimit);
    assert!(solution.duality_gap() > 0.0 && solution.duality_gap().is_finite());
}

#[test]
fn arguments_are_refused_by_name() {
    let argument = |lambda: f64, eta: f64| match Case::new(raw_cost(4, 5)).try_solve(lambda, eta) {
        Err(Error::Argument { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for (lambda, eta, name) in [
        (0.0, 1.0, "lambda"),
        (f64::NAN, 1.0, "lambda"),
        (1.0, -1.0, "eta"),
        (1.0, f64::NAN, "eta"),
        (1.0, f64::INFINITY, "eta"),
        (1e-50, 1e60, "eta"),
    ] {
        assert_eq!(argument(lambda, eta), name, "λ {lambda}, η {eta}");
    }
    let refusal = |change: fn(&mut Case)| {
        let mut case = Case::new(raw_cost(4, 5));
        change(&mut case);
        case.try_solve(1.0, 1.0).unwrap_err()
    };
    let error = refusal(|case| case.cost[[1, 2]] = f64::NAN);
    assert!(matches!(error, Error::Cost { row: 1, column: 2, .. }));
    let error = refusal(|case| case.source_mass[2] = -0.25);
    assert!(matches!(error, Error::Mass { name: "source_mass", index: 2, .. }));
    let error = refusal(|case| case.target_mass[0] = 0.9);
    assert!(matches!(error, Error::MassSum { name: "target_mass", .. }));
    let error = refusal(|case| case.labels.truncate(3));
    assert!(matches!(error, Error::Length { name: "source_labels", .. }));
    let options = GroupLassoOptions { relative_gap: 0.0, ..GroupLassoOptions::default() };
    let case = Case::new(raw_cost(4, 5));
    let refused = solve_group_lasso(&case.problem(1.0), 1.0, None, &mut workspace(), &options);
    assert!(matches!(refused, Err(Error::Argument { name: "relative_gap", .. })));
}
