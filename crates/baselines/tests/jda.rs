//! TCA and JDA against their publications' eigenproblems, solved densely.

mod common;

use baselines::{Embedding, Error, Formulation, Jda, JdaOptions, MmdOptions, ProjectionScale, Tca};
use common::{assert_close, classes, eigen, products, spectral, uniform};
use ndarray::{Array1, Array2, Axis, concatenate, s};

/// Every reading of the eigenproblem and of its solution's length.
fn readings() -> impl Iterator<Item = MmdOptions> {
    let formulations = [Formulation::Primal, Formulation::LinearKernel];
    let scales = [ProjectionScale::UnitNorm, ProjectionScale::UnitVariance];
    formulations.into_iter().flat_map(move |formulation| {
        scales.map(|scale| MmdOptions { formulation, scale, unit_norm: true })
    })
}

fn unit_rows(mut rows: Array2<f64>) -> Array2<f64> {
    for mut row in rows.axis_iter_mut(Axis(0)) {
        let norm = row.dot(&row).sqrt();
        row /= norm;
    }
    rows
}

fn stacked(embedding: &Embedding) -> Array2<f64> {
    concatenate![Axis(0), embedding.source, embedding.target]
}

/// M = C M_0 + Σ_c M_c, divided by its Frobenius norm; without labels of the target M_0 alone.
fn mmd_matrix(source: &[usize], target: Option<&[usize]>, targets: usize) -> Array2<f64> {
    let sources = source.len();
    let weight = |in_source: &dyn Fn(usize) -> bool, in_target: &dyn Fn(usize) -> bool| {
        let counted = |count: usize, belongs: &dyn Fn(usize) -> bool| {
            let members = (0..count).filter(|&sample| belongs(sample)).count() as f64;
            Array1::from_shape_fn(
                count,
                |sample| if belongs(sample) { members.recip() } else { 0.0 },
            )
        };
        let column =
            concatenate![Axis(0), counted(sources, in_source), -counted(targets, in_target)];
        let column = column.insert_axis(Axis(1));
        column.dot(&column.t())
    };
    let mut matrix = weight(&|_| true, &|_| true);
    if let Some(target) = target {
        let classes = source.iter().copied().max().unwrap() + 1;
        matrix *= classes as f64;
        for class in 0..classes {
            // Without target samples, the entries between source samples remain.
            matrix += &weight(&|sample| source[sample] == class, &|sample| target[sample] == class);
        }
    }
    let norm = matrix.iter().map(|value| value * value).sum::<f64>().sqrt();
    matrix / norm
}

/// The projected samples and the objective, by dense matrices throughout. `samples` are not yet scaled.
fn by_dense_matrices(
    samples: &Array2<f64>,
    mmd: &Array2<f64>,
    options: MmdOptions,
    lambda: f64,
    k: usize,
) -> (Array2<f64>, f64) {
    let samples = unit_rows(samples.clone());
    let features = match options.formulation {
        Formulation::Primal => samples,
        Formulation::LinearKernel => samples.dot(&samples.t()),
    };
    let centred = common::centred(features.view());
    let penalty = features.t().dot(mmd).dot(&features) + lambda * Array2::eye(features.ncols());
    let whitening = spectral(penalty.view(), |value| value.sqrt().recip());
    let variance = whitening.dot(&centred.t().dot(&centred)).dot(&whitening);
    let (values, vectors) = eigen(variance.view());
    let size = values.len();
    let mut projection = whitening.dot(&vectors.slice(s![.., size - k..]));
    projection /= &match options.scale {
        ProjectionScale::UnitNorm => {
            projection.map_axis(Axis(0), |column| column.dot(&column).sqrt())
        }
        ProjectionScale::UnitVariance => {
            Array1::from_iter(values[size - k..].iter().map(|value| value.sqrt()))
        }
    };
    let objective = values[size - k..].iter().map(|value| value.recip()).sum();
    (unit_rows(features.dot(&projection)), objective)
}

#[test]
fn tca_solves_its_eigenproblem() {
    // More features than samples, fewer, and so many that the iterative eigensolver is used.
    for (per_class, width) in [(4, 30), (12, 15), (40, 130)] {
        let (source, labels) = classes(per_class, 3, width, 0.0, 1);
        let (target, _) = classes(per_class, 3, width, 0.3, 2);
        let samples = concatenate![Axis(0), source, target];
        let mmd = mmd_matrix(&labels, None, target.nrows());
        for options in readings() {
            let tca = Tca::new(source.view(), target.view(), options).unwrap();
            for (lambda, k) in [(1e-3, 2), (1.0, 5), (1e3, 10)] {
                let (expected, _) = by_dense_matrices(&samples, &mmd, options, lambda, k);
                let ours = stacked(&tca.embed(lambda, k).unwrap());
                assert_close(&products(&ours, &ours), &products(&expected, &expected), 1e-6);
            }
        }
    }
}

#[test]
fn jda_solves_its_eigenproblem_for_the_labels_that_it_found() {
    for (per_class, width) in [(8, 40), (12, 15), (40, 130)] {
        let (source, labels) = classes(per_class, 3, width, 0.0, 1);
        let (target, _) = classes(per_class, 3, width, 0.3, 2);
        let samples = concatenate![Axis(0), source, target];
        for options in readings() {
            for (lambda, k) in [(1e-3, 2), (1.0, 5), (10.0, 10)] {
                let after = |iterations| {
                    let options = JdaOptions { mmd: options, iterations };
                    Jda::new(source.view(), &labels, target.view(), options)
                        .unwrap()
                        .adapt(lambda, k)
                        .unwrap()
                };
                let (second, third) = (after(2), after(3));
                let mmd = mmd_matrix(&labels, Some(&second.labels), target.nrows());
                let (expected, objective) = by_dense_matrices(&samples, &mmd, options, lambda, k);
                let ours = stacked(&third.embedding);
                assert_close(&products(&ours, &ours), &products(&expected, &expected), 1e-6);
                let last = *third.objectives.last().unwrap();
                assert!((last / objective - 1.0).abs() < 1e-7, "{last} and {objective}");
            }
        }
    }
}

#[test]
fn jda_begins_with_tca() {
    let (source, labels) = classes(10, 3, 20, 0.0, 1);
    let (target, _) = classes(10, 3, 20, 0.5, 2);
    for mmd in readings() {
        let options = JdaOptions { mmd, iterations: 1 };
        let jda = Jda::new(source.view(), &labels, target.view(), options).unwrap();
        let tca = Tca::new(source.view(), target.view(), options.mmd).unwrap();
        let outcome = jda.adapt(1.0, 6).unwrap();
        let embedding = stacked(&tca.embed(1.0, 6).unwrap());
        assert_close(&stacked(&outcome.embedding), &embedding, 1e-9);
        assert_eq!(outcome.objectives.len(), 1);
    }
}

#[test]
fn the_eigenvectors_have_a_lower_objective_than_any_other_projection() {
    let (source, labels) = classes(10, 3, 12, 0.0, 1);
    let (target, _) = classes(10, 3, 12, 0.5, 2);
    let samples = unit_rows(concatenate![Axis(0), source, target]);
    let centred = common::centred(samples.view());
    let (lambda, k) = (0.1, 3);
    let mmd = MmdOptions { formulation: Formulation::Primal, ..MmdOptions::default() };
    let after = |iterations| JdaOptions { mmd, iterations };
    let outcome = Jda::new(source.view(), &labels, target.view(), after(2))
        .unwrap()
        .adapt(lambda, k)
        .unwrap();
    let first = Jda::new(source.view(), &labels, target.view(), after(1))
        .unwrap()
        .adapt(lambda, k)
        .unwrap();
    let mmd = mmd_matrix(&labels, Some(&first.labels), target.nrows());
    let penalty = samples.t().dot(&mmd).dot(&samples) + lambda * Array2::eye(12);
    let variance = centred.t().dot(&centred);
    for seed in 0..50 {
        let direction = uniform(12, k, seed);
        // To unit variance, as the constraint asks.
        let whitening = spectral(direction.t().dot(&variance).dot(&direction).view(), |value| {
            value.sqrt().recip()
        });
        let other = direction.dot(&whitening);
        let objective = other.t().dot(&penalty).dot(&other).diag().sum();
        assert!(outcome.objectives[1] <= objective * (1.0 + 1e-12));
    }
}

#[test]
fn adaptation_recovers_samples_that_a_shift_confuses() {
    let (source, labels) = classes(20, 4, 30, 0.0, 1);
    let (target, truth) = classes(20, 4, 30, 0.7, 2);
    let accuracy = |found: &[usize]| {
        found.iter().zip(&truth).filter(|(found, truth)| found == truth).count() as f64
            / truth.len() as f64
    };
    let without = baselines::classify_by_nearest(source.view(), &labels, target.view()).unwrap();
    let jda = Jda::new(source.view(), &labels, target.view(), JdaOptions::default()).unwrap();
    let with = jda.adapt(1.0, 10).unwrap();
    let (without, with) = (accuracy(&without), accuracy(&with.labels));
    assert!(with > without + 0.05, "{with} and {without}");
}

#[test]
fn labels_are_names_and_samples_may_be_zero() {
    let (mut source, labels) = classes(6, 3, 10, 0.0, 1);
    let (mut target, _) = classes(6, 3, 10, 0.2, 2);
    let adapt = |source: &Array2<f64>, labels: &[usize], target: &Array2<f64>| {
        Jda::new(source.view(), labels, target.view(), JdaOptions::default())
            .unwrap()
            .adapt(1.0, 4)
            .unwrap()
    };
    let plain = adapt(&source, &labels, &target);
    let renamed: Vec<usize> = labels.iter().map(|label| 1000 * (label + 1)).collect();
    let expected: Vec<usize> = plain.labels.iter().map(|label| 1000 * (label + 1)).collect();
    assert_eq!(adapt(&source, &renamed, &target).labels, expected);

    source.row_mut(0).fill(0.0);
    target.row_mut(3).fill(0.0);
    let outcome = adapt(&source, &labels, &target);
    assert!(stacked(&outcome.embedding).iter().all(|value| value.is_finite()));
}

#[test]
fn a_class_without_pseudo_labels_keeps_the_entries_of_its_source_samples() {
    // Fewer features than samples, and more, where the mean has a part outside of the principal axes.
    for (per_class, width) in [(10, 12), (6, 60)] {
        let (source, labels) = classes(per_class, 3, width, 0.0, 1);
        // Two samples have two labels at most.
        let target = classes(per_class, 3, width, 0.0, 2).0.slice_move(s![..2, ..]);
        let samples = concatenate![Axis(0), source, target];
        for options in readings() {
            let after = |iterations| {
                let options = JdaOptions { mmd: options, iterations };
                Jda::new(source.view(), &labels, target.view(), options)
                    .unwrap()
                    .adapt(0.1, 3)
                    .unwrap()
            };
            let (first, second) = (after(1), after(2));
            let mmd = mmd_matrix(&labels, Some(&first.labels), target.nrows());
            let (expected, objective) = by_dense_matrices(&samples, &mmd, options, 0.1, 3);
            let ours = stacked(&second.embedding);
            assert_close(&products(&ours, &ours), &products(&expected, &expected), 1e-6);
            assert!((second.objectives[1] / objective - 1.0).abs() < 1e-7);
        }
    }
}

#[test]
fn several_dimensions_together_are_each_alone() {
    let (source, labels) = classes(40, 3, 130, 0.0, 1);
    let (target, _) = classes(40, 3, 130, 0.5, 2);
    let jda = Jda::new(source.view(), &labels, target.view(), JdaOptions::default()).unwrap();
    let dimensions = [10, 2, 5];
    let together = jda.adapt_each(0.1, &dimensions).unwrap();
    assert_eq!(together.len(), dimensions.len());
    for (outcome, k) in together.iter().zip(dimensions) {
        let alone = jda.adapt(0.1, k).unwrap();
        assert_eq!(outcome.labels, alone.labels);
        let (ours, expected) = (stacked(&outcome.embedding), stacked(&alone.embedding));
        assert_close(&products(&ours, &ours), &products(&expected, &expected), 1e-6);
        for (objective, expected) in outcome.objectives.iter().zip(&alone.objectives) {
            assert!((objective / expected - 1.0).abs() < 1e-7);
        }
    }
    assert!(jda.adapt_each(0.1, &[]).unwrap().is_empty());
    assert!(matches!(jda.adapt_each(0.1, &[0, 3]).unwrap_err(), Error::Dimensions { .. }));
}

#[test]
fn what_cannot_be_adapted_is_said() {
    let (source, labels) = classes(4, 3, 10, 0.0, 1);
    let (target, _) = classes(4, 3, 10, 0.2, 2);
    let new = |labels: &[usize], options| Jda::new(source.view(), labels, target.view(), options);
    assert_eq!(
        new(&labels[1..], JdaOptions::default()).unwrap_err(),
        Error::LabelCount { samples: 12, labels: 11 }
    );
    assert!(matches!(
        new(&labels, JdaOptions { iterations: 0, ..JdaOptions::default() }).unwrap_err(),
        Error::Parameter { name: "iterations", .. }
    ));
    let jda = new(&labels, JdaOptions::default()).unwrap();
    assert_eq!(jda.max_k(), 10);
    for k in [0, 11] {
        assert!(matches!(jda.adapt(1.0, k).unwrap_err(), Error::Dimensions { most: 10, .. }));
    }
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            jda.adapt(lambda, 2).unwrap_err(),
            Error::Parameter { name: "lambda", .. }
        ));
    }
}
