//! A path over (λ, η) for a quadratic regularizer: every point is certified, whatever its neighbours gave it.

mod common;

use common::{cloud, squared_distances, uniform};
use ndarray::{Array2, Axis};
use solvers::entropic::{self, Workspace};
use solvers::gcg::{GcgOptions, GcgProblem, QuadraticPath, solve_gcg};
use solvers::regularizers::{Laplacian, LpL1};
use solvers::{Error, Regularizer, Stop};

const ROWS: usize = 20;
const COLUMNS: usize = 25;

fn labels() -> Vec<usize> {
    (0..ROWS).map(|sample| sample % 4).collect()
}

/// Costs thousands of the smallest λ high, and the graphs of the paper.
fn task() -> (Array2<f64>, Laplacian) {
    let (source, target) = (10.0 * &cloud(ROWS, 5, 1), 10.0 * &cloud(COLUMNS, 5, 2));
    let laplacian = Laplacian::of_nearest_neighbours(
        (source.view(), target.view()),
        &labels(),
        (&uniform(ROWS), &uniform(COLUMNS)),
        4,
        0.5,
    );
    (squared_distances(&source, &target), laplacian.unwrap())
}

fn path<'a>(
    cost: &'a Array2<f64>,
    regularizer: &'a Laplacian,
    relative_gap: f64,
) -> QuadraticPath<'a> {
    let options = GcgOptions { relative_gap, ..GcgOptions::default() };
    let (a, b) = (uniform(ROWS), uniform(COLUMNS));
    QuadraticPath::new(cost.view(), (&a, &b), regularizer, options).unwrap()
}

/// The least objective, up to a relative 1e-7, of a point by itself.
fn least(cost: &Array2<f64>, regularizer: &Laplacian, (lambda, eta): (f64, f64)) -> (f64, f64) {
    let problem = GcgProblem {
        cost: cost.view(),
        source_mass: &uniform(ROWS),
        target_mass: &uniform(COLUMNS),
        entropy_weight: lambda,
        regularizer,
        regularization_weight: eta,
    };
    let options = GcgOptions { relative_gap: 1e-7, iteration_limit: 5000, ..GcgOptions::default() };
    let solution = solve_gcg(&problem, None, &mut Workspace::default(), &options).unwrap();
    assert_eq!(solution.stop, Stop::Converged, "λ {lambda}, η {eta}");
    (solution.objective.total(), solution.duality_gap)
}

#[test]
fn the_gap_of_every_point_bounds_its_distance_from_the_least_objective() {
    let (cost, laplacian) = task();
    let mut path = path(&cost, &laplacian, 1e-3);
    for lambda in [100.0, 10.0, 1.0, 0.1] {
        for eta in [1e-3, 0.1, 1.0, 10.0] {
            let solution = path.solve(lambda, eta).unwrap();
            let total = solution.objective.total();
            let point = format!("λ {lambda}, η {eta}");
            assert_eq!(solution.stop, Stop::Converged, "{point}");
            assert!(solution.duality_gap <= 1e-3 * total.abs(), "{point}");
            let (least, accuracy) = least(&cost, &laplacian, (lambda, eta));
            let excess = total - least;
            let slack = 1e-12 * total.abs();
            assert!(excess <= solution.duality_gap + slack, "{point}: {excess}");
            assert!(excess >= -accuracy - slack, "{point}: {excess}");
            // The terms are those of the plan.
            let plan = &solution.plan;
            let negentropy: f64 =
                plan.iter().filter(|mass| **mass > 0.0).map(|mass| mass * mass.ln()).sum();
            let expected =
                (plan * &cost).sum() + lambda * negentropy + eta * laplacian.value(plan.view());
            assert!((total - expected).abs() <= 1e-9 * expected.abs(), "{point}");
            for (axis, count) in [(Axis(1), ROWS), (Axis(0), COLUMNS)] {
                for sum in plan.sum_axis(axis) {
                    assert!((sum - 1.0 / count as f64).abs() <= 1e-12, "{point}: {sum}");
                }
            }
        }
    }
}

#[test]
fn a_change_of_weights_within_the_tolerance_takes_no_direction() {
    let (cost, laplacian) = task();
    let mut path = path(&cost, &laplacian, 1e-3);
    let first = path.solve(10.0, 1.0).unwrap().clone();
    assert!(first.iterations > 0);
    // As much of the tolerance as the first point left over.
    let spare = 1e-3 * first.objective.total().abs() - first.duality_gap;
    let more = 1.0 + 0.5 * spare / first.objective.regularization;
    let second = path.solve(10.0, more).unwrap();
    assert_eq!((second.iterations, second.stop), (0, Stop::Converged));
    assert_eq!(second.plan, first.plan);
    let added = (more - 1.0) * first.objective.regularization;
    assert!((second.duality_gap - first.duality_gap - added).abs() <= 1e-9 * added);
}

#[test]
fn points_in_any_order_are_certified() {
    let (cost, laplacian) = task();
    let mut path = path(&cost, &laplacian, 1e-4);
    for (lambda, eta) in [(1.0, 10.0), (10.0, 0.1), (10.0, 0.01), (1.0, 1.0), (1.0, 1.0)] {
        let solution = path.solve(lambda, eta).unwrap();
        let excess = solution.objective.total() - least(&cost, &laplacian, (lambda, eta)).0;
        assert_eq!(solution.stop, Stop::Converged, "λ {lambda}, η {eta}");
        assert!(excess <= solution.duality_gap + 1e-9, "λ {lambda}, η {eta}: {excess}");
    }
}

#[test]
fn without_the_term_a_point_is_entropic() {
    let (cost, laplacian) = task();
    let mut path = path(&cost, &laplacian, 1e-7);
    for lambda in [100.0, 10.0] {
        let objective = path.solve(lambda, 0.0).unwrap().objective.total();
        let (a, b) = (uniform(ROWS), uniform(COLUMNS));
        let options = entropic::Options::default();
        let workspace = &mut Workspace::default();
        let entropic = entropic::solve(cost.view(), &a, &b, lambda, None, workspace, &options);
        let expected = entropic.unwrap().objective;
        assert!((objective - expected).abs() <= 1e-7 * expected.abs(), "{objective}, {expected}");
    }
}

#[test]
fn forbidden_pairs_stay_empty_along_a_path() {
    let (mut cost, laplacian) = task();
    for ((row, column), cost) in cost.indexed_iter_mut() {
        if column < 4 && row % 4 != column {
            *cost = f64::INFINITY;
        }
    }
    let mut path = path(&cost, &laplacian, 1e-4);
    for (lambda, eta) in [(100.0, 0.01), (100.0, 1.0), (10.0, 0.01), (10.0, 1.0)] {
        let solution = path.solve(lambda, eta).unwrap();
        assert_eq!(solution.stop, Stop::Converged, "λ {lambda}, η {eta}");
        assert!(solution.objective.total().is_finite());
        for (mass, cost) in solution.plan.iter().zip(&cost) {
            assert!(cost.is_finite() || *mass == 0.0);
        }
    }
}

#[test]
fn a_path_refuses_what_it_cannot_certify() {
    let (cost, laplacian) = task();
    let (a, b) = (uniform(ROWS), uniform(COLUMNS));
    let concave = LpL1::new(&labels());
    let refused = QuadraticPath::new(cost.view(), (&a, &b), &concave, GcgOptions::default());
    assert!(matches!(refused.err(), Some(Error::Argument { name: "regularizer", .. })));
    let mut path = path(&cost, &laplacian, 1e-3);
    for (lambda, eta, name) in [(0.0, 1.0, "lambda"), (1.0, -1.0, "eta")] {
        let error = path.solve(lambda, eta).unwrap_err();
        assert!(matches!(error, Error::Argument { name: found, .. } if found == name), "{error}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_digit() {
    // Enough pairs and rows for several parts of the sweeps and of the products.
    let (sources, targets) = (1100, 130);
    let (source, target) = (cloud(sources, 3, 1), cloud(targets, 3, 2));
    let (a, b) = (uniform(sources), uniform(targets));
    let labels: Vec<usize> = (0..sources).map(|sample| sample % 4).collect();
    let samples = (source.view(), target.view());
    let cost = squared_distances(&source, &target);
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let laplacian =
                Laplacian::of_nearest_neighbours(samples, &labels, (&a, &b), 4, 0.5).unwrap();
            let problem = GcgProblem {
                cost: cost.view(),
                source_mass: &a,
                target_mass: &b,
                entropy_weight: 0.3,
                regularizer: &laplacian,
                regularization_weight: 10.0,
            };
            let workspace = &mut Workspace::default();
            solve_gcg(&problem, None, workspace, &GcgOptions::default()).unwrap()
        })
    };
    let (one, many) = (solve(1), solve(3));
    assert_eq!(one.plan, many.plan);
    assert_eq!(one.objective, many.objective);
    assert_eq!((one.duality_gap, one.iterations), (many.duality_gap, many.iterations));
}
