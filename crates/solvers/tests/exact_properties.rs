//! What exact transport keeps when the problem is changed, on random problems.

mod common;

use common::{assert_certified, cloud, solve, squared_distances, uniform};
use ndarray::{Array2, ShapeBuilder};
use proptest::prelude::*;
use solvers::Stop;
use solvers::exact::{ExactOptions, solve_exact};

fn distribution(n: usize) -> impl Strategy<Value = Vec<f64>> {
    // Tenths make ties between partial sums, and zero masses, likely.
    let mass = prop_oneof![Just(0.0), (1_u8..10).prop_map(|k| f64::from(k) / 10.0), 1e-12..1.0_f64];
    prop::collection::vec(mass, n).prop_map(|mut mass| {
        mass[0] += 0.1;
        let sum: f64 = mass.iter().sum();
        mass.into_iter().map(|m| m / sum).collect()
    })
}

fn problem() -> impl Strategy<Value = (Array2<f64>, Vec<f64>, Vec<f64>)> {
    (1_usize..25, 1_usize..25).prop_flat_map(|(n, m)| {
        let entry = prop_oneof![(0_u8..5).prop_map(f64::from), -10.0..10.0_f64];
        let cost = prop::collection::vec(entry, n * m)
            .prop_map(move |v| Array2::from_shape_vec((n, m), v).unwrap());
        (cost, distribution(n), distribution(m))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_plan_comes_with_its_proof((cost, a, b) in problem()) {
        solve(&cost, &a, &b);
    }

    #[test]
    fn swapping_the_sides_swaps_the_plan((cost, a, b) in problem()) {
        let forward = solve(&cost, &a, &b);
        let backward = solve(&cost.t().to_owned(), &b, &a);
        prop_assert!((forward.cost - backward.cost).abs() <= 1e-11);
    }

    #[test]
    fn forbidding_pairs_never_makes_transport_cheaper((cost, a, b) in problem(), stride in 2_usize..7) {
        let free = solve(&cost, &a, &b);
        let mut forbidden = cost.clone();
        forbidden.iter_mut().step_by(stride).for_each(|c| *c = f64::INFINITY);
        match solve_exact(forbidden.view(), &a, &b, &ExactOptions::default()) {
            Ok(solution) => {
                assert_certified(&forbidden, &a, &b, &solution);
                prop_assert!(solution.cost >= free.cost - 1e-11);
            }
            Err(error) => prop_assert!(error.to_string().contains("allow more pairs")),
        }
    }
}

#[test]
fn reordering_samples_reorders_the_plan() {
    let cost = squared_distances(&cloud(30, 2, 1), &cloud(45, 2, 2));
    let solution = solve(&cost, &uniform(30), &uniform(45));
    let reordered = Array2::from_shape_fn((30, 45), |(i, j)| cost[[i * 7 % 30, j * 11 % 45]]);
    let other = solve(&reordered, &uniform(30), &uniform(45));
    let mut expected: Vec<_> = solution.plan.iter().map(|e| (e.source, e.target)).collect();
    let mut found: Vec<_> =
        (other.plan.iter()).map(|e| (e.source * 7 % 30, e.target * 11 % 45)).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(expected, found);
}

#[test]
fn scaling_and_shifting_costs_keeps_the_plan() {
    let cost = squared_distances(&cloud(40, 2, 3), &cloud(60, 2, 4));
    let plan = solve(&cost, &uniform(40), &uniform(60)).plan;
    for (factor, shift) in [(1e-9, 0.0), (1e12, 0.0), (8.0, 100.0), (0.5, -30.0)] {
        let other = solve(&(&cost * factor + shift), &uniform(40), &uniform(60));
        assert_eq!(plan, other.plan);
    }
}

#[test]
fn memory_order_of_the_costs_does_not_matter() {
    let cost = squared_distances(&cloud(50, 2, 5), &cloud(35, 2, 6));
    let mut columns_first = Array2::zeros((50, 35).f());
    columns_first.assign(&cost);
    assert_eq!(
        solve(&cost, &uniform(50), &uniform(35)),
        solve(&columns_first, &uniform(50), &uniform(35))
    );
}

#[test]
fn a_solve_that_is_cut_short_is_feasible_and_bounds_its_error() {
    let cost = squared_distances(&cloud(120, 2, 7), &cloud(90, 2, 8));
    let optimum = solve(&cost, &uniform(120), &uniform(90)).cost;
    let options = ExactOptions { pivot_limit: Some(5) };
    let short = solve_exact(cost.view(), &uniform(120), &uniform(90), &options).unwrap();
    assert_eq!((short.stop, short.pivots), (Stop::IterationLimit, 5));
    assert!(short.dual_value <= optimum && optimum <= short.cost);
}
