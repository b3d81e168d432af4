//! A lower bound of the objective that holds however roughly the groups were solved.
//! The norm is the largest of ⟨w, γ⟩ over ‖w‖ ≤ 1, so that for any such w one group's maximum of
//! ⟨s, γ⟩ − λ Σ γ (ln γ − 1) − η ‖γ‖ is at most λ Σ exp((s_i − η w_i)/λ), with equality where w is its direction
//! γ/‖γ‖. With the directions that the kernel found, D = a·u + b·v + λ (1 − Σ exp((s − η w)/λ)) is a value that no
//! plan's objective is below, and nearly that of the dual at the same potentials.

use std::ops::Range;

use super::kernel::Kernel;
use super::loops::scaled_slacks;
use super::problem::Problem;
use crate::elementary::exp_shifted;
use crate::loops::{dot, scale_and_accumulate};
use crate::parts::map_rows;

/// The bound D at the potentials and the directions of a kernel.
pub(super) fn lower_bound(kernel: &Kernel, problem: &Problem<'_>, entropy_weight: f64) -> f64 {
    let size = (problem.targets.len(), problem.sources.len());
    let of_targets = map_rows(size, |targets| terms_of(targets, kernel, problem, entropy_weight));
    let of_sources = dot(&kernel.potential, &problem.source_mass);
    entropy_weight + of_sources + of_targets.iter().sum::<f64>()
}

/// What some targets add to the bound.
fn terms_of(
    targets: Range<usize>,
    kernel: &Kernel,
    problem: &Problem<'_>,
    entropy_weight: f64,
) -> f64 {
    let (width, classes) = (problem.sources.len(), problem.classes());
    let ratio = problem.regularization_weight / entropy_weight;
    let mut exponents = vec![0.0; width];
    let mut direction = vec![0.0; width];
    let mut terms = 0.0;
    problem.visit_costs(targets, |target, costs| {
        let (potential, mass) = (kernel.target_potential[target], problem.target_mass[target]);
        scaled_slacks(costs, &kernel.potential, entropy_weight.recip(), &mut exponents);
        for class in 0..classes {
            let range = problem.class(class);
            kernel.write_direction(problem, (target, class), &mut direction[range.clone()]);
            let direction = &direction[range.clone()];
            let scale = ratio / dot(direction, direction).sqrt();
            scale_and_accumulate(direction, -scale, &mut exponents[range]);
        }
        let sum = exp_shifted(&mut exponents, -potential / entropy_weight, 1.0);
        terms += mass * potential - entropy_weight * sum;
    });
    terms
}

#[cfg(test)]
mod tests {
    use super::lower_bound;
    use crate::group_lasso::ascent::{Ascent, Goal};
    use crate::group_lasso::problem::Problem;
    use crate::group_lasso::projection::AfterPlan;
    use crate::group_lasso::{GroupLassoProblem, continuation::Continuation, projection};
    use ndarray::Array2;

    /// The bound and the objective of a plan, with directions that are wrong by a share of each entry.
    fn bound_and_objective(entropy_weight: f64, eta: f64, wrong_by: f64) -> (f64, f64, f64) {
        let cost = Array2::from_shape_fn((9, 7), |(i, j)| {
            0.3 + ((3 * i + 5 * j) % 11) as f64 / 7.0 + 0.01 * (i * j) as f64
        });
        let masses = ([1.0 / 9.0; 9], [1.0 / 7.0; 7]);
        let problem = GroupLassoProblem {
            cost: cost.view(),
            source_mass: &masses.0,
            target_mass: &masses.1,
            source_labels: &[0, 1, 2, 0, 1, 2, 0, 1, 2],
            regularization_weight: eta,
        };
        let problem = Problem::new(&problem).unwrap();
        let mut ascent = Ascent::default();
        ascent.resize(&problem);
        let goal = Goal { entropy_weight, tolerance: 1e-11, iteration_limit: 200 };
        Continuation::cold(&mut ascent, &problem, entropy_weight).descend(
            &mut ascent,
            &problem,
            goal,
        );
        let plan = projection::project(&mut ascent.kernel, &problem, AfterPlan::KeepKernel);
        let objective = projection::objective(&plan, &problem, entropy_weight).total();
        for (k, value) in ascent.kernel.values.iter_mut().enumerate() {
            *value *= 1.0 + wrong_by * (k as f64).sin();
        }
        (lower_bound(&ascent.kernel, &problem, entropy_weight), objective, ascent.value.value)
    }

    #[test]
    fn no_direction_makes_it_exceed_the_least_objective() {
        for (entropy_weight, eta) in [(1.0, 1.0), (0.1, 3.0), (0.05, 0.2)] {
            for wrong_by in [1e-6, 1e-3, 0.1, 0.9] {
                let (bound, objective, _) = bound_and_objective(entropy_weight, eta, wrong_by);
                assert!(bound < objective, "{entropy_weight}, {eta}, {wrong_by}: {bound}");
            }
        }
    }

    #[test]
    fn the_right_directions_give_the_value_of_the_dual() {
        for (entropy_weight, eta) in [(1.0, 1.0), (0.1, 3.0), (0.05, 0.2), (0.1, 0.0)] {
            let (bound, objective, value) = bound_and_objective(entropy_weight, eta, 0.0);
            assert!((bound - value).abs() <= 1e-11 * value.abs(), "{bound} and {value}");
            assert!(objective - bound <= 1e-9 * objective.abs(), "{bound} and {objective}");
        }
    }
}
