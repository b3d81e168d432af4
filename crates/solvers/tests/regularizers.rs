//! Values and gradients of the regularizers against their definitions and finite differences.

mod common;

use common::{cloud, random_plan, uniform};
use ndarray::{Array2, ArrayView2, Axis};
use solvers::graph::NeighbourGraph;
use solvers::marginals::class_reweighted_mass;
use solvers::regularizers::{GroupLasso, Laplacian, LpL1, Quadratic};
use solvers::{Error, Regularizer, WeightedSum};

const LABELS: [usize; 9] = [0, 2, 0, 1, 1, 2, 0, 2, 2];

fn gradient(regularizer: &dyn Regularizer, plan: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut gradient = Array2::from_elem(plan.raw_dim(), f64::NAN);
    regularizer.gradient(plan, &mut gradient);
    gradient
}

fn assert_gradient_is_that_of_the_value(regularizer: &dyn Regularizer, plan: &Array2<f64>) {
    let gradient = gradient(regularizer, plan.view());
    for (place, &mass) in plan.indexed_iter() {
        let step = 1e-4 * mass;
        let value_at = |shift: f64| {
            let mut moved = plan.clone();
            moved[place] += shift;
            regularizer.value(moved.view())
        };
        let slope = (value_at(step) - value_at(-step)) / (2.0 * step);
        let error = (slope - gradient[place]).abs();
        assert!(error <= 1e-6 * (1.0 + slope.abs()), "{place:?}: {slope} and {}", gradient[place]);
    }
}

fn laplacian(source_mass: &[f64], target_mass: &[f64], trade_off: f64) -> Laplacian {
    let (source, target) = (cloud(9, 3, 1), cloud(7, 3, 2));
    let graphs = (
        NeighbourGraph::nearest(source.view(), 3).unwrap().prune_by_class(&LABELS).unwrap(),
        NeighbourGraph::nearest(target.view(), 2).unwrap(),
    );
    let samples = (source.view(), target.view());
    Laplacian::symmetric(graphs, samples, (source_mass, target_mass), trade_off).unwrap()
}

#[test]
fn gradients_are_those_of_the_values() {
    let plan = random_plan(9, 7, 3);
    let (a, b) = (plan.sum_axis(Axis(1)).to_vec(), plan.sum_axis(Axis(0)).to_vec());
    let group_lasso = GroupLasso::new(&LABELS);
    let lp_l1 = LpL1::new(&LABELS).with_power(0.7).unwrap();
    let uniform_laplacian = laplacian(&uniform(9), &uniform(7), 0.3);
    let weighted_laplacian = laplacian(&a, &b, 0.5);
    let sum =
        WeightedSum::new().and(2.0, &group_lasso).unwrap().and(0.5, &weighted_laplacian).unwrap();
    let quadratic = Quadratic::new(&a, &b);
    let regularizers: [&dyn Regularizer; 6] =
        [&group_lasso, &lp_l1, &uniform_laplacian, &weighted_laplacian, &quadratic, &sum];
    for regularizer in regularizers {
        assert_gradient_is_that_of_the_value(regularizer, &plan);
    }
    let expected =
        2.0 * group_lasso.value(plan.view()) + 0.5 * weighted_laplacian.value(plan.view());
    assert!((sum.value(plan.view()) - expected).abs() <= 1e-14 * expected);
}

#[test]
fn the_group_lasso_sums_the_norms_of_classes_in_columns() {
    let plan = random_plan(9, 7, 4);
    let mut expected = 0.0;
    for column in plan.columns() {
        for class in 0..3 {
            let squares: f64 =
                (0..9).filter(|&row| LABELS[row] == class).map(|row| column[row].powi(2)).sum();
            expected += squares.sqrt();
        }
    }
    assert!((GroupLasso::new(&LABELS).value(plan.view()) - expected).abs() <= 1e-14);
}

#[test]
fn the_quadratic_regularizer_is_least_for_the_product_of_the_marginals() {
    let plan = random_plan(9, 7, 6);
    let (a, b) = (plan.sum_axis(Axis(1)), plan.sum_axis(Axis(0)));
    let quadratic = Quadratic::new(&a.to_vec(), &b.to_vec());
    let product = a.insert_axis(Axis(1)).dot(&b.insert_axis(Axis(0)));
    assert!((quadratic.value(product.view()) - 0.5).abs() <= 1e-14);
    // At the product the slope is the same everywhere: no other plan with these marginals has less.
    assert!(gradient(&quadratic, product.view()).iter().all(|slope| (slope - 1.0).abs() <= 1e-13));
    assert!(quadratic.value(plan.view()) > 0.5);
}

#[test]
fn an_empty_group_has_no_slope_and_no_nan() {
    let plan = Array2::zeros((9, 7));
    assert!(gradient(&GroupLasso::new(&LABELS), plan.view()).iter().all(|&slope| slope == 0.0));
    let tiny = Array2::from_elem((9, 7), 1e-300);
    let slopes = gradient(&GroupLasso::new(&LABELS), tiny.view());
    assert!(slopes.iter().all(|slope| (0.0..=1.0).contains(slope)));
}

/// Eq. `reglapsurce`, sample by sample, halved as in eq. `reglaps`.
fn laplacian_by_definition(
    plan: &Array2<f64>,
    graph: &NeighbourGraph,
    destination: &Array2<f64>,
) -> f64 {
    let mut moved = plan.dot(destination);
    for (mut row, mass) in moved.rows_mut().into_iter().zip(plan.sum_axis(Axis(1))) {
        row /= mass;
    }
    let mut sum = 0.0;
    for sample in 0..graph.size() {
        for &other in graph.neighbours(sample) {
            sum += 0.5 * (&moved.row(sample) - &moved.row(other)).mapv(|d| d * d).sum();
        }
    }
    sum / (graph.size() as f64).powi(2)
}

#[test]
fn the_laplacian_is_the_energy_of_the_transported_samples_for_any_marginals() {
    let (source, target) = (cloud(9, 3, 1), cloud(7, 3, 2));
    let plan = random_plan(9, 7, 5);
    let (a, b) = (plan.sum_axis(Axis(1)).to_vec(), plan.sum_axis(Axis(0)).to_vec());
    let graphs = (
        NeighbourGraph::nearest(source.view(), 3).unwrap().prune_by_class(&LABELS).unwrap(),
        NeighbourGraph::nearest(target.view(), 2).unwrap(),
    );
    let of_source = laplacian_by_definition(&plan, &graphs.0, &target);
    let of_target = laplacian_by_definition(&plan.t().to_owned(), &graphs.1, &source);
    let alone = Laplacian::of_source(graphs.0, target.view(), &a).unwrap();
    assert!((alone.value(plan.view()) - of_source).abs() <= 1e-13);
    let value = laplacian(&a, &b, 0.3).value(plan.view());
    assert!((value - (0.7 * of_source + 0.3 * of_target)).abs() <= 1e-13);
    // Ω is a quadratic form.
    let half = 0.5 * (&gradient(&laplacian(&a, &b, 0.3), plan.view()) * &plan).sum();
    assert!((half - value).abs() <= 1e-13);
}

#[test]
fn the_laplacian_of_nearest_neighbours_is_that_of_its_graphs() {
    let (source, target) = (cloud(9, 3, 1), cloud(7, 3, 2));
    let (a, b) = (uniform(9), uniform(7));
    let graphs = (
        NeighbourGraph::nearest(source.view(), 3).unwrap().prune_by_class(&LABELS).unwrap(),
        NeighbourGraph::nearest(target.view(), 3).unwrap(),
    );
    let samples = (source.view(), target.view());
    let apart = Laplacian::symmetric(graphs, samples, (&a, &b), 0.3).unwrap();
    let together = Laplacian::of_nearest_neighbours(samples, &LABELS, (&a, &b), 3, 0.3).unwrap();
    let plan = random_plan(9, 7, 5);
    assert_eq!(together.value(plan.view()), apart.value(plan.view()));
}

#[test]
fn bad_parameters_are_named() {
    let name = |error: Error| match error {
        Error::Argument { name, .. } | Error::Length { name, .. } => name,
        other => panic!("{other}"),
    };
    let lp_l1 = || LpL1::new(&LABELS);
    assert_eq!(name(lp_l1().with_power(0.0).unwrap_err()), "p");
    assert_eq!(name(lp_l1().with_power(1.5).unwrap_err()), "p");
    assert_eq!(name(lp_l1().with_offset(0.0).unwrap_err()), "epsilon");
    let group_lasso = GroupLasso::new(&LABELS);
    assert_eq!(name(WeightedSum::new().and(-1.0, &group_lasso).err().unwrap()), "eta");
    let samples = cloud(9, 3, 1);
    assert_eq!(name(NeighbourGraph::nearest(samples.view(), 9).unwrap_err()), "neighbours");
    assert_eq!(name(NeighbourGraph::nearest(samples.view(), 0).unwrap_err()), "neighbours");
    let graph = || NeighbourGraph::nearest(samples.view(), 3).unwrap();
    assert_eq!(name(graph().prune_by_class(&[0; 4]).unwrap_err()), "labels");
    assert_eq!(
        name(Laplacian::of_source(graph(), samples.view(), &uniform(4)).unwrap_err()),
        "mass"
    );
    let both = Laplacian::symmetric(
        (graph(), graph()),
        (samples.view(), samples.view()),
        (&uniform(9), &uniform(9)),
        1.5,
    );
    assert_eq!(name(both.unwrap_err()), "alpha");
    assert_eq!(name(class_reweighted_mass(&[0, 5], &[0.5, 0.5]).unwrap_err()), "labels");
}
