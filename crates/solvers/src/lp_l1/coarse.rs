//! A start for a cost that changed by parts that are constant on classes of rows, as a reweighting does. Those changes
//! are many λ high, and the potentials of before know nothing of them.
//!
//! With the source potentials f held fixed but for one shift F_cl a class, the entropic problem shrinks to one
//! between classes and columns: masses A_cl = Σ a_i and costs
//! D_cl,j = −w ln Σ_{i ∈ I_cl} exp((f_i − C_ij)/w) + η ∂Ω_cl,j. Its potentials F, g give f_i + F_cl and g, and its dual
//! value is theirs. Its plan has the masses ‖γ(I_cl, j)‖₁, which are all that Ω depends on: there the reweighting can go
//! on for the price of the small problem. It leaves the samples of a class free to share their mass, so that the whole
//! problem may gain less.

use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;

use super::between::{Between, Solved, differences, dual_value, raise};
use super::{LpL1Problem, inner_product};
use crate::elementary::exp_shifted;
use crate::entropic::Potentials;
use crate::error::Result;
use crate::loops::scale_and_accumulate;
use crate::parts::groups_of_a_part;
use crate::rows::entries;

/// Reweightings between classes and columns at most, and what they have to gain to go on, as a share of the most that one
/// gained and of what may be left at the end.
const REWEIGHTINGS: usize = 100;
const WORTHWHILE_GAIN: f64 = 0.05;

/// The problem between classes and columns, and its memory.
pub(super) struct Coarse<'a> {
    cost: ArrayView2<'a, f64>,
    classes: &'a [Vec<usize>],
    source_mass: &'a [f64],
    /// D without a penalty, and with one.
    class_costs: Array2<f64>,
    penalized: Array2<f64>,
    between: Between<'a>,
}

/// Potentials with the right mass in each class.
pub(super) struct Shifted {
    pub(super) potentials: Potentials,
    /// The value of the dual at them.
    pub(super) dual_objective: f64,
    /// Between classes and columns.
    between: Solved,
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
            class_costs: Array2::zeros((classes.len(), cost.ncols())),
            penalized: Array2::zeros((classes.len(), cost.ncols())),
            between: Between::new(classes.iter().map(mass).collect(), target_mass),
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
        let between = self.solve(&Array1::zeros(self.classes.len()), penalty, entropy_weight)?;
        Ok(self.shifted(potentials, between))
    }

    /// Reweights between classes and columns until little is gained, from where `shift` ended with the same potentials and
    /// `penalty`. Returns the last penalty and the potentials shifted by it. `may_be_left` says how much of the objective
    /// does not matter.
    pub(super) fn settle(
        &mut self,
        potentials: &Potentials,
        (mut penalty, shifted): (Array2<f64>, Shifted),
        problem: &LpL1Problem<'_>,
        (entropy_weight, may_be_left): (f64, f64),
    ) -> Result<(Array2<f64>, Shifted)> {
        let LpL1Problem { regularizer, regularization_weight, .. } = *problem;
        let mut between = shifted.between;
        let mut total = self.total(&between, &penalty, problem);
        let mut worthwhile = WORTHWHILE_GAIN * may_be_left;
        let mut steps = 0;
        loop {
            penalty = regularizer.slopes_at(&self.between.plan);
            penalty *= regularization_weight;
            between = self.solve(&between.potentials.source, &penalty, entropy_weight)?;
            let last = std::mem::replace(&mut total, self.total(&between, &penalty, problem));
            steps += 1;
            if steps == REWEIGHTINGS || last - total <= worthwhile {
                return Ok((penalty, self.shifted(potentials, between)));
            }
            worthwhile = worthwhile.max(WORTHWHILE_GAIN * (last - total));
        }
    }

    fn solve(
        &mut self,
        start: &Array1<f64>,
        penalty: &Array2<f64>,
        entropy_weight: f64,
    ) -> Result<Solved> {
        self.penalized.assign(&self.class_costs);
        self.penalized += penalty;
        self.between.solve(self.penalized.view(), entropy_weight, start)
    }

    /// ⟨Γ, D⟩ + λ Σ Γ ln Γ + η Ω(Γ), with D without a penalty.
    fn total(&self, solved: &Solved, penalty: &Array2<f64>, problem: &LpL1Problem<'_>) -> f64 {
        let LpL1Problem { regularizer, regularization_weight, .. } = *problem;
        let plan = &self.between.plan;
        let omega = regularizer.value_at(plan);
        solved.objective - inner_product(plan, penalty) + regularization_weight * omega
    }

    fn shifted(&self, potentials: &Potentials, between: Solved) -> Shifted {
        let mut source = potentials.source.clone();
        for (rows, shift) in self.classes.iter().zip(&between.potentials.source) {
            for &row in rows {
                source[row] += shift;
            }
        }
        let unshifted = dual_value(&potentials.source, self.source_mass);
        Shifted {
            potentials: Potentials { source, target: between.potentials.target.clone() },
            dual_objective: unshifted + between.dual_objective,
            between,
        }
    }

    /// Soft minima of the costs over the rows of each class.
    fn aggregate(&mut self, entropy_weight: f64, potential: &Array1<f64>) {
        let Self { cost, classes, class_costs, .. } = self;
        let columns = cost.ncols();
        let of_a_part = groups_of_a_part(classes.len(), cost.dim());
        // An array of ours is contiguous.
        let sums = class_costs.as_slice_mut().unwrap_or_default();
        let of_a_class = sums.par_chunks_exact_mut(columns.max(1)).zip(*classes);
        of_a_class.with_min_len(of_a_part).for_each(|(sums, rows)| {
            let mut largest = vec![f64::NEG_INFINITY; columns];
            for &row in rows {
                raise(&mut largest, potential[row], &entries(cost.row(row)));
            }
            // Where no row may send anything the sum is zero and the cost +∞, whatever the shift.
            for value in &mut largest {
                *value = if value.is_finite() { *value } else { 0.0 };
            }
            let mut slacks = vec![0.0; columns];
            sums.fill(0.0);
            for &row in rows {
                differences(&mut slacks, potential[row], &entries(cost.row(row)), &largest);
                exp_shifted(&mut slacks, 0.0, entropy_weight.recip());
                scale_and_accumulate(&slacks, 1.0, sums);
            }
            for (sum, largest) in sums.iter_mut().zip(&largest) {
                *sum = -largest - entropy_weight * sum.ln();
            }
        });
    }
}
