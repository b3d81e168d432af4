//! Exact transport between synthetic clouds: uniform assignments, unequal sides, and iid costs.
#![allow(missing_docs, reason = "of the functions that criterion_group! makes")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solvers::exact::{ExactOptions, solve_exact};

fn cloud_costs(sources: usize, targets: usize, dimension: usize) -> Array2<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut cloud =
        |samples| Array2::from_shape_fn((samples, dimension), |_| random.gen_range(-1.0..1.0_f64));
    let (sources, targets) = (cloud(sources), cloud(targets));
    Array2::from_shape_fn((sources.nrows(), targets.nrows()), |(i, j)| {
        (&sources.row(i) - &targets.row(j)).mapv(|d| d * d).sum()
    })
}

fn iid_costs(sources: usize, targets: usize) -> Array2<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    Array2::from_shape_fn((sources, targets), |_| random.r#gen())
}

fn exact(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exact");
    group.sample_size(10);
    for (sources, targets) in [(200, 479), (1360, 814), (1360, 1666), (2000, 2000)] {
        let problems = [
            ("plane", cloud_costs(sources, targets, 2)),
            ("ten dimensions", cloud_costs(sources, targets, 10)),
            ("iid", iid_costs(sources, targets)),
        ];
        let a = vec![1.0 / sources as f64; sources];
        let b = vec![1.0 / targets as f64; targets];
        for (name, cost) in problems {
            let id = BenchmarkId::new(name, format!("{sources}x{targets}"));
            group.bench_with_input(id, &cost, |bencher, cost| {
                bencher.iter(|| solve_exact(cost.view(), &a, &b, &ExactOptions::default()));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, exact);
criterion_main!(benches);
