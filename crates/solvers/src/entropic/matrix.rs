//! The kernel as a dense matrix: see `kernel`. Parts of it are evaluated and swept over side by side.

use rayon::prelude::*;

use super::kernel::{DualValue, Kernel, NEGLIGIBLE_EXPONENT};
use super::kernels::{accumulate_spread, count_above};
use super::problem::{BLOCK, Problem};
use crate::elementary::exp_shifted;
use crate::loops::{accumulate_and_scale, accumulate_four, dot, dot_four, scale_by, write_slacks};
use crate::parts::{add_all, sum_rows};

/// What a part of the rows adds to the inner marginal, to the value of the dual, and to the entries that count.
struct PartSums {
    marginal: Vec<f64>,
    value: DualValue,
    kept: usize,
}

impl Kernel {
    pub(super) fn evaluate_matrix(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        total: &mut DualValue,
    ) {
        let (inner, rows) = (problem.inner_len(), self.rows_of_a_part);
        let potential = &self.potential;
        let parts: Vec<PartSums> = self
            .values
            .par_chunks_mut(rows * inner)
            .zip(self.outer_potential.par_chunks_mut(rows))
            .enumerate()
            .map(|(part, (values, outer_potential))| {
                let rows = (part * rows, values, outer_potential);
                evaluate_rows(problem, potential, entropy_weight, rows)
            })
            .collect();
        self.kept = parts.iter().map(|part| part.kept).sum();
        for part in &parts {
            total.value += part.value.value;
            total.magnitude += part.value.magnitude;
        }
        add_all(parts.into_iter().map(|part| part.marginal), &mut self.marginal);
    }

    /// The matrix at potentials of which those of the outer side are known, too, if roughly: they need not be looked for.
    pub(super) fn evaluate_matrix_near(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        outer_potential: &[f64],
    ) {
        let (inner, rows) = (problem.inner_len(), self.rows_of_a_part);
        let potential = &self.potential;
        let sums: Vec<Vec<f64>> = self
            .values
            .par_chunks_mut(rows * inner)
            .zip(self.outer_potential.par_chunks_mut(rows))
            .enumerate()
            .map(|(part, (values, exact))| {
                let (mut sums, mut room) = (vec![0.0; inner], Vec::new());
                let rows = values.chunks_exact_mut(inner).zip(exact).enumerate();
                for (offset, (row, exact)) in rows {
                    let place = part * self.rows_of_a_part + offset;
                    let (mass, near) = (problem.outer_mass[place], outer_potential[place]);
                    write_slacks(problem.charged_costs(place, &mut room), potential, row);
                    let sum = exp_shifted(row, -near, 1.0 / entropy_weight);
                    *exact = near + entropy_weight * (mass / sum).ln();
                    accumulate_and_scale(row, mass / sum, mass.sqrt() / sum, &mut sums);
                }
                sums
            })
            .collect();
        add_all(sums, &mut self.marginal);
    }

    pub(super) fn pass_over_matrix(
        &self,
        x: &[f64],
        outer_scaling: &mut [f64],
        output: &mut [f64],
        weight: impl Fn(usize, f64, &mut f64) -> f64 + Sync,
    ) {
        let (width, rows) = (x.len(), self.rows_of_a_part);
        let sums: Vec<Vec<f64>> = self
            .values
            .par_chunks(rows * width)
            .zip(outer_scaling.par_chunks_mut(rows))
            .enumerate()
            .map(|(part, (values, outer_scaling))| {
                let mut sums = vec![0.0; width];
                let weight = |row: usize, sum: f64, scaling: &mut f64| {
                    weight(part * rows + row, sum, scaling)
                };
                pass_over_rows(values, x, outer_scaling, &mut sums, weight);
                sums
            })
            .collect();
        add_all(sums, output);
    }

    pub(super) fn absorb_scaling_of_matrix(&mut self) {
        let (width, scaling) = (self.scaling.len(), &self.scaling);
        let rows = self.values.par_chunks_exact_mut(width).zip(&self.outer_scaling);
        rows.with_min_len(self.rows_of_a_part)
            .for_each(|(row, &factor)| scale_by(row, factor, scaling));
    }

    pub(super) fn spread_of_matrix(
        &self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        spread: &mut [f64],
    ) {
        let (inner, outer) = (problem.inner_len(), problem.outer_len());
        let inverse_weight = 1.0 / entropy_weight;
        sum_rows((outer, self.rows_of_a_part), spread, |range, spread| {
            let mut slacks = vec![0.0; BLOCK * inner];
            let mut exponentials = vec![0.0; inner];
            for first in range.clone().step_by(BLOCK) {
                let count = BLOCK.min(range.end - first);
                let rows = &mut slacks[..count * inner];
                let maxima = problem.slacks(first, &self.potential, rows);
                let masses = &problem.outer_mass[first..];
                for ((row, &mass), largest) in rows.chunks_exact_mut(inner).zip(masses).zip(maxima)
                {
                    exponentials.copy_from_slice(row);
                    let sum = exp_shifted(&mut exponentials, largest, inverse_weight);
                    // −∞ would make the mean NaN; any finite value does, because its weight is zero.
                    let floor = largest - 1e3 * entropy_weight;
                    for slack in row.iter_mut() {
                        *slack = slack.max(floor);
                    }
                    let mean = dot(&exponentials, row) / sum;
                    let weight = mass * inverse_weight / sum;
                    accumulate_spread(&exponentials, row, mean, weight, spread);
                }
            }
        });
    }
}

/// Evaluates the outer samples from the first on whose rows and potentials are given.
fn evaluate_rows(
    problem: &Problem<'_>,
    potential: &[f64],
    entropy_weight: f64,
    (first, values, outer_potential): (usize, &mut [f64], &mut [f64]),
) -> PartSums {
    let inner = potential.len();
    let mut sums = PartSums { marginal: vec![0.0; inner], value: DualValue::default(), kept: 0 };
    let masses = problem.outer_mass[first..].chunks(BLOCK);
    let blocks = values.chunks_mut(BLOCK * inner).zip(outer_potential.chunks_mut(BLOCK));
    for (block, ((rows, outer_potential), masses)) in blocks.zip(masses).enumerate() {
        let maxima = problem.slacks(first + block * BLOCK, potential, rows);
        let rows = rows.chunks_exact_mut(inner).zip(outer_potential).zip(masses);
        for (((row, outer_potential), &mass), largest) in rows.zip(maxima) {
            let cutoff = largest - NEGLIGIBLE_EXPONENT * entropy_weight;
            sums.kept += count_above(row, cutoff);
            let sum = exp_shifted(row, largest, 1.0 / entropy_weight);
            let rest = entropy_weight * sum.ln();
            sums.value.subtract(mass, largest, rest);
            *outer_potential = entropy_weight * mass.ln() - rest - largest;
            accumulate_and_scale(row, mass / sum, mass.sqrt() / sum, &mut sums.marginal);
        }
    }
    sums
}

/// `sums += Σ_j weight(j, W_j · x) W_j` over some rows, each read once from memory.
fn pass_over_rows(
    values: &[f64],
    x: &[f64],
    outer_scaling: &mut [f64],
    sums: &mut [f64],
    weight: impl Fn(usize, f64, &mut f64) -> f64,
) {
    let width = x.len();
    let mut row = 0;
    let mut quadruples = values.chunks_exact(4 * width);
    for rows in &mut quadruples {
        let mut factors = dot_four(rows, x);
        for factor in &mut factors {
            *factor = weight(row, *factor, &mut outer_scaling[row]);
            row += 1;
        }
        accumulate_four(rows, &factors, sums);
    }
    for values in quadruples.remainder().chunks_exact(width) {
        let factor = weight(row, dot(values, x), &mut outer_scaling[row]);
        row += 1;
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += factor * value;
        }
    }
}
