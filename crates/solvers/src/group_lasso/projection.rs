//! From the kernel to a plan inside the transport polytope, and its objective.
//! Masses that are too large are scaled down, and what is then missing is spread: see `remainder`. It does not judge
//! convergence.

use ndarray::{Array1, Array2};

use super::kernel::Kernel;
use super::loops::BLOCK;
use super::problem::Problem;
use crate::Regularizer;
use crate::elementary::cost_and_negentropy;
use crate::entropic::Potentials;
use crate::gcg::Objective;
use crate::loops::dot;
use crate::parts::map_rows;
use crate::regularizers::GroupLasso;
use crate::remainder::Remainder;
use crate::rows::entries;

/// What becomes of the kernel's entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterPlan {
    /// They are still needed.
    KeepKernel,
    /// Their memory is returned while the plan takes its own, so that there is hardly more than one of both at a time.
    FreeKernel,
}

/// How often that is.
const PORTIONS: usize = 32;

/// The plan of the kernel, with each source cut down to its mass and what is then missing spread as a product.
pub(super) fn project(kernel: &mut Kernel, problem: &Problem<'_>, after: AfterPlan) -> Array2<f64> {
    let width = problem.sources.len();
    let (rows, columns) = problem.cost.dim();
    let mut plan = Array2::zeros((rows, columns));
    // A new array is contiguous.
    let masses = plan.as_slice_mut().unwrap_or_default();
    let shrink: Vec<f64> = (kernel.marginal.iter().zip(&problem.source_mass))
        .map(|(sum, mass)| if sum > mass { mass / sum } else { 1.0 })
        .collect();
    let (mut source_lacks, mut target_lacks) = (vec![0.0; rows], vec![0.0; columns]);
    let marginals = kernel.marginal.iter().zip(&shrink).zip(&problem.source_mass);
    for (&source, ((sum, shrink), mass)) in problem.sources.iter().zip(marginals) {
        source_lacks[source] = (mass - shrink * sum).max(0.0);
    }
    if after == AfterPlan::FreeKernel {
        kernel.forget_starts();
    }
    let portion = problem.targets.len().div_ceil(PORTIONS).next_multiple_of(BLOCK);
    // From the last on: that is where memory can be returned.
    for first in (0..problem.targets.len()).step_by(portion).rev() {
        let last = problem.targets.len().min(first + portion);
        for block in (first..last).step_by(BLOCK) {
            let slots = block..last.min(block + BLOCK);
            let mut roots = [0.0; BLOCK];
            for (slot, root) in slots.clone().zip(&mut roots) {
                let mass = problem.target_mass[slot];
                *root = mass.sqrt();
                let sum = *root * dot(&kernel.values[slot * width..(slot + 1) * width], &shrink);
                target_lacks[problem.targets[slot]] = (mass - sum).max(0.0);
            }
            for (position, (&source, shrink)) in problem.sources.iter().zip(&shrink).enumerate() {
                let row = &mut masses[source * columns..(source + 1) * columns];
                for (slot, root) in slots.clone().zip(&roots) {
                    row[problem.targets[slot]] =
                        kernel.values[slot * width + position] * root * shrink;
                }
            }
        }
        if after == AfterPlan::FreeKernel {
            kernel.values.truncate(first * width);
            kernel.values.shrink_to_fit();
        }
    }
    let remainder = Remainder::new(target_lacks);
    for ((mut row, costs), lack) in
        plan.rows_mut().into_iter().zip(problem.cost.rows()).zip(source_lacks)
    {
        // A new array is always contiguous.
        if let Some(row) = row.as_slice_mut() {
            remainder.add_to(lack, row, &entries(costs));
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
    let parts = map_rows(plan.dim(), |rows| {
        let (mut transport, mut negentropy) = (0.0, 0.0);
        for row in rows {
            let sums =
                cost_and_negentropy(&entries(plan.row(row)), &entries(problem.cost.row(row)));
            transport += sums.0;
            negentropy += sums.1;
        }
        (transport, negentropy)
    });
    let transport = parts.iter().map(|part| part.0).sum();
    let negentropy = parts.iter().map(|part| part.1).sum::<f64>();
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
