//! A start for a cost that changed by parts that are constant on classes of rows, as a reweighting does. Those changes
//! are many λ high, and the potentials of before know nothing of them.
//!
//! With the source potentials f held fixed but for one shift F_cl a class, the entropic problem shrinks to one
//! between classes and columns: masses A_cl = Σ a_i and costs
//! D_cl,j = −w ln Σ_{i ∈ I_cl} exp((f_i − C_ij)/w) + η ∂Ω_cl,j. Its potentials F, g give f_i + F_cl and g, and its dual
//! value is theirs.

use multiversion::multiversion;
use ndarray::{Array1, Array2, ArrayView2};

use crate::elementary::exp_shifted;
use crate::entropic::{self, Potentials, Workspace};
use crate::error::Result;
use crate::loops::scale_and_accumulate;
use crate::rows::entries;

/// What is left is for the full problem.
const TOLERANCE: f64 = 1e-6;

/// The problem between classes and columns, and its memory.
pub(super) struct Coarse<'a> {
    cost: ArrayView2<'a, f64>,
    classes: &'a [Vec<usize>],
    source_mass: &'a [f64],
    target_mass: &'a [f64],
    class_mass: Vec<f64>,
    class_costs: Array2<f64>,
    workspace: Workspace,
}

/// Potentials with the right mass in each class.
pub(super) struct Shifted {
    pub(super) potentials: Potentials,
    /// The value of the dual at them.
    pub(super) dual_objective: f64,
}

impl<'a> Coarse<'a> {
    pub(super) fn new(
        cost: ArrayView2<'a, f64>,
        classes: &'a [Vec<usize>],
        (source_mass, target_mass): (&'a [f64], &'a [f64]),
    ) -> Self {
        let mass = |rows: &Vec<usize>| rows.iter().map(|&row| source_mass[row]).sum();
        Self {
            cost,
            classes,
            source_mass,
            target_mass,
            class_mass: classes.iter().map(mass).collect(),
            class_costs: Array2::zeros((classes.len(), cost.ncols())),
            workspace: Workspace::default(),
        }
    }

    /// Shifts the potentials so that every class has its mass under the cost C + `penalty`.
    pub(super) fn shift(
        &mut self,
        potentials: &Potentials,
        penalty: &Array2<f64>,
        entropy_weight: f64,
    ) -> Result<Shifted> {
        self.aggregate(entropy_weight, &potentials.source);
        self.class_costs += penalty;
        let start = Potentials {
            source: Array1::zeros(self.class_mass.len()),
            target: potentials.target.clone(),
        };
        let solution = entropic::solve(
            self.class_costs.view(),
            &self.class_mass,
            self.target_mass,
            entropy_weight,
            Some(&start),
            &mut self.workspace,
            &entropic::Options { tolerance: TOLERANCE, ..entropic::Options::default() },
        )?;
        let mut source = potentials.source.clone();
        for (rows, shift) in self.classes.iter().zip(&solution.potentials.source) {
            for &row in rows {
                source[row] += shift;
            }
        }
        // A sample without mass has the potential −∞.
        let massive =
            potentials.source.iter().zip(self.source_mass).filter(|(_, mass)| **mass > 0.0);
        let unshifted: f64 = massive.map(|(potential, mass)| potential * mass).sum();
        Ok(Shifted {
            potentials: Potentials { source, target: solution.potentials.target },
            dual_objective: unshifted + solution.dual_objective,
        })
    }

    /// Soft minima of the costs over the rows of each class.
    fn aggregate(&mut self, entropy_weight: f64, potential: &Array1<f64>) {
        let mut largest = vec![0.0; self.cost.ncols()];
        let mut slacks = vec![0.0; self.cost.ncols()];
        for (rows, mut sums) in self.classes.iter().zip(self.class_costs.rows_mut()) {
            largest.fill(f64::NEG_INFINITY);
            for &row in rows {
                raise(&mut largest, potential[row], &entries(self.cost.row(row)));
            }
            // Where no row may send anything the sum is zero and the cost +∞, whatever the shift.
            for value in &mut largest {
                *value = if value.is_finite() { *value } else { 0.0 };
            }
            let mut total = vec![0.0; largest.len()];
            for &row in rows {
                let costs = entries(self.cost.row(row));
                differences(&mut slacks, potential[row], &costs, &largest);
                exp_shifted(&mut slacks, 0.0, entropy_weight.recip());
                scale_and_accumulate(&slacks, 1.0, &mut total);
            }
            for ((sum, total), largest) in sums.iter_mut().zip(&total).zip(&largest) {
                *sum = -largest - entropy_weight * total.ln();
            }
        }
    }
}

/// `largest = max(largest, potential − costs)`.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
fn raise(largest: &mut [f64], potential: f64, costs: &[f64]) {
    for (largest, cost) in largest.iter_mut().zip(costs) {
        let slack = potential - cost;
        *largest = if slack > *largest { slack } else { *largest };
    }
}

/// `slacks = potential − costs − largest`.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
fn differences(slacks: &mut [f64], potential: f64, costs: &[f64], largest: &[f64]) {
    for ((slack, cost), largest) in slacks.iter_mut().zip(costs).zip(largest) {
        *slack = potential - cost - largest;
    }
}
