//! Which pairs enter the basis: candidate lists, filled row by row with the pair of lowest reduced cost
//! and emptied best first. It changes the tree only through pivots.

use super::problem::Problem;
use super::scan;
use super::shortlist::Shortlist;
use super::tree::Tree;

struct Candidate {
    row: usize,
    column: usize,
    reduced_cost: f64,
}

pub(super) struct Pricing<'a> {
    problem: &'a Problem<'a>,
    candidates: Vec<Candidate>,
    list_length: usize,
    next_row: usize,
}

impl<'a> Pricing<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        let rows = problem.rows();
        Self {
            problem,
            candidates: Vec::new(),
            list_length: (2 * rows.isqrt()).clamp(1, rows),
            next_row: 0,
        }
    }

    /// Pivots until no pair, of the shortlist if there is one, has a reduced cost below `−tolerance`,
    /// or until `limit`; returns how many pivots that took.
    pub fn pivot_until(
        &mut self,
        tree: &mut Tree,
        shortlist: Option<&Shortlist>,
        tolerance: f64,
        limit: usize,
    ) -> usize {
        let mut pivots = 0;
        loop {
            self.collect(tree, shortlist, tolerance);
            if self.candidates.is_empty() {
                return pivots;
            }
            // What is left after half of the list has aged too much to be worth pivots.
            for _ in 0..self.list_length.div_ceil(2) {
                if pivots == limit {
                    return pivots;
                }
                let Some(best) = self.take_best() else { break };
                tree.pivot(best.row, best.column, best.reduced_cost);
                pivots += 1;
                self.reprice(tree, tolerance);
            }
        }
    }

    /// Goes on through the rows, once around at most, and lists the best pair of each that has one.
    fn collect(&mut self, tree: &Tree, shortlist: Option<&Shortlist>, tolerance: f64) {
        self.candidates.clear();
        let prices = tree.column_potentials();
        for _ in 0..self.problem.rows() {
            let row = self.next_row;
            self.next_row = (row + 1) % self.problem.rows();
            let threshold = tree.row_potentials()[row] - tolerance;
            let best = match shortlist {
                Some(shortlist) => Some(shortlist.best(row, prices)),
                None => self.best_of_all(row, prices, threshold),
            };
            if let Some((least, column)) = best.filter(|&(least, _)| least < threshold) {
                self.candidates.push(Candidate {
                    row,
                    column,
                    reduced_cost: least - tree.row_potentials()[row],
                });
                if self.candidates.len() == self.list_length {
                    break;
                }
            }
        }
    }

    /// The column is looked up only for a minimum below the threshold.
    fn best_of_all(&self, row: usize, prices: &[f64], threshold: f64) -> Option<(f64, usize)> {
        let costs = self.problem.cost_row(row);
        let least = scan::minimum(costs, prices);
        if least < threshold {
            scan::position_of(least, costs, prices).map(|column| (least, column))
        } else {
            None
        }
    }

    fn take_best(&mut self) -> Option<Candidate> {
        let best = (self.candidates.iter().enumerate())
            .min_by(|(_, a), (_, b)| a.reduced_cost.total_cmp(&b.reduced_cost))
            .map(|(place, _)| place)?;
        Some(self.candidates.swap_remove(best))
    }

    fn reprice(&mut self, tree: &Tree, tolerance: f64) {
        let (row_potentials, prices) = (tree.row_potentials(), tree.column_potentials());
        self.candidates.retain_mut(|candidate| {
            let cost = self.problem.cost(candidate.row, candidate.column);
            candidate.reduced_cost =
                cost + prices[candidate.column] - row_potentials[candidate.row];
            candidate.reduced_cost < -tolerance
        });
    }

    /// Whether no pair at all has a reduced cost below `−tolerance`.
    pub fn is_optimal(&mut self, tree: &Tree, tolerance: f64) -> bool {
        self.collect(tree, None, tolerance);
        self.candidates.is_empty()
    }
}
