//! The subspace methods on synthetic domains of the paper's shapes, each over its grid.
#![allow(missing_docs, reason = "of the functions that criterion_group! makes")]

use baselines::{
    CoralOptions, Gfk, Jda, JdaOptions, MmdOptions, Pca, PcaOptions, SubspaceAlignment, Tca, coral,
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndarray::{Array1, Array2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DIMENSIONS: [usize; 7] = [10, 20, 30, 40, 50, 60, 70];

/// Two domains, and the source's labels.
struct Task {
    name: &'static str,
    source: Array2<f64>,
    labels: Vec<usize>,
    target: Array2<f64>,
}

/// Classes around random centres, with feature variances that decay as those of images do.
fn task(name: &'static str, [sources, targets, width, classes]: [usize; 4]) -> Task {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut uniform =
        |rows| Array2::from_shape_fn((rows, width), |_| random.gen_range(-1.0..1.0_f64));
    let centres = uniform(classes);
    let mut domain = |samples: usize, shift: f64| {
        let scales = Array1::from_shape_fn(width, |place| (1.0 + place as f64).powf(-0.7));
        let mut domain = uniform(samples) + shift;
        for (place, mut sample) in domain.rows_mut().into_iter().enumerate() {
            sample += &centres.row(place % classes);
        }
        domain * scales
    };
    let (source, target) = (domain(sources, 0.0), domain(targets, 0.3));
    Task { name, source, labels: (0..sources).map(|place| place % classes).collect(), target }
}

fn subspaces(criterion: &mut Criterion) {
    let objects = task("objects", [200, 479, 800, 10]);
    let digits = task("digits", [200, 1000, 256, 10]);
    let faces = task("faces", [1360, 1666, 1024, 68]);
    let mut group = criterion.benchmark_group("subspaces");
    group.sample_size(10);
    for task in [&objects, &digits, &faces] {
        let (source, target) = (task.source.view(), task.target.view());
        group.bench_function(BenchmarkId::new("pca, 7 k", task.name), |bencher| {
            bencher.iter(|| {
                let pca = Pca::fit(source, target, 70, PcaOptions::default())?;
                DIMENSIONS.iter().map(|&k| pca.embed(k)).collect::<baselines::Result<Vec<_>>>()
            });
        });
        group.bench_function(BenchmarkId::new("gfk, 7 k", task.name), |bencher| {
            bencher.iter(|| {
                let gfk = Gfk::fit(source, target, 70)?;
                DIMENSIONS.iter().map(|&k| gfk.embed(k)).collect::<baselines::Result<Vec<_>>>()
            });
        });
        group.bench_function(BenchmarkId::new("alignment, 7 k", task.name), |bencher| {
            bencher.iter(|| {
                let alignment = SubspaceAlignment::fit(source, target, 70)?;
                DIMENSIONS
                    .iter()
                    .map(|&k| alignment.embed(k))
                    .collect::<baselines::Result<Vec<_>>>()
            });
        });
        group.bench_function(BenchmarkId::new("coral", task.name), |bencher| {
            bencher.iter(|| coral(source, target, CoralOptions::default()));
        });
        group.bench_function(BenchmarkId::new("tca, one λ, 7 k", task.name), |bencher| {
            bencher.iter(|| {
                let tca = Tca::new(source, target, MmdOptions::default())?;
                DIMENSIONS.iter().map(|&k| tca.embed(1.0, k)).collect::<baselines::Result<Vec<_>>>()
            });
        });
        group.bench_function(BenchmarkId::new("jda, one λ, 7 k", task.name), |bencher| {
            bencher.iter(|| {
                let jda = Jda::new(source, &task.labels, target, JdaOptions::default())?;
                DIMENSIONS.iter().map(|&k| jda.adapt(1.0, k)).collect::<baselines::Result<Vec<_>>>()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, subspaces);
criterion_main!(benches);
