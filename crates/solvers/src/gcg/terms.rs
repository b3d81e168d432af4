//! The terms of eq. `optreg_disc` at a plan, and its linearization there. Row by row: what a row is read for once more
//! is then still in the cache.

use ndarray::{Array2, ArrayView2};

use super::{GcgProblem, Objective};
use crate::elementary::{cost_and_negentropy, subtract_logarithms};
use crate::loops::{dot, mix, scale_and_accumulate};
use crate::rows::entries;

/// C + η Σ weight · G − τ ln γ, for gradients G with their weights.
pub(super) fn write_linearized(
    problem: &GcgProblem<'_>,
    gradients: &[(f64, ArrayView2<'_, f64>)],
    plan: ArrayView2<'_, f64>,
    damping: f64,
    linearized: &mut Array2<f64>,
) {
    for (row, mut linearized) in linearized.rows_mut().into_iter().enumerate() {
        let Some(linearized) = linearized.as_slice_mut() else { continue };
        linearized.copy_from_slice(&entries(problem.cost.row(row)));
        for (weight, gradient) in gradients {
            let weight = problem.regularization_weight * weight;
            scale_and_accumulate(&entries(gradient.row(row)), weight, linearized);
        }
        if damping > 0.0 {
            subtract_logarithms(linearized, &entries(plan.row(row)), damping);
        }
    }
}

pub(super) fn objective(
    problem: &GcgProblem<'_>,
    plan: ArrayView2<'_, f64>,
    gradient: ArrayView2<'_, f64>,
) -> Objective {
    let mut sums = Sums::default();
    for ((plan, gradient), cost) in
        plan.rows().into_iter().zip(gradient.rows()).zip(problem.cost.rows())
    {
        sums.add(&entries(plan), &entries(gradient), &entries(cost));
    }
    let regularization = if problem.regularizer.is_quadratic() {
        0.5 * sums.slope
    } else {
        problem.regularizer.value(plan)
    };
    sums.objective(problem, regularization)
}

/// Moves a plan and its ∇Ω_c, for a quadratic Ω_c, by a share of the way to another, and returns the objective there.
pub(super) fn move_quadratic(
    problem: &GcgProblem<'_>,
    (plan, gradient): (&mut Array2<f64>, &mut Array2<f64>),
    (to, to_gradient): (ArrayView2<'_, f64>, ArrayView2<'_, f64>),
    share: f64,
) -> Objective {
    let mut sums = Sums::default();
    let rows = plan.rows_mut().into_iter().zip(gradient.rows_mut());
    let ends = to.rows().into_iter().zip(to_gradient.rows()).zip(problem.cost.rows());
    for ((mut plan, mut gradient), ((to, to_gradient), cost)) in rows.zip(ends) {
        if let (Some(plan), Some(gradient)) = (plan.as_slice_mut(), gradient.as_slice_mut()) {
            mix(plan, &entries(to), share);
            mix(gradient, &entries(to_gradient), share);
            sums.add(plan, gradient, &entries(cost));
        }
    }
    let regularization = 0.5 * sums.slope;
    sums.objective(problem, regularization)
}

/// ⟨γ, C⟩, Σ γ ln γ and ⟨γ, ∇Ω_c⟩.
#[derive(Default)]
struct Sums {
    transport: f64,
    negentropy: f64,
    slope: f64,
}

impl Sums {
    fn add(&mut self, plan: &[f64], gradient: &[f64], cost: &[f64]) {
        let (transport, negentropy) = cost_and_negentropy(plan, cost);
        self.transport += transport;
        self.negentropy += negentropy;
        self.slope += dot(plan, gradient);
    }

    fn objective(&self, problem: &GcgProblem<'_>, regularization: f64) -> Objective {
        Objective {
            transport: self.transport,
            entropy: problem.entropy_weight * self.negentropy,
            regularization: problem.regularization_weight * regularization,
        }
    }
}

pub(super) fn inner_product(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> f64 {
    let rows = left.rows().into_iter().zip(right.rows());
    rows.map(|(left, right)| dot(&entries(left), &entries(right))).sum()
}
