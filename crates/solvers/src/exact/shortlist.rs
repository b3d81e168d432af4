//! The pairs of each row that look cheapest at given prices. Almost all pivots happen among them, and
//! pricing them alone stays in cache; that no other pair improves the plan is still checked by `simplex`.

use super::problem::Problem;
use super::scan;

/// Measured against 12 and 24, which leave more pivots to the scans of whole rows.
const PAIRS_PER_ROW: usize = 48;
/// Price rises that a list should outlive to be worth making.
const LIFETIME: f64 = 2.0;
const BLOCKS: usize = 2 * PAIRS_PER_ROW;

pub(super) struct Shortlist {
    /// Cost and column of `PAIRS_PER_ROW` pairs for each row.
    pairs: Vec<(f64, u32)>,
    /// For each row, what `cost + price` of the other pairs was not below when the row was listed.
    bounds: Vec<f64>,
    /// For each row, how far its listed pairs were apart.
    spans: Vec<f64>,
    below: Vec<(f64, f64, u32)>,
}

impl Shortlist {
    /// `None` where whole rows are short enough themselves.
    pub fn new(problem: &Problem, prices: &[f64]) -> Option<Self> {
        if problem.columns() < 4 * BLOCKS {
            return None;
        }
        let mut shortlist = Self {
            pairs: vec![(0.0, 0); problem.rows() * PAIRS_PER_ROW],
            bounds: vec![0.0; problem.rows()],
            spans: vec![0.0; problem.rows()],
            below: Vec::new(),
        };
        for row in 0..problem.rows() {
            shortlist.list(problem, row, prices);
        }
        Some(shortlist)
    }

    fn list(&mut self, problem: &Problem, row: usize, prices: &[f64]) {
        let costs = problem.cost_row(row);
        let bound = upper_bound(costs, prices);
        self.below.clear();
        for (column, (cost, price)) in (0_u32..).zip(costs.iter().zip(prices)) {
            let reduced = cost + price;
            if reduced <= bound {
                self.below.push((reduced, *cost, column));
            }
        }
        let (cheaper, last, _) =
            (self.below).select_nth_unstable_by(PAIRS_PER_ROW - 1, |a, b| a.0.total_cmp(&b.0));
        self.bounds[row] = last.0;
        let least = cheaper.iter().fold(last.0, |least, pair| pair.0.min(least));
        self.spans[row] = last.0 - least;
        let listed = cheaper.iter().chain([&*last]);
        for (pair, &(_, cost, column)) in self.pairs[row * PAIRS_PER_ROW..].iter_mut().zip(listed) {
            *pair = (cost, column);
        }
    }

    fn pairs_of(&self, row: usize) -> &[(f64, u32)] {
        &self.pairs[row * PAIRS_PER_ROW..][..PAIRS_PER_ROW]
    }

    /// The smallest `cost + price` of all pairs of the row, its column, and the second smallest, if
    /// prices have only risen since the row was listed.
    ///
    /// When other pairs may have become better, the row is listed anew, unless the coming price rises
    /// of `increment` would soon outdate that list, too: then the answer is `None`.
    pub fn two_best_of_all(
        &mut self,
        problem: &Problem,
        row: usize,
        prices: &[f64],
        increment: f64,
    ) -> Option<(f64, usize, f64)> {
        let listed = self.two_best(row, prices);
        if listed.2 <= self.bounds[row] {
            return Some(listed);
        }
        if self.spans[row] < LIFETIME * increment {
            return None;
        }
        self.list(problem, row, prices);
        Some(self.two_best(row, prices))
    }

    fn two_best(&self, row: usize, prices: &[f64]) -> (f64, usize, f64) {
        let mut best = (f64::INFINITY, 0, f64::INFINITY);
        for &(cost, column) in self.pairs_of(row) {
            let reduced = cost + prices[column as usize];
            if reduced < best.0 {
                best = (reduced, column as usize, best.0);
            } else if reduced < best.2 {
                best.2 = reduced;
            }
        }
        best
    }

    /// The smallest `cost + price` among the listed pairs of the row, and its column.
    pub fn best(&self, row: usize, prices: &[f64]) -> (f64, usize) {
        let mut best = (f64::INFINITY, 0);
        for &(cost, column) in self.pairs_of(row) {
            let reduced = cost + prices[column as usize];
            if reduced < best.0 {
                best = (reduced, column as usize);
            }
        }
        best
    }
}

/// A value that at least `PAIRS_PER_ROW` entries of `costs + prices` do not exceed: so many blocks of
/// the row have their minimum there.
fn upper_bound(costs: &[f64], prices: &[f64]) -> f64 {
    let width = costs.len() / BLOCKS;
    let mut minima = [0.0; BLOCKS];
    let blocks = costs.chunks(width).zip(prices.chunks(width));
    for (minimum, (costs, prices)) in minima.iter_mut().zip(blocks) {
        *minimum = scan::minimum(costs, prices);
    }
    *minima.select_nth_unstable_by(PAIRS_PER_ROW - 1, f64::total_cmp).1
}
