//! Facts about the max-margin methods on problems whose answer is known.

use baselines::{
    DasvmOptions, Error, Kernel, KernelPairs, LabelledSamples, MarginLoss, MmdtOptions,
    PbdaOptions, Svm, SvmGrid, SvmSetting, classify_by_svm, reverse_accuracy, train_dasvm,
    train_mmdt, train_pbda,
};
use datasets::{DrawKey, Moons, TwoMoons};
use linfa::Dataset;
use linfa::traits::{Fit as _, Predict as _};
use ndarray::{Array1, Array2, ArrayView2, Axis, array, concatenate, s};

const GAUSSIAN: Kernel = Kernel::Gaussian { gamma: 3.0 };

fn moons(angle: f64) -> Moons {
    noisy_moons(angle, 0.05)
}

fn noisy_moons(angle: f64, noise: f64) -> Moons {
    let sizes = TwoMoons {
        noise,
        source_per_class: 60,
        target_per_class: 60,
        test_samples: 200,
        angle,
        ..TwoMoons::default()
    };
    sizes.generate(DrawKey { seed: 3, source: "0", target: "turned", trial: 0 }).unwrap()
}

/// Both domains in one list, the target without labels.
fn both_domains(moons: &Moons) -> (Array2<f64>, Vec<Option<usize>>) {
    let samples =
        concatenate(Axis(0), &[moons.source.features(), moons.target.features()]).unwrap();
    let labels = moons.source.labels().iter().map(|&label| Some(label));
    (samples, labels.chain(moons.target.labels().iter().map(|_| None)).collect())
}

fn error_rate(found: &[usize], labels: &[usize]) -> f64 {
    let wrong = found.iter().zip(labels).filter(|(found, label)| found != label).count();
    wrong as f64 / labels.len() as f64
}

fn gram(samples: ArrayView2<'_, f64>) -> Array2<f64> {
    KernelPairs::within(samples).unwrap().matrix(GAUSSIAN).unwrap()
}

fn to_test(moons: &Moons, samples: ArrayView2<'_, f64>) -> Array2<f64> {
    KernelPairs::new(moons.test.features(), samples).unwrap().matrix(GAUSSIAN).unwrap()
}

/// The error on the turned test set of a machine that saw the source only.
fn unadapted_error(moons: &Moons) -> f64 {
    let svm =
        Svm::train(gram(moons.source.features()).view(), moons.source.labels(), 10.0).unwrap();
    let found = svm.classify(to_test(moons, moons.source.features()).view()).unwrap();
    error_rate(&found, moons.test.labels())
}

#[test]
fn decisions_are_those_of_another_implementation() {
    let moons = moons(40.0);
    let targets: Array1<bool> = moons.source.labels().iter().map(|&label| label == 1).collect();
    let data = Dataset::new(moons.source.features().to_owned(), targets);
    let reference = linfa_svm::Svm::<f64, bool>::params()
        .pos_neg_weights(10.0, 10.0)
        .gaussian_kernel(1.0 / 3.0)
        .eps(1e-4)
        .fit(&data)
        .unwrap();
    let theirs: Array1<bool> = reference.predict(&moons.test.features().to_owned());
    let theirs: Vec<usize> = theirs.iter().map(|&is_lower| usize::from(is_lower)).collect();
    let svm =
        Svm::train(gram(moons.source.features()).view(), moons.source.labels(), 10.0).unwrap();
    let ours = svm.classify(to_test(&moons, moons.source.features()).view()).unwrap();
    assert!(error_rate(&ours, &theirs) <= 0.005);
    assert!(svm.certificates().all(|certificate| certificate.is_converged));
}

#[test]
fn cross_validation_separates_the_moons() {
    let moons = moons(0.0);
    let (source, labels) = (moons.source.features(), moons.source.labels());
    let grid = SvmGrid::default();
    let found = classify_by_svm(source, labels, moons.test.features(), &grid).unwrap();
    assert!(error_rate(&found, moons.test.labels()) < 0.02);
    assert!(grid.choose(source, labels).unwrap().accuracy > 0.98);
    // A Gaussian so wide that it is linear cannot do it.
    let wide = SvmSetting { kernel: Kernel::Gaussian { gamma: 0.001 }, cost: 0.001 };
    let choice = SvmGrid { settings: vec![wide], ..grid }.choose(source, labels).unwrap();
    assert!(choice.accuracy < 0.95);
}

#[test]
fn giving_up_early_does_not_change_the_choice() {
    for noise in [0.05, 0.3, 0.6] {
        let moons = noisy_moons(0.0, noise);
        let (source, labels) = (moons.source.features(), moons.source.labels());
        let grid = SvmGrid::default();
        let choice = grid.choose(source, labels).unwrap();
        let alone = |&setting: &SvmSetting| {
            let choice = SvmGrid { settings: vec![setting], ..grid.clone() }.choose(source, labels);
            choice.unwrap().accuracy
        };
        let accuracies: Vec<f64> = grid.settings.iter().map(alone).collect();
        let best = accuracies.iter().copied().fold(0.0, f64::max);
        let first = accuracies.iter().position(|&accuracy| accuracy == best).unwrap();
        assert_eq!((choice.setting, choice.accuracy), (grid.settings[first], best), "{noise}");
        assert!(choice.machines < 5 * grid.settings.len());
    }
}

#[test]
fn cross_validation_trains_and_asks_as_one_would_by_hand() {
    // Three classes, so that some duels know nothing of a sample that is held out; one sample a fold.
    let samples = Array2::from_shape_fn((24, 2), |(row, column)| {
        let angle = (120.0 * (row % 3) as f64).to_radians();
        [angle.cos(), angle.sin()][column] + 1.2 * ((2 * row + column) as f64 * 2.3).sin()
    });
    let labels: Vec<usize> = (0..24).map(|row| row % 3).collect();
    let setting = SvmSetting { kernel: GAUSSIAN, cost: 2.0 };
    let grid = SvmGrid { settings: vec![setting], folds: 24, seed: 0 };
    let found = grid.choose(samples.view(), &labels).unwrap().accuracy;
    let gram = gram(samples.view());
    let hits = (0..24).filter(|&left_out| {
        let kept: Vec<usize> = (0..24).filter(|&i| i != left_out).collect();
        let kept_labels: Vec<usize> = kept.iter().map(|&i| labels[i]).collect();
        let of_kept = gram.select(Axis(1), &kept);
        let svm = Svm::train(of_kept.select(Axis(0), &kept).view(), &kept_labels, 2.0).unwrap();
        svm.classify(of_kept.select(Axis(0), &[left_out]).view()).unwrap() == [labels[left_out]]
    });
    let by_hand = hits.count() as f64 / 24.0;
    assert!(0.4 < by_hand && by_hand < 1.0, "{by_hand}");
    assert!((found - by_hand).abs() < 1e-12, "{found}, by hand {by_hand}");
}

#[test]
fn of_equally_good_settings_the_middle_of_the_grid_is_taken() {
    let moons = moons(90.0);
    let (source, labels) = (moons.source.features(), moons.source.labels());
    let choice = SvmGrid::default().choose(source, labels).unwrap();
    assert_eq!(choice.setting, SvmSetting { kernel: Kernel::Gaussian { gamma: 1.0 }, cost: 1.0 });
    // A quarter turn exchanges the moons more than it mixes them.
    let queries = moons.test.features();
    let found = classify_by_svm(source, labels, queries, &SvmGrid::default()).unwrap();
    assert!(error_rate(&found, moons.test.labels()) > 0.7);
}

#[test]
fn a_class_that_is_held_out_as_a_whole_is_an_error_and_no_failure() {
    let samples = array![[0.0], [0.1], [0.2], [5.0]];
    let choice = SvmGrid::default().choose(samples.view(), &[0, 0, 0, 1]).unwrap();
    assert_eq!(choice.accuracy, 0.75);
}

#[test]
fn three_classes_vote() {
    let centres = [[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]];
    let samples = Array2::from_shape_fn((30, 2), |(row, column)| {
        centres[row % 3][column] + ((2 * row + column) as f64 * 0.37).sin()
    });
    let labels: Vec<usize> = (0..30).map(|row| [4, 7, 9][row % 3]).collect();
    let linear = SvmSetting { kernel: Kernel::Linear, cost: 1.0 };
    let grid = SvmGrid { settings: vec![linear], ..SvmGrid::default() };
    let queries = array![[0.1, -0.2], [5.2, 0.3], [-0.4, 4.8]];
    let found = classify_by_svm(samples.view(), &labels, queries.view(), &grid).unwrap();
    assert_eq!(found, [4, 7, 9]);
}

#[test]
fn dasvm_follows_a_rotation() {
    let moons = moons(35.0);
    let (samples, labels) = both_domains(&moons);
    let options = DasvmOptions::new(10.0, 120);
    let dasvm = train_dasvm(gram(samples.view()).view(), &labels, &options).unwrap();
    let found = dasvm.classifier.classify(to_test(&moons, samples.view()).view()).unwrap();
    let adapted = error_rate(&found, moons.test.labels());
    let unadapted = unadapted_error(&moons);
    assert!(dasvm.is_converged);
    assert!(adapted < 0.5 * unadapted, "{adapted} with, {unadapted} without adaptation");
}

#[test]
fn pbda_follows_a_rotation() {
    let moons = moons(35.0);
    let (samples, labels) = both_domains(&moons);
    let pbda =
        train_pbda(gram(samples.view()).view(), &labels, &PbdaOptions::new(100.0, 100.0)).unwrap();
    let found = pbda.classifier.classify(to_test(&moons, samples.view()).view()).unwrap();
    let adapted = error_rate(&found, moons.test.labels());
    let unadapted = unadapted_error(&moons);
    assert!(pbda.is_converged);
    assert!(adapted < 0.5 * unadapted, "{adapted} with, {unadapted} without adaptation");
}

#[test]
fn further_starts_never_make_pbda_worse() {
    let moons = moons(60.0);
    let (samples, labels) = both_domains(&moons);
    let gram = gram(samples.view());
    let one = PbdaOptions::new(10.0, 100.0);
    let single = train_pbda(gram.view(), &labels, &one).unwrap();
    let several = train_pbda(gram.view(), &labels, &PbdaOptions { starts: 3, ..one }).unwrap();
    assert!(several.objective <= single.objective);
}

#[test]
fn the_way_back_finds_the_labels_where_nothing_moved() {
    let moons = moons(0.0);
    let (samples, labels) = both_domains(&moons);
    let gram = gram(samples.view());
    for folds in [1, 3] {
        let accuracy = reverse_accuracy(&labels, folds, 0, |asked| {
            let rows = |samples: &[usize]| gram.select(Axis(0), samples);
            let kernel = rows(asked.training).select(Axis(1), asked.training);
            let options = DasvmOptions::new(10.0, 120);
            let dasvm = train_dasvm(kernel.view(), asked.labels, &options)?;
            dasvm.classifier.classify(rows(asked.queries).select(Axis(1), asked.training).view())
        })
        .unwrap();
        assert!(accuracy > 0.95, "{folds} folds: {accuracy}");
    }
}

/// Three classes on a circle, their target turned by 100° and moved; 20 source and 3 + 20 target samples each.
fn turned_classes() -> (Array2<f64>, Array2<f64>, Vec<usize>, Vec<usize>) {
    let cloud = |samples: usize, turn: f64, shift: f64| {
        Array2::from_shape_fn((samples, 2), |(row, column)| {
            let angle = (120.0 * (row % 3) as f64 + turn).to_radians();
            let noise = 0.5 * ((2 * row + column) as f64 * 1.7 + turn).sin();
            3.0 * [angle.cos(), angle.sin()][column] + noise + shift
        })
    };
    let labels = |samples: usize| (0..samples).map(|row| row % 3).collect();
    (cloud(60, 0.0, 0.0), cloud(69, 100.0, 1.0), labels(60), labels(69))
}

fn mmdt(options: &MmdtOptions) -> (Vec<f64>, f64) {
    let (source, target, source_labels, target_labels) = turned_classes();
    let model = train_mmdt(
        LabelledSamples { features: source.view(), labels: &source_labels },
        LabelledSamples { features: target.slice(s![..9, ..]), labels: &target_labels[..9] },
        options,
    )
    .unwrap();
    assert!(model.is_converged);
    let found = model.classify(target.slice(s![9.., ..])).unwrap();
    (model.objectives, error_rate(&found, &target_labels[9..]))
}

#[test]
fn mmdt_turns_the_target_back() {
    for loss in [MarginLoss::Hinge, MarginLoss::SquaredHinge] {
        let free =
            MmdtOptions { stiffness: 0.1, loss, rounds: 10, source_cost: 1.0, target_cost: 1.0 };
        let (objectives, adapted) = mmdt(&free);
        let (_, unadapted) = mmdt(&MmdtOptions { stiffness: 1e9, ..free });
        assert!(adapted < unadapted, "{loss:?}: {adapted} with, {unadapted} without a transform");
        assert_eq!(objectives.len(), 20);
        for pair in objectives.windows(2) {
            assert!(pair[1] <= pair[0] * (1.0 + 1e-4), "{loss:?}: {objectives:?}");
        }
    }
}

#[test]
fn bad_input_is_named() {
    let samples = array![[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]];
    let gram = gram(samples.view());
    assert_eq!(
        Svm::train(gram.view(), &[5, 5, 5], 1.0),
        Err(Error::OneClass { what: "the training set", class: 5 })
    );
    let not_positive =
        |argument, value: f64| Error::NotPositive { argument, value: value.to_string() };
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = Svm::train(gram.view(), &[0, 1, 0], cost).unwrap_err();
        assert_eq!(found, not_positive("the cost C", cost));
    }
    let pairs = KernelPairs::within(samples.view()).unwrap();
    let found = pairs.matrix(Kernel::Gaussian { gamma: -1.0 }).unwrap_err();
    assert_eq!(found, not_positive("gamma", -1.0));
    assert!(matches!(Svm::train(gram.view(), &[0, 1], 1.0), Err(Error::MatrixShape { .. })));
    let grid = SvmGrid::default();
    assert_eq!(
        classify_by_svm(samples.view(), &[0, 1], samples.view(), &grid),
        Err(Error::LabelCount { samples: 3, labels: 2 })
    );
    assert_eq!(
        grid.choose(samples.slice(s![0..0, ..]), &[]).unwrap_err(),
        Error::Empty { what: "the training set" }
    );
    let options = PbdaOptions::new(1.0, 1.0);
    let unlabelled = train_pbda(gram.view(), &[None, None, None], &options);
    assert_eq!(unlabelled.unwrap_err(), Error::Empty { what: "the labelled domain" });
    let one_class = train_dasvm(gram.view(), &[Some(1), Some(1), None], &DasvmOptions::new(1.0, 1));
    assert_eq!(one_class.unwrap_err(), Error::OneClass { what: "the labelled domain", class: 1 });
    let no_target =
        train_dasvm(gram.view(), &[Some(0), Some(1), Some(1)], &DasvmOptions::new(1.0, 1));
    assert_eq!(no_target.unwrap_err(), Error::Empty { what: "the domain without labels" });
    let three = array![[0.0], [1.0], [2.0]];
    let known = LabelledSamples { features: three.view(), labels: &[0, 1, 1] };
    let unknown = LabelledSamples { features: three.view(), labels: &[0, 1, 2] };
    assert_eq!(
        train_mmdt(known, unknown, &MmdtOptions::default()).unwrap_err(),
        Error::UnknownClass { what: "the labelled target", class: 2 }
    );
}
