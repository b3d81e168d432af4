//! The transport problem that a method's settings make of samples.

use anyhow::Result;
use ndarray::Array2;
use solvers::cost::{cost_matrix, normalize_cost};
use solvers::marginals::uniform_mass;
use solvers::regularizers::Laplacian;
use solvers::semi_supervised::forbid_crossing_labels;

use super::Problem;
use crate::config::{MethodConfig, TargetLabels};
use crate::costs::{Cost, Normalize};

/// Costs and masses.
pub struct TransportProblem {
    pub cost: Array2<f64>,
    pub source_mass: Vec<f64>,
    pub target_mass: Vec<f64>,
}

impl TransportProblem {
    /// The settings' costs, normalised, between all samples; those that cross known labels are forbidden (eq. `ssl`) if
    /// the settings want it.
    pub fn new(problem: &Problem<'_>, config: &MethodConfig) -> Result<Self> {
        let source = problem.source.features.view();
        let cost = cost_matrix(source, problem.target, metric(config).into())?;
        let cost = normalize_cost(cost, config.normalize.unwrap_or(Normalize::None).into())?;
        let source_mass = uniform_mass(source.nrows());
        let target_mass = uniform_mass(problem.target.nrows());
        let cost = match config.target_labels {
            Some(TargetLabels::Plan) => {
                let mut labels: Vec<Option<usize>> =
                    problem.labelled_target.labels.iter().copied().map(Some).collect();
                labels.resize(problem.target.nrows(), None);
                let source_labels = &problem.source.labels;
                forbid_crossing_labels(cost, source_labels, &labels, &source_mass, &target_mass)?
            }
            Some(TargetLabels::Classifier) | None => cost,
        };
        Ok(Self { cost, source_mass, target_mass })
    }
}

/// OT-Laplace's Ω of the samples, eq. `reglaps2`.
pub fn laplacian(
    problem: &Problem<'_>,
    masses: (&[f64], &[f64]),
    neighbours: usize,
    alpha: f64,
) -> Result<Laplacian> {
    let samples = (problem.source.features.view(), problem.target);
    let labels = &problem.source.labels;
    Ok(Laplacian::of_nearest_neighbours(samples, labels, masses, neighbours, alpha)?)
}

/// The cost that settings name.
pub fn metric(config: &MethodConfig) -> Cost {
    config.cost.unwrap_or(Cost::Sqeuclidean)
}
