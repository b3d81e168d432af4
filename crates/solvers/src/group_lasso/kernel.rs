//! The plan that belongs to given source potentials u and has exact target marginals.
//! Adding to v_j multiplies the whole column γ(·, j), because the group norm is homogeneous: v_j follows from the
//! column's sum, as in Sinkhorn's iteration, and the semi-dual D(u) = a·u + b·v(u) remains. It stores
//! W_j = γ(·, j)/√b_j, so that the curvature is B − WWᵀ: see `curvature`. It takes no steps: see `ascent`.

use super::group::{LANES, Ratio, solve_group};
use super::loops::{logarithms, scaled_slacks};
use super::problem::Problem;
use crate::elementary::{dot, scale_and_accumulate};

/// Groups with less than exp(-42) of the mass of a column cannot change a marginal in the digits of f64.
const NEGLIGIBLE_EXPONENT: f64 = 42.0;

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
    /// The roots of the last evaluation, to start the next ones from.
    offsets: Vec<f64>,
    bounds: Vec<(f64, f64)>,
    maxima: Vec<f64>,
    entries: Vec<f64>,
    omegas: Vec<f64>,
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
        let largest = (0..classes).map(|class| problem.class(class).len()).max().unwrap_or(0);
        self.potential.resize(sources, 0.0);
        self.marginal.resize(sources, 0.0);
        self.target_potential.resize(targets, 0.0);
        self.values.resize(sources * targets, 0.0);
        self.norms.resize(classes * targets, 0.0);
        self.offsets.clear();
        self.offsets.resize(classes * targets, f64::NAN);
        self.maxima.resize(classes, 0.0);
        self.entries.resize(largest.next_multiple_of(LANES), 0.0);
        self.omegas.resize(largest.next_multiple_of(LANES), 0.0);
    }

    /// Recomputes everything at `potential`.
    pub(super) fn evaluate(&mut self, problem: &Problem<'_>, entropy_weight: f64) -> DualValue {
        let ratio = Ratio::new(entropy_weight, problem.regularization_weight);
        // Offsets are about proportional to κ.
        let guess_scale = ratio.kappa / std::mem::replace(&mut self.kappa, ratio.kappa);
        self.bounds.clear();
        self.bounds
            .extend(problem.class_starts.windows(2).map(|ends| ratio.offsets(ends[1] - ends[0])));
        self.marginal.fill(0.0);
        self.kept = 0;
        let mut total = DualValue::default();
        for (potential, mass) in self.potential.iter().zip(&problem.source_mass) {
            total.value += potential * mass;
            total.magnitude += potential.abs() * mass;
        }
        for target in 0..problem.targets.len() {
            let mass = problem.target_mass[target];
            let log_sum = self.solve_column(problem, target, entropy_weight, ratio, guess_scale);
            let potential = entropy_weight * (mass.ln() - log_sum);
            self.target_potential[target] = potential;
            total.value += mass * potential;
            total.magnitude += mass * potential.abs();
        }
        total
    }

    /// Solves the groups of a column that can matter, scales them to the column's mass and returns the
    /// logarithm of what their sum was.
    fn solve_column(
        &mut self,
        problem: &Problem<'_>,
        target: usize,
        entropy_weight: f64,
        ratio: Ratio,
        guess_scale: f64,
    ) -> f64 {
        let (width, classes) = (problem.sources.len(), problem.classes());
        let column = &mut self.values[target * width..(target + 1) * width];
        let norms = &mut self.norms[target * classes..(target + 1) * classes];
        let offsets = &mut self.offsets[target * classes..(target + 1) * classes];
        let costs = problem.costs_of(target);
        let mut first = 0;
        let mut highest = f64::NEG_INFINITY;
        for class in 0..classes {
            let range = problem.class(class);
            let (potential, costs) = (&self.potential[range.clone()], &costs[range.clone()]);
            let largest =
                scaled_slacks(costs, potential, entropy_weight.recip(), &mut column[range]);
            self.maxima[class] = largest;
            if largest + self.bounds[class].1 > highest {
                highest = largest + self.bounds[class].1;
                first = class;
            }
        }
        // Until the scale of the column is known, `norms` holds ρ.
        norms.fill(f64::NEG_INFINITY);
        let mut reference = f64::NEG_INFINITY;
        let mut sum = 0.0;
        for class in std::iter::once(first).chain((0..classes).filter(|&class| class != first)) {
            let range = problem.class(class);
            let largest = self.maxima[class];
            let bounds = self.bounds[class];
            if largest + bounds.1 <= reference - NEGLIGIBLE_EXPONENT || largest == f64::NEG_INFINITY
            {
                column[range].fill(0.0);
                continue;
            }
            let padded = range.len().next_multiple_of(LANES);
            let entries = &mut self.entries[..padded];
            entries[range.len()..].fill(f64::NEG_INFINITY);
            for (entry, &z) in entries.iter_mut().zip(&column[range.clone()]) {
                *entry = z - largest;
            }
            let guess = guess_scale * offsets[class];
            let group = solve_group(entries, &mut self.omegas[..padded], ratio, bounds, guess);
            offsets[class] = group.offset;
            column[range.clone()].copy_from_slice(&entries[..range.len()]);
            let log_norm = largest + group.offset;
            norms[class] = log_norm;
            if log_norm > reference {
                sum *= (reference - log_norm).exp();
                reference = log_norm;
            }
            sum += group.sum * (log_norm - reference).exp();
        }
        let mass = problem.target_mass[target];
        for (class, norm) in norms.iter_mut().enumerate() {
            let range = problem.class(class);
            if *norm < reference - NEGLIGIBLE_EXPONENT {
                // The bound may have been far from what was found.
                if *norm > f64::NEG_INFINITY {
                    column[range].fill(0.0);
                }
                *norm = 0.0;
                continue;
            }
            *norm = mass / sum * (*norm - reference).exp();
            self.kept += range.len();
            let scale = *norm / mass.sqrt();
            for (value, marginal) in column[range.clone()].iter_mut().zip(&mut self.marginal[range])
            {
                *marginal += *norm * *value;
                *value *= scale;
            }
        }
        reference + sum.ln()
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
        let mut sum = 0.0;
        for ((value, share), own) in values.iter().zip(shares).zip(diagonal) {
            let p = value * scale;
            let response = p / (1.0 + self.kappa * p);
            *own += norm * response;
            *share = p * response;
            sum += *share;
        }
        self.kappa * norm / sum
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
