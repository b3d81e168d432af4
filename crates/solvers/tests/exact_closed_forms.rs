//! Exact transport against answers that are known without a solver.

mod common;

use common::{assert_certified, cloud, solve, squared_distances, uniform};
use ndarray::{Array2, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solvers::exact::{ExactOptions, solve_exact};

#[test]
fn sorted_samples_are_matched_in_order_on_the_line() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let draw = |random: &mut ChaCha8Rng| (0..300).map(|_| random.r#gen()).collect::<Vec<f64>>();
    let (mut sources, mut targets) = (draw(&mut random), draw(&mut random));
    let cost = Array2::from_shape_fn((300, 300), |(i, j)| (sources[i] - targets[j]).powi(2));
    let solution = solve(&cost, &uniform(300), &uniform(300));
    sources.sort_by(f64::total_cmp);
    targets.sort_by(f64::total_cmp);
    let expected =
        (sources.iter().zip(&targets)).map(|(s, t)| (s - t).powi(2) / 300.0).sum::<f64>();
    assert!((solution.cost - expected).abs() <= 1e-13);
}

#[test]
fn distance_on_the_line_is_the_area_between_the_distribution_functions() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let masses = |random: &mut ChaCha8Rng, n: usize| -> Vec<f64> {
        let mass: Vec<f64> = (0..n).map(|_| random.r#gen::<f64>()).collect();
        let sum: f64 = mass.iter().sum();
        mass.into_iter().map(|m| m / sum).collect()
    };
    let (a, b) = (masses(&mut random, 90), masses(&mut random, 140));
    let xs: Vec<f64> = (0..90).map(|_| random.r#gen()).collect();
    let ys: Vec<f64> = (0..140).map(|_| random.r#gen()).collect();
    let cost = Array2::from_shape_fn((90, 140), |(i, j)| (xs[i] - ys[j]).abs());
    let mut jumps: Vec<(f64, f64)> = (xs.iter().zip(&a).map(|(&x, &m)| (x, m)))
        .chain(ys.iter().zip(&b).map(|(&y, &m)| (y, -m)))
        .collect();
    jumps.sort_by(|p, q| p.0.total_cmp(&q.0));
    let (mut area, mut height) = (0.0_f64, 0.0_f64);
    for pair in jumps.windows(2) {
        height += pair[0].1;
        area += height.abs() * (pair[1].0 - pair[0].0);
    }
    let solution = solve(&cost, &a, &b);
    assert!((solution.cost - area).abs() <= 1e-13);
}

#[test]
fn uniform_squares_are_solved_by_the_best_permutation() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for n in 1..=6 {
        for levels in [2_u32, 5, 1000] {
            for _ in 0..20 {
                let cost =
                    Array2::from_shape_fn((n, n), |_| f64::from(random.gen_range(0..levels)));
                let mut columns: Vec<usize> = (0..n).collect();
                let best = cheapest_permutation(&cost, &mut columns, 0);
                let solution = solve(&cost, &uniform(n), &uniform(n));
                assert!((solution.cost - best / n as f64).abs() <= 1e-12 * best.max(1.0));
                assert_eq!(solution.plan.len(), n);
            }
        }
    }
}

fn cheapest_permutation(cost: &Array2<f64>, columns: &mut [usize], row: usize) -> f64 {
    if row == columns.len() {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    for k in row..columns.len() {
        columns.swap(row, k);
        let first = cost[[row, columns[row]]];
        best = best.min(first + cheapest_permutation(cost, columns, row + 1));
        columns.swap(row, k);
    }
    best
}

#[test]
fn a_single_sample_exchanges_with_everybody() {
    let cost = array![[3.0, 1.0, 2.0]];
    let mass = [0.5, 0.3, 0.2];
    let row = solve(&cost, &[1.0], &mass);
    assert!((row.cost - 2.2).abs() <= 1e-15);
    let transposed = cost.reversed_axes();
    assert!((solve(&transposed, &mass, &[1.0]).cost - 2.2).abs() <= 1e-15);
    assert_eq!(solve(&array![[7.0]], &[1.0], &[1.0]).plan.len(), 1);
}

#[test]
fn equal_costs_make_every_plan_optimal() {
    for value in [0.0, 1.0, -2.5] {
        let cost = Array2::from_elem((40, 70), value);
        let solution = solve(&cost, &uniform(40), &uniform(70));
        assert!((solution.cost - value).abs() <= 1e-14);
    }
}

#[test]
fn a_cloud_reaches_itself_for_free_even_with_duplicates() {
    let mut points = cloud(200, 3, 4);
    for k in 100..200 {
        let copy = points.row(k - 100).to_owned();
        points.row_mut(k).assign(&copy);
    }
    let cost = squared_distances(&points, &points);
    assert!(solve(&cost, &uniform(200), &uniform(200)).cost.abs() <= 1e-13);
}

#[test]
fn a_translation_costs_its_squared_length() {
    let sources = cloud(150, 2, 5);
    let targets = &sources + &array![[3.0, -4.0]];
    let solution = solve(&squared_distances(&sources, &targets), &uniform(150), &uniform(150));
    assert!((solution.cost - 25.0).abs() <= 1e-11);
    assert!(solution.plan.iter().all(|entry| entry.source == entry.target));
}

#[test]
fn tied_costs_of_a_degenerate_assignment_do_not_cycle() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    for levels in [2, 3, 10] {
        let cost = Array2::from_shape_fn((200, 200), |_| f64::from(random.gen_range(0..levels)));
        let solution = solve(&cost, &uniform(200), &uniform(200));
        assert_certified(&cost, &uniform(200), &uniform(200), &solution);
        assert_eq!(solution.plan.len(), 200);
    }
}

#[test]
fn uniform_masses_with_a_common_divisor_leave_no_residues() {
    let cost = squared_distances(&cloud(136, 5, 7), &cloud(82, 5, 8));
    let solution = solve(&cost, &uniform(136), &uniform(82));
    let unit = 1.0 / (136.0 * 41.0);
    assert!(solution.plan.iter().all(|entry| entry.mass > 0.99 * unit));
}

#[test]
fn a_huge_cost_that_no_plan_uses_hides_nothing() {
    let mut cost = squared_distances(&cloud(60, 2, 9), &cloud(60, 2, 10));
    let expected = solve(&cost, &uniform(60), &uniform(60));
    let used = expected.plan[0];
    for column in (0..60).filter(|&column| column != used.target) {
        cost[[used.source, column]] = 1e20;
    }
    let options = ExactOptions::default();
    let solution = solve_exact(cost.view(), &uniform(60), &uniform(60), &options).unwrap();
    assert!((solution.cost - expected.cost).abs() <= 1e-12);
}
