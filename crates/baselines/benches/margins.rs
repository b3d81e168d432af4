//! The max-margin methods at the sizes of the paper: two moons, and MMDT on data of Office-Caltech's shape; and one
//! machine beside that of linfa-svm.
#![allow(missing_docs, reason = "of the functions that criterion_group! makes")]

use baselines::{
    DasvmOptions, Kernel, KernelPairs, LabelledSamples, MmdtOptions, PbdaOptions, Svm, SvmGrid,
    classify_by_svm, train_dasvm, train_mmdt, train_pbda,
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use datasets::{DrawKey, TwoMoons};
use linfa::Dataset;
use linfa::traits::Fit as _;
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn two_moons(criterion: &mut Criterion) {
    let key = DrawKey { seed: 1, source: "0", target: "30", trial: 0 };
    let moons = TwoMoons { angle: 30.0, ..TwoMoons::default() }.generate(key).expect("moons");
    let (source, labels) = (moons.source.features(), moons.source.labels());
    let mut group = criterion.benchmark_group("two moons");
    group.sample_size(10);
    group.bench_function("SVM, 5x5 grid by 5 folds, 1000 queries", |bencher| {
        let grid = SvmGrid::default();
        bencher.iter(|| classify_by_svm(source, labels, moons.test.features(), &grid));
    });
    let both = concatenate(Axis(0), &[source, moons.target.features()]).expect("one width");
    let labels: Vec<Option<usize>> = labels
        .iter()
        .map(|&label| Some(label))
        .chain(moons.target.labels().iter().map(|_| None))
        .collect();
    let gram = KernelPairs::within(both.view())
        .and_then(|pairs| pairs.matrix(Kernel::Gaussian { gamma: 1.0 }))
        .expect("a kernel");
    group.bench_function("DASVM, one grid point", |bencher| {
        let options = DasvmOptions::new(10.0, 300);
        bencher.iter(|| train_dasvm(gram.view(), &labels, &options));
    });
    group.bench_function("PBDA, one grid point", |bencher| {
        let options = PbdaOptions::new(100.0, 100.0);
        bencher.iter(|| train_pbda(gram.view(), &labels, &options));
    });
    group.finish();
}

/// One Gaussian machine with C = 1 from the samples on, the kernel matrix included on either side.
fn one_machine(criterion: &mut Criterion) {
    let key = DrawKey { seed: 1, source: "0", target: "30", trial: 0 };
    let moons = TwoMoons::default().generate(key).expect("moons");
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let wide_labels: Vec<usize> = (0..400).map(|row| row % 2).collect();
    let wide = Array2::from_shape_fn((400, 100), |(row, _)| {
        0.2 * (row % 2) as f64 + random.gen_range(-1.0..1.0)
    });
    let tasks: [(&str, ArrayView2<'_, f64>, &[usize], f64); 2] = [
        ("300 moons", moons.source.features(), moons.source.labels(), 1.0),
        ("400 samples of 100 features", wide.view(), &wide_labels, 0.02),
    ];
    let mut group = criterion.benchmark_group("one SVM");
    group.sample_size(10);
    for (name, samples, labels, gamma) in tasks {
        group.bench_function(BenchmarkId::new("ours", name), |bencher| {
            bencher.iter(|| {
                let gram = KernelPairs::within(samples)?.matrix(Kernel::Gaussian { gamma })?;
                Svm::train(gram.view(), labels, 1.0)
            });
        });
        let targets: Array1<bool> = labels.iter().map(|&label| label == 1).collect();
        let data = Dataset::new(samples.to_owned(), targets);
        let params = linfa_svm::Svm::<f64, bool>::params()
            .pos_neg_weights(1.0, 1.0)
            .gaussian_kernel(gamma.recip())
            .eps(1e-3);
        group.bench_function(BenchmarkId::new("linfa-svm", name), |bencher| {
            bencher.iter(|| params.fit(&data).expect("a machine"));
        });
    }
    group.finish();
}

fn mmdt(criterion: &mut Criterion) {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut group = criterion.benchmark_group("MMDT");
    group.sample_size(10);
    for width in [20, 800] {
        let mut cloud = |samples: usize, shift: f64| {
            Array2::from_shape_fn((samples, width), |(row, column)| {
                let is_own = column % 10 == row % 10;
                f64::from(u8::from(is_own)) + shift + random.gen_range(-2.0..2.0)
            })
        };
        let (source, target) = (cloud(200, 0.0), cloud(30, 0.5));
        let labels: Vec<usize> = (0..200).map(|row| row % 10).collect();
        group.bench_function(format!("200 + 30 samples of {width} features"), |bencher| {
            let source = LabelledSamples { features: source.view(), labels: &labels };
            let target = LabelledSamples { features: target.view(), labels: &labels[..30] };
            bencher.iter(|| train_mmdt(source, target, &MmdtOptions::default()));
        });
    }
    group.finish();
}

criterion_group!(benches, two_moons, one_machine, mmdt);
criterion_main!(benches);
