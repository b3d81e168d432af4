//! From potentials to a plan inside the transport polytope, and its objective.
//! Masses that are too large are scaled down, and what is then missing is spread: see `remainder`. It does not judge
//! convergence.

use ndarray::{Array1, Array2};
use rayon::prelude::*;

use super::kernel::Kernel;
use super::kernels::subtract;
use super::options::Potentials;
use super::problem::Problem;
use crate::elementary::{cost_and_negentropy, exp_shifted};
use crate::loops::{accumulate_and_scale, dot, scale_and_add, scale_by, slack_and_max};
use crate::parts::{add_all, rows_of_a_part};
use crate::remainder::Remainder;

/// Relative, of the entries of a plan.
const LARGEST_ROUNDING: f64 = 1e-12;
/// Missing mass up to which a bound of its entropy is as good as the entropy.
const LARGEST_SLIGHT_REMAINDER: f64 = 3e-13;

pub(super) struct Projected {
    pub(super) plan: Array2<f64>,
    pub(super) potentials: Potentials,
    pub(super) marginal_error: f64,
    /// Without penalties.
    pub(super) transport_cost: f64,
    pub(super) negentropy: f64,
    pub(super) dual_objective: f64,
}

/// Projects into `plan`: the entries of the kernel if they lie as a plan does, zeros if it is a list, and else anything.
pub(super) fn project(
    kernel: &Kernel,
    problem: &Problem<'_>,
    entropy_weight: f64,
    mut plan: Array2<f64>,
) -> Projected {
    let is_kernel = kernel.lies_as_plan(problem) && has_digits(kernel, entropy_weight);
    let raw = if kernel.is_sparse {
        write_list(kernel, problem, entropy_weight, &mut plan)
    } else if is_kernel {
        scaled_kernel(kernel, problem, entropy_weight)
    } else {
        write_matrix(kernel, problem, entropy_weight, &mut plan)
    };
    let inner_potential = inner_potential(kernel, entropy_weight);
    let filling = Filling::new(problem, &raw);
    let is_plain = problem.is_plain() && problem.penalty().is_none();
    let (transport_cost, negentropy) = if is_kernel && is_plain && filling.is_slight() {
        filling.finish_kernel(&mut plan, problem, &raw, (&inner_potential, entropy_weight))
    } else {
        filling.finish(&mut plan, problem, &raw)
    };
    let dual_objective = dot(&inner_potential, &problem.inner_mass)
        + dot(&raw.outer_potential, &problem.outer_mass)
        + entropy_weight * raw.shortfall;
    let pairs = kernel.marginal.iter().zip(&problem.inner_mass);
    Projected {
        plan,
        potentials: potentials(problem, &inner_potential, &raw.outer_potential),
        marginal_error: pairs.map(|(marginal, mass)| (marginal - mass).abs()).sum(),
        transport_cost,
        negentropy,
        dual_objective,
    }
}

/// A plan whose rows have not more than their masses, and the sums of its columns.
struct Raw {
    /// What the entries that are written are still to be multiplied with.
    row_factors: Vec<f64>,
    column_factors: Vec<f64>,
    outer_potential: Vec<f64>,
    /// One minus the sum of exp((f ⊕ g - C)/λ), not more than rounding: the outer marginal is exact.
    shortfall: f64,
    column_sums: Vec<f64>,
}

impl Raw {
    /// A plan that is written as it is.
    fn written(
        (rows, columns): (usize, usize),
        outer_potential: Vec<f64>,
        shortfall: f64,
        column_sums: Vec<f64>,
    ) -> Self {
        let (row_factors, column_factors) = (vec![1.0; rows], vec![1.0; columns]);
        Self { row_factors, column_factors, outer_potential, shortfall, column_sums }
    }
}

fn inner_potential(kernel: &Kernel, entropy_weight: f64) -> Vec<f64> {
    let pairs = kernel.potential.iter().zip(&kernel.log_scaling);
    pairs.map(|(potential, scaling)| potential + entropy_weight * scaling).collect()
}

/// The potentials of the outer side of a matrix.
fn outer_potential(kernel: &Kernel, entropy_weight: f64) -> Vec<f64> {
    (kernel.outer_potential.iter().zip(&kernel.outer_scaling))
        .map(|(potential, scaling)| potential + entropy_weight * scaling.ln())
        .collect()
}

/// Whether the potentials, rounded, still give the entries of the kernel. Where they are huge beside λ (a forbidden pair that
/// is written as 1e18, for example) the plan has to be that of the potentials: what it lacks is part of the bound.
fn has_digits(kernel: &Kernel, entropy_weight: f64) -> bool {
    let largest = kernel.potential.iter().fold(0.0_f64, |most, f| most.max(f.abs()));
    f64::EPSILON * largest <= LARGEST_ROUNDING * entropy_weight
}

/// The plan in the entries of the kernel, which are there.
fn scaled_kernel(kernel: &Kernel, problem: &Problem<'_>, entropy_weight: f64) -> Raw {
    let rows = kernel.outer_scaling.iter().zip(&problem.outer_mass);
    Raw {
        row_factors: rows.map(|(scaling, mass)| scaling * mass.sqrt()).collect(),
        column_factors: kernel.scaling.clone(),
        outer_potential: outer_potential(kernel, entropy_weight),
        shortfall: 0.0,
        column_sums: kernel.marginal.clone(),
    }
}

/// Writes exp((f ⊕ g - C)/λ) row by row, whichever side is the inner one.
fn write_matrix(
    kernel: &Kernel,
    problem: &Problem<'_>,
    entropy_weight: f64,
    plan: &mut Array2<f64>,
) -> Raw {
    let outer_potential = outer_potential(kernel, entropy_weight);
    let inner_potential = inner_potential(kernel, entropy_weight);
    let Potentials { source, target } = potentials(problem, &inner_potential, &outer_potential);
    let (row_mass, _) = by_side(problem, &problem.inner_mass, &problem.outer_mass, 0.0);
    let (rows, columns) = problem.shape();
    let target = target.to_vec();
    let of_a_part = rows_of_a_part(rows, columns, 1);
    // A plan of ours is contiguous.
    let values = plan.as_slice_mut().unwrap_or_default();
    let parts: Vec<(Vec<f64>, f64)> = values
        .par_chunks_mut(of_a_part * columns)
        .enumerate()
        .map(|(part, values)| {
            let (mut column_sums, mut total) = (vec![0.0; columns], 0.0);
            for (offset, row) in values.chunks_exact_mut(columns).enumerate() {
                let place = part * of_a_part + offset;
                if row_mass[place] == 0.0 {
                    row.fill(0.0);
                    continue;
                }
                slack_and_max(&problem.costs_of_row(place), &target, row);
                if let Some(penalty) = problem.penalty() {
                    subtract(row, penalty.of_row(place));
                }
                let sum = exp_shifted(row, -source[place], 1.0 / entropy_weight);
                total += sum;
                let shrink = (row_mass[place] / sum).min(1.0);
                accumulate_and_scale(row, shrink, shrink, &mut column_sums);
            }
            (column_sums, total)
        })
        .collect();
    let shortfall = 1.0 - parts.iter().map(|part| part.1).sum::<f64>();
    let mut column_sums = vec![0.0; columns];
    add_all(parts.into_iter().map(|part| part.0), &mut column_sums);
    Raw::written((rows, columns), outer_potential, shortfall, column_sums)
}

/// Writes the pairs that are listed; the others carry nothing in the digits of f64.
fn write_list(
    kernel: &Kernel,
    problem: &Problem<'_>,
    entropy_weight: f64,
    plan: &mut Array2<f64>,
) -> Raw {
    let scaling: Vec<f64> = kernel.log_scaling.iter().map(|s| s.exp()).collect();
    let pairs = kernel.marginal.iter().zip(&problem.inner_mass);
    let shrink: Vec<f64> = pairs.map(|(marginal, mass)| (mass / marginal).min(1.0)).collect();
    let mut outer_potential = Vec::with_capacity(problem.outer_len());
    let mut outer_sums = Vec::with_capacity(problem.outer_len());
    let mut row = Vec::new();
    for (outer, &mass) in problem.outer_mass.iter().enumerate() {
        let largest = kernel.candidates.slacks(outer, &kernel.potential, &mut row);
        exp_shifted(&mut row, largest, 1.0 / entropy_weight);
        let columns = kernel.candidates.columns_of(outer);
        let scaled = row.iter().zip(columns).map(|(value, &c)| value * scaling[c as usize]);
        let weight = mass / scaled.sum::<f64>();
        outer_potential.push(entropy_weight * weight.ln() - largest);
        let mut sum = 0.0;
        for (value, &column) in row.iter().zip(columns) {
            let column = column as usize;
            let gamma = weight * value * scaling[column] * shrink[column];
            plan[problem.pair(outer, column)] = gamma;
            sum += gamma;
        }
        outer_sums.push(sum);
    }
    let cut = kernel.marginal.iter().zip(&shrink);
    let inner_sums: Vec<f64> = cut.map(|(marginal, shrink)| marginal * shrink).collect();
    let (_, column_sums) = by_side(problem, &inner_sums, &outer_sums, 0.0);
    Raw::written(problem.shape(), outer_potential, 0.0, column_sums.to_vec())
}

/// How columns are cut down to their masses, and what is then missing.
struct Filling {
    /// What becomes of each column's sum.
    cuts: Vec<f64>,
    /// With the factors that its entries are still to be multiplied with.
    scales: Vec<f64>,
    remainder: Remainder,
    row_mass: Array1<f64>,
}

impl Filling {
    fn new(problem: &Problem<'_>, raw: &Raw) -> Self {
        let (row_mass, column_mass) =
            by_side(problem, &problem.inner_mass, &problem.outer_mass, 0.0);
        let columns = column_mass.iter().zip(&raw.column_sums);
        let lacks = columns.clone().map(|(mass, sum)| (mass - sum).max(0.0));
        let remainder = Remainder::new(lacks.collect());
        // What is rounding is not worth a remainder: the columns grow as well.
        let grows = remainder.is_negligible();
        let cut = |(mass, sum): (&f64, &f64)| {
            if sum > mass || (grows && *sum > 0.0) { mass / sum } else { 1.0 }
        };
        let cuts: Vec<f64> = columns.map(cut).collect();
        let scales =
            cuts.iter().zip(&raw.column_factors).map(|(cut, factor)| cut * factor).collect();
        Self { cuts, scales, remainder, row_mass }
    }

    /// Whether so little is missing that its entropy may be bounded.
    fn is_slight(&self) -> bool {
        self.remainder.total() <= LARGEST_SLIGHT_REMAINDER
    }

    /// Makes the plan that is written, or half written, one; returns Σ γ C and Σ γ ln γ.
    fn finish(&self, plan: &mut Array2<f64>, problem: &Problem<'_>, raw: &Raw) -> (f64, f64) {
        let sums = each_row(plan, |place, gammas| {
            let costs = problem.costs_of_row(place);
            let factor = raw.row_factors[place];
            let lack = self.row_mass[place] - factor * dot(gammas, &self.scales);
            scale_by(gammas, factor, &self.scales);
            self.remainder.add_to(lack, gammas, &costs);
            let (transport_cost, negentropy) = cost_and_negentropy(gammas, &costs);
            [transport_cost, negentropy]
        });
        (sums[0], sums[1])
    }

    /// The same for the entries of a kernel, without a logarithm: that of an entry is (f ⊕ g - C)/λ. Of what is added to
    /// them, δ in sum, the entropy is bounded: (γ + δ) ln (γ + δ) ≤ γ ln γ + δ, because x ln x is convex and γ + δ ≤ 1.
    fn finish_kernel(
        &self,
        plan: &mut Array2<f64>,
        problem: &Problem<'_>,
        raw: &Raw,
        (target_potential, entropy_weight): (&[f64], f64),
    ) -> (f64, f64) {
        let lacks = self.remainder.lacks();
        let [scaled_cost, transport_cost, of_sources] = each_row(plan, |place, gammas| {
            let costs = problem.costs_of_row(place);
            let factor = raw.row_factors[place];
            let sum = factor * dot(gammas, &self.scales);
            let share = self.remainder.share((self.row_mass[place] - sum).max(0.0));
            scale_and_add(gammas, (factor, &self.scales), (share, lacks));
            let cost = dot(gammas, &costs);
            let added = if share > 0.0 { share * dot(lacks, &costs) } else { 0.0 };
            [cost - added, cost, raw.outer_potential[place] * sum]
        });
        let columns = raw.column_sums.iter().zip(&self.cuts).zip(target_potential);
        let of_targets: f64 =
            columns.map(|((sum, cut), g)| sum * cut * (g + entropy_weight * cut.ln())).sum();
        let of_kernel = (of_sources + of_targets - scaled_cost) / entropy_weight;
        (transport_cost, of_kernel + self.remainder.total())
    }
}

/// Calls a function with each row of the plan and adds up what it returns.
fn each_row<const N: usize>(
    plan: &mut Array2<f64>,
    row: impl Fn(usize, &mut [f64]) -> [f64; N] + Sync,
) -> [f64; N] {
    let (rows, columns) = plan.dim();
    let of_a_part = rows_of_a_part(rows, columns, 1);
    // A plan of ours is contiguous.
    let values = plan.as_slice_mut().unwrap_or_default();
    let add = |mut all: [f64; N], more: [f64; N]| {
        for (all, more) in all.iter_mut().zip(more) {
            *all += more;
        }
        all
    };
    let parts: Vec<[f64; N]> = values
        .par_chunks_mut(of_a_part * columns)
        .enumerate()
        .map(|(part, values)| {
            let rows = values.chunks_exact_mut(columns).enumerate();
            let sums = rows.map(|(offset, gammas)| row(part * of_a_part + offset, gammas));
            sums.fold([0.0; N], add)
        })
        .collect();
    parts.into_iter().fold([0.0; N], add)
}

fn potentials(problem: &Problem<'_>, inner: &[f64], outer: &[f64]) -> Potentials {
    let (source, target) = by_side(problem, inner, outer, f64::NEG_INFINITY);
    Potentials { source, target }
}

/// Values of all sources and of all targets, given those of the samples with mass.
fn by_side(
    problem: &Problem<'_>,
    inner: &[f64],
    outer: &[f64],
    elsewhere: f64,
) -> (Array1<f64>, Array1<f64>) {
    let (sources, targets) = problem.shape();
    if problem.inner_is_source {
        let source = scatter(sources, &problem.inner, inner, elsewhere);
        (source, scatter(targets, &problem.outer, outer, elsewhere))
    } else {
        let source = scatter(sources, &problem.outer, outer, elsewhere);
        (source, scatter(targets, &problem.inner, inner, elsewhere))
    }
}

fn scatter(len: usize, positions: &[usize], values: &[f64], elsewhere: f64) -> Array1<f64> {
    let mut result = Array1::from_elem(len, elsewhere);
    for (&position, &value) in positions.iter().zip(values) {
        result[position] = value;
    }
    result
}
