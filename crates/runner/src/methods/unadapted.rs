//! Classifiers on the samples as they are.

use std::time::Instant;

use anyhow::Result;
use baselines::SvmGrid;
use ndarray::ArrayView2;

use super::{Outcome, Problem};
use crate::config::{Classifier, MethodConfig, Point};

/// 1NN without adaptation.
pub fn nearest(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    unadapted(problem, Classifier::Nearest, points)
}

/// A Gaussian support-vector machine without adaptation.
pub fn svm(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    unadapted(problem, Classifier::Svm, points)
}

fn unadapted(
    problem: &Problem<'_>,
    classifier: Classifier,
    points: &[Point],
) -> Result<Vec<Outcome>> {
    let label = |_: &Point| {
        let clock = Instant::now();
        let problem = Problem { classifier, queries: problem.queries.clone(), ..*problem };
        let predicted = problem.classify(problem.source.features.view())?;
        Ok(Outcome { predicted, convergence: None, seconds: clock.elapsed().as_secs_f64() })
    };
    points.iter().map(label).collect()
}

/// Labels queries by a classifier trained on some samples.
pub fn classify(
    classifier: Classifier,
    samples: ArrayView2<'_, f64>,
    labels: &[usize],
    queries: ArrayView2<'_, f64>,
) -> Result<Vec<usize>> {
    match classifier {
        Classifier::Nearest => Ok(baselines::classify_by_nearest(samples, labels, queries)?),
        Classifier::Svm => {
            Ok(baselines::classify_by_svm(samples, labels, queries, &SvmGrid::default())?)
        }
    }
}
