//! TSL on problems of the size of one trial, along all weights of the grid: objects (200 + 479 samples) and
//! faces (1360 + 815 samples).
#![allow(missing_docs, reason = "of the functions that criterion_group! makes")]

use baselines::{Tsl, TslOptions};
use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WEIGHTS: [f64; 7] = [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0];

/// Samples around one centre a class, the target's moved a little.
fn samples(count: usize, classes: usize, shift: f64, random: &mut ChaCha8Rng) -> Array2<f64> {
    Array2::from_shape_fn((count, 300), |(row, column)| {
        let centre = if column % classes == row % classes { 1.0 } else { 0.0 };
        random.gen_range(-1.0..1.0) + centre + shift * (column as f64 / 100.0).sin()
    })
}

fn all_weights(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tsl");
    group.sample_size(10);
    for (name, classes, sizes, k) in
        [("objects/30", 10, (200, 479), 30), ("faces/70", 68, (1360, 815), 70)]
    {
        let random = &mut ChaCha8Rng::seed_from_u64(1);
        let source = samples(sizes.0, classes, 0.0, random);
        let target = samples(sizes.1, classes, 0.3, random);
        let labels: Vec<usize> = (0..sizes.0).map(|row| row % classes).collect();
        let tsl = Tsl::new(source.view(), &labels, target.view(), TslOptions::default()).unwrap();
        group.bench_function(name, |bencher| bencher.iter(|| tsl.fit_path(&WEIGHTS, k).unwrap()));
    }
}

criterion_group!(benches, all_weights);
criterion_main!(benches);
