//! What every method does where its input is barely enough: an error or a documented limit, and no number that is
//! not finite.

mod common;

use baselines::{
    CoralOptions, DasvmOptions, Embedding, Error, Gfk, Jda, JdaOptions, Kernel, KernelPairs,
    LabelledSamples, MmdOptions, MmdtOptions, PbdaOptions, Pca, PcaOptions, Result,
    SubspaceAlignment, Svm, SvmGrid, Tca, Tsl, TslOptions, classify_by_nearest, classify_by_svm,
    coral, train_dasvm, train_mmdt, train_pbda,
};
use common::{assert_close, classes, products, uniform};
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

/// An embedding in k dimensions.
type Embed = Box<dyn Fn(usize) -> Result<Embedding>>;

/// Every method that is asked for a number of dimensions, with the most that it offers.
fn by_dimensions(
    source: &Array2<f64>,
    labels: &[usize],
    target: &Array2<f64>,
) -> Vec<(&'static str, usize, Embed)> {
    let (source, target) = (source.view(), target.view());
    let pca = Pca::fit(source, target, 100, PcaOptions::default()).unwrap();
    let gfk = Gfk::fit(source, target, 100).unwrap();
    let alignment = SubspaceAlignment::fit(source, target, 100).unwrap();
    let tca = Tca::new(source, target, MmdOptions::default()).unwrap();
    let jda = Jda::new(source, labels, target, JdaOptions::default()).unwrap();
    let tsl = Tsl::new(source, labels, target, TslOptions::default()).unwrap();
    vec![
        ("PCA", pca.max_k(), Box::new(move |k| pca.embed(k))),
        ("GFK", gfk.max_k(), Box::new(move |k| gfk.embed(k))),
        ("alignment", alignment.max_k(), Box::new(move |k| alignment.embed(k))),
        ("TCA", tca.max_k(), Box::new(move |k| tca.embed(1.0, k))),
        ("JDA", jda.max_k(), Box::new(move |k| Ok(jda.adapt(1.0, k)?.embedding))),
        ("TSL", tsl.max_k(), Box::new(move |k| Ok(tsl.fit(1.0, k)?.embedding))),
    ]
}

fn is_finite(embedding: &Embedding) -> bool {
    embedding.source.iter().chain(&embedding.target).all(|value| value.is_finite())
}

fn with_constant_features(samples: &Array2<f64>) -> Array2<f64> {
    let constant = Array2::from_elem((samples.nrows(), 2), 0.7);
    concatenate![Axis(1), samples.slice(s![.., ..3]), constant, samples.slice(s![.., 3..])]
}

/// Two classes in two domains: samples of both, and the source's labels.
fn two_classes() -> (Array2<f64>, Vec<usize>, Array2<f64>) {
    let (source, labels) = classes(10, 2, 6, 0.0, 1);
    (source, labels, classes(10, 2, 6, 0.3, 2).0)
}

fn gram(samples: ArrayView2<'_, f64>) -> Array2<f64> {
    KernelPairs::within(samples).unwrap().matrix(Kernel::Gaussian { gamma: 0.5 }).unwrap()
}

#[test]
fn more_dimensions_than_the_rank_are_refused_and_as_many_are_finite() {
    // Eight features in a space of five dimensions.
    let span = uniform(5, 8, 3);
    let (source, labels) = classes(10, 3, 5, 0.0, 1);
    let (source, target) = (source.dot(&span), classes(9, 3, 5, 0.3, 2).0.dot(&span));
    for (name, most, embed) in by_dimensions(&source, &labels, &target) {
        // Samples of unit norm lie in the same space; GFK takes half of the features at most.
        assert_eq!(most, if name == "GFK" { 4 } else { 5 }, "{name}");
        assert!(is_finite(&embed(most).unwrap()), "{name}");
        for k in [0, most + 1, 8, 1000] {
            let refused = embed(k).unwrap_err();
            assert!(matches!(refused, Error::Dimensions { asked, .. } if asked == k), "{name}");
        }
    }
}

#[test]
fn fewer_samples_than_dimensions_are_refused_and_as_many_are_finite() {
    let (source, labels) = (uniform(4, 30, 1), vec![0, 1, 0, 1]);
    let target = uniform(3, 30, 2);
    for (name, most, embed) in by_dimensions(&source, &labels, &target) {
        // Centred, n samples span n − 1 dimensions: three and two apart, and six together.
        assert_eq!(most, if ["GFK", "alignment"].contains(&name) { 2 } else { 6 }, "{name}");
        assert!(is_finite(&embed(most).unwrap()), "{name}");
        assert!(matches!(embed(10), Err(Error::Dimensions { asked: 10, .. })), "{name}");
    }
    assert!(is_finite(&coral(source.view(), target.view(), CoralOptions::default()).unwrap()));
}

#[test]
fn constant_features_do_no_harm() {
    let (source, labels, target) = two_classes();
    let (wide_source, wide_target) =
        (with_constant_features(&source), with_constant_features(&target));
    let plain = by_dimensions(&source, &labels, &target);
    let wide = by_dimensions(&wide_source, &labels, &wide_target);
    for ((name, _, plain), (_, _, wide)) in plain.into_iter().zip(wide) {
        let (plain, wide) = (plain(3).unwrap(), wide(3).unwrap());
        assert!(is_finite(&wide), "{name}");
        // The others scale samples to unit norm, which such a feature is part of.
        if ["PCA", "GFK", "alignment"].contains(&name) {
            assert_close(
                &products(&wide.source, &wide.target),
                &products(&plain.source, &plain.target),
                1e-9,
            );
        }
    }
    let correlated = coral(wide_source.view(), wide_target.view(), CoralOptions::default());
    let without = coral(source.view(), target.view(), CoralOptions::default()).unwrap();
    assert_close(&correlated.unwrap().source, &with_constant_features(&without.source), 1e-12);

    let nearest = |source: &Array2<f64>, target: &Array2<f64>| {
        classify_by_nearest(source.view(), &labels, target.view()).unwrap()
    };
    assert_eq!(nearest(&wide_source, &wide_target), nearest(&source, &target));
    let svm = |source: &Array2<f64>, target: &Array2<f64>| {
        classify_by_svm(source.view(), &labels, target.view(), &SvmGrid::default()).unwrap()
    };
    assert_eq!(svm(&wide_source, &wide_target), svm(&source, &target));
    let model = train_mmdt(
        LabelledSamples { features: wide_source.view(), labels: &labels },
        LabelledSamples { features: wide_target.slice(s![..4, ..]), labels: &labels[..4] },
        &MmdtOptions::default(),
    )
    .unwrap();
    assert!(model.objectives.iter().all(|value| value.is_finite()));
}

#[test]
fn without_a_feature_that_varies_there_is_nothing_to_project_on() {
    let (constant, labels) = (Array2::from_elem((6, 4), 0.3), [0, 1, 0, 1, 0, 1]);
    let (source, target) = (constant.view(), constant.slice(s![..5, ..]));
    let is_said = |error: Error| matches!(error, Error::Constant { .. });
    assert!(is_said(Pca::fit(source, target, 2, PcaOptions::default()).unwrap_err()));
    assert!(is_said(Gfk::fit(source, target, 2).unwrap_err()));
    assert!(is_said(SubspaceAlignment::fit(source, target, 2).unwrap_err()));
    assert!(is_said(Tca::new(source, target, MmdOptions::default()).unwrap_err()));
    assert!(is_said(Jda::new(source, &labels, target, JdaOptions::default()).unwrap_err()));
    assert!(is_said(Tsl::new(source, &labels, target, TslOptions::default()).unwrap_err()));
    // CORAL projects on nothing: without covariances its transform is the identity.
    assert_close(&coral(source, target, CoralOptions::default()).unwrap().source, &constant, 1e-12);
    // All are equally near: the first has the say.
    assert_eq!(classify_by_nearest(source, &labels, target).unwrap(), [0; 5]);
}

#[test]
fn machines_on_samples_that_are_all_the_same_stay_finite() {
    let gram = Array2::ones((6, 6));
    let svm = Svm::train(gram.view(), &[0, 1, 0, 1, 0, 0], 1.0).unwrap();
    assert!(svm.certificates().all(|found| found.is_converged && found.duality_gap.is_finite()));
    // Nothing but the majority is to be learned.
    assert_eq!(svm.classify(gram.view()).unwrap(), [0; 6]);
    let labels = [Some(0), Some(1), Some(0), Some(0), None, None];
    let dasvm = train_dasvm(gram.view(), &labels, &DasvmOptions::new(1.0, 2)).unwrap();
    let pbda = train_pbda(gram.view(), &labels, &PbdaOptions::new(1.0, 1.0)).unwrap();
    for classifier in [dasvm.classifier, pbda.classifier] {
        assert!(classifier.decisions(gram.view()).unwrap().iter().all(|value| value.is_finite()));
    }
}

#[test]
fn labels_may_leave_out_classes() {
    let (source, labels, target) = two_classes();
    let sparse: Vec<usize> = labels.iter().map(|&label| [3, 40][label]).collect();
    let renamed =
        |found: Vec<usize>| found.into_iter().map(|label| [3, 40][label]).collect::<Vec<_>>();
    let (source, target) = (source.view(), target.view());
    assert_eq!(
        classify_by_nearest(source, &sparse, target).unwrap(),
        renamed(classify_by_nearest(source, &labels, target).unwrap())
    );
    let grid = SvmGrid::default();
    assert_eq!(
        classify_by_svm(source, &sparse, target, &grid).unwrap(),
        renamed(classify_by_svm(source, &labels, target, &grid).unwrap())
    );
    let tsl = |labels: &[usize]| {
        let tsl = Tsl::new(source, labels, target, TslOptions::default()).unwrap();
        tsl.fit(1.0, 2).unwrap().embedding
    };
    assert_eq!(tsl(&sparse), tsl(&labels));
    // MMDT knows a class by its source samples where the labelled target has none.
    let only_first: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == 0).collect();
    let of_first = target.select(Axis(0), &only_first);
    let mmdt = |names: [usize; 2]| {
        let source_labels: Vec<usize> = labels.iter().map(|&label| names[label]).collect();
        let model = train_mmdt(
            LabelledSamples { features: source.view(), labels: &source_labels },
            LabelledSamples {
                features: of_first.view(),
                labels: &vec![names[0]; only_first.len()],
            },
            &MmdtOptions::default(),
        );
        model.unwrap().classify(target).unwrap()
    };
    assert_eq!(mmdt([3, 40]), renamed(mmdt([0, 1])));
}

#[test]
fn a_training_set_of_one_class_is_an_error_of_every_machine() {
    let (source, labels, target) = two_classes();
    let alike = vec![7; labels.len()];
    let is_refused = |error: Error| matches!(error, Error::OneClass { class: 7, .. });
    let grid = SvmGrid::default();
    assert!(is_refused(classify_by_svm(source.view(), &alike, target.view(), &grid).unwrap_err()));
    let both = concatenate![Axis(0), source, target];
    let of_both: Vec<Option<usize>> = alike
        .iter()
        .map(|&label| Some(label))
        .chain(target.rows().into_iter().map(|_| None))
        .collect();
    let gram = gram(both.view());
    let options = PbdaOptions::new(1.0, 1.0);
    assert!(is_refused(train_pbda(gram.view(), &of_both, &options).unwrap_err()));
    let options = DasvmOptions::new(1.0, target.nrows());
    assert!(is_refused(train_dasvm(gram.view(), &of_both, &options).unwrap_err()));
    let samples = LabelledSamples { features: source.view(), labels: &alike };
    assert!(is_refused(train_mmdt(samples, samples, &MmdtOptions::default()).unwrap_err()));
}
