//! PCA, GFK, subspace alignment and CORAL against what defines them.

mod common;

use std::f64::consts::FRAC_PI_2;

use baselines::{CoralOptions, Error, Gfk, Pca, PcaOptions, SubspaceAlignment, coral};
use common::{assert_close, centred, products, right_singular, spectral, uniform};
use ndarray::{Array1, Array2, ArrayView2, Axis, array, concatenate, s};

const PLAIN: PcaOptions = PcaOptions { whiten: false };

/// The first k principal axes, by a full singular value decomposition.
fn principal_axes(samples: ArrayView2<'_, f64>, k: usize) -> Array2<f64> {
    right_singular(centred(samples).view()).1.slice_move(s![.., ..k])
}

/// Samples whose singular values are exactly those given.
fn with_spectrum(rows: usize, width: usize, spectrum: &[f64], seed: u64) -> Array2<f64> {
    let rank = spectrum.len();
    let left = right_singular(centred(uniform(rows, rank, seed).view()).t()).1;
    let right = right_singular(uniform(rank, width, seed + 1).view()).1;
    (left * Array1::from(spectrum.to_vec())).dot(&right.t())
}

#[test]
fn pca_is_the_projection_on_the_leading_singular_vectors_in_any_shape() {
    for (in_source, in_target, width) in [(30, 25, 12), (9, 11, 40), (20, 20, 40)] {
        let (source, target) = (uniform(in_source, width, 1), uniform(in_target, width, 2) + 0.5);
        let all = concatenate![Axis(0), source, target];
        let pca = Pca::fit(source.view(), target.view(), 10, PLAIN).unwrap();
        for k in [1, 4, 10] {
            let projected = centred(all.view()).dot(&principal_axes(all.view(), k));
            let embedding = pca.embed(k).unwrap();
            let ours = concatenate![Axis(0), embedding.source, embedding.target];
            assert_close(&products(&ours, &ours), &products(&projected, &projected), 1e-12);
        }
    }
}

#[test]
fn pca_keeps_its_components_behind_gaps_clusters_and_missing_ranks() {
    let spectra: [&[f64]; 3] = [
        &[1e3, 1e3, 1e3, 1.0, 1.0, 1e-2],
        &[1.0, 1.0 - 1e-9, 1.0 - 2e-9, 0.5, 0.5, 0.25],
        &[1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5],
    ];
    for spectrum in spectra {
        for width in [8, 50] {
            let all = with_spectrum(24, width, spectrum, 3);
            let (source, target) = all.view().split_at(Axis(0), 10);
            let pca = Pca::fit(source, target, 20, PLAIN).unwrap();
            assert_eq!(pca.max_k(), spectrum.len());
            let embedding = pca.embed(spectrum.len()).unwrap();
            let ours = concatenate![Axis(0), embedding.source, embedding.target];
            // Column by column the variance of the spectrum, and together the samples themselves.
            for (column, value) in ours.columns().into_iter().zip(spectrum) {
                let norm = column.dot(&column).sqrt();
                assert!((norm / value - 1.0).abs() < 1e-4, "{norm} instead of {value}");
            }
            assert_close(&products(&ours, &ours), &products(&all, &all), 1e-12);
        }
    }
}

#[test]
fn whitened_components_are_the_plain_ones_with_unit_variance() {
    let (source, target) = (uniform(30, 12, 1), uniform(25, 12, 2) + 0.5);
    let plain = Pca::fit(source.view(), target.view(), 6, PLAIN).unwrap().embed(6).unwrap();
    let whitened =
        Pca::fit(source.view(), target.view(), 6, PcaOptions::default()).unwrap().embed(6).unwrap();
    let all = concatenate![Axis(0), whitened.source, whitened.target];
    assert_close(&(all.t().dot(&all) / 55.0), &Array2::eye(6), 1e-12);
    let ratios = &plain.source / &whitened.source;
    for column in ratios.columns() {
        assert!(column.iter().all(|ratio| (ratio / column[0] - 1.0).abs() < 1e-9));
    }
}

/// Where there is no gap for it to fail behind, linfa's PCA agrees.
#[test]
fn pca_agrees_with_linfa_on_a_flat_spectrum() {
    use linfa::traits::{Fit as _, Predict as _};

    let (source, target) = (uniform(40, 6, 1), uniform(30, 6, 2));
    let all = concatenate![Axis(0), source, target];
    let dataset = linfa::DatasetBase::from(all.clone());
    let theirs = linfa_reduction::Pca::params(3).fit(&dataset).unwrap().predict(&all);
    let embedding = Pca::fit(source.view(), target.view(), 3, PLAIN).unwrap().embed(3).unwrap();
    let ours = concatenate![Axis(0), embedding.source, embedding.target];
    assert_close(&products(&ours, &ours), &products(&theirs, &theirs), 1e-6);
}

/// G by the midpoint rule along the geodesic, from its textbook form.
fn integrated_flow(source_axes: &Array2<f64>, target_axes: &Array2<f64>) -> Array2<f64> {
    let (width, k) = source_axes.dim();
    let svd = common::to_faer(source_axes.t().dot(target_axes).view()).svd().unwrap();
    let take = |matrix: faer::MatRef<'_, f64>| Array2::from_shape_fn((k, k), |place| matrix[place]);
    let along = source_axes.dot(&take(svd.U()));
    let aligned = target_axes.dot(&take(svd.V()));
    let steps = 2000;
    let mut flow = Array2::zeros((width, width));
    for (place, &cosine) in svd.S().column_vector().iter().enumerate() {
        let angle = cosine.min(1.0).acos();
        let start = along.column(place).to_owned();
        let mut across = &aligned.column(place) - &(&start * cosine);
        across /= across.dot(&across).sqrt();
        for step in 0..steps {
            let time = (f64::from(step) + 0.5) / f64::from(steps);
            let point = &start * (time * angle).cos() + &across * (time * angle).sin();
            let point = point.insert_axis(Axis(1));
            flow += &(point.dot(&point.t()) / f64::from(steps));
        }
    }
    flow
}

#[test]
fn gfk_is_the_integral_of_the_geodesic_flow() {
    let (source, target) = (uniform(30, 10, 1), uniform(25, 10, 2));
    let gfk = Gfk::fit(source.view(), target.view(), 5).unwrap();
    for k in [1, 3, 5] {
        let flow =
            integrated_flow(&principal_axes(source.view(), k), &principal_axes(target.view(), k));
        let embedding = gfk.embed(k).unwrap();
        assert_close(
            &products(&embedding.source, &embedding.target),
            &source.dot(&flow).dot(&target.t()),
            1e-6,
        );
    }
}

#[test]
fn gfk_between_equal_subspaces_is_the_projection_on_them() {
    let source = uniform(30, 10, 1);
    let target = &source * 2.0 + 1.0;
    let axes = principal_axes(source.view(), 4);
    let embedding = Gfk::fit(source.view(), target.view(), 4).unwrap().embed(4).unwrap();
    let expected = products(&source.dot(&axes), &target.dot(&axes));
    assert_close(&products(&embedding.source, &embedding.target), &expected, 1e-12);
}

#[test]
fn gfk_between_orthogonal_lines_weighs_both_and_their_bisector() {
    // θ = π/2: G = ½ I + 1/π [[0, 1], [1, 0]].
    let (source, target) = (array![[1.0, 0.0], [-1.0, 0.0]], array![[0.0, 1.0], [0.0, -1.0]]);
    let embedding = Gfk::fit(source.view(), target.view(), 1).unwrap().embed(1).unwrap();
    let found = products(&embedding.source, &embedding.source)[[0, 0]];
    assert!((found - 0.5).abs() < 1e-15);
    let crossed = products(&embedding.source, &embedding.target)[[0, 0]].abs();
    assert!((crossed - 0.5 / FRAC_PI_2).abs() < 1e-15);
}

#[test]
fn alignment_brings_the_source_as_close_to_the_target_axes_as_it_can() {
    let (source, target) = (uniform(30, 10, 1), uniform(25, 10, 2) + 3.0);
    let alignment = SubspaceAlignment::fit(source.view(), target.view(), 10).unwrap();
    for k in [1, 4, 10] {
        let embedding = alignment.embed(k).unwrap();
        let (source_axes, target_axes) =
            (principal_axes(source.view(), k), principal_axes(target.view(), k));
        // The transformation of the features, whatever the signs of the axes.
        let transformation =
            source_axes.dot(&source_axes.t()).dot(&target_axes).dot(&target_axes.t());
        let expected = centred(source.view()).dot(&transformation).dot(&centred(target.view()).t());
        assert_close(&products(&embedding.source, &embedding.target), &expected, 1e-12);
    }
    // With all dimensions there is nothing to align: distances are those of the centred samples.
    let embedding = alignment.embed(10).unwrap();
    assert_close(
        &products(&embedding.source, &embedding.source),
        &products(&centred(source.view()), &centred(source.view())),
        1e-12,
    );
}

fn covariance(samples: &Array2<f64>) -> Array2<f64> {
    let centred = centred(samples.view());
    centred.t().dot(&centred) / (samples.nrows() as f64 - 1.0)
}

#[test]
fn coral_gives_the_source_the_targets_covariance() {
    let source = uniform(60, 8, 1) * Array1::linspace(0.5, 3.0, 8);
    let target = uniform(50, 8, 2) * Array1::linspace(4.0, 1.0, 8);
    let options = CoralOptions { regularization: 1e-9 };
    let embedding = coral(source.view(), target.view(), options).unwrap();
    assert_close(&covariance(&embedding.source), &covariance(&target), 1e-6);
    assert_eq!(embedding.target, target);
}

#[test]
fn coral_is_its_formula_with_fewer_samples_than_features_too() {
    for samples in [5, 50] {
        let (source, target) = (uniform(samples, 12, 1), uniform(samples, 12, 2) * 3.0);
        let embedding = coral(source.view(), target.view(), CoralOptions::default()).unwrap();
        let regularized = |samples: &Array2<f64>| covariance(samples) + Array2::<f64>::eye(12);
        let whitening = spectral(regularized(&source).view(), |value| value.sqrt().recip());
        let colouring = spectral(regularized(&target).view(), f64::sqrt);
        assert_close(&embedding.source, &source.dot(&whitening).dot(&colouring), 1e-12);
    }
}

#[test]
fn what_cannot_be_projected_is_said() {
    let samples = uniform(6, 8, 1);
    let constant = Array2::from_elem((4, 8), 0.1);
    let narrow = uniform(6, 3, 1);
    assert_eq!(
        Pca::fit(samples.view(), narrow.view(), 2, PLAIN).unwrap_err(),
        Error::DomainWidths { in_source: 8, in_target: 3 }
    );
    assert!(matches!(
        Pca::fit(constant.view(), constant.view(), 2, PLAIN).unwrap_err(),
        Error::Constant { .. }
    ));
    assert_eq!(
        Gfk::fit(samples.view(), constant.view(), 2).unwrap_err(),
        Error::Constant { what: "the target samples" }
    );
    let gfk = Gfk::fit(samples.view(), samples.view(), 100).unwrap();
    assert_eq!(gfk.max_k(), 4);
    for asked in [0, 5] {
        assert!(matches!(gfk.embed(asked).unwrap_err(), Error::Dimensions { most: 4, .. }));
    }
    let mut broken = samples.clone();
    broken[[2, 3]] = f64::NAN;
    assert_eq!(
        SubspaceAlignment::fit(samples.view(), broken.view(), 2).unwrap_err(),
        Error::NotFinite { what: "target samples", row: 3, column: 4 }
    );
    assert_eq!(
        coral((&samples * 1e200).view(), samples.view(), CoralOptions::default()),
        Err(Error::Overflow)
    );
    for regularization in [0.0, -1.0, f64::NAN] {
        let refused = coral(samples.view(), samples.view(), CoralOptions { regularization });
        assert!(matches!(refused, Err(Error::Parameter { name: "regularization", .. })));
    }
}
