//! The plan that belongs to given source potentials u and has exact target marginals.
//! Adding to v_j multiplies the whole column γ(·, j), because the group norm is homogeneous: v_j follows from the
//! column's sum, as in Sinkhorn's iteration, and the semi-dual D(u) = a·u + b·v(u) remains. It stores
//! W_j = γ(·, j)/√b_j, so that the curvature is B − WWᵀ: see `curvature`. It takes no steps: see `ascent`.

use super::group::{Batch, FLOOR, Groups, LANES, Lanes, Ratio, solve_groups};
use super::loops::{accumulate_and_scale, logarithms, responses, scaled_slacks};
use super::problem::Problem;
use crate::checks::check_length;
use crate::elementary::{dot, exp_shifted, scale_and_accumulate};
use crate::entropic::Potentials;
use crate::error::Result;

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
    /// The roots of the last evaluation and the logarithms of ω there, to start the next ones from. A root is NaN, and
    /// its logarithms mean nothing, where a group was left out.
    offsets: Vec<f64>,
    logarithms: Vec<f64>,
    bounds: Vec<(f64, f64)>,
    /// Of each group: max z, and Σ p.
    maxima: Vec<f64>,
    sums: Vec<f64>,
    /// The class of each column that may have the largest norm, and the logarithm of its norm.
    leaders: Vec<usize>,
    references: Vec<f64>,
    members: Vec<usize>,
    batch: BatchMemory,
}

#[derive(Default)]
struct BatchMemory {
    entries: Vec<Lanes>,
    logarithms: Vec<Lanes>,
    omegas: Vec<Lanes>,
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
        self.logarithms.resize(sources * targets, 0.0);
        self.maxima.resize(classes * targets, 0.0);
        self.sums.resize(classes * targets, 0.0);
        self.leaders.resize(targets, 0);
        self.references.resize(targets, 0.0);
        let BatchMemory { entries, logarithms, omegas } = &mut self.batch;
        for lanes in [entries, logarithms, omegas] {
            lanes.resize(largest, [0.0; LANES]);
        }
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
            self.find_slacks(problem, target, entropy_weight);
        }
        self.solve_leaders(problem, ratio, guess_scale);
        self.solve_followers(problem, ratio, guess_scale);
        for (target, &mass) in problem.target_mass.iter().enumerate() {
            let log_sum = self.finish_column(problem, target);
            let potential = entropy_weight * (mass.ln() - log_sum);
            self.target_potential[target] = potential;
            total.value += mass * potential;
            total.magnitude += mass * potential.abs();
        }
        total
    }

    /// Writes z of a column, and finds the class that may have the largest norm there.
    fn find_slacks(&mut self, problem: &Problem<'_>, target: usize, entropy_weight: f64) {
        let (width, classes) = (problem.sources.len(), problem.classes());
        let column = &mut self.values[target * width..(target + 1) * width];
        let costs = problem.costs_of(target);
        let mut highest = f64::NEG_INFINITY;
        self.leaders[target] = 0;
        for class in 0..classes {
            let range = problem.class(class);
            let (potential, costs) = (&self.potential[range.clone()], &costs[range.clone()]);
            let largest =
                scaled_slacks(costs, potential, entropy_weight.recip(), &mut column[range]);
            self.maxima[target * classes + class] = largest;
            if largest + self.bounds[class].1 > highest {
                highest = largest + self.bounds[class].1;
                self.leaders[target] = class;
            }
        }
    }

    /// Solves one group of each column, after which it is known which others can matter.
    fn solve_leaders(&mut self, problem: &Problem<'_>, ratio: Ratio, guess_scale: f64) {
        let (targets, classes) = (problem.targets.len(), problem.classes());
        // Until the scale of a column is known, `norms` holds ρ.
        self.norms.fill(f64::NEG_INFINITY);
        let mut members = std::mem::take(&mut self.members);
        for class in 0..classes {
            members.clear();
            members.extend((0..targets).filter(|&target| {
                self.leaders[target] == class
                    && self.maxima[target * classes + class] > f64::NEG_INFINITY
            }));
            self.solve_class(problem, class, &members, ratio, guess_scale);
        }
        self.members = members;
        for (target, &leader) in self.leaders.iter().enumerate() {
            self.references[target] = self.norms[target * classes + leader];
        }
    }

    /// Solves the other groups that can matter, and empties those that cannot.
    fn solve_followers(&mut self, problem: &Problem<'_>, ratio: Ratio, guess_scale: f64) {
        let (width, classes) = (problem.sources.len(), problem.classes());
        let mut members = std::mem::take(&mut self.members);
        for class in 0..classes {
            let bound = self.bounds[class].1;
            members.clear();
            for (target, &leader) in self.leaders.iter().enumerate() {
                let group = target * classes + class;
                let largest = self.maxima[group];
                if largest == f64::NEG_INFINITY
                    || largest + bound <= self.references[target] - NEGLIGIBLE_EXPONENT
                {
                    let range = problem.class(class);
                    self.values[target * width + range.start..target * width + range.end].fill(0.0);
                    self.offsets[group] = f64::NAN;
                } else if leader != class {
                    members.push(target);
                }
            }
            self.solve_class(problem, class, &members, ratio, guess_scale);
        }
        self.members = members;
    }

    /// Solves the groups of a class in some columns: `values` becomes p and `norms` ρ.
    fn solve_class(
        &mut self,
        problem: &Problem<'_>,
        class: usize,
        members: &[usize],
        ratio: Ratio,
        guess_scale: f64,
    ) {
        let (width, classes) = (problem.sources.len(), problem.classes());
        let range = problem.class(class);
        let size = range.len();
        let place = |target: usize| target * width + range.start..target * width + range.end;
        let BatchMemory { entries, logarithms, omegas } = &mut self.batch;
        let (entries, logarithms) = (&mut entries[..size], &mut logarithms[..size]);
        for columns in members.chunks(LANES) {
            let mut guesses = [0.0; LANES];
            // ω = κp moves too far with κ.
            let mut is_warm = guess_scale == 1.0;
            for (lane, guess) in guesses.iter_mut().enumerate() {
                // Lanes without a column repeat the last one.
                let target = columns[lane.min(columns.len() - 1)];
                let group = target * classes + class;
                let largest = self.maxima[group];
                *guess = guess_scale * self.offsets[group];
                is_warm &= !guess.is_nan();
                for (entry, &z) in entries.iter_mut().zip(&self.values[place(target)]) {
                    entry[lane] = (z - largest).max(FLOOR);
                }
                for (lanes, &known) in logarithms.iter_mut().zip(&self.logarithms[place(target)]) {
                    lanes[lane] = known;
                }
            }
            let batch = Batch {
                entries: &mut *entries,
                logarithms: &mut *logarithms,
                omegas: &mut omegas[..size],
                guesses,
                is_warm,
            };
            let Groups { offsets, sums } = solve_groups(batch, ratio, self.bounds[class]);
            for (lane, &target) in columns.iter().enumerate() {
                let group = target * classes + class;
                self.offsets[group] = offsets[lane];
                self.norms[group] = self.maxima[group] + offsets[lane];
                self.sums[group] = sums[lane];
                for (value, entry) in self.values[place(target)].iter_mut().zip(&*entries) {
                    *value = entry[lane];
                }
                for (known, lanes) in self.logarithms[place(target)].iter_mut().zip(&*logarithms) {
                    *known = lanes[lane];
                }
            }
        }
    }

    /// Scales the groups of a column to its mass and returns the logarithm of what their sum was.
    fn finish_column(&mut self, problem: &Problem<'_>, target: usize) -> f64 {
        let (width, classes) = (problem.sources.len(), problem.classes());
        let column = &mut self.values[target * width..(target + 1) * width];
        let norms = &mut self.norms[target * classes..(target + 1) * classes];
        let sums = &self.sums[target * classes..(target + 1) * classes];
        let reference = norms.iter().fold(f64::NEG_INFINITY, |most, &norm| most.max(norm));
        let mut sum = 0.0;
        for (norm, group_sum) in norms.iter_mut().zip(sums) {
            if *norm >= reference - NEGLIGIBLE_EXPONENT {
                *norm = (*norm - reference).exp();
                sum += *norm * group_sum;
            } else {
                // The bound may have been far from what was found.
                *norm = 0.0;
            }
        }
        let mass = problem.target_mass[target];
        for (class, norm) in norms.iter_mut().enumerate() {
            let range = problem.class(class);
            if *norm == 0.0 {
                column[range].fill(0.0);
                continue;
            }
            *norm *= mass / sum;
            self.kept += range.len();
            accumulate_and_scale(
                &mut column[range.clone()],
                *norm,
                *norm / mass.sqrt(),
                &mut self.marginal[range],
            );
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
        self.kappa * norm / responses(values, (scale, self.kappa, norm), shares, diagonal)
    }

    /// A multiple of the direction γ/‖γ‖ of a group, which is not zero. One that was left out before it was solved is
    /// negligible with all entries alike; one after that, with the ω that were found.
    pub(super) fn write_direction(
        &self,
        problem: &Problem<'_>,
        (target, class): (usize, usize),
        direction: &mut [f64],
    ) {
        let (width, group) = (problem.sources.len(), target * problem.classes() + class);
        let range = problem.class(class);
        let place = target * width + range.start..target * width + range.end;
        if self.norms[group] > 0.0 {
            direction.copy_from_slice(&self.values[place]);
        } else if self.offsets[group].is_nan() {
            direction.fill(1.0);
        } else {
            direction.copy_from_slice(&self.logarithms[place]);
            let largest = direction.iter().fold(f64::NEG_INFINITY, |most, &log| most.max(log));
            exp_shifted(direction, largest, 1.0);
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
