//! What the suites of exact transport share: clouds, and the check of a solution's proof.
#![allow(dead_code, reason = "each suite uses its part")]

use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solvers::Stop;
use solvers::exact::{ExactOptions, ExactSolution, solve_exact};

pub fn uniform(n: usize) -> Vec<f64> {
    vec![1.0 / n as f64; n]
}

pub fn cloud(samples: usize, dimension: usize, seed: u64) -> Array2<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_fn((samples, dimension), |_| {
        (0..4).map(|_| random.gen_range(-1.0..1.0)).sum()
    })
}

pub fn squared_distances(sources: &Array2<f64>, targets: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((sources.nrows(), targets.nrows()), |(i, j)| {
        (&sources.row(i) - &targets.row(j)).mapv(|d| d * d).sum()
    })
}

/// Solves, and checks the proof on the way.
pub fn solve(cost: &Array2<f64>, a: &[f64], b: &[f64]) -> ExactSolution {
    let solution = solve_exact(cost.view(), a, b, &ExactOptions::default()).unwrap();
    assert_eq!(solution.stop, Stop::Converged);
    assert_certified(cost, a, b, &solution);
    solution
}

/// Marginals, sign, sparsity, dual feasibility and duality gap: together they prove optimality.
pub fn assert_certified(cost: &Array2<f64>, a: &[f64], b: &[f64], solution: &ExactSolution) {
    let scale = (cost.iter().filter(|c| c.is_finite())).fold(0.0_f64, |m, c| m.max(c.abs()));
    assert!(solution.plan.len() < a.len() + b.len());
    let (mut row_sums, mut column_sums) = (vec![0.0; a.len()], vec![0.0; b.len()]);
    for entry in &solution.plan {
        assert!(entry.mass > 0.0);
        row_sums[entry.source] += entry.mass;
        column_sums[entry.target] += entry.mass;
    }
    for (given, sums) in [(a, &row_sums), (b, &column_sums)] {
        let total: f64 = given.iter().sum();
        for (mass, sum) in given.iter().zip(sums) {
            assert!((mass / total - sum).abs() <= 1e-13, "marginal {mass} became {sum}");
        }
    }
    for ((i, j), c) in cost.indexed_iter() {
        let sum = solution.source_potentials[i] + solution.target_potentials[j];
        assert!(sum.is_finite() && sum <= c + 1e-12 * scale, "pair {i}, {j}: {sum} > {c}");
    }
    let gap = solution.duality_gap().abs();
    assert!(gap <= 1e-11 * scale, "gap {gap} at cost {}", solution.cost);
    assert!(gap <= 1e-9 * solution.cost.abs() + 1e-14 * scale);
}

/// A plan with positive masses that sum to one, and marginals of no particular form.
pub fn random_plan(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let plan = Array2::from_shape_fn((rows, columns), |_| random.gen_range(0.1..1.0));
    &plan / plan.sum()
}
