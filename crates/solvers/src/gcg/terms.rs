//! The terms of eq. `optreg_disc` at a plan, and its linearization there. Row by row: what a row is read for once more
//! is then still in the cache.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::{GcgProblem, Objective};
use crate::elementary::{cost_and_negentropy, subtract_logarithms};
use crate::loops::{dot, mix, scale_and_accumulate};
use crate::parts::{map_rows, rows_of_a_part};
use crate::rows::entries;

/// C + η Σ weight · G − τ ln γ, for gradients G with their weights.
pub(super) fn write_linearized(
    problem: &GcgProblem<'_>,
    gradients: &[(f64, ArrayView2<'_, f64>)],
    plan: ArrayView2<'_, f64>,
    damping: f64,
    linearized: &mut Array2<f64>,
) {
    let (rows, columns) = linearized.dim();
    let of_a_part = rows_of_a_part(rows, columns, 1);
    let (cost, regularization_weight) = (problem.cost.view(), problem.regularization_weight);
    // A matrix of ours is contiguous.
    let values = linearized.as_slice_mut().unwrap_or_default();
    values.par_chunks_mut(of_a_part * columns).enumerate().for_each(|(part, values)| {
        for (offset, linearized) in values.chunks_exact_mut(columns).enumerate() {
            let row = part * of_a_part + offset;
            linearized.copy_from_slice(&entries(cost.row(row)));
            for (weight, gradient) in gradients {
                let weight = regularization_weight * weight;
                scale_and_accumulate(&entries(gradient.row(row)), weight, linearized);
            }
            if damping > 0.0 {
                subtract_logarithms(linearized, &entries(plan.row(row)), damping);
            }
        }
    });
}

pub(super) fn objective(
    problem: &GcgProblem<'_>,
    plan: ArrayView2<'_, f64>,
    gradient: ArrayView2<'_, f64>,
) -> Objective {
    let cost = problem.cost.view();
    let sums = Sums::total(map_rows(plan.dim(), |rows| {
        let mut sums = Sums::default();
        for row in rows {
            let (plan, gradient) = (plan.row(row), gradient.row(row));
            sums.add(&entries(plan), &entries(gradient), &entries(cost.row(row)));
        }
        sums
    }));
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
    let (rows, columns) = plan.dim();
    let of_a_part = rows_of_a_part(rows, columns, 1);
    let cost = problem.cost.view();
    // Matrices of ours are contiguous.
    let plans = plan.as_slice_mut().unwrap_or_default().par_chunks_mut(of_a_part * columns);
    let gradients = gradient.as_slice_mut().unwrap_or_default();
    let move_part = |(part, (plans, gradients)): (usize, (&mut [f64], &mut [f64]))| {
        let mut sums = Sums::default();
        let rows = plans.chunks_exact_mut(columns).zip(gradients.chunks_exact_mut(columns));
        for (offset, (plan, gradient)) in rows.enumerate() {
            let row = part * of_a_part + offset;
            mix(plan, &entries(to.row(row)), share);
            mix(gradient, &entries(to_gradient.row(row)), share);
            sums.add(plan, gradient, &entries(cost.row(row)));
        }
        sums
    };
    let parts = plans.zip(gradients.par_chunks_mut(of_a_part * columns)).enumerate();
    let sums = Sums::total(parts.map(move_part).collect());
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
    fn total(parts: Vec<Self>) -> Self {
        parts.into_iter().fold(Self::default(), |all, part| Self {
            transport: all.transport + part.transport,
            negentropy: all.negentropy + part.negentropy,
            slope: all.slope + part.slope,
        })
    }

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
    let of_row = |row| dot(&entries(left.row(row)), &entries(right.row(row)));
    map_rows(left.dim(), |rows| rows.map(of_row).sum::<f64>()).into_iter().sum()
}
