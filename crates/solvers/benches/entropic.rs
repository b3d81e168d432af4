//! Time of one λ and of a whole grid on synthetic problems of the sizes that the paper has.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solvers::entropic::{Options, Workspace, solve, solve_path};
use solvers::marginals::uniform_mass;

/// Squared distances between samples on a noisy surface, so that plans get sparse as in real data.
fn cost(sources: usize, targets: usize, scale: f64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut draw = |n: usize| Array2::from_shape_fn((n, 20), |_| rng.gen_range(-1.0..1.0));
    let (x, y) = (draw(sources), draw(targets));
    Array2::from_shape_fn((sources, targets), |(i, j)| {
        scale * (&x.row(i) - &y.row(j)).mapv(|d: f64| d * d).sum()
    })
}

fn one_weight(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("entropic/solve");
    group.sample_size(10);
    for (sources, targets, scale) in [(200, 479, 100.0), (200, 1000, 0.05), (1360, 814, 0.03)] {
        let cost = cost(sources, targets, scale);
        let (a, b) = (uniform_mass(sources), uniform_mass(targets));
        for share in [1e-1, 1e-2, 1e-3] {
            let weight = share * cost.mean().unwrap_or(1.0);
            let name = format!("{sources}x{targets}");
            group.bench_function(BenchmarkId::new(name, share), |bencher| {
                let mut workspace = Workspace::default();
                let options = Options::default();
                bencher.iter(|| solve(cost.view(), &a, &b, weight, None, &mut workspace, &options));
            });
        }
    }
    group.finish();
}

fn whole_grid(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("entropic/solve_path");
    group.sample_size(10);
    let weights: Vec<f64> = (-3..=3).map(|exponent| 10.0_f64.powi(exponent)).collect();
    for (sources, targets) in [(80, 147), (200, 479)] {
        let cost = cost(sources, targets, 100.0);
        let (a, b) = (uniform_mass(sources), uniform_mass(targets));
        group.bench_function(
            BenchmarkId::from_parameter(format!("{sources}x{targets}")),
            |bencher| {
                let mut workspace = Workspace::default();
                let options = Options::default();
                bencher
                    .iter(|| solve_path(cost.view(), &a, &b, &weights, &mut workspace, &options));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, one_weight, whole_grid);
criterion_main!(benches);
