//! The generalized conditional gradient: monotone, certified, and equal to what can be computed otherwise.

mod common;

use common::{cloud, squared_distances, uniform};
use ndarray::{Array2, ArrayView2, Axis, array};
use solvers::entropic::{self, Workspace};
use solvers::gcg::{GcgOptions, GcgProblem, GcgSolution, solve_gcg};
use solvers::graph::NeighbourGraph;
use solvers::regularizers::{GroupLasso, Laplacian, LpL1, Quadratic};
use solvers::{Error, Regularizer, Stop, WeightedSum};

fn labels(samples: usize) -> Vec<usize> {
    (0..samples).map(|sample| sample % 4).collect()
}

fn solve(
    cost: &Array2<f64>,
    entropy_weight: f64,
    regularizer: &dyn Regularizer,
    regularization_weight: f64,
    options: &GcgOptions,
) -> GcgSolution {
    let (a, b) = (uniform(cost.nrows()), uniform(cost.ncols()));
    let problem = GcgProblem {
        cost: cost.view(),
        source_mass: &a,
        target_mass: &b,
        entropy_weight,
        regularizer,
        regularization_weight,
    };
    solve_gcg(&problem, None, &mut Workspace::default(), options).unwrap()
}

fn assert_marginals(plan: ArrayView2<'_, f64>) {
    for (axis, count) in [(Axis(1), plan.nrows()), (Axis(0), plan.ncols())] {
        for sum in plan.sum_axis(axis) {
            assert!((sum - 1.0 / count as f64).abs() <= 1e-12, "{sum}");
        }
    }
}

fn laplacian(source: &Array2<f64>, target: &Array2<f64>) -> Laplacian {
    let graph = |samples: &Array2<f64>| NeighbourGraph::nearest(samples.view(), 4).unwrap();
    Laplacian::symmetric(
        (graph(source).prune_by_class(&labels(source.nrows())).unwrap(), graph(target)),
        (source.view(), target.view()),
        (&uniform(source.nrows()), &uniform(target.nrows())),
        0.5,
    )
    .unwrap()
}

#[test]
fn the_objective_falls_and_the_gap_certifies_it_over_the_whole_grid() {
    let (source, target) = (cloud(24, 3, 1), cloud(30, 3, 2));
    let cost = squared_distances(&source, &target);
    let labels = labels(24);
    let laplacian = laplacian(&source, &target);
    let group_lasso = GroupLasso::new(&labels);
    let both = WeightedSum::new().and(1.0, &group_lasso).unwrap().and(0.5, &laplacian).unwrap();
    for regularizer in [&group_lasso as &dyn Regularizer, &laplacian, &both] {
        for (entropy_weight, weight) in
            [(1.0, 0.1), (0.1, 0.1), (0.1, 10.0), (0.01, 0.1), (10.0, 100.0)]
        {
            let options = GcgOptions::default();
            let solution = solve(&cost, entropy_weight, regularizer, weight, &options);
            let point = format!("λ {entropy_weight}, η {weight}");
            assert_eq!(solution.stop, Stop::Converged, "{point}");
            assert_marginals(solution.plan.view());
            let total = solution.objective.total();
            assert!(solution.duality_gap <= 1e-5 * total.abs(), "{point}");
            assert!(solution.duality_gap >= -1e-9 * total.abs(), "{point}");
            for pair in solution.history.windows(2) {
                let rounding = 1e-10 * (1.0 + pair[0].objective.abs());
                assert!(pair[1].objective <= pair[0].objective + rounding, "{point}");
            }
            // A hundred times the accuracy: the looser solve was within its certificate.
            let options = GcgOptions { relative_gap: 1e-7, iteration_limit: 5000, ..options };
            let reference = solve(&cost, entropy_weight, regularizer, weight, &options);
            let excess = total - reference.objective.total();
            assert!(excess <= solution.duality_gap + 1e-10 * total.abs(), "{point}: {excess}");
        }
    }
}

#[test]
fn without_regularization_the_plan_is_the_entropic_one() {
    let cost = squared_distances(&cloud(15, 2, 3), &cloud(20, 2, 4));
    let solution = solve(&cost, 0.2, &GroupLasso::new(&labels(15)), 0.0, &GcgOptions::default());
    let (a, b) = (uniform(15), uniform(20));
    let options = entropic::Options::default();
    let expected =
        entropic::solve(cost.view(), &a, &b, 0.2, None, &mut Workspace::default(), &options)
            .unwrap();
    let error = (&solution.plan - &expected.plan).mapv(f64::abs).sum();
    assert!(error <= 1e-6, "{error}");
    assert_eq!(solution.objective.regularization, 0.0);
}

/// All plans of a 2 × 2 problem with uniform masses lie on a segment, which can be searched.
fn by_scanning(
    cost: &Array2<f64>,
    entropy_weight: f64,
    omega: impl Fn(&Array2<f64>) -> f64,
) -> f64 {
    let objective = |t: f64| {
        let plan = array![[t, 0.5 - t], [0.5 - t, t]];
        let entropy: f64 =
            plan.iter().map(|&mass| if mass > 0.0 { mass * mass.ln() } else { 0.0 }).sum();
        (&plan * cost).sum() + entropy_weight * entropy + omega(&plan)
    };
    (0..=1_000_000).map(|step| objective(5e-7 * f64::from(step))).fold(f64::INFINITY, f64::min)
}

#[test]
fn two_by_two_problems_are_solved_to_the_minimum_of_their_segment() {
    let cost = array![[0.3, 1.0], [0.6, 0.2]];
    let samples = array![[0.0], [1.0]];
    let graph = || NeighbourGraph::nearest(samples.view(), 1).unwrap();
    let halves = uniform(2);
    let group_lasso = GroupLasso::new(&[0, 1]);
    let same_class = GroupLasso::new(&[0, 0]);
    let laplacian = Laplacian::symmetric(
        (graph(), graph()),
        (samples.view(), samples.view()),
        (&halves, &halves),
        0.5,
    )
    .unwrap();
    for regularizer in [&group_lasso as &dyn Regularizer, &same_class, &laplacian] {
        for weight in [0.1, 1.0, 5.0] {
            let options = GcgOptions { relative_gap: 1e-9, ..GcgOptions::default() };
            let solution = solve(&cost, 0.3, regularizer, weight, &options);
            let expected = by_scanning(&cost, 0.3, |plan| weight * regularizer.value(plan.view()));
            let total = solution.objective.total();
            assert!((total - expected).abs() <= 1e-8, "η {weight}: {total} and {expected}");
        }
    }
}

#[test]
fn a_regularizer_falls_as_its_weight_grows() {
    let (source, target) = (cloud(24, 3, 1), cloud(30, 3, 2));
    let cost = squared_distances(&source, &target);
    let labels = labels(24);
    let laplacian = laplacian(&source, &target);
    for regularizer in [&GroupLasso::new(&labels) as &dyn Regularizer, &laplacian] {
        let values = [0.0, 0.1, 1.0, 10.0].map(|weight| {
            let solution = solve(&cost, 0.2, regularizer, weight, &GcgOptions::default());
            regularizer.value(solution.plan.view())
        });
        assert!(values.windows(2).all(|pair| pair[1] < pair[0]), "{values:?}");
    }
}

#[test]
fn lp_l1_is_majorization_minimization() {
    let cost = squared_distances(&cloud(24, 3, 1), &cloud(30, 3, 2));
    let labels = labels(24);
    let regularizer = LpL1::new(&labels);
    let (lambda, eta) = (0.2, 0.05);
    let solution = solve(&cost, lambda, &regularizer, eta, &GcgOptions::default());
    assert_eq!(solution.stop, Stop::Converged);
    // By hand: solve, reweight the costs by the slopes, and so on.
    let (a, b) = (uniform(24), uniform(30));
    let mut workspace = Workspace::default();
    let mut entropic = |cost: &Array2<f64>| {
        let options = entropic::Options::default();
        entropic::solve(cost.view(), &a, &b, lambda, None, &mut workspace, &options).unwrap().plan
    };
    let mut plan = entropic(&cost);
    let mut slopes = Array2::zeros(cost.raw_dim());
    for _ in 0..solution.iterations + 20 {
        regularizer.gradient(plan.view(), &mut slopes);
        plan = entropic(&(&cost + &(eta * &slopes)));
    }
    let value = |plan: &Array2<f64>| {
        let entropy: f64 =
            plan.iter().filter(|mass| **mass > 0.0).map(|mass| mass * mass.ln()).sum();
        (plan * &cost).sum() + lambda * entropy + eta * regularizer.value(plan.view())
    };
    let difference = solution.objective.total() - value(&plan);
    assert!(difference.abs() <= 1e-5 * value(&plan).abs(), "{difference}");
    assert!(solution.history.iter().all(|step| step.damping == 0.0 && step.step == 1.0));
}

#[test]
fn a_stiff_quadratic_term_on_raw_costs_converges_along_its_path() {
    // η/λ up to 1e5, costs thousands of λ high.
    let (source, target) = (10.0 * &cloud(20, 5, 1), 10.0 * &cloud(25, 5, 2));
    let cost = squared_distances(&source, &target);
    let regularizer = laplacian(&source, &target);
    let (a, b) = (uniform(20), uniform(25));
    let options = GcgOptions { relative_gap: 1e-4, ..GcgOptions::default() };
    let mut previous: Option<GcgSolution> = None;
    for entropy_weight in [100.0, 10.0, 1.0, 0.1, 0.01, 0.001] {
        let problem = GcgProblem {
            cost: cost.view(),
            source_mass: &a,
            target_mass: &b,
            entropy_weight,
            regularizer: &regularizer,
            regularization_weight: 100.0,
        };
        let start = previous.as_ref();
        let solution = solve_gcg(&problem, start, &mut Workspace::default(), &options).unwrap();
        assert_eq!(solution.stop, Stop::Converged, "λ {entropy_weight}");
        assert!(solution.duality_gap <= 1e-4 * solution.objective.total().abs());
        assert_marginals(solution.plan.view());
        previous = Some(solution);
    }
}

/// A Laplacian that does not say that it is one of few moved samples, which leaves it to directions of whole plans.
struct OfPlans(Laplacian);

impl Regularizer for OfPlans {
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        self.0.value(plan)
    }

    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        self.0.gradient(plan, gradient);
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}

#[test]
fn moved_samples_and_whole_plans_lead_to_the_same_objective() {
    let (source, target) = (cloud(40, 2, 1), cloud(50, 2, 2));
    let cost = squared_distances(&source, &target);
    let of_moved_samples = laplacian(&source, &target);
    assert!(of_moved_samples.moved_samples().is_some());
    let of_plans = OfPlans(of_moved_samples.clone());
    for (lambda, eta) in [(1.0, 1.0), (0.1, 100.0), (0.01, 1.0), (0.01, 100.0)] {
        let point = format!("λ {lambda}, η {eta}");
        let options = GcgOptions { relative_gap: 1e-4, ..GcgOptions::default() };
        let by_newton = solve(&cost, lambda, &of_moved_samples, eta, &options);
        let by_directions = solve(&cost, lambda, &of_plans, eta, &options);
        assert_eq!(by_newton.stop, Stop::Converged, "{point}");
        assert_eq!(by_directions.stop, Stop::Converged, "{point}");
        assert_marginals(by_newton.plan.view());
        let difference = by_newton.objective.total() - by_directions.objective.total();
        assert!(difference <= by_newton.duality_gap, "{point}: {difference}");
        assert!(-difference <= by_directions.duality_gap, "{point}: {difference}");
        if eta / lambda >= 1000.0 {
            // Few steps, where directions of whole plans take many.
            let [few, many] = [&by_newton, &by_directions].map(|solution| solution.iterations);
            assert!(4 * few < many, "{point}: {few} and {many}");
        }
    }
}

#[test]
fn reweighted_classes_move_many_entropy_weights_at_once() {
    // The weights of empty classes are η/(2√ε) ≈ 16η high, a thousand λ.
    let cost = squared_distances(&cloud(24, 3, 1), &cloud(30, 3, 2));
    let labels = labels(24);
    let regularizer = LpL1::new(&labels);
    let solution = solve(&cost, 0.01, &regularizer, 1.0, &GcgOptions::default());
    assert_eq!(solution.stop, Stop::Converged);
    assert_marginals(solution.plan.view());
    // At a stationary plan one more majorization gains nothing.
    let (a, b) = (uniform(24), uniform(30));
    let mut slopes = Array2::zeros(cost.raw_dim());
    regularizer.gradient(solution.plan.view(), &mut slopes);
    let options = entropic::Options::default();
    let reweighted = &cost + &slopes;
    let workspace = &mut Workspace::default();
    let next = entropic::solve(reweighted.view(), &a, &b, 0.01, None, workspace, &options).unwrap();
    let objective = &solution.objective;
    let here = objective.transport + objective.entropy + (&solution.plan * &slopes).sum();
    assert!(here - next.objective <= 2e-6 * objective.total().abs());
}

#[test]
fn a_warm_start_ends_at_the_same_objective() {
    let cost = squared_distances(&cloud(24, 3, 1), &cloud(30, 3, 2));
    let regularizer = GroupLasso::new(&labels(24));
    let options = GcgOptions { relative_gap: 1e-7, iteration_limit: 5000, ..GcgOptions::default() };
    let cold = solve(&cost, 0.1, &regularizer, 1.0, &options);
    let neighbour = solve(&cost, 0.1, &regularizer, 0.3, &options);
    let (a, b) = (uniform(24), uniform(30));
    let problem = GcgProblem {
        cost: cost.view(),
        source_mass: &a,
        target_mass: &b,
        entropy_weight: 0.1,
        regularizer: &regularizer,
        regularization_weight: 1.0,
    };
    let restarted = |problem: &GcgProblem<'_>| {
        solve_gcg(problem, Some(&neighbour), &mut Workspace::default(), &options)
    };
    let warm = restarted(&problem).unwrap();
    // What a start comes with is checked as without one.
    let mut broken = cost.clone();
    broken[[1, 2]] = f64::NAN;
    let refused = restarted(&GcgProblem { cost: broken.view(), ..problem }).unwrap_err();
    assert!(matches!(refused, Error::Cost { row: 1, column: 2, .. }));
    let far = &cost + 1e150;
    let laplacian = laplacian(&cloud(24, 3, 1), &cloud(30, 3, 2));
    let too_far = GcgProblem { cost: far.view(), regularizer: &laplacian, ..problem };
    let refused = solve_gcg(&too_far, None, &mut Workspace::default(), &options).unwrap_err();
    assert!(matches!(refused, Error::Cost { row: 0, column: 0, .. }));
    let refused = restarted(&GcgProblem { source_mass: &b, ..problem }).unwrap_err();
    assert!(matches!(refused, Error::Length { name: "source_mass", .. }));
    assert_eq!((cold.stop, warm.stop), (Stop::Converged, Stop::Converged));
    let difference = warm.objective.total() - cold.objective.total();
    assert!(difference.abs() <= cold.duality_gap.max(warm.duality_gap), "{difference}");
}

#[test]
fn forbidden_pairs_stay_empty() {
    let mut cost = squared_distances(&cloud(12, 3, 1), &cloud(16, 3, 2));
    for ((row, column), cost) in cost.indexed_iter_mut() {
        if column < 4 && row % 4 != column {
            *cost = f64::INFINITY;
        }
    }
    let labels = labels(12);
    let laplacian = laplacian(&cloud(12, 3, 1), &cloud(16, 3, 2));
    let regularizers: [&dyn Regularizer; 3] =
        [&GroupLasso::new(&labels), &LpL1::new(&labels), &laplacian];
    for regularizer in regularizers {
        let solution = solve(&cost, 0.1, regularizer, 1.0, &GcgOptions::default());
        assert!(solution.objective.total().is_finite());
        for ((place, mass), cost) in solution.plan.indexed_iter().zip(&cost) {
            assert!(cost.is_finite() || *mass == 0.0, "{place:?}");
        }
        assert_marginals(solution.plan.view());
    }
}

#[test]
fn rough_directions_are_allowed() {
    let cost = squared_distances(&cloud(8, 2, 1), &cloud(9, 2, 2));
    let entropic = entropic::Options { tolerance: 0.01, ..entropic::Options::default() };
    let options = GcgOptions { relative_gap: 0.1, entropic, ..GcgOptions::default() };
    let regularizers: [&dyn Regularizer; 2] =
        [&GroupLasso::new(&labels(8)), &laplacian(&cloud(8, 2, 1), &cloud(9, 2, 2))];
    for regularizer in regularizers {
        assert_marginals(solve(&cost, 0.1, regularizer, 1.0, &options).plan.view());
    }
}

#[test]
fn a_regularizer_of_other_samples_is_refused() {
    let cost = squared_distances(&cloud(8, 2, 1), &cloud(9, 2, 2));
    let (a, b) = (uniform(8), uniform(9));
    let laplacian = laplacian(&cloud(9, 2, 1), &cloud(8, 2, 2));
    let regularizers: [&dyn Regularizer; 4] = [
        &GroupLasso::new(&labels(7)),
        &LpL1::new(&labels(9)),
        &Quadratic::new(&b, &a),
        &WeightedSum::new().and(1.0, &laplacian).unwrap(),
    ];
    for regularizer in regularizers {
        let problem = GcgProblem {
            cost: cost.view(),
            source_mass: &a,
            target_mass: &b,
            entropy_weight: 1.0,
            regularizer,
            regularization_weight: 1.0,
        };
        let refused = solve_gcg(&problem, None, &mut Workspace::default(), &GcgOptions::default());
        assert!(matches!(refused, Err(Error::Length { .. })), "{refused:?}");
    }
}

#[test]
fn a_negative_weight_is_refused() {
    let cost = array![[0.0, 1.0], [1.0, 0.0]];
    let halves = uniform(2);
    for (entropy_weight, regularization_weight, name) in
        [(1.0, -1.0, "eta"), (0.0, 1.0, "lambda"), (1.0, f64::NAN, "eta")]
    {
        let regularizer = GroupLasso::new(&[0, 1]);
        let problem = GcgProblem {
            cost: cost.view(),
            source_mass: &halves,
            target_mass: &halves,
            entropy_weight,
            regularizer: &regularizer,
            regularization_weight,
        };
        let error = solve_gcg(&problem, None, &mut Workspace::default(), &GcgOptions::default())
            .unwrap_err();
        assert!(matches!(error, Error::Argument { name: found, .. } if found == name), "{error}");
    }
}
