//! From the kernel to a plan inside the transport polytope, and its objective.
//! The rounding is that of Altschuler, Weed and Rigollet (2017, arXiv:1705.09634), except that the
//! remainder avoids forbidden pairs. It does not judge convergence.

use std::borrow::Cow;

use ndarray::{Array1, Array2};

use super::kernel::Kernel;
use super::problem::Problem;
use crate::Regularizer;
use crate::elementary::cost_and_negentropy;
use crate::entropic::Potentials;
use crate::gcg::Objective;
use crate::regularizers::GroupLasso;

/// Missing mass below this is rounding; spreading it would fill the zeros of a sparse plan.
const NEGLIGIBLE_REMAINDER: f64 = 1e-14;

/// The plan of the kernel, with each source cut down to its mass and what is then missing spread as a product.
pub(super) fn project(kernel: &Kernel, problem: &Problem<'_>) -> Array2<f64> {
    let width = problem.sources.len();
    let mut plan = Array2::zeros(problem.cost.raw_dim());
    let shrink: Vec<f64> = (kernel.marginal.iter().zip(&problem.source_mass))
        .map(|(sum, mass)| if sum > mass { mass / sum } else { 1.0 })
        .collect();
    let roots: Vec<f64> = problem.target_mass.iter().map(|mass| mass.sqrt()).collect();
    let mut missing = problem.target_mass.clone();
    let mut lacks = Vec::with_capacity(width);
    for (position, (&source, shrink)) in problem.sources.iter().zip(&shrink).enumerate() {
        let mut row = plan.row_mut(source);
        let mut sum = 0.0;
        for (slot, &target) in problem.targets.iter().enumerate() {
            let mass = kernel.values[slot * width + position] * roots[slot] * shrink;
            row[target] = mass;
            missing[slot] -= mass;
            sum += mass;
        }
        lacks.push((problem.source_mass[position] - sum).max(0.0));
    }
    for lack in &mut missing {
        *lack = lack.max(0.0);
    }
    let total = lacks.iter().sum::<f64>().max(missing.iter().sum());
    if total > NEGLIGIBLE_REMAINDER {
        for (&source, lack) in problem.sources.iter().zip(&lacks) {
            for (&target, missing) in problem.targets.iter().zip(&missing) {
                if problem.cost[[source, target]] < f64::INFINITY {
                    plan[[source, target]] += lack / total * missing;
                }
            }
        }
    }
    plan
}

/// The objective at a plan, by terms.
pub(super) fn objective(
    plan: &Array2<f64>,
    problem: &Problem<'_>,
    entropy_weight: f64,
) -> Objective {
    let (mut transport, mut negentropy) = (0.0, 0.0);
    for (masses, costs) in plan.rows().into_iter().zip(problem.cost.rows()) {
        let masses = masses.to_slice().map_or_else(|| Cow::Owned(masses.to_vec()), Cow::Borrowed);
        let costs = costs.to_slice().map_or_else(|| Cow::Owned(costs.to_vec()), Cow::Borrowed);
        let sums = cost_and_negentropy(&masses, &costs);
        transport += sums.0;
        negentropy += sums.1;
    }
    Objective {
        transport,
        entropy: entropy_weight * negentropy,
        regularization: problem.regularization_weight
            * GroupLasso::new(problem.labels).value(plan.view()),
    }
}

/// The potentials of all samples; −∞ for those without mass.
pub(super) fn potentials(kernel: &Kernel, problem: &Problem<'_>) -> Potentials {
    let scatter = |len: usize, positions: &[usize], values: &[f64]| {
        let mut all = Array1::from_elem(len, f64::NEG_INFINITY);
        for (&position, &value) in positions.iter().zip(values) {
            all[position] = value;
        }
        all
    };
    let (rows, columns) = problem.cost.dim();
    Potentials {
        source: scatter(rows, &problem.sources, &kernel.potential),
        target: scatter(columns, &problem.targets, &kernel.target_potential),
    }
}
