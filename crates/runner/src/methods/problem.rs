//! What a method is given and what it answers.

use std::ops::Range;

use anyhow::{Result, bail};
use ndarray::{ArrayView2, Axis, concatenate};
use serde::{Deserialize, Serialize};

use super::unadapted;
use crate::config::Classifier;
use crate::experiment::Labelled;

/// What a method sees: it adapts the source to the target and labels the queries.
pub struct Problem<'a> {
    pub source: &'a Labelled,
    /// Every target sample that may be looked at; the first ones are those of `labelled_target`.
    pub target: ArrayView2<'a, f64>,
    /// Target samples whose labels are known; none in the unsupervised setting.
    pub labelled_target: &'a Labelled,
    pub queries: Queries<'a>,
    pub classifier: Classifier,
    /// The relative duality gap to which transport problems are solved.
    pub relative_gap: f64,
}

/// The samples to label.
#[derive(Clone)]
pub enum Queries<'a> {
    /// These samples of the target.
    OfTarget(Range<usize>),
    /// Other samples of the target's distribution.
    Other(ArrayView2<'a, f64>),
}

/// What a method makes of one grid point.
pub struct Outcome {
    /// A label for each query.
    pub predicted: Vec<usize>,
    /// How the solver ended, for methods that iterate.
    pub convergence: Option<Convergence>,
    pub seconds: f64,
}

/// How an iterative solver ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    pub stop: String,
    pub iterations: usize,
    /// The duality gap, relative to the objective, where there is one.
    pub relative_gap: Option<f64>,
    /// The largest violation of a marginal before the final projection, of transport plans.
    pub marginal_error: Option<f64>,
}

impl Problem<'_> {
    /// The queries in the space of the target.
    pub fn query_samples(&self) -> ArrayView2<'_, f64> {
        match &self.queries {
            Queries::OfTarget(range) => self.target.slice(ndarray::s![range.clone(), ..]),
            Queries::Other(samples) => samples.view(),
        }
    }

    /// The places of the queries among the target samples, for methods that label no others. The registry says which do
    /// (`labels_other_samples`), so that a config with others is refused before anything is solved.
    pub fn queries_of_target(&self) -> Result<Range<usize>> {
        match &self.queries {
            Queries::OfTarget(range) => Ok(range.clone()),
            Queries::Other(_) => {
                bail!("it labels the target samples that it adapts to, and no others")
            }
        }
    }

    /// Labels the queries by a classifier trained on adapted source samples and the labelled target samples.
    pub fn classify(&self, adapted_source: ArrayView2<'_, f64>) -> Result<Vec<usize>> {
        let known = self.labelled_target.features.view();
        let samples = concatenate![Axis(0), adapted_source, known];
        let labels = [self.source.labels.as_slice(), &self.labelled_target.labels].concat();
        unadapted::classify(self.classifier, samples.view(), &labels, self.query_samples())
    }
}
