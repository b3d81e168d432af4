//! Some neighbouring columns of the plan: each is found from the source potentials alone, so that parts of the plan can
//! be evaluated side by side. How many parts there are depends on the problem only, and so do the digits of the result.

use super::group::{Batch, GroupReal, Groups, Ratio};
use super::kernel::DualValue;
use super::loops::scaled_slacks;
use super::problem::Problem;
use crate::elementary::exp_shifted;
use crate::loops::accumulate_and_scale;

/// Groups with less than exp(-42) of the mass of a column cannot change a marginal in the digits of f64.
const NEGLIGIBLE_EXPONENT: f64 = 42.0;

/// In which groups are solved; everything else is in double precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Precision {
    Single,
    #[default]
    Double,
}

/// What all columns of an evaluation share.
pub(super) struct Setting<'a, 'p> {
    pub(super) problem: &'a Problem<'p>,
    /// u.
    pub(super) potential: &'a [f64],
    pub(super) entropy_weight: f64,
    pub(super) ratio: Ratio,
    pub(super) precision: Precision,
    /// κ, relative to that of the evaluation before.
    pub(super) guess_scale: f64,
    /// Of ρ − max z, by class.
    pub(super) bounds: &'a [(f64, f64)],
}

/// The columns, where the kernel keeps them.
pub(super) struct Columns<'a> {
    /// The first of them.
    pub(super) first: usize,
    /// v.
    pub(super) target_potential: &'a mut [f64],
    /// z, then p, then W.
    pub(super) values: &'a mut [f64],
    /// ρ, then ‖γ(I_c, j)‖.
    pub(super) norms: &'a mut [f64],
    pub(super) memory: &'a mut ColumnMemory,
}

/// A column, counted from the first of its part, and a class.
#[derive(Clone, Copy)]
struct Group {
    column: usize,
    class: usize,
}

#[derive(Default)]
pub(super) struct ColumnMemory {
    /// The roots of the last evaluation and the logarithms of ω there, to start the next ones from: half the digits
    /// serve for that. A root is NaN, and its logarithms mean nothing, where a group was left out.
    offsets: Vec<f64>,
    logarithms: Vec<f32>,
    /// Of each group: max z, and Σ p.
    maxima: Vec<f64>,
    sums: Vec<f64>,
    /// The class of each column that may have the largest norm, and the logarithm of its norm.
    leaders: Vec<usize>,
    references: Vec<f64>,
    groups: Vec<Group>,
    single: BatchMemory<f32, 16>,
    double: BatchMemory<f64, 8>,
    /// What the columns add to the source marginal, to the value of the dual, and to the entries with mass.
    pub(super) marginal: Vec<f64>,
    pub(super) value: DualValue,
    pub(super) kept: usize,
}

#[derive(Default)]
struct BatchMemory<T, const LANES: usize> {
    entries: Vec<[T; LANES]>,
    logarithms: Vec<[T; LANES]>,
    omegas: Vec<[T; LANES]>,
}

impl<T: GroupReal<LANES>, const LANES: usize> BatchMemory<T, LANES> {
    fn resize(&mut self, size: usize) {
        for lanes in [&mut self.entries, &mut self.logarithms, &mut self.omegas] {
            lanes.resize(size, [T::ZERO; LANES]);
        }
    }
}

impl ColumnMemory {
    pub(super) fn resize(&mut self, problem: &Problem<'_>, columns: usize) {
        let (sources, classes) = (problem.sources.len(), problem.classes());
        let largest = (0..classes).map(|class| problem.class(class).len()).max().unwrap_or(0);
        self.offsets.clear();
        self.offsets.resize(classes * columns, f64::NAN);
        self.logarithms.resize(sources * columns, 0.0);
        self.maxima.resize(classes * columns, 0.0);
        self.sums.resize(classes * columns, 0.0);
        self.leaders.resize(columns, 0);
        self.references.resize(columns, 0.0);
        self.marginal.resize(sources, 0.0);
        self.single.resize(largest);
        self.double.resize(largest);
    }

    /// A multiple of the direction γ/‖γ‖ of a group that has no mass. One that was left out before it was solved is
    /// negligible with all entries alike; one after that, with the ω that were found.
    pub(super) fn write_massless_direction(
        &self,
        problem: &Problem<'_>,
        (column, class): (usize, usize),
        direction: &mut [f64],
    ) {
        if self.offsets[column * problem.classes() + class].is_nan() {
            direction.fill(1.0);
            return;
        }
        let known = &self.logarithms[problem.place(column, class)];
        for (entry, &logarithm) in direction.iter_mut().zip(known) {
            *entry = f64::from(logarithm);
        }
        let largest = direction.iter().fold(f64::NEG_INFINITY, |most, &log| most.max(log));
        exp_shifted(direction, largest, 1.0);
    }
}

impl Columns<'_> {
    /// Recomputes the columns.
    pub(super) fn evaluate(&mut self, setting: &Setting<'_, '_>) {
        self.memory.marginal.fill(0.0);
        self.memory.kept = 0;
        self.memory.value = DualValue::default();
        let (first, columns) = (self.first, self.target_potential.len());
        setting.problem.visit_costs(first..first + columns, |target, costs| {
            self.find_slacks(setting, target - first, costs);
        });
        self.solve_leaders(setting);
        self.solve_followers(setting);
        for column in 0..self.target_potential.len() {
            let mass = setting.problem.target_mass[self.first + column];
            let log_sum = self.finish(setting, column);
            let potential = setting.entropy_weight * (mass.ln() - log_sum);
            self.target_potential[column] = potential;
            self.memory.value.value += mass * potential;
            self.memory.value.magnitude += mass * potential.abs();
        }
    }

    /// Writes z of a column, and finds the class that may have the largest norm there.
    fn find_slacks(&mut self, setting: &Setting<'_, '_>, column: usize, costs: &[f64]) {
        let Setting { problem, bounds, .. } = setting;
        let (width, classes) = (problem.sources.len(), problem.classes());
        let values = &mut self.values[column * width..(column + 1) * width];
        let scale = setting.entropy_weight.recip();
        let mut highest = f64::NEG_INFINITY;
        self.memory.leaders[column] = 0;
        for class in 0..classes {
            let range = problem.class(class);
            let (potential, costs) = (&setting.potential[range.clone()], &costs[range.clone()]);
            let largest = scaled_slacks(costs, potential, scale, &mut values[range]);
            self.memory.maxima[column * classes + class] = largest;
            if largest + bounds[class].1 > highest {
                highest = largest + bounds[class].1;
                self.memory.leaders[column] = class;
            }
        }
    }

    /// Solves one group of each column, after which it is known which others can matter.
    fn solve_leaders(&mut self, setting: &Setting<'_, '_>) {
        let classes = setting.problem.classes();
        // Until the scale of a column is known, `norms` holds ρ.
        self.norms.fill(f64::NEG_INFINITY);
        let mut groups = std::mem::take(&mut self.memory.groups);
        groups.clear();
        for (column, &class) in self.memory.leaders.iter().enumerate() {
            if self.memory.maxima[column * classes + class] > f64::NEG_INFINITY {
                groups.push(Group { column, class });
            }
        }
        groups.sort_by_key(|group| setting.problem.class(group.class).len());
        self.solve(setting, &groups);
        self.memory.groups = groups;
        for (column, &leader) in self.memory.leaders.iter().enumerate() {
            self.memory.references[column] = self.norms[column * classes + leader];
        }
    }

    /// Solves the other groups that can matter, and empties those that cannot.
    fn solve_followers(&mut self, setting: &Setting<'_, '_>) {
        let Setting { problem, bounds, .. } = setting;
        let classes = problem.classes();
        let mut groups = std::mem::take(&mut self.memory.groups);
        groups.clear();
        for &class in &problem.classes_by_size {
            for (column, &leader) in self.memory.leaders.iter().enumerate() {
                let group = column * classes + class;
                let largest = self.memory.maxima[group];
                let least = self.memory.references[column] - NEGLIGIBLE_EXPONENT;
                if largest == f64::NEG_INFINITY || largest + bounds[class].1 <= least {
                    self.values[problem.place(column, class)].fill(0.0);
                    self.memory.offsets[group] = f64::NAN;
                } else if leader != class {
                    groups.push(Group { column, class });
                }
            }
        }
        self.solve(setting, &groups);
        self.memory.groups = groups;
    }

    /// Solves groups: `values` becomes p and `norms` ρ.
    fn solve(&mut self, setting: &Setting<'_, '_>, groups: &[Group]) {
        match setting.precision {
            Precision::Single => {
                let mut batch = std::mem::take(&mut self.memory.single);
                self.solve_in(setting, groups, &mut batch);
                self.memory.single = batch;
            }
            Precision::Double => {
                let mut batch = std::mem::take(&mut self.memory.double);
                self.solve_in(setting, groups, &mut batch);
                self.memory.double = batch;
            }
        }
    }

    /// Those of a size one after the other.
    fn solve_in<T: GroupReal<LANES>, const LANES: usize>(
        &mut self,
        setting: &Setting<'_, '_>,
        groups: &[Group],
        batch: &mut BatchMemory<T, LANES>,
    ) {
        let size = |group: &Group| setting.problem.class(group.class).len();
        for alike in groups.chunk_by(|left, right| size(left) == size(right)) {
            for groups in alike.chunks(LANES) {
                self.solve_batch(setting, groups, batch);
            }
        }
    }

    /// Solves a few groups of one size side by side.
    fn solve_batch<T: GroupReal<LANES>, const LANES: usize>(
        &mut self,
        setting: &Setting<'_, '_>,
        groups: &[Group],
        batch: &mut BatchMemory<T, LANES>,
    ) {
        let Setting { problem, ratio, guess_scale, bounds, .. } = *setting;
        let classes = problem.classes();
        let place = |group: Group| problem.place(group.column, group.class);
        let index = |group: Group| group.column * classes + group.class;
        let size = problem.class(groups[0].class).len();
        let memory = &mut *self.memory;
        let BatchMemory { entries, logarithms, omegas } = batch;
        let (entries, logarithms) = (&mut entries[..size], &mut logarithms[..size]);
        let mut guesses = [T::ZERO; LANES];
        // ω = κp moves too far with κ.
        let mut is_warm = guess_scale == 1.0;
        for (lane, guess) in guesses.iter_mut().enumerate() {
            // Lanes without a group repeat the last one.
            let group = groups[lane.min(groups.len() - 1)];
            let largest = memory.maxima[index(group)];
            let offset = memory.offsets[index(group)];
            *guess = T::of(guess_scale * offset);
            is_warm &= !offset.is_nan();
            for (entry, &z) in entries.iter_mut().zip(&self.values[place(group)]) {
                entry[lane] = T::of((z - largest).max(T::FLOOR));
            }
            for (lanes, &known) in logarithms.iter_mut().zip(&memory.logarithms[place(group)]) {
                lanes[lane] = T::of(f64::from(known));
            }
        }
        let batch = Batch {
            entries: &mut *entries,
            logarithms: &mut *logarithms,
            omegas: &mut omegas[..size],
            guesses,
            is_warm,
        };
        let Groups { offsets, sums } = T::solve_groups(batch, ratio, bounds[groups[0].class]);
        for (lane, &group) in groups.iter().enumerate() {
            memory.offsets[index(group)] = offsets[lane].to_f64();
            self.norms[index(group)] = memory.maxima[index(group)] + offsets[lane].to_f64();
            memory.sums[index(group)] = sums[lane];
            for (value, entry) in self.values[place(group)].iter_mut().zip(&*entries) {
                *value = entry[lane].to_f64();
            }
            #[allow(clippy::cast_possible_truncation, reason = "a start of the next evaluation")]
            for (known, lanes) in memory.logarithms[place(group)].iter_mut().zip(&*logarithms) {
                *known = lanes[lane].to_f64() as f32;
            }
        }
    }

    /// Scales the groups of a column to its mass and returns the logarithm of what their sum was.
    fn finish(&mut self, setting: &Setting<'_, '_>, column: usize) -> f64 {
        let problem = setting.problem;
        let (width, classes) = (problem.sources.len(), problem.classes());
        let values = &mut self.values[column * width..(column + 1) * width];
        let norms = &mut self.norms[column * classes..(column + 1) * classes];
        let sums = &self.memory.sums[column * classes..(column + 1) * classes];
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
        let mass = problem.target_mass[self.first + column];
        for (class, norm) in norms.iter_mut().enumerate() {
            let range = problem.class(class);
            if *norm == 0.0 {
                values[range].fill(0.0);
                continue;
            }
            *norm *= mass / sum;
            self.memory.kept += range.len();
            accumulate_and_scale(
                &mut values[range.clone()],
                *norm,
                *norm / mass.sqrt(),
                &mut self.memory.marginal[range],
            );
        }
        reference + sum.ln()
    }
}
