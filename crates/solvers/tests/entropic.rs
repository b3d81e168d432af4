//! What an entropic transport plan must satisfy, whatever the solver: feasibility, optimality,
//! invariances, and sentences for wrong arguments.

#![expect(clippy::float_cmp, reason = "values that are passed through stay exact")]

use ndarray::{Array1, Array2, Axis, array};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solvers::entropic::{Options, Solution, Workspace, solve, solve_path};
use solvers::{Error, Stop};

const GRID: [f64; 7] = [1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3];

fn uniform(n: usize) -> Array1<f64> {
    Array1::from_elem(n, 1.0 / n as f64)
}

fn slice(masses: &Array1<f64>) -> &[f64] {
    masses.as_slice().unwrap()
}

fn solve_cold(cost: &Array2<f64>, a: &Array1<f64>, b: &Array1<f64>, weight: f64) -> Solution {
    let mut workspace = Workspace::default();
    solve(cost.view(), slice(a), slice(b), weight, None, &mut workspace, &Options::default())
        .unwrap()
}

fn refusal(cost: &Array2<f64>, a: &Array1<f64>, b: &Array1<f64>, weight: f64) -> Error {
    let mut workspace = Workspace::default();
    solve(cost.view(), slice(a), slice(b), weight, None, &mut workspace, &Options::default())
        .unwrap_err()
}

/// Squared distances around 1500 between standardised samples in 800 dimensions.
fn high_dimensional_cost(sources: usize, targets: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |n: usize| {
        Array2::from_shape_fn((n, 800), |_| (0..3).map(|_| rng.gen_range(-1.0..1.0)).sum::<f64>())
    };
    let (x, y) = (draw(sources), draw(targets));
    Array2::from_shape_fn((sources, targets), |(i, j)| {
        (&x.row(i) - &y.row(j)).mapv(|d| d * d).sum() * (1.0 + 0.02 * (i % 7) as f64)
    })
}

fn assert_feasible(solution: &Solution, a: &Array1<f64>, b: &Array1<f64>) {
    let plan = &solution.plan;
    assert!(plan.iter().all(|&gamma| gamma >= 0.0 && gamma.is_finite()));
    let rows = (&plan.sum_axis(Axis(1)) - a).mapv(f64::abs).sum();
    let columns = (&plan.sum_axis(Axis(0)) - b).mapv(f64::abs).sum();
    assert!(rows + columns < 1e-13, "marginals are off by {rows:e} and {columns:e}");
}

fn assert_optimal(solution: &Solution, a: &Array1<f64>, b: &Array1<f64>) {
    assert_eq!(solution.stop, Stop::Converged);
    assert!(solution.marginal_error <= Options::default().tolerance);
    assert_feasible(solution, a, b);
    let gap = solution.duality_gap();
    // The potentials are as large as the costs: that is the price of moving what the marginal error
    // left over, and the rounding of both objectives.
    let potentials = solution.potentials.source.iter().chain(&solution.potentials.target);
    let price = potentials.filter(|f| f.is_finite()).fold(0.0_f64, |price, f| price.max(f.abs()));
    let scale =
        solution.transport_cost.abs().max((solution.objective - solution.transport_cost).abs());
    let weight = solution.entropy_weight;
    assert!(
        gap <= 1e-8 * scale + 1e-9 * price,
        "λ = {weight}: gap {gap:e} of {scale:e}, price {price}"
    );
    assert!(
        gap >= -1e-13 * (price + scale),
        "λ = {weight}: gap {gap:e} of {scale:e}, price {price}"
    );
}

#[test]
fn every_weight_of_the_grid_converges_on_unscaled_costs() {
    for (sources, targets) in [(60, 97), (97, 60), (50, 100), (80, 80)] {
        let cost = high_dimensional_cost(sources, targets, 1);
        let (a, b) = (uniform(sources), uniform(targets));
        let mut workspace = Workspace::default();
        let path = solve_path(
            cost.view(),
            slice(&a),
            slice(&b),
            &GRID,
            &mut workspace,
            &Options::default(),
        )
        .unwrap();
        for (solution, weight) in path.iter().zip(GRID) {
            assert_eq!(solution.entropy_weight, weight);
            assert_optimal(solution, &a, &b);
            let alone = solve_cold(&cost, &a, &b, weight);
            assert_optimal(&alone, &a, &b);
            assert!(
                (alone.objective - solution.objective).abs() <= 1e-9 * solution.objective.abs()
            );
        }
    }
}

#[test]
fn the_objective_is_that_of_the_returned_plan() {
    let cost = high_dimensional_cost(20, 31, 2);
    let (a, b) = (uniform(20), uniform(31));
    for weight in GRID {
        let solution = solve_cold(&cost, &a, &b, weight);
        let transport: f64 = (&solution.plan * &cost).sum();
        let negentropy: f64 = solution
            .plan
            .iter()
            .filter(|gamma| **gamma > 0.0)
            .map(|gamma| gamma * gamma.ln())
            .sum();
        let objective = transport + weight * negentropy;
        assert!((solution.transport_cost - transport).abs() < 1e-11 * transport);
        assert!((solution.objective - objective).abs() < 1e-11 * objective.abs());
    }
}

#[test]
fn the_potentials_generate_the_plan() {
    let cost = high_dimensional_cost(20, 31, 3);
    let (a, b) = (uniform(20), uniform(31));
    let solution = solve_cold(&cost, &a, &b, 50.0);
    for ((i, j), gamma) in solution.plan.indexed_iter() {
        let slack = solution.potentials.source[i] + solution.potentials.target[j] - cost[(i, j)];
        assert!((gamma - (slack / 50.0).exp()).abs() < 1e-10);
    }
}

#[test]
fn two_by_two_has_a_closed_form() {
    // With uniform masses γ = ½ [[p, 1-p], [1-p, p]], p = 1 / (1 + exp(-Δ/2λ)), Δ = c12 + c21 - c11 - c22.
    let cost = array![[1.0, 4.0], [2.0, 3.0]];
    for weight in [1e-3, 0.1, 1.0, 10.0, 1e3] {
        let p = 1.0 / (1.0 + (-2.0_f64 / (2.0 * weight)).exp());
        let plan = solve_cold(&cost, &uniform(2), &uniform(2), weight).plan;
        let expected = array![[p, 1.0 - p], [1.0 - p, p]] * 0.5;
        assert!((&plan - &expected).iter().all(|d| d.abs() < 1e-10), "λ = {weight}: {plan}");
    }
}

#[test]
fn a_large_weight_gives_the_independent_plan() {
    let cost = high_dimensional_cost(7, 5, 4);
    let a = array![0.1, 0.2, 0.3, 0.05, 0.05, 0.1, 0.2];
    let b = array![0.5, 0.1, 0.1, 0.1, 0.2];
    let plan = solve_cold(&cost, &a, &b, 1e12).plan;
    for ((i, j), gamma) in plan.indexed_iter() {
        assert!((gamma - a[i] * b[j]).abs() < 1e-8 * a[i] * b[j]);
    }
}

#[test]
fn a_small_weight_gives_the_sorted_plan_on_a_line() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for n in [10, 60] {
        let mut x: Vec<f64> = (0..n).map(|_| rng.gen_range(0.0..1.0)).collect();
        let mut y: Vec<f64> = (0..n).map(|_| rng.gen_range(0.0..1.0)).collect();
        let cost = Array2::from_shape_fn((n, n), |(i, j)| (x[i] - y[j]).powi(2));
        let solution = solve_cold(&cost, &uniform(n), &uniform(n), 1e-7);
        assert_optimal(&solution, &uniform(n), &uniform(n));
        x.sort_by(f64::total_cmp);
        y.sort_by(f64::total_cmp);
        let exact = x.iter().zip(&y).map(|(x, y)| (x - y).powi(2)).sum::<f64>() / n as f64;
        // The entropy of a plan with n² entries is at most 2 ln n.
        let slack = 1e-7 * (n as f64).ln();
        assert!(solution.transport_cost >= exact - 1e-12);
        assert!(solution.transport_cost <= exact + slack, "{} vs {exact}", solution.transport_cost);
    }
}

#[test]
fn a_small_weight_gives_the_best_assignment() {
    let cost = high_dimensional_cost(6, 6, 6);
    let mut order: Vec<usize> = (0..6).collect();
    let mut best = f64::INFINITY;
    permutations(&mut order, 0, &mut |order| {
        best = best.min(order.iter().enumerate().map(|(i, &j)| cost[(i, j)]).sum::<f64>() / 6.0);
    });
    let solution = solve_cold(&cost, &uniform(6), &uniform(6), 1e-3);
    assert!((solution.transport_cost - best).abs() < 1e-2, "{} vs {best}", solution.transport_cost);
    assert!(solution.transport_cost >= best - 1e-9);
}

fn permutations(order: &mut [usize], fixed: usize, visit: &mut impl FnMut(&[usize])) {
    if fixed == order.len() {
        visit(order);
        return;
    }
    for next in fixed..order.len() {
        order.swap(fixed, next);
        permutations(order, fixed + 1, visit);
        order.swap(fixed, next);
    }
}

#[test]
fn scaling_cost_and_weight_together_changes_nothing() {
    let cost = high_dimensional_cost(12, 17, 7);
    let (a, b) = (uniform(12), uniform(17));
    for weight in [0.1, 30.0] {
        let plain = solve_cold(&cost, &a, &b, weight);
        let scaled = solve_cold(&(&cost * 1e-4), &a, &b, weight * 1e-4);
        assert!((&plain.plan - &scaled.plan).iter().all(|d| d.abs() < 1e-9));
    }
}

#[test]
fn permuting_the_samples_permutes_the_plan_and_transposing_transposes_it() {
    let cost = high_dimensional_cost(12, 17, 8);
    let (a, b) = (uniform(12), uniform(17));
    let plan = solve_cold(&cost, &a, &b, 20.0).plan;
    let rows: Vec<usize> = (0..12).map(|i| (5 * i + 3) % 12).collect();
    let columns: Vec<usize> = (0..17).map(|j| (4 * j + 1) % 17).collect();
    let permuted = cost.select(Axis(0), &rows).select(Axis(1), &columns);
    let expected = plan.select(Axis(0), &rows).select(Axis(1), &columns);
    let found = solve_cold(&permuted, &a, &b, 20.0).plan;
    assert!((&found - &expected).iter().all(|d| d.abs() < 1e-9));
    // A view in column-major order must be read as the matrix that it is.
    let mut workspace = Workspace::default();
    let transposed =
        solve(cost.t(), slice(&b), slice(&a), 20.0, None, &mut workspace, &Options::default())
            .unwrap()
            .plan;
    assert!((&transposed - &plan.t()).iter().all(|d| d.abs() < 1e-9));
}

#[test]
fn a_warm_start_gives_the_same_answer() {
    let cost = high_dimensional_cost(25, 40, 9);
    let changed = &cost + &high_dimensional_cost(25, 40, 10).mapv(|c| 0.01 * c);
    let (a, b) = (uniform(25), uniform(40));
    for weight in [1e-2, 1.0, 100.0] {
        let earlier = solve_cold(&cost, &a, &b, weight);
        let mut workspace = Workspace::default();
        let mut warm = |cost: &Array2<f64>, options: &Options| {
            let start = Some(&earlier.potentials);
            solve(cost.view(), slice(&a), slice(&b), weight, start, &mut workspace, options)
                .unwrap()
        };
        let again = warm(&cost, &Options::default());
        assert!(again.iterations <= 2, "{} iterations from the solution", again.iterations);
        assert!((&again.plan - &earlier.plan).iter().all(|d| d.abs() < 1e-9));
        let warm = warm(&changed, &Options::default());
        let cold = solve_cold(&changed, &a, &b, weight);
        assert_optimal(&warm, &a, &b);
        assert!((&warm.plan - &cold.plan).iter().all(|d| d.abs() < 1e-8));
    }
}

#[test]
fn a_useless_warm_start_does_no_harm() {
    let cost = high_dimensional_cost(10, 15, 11);
    let (a, b) = (uniform(10), uniform(15));
    let cold = solve_cold(&cost, &a, &b, 0.1);
    for value in [f64::NAN, f64::INFINITY, 1e300, -1e8] {
        let mut start = cold.potentials.clone();
        start.source[3] = value;
        start.target[2] = value;
        let mut workspace = Workspace::default();
        let options = Options::default();
        let warm =
            solve(cost.view(), slice(&a), slice(&b), 0.1, Some(&start), &mut workspace, &options)
                .unwrap();
        assert_optimal(&warm, &a, &b);
        assert!((warm.objective - cold.objective).abs() < 1e-8 * cold.objective);
    }
}

#[test]
fn a_workspace_can_be_used_for_another_size() {
    let mut workspace = Workspace::default();
    for (sources, targets) in [(30, 20), (5, 9), (12, 12), (30, 20)] {
        let cost = high_dimensional_cost(sources, targets, 12);
        let (a, b) = (uniform(sources), uniform(targets));
        let options = Options::default();
        let reused =
            solve(cost.view(), slice(&a), slice(&b), 1.0, None, &mut workspace, &options).unwrap();
        let fresh = solve_cold(&cost, &a, &b, 1.0);
        assert_eq!(reused.plan, fresh.plan);
    }
}

#[test]
fn samples_without_mass_take_no_part() {
    let cost = high_dimensional_cost(6, 8, 13);
    let a = array![0.0, 0.25, 0.25, 0.0, 0.25, 0.25];
    let b = array![0.2, 0.0, 0.2, 0.2, 0.0, 0.2, 0.2, 0.0];
    let (rows, columns) = ([1, 2, 4, 5], [0, 2, 3, 5, 6]);
    let kept = cost.select(Axis(0), &rows).select(Axis(1), &columns);
    for weight in [0.01, 10.0] {
        let solution = solve_cold(&cost, &a, &b, weight);
        assert_optimal(&solution, &a, &b);
        assert_eq!(solution.potentials.source[0], f64::NEG_INFINITY);
        let expected = solve_cold(&kept, &uniform(4), &uniform(5), weight).plan;
        let found = solution.plan.select(Axis(0), &rows).select(Axis(1), &columns);
        assert!((&found - &expected).iter().all(|d| d.abs() < 1e-9));
    }
}

#[test]
fn duplicated_samples_share_their_mass() {
    let small = high_dimensional_cost(4, 5, 14);
    let cost = Array2::from_shape_fn((8, 10), |(i, j)| small[(i / 2, j / 2)]);
    for weight in [1e-3, 1.0, 100.0] {
        let solution = solve_cold(&cost, &uniform(8), &uniform(10), weight);
        assert_optimal(&solution, &uniform(8), &uniform(10));
        let expected = solve_cold(&small, &uniform(4), &uniform(5), weight).plan;
        for ((i, j), gamma) in solution.plan.indexed_iter() {
            assert!((gamma - expected[(i / 2, j / 2)] / 4.0).abs() < 1e-9);
        }
    }
}

#[test]
fn one_sample_sends_or_takes_everything() {
    let b = array![0.2, 0.5, 0.3];
    for weight in [1e-3, 1.0, 1e3] {
        let plan = solve_cold(&array![[5.0, 1e3, 2.0]], &array![1.0], &b, weight).plan;
        assert!((&plan.row(0) - &b).iter().all(|d| d.abs() < 1e-15));
        let plan = solve_cold(&array![[5.0], [1e3], [2.0]], &b, &array![1.0], weight).plan;
        assert!((&plan.column(0) - &b).iter().all(|d| d.abs() < 1e-15));
        assert_eq!(
            solve_cold(&array![[7.0]], &array![1.0], &array![1.0], weight).plan,
            array![[1.0]]
        );
    }
}

#[test]
fn constant_costs_give_the_independent_plan() {
    let plan = solve_cold(&Array2::from_elem((4, 6), 1500.0), &uniform(4), &uniform(6), 1e-3).plan;
    assert!(plan.iter().all(|gamma| (gamma - 1.0 / 24.0).abs() < 1e-12));
}

#[test]
fn forbidden_pairs_carry_no_mass() {
    let mut cost = high_dimensional_cost(20, 30, 15);
    for i in 0..20 {
        for j in 0..10 {
            if i % 2 != j % 2 {
                cost[(i, j)] = f64::INFINITY;
            }
        }
    }
    let (a, b) = (uniform(20), uniform(30));
    for weight in GRID {
        let solution = solve_cold(&cost, &a, &b, weight);
        assert_optimal(&solution, &a, &b);
        assert!(solution.plan.iter().zip(&cost).all(|(gamma, c)| c.is_finite() || *gamma == 0.0));
    }
}

#[test]
fn forbidden_pairs_may_leave_a_single_plan() {
    let infinity = f64::INFINITY;
    // The allowed pair (1, 0) has to stay empty, so its potential runs away to −∞.
    let cost = array![[1.0, infinity], [0.0, 2.0]];
    for weight in [1e-2, 1.0, 100.0] {
        let solution = solve_cold(&cost, &uniform(2), &uniform(2), weight);
        assert_eq!(solution.stop, Stop::Converged);
        assert!((&solution.plan - &array![[0.5, 0.0], [0.0, 0.5]]).iter().all(|d| d.abs() < 1e-9));
    }
}

#[test]
fn forbidden_pairs_that_leave_no_plan_are_refused() {
    let infinity = f64::INFINITY;
    let row = array![[1.0, 2.0], [infinity, infinity]];
    assert_eq!(refusal(&row, &uniform(2), &uniform(2), 1.0), Error::Infeasible { unmatched: 0.5 });
    // However little it is.
    let (a, tiny) = (array![1.0 - 1e-13, 1e-13], row.clone());
    assert_eq!(refusal(&tiny, &a, &uniform(2), 1.0), Error::Infeasible { unmatched: 1e-13 });
    assert!(matches!(
        refusal(&tiny.t().to_owned(), &uniform(2), &a, 1.0),
        Error::Infeasible { .. }
    ));
    // Each sample has a partner, but two of three rows share the only column that they may use.
    let hall = array![[1.0, infinity, infinity], [1.0, infinity, infinity], [1.0, 1.0, 1.0]];
    let error = refusal(&hall, &uniform(3), &uniform(3), 1.0);
    assert!(matches!(error, Error::Infeasible { .. }), "{error}");
    // The greedy start of the check gets this one wrong; an augmenting path repairs it.
    let augment = array![[1.0, 1.0, infinity], [1.0, infinity, 1.0], [infinity, 1.0, 1.0]];
    assert_optimal(&solve_cold(&augment, &uniform(3), &uniform(3), 1.0), &uniform(3), &uniform(3));
}

#[test]
fn an_iteration_limit_is_reported_and_the_plan_stays_feasible() {
    let cost = high_dimensional_cost(30, 41, 16);
    let (a, b) = (uniform(30), uniform(41));
    for iteration_limit in [0, 1, 5, 12] {
        let options = Options { iteration_limit, ..Options::default() };
        let mut workspace = Workspace::default();
        let solution =
            solve(cost.view(), slice(&a), slice(&b), 1e-3, None, &mut workspace, &options).unwrap();
        assert_eq!(solution.stop, Stop::IterationLimit);
        assert_feasible(&solution, &a, &b);
        assert!(solution.duality_gap() > 0.0);
    }
}

#[test]
fn wrong_arguments_are_named() {
    let cost = Array2::from_elem((2, 3), 1.0);
    let (a, b) = (uniform(2), uniform(3));
    let mut broken = cost.clone();
    broken[(1, 2)] = f64::NAN;
    let cases = [
        (refusal(&broken, &a, &b, 1.0), "cost is NaN at row 1, column 2"),
        (refusal(&cost, &array![1.5, -0.5], &b, 1.0), "source_mass is -0.5 at sample 1"),
        (refusal(&cost, &a, &array![0.5, f64::NAN, 0.5], 1.0), "target_mass is NaN at sample 1"),
        (refusal(&cost, &a, &array![0.5, 0.5, 0.5], 1.0), "target_mass sums to 1.5"),
        (refusal(&cost, &b, &b, 1.0), "source_mass has 3 entries"),
        (refusal(&cost, &a, &a, 1.0), "the columns of cost 3"),
        (refusal(&cost, &a, &b, 0.0), "lambda = 0"),
        (refusal(&cost, &a, &b, -1.0), "lambda = -1"),
        (refusal(&cost, &a, &b, f64::NAN), "lambda = NaN"),
        (refusal(&cost, &a, &b, f64::INFINITY), "lambda = inf"),
        (refusal(&Array2::zeros((0, 3)), &uniform(0), &b, 1.0), "0 × 3"),
    ];
    for (error, part) in cases {
        assert!(error.to_string().contains(part), "{error}");
    }
    broken[(1, 2)] = f64::NEG_INFINITY;
    assert!(matches!(refusal(&broken, &a, &b, 1.0), Error::Cost { row: 1, column: 2, .. }));
    let mut workspace = Workspace::default();
    let other = solve_cold(&Array2::ones((4, 4)), &uniform(4), &uniform(4), 1.0).potentials;
    let options = Options::default();
    let error =
        solve(cost.view(), slice(&a), slice(&b), 1.0, Some(&other), &mut workspace, &options)
            .unwrap_err();
    assert!(error.to_string().contains("the source potentials has 4 entries"), "{error}");
    let options = Options { tolerance: 0.0, ..options };
    let error =
        solve(cost.view(), slice(&a), slice(&b), 1.0, None, &mut workspace, &options).unwrap_err();
    assert!(error.to_string().contains("tolerance = 0"), "{error}");
}

#[test]
fn extreme_weights_and_costs_stay_finite() {
    let cost = high_dimensional_cost(9, 14, 17);
    let (a, b) = (uniform(9), uniform(14));
    for (scale, weight) in
        [(1.0, 1e-100), (1.0, 1e100), (1e90, 1.0), (1e-90, 1.0), (-1.0, 0.1), (0.0, 0.1)]
    {
        let solution = solve_cold(&(&cost * scale), &a, &b, weight);
        assert_feasible(&solution, &a, &b);
        assert!(solution.objective.is_finite() && solution.dual_objective.is_finite());
    }
}

fn masses(n: usize) -> impl Strategy<Value = Array1<f64>> {
    let mass = prop_oneof![1 => Just(0.0), 8 => 1e-3..1.0, 1 => 1e-12..1e-6];
    prop::collection::vec(mass, n)
        .prop_filter("some mass", |masses| masses.iter().sum::<f64>() > 1e-3)
        .prop_map(|masses| {
            let masses = Array1::from(masses);
            let sum = masses.sum();
            masses / sum
        })
}

fn problems() -> impl Strategy<Value = (Array2<f64>, Array1<f64>, Array1<f64>)> {
    (1_usize..25, 1_usize..25).prop_flat_map(|(n, m)| {
        let value = prop_oneof![4 => 0.0..2000.0, 1 => (0_u8..4).prop_map(f64::from)];
        let cost = prop::collection::vec(value, n * m)
            .prop_map(move |values| Array2::from_shape_vec((n, m), values).unwrap());
        (cost, masses(n), masses(m))
    })
}

proptest! {
    #[test]
    fn any_masses_and_costs_are_solved((cost, a, b) in problems(), exponent in -3_i32..4) {
        let solution = solve_cold(&cost, &a, &b, 10.0_f64.powi(exponent));
        assert_optimal(&solution, &a, &b);
    }
}

/// Squared distances between points around a few centres in three dimensions.
fn clustered_cost(sources: usize, targets: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |n: usize| {
        Array2::from_shape_fn((n, 3), |(sample, axis)| {
            ((sample % 9 + 4 * axis) % 7) as f64 / 3.0 + rng.gen_range(-0.4..0.4)
        })
    };
    let (x, y) = (draw(sources), draw(targets));
    Array2::from_shape_fn((sources, targets), |(i, j)| {
        (&x.row(i) - &y.row(j)).mapv(|d| d * d).sum()
    })
}

#[test]
fn plans_of_hundreds_of_samples_are_optimal_where_few_pairs_carry_mass() {
    for (sources, targets) in [(260, 340), (340, 260)] {
        let cost = clustered_cost(sources, targets, 3);
        let (a, b) = (uniform(sources), uniform(targets));
        for weight in [0.1, 0.01, 0.001] {
            assert_optimal(&solve_cold(&cost, &a, &b, weight), &a, &b);
        }
    }
}

#[test]
fn potentials_of_another_cost_lead_to_the_same_plan_of_hundreds_of_samples() {
    let (cost, other) = (clustered_cost(240, 300, 5), clustered_cost(240, 300, 6));
    let (a, b) = (uniform(240), uniform(300));
    for weight in [0.03, 0.003] {
        let cold = solve_cold(&cost, &a, &b, weight);
        let start = solve_cold(&other, &a, &b, weight).potentials;
        // The memory of the other problem says nothing of this one.
        let mut workspace = Workspace::default();
        let mut warm = |cost: &Array2<f64>| {
            let masses = (slice(&a), slice(&b));
            let options = Options::default();
            solve(cost.view(), masses.0, masses.1, weight, Some(&start), &mut workspace, &options)
                .unwrap()
        };
        assert_optimal(&warm(&other), &a, &b);
        let warm = warm(&cost);
        assert_optimal(&warm, &a, &b);
        assert!((warm.objective - cold.objective).abs() <= 1e-9 * cold.objective.abs());
    }
}

#[test]
fn a_solve_on_its_own_has_the_digits_of_one_thread_too() {
    // Enough pairs for several parts also in single precision.
    let (sources, targets) = (700, 800);
    let cost = high_dimensional_cost(sources, targets, 5);
    let (a, b) = (uniform(sources), uniform(targets));
    for weight in [1000.0, 100.0, 20.0] {
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve_cold(&cost, &a, &b, weight))
        };
        let (one, many) = (solve(1), solve(3));
        assert_optimal(&one, &a, &b);
        assert_eq!(one.plan, many.plan);
        assert_eq!((one.objective, one.dual_objective), (many.objective, many.dual_objective));
    }
}

#[test]
fn a_loose_tolerance_is_certified_as_well() {
    let cost = high_dimensional_cost(60, 90, 6);
    let (a, b) = (uniform(60), uniform(90));
    for weight in [300.0, 30.0, 3.0] {
        let tight = solve_cold(&cost, &a, &b, weight);
        for tolerance in [1e-2, 1e-5, 1e-8] {
            let options = Options { tolerance, ..Options::default() };
            let workspace = &mut Workspace::default();
            let loose = solve(cost.view(), slice(&a), slice(&b), weight, None, workspace, &options)
                .unwrap();
            assert_feasible(&loose, &a, &b);
            assert!(loose.marginal_error <= tolerance);
            let rounding = 1e-11 * tight.objective.abs();
            assert!(loose.dual_objective <= tight.objective + rounding);
            assert!(tight.objective <= loose.objective + rounding);
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_digit() {
    // Enough pairs for several parts, in both orientations; the smaller λ keeps a list of pairs.
    for (sources, targets) in [(310, 420), (420, 310)] {
        let cost = high_dimensional_cost(sources, targets, 1);
        let (a, b) = (uniform(sources), uniform(targets));
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (workspace, options) = (&mut Workspace::default(), &Options::default());
                let lambdas = [1000.0, 30.0, 0.1];
                solve_path(cost.view(), slice(&a), slice(&b), &lambdas, workspace, options).unwrap()
            })
        };
        for (one, many) in solve(1).iter().zip(&solve(3)) {
            assert_eq!(one.plan, many.plan);
            assert_eq!((one.objective, one.dual_objective), (many.objective, many.dual_objective));
            assert_eq!(one.iterations, many.iterations);
        }
    }
}
