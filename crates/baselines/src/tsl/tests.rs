//! Facts about TSL, its criteria and its divergence.

use std::f64::consts::PI;

use ndarray::{Array2, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::nearest::classify_by_nearest;
use crate::symmetric_eigen::symmetric_eigen;

const KERNELS: [DivergenceKernel; 2] = [DivergenceKernel::Density, DivergenceKernel::UnitPeak];
const CRITERIA: [Criterion; 3] =
    [Criterion::Fisher, Criterion::Pca, Criterion::Lpp { neighbours: 4 }];

/// Approximately normal numbers.
fn scatter(rows: usize, columns: usize, random: &mut ChaCha8Rng) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |_| {
        (0..6).map(|_| random.gen_range(-1.0..1.0)).sum::<f64>() / 2.0_f64.sqrt()
    })
}

/// Three classes apart in two features; the target is moved along a third in which classes differ a little.
fn shifted_classes(shift: f64, random: &mut ChaCha8Rng) -> (Array2<f64>, Vec<usize>, Array2<f64>) {
    let labels: Vec<usize> = (0..60).map(|row| row % 3).collect();
    let mut domain = |shift: f64| {
        let mut samples = scatter(60, 6, random);
        for (row, &label) in labels.iter().enumerate() {
            let angle = label as f64 * 2.1;
            samples[[row, 0]] += 3.5 * angle.cos();
            samples[[row, 1]] += 3.5 * angle.sin();
            samples[[row, 2]] += 6.0 * label as f64 + shift;
        }
        samples
    };
    let (source, target) = (domain(0.0), domain(shift));
    (source, labels, target)
}

fn options(criterion: Criterion) -> TslOptions {
    TslOptions { criterion, unit_norm: false, ..TslOptions::default() }
}

fn tsl(criterion: Criterion, kernel: DivergenceKernel) -> Tsl {
    let (source, labels, target) = shifted_classes(4.0, &mut ChaCha8Rng::seed_from_u64(3));
    let options = TslOptions { kernel, ..options(criterion) };
    Tsl::new(source.view(), &labels, target.view(), options).unwrap()
}

fn criteria_and_kernels() -> impl Iterator<Item = (Criterion, DivergenceKernel)> {
    CRITERIA.into_iter().flat_map(|criterion| KERNELS.map(|kernel| (criterion, kernel)))
}

fn accuracy(embedding: &Embedding, labels: &[usize]) -> f64 {
    let found = classify_by_nearest(embedding.source.view(), labels, embedding.target.view());
    let right = found.unwrap().iter().zip(labels).filter(|(a, b)| a == b).count();
    right as f64 / labels.len() as f64
}

#[test]
fn the_gradient_is_that_of_finite_differences() {
    let step = 1e-5;
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    for (criterion, kernel) in criteria_and_kernels() {
        let tsl = tsl(criterion, kernel);
        let basis = scatter(6, 3, random);
        let direction = scatter(6, 3, random);
        for weight in [0.0, 30.0] {
            let (_, gradient) = tsl.objective(basis.view(), weight);
            let value = |step: f64| tsl.objective((&basis + &(&direction * step)).view(), weight).0;
            let difference = (value(step) - value(-step)) / (2.0 * step);
            let slope = (&gradient * &direction).sum();
            assert!(
                (difference - slope).abs() < 1e-7 * slope.abs().max(1.0),
                "{criterion:?} {kernel:?}"
            );
        }
    }
}

#[test]
fn the_divergence_is_the_double_sum_whatever_the_blocks() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let samples = scatter(150, 3, random);
    let variance = 2.0 * 0.7 * samples.iter().map(|value| value * value).sum::<f64>() / 150.0;
    let mut sum = 0.0;
    for (i, x) in samples.rows().into_iter().enumerate() {
        for (j, y) in samples.rows().into_iter().enumerate() {
            let weight = |sample| if sample < 40 { 1.0 / 40.0 } else { -1.0 / 110.0 };
            let distance = (&x - &y).mapv(|gap| gap * gap).sum();
            sum += weight(i) * weight(j) * (-distance / (2.0 * variance)).exp();
        }
    }
    for kernel in KERNELS {
        let divergence = Divergence::new(samples.view(), 40, 0.7, kernel);
        let (value, _) = divergence.value_and_gradient(Array2::eye(3).view());
        let peak = match kernel {
            DivergenceKernel::Density => (2.0 * PI * variance).powf(-1.5),
            DivergenceKernel::UnitPeak => 1.0,
        };
        assert!((value - peak * sum).abs() < 1e-14);
    }
}

#[test]
fn the_divergence_of_densities_is_the_integral_of_their_squared_difference() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let mut samples = scatter(30, 1, random);
    samples.slice_mut(s![..10, ..]).mapv_inplace(|value| value + 1.5);
    samples -= samples.mean().unwrap();
    let divergence = Divergence::new(samples.view(), 10, 0.3, DivergenceKernel::Density);
    let (value, _) = divergence.value_and_gradient(array![[1.0]].view());
    // Each estimate has half the variance of the kernel in D.
    let variance = 0.3 * samples.iter().map(|value| value * value).sum::<f64>() / 30.0;
    let estimate = |at: f64, samples: ArrayView2<'_, f64>| {
        let kernel = |x: &f64| (-(at - x).powi(2) / (2.0 * variance)).exp();
        samples.iter().map(kernel).sum::<f64>()
            / samples.len() as f64
            / (2.0 * PI * variance).sqrt()
    };
    let (source, target) = samples.view().split_at(Axis(0), 10);
    let integral: f64 = (-2000..2000)
        .map(|step| f64::from(step) * 0.01)
        .map(|at| (estimate(at, source) - estimate(at, target)).powi(2) * 0.01)
        .sum();
    assert!((value / integral - 1.0).abs() < 1e-10, "{value}, not {integral}");
}

#[test]
fn the_divergence_of_densities_fades_where_there_are_many_dimensions() {
    let random = &mut ChaCha8Rng::seed_from_u64(11);
    let labels: Vec<usize> = (0..60).map(|row| row % 3).collect();
    let mut source = scatter(60, 30, random);
    for (row, &label) in labels.iter().enumerate() {
        source[[row, label]] += 3.0;
    }
    let target = scatter(60, 30, random) + 1.0;
    let tsl = Tsl::new(source.view(), &labels, target.view(), options(Criterion::Fisher)).unwrap();
    let outcomes = tsl.fit_path(&[0.0, 1e3], 10).unwrap();
    assert_eq!(outcomes[1].stop, Stop::Stationary);
    assert_eq!(outcomes[0].embedding, outcomes[1].embedding);
    // Not so in one dimension.
    let outcomes = tsl.fit_path(&[0.0, 1e3], 1).unwrap();
    assert!(outcomes[1].divergence < 0.5 * outcomes[0].divergence);
}

#[test]
fn equal_domains_have_no_divergence_and_others_a_positive_one() {
    let random = &mut ChaCha8Rng::seed_from_u64(6);
    let half = scatter(70, 4, random);
    let twice = concatenate![Axis(0), half, half];
    let basis = TraceRatio::new(Criterion::Pca, twice.view(), &[]).unwrap().minimiser(2).unwrap();
    for kernel in KERNELS {
        let divergence = Divergence::new(twice.view(), 70, 1.0, kernel);
        let (value, gradient) = divergence.value_and_gradient(basis.view());
        assert!(value.abs() < 1e-15);
        assert!(gradient.iter().all(|slope| slope.abs() < 1e-14));
    }
    for shift in [0.0, 0.1, 1.0, 10.0, 1e3] {
        let moved = concatenate![Axis(0), half, scatter(70, 4, random) + shift];
        for kernel in KERNELS {
            let divergence = Divergence::new(moved.view(), 70, 1.0, kernel);
            let (value, _) = divergence.value_and_gradient(basis.view());
            assert!(value > 0.0 && value < 2.0);
        }
    }
}

#[test]
fn objectives_never_increase_and_the_subspace_stays_orthonormal() {
    for (criterion, kernel) in criteria_and_kernels() {
        let tsl = tsl(criterion, kernel);
        for outcome in tsl.fit_path(&[0.1, 10.0, 1000.0], 2).unwrap() {
            assert!(outcome.objectives.windows(2).all(|pair| pair[1] <= pair[0]));
            assert!(outcome.embedding.source.iter().all(|value| value.is_finite()));
        }
        let limits = Limits { max_iterations: 40, tolerance: 1e-9 };
        let first = tsl.criterion.minimiser(3).unwrap();
        let start = tsl.objective(first.view(), 10.0);
        let minimum = minimise(first, start, limits, |basis| tsl.objective(basis, 10.0)).unwrap();
        let found = minimum.basis;
        let gap = found.t().dot(&found) - Array2::<f64>::eye(3);
        assert!(gap.iter().all(|entry| entry.abs() < 1e-12));
    }
}

#[test]
fn without_divergence_fisher_in_one_dimension_is_the_generalised_eigenvector() {
    let (source, labels, target) = shifted_classes(4.0, &mut ChaCha8Rng::seed_from_u64(3));
    let tsl = Tsl::new(source.view(), &labels, target.view(), options(Criterion::Fisher)).unwrap();
    let outcome = tsl.fit(0.0, 1).unwrap();
    assert_eq!(outcome.stop, Stop::Stationary);
    // B w = μ A w: with A = E E, the largest eigenvalue of E⁻¹ B E⁻¹ is 1 / F.
    let (within, between) = tsl.criterion.matrices();
    let eigen = symmetric_eigen(within, "A").unwrap();
    let root = (&eigen.vectors / &eigen.values.mapv(f64::sqrt)).dot(&eigen.vectors.t());
    let largest = symmetric_eigen(root.dot(&between).dot(&root).view(), "B").unwrap().values[0];
    assert!((outcome.criterion * largest - 1.0).abs() < 1e-10);
}

#[test]
fn without_divergence_the_ratio_is_the_root_of_its_eigenvalues() {
    for criterion in CRITERIA {
        let tsl = tsl(criterion, DivergenceKernel::Density);
        let ratio = tsl.fit(0.0, 3).unwrap().criterion;
        let (above, below) = tsl.criterion.matrices();
        let eigen = symmetric_eigen((&below * ratio - above).view(), "A − ρB").unwrap();
        let sum: f64 = eigen.values.iter().take(3).sum();
        assert!(sum.abs() < 1e-9 * eigen.values[0].abs(), "{criterion:?}: {sum}");
    }
}

#[test]
fn without_divergence_the_criterion_of_pca_gives_the_principal_axes() {
    let random = &mut ChaCha8Rng::seed_from_u64(8);
    let stretched = scatter(50, 4, random) * &array![[9.0, 5.0, 2.0, 1.0]];
    let (source, target) = stretched.view().split_at(Axis(0), 20);
    let tsl = Tsl::new(source, &[0; 20], target, options(Criterion::Pca)).unwrap();
    let basis = tsl.criterion.minimiser(2).unwrap();
    // In coordinates of the principal axes, the first two span the plane.
    assert!(basis.slice(s![2.., ..]).iter().all(|entry| entry.abs() < 1e-9));
}

#[test]
fn where_the_domains_are_shifted_the_divergence_helps() {
    let (source, labels, target) = shifted_classes(6.0, &mut ChaCha8Rng::seed_from_u64(9));
    let tsl = Tsl::new(source.view(), &labels, target.view(), options(Criterion::Fisher)).unwrap();
    let (without, with) = (tsl.fit(0.0, 2).unwrap(), tsl.fit(100.0, 2).unwrap());
    assert!(with.divergence < 0.2 * without.divergence);
    let (without, with) =
        (accuracy(&without.embedding, &labels), accuracy(&with.embedding, &labels));
    assert!(with > 0.9 && without < 0.7, "{with} with, {without} without");
}

#[test]
fn rotated_scaled_or_moved_features_change_no_distance() {
    let (source, labels, target) = shifted_classes(4.0, &mut ChaCha8Rng::seed_from_u64(3));
    let (sine, cosine) = 0.7_f64.sin_cos();
    let mut rotation = Array2::<f64>::eye(6) * 3.0;
    rotation.slice_mut(s![1..3, 1..3]).assign(&(array![[cosine, -sine], [sine, cosine]] * 3.0));
    let fit = |source: Array2<f64>, target: Array2<f64>| {
        let options = TslOptions { max_iterations: 5, ..options(Criterion::Fisher) };
        let tsl = Tsl::new(source.view(), &labels, target.view(), options).unwrap();
        let embedding = tsl.fit(10.0, 2).unwrap().embedding;
        embedding.source.dot(&embedding.target.t())
    };
    let moved = fit(source.dot(&rotation) + 2.0, target.dot(&rotation) + 2.0);
    let still = fit(source, target);
    assert!((moved - still).iter().all(|gap| gap.abs() < 1e-6));
}

#[test]
fn bad_input_is_named() {
    let (source, labels, target) = shifted_classes(4.0, &mut ChaCha8Rng::seed_from_u64(3));
    let make = |source: &Array2<f64>, labels: &[usize], options| {
        Tsl::new(source.view(), labels, target.view(), options)
    };
    let default = TslOptions::default();
    let tsl = make(&source, &labels, default).unwrap();
    for k in [0, 7] {
        assert_eq!(
            tsl.fit(1.0, k).unwrap_err(),
            Error::Dimensions { asked: k, what: WHAT, most: 6 }
        );
    }
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(tsl.fit(weight, 2), Err(Error::Parameter { .. })));
    }
    assert_eq!(
        make(&source, &[1; 60], default).unwrap_err(),
        Error::OneClass { what: "the source samples", class: 1 }
    );
    assert!(matches!(make(&source, &[1; 3], default), Err(Error::LabelCount { .. })));
    let mut broken = source.clone();
    broken[[4, 1]] = f64::NAN;
    assert!(matches!(
        make(&broken, &labels, default),
        Err(Error::NotFinite { row: 5, column: 2, .. })
    ));
    for options in [
        TslOptions { bandwidth: 0.0, ..default },
        TslOptions { tolerance: f64::NAN, ..default },
        TslOptions { components: 0, ..default },
        TslOptions { criterion: Criterion::Lpp { neighbours: 120 }, ..default },
    ] {
        assert!(matches!(make(&source, &labels, options), Err(Error::Parameter { .. })));
    }
    let constant = Array2::<f64>::ones((60, 6));
    assert_eq!(
        Tsl::new(constant.view(), &labels, constant.view(), options(Criterion::Fisher))
            .unwrap_err(),
        Error::Constant { what: WHAT }
    );
    assert_eq!(make(&constant, &labels, default).unwrap_err(), Error::NoSeparation);
}

#[test]
fn classes_of_one_point_each_are_separated() {
    // The classes differ along the first axis, the target along the second.
    let source = array![[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]];
    let target = array![[0.2, -9.0], [0.9, 9.0], [0.1, 5.0]];
    let tsl = Tsl::new(source.view(), &[0, 0, 1, 1], target.view(), TslOptions::default()).unwrap();
    let embedding = tsl.fit(1e-3, 1).unwrap().embedding;
    let distance = (embedding.source[[0, 0]] - embedding.source[[2, 0]]).abs();
    assert!(distance > 0.1, "{distance}");
}

#[test]
fn fewer_samples_than_dimensions_give_finite_embeddings() {
    let source = array![[1.0, 0.0, 2.0, 0.5], [0.0, 1.0, 0.0, 0.2]];
    let target = array![[0.9, 0.1, 1.5, 0.0]];
    let tsl = Tsl::new(source.view(), &[0, 1], target.view(), TslOptions::default()).unwrap();
    assert_eq!(tsl.max_k(), 2);
    for outcome in tsl.fit_path(&[1e-3, 1.0, 1e3], 2).unwrap() {
        assert!(outcome.embedding.target.iter().all(|value| value.is_finite()));
        assert!(outcome.objectives.iter().all(|value| value.is_finite()));
    }
}
