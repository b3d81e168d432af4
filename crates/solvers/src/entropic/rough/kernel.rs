//! The Gibbs kernel in single precision: rows are the sources, whose marginal is exact, columns the targets.
//! It stores `E_ij = exp((g_j - c_ij)/λ)`, each row relative to its largest entry; with column scalings s and
//! `ρ_i = 1/(E_i · s)` the plan is `γ_ij = a_i ρ_i E_ij s_j`. It takes no steps: see `rough`.

use rayon::prelude::*;

use super::loops::{
    LANES, accumulate_four, add_spread, dot_four, exponentials, fill_exponents, largest_slack,
    scaled_dot,
};
use crate::entropic::problem::Problem;

/// Rows that are handled together.
const GROUP: usize = 4;
/// Entries that are worth another thread: a pass over fewer is over before that has begun.
const ENTRIES_OF_A_PART: usize = 1 << 18;
const MOST_PARTS: usize = 32;

#[derive(Default)]
pub(super) struct RoughKernel {
    columns: usize,
    /// A padded row.
    stride: usize,
    rows_of_a_part: usize,
    values: Vec<f32>,
    /// a, and zeros for the rows that fill up the last group.
    row_mass: Vec<f32>,
    /// ρ.
    row_factors: Vec<f32>,
    /// s.
    scaling: Vec<f32>,
    /// The largest g_j - c_ij of each row, relative to which its entries are.
    largest: Vec<f64>,
    /// Of the targets, of the current plan.
    pub(super) marginal: Vec<f64>,
    input: Vec<f32>,
    output: Vec<f32>,
}

impl RoughKernel {
    pub(super) fn resize(&mut self, problem: &Problem<'_>) {
        let (rows, columns) = problem.shape();
        self.columns = columns;
        self.stride = columns.next_multiple_of(LANES);
        let padded = rows.next_multiple_of(GROUP);
        let parts = (padded * self.stride / ENTRIES_OF_A_PART).next_power_of_two().min(MOST_PARTS);
        self.rows_of_a_part = padded.div_ceil(parts).next_multiple_of(GROUP);
        self.values.resize(padded * self.stride, 0.0);
        // The rows that fill up a group may be left from a larger problem.
        self.values[rows * self.stride..].fill(0.0);
        self.row_mass.clear();
        self.row_mass.extend(problem.outer_mass.iter().copied().map(single));
        self.row_mass.resize(padded, 0.0);
        self.row_factors.resize(padded, 0.0);
        self.largest.resize(rows, 0.0);
        self.marginal.resize(columns, 0.0);
        for vector in [&mut self.scaling, &mut self.input, &mut self.output] {
            vector.clear();
            vector.resize(self.stride, 0.0);
        }
    }

    /// How long the vectors of its columns are.
    pub(super) fn padded_columns(&self) -> usize {
        self.stride
    }

    /// Computes the kernel at a potential of the targets, one exponential per pair.
    pub(super) fn evaluate(&mut self, problem: &Problem<'_>, potential: &[f64], weight: f64) {
        let (stride, of_a_part) = (self.stride, self.rows_of_a_part);
        let rows = problem.outer_len();
        let row_mass = &self.row_mass;
        self.scaling[..self.columns].fill(1.0);
        let evaluate_part =
            |part: usize, values: &mut [f32], factors: &mut [f32], maxima: &mut [f64]| {
                let (mut sums, mut room) = (vec![0.0; stride], Vec::new());
                let groups = values.chunks_exact_mut(GROUP * stride).zip(factors.chunks_mut(GROUP));
                for (group, (values, factors)) in groups.enumerate() {
                    let mut weights = [0.0; GROUP];
                    for (slot, row) in values.chunks_exact_mut(stride).enumerate() {
                        let offset = group * GROUP + slot;
                        let place = part * of_a_part + offset;
                        if place >= rows {
                            break;
                        }
                        let costs = problem.charged_costs(place, &mut room);
                        let largest = largest_slack(costs, potential);
                        fill_exponents((costs, potential), largest, 1.0 / weight, row);
                        let sum = exponentials(row);
                        factors[slot] = 1.0 / sum;
                        weights[slot] = row_mass[place] / sum;
                        maxima[offset] = largest;
                    }
                    accumulate_four(values, &weights, &mut sums);
                }
                sums
            };
        let parts: Vec<Vec<f32>> = self
            .values
            .par_chunks_mut(of_a_part * stride)
            .zip(self.row_factors.par_chunks_mut(of_a_part))
            .zip(self.largest.par_chunks_mut(of_a_part))
            .enumerate()
            .map(|(part, ((values, factors), maxima))| evaluate_part(part, values, factors, maxima))
            .collect();
        self.output.fill(0.0);
        add_parts(&parts, &mut self.output);
        self.update_marginal();
    }

    /// f_i = λ ln(a_i ρ_i) - max_j (g_j - c_ij), of the current plan.
    pub(super) fn source_potential(&self, problem: &Problem<'_>, weight: f64) -> Vec<f64> {
        let rows = problem.outer_mass.iter().zip(&self.row_factors).zip(&self.largest);
        rows.map(|((mass, factor), largest)| weight * (mass * f64::from(*factor)).ln() - largest)
            .collect()
    }

    /// Recomputes the marginal after a change of the column scalings, given by their logarithms, without exponentials.
    pub(super) fn rescale(&mut self, log_scaling: &[f64]) {
        for (scale, log) in self.scaling.iter_mut().zip(log_scaling) {
            *scale = single(log.exp());
        }
        self.input.copy_from_slice(&self.scaling);
        self.pass(|mass, sum, factor| {
            *factor = 1.0 / sum;
            mass / sum
        });
        self.update_marginal();
    }

    fn update_marginal(&mut self) {
        for ((marginal, sum), scale) in
            self.marginal.iter_mut().zip(&self.output).zip(&self.scaling)
        {
            *marginal = f64::from(sum * scale);
        }
    }

    /// `image = (diag(m) - Σ_i a_i q_i q_iᵀ) x`, q_i the conditional distribution of row i.
    pub(super) fn apply_curvature(&mut self, x: &[f32], image: &mut [f32]) {
        for ((input, x), scale) in self.input.iter_mut().zip(x).zip(&self.scaling) {
            *input = x * scale;
        }
        self.pass(|mass, sum, factor| mass * *factor * *factor * sum);
        let columns = image.iter_mut().zip(x).zip(&self.scaling).zip(&self.output);
        for ((((image, x), scale), output), marginal) in columns.zip(&self.marginal) {
            *image = single(*marginal) * x - scale * output;
        }
    }

    /// One pass over E: `output = Σ_i weight(a_i, E_i · input, ρ_i) E_i`.
    fn pass(&mut self, weight: impl Fn(f32, f32, &mut f32) -> f32 + Sync) {
        let (stride, of_a_part) = (self.stride, self.rows_of_a_part);
        let input = &self.input;
        let pass_over_part =
            |values: &[f32], masses: &[f32], factors: &mut [f32], sums: &mut [f32]| {
                let groups = values.chunks_exact(GROUP * stride).zip(masses.chunks_exact(GROUP));
                for ((values, masses), factors) in groups.zip(factors.chunks_exact_mut(GROUP)) {
                    let mut weights = dot_four(values, input);
                    for ((sum, mass), factor) in weights.iter_mut().zip(masses).zip(factors) {
                        *sum = if *mass > 0.0 { weight(*mass, *sum, factor) } else { 0.0 };
                    }
                    accumulate_four(values, &weights, sums);
                }
            };
        self.output.fill(0.0);
        if self.row_factors.len() <= of_a_part {
            let (factors, output) = (&mut self.row_factors, &mut self.output);
            pass_over_part(&self.values, &self.row_mass, factors, output);
            return;
        }
        let parts: Vec<Vec<f32>> = self
            .values
            .par_chunks(of_a_part * stride)
            .zip(self.row_mass.par_chunks(of_a_part))
            .zip(self.row_factors.par_chunks_mut(of_a_part))
            .map(|((values, masses), factors)| {
                let mut sums = vec![0.0; stride];
                pass_over_part(values, masses, factors, &mut sums);
                sums
            })
            .collect();
        add_parts(&parts, &mut self.output);
    }

    /// The derivative of the marginal condition with respect to λ at fixed potentials, those of the current plan:
    /// `w_j = Σ_i γ_ij (z_ij - mean_i z)`, where z = (g - c)/λ and the mean is that of the row's plan.
    pub(super) fn spread(
        &mut self,
        problem: &Problem<'_>,
        (potential, weight): (&[f64], f64),
        spread: &mut [f64],
    ) {
        let (stride, of_a_part) = (self.stride, self.rows_of_a_part);
        let parts: Vec<Vec<f32>> = self
            .values
            .par_chunks(of_a_part * stride)
            .zip(self.row_factors.par_chunks(of_a_part))
            .enumerate()
            .map(|(part, (values, factors))| {
                let (mut sums, mut exponents) = (vec![0.0; stride], vec![0.0; stride]);
                let mut room = Vec::new();
                let rows = values.chunks_exact(stride).zip(factors).enumerate();
                for (offset, (row, &factor)) in rows {
                    let place = part * of_a_part + offset;
                    if place >= problem.outer_len() {
                        break;
                    }
                    let costs = problem.charged_costs(place, &mut room);
                    let scale = 1.0 / weight;
                    fill_exponents((costs, potential), self.largest[place], scale, &mut exponents);
                    let mean = factor * scaled_dot(row, &exponents, &self.scaling);
                    let weight = self.row_mass[place] * factor;
                    add_spread(row, &exponents, (weight, mean), &mut sums);
                }
                sums
            })
            .collect();
        self.output.fill(0.0);
        add_parts(&parts, &mut self.output);
        for ((spread, sum), scale) in spread.iter_mut().zip(&self.output).zip(&self.scaling) {
            *spread = f64::from(sum * scale);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "single precision is what is wanted")]
pub(super) fn single(value: f64) -> f32 {
    value as f32
}

fn add_parts(parts: &[Vec<f32>], output: &mut [f32]) {
    for part in parts {
        for (output, sum) in output.iter_mut().zip(part) {
            *output += sum;
        }
    }
}
