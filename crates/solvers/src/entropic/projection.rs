//! From potentials to a plan inside the transport polytope, and its objective.
//! Masses that are too large are scaled down, and what is then missing is spread: see `remainder`. It does not judge
//! convergence.

use ndarray::{Array1, Array2};

use super::kernel::Kernel;
use super::options::Potentials;
use super::problem::{BLOCK, Problem};
use crate::elementary::{cost_and_negentropy, exp_shifted};
use crate::loops::{accumulate_and_scale, dot, scale_by};
use crate::remainder::Remainder;
use crate::rows::entries;

pub(super) struct Projected {
    pub(super) plan: Array2<f64>,
    pub(super) potentials: Potentials,
    pub(super) marginal_error: f64,
    pub(super) transport_cost: f64,
    pub(super) negentropy: f64,
    pub(super) dual_objective: f64,
}

/// Projects into `plan`, which is zero.
pub(super) fn project(
    kernel: &Kernel,
    problem: &Problem<'_>,
    entropy_weight: f64,
    plan: Array2<f64>,
) -> Projected {
    let raw = materialise(kernel, problem, entropy_weight, plan);
    let mut plan = raw.plan;
    let (missing_source, missing_target) =
        by_side(problem, &raw.missing_inner, &raw.missing_outer, 0.0);
    let remainder = Remainder::new(missing_source.to_vec(), missing_target.to_vec());
    let (mut transport_cost, mut negentropy) = (0.0, 0.0);
    let all_costs = problem.cost();
    let rows = plan.outer_iter_mut().zip(all_costs.outer_iter());
    for (source, (mut gammas, costs)) in rows.enumerate() {
        let costs = entries(costs);
        // A new array is always contiguous.
        let Some(gammas) = gammas.as_slice_mut() else { continue };
        remainder.add_to(source, gammas, &costs);
        let sums = cost_and_negentropy(gammas, &costs);
        transport_cost += sums.0;
        negentropy += sums.1;
    }
    // The outer marginal of exp((f ⊕ g - C)/λ) is exact, so that the term λ (1 - Σ γ) of the dual
    // vanishes.
    let dual_objective = dot(&raw.inner_potential, &problem.inner_mass)
        + dot(&raw.outer_potential, &problem.outer_mass);
    Projected {
        plan,
        potentials: potentials(problem, &raw.inner_potential, &raw.outer_potential),
        marginal_error: raw.marginal_error,
        transport_cost,
        negentropy,
        dual_objective,
    }
}

struct Raw {
    plan: Array2<f64>,
    inner_potential: Vec<f64>,
    outer_potential: Vec<f64>,
    /// Before the inner marginal was cut down to its masses.
    marginal_error: f64,
    missing_inner: Vec<f64>,
    missing_outer: Vec<f64>,
}

/// The plan of the kernel's potentials, with each inner sample scaled down to its mass.
fn materialise(
    kernel: &Kernel,
    problem: &Problem<'_>,
    entropy_weight: f64,
    mut plan: Array2<f64>,
) -> Raw {
    let inner = problem.inner_len();
    let scaling: Vec<f64> = kernel.log_scaling.iter().map(|s| s.exp()).collect();
    let shrink: Vec<f64> =
        kernel.marginal.iter().zip(&problem.inner_mass).map(|(r, a)| (a / r).min(1.0)).collect();
    let cut_scaling: Vec<f64> = scaling.iter().zip(&shrink).map(|(s, f)| s * f).collect();
    let mut rows = vec![0.0; BLOCK * inner];
    let mut marginal = vec![0.0; inner];
    let mut outer_potential = Vec::with_capacity(problem.outer_len());
    let mut missing_outer = Vec::with_capacity(problem.outer_len());
    if kernel.is_sparse {
        let mut row = Vec::new();
        for (outer, &mass) in problem.outer_mass.iter().enumerate() {
            // The pairs that are not listed carry nothing in the digits of f64.
            let largest = kernel.candidates.slacks(outer, &kernel.potential, &mut row);
            exp_shifted(&mut row, largest, 1.0 / entropy_weight);
            let columns = kernel.candidates.columns_of(outer);
            let sum_with = |scaling: &[f64]| -> f64 {
                row.iter().zip(columns).map(|(value, &c)| value * scaling[c as usize]).sum()
            };
            let weight = mass / sum_with(&scaling);
            missing_outer.push((mass - weight * sum_with(&cut_scaling)).max(0.0));
            outer_potential.push(entropy_weight * weight.ln() - largest);
            for (value, &column) in row.iter().zip(columns) {
                let column = column as usize;
                marginal[column] += weight * value;
                plan[problem.pair(outer, column)] = weight * value * cut_scaling[column];
            }
        }
    } else {
        for first in (0..problem.outer_len()).step_by(BLOCK) {
            let count = BLOCK.min(problem.outer_len() - first);
            let rows = &mut rows[..count * inner];
            let maxima = problem.slacks(first, &kernel.potential, rows);
            let masses = &problem.outer_mass[first..];
            for ((row, &mass), largest) in rows.chunks_exact_mut(inner).zip(masses).zip(maxima) {
                exp_shifted(row, largest, 1.0 / entropy_weight);
                let weight = mass / dot(row, &scaling);
                missing_outer.push((mass - weight * dot(row, &cut_scaling)).max(0.0));
                accumulate_and_scale(row, weight, weight, &mut marginal);
                scale_by(row, 1.0, &cut_scaling);
                outer_potential.push(entropy_weight * weight.ln() - largest);
            }
            store(&mut plan, problem, first, rows);
        }
    }
    for (marginal, scale) in marginal.iter_mut().zip(&scaling) {
        *marginal *= scale;
    }
    let pairs = marginal.iter().zip(&problem.inner_mass);
    Raw {
        plan,
        inner_potential: kernel
            .potential
            .iter()
            .zip(&kernel.log_scaling)
            .map(|(potential, scaling)| potential + entropy_weight * scaling)
            .collect(),
        outer_potential,
        marginal_error: pairs.clone().map(|(r, a)| (r - a).abs()).sum(),
        missing_inner: pairs.zip(&shrink).map(|((r, a), f)| (a - r * f).max(0.0)).collect(),
        missing_outer,
    }
}

fn store(plan: &mut Array2<f64>, problem: &Problem<'_>, first: usize, rows: &[f64]) {
    let inner = problem.inner_len();
    let count = rows.len() / inner;
    let outer = &problem.outer[first..first + count];
    let (sources, targets) = plan.dim();
    if let Some(entries) = plan.as_slice_mut()
        && problem.inner_is_source
        && (inner, problem.outer_len()) == (sources, targets)
    {
        // Every sample has mass: whole cache lines, without looking up where they belong.
        for (position, gammas) in entries.chunks_exact_mut(targets).enumerate() {
            for (slot, gamma) in gammas[first..first + count].iter_mut().enumerate() {
                *gamma = rows[slot * inner + position];
            }
        }
    } else if problem.inner_is_source {
        for (position, &source) in problem.inner.iter().enumerate() {
            let mut gammas = plan.row_mut(source);
            for (slot, &target) in outer.iter().enumerate() {
                gammas[target] = rows[slot * inner + position];
            }
        }
    } else {
        for (row, &source) in rows.chunks_exact(inner).zip(outer) {
            let mut gammas = plan.row_mut(source);
            for (value, &target) in row.iter().zip(&problem.inner) {
                gammas[target] = *value;
            }
        }
    }
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
