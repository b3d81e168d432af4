//! From a basis back to the samples: the sparse plan, potentials made feasible by the c-transform, and
//! the primal and dual values whose difference certifies the plan.

use ndarray::{ArrayView1, ArrayView2};

use super::problem::Problem;
use super::scan;
use super::simplex::Basis;
use super::{ExactSolution, PlanEntry};

pub(super) fn certify(cost: ArrayView2<f64>, problem: &Problem, basis: &Basis) -> ExactSolution {
    let plan = sparse_plan(problem, basis);
    let view = if problem.transposed { cost.reversed_axes() } else { cost };
    let (row_potentials, column_potentials) = feasible_potentials(view, problem, basis);
    let (source_potentials, target_potentials) = if problem.transposed {
        (column_potentials, row_potentials)
    } else {
        (row_potentials, column_potentials)
    };
    ExactSolution {
        cost: plan.iter().map(|e| e.mass * cost[[e.source, e.target]]).sum(),
        dual_value: inner_product(&problem.source_mass, &source_potentials)
            + inner_product(&problem.target_mass, &target_potentials),
        plan,
        source_potentials,
        target_potentials,
        pivots: basis.pivots,
        stop: basis.stop,
    }
}

fn sparse_plan(problem: &Problem, basis: &Basis) -> Vec<PlanEntry> {
    let mut plan: Vec<PlanEntry> = (basis.tree.arcs())
        .filter(|&(_, _, units)| units > 0)
        .map(|(row, column, units)| {
            let row = problem.row_samples[row];
            let column = problem.column_samples[column];
            let (source, target) = if problem.transposed { (column, row) } else { (row, column) };
            let mass = problem.mass(units);
            PlanEntry { source, target, mass }
        })
        .collect();
    plan.sort_unstable_by_key(|entry| (entry.source, entry.target));
    plan
}

/// `u_i = min_j C_ij − v_j` over the columns of the basis; samples without mass, which the basis does
/// not know, get the largest potentials that the others allow.
fn feasible_potentials(
    view: ArrayView2<f64>,
    problem: &Problem,
    basis: &Basis,
) -> (Vec<f64>, Vec<f64>) {
    let prices = basis.tree.column_potentials();
    let mut columns = vec![f64::INFINITY; view.ncols()];
    for (&sample, price) in problem.column_samples.iter().zip(prices) {
        columns[sample] = -price;
    }
    let mut rows = vec![f64::INFINITY; view.nrows()];
    for (row, &sample) in problem.row_samples.iter().enumerate() {
        rows[sample] = scan::minimum(problem.cost_row(row), prices);
    }
    for (sample, potential) in rows.iter_mut().enumerate() {
        if potential.is_infinite() {
            *potential = largest_allowed(view.row(sample), &columns);
        }
    }
    for (sample, potential) in columns.iter_mut().enumerate() {
        if potential.is_infinite() {
            *potential = largest_allowed(view.column(sample), &rows);
        }
    }
    (rows, columns)
}

/// Any number does, so zero, where every pair is forbidden.
fn largest_allowed(costs: ArrayView1<f64>, others: &[f64]) -> f64 {
    let least = (costs.iter().zip(others))
        .filter(|(_, other)| other.is_finite())
        .map(|(cost, other)| cost - other)
        .fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 0.0 }
}

fn inner_product(mass: &[f64], potentials: &[f64]) -> f64 {
    mass.iter().zip(potentials).map(|(m, p)| m * p).sum()
}
