//! The Gibbs kernel at the current potentials: the plan whose outer marginal is exact.
//! With `q_j` the softmax of `(f - c_j)/λ` it stores `W_j = √b_j · q_j`, so that the plan is
//! `γ_j = √b_j · W_j` and the curvature of the semi-dual is `diag(r) - WᵀW`. Once most entries
//! vanish only the others are kept (see `matrix` and `list`). It takes no steps: see `ascent`.

use ndarray::Array2;

use super::candidates::Candidates;
use super::problem::{BLOCK, Problem};
use crate::parts::rows_of_a_part;

/// Entries below exp(-42) of the largest of their row cannot change a marginal in the digits of f64.
pub(super) const NEGLIGIBLE_EXPONENT: f64 = 42.0;
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
    pub(super) kept: usize,
    size: (usize, usize),
    pub(super) rows_of_a_part: usize,
    /// λ of the last evaluation.
    entropy_weight: f64,
    /// Potential of the inner side at which `values` was computed, and of a matrix that of the outer side.
    pub(super) potential: Vec<f64>,
    pub(super) outer_potential: Vec<f64>,
    /// Logarithm of the multiplicative change of the inner side since then.
    pub(super) log_scaling: Vec<f64>,
    /// The part of that change which `values` does not contain yet, and its outer counterpart.
    pub(super) scaling: Vec<f64>,
    pub(super) outer_scaling: Vec<f64>,
    /// Inner marginal of the current plan.
    pub(super) marginal: Vec<f64>,
    product: Vec<f64>,
    pub(super) listed_slacks: Vec<f64>,
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
    pub(super) fn subtract(&mut self, mass: f64, largest: f64, rest: f64) {
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
        self.rows_of_a_part = rows_of_a_part(outer, inner, BLOCK);
        self.candidates.clear();
        self.outer_scaling.resize(outer, 1.0);
        self.outer_potential.resize(outer, 0.0);
        self.is_sparse = false;
        if self.size != (outer, inner) {
            self.size = (outer, inner);
            self.kept = outer * inner;
        }
    }

    /// Whether the entries are a matrix with the rows and columns of a plan.
    pub(super) fn lies_as_plan(&self, problem: &Problem<'_>) -> bool {
        let (rows, columns) = problem.shape();
        !self.is_sparse && !problem.inner_is_source && self.size == (rows, columns)
    }

    /// A matrix for a plan in the memory of the entries, which the kernel loses, if that is of its size: zeros if the kernel
    /// is a list, and the entries if it is a matrix.
    pub(super) fn give_memory(&mut self, shape: (usize, usize)) -> Array2<f64> {
        let entries = std::mem::take(&mut self.values);
        let Ok(mut plan) = Array2::from_shape_vec(shape, entries) else {
            return Array2::zeros(shape);
        };
        if self.is_sparse {
            plan.fill(0.0);
        }
        plan
    }

    /// A matrix for a plan beside the entries: a copy of them if they lie as it does, and zeros otherwise.
    pub(super) fn copy_for_plan(&self, problem: &Problem<'_>) -> Array2<f64> {
        let is_alike = self.lies_as_plan(problem);
        let copy = is_alike.then(|| Array2::from_shape_vec(problem.shape(), self.values.clone()));
        copy.and_then(Result::ok).unwrap_or_else(|| Array2::zeros(problem.shape()))
    }

    /// Takes the memory of a plan for the entries.
    pub(super) fn take_memory(&mut self, plan: Array2<f64>) {
        self.values = plan.into_raw_vec_and_offset().0;
    }

    /// The potentials of the limit λ → ∞, up to terms that vanish there.
    pub(super) fn start_at_mean_costs(&mut self, problem: &Problem<'_>) {
        problem.mean_costs(&mut self.potential);
        self.kept = self.values.len();
    }

    /// Recomputes everything at `potential`, one exponential per pair.
    pub(super) fn evaluate(&mut self, problem: &Problem<'_>, entropy_weight: f64) -> DualValue {
        self.is_sparse = self.kept < problem.outer_len() * problem.inner_len() / SPARSE_DIVISOR;
        self.start_evaluation(entropy_weight);
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

    /// Recomputes the matrix of a plain problem at `potential`, where the outer potential is nearly the given one.
    pub(super) fn evaluate_near(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        outer_potential: &[f64],
    ) {
        self.is_sparse = false;
        self.start_evaluation(entropy_weight);
        self.evaluate_matrix_near(problem, entropy_weight, outer_potential);
    }

    fn start_evaluation(&mut self, entropy_weight: f64) {
        self.entropy_weight = entropy_weight;
        self.log_scaling.fill(0.0);
        self.scaling.fill(1.0);
        self.outer_scaling.fill(1.0);
        self.marginal.fill(0.0);
        self.columns.clear();
        self.row_starts.clear();
        self.row_starts.push(0);
    }

    /// Recomputes everything as a list if rounding the potentials changes exponents by more than one: a matrix of potentials of
    /// both sides may then be anything, while a list is relative to the largest entry of each row.
    pub(super) fn list_where_digits_end(&mut self, problem: &Problem<'_>, entropy_weight: f64) {
        let largest = self.potential.iter().fold(0.0_f64, |most, f| most.max(f.abs()));
        if !self.is_sparse && f64::EPSILON * largest > entropy_weight {
            self.move_scaling_to_potential(entropy_weight);
            self.kept = 0;
            self.evaluate(problem, entropy_weight);
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
        let scaling = std::mem::take(&mut self.scaling);
        let mut product = std::mem::take(&mut self.product);
        self.pass(&scaling, &mut product, |row, sum, outer_scaling| {
            let mass = problem.outer_mass[row];
            *outer_scaling = mass.sqrt() / sum;
            mass / sum
        });
        for ((marginal, product), scale) in self.marginal.iter_mut().zip(&product).zip(&scaling) {
            *marginal = product * scale;
        }
        (self.scaling, self.product) = (scaling, product);
    }

    /// `image = (diag(r) - WᵀW) x` for the current plan.
    pub(super) fn apply_curvature(&mut self, x: &[f64], image: &mut [f64]) {
        let mut scaled = std::mem::take(&mut self.product);
        for ((scaled, x), scale) in scaled.iter_mut().zip(x).zip(&self.scaling) {
            *scaled = x * scale;
        }
        self.pass(&scaled, image, |_, sum, outer_scaling| *outer_scaling * *outer_scaling * sum);
        for (((image, x), scale), marginal) in
            image.iter_mut().zip(x).zip(&self.scaling).zip(&self.marginal)
        {
            *image = marginal * x - scale * *image;
        }
        self.product = scaled;
    }

    /// One sweep over W: `output = Σ_j weight(j, W_j · x) W_j`; the weight may depend on the outer scaling, or set it.
    fn pass(
        &mut self,
        x: &[f64],
        output: &mut [f64],
        weight: impl Fn(usize, f64, &mut f64) -> f64 + Sync,
    ) {
        let mut outer_scaling = std::mem::take(&mut self.outer_scaling);
        output.fill(0.0);
        if self.is_sparse {
            self.pass_over_list(x, &mut outer_scaling, output, weight);
        } else {
            self.pass_over_matrix(x, &mut outer_scaling, output, weight);
        }
        self.outer_scaling = outer_scaling;
    }

    /// Moves the pending scalings into the stored values.
    pub(super) fn absorb_scaling(&mut self) {
        if self.is_sparse {
            self.absorb_scaling_of_list();
        } else {
            self.absorb_scaling_of_matrix();
        }
        for (potential, scaling) in self.outer_potential.iter_mut().zip(&self.outer_scaling) {
            *potential += self.entropy_weight * scaling.ln();
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
        spread.fill(0.0);
        if self.is_sparse {
            self.spread_of_list(problem, entropy_weight, spread);
        } else {
            self.spread_of_matrix(problem, entropy_weight, spread);
        }
    }
}
