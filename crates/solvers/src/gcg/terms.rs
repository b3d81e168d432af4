//! The terms of eq. `optreg_disc` at a plan, and its linearization there.

use ndarray::{Array2, ArrayView2, Zip};

use super::{GcgProblem, Objective};
use crate::elementary::{cost_and_negentropy, linearize};

/// C + ηG − τ ln γ in place of G.
pub(super) fn linearize_at(
    problem: &GcgProblem<'_>,
    plan: ArrayView2<'_, f64>,
    damping: f64,
    gradient: &mut Array2<f64>,
) {
    let mut slopes = vec![0.0; gradient.ncols()];
    let terms = problem.cost.rows().into_iter().zip(plan.rows());
    for (mut row, (cost, plan)) in gradient.rows_mut().into_iter().zip(terms) {
        let Some(row) = row.as_slice_mut() else { continue };
        slopes.copy_from_slice(row);
        let weight = problem.regularization_weight;
        match (cost.as_slice(), plan.as_slice()) {
            (Some(cost), Some(plan)) => linearize(row, (cost, &slopes, plan), weight, damping),
            _ => linearize(row, (&cost.to_vec(), &slopes, &plan.to_vec()), weight, damping),
        }
    }
}

pub(super) fn objective(
    problem: &GcgProblem<'_>,
    plan: ArrayView2<'_, f64>,
    gradient: ArrayView2<'_, f64>,
) -> Objective {
    let (transport, negentropy) = transport_and_negentropy(plan, problem.cost);
    let regularization = if problem.regularizer.is_quadratic() {
        0.5 * inner_product(plan, gradient)
    } else {
        problem.regularizer.value(plan)
    };
    Objective {
        transport,
        entropy: problem.entropy_weight * negentropy,
        regularization: problem.regularization_weight * regularization,
    }
}

/// ⟨γ, C⟩ and Σ γ ln γ.
fn transport_and_negentropy(plan: ArrayView2<'_, f64>, cost: ArrayView2<'_, f64>) -> (f64, f64) {
    plan.rows().into_iter().zip(cost.rows()).fold((0.0, 0.0), |sums, (plan, cost)| {
        let (transport, negentropy) = match (plan.as_slice(), cost.as_slice()) {
            (Some(plan), Some(cost)) => cost_and_negentropy(plan, cost),
            _ => cost_and_negentropy(&plan.to_vec(), &cost.to_vec()),
        };
        (sums.0 + transport, sums.1 + negentropy)
    })
}

pub(super) fn inner_product(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> f64 {
    Zip::from(left).and(right).fold(0.0, |sum, &left, &right| sum + left * right)
}
