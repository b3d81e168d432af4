//! Whether any plan avoids the forbidden (+∞) pairs: a maximum flow between the two marginals.
//! Only problems with forbidden pairs come here; it says nothing about costs.

use std::collections::VecDeque;

use super::problem::Problem;
use crate::error::{Error, Result};

/// Mass that may stay unplaced, to absorb the rounding of the marginals.
const SLACK: f64 = 1e-12;

pub(super) fn check(problem: &Problem<'_>) -> Result<()> {
    check_each_sample(problem)?;
    let mut flow = Flow::greedy(problem);
    while flow.augment() {}
    let unplaced: f64 = flow.outer_left.iter().sum();
    if unplaced <= SLACK {
        return Ok(());
    }
    Err(Error::Infeasible { unmatched: unplaced })
}

/// However small the mass of a sample without an allowed pair, no plan places it.
fn check_each_sample(problem: &Problem<'_>) -> Result<()> {
    let (outer, inner) = (0..problem.outer_len(), 0..problem.inner_len());
    let lost_outer = outer.clone().find(|&o| !inner.clone().any(|i| problem.is_allowed(o, i)));
    let lost_inner = inner.clone().find(|&i| !outer.clone().any(|o| problem.is_allowed(o, i)));
    let lost = lost_outer.map(|o| problem.outer_mass[o]);
    match lost.or(lost_inner.map(|i| problem.inner_mass[i])) {
        Some(unmatched) => Err(Error::Infeasible { unmatched }),
        None => Ok(()),
    }
}

struct Flow<'p, 'c> {
    problem: &'p Problem<'c>,
    /// Positive flows into each inner sample, as (outer sample, amount).
    into_inner: Vec<Vec<(usize, f64)>>,
    outer_left: Vec<f64>,
    inner_left: Vec<f64>,
}

impl<'p, 'c> Flow<'p, 'c> {
    /// Each outer sample pours what it has into the allowed inner samples in turn. The samples with
    /// the fewest allowed partners go first, which mostly leaves nothing to augment.
    fn greedy(problem: &'p Problem<'c>) -> Self {
        let mut flow = Self {
            problem,
            into_inner: vec![Vec::new(); problem.inner_len()],
            outer_left: problem.outer_mass.clone(),
            inner_left: problem.inner_mass.clone(),
        };
        let mut order: Vec<(usize, usize)> = (0..problem.outer_len())
            .map(|outer| {
                let allowed = (0..problem.inner_len()).filter(|&i| problem.is_allowed(outer, i));
                (allowed.count(), outer)
            })
            .collect();
        order.sort_unstable();
        for (_, outer) in order {
            for inner in 0..problem.inner_len() {
                let amount = flow.outer_left[outer].min(flow.inner_left[inner]);
                if amount > 0.0 && problem.is_allowed(outer, inner) {
                    flow.outer_left[outer] -= amount;
                    flow.inner_left[inner] -= amount;
                    flow.into_inner[inner].push((outer, amount));
                }
            }
        }
        flow
    }

    /// Moves mass along one shortest augmenting path; false when there is none.
    fn augment(&mut self) -> bool {
        const UNSEEN: usize = usize::MAX;
        let negligible = SLACK / (self.outer_left.len() + self.inner_left.len()) as f64;
        let mut inner_parent = vec![UNSEEN; self.inner_left.len()];
        let mut outer_parent = vec![UNSEEN; self.outer_left.len()];
        let mut queue: VecDeque<usize> =
            (0..self.outer_left.len()).filter(|&o| self.outer_left[o] > negligible).collect();
        let mut is_start = vec![false; self.outer_left.len()];
        for &outer in &queue {
            is_start[outer] = true;
        }
        while let Some(outer) = queue.pop_front() {
            for inner in 0..self.inner_left.len() {
                if inner_parent[inner] != UNSEEN || !self.problem.is_allowed(outer, inner) {
                    continue;
                }
                inner_parent[inner] = outer;
                if self.inner_left[inner] > negligible {
                    self.push_along(inner, &inner_parent, &outer_parent, &is_start);
                    return true;
                }
                for &(next, amount) in &self.into_inner[inner] {
                    if amount > negligible && !is_start[next] && outer_parent[next] == UNSEEN {
                        outer_parent[next] = inner;
                        queue.push_back(next);
                    }
                }
            }
        }
        false
    }

    fn push_along(
        &mut self,
        end: usize,
        inner_parent: &[usize],
        outer_parent: &[usize],
        is_start: &[bool],
    ) {
        let mut path = Vec::new();
        let mut inner = end;
        let mut amount = self.inner_left[end];
        let start = loop {
            let outer = inner_parent[inner];
            path.push((outer, inner));
            if is_start[outer] {
                break outer;
            }
            inner = outer_parent[outer];
            amount = amount.min(self.flow(outer, inner));
        };
        amount = amount.min(self.outer_left[start]);
        self.inner_left[end] -= amount;
        self.outer_left[start] -= amount;
        for (outer, inner) in path {
            self.add(outer, inner, amount);
            if !is_start[outer] {
                self.add(outer, outer_parent[outer], -amount);
            }
        }
    }

    fn flow(&self, outer: usize, inner: usize) -> f64 {
        self.into_inner[inner].iter().find(|(o, _)| *o == outer).map_or(0.0, |(_, amount)| *amount)
    }

    fn add(&mut self, outer: usize, inner: usize, amount: f64) {
        let flows = &mut self.into_inner[inner];
        match flows.iter_mut().find(|(o, _)| *o == outer) {
            Some((_, present)) => *present += amount,
            None => flows.push((outer, amount)),
        }
    }
}
