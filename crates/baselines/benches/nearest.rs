//! Nearest neighbours beside those of linfa-nn's trees, which are built anew for each set of queries as here.
#![allow(missing_docs, reason = "of the functions that criterion_group! makes")]

use baselines::nearest_neighbours;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use datasets::{DrawKey, TwoMoons};
use linfa_nn::distance::L2Dist;
use linfa_nn::{BallTree, KdTree, NearestNeighbour};
use ndarray::{Array2, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn by_tree(
    tree: &impl NearestNeighbour,
    training: &Array2<f64>,
    queries: ArrayView2<'_, f64>,
    count: usize,
) -> Vec<usize> {
    let index = tree.from_batch(training, L2Dist).expect("an index");
    queries
        .rows()
        .into_iter()
        .flat_map(|query| index.k_nearest(query, count).expect("neighbours"))
        .map(|(_, place)| place)
        .collect()
}

/// Training samples and queries.
fn tasks() -> Vec<(String, Array2<f64>, Array2<f64>)> {
    let key = DrawKey { seed: 1, source: "0", target: "30", trial: 0 };
    let moons = TwoMoons { angle: 30.0, ..TwoMoons::default() }.generate(key).expect("moons");
    let (training, queries) = (moons.source.features(), moons.test.features());
    let name = format!("two moons, {} by {}", training.nrows(), queries.nrows());
    let mut tasks = vec![(name, training.to_owned(), queries.to_owned())];
    let mut random = ChaCha8Rng::seed_from_u64(0);
    for (samples, queries, width) in
        [(10_000, 10_000, 2), (1000, 1000, 10), (1000, 1000, 256), (500, 500, 800)]
    {
        let mut cloud =
            |rows| Array2::from_shape_fn((rows, width), |_| random.gen_range(-1.0..1.0));
        let name = format!("{samples} by {queries}, {width} features");
        tasks.push((name, cloud(samples), cloud(queries)));
    }
    tasks
}

fn nearest(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("1NN");
    group.sample_size(10);
    for (name, training, queries) in &tasks() {
        group.bench_function(BenchmarkId::new("ours", name), |bencher| {
            bencher.iter(|| nearest_neighbours(training.view(), queries.view()));
        });
        group.bench_function(BenchmarkId::new("linfa-nn's k-d tree", name), |bencher| {
            bencher.iter(|| by_tree(&KdTree, training, queries.view(), 1));
        });
        group.bench_function(BenchmarkId::new("linfa-nn's ball tree", name), |bencher| {
            bencher.iter(|| by_tree(&BallTree, training, queries.view(), 1));
        });
    }
    group.finish();
}

criterion_group!(benches, nearest);
criterion_main!(benches);
