//! The kernel as a list of the pairs that can carry mass: see `kernel`. It is short, and one thread goes through it.

use super::kernel::{DualValue, Kernel, NEGLIGIBLE_EXPONENT};
use super::problem::Problem;
use crate::elementary::exp_shifted;
use crate::loops::dot;

impl Kernel {
    pub(super) fn evaluate_list(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        total: &mut DualValue,
    ) {
        let depth = NEGLIGIBLE_EXPONENT * entropy_weight;
        self.cover(problem, depth);
        self.kept = 0;
        let mut slacks = std::mem::take(&mut self.listed_slacks);
        for (outer, &mass) in problem.outer_mass.iter().enumerate() {
            let largest = self.candidates.slacks(outer, &self.potential, &mut slacks);
            let start = self.kept;
            for (&slack, &column) in slacks.iter().zip(self.candidates.columns_of(outer)) {
                if slack >= largest - depth {
                    self.values[self.kept] = slack;
                    self.columns.push(column);
                    self.kept += 1;
                }
            }
            let row = &mut self.values[start..self.kept];
            let sum = exp_shifted(row, largest, 1.0 / entropy_weight);
            total.subtract(mass, largest, entropy_weight * sum.ln());
            for (value, &column) in row.iter_mut().zip(&self.columns[start..]) {
                self.marginal[column as usize] += mass / sum * *value;
                *value *= mass.sqrt() / sum;
            }
            self.row_starts.push(self.kept);
        }
        self.listed_slacks = slacks;
    }

    /// Makes sure that all pairs with a slack less than `depth` below the largest are candidates.
    fn cover(&mut self, problem: &Problem<'_>, depth: f64) {
        if !self.candidates.cover(&self.potential, depth) {
            self.candidates.list(problem, &self.potential, depth);
        }
    }

    pub(super) fn pass_over_list(
        &self,
        x: &[f64],
        outer_scaling: &mut [f64],
        output: &mut [f64],
        weight: impl Fn(usize, f64, &mut f64) -> f64,
    ) {
        let rows = self.row_starts.windows(2).zip(outer_scaling).enumerate();
        for (row, (bounds, scaling)) in rows {
            let columns = &self.columns[bounds[0]..bounds[1]];
            let values = &self.values[bounds[0]..bounds[1]];
            let sum = columns.iter().zip(values).map(|(&c, w)| w * x[c as usize]).sum();
            let factor = weight(row, sum, scaling);
            for (&column, value) in columns.iter().zip(values) {
                output[column as usize] += factor * value;
            }
        }
    }

    pub(super) fn absorb_scaling_of_list(&mut self) {
        for (bounds, factor) in self.row_starts.windows(2).zip(&self.outer_scaling) {
            let columns = &self.columns[bounds[0]..bounds[1]];
            for (value, &column) in self.values[bounds[0]..bounds[1]].iter_mut().zip(columns) {
                *value *= factor * self.scaling[column as usize];
            }
        }
    }

    pub(super) fn spread_of_list(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        spread: &mut [f64],
    ) {
        let inverse_weight = 1.0 / entropy_weight;
        self.cover(problem, NEGLIGIBLE_EXPONENT * entropy_weight);
        let mut slacks = std::mem::take(&mut self.listed_slacks);
        let mut exponentials = Vec::new();
        for (outer, &mass) in problem.outer_mass.iter().enumerate() {
            let largest = self.candidates.slacks(outer, &self.potential, &mut slacks);
            exponentials.clear();
            exponentials.extend_from_slice(&slacks);
            let sum = exp_shifted(&mut exponentials, largest, inverse_weight);
            let mean = dot(&exponentials, &slacks) / sum;
            let weight = mass * inverse_weight / sum;
            let pairs = self.candidates.columns_of(outer).iter().zip(&slacks);
            for ((&column, slack), value) in pairs.zip(&exponentials) {
                spread[column as usize] += weight * value * (slack - mean);
            }
        }
        self.listed_slacks = slacks;
    }
}
