//! Zero masses, forbidden pairs, and arguments that are refused.

mod common;

use common::{cloud, solve, squared_distances, uniform};
use ndarray::{Array2, array};
use solvers::Error;
use solvers::exact::{ExactOptions, solve_exact};

fn refuse(cost: &Array2<f64>, a: &[f64], b: &[f64]) -> Error {
    solve_exact(cost.view(), a, b, &ExactOptions::default()).unwrap_err()
}

#[test]
fn samples_without_mass_change_nothing_for_the_others() {
    let cost = squared_distances(&cloud(20, 2, 1), &cloud(12, 2, 2));
    let (mut a, mut b) = (vec![1.0 / 17.0; 20], vec![1.0 / 10.0; 12]);
    (a[3], a[8], a[19], b[0], b[7]) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let solution = solve(&cost, &a, &b);
    let kept_rows: Vec<_> = (0..20).filter(|&i| a[i] > 0.0).collect();
    let kept_columns: Vec<_> = (0..12).filter(|&j| b[j] > 0.0).collect();
    let kept = cost.select(ndarray::Axis(0), &kept_rows);
    let kept = kept.select(ndarray::Axis(1), &kept_columns);
    let expected = solve(&kept, &uniform(17), &uniform(10));
    assert!((solution.cost - expected.cost).abs() <= 1e-13);
}

#[test]
fn a_sample_without_mass_may_have_all_its_pairs_forbidden() {
    let infinity = f64::INFINITY;
    let cost = array![[infinity, infinity, infinity], [infinity, 1.0, 2.0]];
    let solution = solve(&cost, &[0.0, 1.0], &[0.0, 0.5, 0.5]);
    assert!((solution.cost - 1.5).abs() <= 1e-15);
}

#[test]
fn forbidden_pairs_are_not_used_when_another_plan_exists() {
    let infinity = f64::INFINITY;
    // Greedy choices run into the forbidden pairs: the only plan is the anti-diagonal.
    let cost = array![[0.0, 0.0, 5.0], [0.0, 7.0, infinity], [9.0, infinity, infinity]];
    let solution = solve(&cost, &uniform(3), &uniform(3));
    assert!((solution.cost - 7.0).abs() <= 1e-14);
}

#[test]
fn long_detours_around_forbidden_pairs_are_found() {
    // Row i reaches columns i and i + 1 only, and the last row column 0 only: one plan is left.
    let n = 400;
    let cost = Array2::from_shape_fn((n, n), |(i, j)| {
        if j == i && i + 1 < n {
            1.0
        } else if j == (i + 1) % n {
            1e6
        } else {
            f64::INFINITY
        }
    });
    let solution = solve(&cost, &uniform(n), &uniform(n));
    assert!((solution.cost - 1e6).abs() <= 1e-6);
}

#[test]
fn blocks_that_may_not_mix_are_solved_apart() {
    let whole = squared_distances(&cloud(60, 2, 3), &cloud(80, 2, 4));
    let mut blocks = whole.clone();
    for ((i, j), c) in blocks.indexed_iter_mut() {
        if (i < 30) != (j < 40) {
            *c = f64::INFINITY;
        }
    }
    let apart = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        let block = whole.slice(ndarray::s![rows, columns]).to_owned();
        solve(&block, &uniform(30), &uniform(40)).cost
    };
    let expected = f64::midpoint(apart(0..30, 0..40), apart(30..60, 40..80));
    let solution = solve(&blocks, &uniform(60), &uniform(80));
    assert!((solution.cost - expected).abs() <= 1e-12);
}

#[test]
fn groups_that_may_not_mix_need_equal_masses_only_up_to_rounding() {
    let groups = |k: usize| k % 7;
    let cost = Array2::from_shape_fn((70, 140), |(i, j)| {
        if groups(i) == groups(j) { ((i * 31 + j * 17) % 97) as f64 } else { f64::INFINITY }
    });
    let weighted = |n: usize| -> Vec<f64> {
        let mass: Vec<f64> = (0..n).map(|k| (1 + groups(k)) as f64 / 3.0).collect();
        let sum: f64 = mass.iter().sum();
        mass.into_iter().map(|m| m / sum).collect()
    };
    let solution = solve(&cost, &weighted(70), &weighted(140));
    assert!((solution.plan.iter()).all(|e| groups(e.source) == groups(e.target)));
}

#[test]
fn mass_that_no_allowed_pair_can_carry_is_an_error_that_says_how_much() {
    let infinity = f64::INFINITY;
    let cost = array![[1.0, 2.0, infinity], [3.0, infinity, infinity]];
    let Error::Infeasible { unmatched } = refuse(&cost, &[0.5, 0.5], &[0.25, 0.25, 0.5]) else {
        panic!("expected an infeasible problem");
    };
    assert!((unmatched - 0.5).abs() <= 1e-15);
    let Error::Infeasible { unmatched } = refuse(&cost, &[0.25, 0.75], &[0.7, 0.3, 0.0]) else {
        panic!("expected an infeasible problem");
    };
    assert!((unmatched - 0.05).abs() <= 1e-15);
    let nothing = Array2::from_elem((2, 2), infinity);
    let error = refuse(&nothing, &uniform(2), &uniform(2));
    assert_eq!(error, Error::Infeasible { unmatched: 1.0 });
}

#[test]
fn tiny_masses_are_sent_too() {
    let cost = array![[0.0, 1.0], [1.0, 0.0], [5.0, 6.0]];
    let solution = solve(&cost, &[0.5, 0.5 - 1e-14, 1e-14], &[0.5, 0.5]);
    assert!(solution.plan.iter().any(|e| e.source == 2 && (e.mass - 1e-14).abs() < 1e-17));
}

#[test]
fn masses_that_sum_to_one_only_roughly_are_scaled() {
    let cost = array![[0.0, 1.0], [1.0, 0.0]];
    let solution = solve(&cost, &[0.5, 0.5 + 1e-7], &[0.5, 0.5]);
    assert!(solution.cost > 0.0 && solution.cost < 1e-7);
}

#[test]
fn wrong_arguments_are_named() {
    let cost = array![[0.0, 1.0], [1.0, 0.0]];
    let half = [0.5, 0.5];
    let mut bad = cost.clone();
    bad[[1, 0]] = f64::NAN;
    let Error::Cost { row, column, .. } = refuse(&bad, &half, &half) else {
        panic!("NaN was accepted");
    };
    assert_eq!((row, column), (1, 0));
    bad[[1, 0]] = f64::NEG_INFINITY;
    assert!(refuse(&bad, &half, &half).to_string().starts_with("cost is -inf at row 1, column 0"));
    assert_eq!(
        refuse(&cost, &half, &[1.5, -0.5]),
        Error::Mass { name: "target_mass", index: 1, value: -0.5 }
    );
    assert!(matches!(
        refuse(&cost, &[f64::NAN, 1.0], &half),
        Error::Mass { name: "source_mass", index: 0, .. }
    ));
    assert_eq!(
        refuse(&cost, &[0.5, 0.25], &half),
        Error::MassSum { name: "source_mass", sum: 0.75 }
    );
    assert_eq!(
        refuse(&cost, &half, &[1.0]),
        Error::Length { name: "target_mass", found: 1, other: "the columns of cost", expected: 2 }
    );
    let empty = Array2::zeros((0, 2));
    assert_eq!(refuse(&empty, &[], &half), Error::Empty { rows: 0, columns: 2 });
}
