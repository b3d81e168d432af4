//! A checked transport problem, seen from its shorter side.
//! The solver eliminates the longer ("outer") marginal in closed form and works on the shorter
//! ("inner") one, unless it is turned; samples without mass are left out here and come back as zeros in the plan.

use std::borrow::Cow;

use ndarray::{ArrayView2, Axis};

use crate::error::Result;
use crate::loops::{add, dot, scale_and_accumulate, slack_and_max};
use crate::marginals::masses_of;
use crate::parts::{rows_of_a_part, sum_rows};
use crate::rows::entries;

use super::cost_summary::CostSummary;
use super::feasibility;
use super::kernels::{accumulate_finite, largest, subtract};
use super::penalty::ClassPenalty;

/// Outer samples that are handled together, so that a transposed cost matrix is read by cache lines.
pub(super) const BLOCK: usize = 8;

/// Share of the cost spread from which on λ smooths everything.
const SMOOTH_SHARE: f64 = 0.5;

/// Targets for each source up to which they may be the inner side, so that a system takes a few times the memory of the costs.
const LONGEST_TURNED: usize = 8;

#[derive(Clone)]
pub(crate) struct Problem<'a> {
    cost: ArrayView2<'a, f64>,
    penalty: Option<ClassPenalty<'a>>,
    /// The cost matrix in memory order, when it is contiguous and every sample has mass.
    contiguous: Option<&'a [f64]>,
    /// True when the inner side is the source (the rows of the cost matrix).
    pub(super) inner_is_source: bool,
    /// Positions of the samples with positive mass.
    pub(super) inner: Vec<usize>,
    pub(super) outer: Vec<usize>,
    pub(super) inner_mass: Vec<f64>,
    pub(super) outer_mass: Vec<f64>,
    /// Mean finite cost minus the smallest cost, with penalties at least that: the scale at which λ smooths
    /// everything.
    pub(crate) cost_spread: f64,
    pub(crate) has_forbidden_pairs: bool,
}

impl<'a> Problem<'a> {
    /// Fails unless the cost and the masses make a problem that has a plan.
    pub(crate) fn new(
        cost: ArrayView2<'a, f64>,
        source_mass: &[f64],
        target_mass: &[f64],
    ) -> Result<Self> {
        let (source_mass, target_mass) = masses_of(cost, source_mass, target_mass)?;
        let (sources, source_mass) = support(&source_mass);
        let (targets, target_mass) = support(&target_mass);
        let summary = CostSummary::new(cost)?;
        let inner_is_source = sources.len() < targets.len();
        let (inner, outer, inner_mass, outer_mass) = if inner_is_source {
            (sources, targets, source_mass, target_mass)
        } else {
            (targets, sources, target_mass, source_mass)
        };
        let every_sample_has_mass = inner.len() * outer.len() == cost.len();
        let problem = Self {
            cost,
            penalty: None,
            contiguous: cost.to_slice().filter(|_| every_sample_has_mass),
            inner_is_source,
            inner,
            outer,
            inner_mass,
            outer_mass,
            cost_spread: summary.spread,
            has_forbidden_pairs: summary.has_forbidden_pairs,
        };
        if problem.has_forbidden_pairs {
            feasibility::check(&problem)?;
        }
        Ok(problem)
    }

    /// The same problem with costs that are higher by a penalty.
    pub(crate) fn reweighted<'b>(&'b self, penalty: ClassPenalty<'b>) -> Problem<'b> {
        Problem {
            cost: self.cost.view(),
            penalty: Some(penalty),
            contiguous: self.contiguous,
            inner_is_source: self.inner_is_source,
            inner: self.inner.clone(),
            outer: self.outer.clone(),
            inner_mass: self.inner_mass.clone(),
            outer_mass: self.outer_mass.clone(),
            cost_spread: self.cost_spread + penalty.range(),
            has_forbidden_pairs: self.has_forbidden_pairs,
        }
    }

    /// Whether λ smooths everything, so that a few sweeps lead to the solution.
    pub(super) fn is_smooth_at(&self, entropy_weight: f64) -> bool {
        entropy_weight >= SMOOTH_SHARE * self.cost_spread
    }

    /// Makes the targets the inner side even if there are more of them: a kernel then lies as the costs and the plan do, which
    /// is worth more than a short side where hardly ever a system is factored. False if there are too many.
    pub(super) fn turn_to_targets(&mut self) -> bool {
        if self.inner_is_source && self.outer.len() > LONGEST_TURNED * self.inner.len() {
            return false;
        }
        if self.inner_is_source {
            self.turn();
        }
        true
    }

    /// Makes the shorter side the inner one again.
    pub(super) fn turn_to_shorter(&mut self) {
        if self.outer.len() < self.inner.len() {
            self.turn();
        }
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.inner, &mut self.outer);
        std::mem::swap(&mut self.inner_mass, &mut self.outer_mass);
        self.inner_is_source = !self.inner_is_source;
    }

    /// Whether every pair has a cost, in rows that lie in memory.
    pub(super) fn is_plain(&self) -> bool {
        self.contiguous.is_some() && !self.has_forbidden_pairs
    }

    /// The costs of a row of a plain problem, with their penalties, for which there has to be room.
    pub(super) fn charged_costs<'b>(&'b self, row: usize, room: &'b mut Vec<f64>) -> &'b [f64] {
        let columns = self.cost.ncols();
        let costs = &self.contiguous.unwrap_or_default()[row * columns..(row + 1) * columns];
        let Some(penalty) = self.penalty else { return costs };
        room.resize(columns, 0.0);
        add(costs, penalty.of_row(row), room);
        room
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        self.cost.dim()
    }

    /// Without penalties.
    pub(super) fn costs_of_row(&self, row: usize) -> Cow<'a, [f64]> {
        entries(self.cost.index_axis_move(Axis(0), row))
    }

    pub(super) fn penalty(&self) -> Option<ClassPenalty<'a>> {
        self.penalty
    }

    pub(super) fn inner_len(&self) -> usize {
        self.inner.len()
    }

    pub(super) fn outer_len(&self) -> usize {
        self.outer.len()
    }

    /// Writes `potential - cost` for the outer samples `first..`, one inner-sized row for each, and
    /// returns the largest entry of each row.
    pub(super) fn slacks(&self, first: usize, potential: &[f64], rows: &mut [f64]) -> [f64; BLOCK] {
        let width = self.inner.len();
        let count = rows.len() / width;
        let mut maxima = [f64::NEG_INFINITY; BLOCK];
        match self.contiguous {
            Some(costs) if !self.inner_is_source => {
                let costs = costs[first * width..].chunks_exact(width);
                let rows = rows.chunks_exact_mut(width).zip(costs).zip(&mut maxima);
                for (outer, ((row, costs), maximum)) in rows.enumerate() {
                    *maximum = slack_and_max(costs, potential, row);
                    if let Some(penalty) = &self.penalty {
                        *maximum = subtract(row, penalty.of_row(first + outer));
                    }
                }
                return maxima;
            }
            Some(costs) if count == BLOCK => {
                let place = (self.outer.len(), first);
                match self.penalty {
                    None => transposed_slacks(costs, place, potential, rows),
                    Some(penalty) => {
                        penalty.transposed_slacks(costs, place, potential, rows);
                    }
                }
            }
            _ => {
                let outer = &self.outer[first..first + count];
                for (row, &outer) in rows.chunks_exact_mut(width).zip(outer) {
                    for ((slack, potential), &inner) in
                        row.iter_mut().zip(potential).zip(&self.inner)
                    {
                        *slack = potential - self.cost_at(self.position(outer, inner));
                    }
                }
            }
        }
        for (row, maximum) in rows.chunks_exact(width).zip(&mut maxima) {
            *maximum = largest(row);
        }
        maxima
    }

    /// Mean finite cost of each inner sample, weighted with the outer masses.
    pub(super) fn mean_costs(&self, means: &mut [f64]) {
        let (outer, width) = (self.outer.len(), self.inner.len());
        let rows = (outer, rows_of_a_part(outer, width, BLOCK));
        means.fill(0.0);
        if let Some(costs) = self.contiguous
            && !self.has_forbidden_pairs
            && self.penalty.is_none()
        {
            let total: f64 = self.outer_mass.iter().sum();
            if self.inner_is_source {
                for (mean, costs) in means.iter_mut().zip(costs.chunks_exact(outer)) {
                    *mean = dot(costs, &self.outer_mass);
                }
            } else {
                sum_rows(rows, means, |range, sums| {
                    for row in range {
                        let costs = &costs[row * width..(row + 1) * width];
                        scale_and_accumulate(costs, self.outer_mass[row], sums);
                    }
                });
            }
            for mean in means {
                *mean /= total;
            }
            return;
        }
        let zeros = vec![0.0; width];
        let mut weights = vec![0.0; width];
        let mut slacks = vec![0.0; BLOCK * width];
        for first in (0..outer).step_by(BLOCK) {
            let count = BLOCK.min(outer - first);
            let rows = &mut slacks[..count * width];
            self.slacks(first, &zeros, rows);
            for (row, &mass) in rows.chunks_exact(width).zip(&self.outer_mass[first..]) {
                accumulate_finite(row, mass, means, &mut weights);
            }
        }
        for (mean, weight) in means.iter_mut().zip(weights) {
            *mean = if weight > 0.0 { -*mean / weight } else { 0.0 };
        }
    }

    fn position(&self, outer: usize, inner: usize) -> (usize, usize) {
        if self.inner_is_source { (inner, outer) } else { (outer, inner) }
    }

    /// Where in the cost matrix two samples with mass are.
    pub(super) fn pair(&self, outer: usize, inner: usize) -> (usize, usize) {
        self.position(self.outer[outer], self.inner[inner])
    }

    pub(super) fn cost_between(&self, outer: usize, inner: usize) -> f64 {
        self.cost_at(self.pair(outer, inner))
    }

    /// With its penalty.
    fn cost_at(&self, pair: (usize, usize)) -> f64 {
        self.cost[pair] + self.penalty.map_or(0.0, |penalty| penalty.of_pair(pair))
    }

    pub(super) fn is_allowed(&self, outer: usize, inner: usize) -> bool {
        self.cost_between(outer, inner) < f64::INFINITY
    }
}

/// A block of columns of the cost matrix, one row for each: reads whole cache lines.
fn transposed_slacks(
    costs: &[f64],
    (columns, first): (usize, usize),
    potential: &[f64],
    rows: &mut [f64],
) {
    let width = potential.len();
    for (position, (costs, potential)) in costs.chunks_exact(columns).zip(potential).enumerate() {
        let costs = &costs[first..first + BLOCK];
        for (slot, cost) in costs.iter().enumerate() {
            rows[slot * width + position] = potential - cost;
        }
    }
}

/// The samples with mass. A subnormal mass has no usable logarithm or reciprocal; it is a zero in every
/// respect.
fn support(mass: &[f64]) -> (Vec<usize>, Vec<f64>) {
    mass.iter().copied().enumerate().filter(|(_, mass)| *mass >= f64::MIN_POSITIVE).unzip()
}
