//! The Gibbs kernel at the current potentials: the plan whose outer marginal is exact.
//! With `q_j` the softmax of `(f - c_j)/λ` it stores `W_j = √b_j · q_j`, so that the plan is
//! `γ_j = √b_j · W_j` and the curvature of the semi-dual is `diag(r) - WᵀW`. Once most entries
//! vanish only the others are kept. It takes no steps: see `ascent`.

use ndarray::Array2;

use super::candidates::Candidates;
use super::kernels::{accumulate_spread, count_above};
use super::problem::{BLOCK, Problem};
use crate::elementary::exp_shifted;
use crate::loops::{accumulate_and_scale, accumulate_four, dot, dot_four, scale_by};

/// Entries below exp(-42) of the largest of their row cannot change a marginal in the digits of f64.
const NEGLIGIBLE_EXPONENT: f64 = 42.0;
/// A kernel with fewer entries than 1/8 is kept as a list; denser ones are faster as a matrix.
const SPARSE_DIVISOR: usize = 8;
/// Matrices of this order are factored in no time.
pub(super) const FEW_SAMPLES: usize = 200;

#[derive(Default)]
pub(super) struct Kernel {
    /// Dense: outer × inner. Sparse: the kept entries, row after row, at the front.
    pub(super) values: Vec<f64>,
    pub(super) columns: Vec<u32>,
    pub(super) row_starts: Vec<usize>,
    pub(super) is_sparse: bool,
    /// How many entries the last evaluation kept, of this or of an earlier problem of the same size.
    kept: usize,
    size: (usize, usize),
    /// Potential of the inner side at which `values` was computed.
    pub(super) potential: Vec<f64>,
    /// Logarithm of the multiplicative change of the inner side since then.
    pub(super) log_scaling: Vec<f64>,
    /// The part of that change which `values` does not contain yet, and its outer counterpart.
    pub(super) scaling: Vec<f64>,
    pub(super) outer_scaling: Vec<f64>,
    /// Inner marginal of the current plan.
    pub(super) marginal: Vec<f64>,
    product: Vec<f64>,
    slacks: Vec<f64>,
    listed_slacks: Vec<f64>,
    /// Of the potential while `is_sparse`.
    pub(super) candidates: Candidates,
}

/// Value of the semi-dual up to a constant, and the size of the terms that were summed for it.
#[derive(Clone, Copy, Default)]
pub(super) struct DualValue {
    pub(super) value: f64,
    pub(super) magnitude: f64,
}

impl DualValue {
    /// One outer sample's part: its mass times the soft maximum of its slacks.
    fn subtract(&mut self, mass: f64, largest: f64, rest: f64) {
        self.value -= mass * (largest + rest);
        self.magnitude += mass * largest.abs();
    }
}

impl Kernel {
    pub(super) fn resize(&mut self, problem: &Problem<'_>) {
        let (outer, inner) = (problem.outer_len(), problem.inner_len());
        if self.values.len() != outer * inner {
            // New zeros are free until they are written.
            self.values = vec![0.0; outer * inner];
        }
        for vector in [
            &mut self.potential,
            &mut self.log_scaling,
            &mut self.scaling,
            &mut self.marginal,
            &mut self.product,
        ] {
            vector.resize(inner, 0.0);
        }
        self.slacks.resize(BLOCK * inner, 0.0);
        self.candidates.clear();
        self.outer_scaling.resize(outer, 1.0);
        self.is_sparse = false;
        if self.size != (outer, inner) {
            self.size = (outer, inner);
            self.kept = outer * inner;
        }
    }

    /// A matrix in the memory of the entries, which are lost: of this size if all samples have mass.
    pub(super) fn give_memory(&mut self, shape: (usize, usize)) -> Array2<f64> {
        let entries = std::mem::take(&mut self.values);
        Array2::from_shape_vec(shape, entries).unwrap_or_else(|_| Array2::zeros(shape))
    }

    /// The potentials of the limit λ → ∞, up to terms that vanish there.
    pub(super) fn start_at_mean_costs(&mut self, problem: &Problem<'_>) {
        problem.mean_costs(&mut self.potential, &mut self.slacks);
        self.kept = self.values.len();
    }

    /// Recomputes everything at `potential`, one exponential per pair.
    pub(super) fn evaluate(&mut self, problem: &Problem<'_>, entropy_weight: f64) -> DualValue {
        self.is_sparse = self.kept < problem.outer_len() * problem.inner_len() / SPARSE_DIVISOR;
        self.log_scaling.fill(0.0);
        self.scaling.fill(1.0);
        self.outer_scaling.fill(1.0);
        self.marginal.fill(0.0);
        self.columns.clear();
        self.row_starts.clear();
        self.row_starts.push(0);
        let mut total = DualValue::default();
        for (potential, mass) in self.potential.iter().zip(&problem.inner_mass) {
            total.value += potential * mass;
            total.magnitude += potential.abs() * mass;
        }
        if self.is_sparse {
            self.evaluate_list(problem, entropy_weight, &mut total);
        } else {
            self.evaluate_matrix(problem, entropy_weight, &mut total);
        }
        total
    }

    fn evaluate_matrix(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        total: &mut DualValue,
    ) {
        let (outer, inner) = (problem.outer_len(), problem.inner_len());
        self.kept = 0;
        for first in (0..outer).step_by(BLOCK) {
            let count = BLOCK.min(outer - first);
            let masses = &problem.outer_mass[first..first + count];
            let rows = &mut self.values[first * inner..(first + count) * inner];
            let maxima = problem.slacks(first, &self.potential, rows);
            for ((row, &mass), largest) in rows.chunks_exact_mut(inner).zip(masses).zip(maxima) {
                let cutoff = largest - NEGLIGIBLE_EXPONENT * entropy_weight;
                self.kept += count_above(row, cutoff);
                let sum = exp_shifted(row, largest, 1.0 / entropy_weight);
                total.subtract(mass, largest, entropy_weight * sum.ln());
                accumulate_and_scale(row, mass / sum, mass.sqrt() / sum, &mut self.marginal);
            }
        }
    }

    fn evaluate_list(&mut self, problem: &Problem<'_>, entropy_weight: f64, total: &mut DualValue) {
        let depth = NEGLIGIBLE_EXPONENT * entropy_weight;
        self.cover(problem, depth);
        self.kept = 0;
        let mut slacks = std::mem::take(&mut self.listed_slacks);
        for (outer, &mass) in problem.outer_mass.iter().enumerate() {
            let largest = self.candidates.slacks(outer, &self.potential, &mut slacks);
            let start = self.kept;
            for (&slack, &column) in slacks.iter().zip(self.candidates.columns_of(outer)) {
                if slack > largest - depth {
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
            self.candidates.list(problem, &self.potential, depth, &mut self.slacks);
        }
    }

    /// Whether the plan is kept as a list, of so many samples that a sparse factor is faster than a dense one.
    pub(super) fn is_long_list(&self) -> bool {
        self.is_sparse && self.potential.len() >= FEW_SAMPLES
    }

    /// Whether the next evaluation would keep a list where this one kept a matrix.
    pub(super) fn should_be_sparse(&self) -> bool {
        !self.is_sparse && self.kept < self.values.len() / SPARSE_DIVISOR
    }

    /// Recomputes both marginals after a change of `scaling`, without exponentials.
    pub(super) fn rescale(&mut self, problem: &Problem<'_>) {
        let Self { scaling, outer_scaling, product, .. } = self;
        let (scaling, outer_scaling) = (std::mem::take(scaling), std::mem::take(outer_scaling));
        let mut product = std::mem::take(product);
        let mut outer_scaling = outer_scaling;
        self.pass(&scaling, &mut product, |row, sum| {
            let mass = problem.outer_mass[row];
            outer_scaling[row] = mass.sqrt() / sum;
            mass / sum
        });
        for ((marginal, product), scale) in self.marginal.iter_mut().zip(&product).zip(&scaling) {
            *marginal = product * scale;
        }
        (self.scaling, self.outer_scaling, self.product) = (scaling, outer_scaling, product);
    }

    /// `image = (diag(r) - WᵀW) x` for the current plan.
    pub(super) fn apply_curvature(&mut self, x: &[f64], image: &mut [f64]) {
        let mut scaled = std::mem::take(&mut self.product);
        for ((scaled, x), scale) in scaled.iter_mut().zip(x).zip(&self.scaling) {
            *scaled = x * scale;
        }
        self.pass(&scaled, image, |row, sum| {
            let scale = self.outer_scaling[row];
            scale * scale * sum
        });
        for (((image, x), scale), marginal) in
            image.iter_mut().zip(x).zip(&self.scaling).zip(&self.marginal)
        {
            *image = marginal * x - scale * *image;
        }
        self.product = scaled;
    }

    /// One sweep over W: `output = Σ_j weight(j, W_j · x) W_j`.
    fn pass(&self, x: &[f64], output: &mut [f64], mut weight: impl FnMut(usize, f64) -> f64) {
        output.fill(0.0);
        if self.is_sparse {
            for (row, bounds) in self.row_starts.windows(2).enumerate() {
                let columns = &self.columns[bounds[0]..bounds[1]];
                let values = &self.values[bounds[0]..bounds[1]];
                let sum = columns.iter().zip(values).map(|(&c, w)| w * x[c as usize]).sum();
                let factor = weight(row, sum);
                for (&column, value) in columns.iter().zip(values) {
                    output[column as usize] += factor * value;
                }
            }
            return;
        }
        let width = x.len();
        let mut row = 0;
        let mut quadruples = self.values.chunks_exact(4 * width);
        for rows in &mut quadruples {
            let mut factors = dot_four(rows, x);
            for factor in &mut factors {
                *factor = weight(row, *factor);
                row += 1;
            }
            accumulate_four(rows, &factors, output);
        }
        for values in quadruples.remainder().chunks_exact(width) {
            let factor = weight(row, dot(values, x));
            row += 1;
            for (output, value) in output.iter_mut().zip(values) {
                *output += factor * value;
            }
        }
    }

    /// Moves the pending scalings into the stored values.
    pub(super) fn absorb_scaling(&mut self) {
        if self.is_sparse {
            for (bounds, factor) in self.row_starts.windows(2).zip(&self.outer_scaling) {
                let columns = &self.columns[bounds[0]..bounds[1]];
                for (value, &column) in self.values[bounds[0]..bounds[1]].iter_mut().zip(columns) {
                    *value *= factor * self.scaling[column as usize];
                }
            }
        } else {
            let rows = self.values.chunks_exact_mut(self.scaling.len());
            for (row, &factor) in rows.zip(&self.outer_scaling) {
                scale_by(row, factor, &self.scaling);
            }
        }
        self.scaling.fill(1.0);
        self.outer_scaling.fill(1.0);
    }

    /// Moves the scaling into the potential; the stored values no longer belong to it.
    pub(super) fn move_scaling_to_potential(&mut self, entropy_weight: f64) {
        for (potential, log_scaling) in self.potential.iter_mut().zip(&mut self.log_scaling) {
            *potential += entropy_weight * std::mem::take(log_scaling);
        }
    }

    /// The derivative of the inner marginal condition with respect to λ at fixed potentials:
    /// `w_i = Σ_j γ_ij (z_ij - mean_j z)`, where z = (f - c)/λ.
    pub(super) fn spread(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        spread: &mut [f64],
    ) {
        let inner = problem.inner_len();
        let inverse_weight = 1.0 / entropy_weight;
        spread.fill(0.0);
        let mut exponentials = std::mem::take(&mut self.product);
        if self.is_sparse {
            self.cover(problem, NEGLIGIBLE_EXPONENT * entropy_weight);
            let mut slacks = std::mem::take(&mut self.listed_slacks);
            for (outer, &mass) in problem.outer_mass.iter().enumerate() {
                let largest = self.candidates.slacks(outer, &self.potential, &mut slacks);
                let exponentials = &mut exponentials[..slacks.len()];
                exponentials.copy_from_slice(&slacks);
                let sum = exp_shifted(exponentials, largest, inverse_weight);
                let mean = dot(exponentials, &slacks) / sum;
                let weight = mass * inverse_weight / sum;
                let pairs = self.candidates.columns_of(outer).iter().zip(&slacks);
                for ((&column, slack), value) in pairs.zip(&*exponentials) {
                    spread[column as usize] += weight * value * (slack - mean);
                }
            }
            self.listed_slacks = slacks;
        } else {
            for first in (0..problem.outer_len()).step_by(BLOCK) {
                let count = BLOCK.min(problem.outer_len() - first);
                let rows = &mut self.slacks[..count * inner];
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
                    accumulate_spread(
                        &exponentials,
                        row,
                        mean,
                        mass * inverse_weight / sum,
                        spread,
                    );
                }
            }
        }
        self.product = exponentials;
    }
}
