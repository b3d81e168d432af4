//! The group-lasso solver on problems of the sizes of one office and one faces trial: a grid point, and the path over
//! the whole grid of λ.
#![allow(missing_docs, reason = "of the functions that criterion_group! makes")]

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solvers::cost::{Metric, cost_matrix};
use solvers::group_lasso::{
    GroupLassoOptions, GroupLassoProblem, GroupLassoWorkspace, solve_group_lasso,
    solve_group_lasso_path,
};
use solvers::marginals::uniform_mass;

const GRID: [f64; 7] = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3];

/// Samples around one centre a class, the target's moved a little.
fn samples(count: usize, classes: usize, shift: f64, scale: f64) -> Array2<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(count as u64);
    Array2::from_shape_fn((count, 800), |(row, column)| {
        let centre = if column % classes == row % classes { 1.0 } else { 0.0 };
        scale * (0.95 * random.gen_range(-1.7..1.7) + centre + shift)
    })
}

fn trials(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("group_lasso");
    group.sample_size(10);
    for (name, sources, targets, classes, scale, (lambda, eta)) in [
        ("200x479", 200, 479, 10, 1.0, (10.0, 100.0)),
        ("1360x814", 1360, 814, 68, 0.015, (0.01, 1.0)),
    ] {
        let source = samples(sources, classes, 0.0, scale);
        let target = samples(targets, classes, 0.1, scale);
        let cost = cost_matrix(source.view(), target.view(), Metric::SquaredEuclidean).unwrap();
        let labels: Vec<usize> = (0..sources).map(|row| row % classes).collect();
        let problem = GroupLassoProblem {
            cost: cost.view(),
            source_mass: &uniform_mass(sources),
            target_mass: &uniform_mass(targets),
            source_labels: &labels,
            regularization_weight: eta,
        };
        let options = GroupLassoOptions { relative_gap: 1e-5, ..GroupLassoOptions::default() };
        let mut workspace = GroupLassoWorkspace::default();
        group.bench_function(format!("{name}/{lambda}/{eta}"), |bencher| {
            bencher.iter(|| solve_group_lasso(&problem, lambda, None, &mut workspace, &options));
        });
        group.bench_function(format!("{name}/path/{eta}"), |bencher| {
            bencher.iter(|| solve_group_lasso_path(&problem, &GRID, &[], &mut workspace, &options));
        });
    }
    group.finish();
}

criterion_group!(benches, trials);
criterion_main!(benches);
