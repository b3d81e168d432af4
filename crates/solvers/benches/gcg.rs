//! The regularized solvers on a problem of the size of one office trial: 200 × 479 samples, 800 features.
#![allow(missing_docs, reason = "of the functions that criterion_group! makes")]

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solvers::Regularizer;
use solvers::cost::{Metric, cost_matrix};
use solvers::entropic::Workspace;
use solvers::gcg::{GcgOptions, GcgProblem, solve_gcg};
use solvers::marginals::uniform_mass;
use solvers::regularizers::{GroupLasso, Laplacian, LpL1};

const CLASSES: usize = 10;

/// Standardized samples around ten centres, the target's moved a little.
fn samples(count: usize, shift: f64, random: &mut ChaCha8Rng) -> Array2<f64> {
    let mut scatter = |spread: f64| spread * random.gen_range(-1.7..1.7);
    Array2::from_shape_fn((count, 800), |(row, column)| {
        let centre = if column % CLASSES == row % CLASSES { 1.0 } else { 0.0 };
        scatter(0.95) + centre + shift
    })
}

fn one_grid_point(criterion: &mut Criterion) {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let (source, target) = (samples(200, 0.0, random), samples(479, 0.1, random));
    let labels: Vec<usize> = (0..200).map(|row| row % CLASSES).collect();
    let (a, b) = (uniform_mass(200), uniform_mass(479));
    let cost = cost_matrix(source.view(), target.view(), Metric::SquaredEuclidean).unwrap();
    let samples = (source.view(), target.view());
    let laplacian = Laplacian::of_nearest_neighbours(samples, &labels, (&a, &b), 8, 0.5).unwrap();
    let (group_lasso, lp_l1) = (GroupLasso::new(&labels), LpL1::new(&labels));
    let cases: [(&str, &dyn Regularizer, f64, f64); 5] = [
        ("group-lasso/10/100", &group_lasso, 10.0, 100.0),
        ("group-lasso/10/1000", &group_lasso, 10.0, 1000.0),
        ("lp-l1/10/100", &lp_l1, 10.0, 100.0),
        ("laplacian/100/10", &laplacian, 100.0, 10.0),
        ("laplacian/10/100", &laplacian, 10.0, 100.0),
    ];
    let mut group = criterion.benchmark_group("gcg");
    group.sample_size(10);
    for (name, regularizer, entropy_weight, regularization_weight) in cases {
        let problem = GcgProblem {
            cost: cost.view(),
            source_mass: &a,
            target_mass: &b,
            entropy_weight,
            regularizer,
            regularization_weight,
        };
        let options = GcgOptions { relative_gap: 1e-5, ..GcgOptions::default() };
        let mut workspace = Workspace::default();
        group.bench_function(name, |bencher| {
            bencher.iter(|| solve_gcg(&problem, None, &mut workspace, &options));
        });
    }
    group.finish();
}

criterion_group!(benches, one_grid_point);
criterion_main!(benches);
