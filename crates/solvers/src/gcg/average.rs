//! A lower bound from an average of the plans. A convex quadratic Ω lies above each of its linearizations,
//! Ω(γ) ≥ ⟨γ, ∇Ω(x̄)⟩ − Ω(x̄), so that min ⟨γ, C + η∇Ω(x̄)⟩ + λ Ω_s(γ) − η Ω(x̄) is a bound for any x̄. Where η/λ is large the
//! accelerated plans swing about the solution, and their average, whose gradient is that of the gradients, is nearer to it:
//! its bound is up to six times closer than that of the last plan.

use ndarray::Array2;
use rayon::prelude::*;

use super::iteration::State;
use super::terms::{inner_product, write_linearized};
use super::{GcgProblem, sinkhorn};
use crate::loops::{dot, mix};
use crate::parts::rows_of_a_part;
use crate::rows::entries;

/// Of the newest plan in the average. Of 0.03, 0.06, 0.1 and 0.2 the one that needed the fewest directions on five problems of
/// moons, objects and digits; the smaller ones forget the way there too slowly.
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
        let (rows, columns) = self.gradient.dim();
        let of_a_part = rows_of_a_part(rows, columns, 1);
        let State { plan, gradient, .. } = state;
        // A clone of an array of ours, which is contiguous.
        let averages = self.gradient.as_slice_mut().unwrap_or_default();
        let parts: Vec<(f64, f64)> = averages
            .par_chunks_mut(of_a_part * columns)
            .enumerate()
            .map(|(part, averages)| {
                let (mut product, mut own) = (0.0, 0.0);
                for (offset, average) in averages.chunks_exact_mut(columns).enumerate() {
                    let row = part * of_a_part + offset;
                    let (plan, gradient) = (entries(plan.row(row)), entries(gradient.row(row)));
                    product += dot(&plan, average);
                    own += 0.5 * dot(&plan, &gradient);
                    mix(average, &gradient, newest);
                }
                (product, own)
            })
            .collect();
        let (product, own) =
            parts.into_iter().fold((0.0, 0.0), |all, part| (all.0 + part.0, all.1 + part.1));
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
        let gradient = (1.0, self.gradient.view());
        write_linearized(problem, &[gradient], state.plan.view(), 0.0, linearized);
        let masses = (problem.source_mass, problem.target_mass);
        let (cost, weight) = (linearized.view(), problem.entropy_weight);
        sinkhorn::lower_bound(cost, masses, weight, &state.potentials, entries)
            - problem.regularization_weight * self.value
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::Average;
    use crate::entropic::Workspace;
    use crate::gcg::iteration::State;
    use crate::gcg::{GcgOptions, GcgProblem, solve_gcg};
    use crate::marginals::uniform_mass;
    use crate::regularizers::Laplacian;

    #[test]
    fn no_average_of_plans_bounds_the_objective_from_above() {
        let spread = |rows: usize, shift: f64| {
            Array2::from_shape_fn((rows, 2), |(i, j)| ((i * i + 3 * j) as f64 + shift).sin())
        };
        let (source, target) = (spread(9, 0.0), spread(7, 0.5));
        let labels = [0, 1, 2, 0, 1, 2, 0, 1, 2];
        let (a, b) = (uniform_mass(9), uniform_mass(7));
        let samples = (source.view(), target.view());
        let laplacian =
            Laplacian::of_nearest_neighbours(samples, &labels, (&a, &b), 2, 0.5).unwrap();
        let cost = Array2::from_shape_fn((9, 7), |(i, j)| {
            (0..2).map(|k| (source[[i, k]] - target[[j, k]]).powi(2)).sum::<f64>()
        });
        let problem = GcgProblem {
            cost: cost.view(),
            source_mass: &a,
            target_mass: &b,
            entropy_weight: 0.05,
            regularizer: &laplacian,
            regularization_weight: 20.0,
        };
        let (workspace, options) = (&mut Workspace::default(), &GcgOptions::default());
        let least = solve_gcg(&problem, None, workspace, options).unwrap();
        let mut average = None;
        let mut scratch = (Array2::zeros(cost.dim()), Array2::zeros(cost.dim()));
        for weight in [10.0, 1.0, 0.3, 0.1, 0.05] {
            let state = State::at_entropic_plan(&problem, weight, workspace, options).unwrap();
            let average = average.get_or_insert_with(|| Average::at(&state));
            average.add(&state, true);
            let bound = average.bound(&problem, &state, &mut scratch.0, &mut scratch.1);
            assert!(bound < least.objective.total(), "{weight}: {bound}");
        }
        // At the solution alone it is nearly reached.
        let state = State::at(&problem, least.plan, least.potentials, problem.entropy_weight);
        let bound = Average::at(&state).bound(&problem, &state, &mut scratch.0, &mut scratch.1);
        let gap = least.objective.total() - bound;
        assert!((0.0..1e-4).contains(&gap), "{gap}");
    }
}
