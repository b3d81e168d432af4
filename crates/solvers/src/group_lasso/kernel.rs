//! The plan that belongs to given source potentials u and has exact target marginals.
//! Adding to v_j multiplies the whole column γ(·, j), because the group norm is homogeneous: v_j follows from the
//! column's sum, as in Sinkhorn's iteration (see `columns`), and the semi-dual D(u) = a·u + b·v(u) remains. It stores
//! W_j = γ(·, j)/√b_j, so that the curvature is B − WWᵀ: see `curvature`. It takes no steps: see `ascent`.

use rayon::prelude::*;

use super::columns::{ColumnMemory, Columns, Precision, Setting};
use super::group::Ratio;
use super::loops::{logarithms, responses};
use super::problem::Problem;
use crate::checks::check_length;
use crate::entropic::Potentials;
use crate::error::Result;
use crate::loops::{dot, scale_and_accumulate};

/// Columns that are worth another thread.
const COLUMNS_OF_A_PART: usize = 128;

#[derive(Default)]
pub(super) struct Kernel {
    /// u.
    pub(super) potential: Vec<f64>,
    /// v.
    pub(super) target_potential: Vec<f64>,
    /// W, target by target; groups without mass are zero.
    pub(super) values: Vec<f64>,
    /// ‖γ(I_c, j)‖ at j · classes + c.
    pub(super) norms: Vec<f64>,
    /// Source marginal of the plan.
    pub(super) marginal: Vec<f64>,
    /// How many entries lie in groups with mass.
    pub(super) kept: usize,
    pub(super) kappa: f64,
    bounds: Vec<(f64, f64)>,
    parts: Vec<ColumnMemory>,
    columns_of_a_part: usize,
}

/// Value of the semi-dual, and the size of the terms that were summed for it.
#[derive(Clone, Copy, Default)]
pub(super) struct DualValue {
    pub(super) value: f64,
    pub(super) magnitude: f64,
}

impl Kernel {
    pub(super) fn resize(&mut self, problem: &Problem<'_>) {
        let (sources, targets) = (problem.sources.len(), problem.targets.len());
        let classes = problem.classes();
        self.potential.resize(sources, 0.0);
        self.marginal.resize(sources, 0.0);
        self.target_potential.resize(targets, 0.0);
        self.values.resize(sources * targets, 0.0);
        self.norms.resize(classes * targets, 0.0);
        // Even, so that two threads have the same to do.
        let parts = (targets / COLUMNS_OF_A_PART).next_power_of_two();
        self.columns_of_a_part = targets.div_ceil(parts);
        self.parts.resize_with(targets.div_ceil(self.columns_of_a_part), ColumnMemory::default);
        for (part, memory) in self.parts.iter_mut().enumerate() {
            let first = part * self.columns_of_a_part;
            memory.resize(problem, self.columns_of_a_part.min(targets - first));
        }
    }

    /// Returns the memory of what an evaluation leaves for the next one to start from.
    pub(super) fn forget_starts(&mut self) {
        self.parts.clear();
    }

    /// Takes over the source potentials of a similar problem.
    pub(super) fn load(&mut self, problem: &Problem<'_>, start: &Potentials) -> Result<()> {
        let rows = problem.cost.nrows();
        check_length("the source potentials", start.source.len(), "the rows of cost", rows)?;
        for (potential, &source) in self.potential.iter_mut().zip(&problem.sources) {
            // A sample that had no mass in the earlier problem comes with −∞.
            *potential = if start.source[source].is_finite() { start.source[source] } else { 0.0 };
        }
        Ok(())
    }

    /// Recomputes everything at `potential`.
    pub(super) fn evaluate(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        precision: Precision,
    ) -> DualValue {
        let ratio = Ratio::new(entropy_weight, problem.regularization_weight);
        // Offsets are about proportional to κ.
        let guess_scale = ratio.kappa / std::mem::replace(&mut self.kappa, ratio.kappa);
        self.bounds.clear();
        self.bounds
            .extend(problem.class_starts.windows(2).map(|ends| ratio.offsets(ends[1] - ends[0])));
        let (width, classes) = (problem.sources.len(), problem.classes());
        let (columns, bounds) = (self.columns_of_a_part, &self.bounds);
        let potential = &self.potential;
        let setting =
            Setting { problem, potential, entropy_weight, ratio, precision, guess_scale, bounds };
        self.parts
            .par_iter_mut()
            .zip(self.target_potential.par_chunks_mut(columns))
            .zip(self.values.par_chunks_mut(columns * width))
            .zip(self.norms.par_chunks_mut(columns * classes))
            .enumerate()
            .for_each(|(part, (((memory, target_potential), values), norms))| {
                let first = part * columns;
                Columns { first, target_potential, values, norms, memory }.evaluate(&setting);
            });
        let mut total = DualValue::default();
        for (potential, mass) in self.potential.iter().zip(&problem.source_mass) {
            total.value += potential * mass;
            total.magnitude += potential.abs() * mass;
        }
        self.kept = 0;
        self.marginal.fill(0.0);
        for part in &self.parts {
            total.value += part.value.value;
            total.magnitude += part.value.magnitude;
            self.kept += part.kept;
            scale_and_accumulate(&part.marginal, 1.0, &mut self.marginal);
        }
        total
    }

    /// The shares q_i = p_i²/(1 + κp_i) of one group in the response of its norm, and its own response
    /// γ_i/(1 + κp_i), which is added to `diagonal`. With them ∂γ/∂s of the group is
    /// (diag(own) + κ‖γ‖ qqᵀ/Σq)/λ. Returns κ‖γ‖/Σq; zero, and no shares, for a group without mass.
    pub(super) fn response(
        &self,
        problem: &Problem<'_>,
        target: usize,
        class: usize,
        shares: &mut [f64],
        diagonal: &mut [f64],
    ) -> f64 {
        let norm = self.norms[target * problem.classes() + class];
        if norm == 0.0 {
            return 0.0;
        }
        let range = problem.class(class);
        let start = target * problem.sources.len();
        let values = &self.values[start + range.start..start + range.end];
        let scale = problem.target_mass[target].sqrt() / norm;
        self.kappa * norm / responses(values, (scale, self.kappa, norm), shares, diagonal)
    }

    /// A multiple of the direction γ/‖γ‖ of a group, which is not zero.
    pub(super) fn write_direction(
        &self,
        problem: &Problem<'_>,
        (target, class): (usize, usize),
        direction: &mut [f64],
    ) {
        if self.norms[target * problem.classes() + class] > 0.0 {
            direction.copy_from_slice(&self.values[problem.place(target, class)]);
        } else {
            let (part, column) = (target / self.columns_of_a_part, target % self.columns_of_a_part);
            self.parts[part].write_massless_direction(problem, (column, class), direction);
        }
    }

    /// `image -= W Wᵀ x`.
    pub(super) fn subtract_coupling(&self, problem: &Problem<'_>, x: &[f64], image: &mut [f64]) {
        let classes = problem.classes();
        let is_dense = 2 * self.kept > self.values.len();
        let columns = self.values.chunks_exact(x.len());
        for (column, norms) in columns.zip(self.norms.chunks_exact(classes)) {
            if is_dense {
                scale_and_accumulate(column, -dot(column, x), image);
                continue;
            }
            let groups = || (0..classes).filter(|&c| norms[c] > 0.0).map(|c| problem.class(c));
            let sum: f64 = groups().map(|range| dot(&column[range.clone()], &x[range])).sum();
            for range in groups() {
                scale_and_accumulate(&column[range.clone()], -sum, &mut image[range]);
            }
        }
    }

    /// `product = Wᵀ x`.
    pub(super) fn transposed_product(&self, x: &[f64], product: &mut [f64]) {
        for (product, column) in product.iter_mut().zip(self.values.chunks_exact(x.len())) {
            *product = dot(column, x);
        }
    }

    /// `sum += W x`.
    pub(super) fn accumulate_product(&self, x: &[f64], sum: &mut [f64]) {
        for (&x, column) in x.iter().zip(self.values.chunks_exact(sum.len())) {
            scale_and_accumulate(column, x, sum);
        }
    }

    /// How the source marginal moves with λ at fixed u, with the sign of du/dλ: entropy acts on the plan like a
    /// cost of ln γ for each unit of λ.
    pub(super) fn spread(&self, problem: &Problem<'_>, spread: &mut [f64]) {
        let (width, classes) = (problem.sources.len(), problem.classes());
        spread.fill(0.0);
        let mut logs = vec![0.0; width];
        let mut own = vec![0.0; width];
        let mut shares = vec![0.0; width];
        for (target, &mass) in problem.target_mass.iter().enumerate() {
            let column = &self.values[target * width..(target + 1) * width];
            let mean = logarithms(column, &mut logs) / mass.sqrt();
            for class in 0..classes {
                let range = problem.class(class);
                let (own, shares) = (&mut own[range.clone()], &mut shares[range.clone()]);
                own.fill(0.0);
                let coupling = self.response(problem, target, class, shares, own);
                if coupling == 0.0 {
                    continue;
                }
                let logs = &logs[range.clone()];
                let common: f64 =
                    shares.iter().zip(logs).map(|(share, log)| share * (log - mean)).sum();
                for (((spread, own), share), log) in
                    spread[range].iter_mut().zip(own).zip(shares).zip(logs)
                {
                    *spread += *own * (log - mean) + coupling * common * *share;
                }
            }
        }
    }
}
