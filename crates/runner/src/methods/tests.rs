//! What the registry says of its methods, asked of the methods themselves.

use ndarray::{Array2, s};

use super::{METHODS, Method, Problem, Queries, ValueRange};
use crate::config::{Classifier, MethodConfig, Point};
use crate::experiment::Labelled;

/// Two classes beside each other.
fn samples(count: usize, shift: f64) -> Labelled {
    let features = Array2::from_shape_fn((count, 3), |(row, column)| {
        let scatter = ((row * 7 + column * 3) as f64 * std::f64::consts::SQRT_2).fract();
        scatter + shift + 4.0 * (row % 2) as f64
    });
    Labelled { features, labels: (0..count).map(|row| row % 2).collect() }
}

/// The first point of the paper's grid; what counts something fits three features.
fn point(method: &Method) -> Point {
    let value = |range, first| if range == ValueRange::Count { 1.0 } else { first };
    let axes = method.axes.iter();
    Point(axes.map(|axis| (axis.name.into(), value(axis.range, axis.paper[0]))).collect())
}

#[test]
fn the_registry_knows_which_methods_label_other_samples() {
    let (source, target, other) = (samples(12, 0.0), samples(14, 1.0), samples(6, 1.5));
    let labelled_target = Labelled {
        features: target.features.slice(s![..4, ..]).to_owned(),
        labels: target.labels[..4].to_vec(),
    };
    for method in METHODS {
        let sweep = |queries| {
            let problem = Problem {
                source: &source,
                target: target.features.view(),
                labelled_target: &labelled_target,
                queries,
                classifier: Classifier::Nearest,
                relative_gap: 1e-3,
            };
            (method.sweep)(&problem, &MethodConfig::of_paper(method), &[point(method)])
        };
        let of_target = sweep(Queries::OfTarget(4..14));
        assert_eq!(of_target.unwrap()[0].predicted.len(), 10, "{}", method.id);
        match sweep(Queries::Other(other.features.view())) {
            Ok(outcomes) => {
                assert!(method.labels_other_samples, "{}", method.id);
                assert_eq!(outcomes[0].predicted.len(), 6, "{}", method.id);
            }
            Err(problem) => {
                assert!(!method.labels_other_samples, "{}: {problem:#}", method.id);
                assert!(problem.to_string().contains("and no others"), "{problem:#}");
            }
        }
    }
}
