//! The way from the first basis to an optimal one: pivots among shortlists, then the shortfall that
//! forbidden pairs may have left, then pivots among all pairs to full accuracy.

use super::Stop;
use super::forest::Forest;
use super::pricing::Pricing;
use super::problem::Problem;
use super::shortlist::Shortlist;
use super::tree::Tree;
use crate::error::{Error, Result};

/// Reduced costs above this fraction of the largest potential count as rounding. Not of the largest
/// cost: one huge entry that no plan uses must not hide what the others have to gain.
const ACCURACY: f64 = 1e-14;
/// Rounds of pivots on refreshed potentials; each tolerates more rounding, so that they end.
const REFRESHES: usize = 20;
/// The first shortlist is made with the auction's prices, the second with those that it led to. A third
/// would cost more than the pivots that the second leaves.
const SHORTLISTS: usize = 2;
/// Masses of groups that forbidden pairs keep apart agree only up to the rounding of their sums.
const MASS_ROUNDING: f64 = 1e-12;

pub(super) struct Basis {
    pub tree: Tree,
    pub pivots: usize,
    pub stop: Stop,
}

pub(super) fn optimise(problem: &Problem, start: &Forest, pivot_limit: usize) -> Result<Basis> {
    let nodes = problem.rows() + problem.columns();
    let largest = problem.magnitude.max(start.largest_price());
    // More than any detour through all of the nodes.
    let shortfall_cost = 4.0 * (nodes + 1) as f64 * if largest > 0.0 { largest } else { 1.0 };
    let mut tree = start.to_tree(problem, shortfall_cost);
    let mut pricing = Pricing::new(problem);

    let falls_short = tree.shortfall() > 0;
    // Only a feasible plan may be cut short.
    let (tolerance, limit) = if falls_short {
        (8.0 * f64::EPSILON * shortfall_cost, usize::MAX)
    } else {
        (rounding_of(&tree, problem), pivot_limit)
    };
    let mut pivots = 0;
    let mut prices = start.prices().to_vec();
    for _ in 0..SHORTLISTS {
        let Some(shortlist) = Shortlist::new(problem, &prices) else {
            break;
        };
        pivots += pricing.pivot_until(&mut tree, Some(&shortlist), tolerance, limit - pivots);
        if pivots == limit || pricing.is_optimal(&tree, tolerance) {
            break;
        }
        prices.copy_from_slice(tree.column_potentials());
    }
    if falls_short {
        pivots += pricing.pivot_until(&mut tree, None, tolerance, limit);
        let unmatched = problem.mass(tree.shortfall());
        if unmatched > MASS_ROUNDING || !tree.write_off_shortfall(problem) {
            return Err(Error::Infeasible { unmatched });
        }
    }

    let mut leniency = 1.0;
    let mut stop = Stop::Converged;
    for _ in 0..REFRESHES {
        tree.refresh_potentials(problem);
        let tolerance = leniency * rounding_of(&tree, problem);
        if pricing.is_optimal(&tree, tolerance) {
            break;
        }
        let left = pivot_limit.saturating_sub(pivots);
        let made = pricing.pivot_until(&mut tree, None, tolerance, left);
        pivots += made;
        if made == left {
            stop = Stop::IterationLimit;
            break;
        }
        leniency *= 2.0;
    }
    Ok(Basis { tree, pivots, stop })
}

fn rounding_of(tree: &Tree, problem: &Problem) -> f64 {
    let potentials = tree.row_potentials().iter().chain(tree.column_potentials());
    let largest = potentials.fold(0.0_f64, |largest, p| largest.max(p.abs()));
    ACCURACY * largest.min(problem.magnitude)
}
