//! A lower bound from an average of the plans. A convex quadratic Ω lies above each of its linearizations,
//! Ω(γ) ≥ ⟨γ, ∇Ω(x̄)⟩ − Ω(x̄), so that min ⟨γ, C + η∇Ω(x̄)⟩ + λ Ω_s(γ) − η Ω(x̄) is a bound for any x̄. Where η/λ is large the
//! accelerated plans swing about the solution, and their average, whose gradient is that of the gradients, is nearer to it:
//! its bound is several times closer than that of the last plan.

use ndarray::Array2;

use super::iteration::State;
use super::terms::{inner_product, write_linearized};
use super::{GcgProblem, sinkhorn};
use crate::loops::{dot, mix};
use crate::rows::entries;

/// Of the newest plan in the average: 0.1 forgets the way there too slowly, 0.3 averages less.
const NEWEST: f64 = 0.2;

/// ∇Ω and Ω at x̄.
pub(super) struct Average {
    gradient: Array2<f64>,
    value: f64,
}

impl Average {
    /// At the plan alone.
    pub(super) fn at(state: &State) -> Self {
        let value = 0.5 * inner_product(state.plan.view(), state.gradient.view());
        Self { gradient: state.gradient.clone(), value }
    }

    /// Takes in the plan x of a state, or nothing else if that does not swing:
    /// Ω((1 − w) x̄ + w x) = (1 − w)² Ω(x̄) + w (1 − w) ⟨x, ∇Ω(x̄)⟩ + w² Ω(x).
    pub(super) fn add(&mut self, state: &State, swings: bool) {
        let newest = if swings { NEWEST } else { 1.0 };
        let (mut product, mut own) = (0.0, 0.0);
        let rows = state.plan.rows().into_iter().zip(state.gradient.rows());
        for (mut average, (plan, gradient)) in self.gradient.rows_mut().into_iter().zip(rows) {
            let (plan, gradient) = (entries(plan), entries(gradient));
            // A clone of an array of ours, whose rows are slices.
            if let Some(average) = average.as_slice_mut() {
                product += dot(&plan, average);
                own += 0.5 * dot(&plan, &gradient);
                mix(average, &gradient, newest);
            }
        }
        let rest = 1.0 - newest;
        self.value = rest * rest * self.value + newest * rest * product + newest * newest * own;
    }

    /// The bound, with the dual value at the potentials of the last direction and after a few sweeps. The matrices
    /// are scratch.
    pub(super) fn bound(
        &self,
        problem: &GcgProblem<'_>,
        state: &State,
        linearized: &mut Array2<f64>,
        entries: &mut Array2<f64>,
    ) -> f64 {
        let gradients = [(1.0, self.gradient.view()), (0.0, self.gradient.view())];
        write_linearized(problem, gradients, state.plan.view(), 0.0, linearized);
        let masses = (problem.source_mass, problem.target_mass);
        let (cost, weight) = (linearized.view(), problem.entropy_weight);
        sinkhorn::lower_bound(cost, masses, weight, &state.potentials, entries)
            - problem.regularization_weight * self.value
    }
}
