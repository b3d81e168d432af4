//! A checked transport problem, seen from its shorter side.
//! The solver eliminates the longer ("outer") marginal in closed form and works on the shorter
//! ("inner") one; samples without mass are left out here and come back as zeros in the plan.

use ndarray::ArrayView2;

use crate::checks::LARGEST_COST;
use crate::error::{Error, Result};
use crate::loops::{dot, slack_and_max};
use crate::marginals::masses_of;

use super::feasibility;
use super::kernels::{RowSummary, accumulate_finite, largest, summarise};

/// Outer samples that are handled together, so that a transposed cost matrix is read by cache lines.
pub(super) const BLOCK: usize = 8;

pub(super) struct Problem<'a> {
    cost: ArrayView2<'a, f64>,
    /// The cost matrix in memory order, when it is contiguous and every sample has mass.
    contiguous: Option<&'a [f64]>,
    /// True when the inner side is the source (the rows of the cost matrix).
    pub(super) inner_is_source: bool,
    /// Positions of the samples with positive mass.
    pub(super) inner: Vec<usize>,
    pub(super) outer: Vec<usize>,
    pub(super) inner_mass: Vec<f64>,
    pub(super) outer_mass: Vec<f64>,
    /// Mean finite cost minus the smallest cost: the scale at which λ smooths everything.
    pub(super) cost_spread: f64,
    pub(super) has_forbidden_pairs: bool,
}

impl<'a> Problem<'a> {
    pub(super) fn new(
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

    pub(super) fn shape(&self) -> (usize, usize) {
        self.cost.dim()
    }

    pub(super) fn cost(&self) -> ArrayView2<'a, f64> {
        self.cost
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
                for ((row, costs), maximum) in
                    rows.chunks_exact_mut(width).zip(costs).zip(&mut maxima)
                {
                    *maximum = slack_and_max(costs, potential, row);
                }
                return maxima;
            }
            Some(costs) if count == BLOCK => {
                transposed_slacks(costs, self.outer.len(), first, potential, rows);
            }
            _ => {
                let outer = &self.outer[first..first + count];
                for (row, &outer) in rows.chunks_exact_mut(width).zip(outer) {
                    for ((slack, potential), &inner) in
                        row.iter_mut().zip(potential).zip(&self.inner)
                    {
                        *slack = potential - self.cost[self.position(outer, inner)];
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
    pub(super) fn mean_costs(&self, means: &mut [f64], rows: &mut [f64]) {
        let width = self.inner.len();
        if let Some(costs) = self.contiguous
            && self.inner_is_source
            && !self.has_forbidden_pairs
        {
            let total: f64 = self.outer_mass.iter().sum();
            for (mean, costs) in means.iter_mut().zip(costs.chunks_exact(self.outer.len())) {
                *mean = dot(costs, &self.outer_mass) / total;
            }
            return;
        }
        let zeros = vec![0.0; width];
        let mut weights = vec![0.0; width];
        means.fill(0.0);
        for first in (0..self.outer.len()).step_by(BLOCK) {
            let count = BLOCK.min(self.outer.len() - first);
            let rows = &mut rows[..count * width];
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
        self.cost[self.pair(outer, inner)]
    }

    pub(super) fn is_allowed(&self, outer: usize, inner: usize) -> bool {
        self.cost_between(outer, inner) < f64::INFINITY
    }
}

/// A block of columns of the cost matrix, one row for each: reads whole cache lines.
fn transposed_slacks(
    costs: &[f64],
    columns: usize,
    first: usize,
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

struct CostSummary {
    spread: f64,
    has_forbidden_pairs: bool,
}

impl CostSummary {
    fn new(cost: ArrayView2<'_, f64>) -> Result<Self> {
        let mut sum = 0.0;
        let mut count = 0;
        let mut smallest = f64::INFINITY;
        for (row, costs) in cost.outer_iter().enumerate() {
            // A moderate sum of moderate terms leaves nothing in the row that needs a closer look.
            let is_ordinary = |s: &RowSummary| s.smallest > -LARGEST_COST && s.sum < LARGEST_COST;
            if let Some(summary) = costs.as_slice().map(summarise).filter(is_ordinary) {
                sum += summary.sum;
                count += costs.len();
                smallest = smallest.min(summary.smallest);
                continue;
            }
            for (column, &value) in costs.iter().enumerate() {
                if value.is_nan() || (value.abs() > LARGEST_COST && value != f64::INFINITY) {
                    return Err(Error::Cost { row, column, value });
                }
                if value < f64::INFINITY {
                    sum += value;
                    count += 1;
                    smallest = smallest.min(value);
                }
            }
        }
        let spread = if count == 0 { 0.0 } else { sum / count as f64 - smallest };
        Ok(Self { spread, has_forbidden_pairs: count < cost.len() })
    }
}
