//! Entropic transport between classes and columns, from potentials of the classes that are near already. Those of the
//! columns are eliminated: max over F of Σ F_cl A_cl − λ Σ_j b_j ln Σ_cl exp((F_cl − D_cl,j)/λ). Classes are so few that
//! the curvature is a small matrix, and columns so many that every loop is along them; [`crate::entropic`], which
//! expects neither, takes over where Newton's method does not get there.

use multiversion::multiversion;
use ndarray::{Array1, Array2, ArrayView2};

use crate::cholesky::{cholesky, cholesky_solve, complete_laplacian};
use crate::elementary::exp_shifted;
use crate::entropic::{self, Potentials, Workspace};
use crate::error::Result;
use crate::loops::{dot, multiply_and_sum, scale_and_accumulate};
use crate::rows::entries;

/// ℓ₁ error of the masses of the classes; what is left is for the whole problem.
const TOLERANCE: f64 = 1e-6;
/// Newton's method is near enough while no step is longer than this many λ, and each shrinks the error at least to this
/// share.
const LONGEST_STEP: f64 = 3.0;
const SHRINKAGE: f64 = 0.5;
/// Share of the masses on the diagonal of the curvature, which is zero on constants.
const DAMPING: f64 = 1e-10;

/// The problem up to its costs, and its memory.
pub(super) struct Between<'a> {
    class_mass: Vec<f64>,
    target_mass: &'a [f64],
    /// 1/b, and 0 where that would be infinite.
    inverse_mass: Vec<f64>,
    /// Γ.
    pub(super) plan: Array2<f64>,
    /// By columns: the largest F − D, and Σ exp((F − D − that)/λ).
    largest: Vec<f64>,
    sums: Vec<f64>,
    /// ‖Γ(cl, ·)‖₁.
    found_mass: Vec<f64>,
    curvature: Vec<f64>,
    workspace: Workspace,
}

/// What is known of Γ beside its entries.
pub(super) struct Solved {
    pub(super) potentials: Potentials,
    /// ⟨Γ, D⟩ + λ Σ Γ ln Γ.
    pub(super) objective: f64,
    pub(super) dual_objective: f64,
}

impl<'a> Between<'a> {
    pub(super) fn new(class_mass: Vec<f64>, target_mass: &'a [f64]) -> Self {
        let (classes, columns) = (class_mass.len(), target_mass.len());
        Self {
            class_mass,
            target_mass,
            inverse_mass: target_mass.iter().map(|&mass| inverse(mass)).collect(),
            plan: Array2::zeros((classes, columns)),
            largest: vec![0.0; columns],
            sums: vec![0.0; columns],
            found_mass: vec![0.0; classes],
            curvature: vec![0.0; classes * classes],
            workspace: Workspace::default(),
        }
    }

    /// Solves for the costs D, and leaves Γ in `plan`.
    pub(super) fn solve(
        &mut self,
        costs: ArrayView2<'_, f64>,
        entropy_weight: f64,
        start: &Array1<f64>,
    ) -> Result<Solved> {
        let mut potential = start.clone();
        for (potential, mass) in potential.iter_mut().zip(&self.class_mass) {
            if *mass == 0.0 {
                *potential = f64::NEG_INFINITY;
            }
        }
        let mut error = self.evaluate(costs, entropy_weight, &potential);
        while error > TOLERANCE
            && let Some(step) = self.newton_step()
        {
            potential.scaled_add(entropy_weight, &step);
            let before = error;
            error = self.evaluate(costs, entropy_weight, &potential);
            if error.is_nan() || error > TOLERANCE.max(SHRINKAGE * before) {
                potential.scaled_add(-entropy_weight, &step);
                break;
            }
        }
        let target = self.target_potential(entropy_weight);
        if error <= TOLERANCE {
            let of_columns = dual_value(&target, self.target_mass);
            return Ok(Solved {
                objective: dual_value(&potential, &self.found_mass) + of_columns,
                dual_objective: dual_value(&potential, &self.class_mass) + of_columns,
                potentials: Potentials { source: potential, target },
            });
        }
        let solution = entropic::solve(
            costs,
            &self.class_mass,
            self.target_mass,
            entropy_weight,
            Some(&Potentials { source: potential, target }),
            &mut self.workspace,
            &entropic::Options { tolerance: TOLERANCE, ..entropic::Options::default() },
        )?;
        self.plan.assign(&solution.plan);
        Ok(Solved {
            potentials: solution.potentials,
            objective: solution.objective,
            dual_objective: solution.dual_objective,
        })
    }

    /// Γ with the right masses of the columns, and by how much the masses of the classes are wrong.
    fn evaluate(
        &mut self,
        costs: ArrayView2<'_, f64>,
        entropy_weight: f64,
        potential: &Array1<f64>,
    ) -> f64 {
        self.largest.fill(f64::NEG_INFINITY);
        for (costs, &potential) in costs.rows().into_iter().zip(potential) {
            raise(&mut self.largest, potential, &entries(costs));
        }
        self.sums.fill(0.0);
        let rows = costs.rows().into_iter().zip(self.plan.rows_mut());
        for ((costs, mut plan), &potential) in rows.zip(potential) {
            // An array of ours is contiguous.
            let row = plan.as_slice_mut().unwrap_or_default();
            differences(row, potential, &entries(costs), &self.largest);
            exp_shifted(row, 0.0, entropy_weight.recip());
            scale_and_accumulate(row, 1.0, &mut self.sums);
        }
        let scaling: Vec<f64> =
            self.target_mass.iter().zip(&self.sums).map(|(mass, sum)| mass / sum).collect();
        let mut error = 0.0;
        let masses = self.class_mass.iter().zip(&mut self.found_mass);
        for (mut plan, (mass, found)) in self.plan.rows_mut().into_iter().zip(masses) {
            *found = multiply_and_sum(plan.as_slice_mut().unwrap_or_default(), &scaling);
            error += (mass - *found).abs();
        }
        error
    }

    /// The step to where the masses would be right if they changed as they do at the plan, in units of λ; none where that
    /// is too far to be trusted.
    fn newton_step(&mut self) -> Option<Array1<f64>> {
        let masses = self.class_mass.iter().zip(&self.found_mass);
        let mut step: Array1<f64> = masses.map(|(mass, found)| mass - found).collect();
        let classes = self.class_mass.len();
        let mut shares = vec![0.0; self.target_mass.len()];
        for class in 0..classes {
            let masses = entries(self.plan.row(class));
            for ((share, mass), inverse) in shares.iter_mut().zip(&*masses).zip(&self.inverse_mass)
            {
                *share = mass * inverse;
            }
            for other in class + 1..classes {
                let product = dot(&shares, &entries(self.plan.row(other)));
                self.curvature[class * classes + other] = -product;
            }
        }
        // A class without mass has no curvature either, and stays where it is.
        let damped = self.class_mass.iter().map(|&mass| if mass > 0.0 { mass } else { 1.0 });
        complete_laplacian(&mut self.curvature, &damped.collect::<Vec<_>>(), DAMPING);
        if !cholesky(&mut self.curvature, classes) {
            return None;
        }
        cholesky_solve(&self.curvature, step.as_slice_mut()?);
        step.iter().all(|step| step.abs() <= LONGEST_STEP).then_some(step)
    }

    /// G_j = λ ln b_j − λ ln Σ exp((F − D)/λ), at the last evaluation.
    fn target_potential(&self, entropy_weight: f64) -> Array1<f64> {
        let columns = self.target_mass.iter().zip(&self.largest).zip(&self.sums);
        columns.map(|((mass, largest), sum)| entropy_weight * (mass / sum).ln() - largest).collect()
    }
}

fn inverse(mass: f64) -> f64 {
    if mass >= f64::MIN_POSITIVE { mass.recip() } else { 0.0 }
}

/// Σ potential · mass: what a side adds to the dual. A sample or class without mass has the potential −∞.
pub(super) fn dual_value(potential: &Array1<f64>, masses: &[f64]) -> f64 {
    let massive = potential.iter().zip(masses).filter(|(potential, _)| potential.is_finite());
    massive.map(|(potential, mass)| potential * mass).sum()
}

/// `largest = max(largest, potential − costs)`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn raise(largest: &mut [f64], potential: f64, costs: &[f64]) {
    for (largest, cost) in largest.iter_mut().zip(costs) {
        let slack = potential - cost;
        *largest = if slack > *largest { slack } else { *largest };
    }
}

/// `slacks = potential − costs − largest`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn differences(slacks: &mut [f64], potential: f64, costs: &[f64], largest: &[f64]) {
    for ((slack, cost), largest) in slacks.iter_mut().zip(costs).zip(largest) {
        *slack = potential - cost - largest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far potentials are for the general solver, near ones are not, and both lead to the plan that it finds.
    #[test]
    fn the_plan_is_that_of_the_general_solver_from_near_and_from_far() {
        let costs = Array2::from_shape_fn((4, 40), |(class, column)| {
            f64::from(u32::try_from(class * class * 7 + column * 3 + class * column).unwrap() % 11)
        });
        let class_mass = vec![0.4, 0.0, 0.35, 0.25];
        let target_mass: Vec<f64> =
            (0..40).map(|column| if column == 5 { 0.0 } else { 1.0 / 39.0 }).collect();
        for entropy_weight in [5.0, 1.0, 0.05] {
            let expected = entropic::solve(
                costs.view(),
                &class_mass,
                &target_mass,
                entropy_weight,
                None,
                &mut Workspace::default(),
                &entropic::Options::default(),
            )
            .unwrap();
            let mut between = Between::new(class_mass.clone(), &target_mass);
            for start in [vec![0.0; 4], vec![300.0, 0.0, -200.0, 100.0]] {
                let start = Array1::from(start);
                let solved = between.solve(costs.view(), entropy_weight, &start).unwrap();
                let difference = (&between.plan - &expected.plan).mapv(f64::abs).sum();
                assert!(difference <= 1e-4, "λ = {entropy_weight}: {difference:e}");
                assert!((solved.objective - expected.objective).abs() <= 1e-4);
                assert!(solved.dual_objective <= expected.objective + 1e-9);
                assert!(solved.dual_objective >= expected.dual_objective - 1e-4);
            }
        }
    }
}
