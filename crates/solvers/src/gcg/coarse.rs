//! A start for direction problems whose cost changed by parts that are constant on classes of rows, such as a
//! reweighting of ℓp-ℓ1. Those changes are many λ high, and the potentials of before know nothing of them.
//!
//! With the source potentials f held fixed but for one shift F_cl a class, the entropic problem shrinks to one
//! between classes and columns: masses A_cl = Σ a_i and costs
//! D_cl,j = −w ln Σ_{i ∈ I_cl} exp((f_i − C_ij)/w). Its potentials F, g give f_i + F_cl and g.

use ndarray::{Array1, Array2, ArrayView2, Zip};

use crate::elementary::exp_shifted;
use crate::entropic::{self, Potentials, Workspace};
use crate::error::Result;

/// What is left is for the full problem.
const TOLERANCE: f64 = 1e-6;

/// The problem between classes and columns, and its memory.
pub(super) struct Coarse<'a> {
    classes: &'a [Vec<usize>],
    masses: Vec<f64>,
    costs: Array2<f64>,
    workspace: Workspace,
}

impl<'a> Coarse<'a> {
    pub(super) fn new(classes: &'a [Vec<usize>], source_mass: &[f64], columns: usize) -> Self {
        Self {
            classes,
            masses: classes
                .iter()
                .map(|rows| rows.iter().map(|&row| source_mass[row]).sum())
                .collect(),
            costs: Array2::zeros((classes.len(), columns)),
            workspace: Workspace::default(),
        }
    }

    /// Shifts the potentials so that every class has its mass under the new cost.
    pub(super) fn shift(
        &mut self,
        cost: ArrayView2<'_, f64>,
        target_mass: &[f64],
        weight: f64,
        potentials: &mut Potentials,
    ) -> Result<()> {
        self.aggregate(cost, weight, &potentials.source);
        let start = Potentials {
            source: Array1::zeros(self.masses.len()),
            target: potentials.target.clone(),
        };
        let solution = entropic::solve(
            self.costs.view(),
            &self.masses,
            target_mass,
            weight,
            Some(&start),
            &mut self.workspace,
            &entropic::Options { tolerance: TOLERANCE, ..entropic::Options::default() },
        )?;
        for (rows, shift) in self.classes.iter().zip(&solution.potentials.source) {
            for &row in rows {
                potentials.source[row] += shift;
            }
        }
        potentials.target = solution.potentials.target;
        Ok(())
    }

    /// Soft minima of the costs over the rows of each class.
    fn aggregate(&mut self, cost: ArrayView2<'_, f64>, weight: f64, potential: &Array1<f64>) {
        let mut largest = Array1::zeros(cost.ncols());
        let mut slacks = vec![0.0; cost.ncols()];
        for (rows, mut sums) in self.classes.iter().zip(self.costs.rows_mut()) {
            largest.fill(f64::NEG_INFINITY);
            for &row in rows {
                Zip::from(&mut largest).and(cost.row(row)).for_each(|largest, cost| {
                    *largest = f64::max(*largest, potential[row] - cost);
                });
            }
            // Where no row may send anything the sum is zero and the cost +∞, whatever the shift.
            largest.mapv_inplace(|value: f64| if value.is_finite() { value } else { 0.0 });
            sums.fill(0.0);
            for &row in rows {
                for ((slack, cost), largest) in slacks.iter_mut().zip(cost.row(row)).zip(&largest) {
                    *slack = potential[row] - cost - largest;
                }
                exp_shifted(&mut slacks, 0.0, weight.recip());
                for (sum, slack) in sums.iter_mut().zip(&slacks) {
                    *sum += slack;
                }
            }
            Zip::from(&mut sums).and(&largest).for_each(|sum, largest| {
                *sum = -largest - weight * sum.ln();
            });
        }
    }
}
