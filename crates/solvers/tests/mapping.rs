//! Costs, maps and label constraints: closed forms and the paper's theorem.

mod common;

use common::{cloud, random_plan, solve as solve_exactly, squared_distances, uniform};
use ndarray::{Array2, Axis, array, s};
use proptest::prelude::*;
use solvers::Error;
use solvers::cost::{Metric, Normalization, cost_matrix, normalize_cost};
use solvers::entropic::{self, Workspace};
use solvers::mapping::{
    Barycenter, barycentric_map, geodesic, map_by_nearest_source, map_by_potentials,
};
use solvers::semi_supervised::{forbid_crossing_labels, penalize_unlikely_labels};

#[test]
fn samples_without_a_cost_are_refused() {
    let (some, none) = (array![[1.0, 2.0]], Array2::<f64>::zeros((0, 2)));
    for metric in [Metric::SquaredEuclidean, Metric::Euclidean, Metric::Cityblock, Metric::Cosine] {
        let refused = cost_matrix(some.view(), none.view(), metric);
        assert_eq!(refused, Err(Error::Empty { rows: 1, columns: 0 }));
    }
    // Their squares overflow, and so does the difference of these.
    let huge = array![[1e160, 0.0], [0.0, 1e160]];
    let refused = cost_matrix(huge.view(), huge.view(), Metric::SquaredEuclidean);
    assert!(matches!(refused, Err(Error::NotFinite { name: "cost", .. })), "{refused:?}");
}

/// M Mᵀ + I/10 is positive definite for any M.
fn positive_definite(entries: &[f64], width: usize) -> Array2<f64> {
    let root = Array2::from_shape_fn((width, width), |(row, column)| entries[row * width + column]);
    root.dot(&root.t()) + Array2::<f64>::eye(width) * 0.1
}

proptest! {
    /// The theorem of section 3.4: a positive definite affine map is recovered exactly.
    #[test]
    fn positive_definite_affine_maps_are_recovered_exactly(
        samples in 2_usize..25,
        seed in 0_u64..1000,
        entries in prop::collection::vec(-1.0_f64..1.0, 9),
        shift in prop::collection::vec(-5.0_f64..5.0, 3),
    ) {
        let source = cloud(samples, 3, seed);
        let target = source.dot(&positive_definite(&entries, 3)) + &ndarray::Array1::from(shift);
        let cost = cost_matrix(source.view(), target.view(), Metric::SquaredEuclidean).unwrap();
        let masses = uniform(samples);
        let plan = solve_exactly(&cost, &masses, &masses).dense_plan(cost.dim());
        let mapped =
            barycentric_map(plan.view(), target.view(), Barycenter::Mean, source.view()).unwrap();
        for (found, expected) in mapped.iter().zip(&target) {
            prop_assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()));
        }
    }

    /// Bures' formula for the covariances of the samples themselves.
    #[test]
    fn an_affine_map_costs_what_the_formula_for_gaussians_says(
        seed in 0_u64..1000,
        entries in prop::collection::vec(-1.0_f64..1.0, 4),
        shift in prop::collection::vec(-5.0_f64..5.0, 2),
    ) {
        let source = cloud(20, 2, seed);
        let map = positive_definite(&entries, 2);
        let target = source.dot(&map) + &ndarray::Array1::from(shift);
        let (source_mean, target_mean) =
            (source.mean_axis(Axis(0)).unwrap(), target.mean_axis(Axis(0)).unwrap());
        let centred = &source - &source_mean;
        let covariance = centred.t().dot(&centred) / 20.0;
        let trace = |matrix: &Array2<f64>| matrix.diag().sum();
        let bures = trace(&covariance) + trace(&map.dot(&covariance).dot(&map))
            - 2.0 * trace(&map.dot(&covariance));
        let expected = (&source_mean - &target_mean).mapv(|d| d * d).sum() + bures;
        let cost = squared_distances(&source, &target);
        let found = solve_exactly(&cost, &uniform(20), &uniform(20)).cost;
        prop_assert!((found - expected).abs() <= 1e-9 * (1.0 + expected));
    }
}

#[test]
fn metrics_are_what_their_names_say() {
    let (source, target) =
        (array![[0.0, 3.0], [0.0, 0.0]], array![[4.0, 0.0], [1.0, 1.0], [0.0, 6.0]]);
    let between = |metric| cost_matrix(source.view(), target.view(), metric).unwrap();
    let squared = array![[25.0, 5.0, 9.0], [16.0, 2.0, 36.0]];
    assert!((between(Metric::SquaredEuclidean) - squared).iter().all(|error| error.abs() <= 1e-14));
    assert_eq!(between(Metric::Cityblock), array![[7.0, 3.0, 3.0], [4.0, 2.0, 6.0]]);
    let euclidean = between(Metric::Euclidean);
    assert!(
        (euclidean[[0, 0]] - 5.0).abs() <= 1e-14
            && (euclidean[[1, 1]] - 2_f64.sqrt()).abs() <= 1e-14
    );
    let cosine = between(Metric::Cosine);
    assert!((cosine[[0, 0]] - 1.0).abs() <= 1e-15 && cosine[[0, 2]].abs() <= 1e-15);
    assert_eq!(cosine.row(1).to_vec(), [1.0; 3]);
}

#[test]
fn squared_distances_keep_their_digits_far_from_the_origin() {
    let (source, target) = (cloud(20, 5, 1), cloud(30, 5, 2));
    let expected = squared_distances(&source, &target);
    let shifted =
        cost_matrix((&source + 1e5).view(), (&target + 1e5).view(), Metric::SquaredEuclidean)
            .unwrap();
    for (found, expected) in shifted.iter().zip(&expected) {
        assert!((found - expected).abs() <= 1e-9 * (1.0 + expected), "{found} and {expected}");
    }
}

#[test]
fn normalization_divides_by_the_statistic_of_the_finite_costs() {
    let cost = array![[1.0, 2.0], [3.0, 10.0], [f64::INFINITY, 4.0]];
    let largest = |normalization| normalize_cost(cost.clone(), normalization).unwrap()[[1, 1]];
    assert_eq!(largest(Normalization::None), 10.0);
    assert_eq!(largest(Normalization::Max), 1.0);
    assert_eq!(largest(Normalization::Mean), 2.5);
    assert!((largest(Normalization::Median) - 10.0 / 3.0).abs() <= 1e-15);
    let even = array![[1.0, 2.0], [4.0, 8.0]];
    assert_eq!(normalize_cost(even, Normalization::Median).unwrap()[[0, 0]], 1.0 / 3.0);
    let zeros = normalize_cost(Array2::zeros((2, 2)), Normalization::Max).unwrap_err();
    assert!(matches!(zeros, Error::Argument { name: "normalization", .. }));
}

#[test]
fn means_and_medians_go_both_ways_for_any_marginals() {
    let plan = array![[0.1, 0.2, 0.1], [0.0, 0.3, 0.0], [0.2, 0.0, 0.1]];
    let (source, target) = (array![[0.0], [1.0], [2.0]], array![[10.0], [20.0], [40.0]]);
    let map = |plan: &Array2<f64>, to: &Array2<f64>, from: &Array2<f64>, barycenter| {
        barycentric_map(plan.view(), to.view(), barycenter, from.view()).unwrap().column(0).to_vec()
    };
    let means = map(&plan, &target, &source, Barycenter::Mean);
    for (found, expected) in means.iter().zip([22.5, 20.0, 20.0]) {
        assert!((found - expected).abs() <= 1e-13);
    }
    assert_eq!(map(&plan, &target, &source, Barycenter::Median), [20.0, 20.0, 10.0]);
    let back = map(&plan.t().to_owned(), &source, &target, Barycenter::Mean);
    assert!((back[0] - 4.0 / 3.0).abs() <= 1e-13);
    // Between two equal halves every point is a median; the middle is taken.
    let halves = array![[0.5, 0.0, 0.5]];
    assert_eq!(map(&halves, &target, &array![[0.0]], Barycenter::Median), [25.0]);
}

#[test]
fn a_sample_without_mass_stays() {
    let plan = array![[0.0, 0.0], [0.5, 0.5]];
    let (source, target) = (array![[7.0, 8.0], [0.0, 0.0]], array![[1.0, 1.0], [3.0, 3.0]]);
    for barycenter in [Barycenter::Mean, Barycenter::Median] {
        let mapped =
            barycentric_map(plan.view(), target.view(), barycenter, source.view()).unwrap();
        assert_eq!(mapped, array![[7.0, 8.0], [2.0, 2.0]]);
    }
}

#[test]
fn the_geodesic_runs_from_the_source_to_the_target() {
    let (source, target) = (cloud(4, 2, 1), cloud(5, 2, 2));
    let plan = random_plan(4, 5, 3);
    for (time, mean) in
        [(0.0, plan.sum_axis(Axis(1)).dot(&source)), (1.0, plan.sum_axis(Axis(0)).dot(&target))]
    {
        let (points, masses) = geodesic(plan.view(), source.view(), target.view(), time).unwrap();
        assert_eq!(points.nrows(), 20);
        assert!((masses.sum() - 1.0).abs() <= 1e-14);
        let error = (masses.dot(&points) - mean).mapv(f64::abs).sum();
        assert!(error <= 1e-14, "{error}");
    }
    let (points, _) = geodesic(plan.view(), source.view(), target.view(), 0.25).unwrap();
    let expected = &source.row(0) * 0.75 + &target.row(1) * 0.25;
    assert!((&points.row(1) - &expected).mapv(f64::abs).sum() <= 1e-15);
    assert!(geodesic(plan.view(), source.view(), target.view(), 1.5).is_err());
}

#[test]
fn points_outside_the_samples_move_alike_in_any_batch() {
    let (source, target, points) = (cloud(30, 3, 1), cloud(40, 3, 2), cloud(50, 3, 3));
    let cost = squared_distances(&source, &target);
    let (a, b) = (uniform(30), uniform(40));
    let options = entropic::Options::default();
    let solution =
        entropic::solve(cost.view(), &a, &b, 0.5, None, &mut Workspace::default(), &options)
            .unwrap();
    let mapped =
        barycentric_map(solution.plan.view(), target.view(), Barycenter::Mean, source.view())
            .unwrap();

    let nearest = |points: ndarray::ArrayView2<'_, f64>| {
        map_by_nearest_source(points, source.view(), mapped.view()).unwrap()
    };
    let continuous = |points: ndarray::ArrayView2<'_, f64>| {
        map_by_potentials(points, target.view(), &solution.potentials, 0.5).unwrap()
    };
    for map in [&nearest as &dyn Fn(ndarray::ArrayView2<'_, f64>) -> Array2<f64>, &continuous] {
        let whole = map(points.view());
        for (index, image) in whole.rows().into_iter().enumerate() {
            assert_eq!(map(points.slice(s![index..=index, ..])).row(0), image);
        }
        // The samples themselves go where the plan sends them.
        let error = (&map(source.view()) - &mapped).mapv(f64::abs).sum();
        assert!(error <= 1e-7, "{error}");
    }
}

#[test]
fn labels_forbid_pairs_and_too_much_mass_is_explained() {
    let cost = Array2::ones((4, 3));
    let labels = [0, 0, 1, 1];
    let forbid = |target: &[Option<usize>], a: &[f64]| {
        forbid_crossing_labels(cost.clone(), &labels, target, a, &uniform(3))
    };
    let masked = forbid(&[Some(0), None, Some(1)], &uniform(4)).unwrap();
    let infinity = f64::INFINITY;
    assert_eq!(
        masked,
        array![
            [1.0, 1.0, infinity],
            [1.0, 1.0, infinity],
            [infinity, 1.0, 1.0],
            [infinity, 1.0, 1.0]
        ]
    );
    let error = forbid(&[Some(0), Some(0), None], &uniform(4)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("class 0 need a mass of 0.66") && text.contains("have 0.5"), "{text}");
    assert!(forbid(&[Some(0), Some(0), None], &[0.4, 0.3, 0.2, 0.1]).is_ok());
    assert!(matches!(
        forbid(&[Some(0)], &uniform(4)).unwrap_err(),
        Error::Length { name: "target_labels", .. }
    ));
}

#[test]
fn the_plan_respects_the_labels_in_every_solver() {
    let cost = squared_distances(&cloud(12, 2, 1), &cloud(10, 2, 2));
    let labels: Vec<usize> = (0..12).map(|sample| sample % 3).collect();
    let known: Vec<Option<usize>> =
        (0..10).map(|sample| (sample < 6).then_some(sample % 3)).collect();
    let (a, b) = (uniform(12), uniform(10));
    let masked = forbid_crossing_labels(cost, &labels, &known, &a, &b).unwrap();
    let exact = solve_exactly(&masked, &a, &b).dense_plan(masked.dim());
    let options = entropic::Options::default();
    let entropic =
        entropic::solve(masked.view(), &a, &b, 0.1, None, &mut Workspace::default(), &options)
            .unwrap()
            .plan;
    for plan in [exact, entropic] {
        for ((row, column), mass) in plan.indexed_iter() {
            assert!(known[column].is_none_or(|label| label == labels[row]) || *mass == 0.0);
        }
    }
}

#[test]
fn unlikely_labels_cost_more() {
    let probabilities = array![[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]];
    let penalize = |probabilities: &Array2<f64>, weight| {
        penalize_unlikely_labels(Array2::zeros((2, 3)), &[0, 1], probabilities.view(), weight)
    };
    assert_eq!(penalize(&probabilities, 4.0).unwrap(), array![[0.0, 2.0, 3.0], [4.0, 2.0, 1.0]]);
    assert!(matches!(
        penalize(&probabilities, -1.0).unwrap_err(),
        Error::Argument { name: "weight", .. }
    ));
    let wrong = array![[1.0, 0.0], [0.5, 0.5], [0.25, 1.75]];
    assert!(matches!(
        penalize(&wrong, 1.0).unwrap_err(),
        Error::Argument { name: "probabilities", .. }
    ));
}
