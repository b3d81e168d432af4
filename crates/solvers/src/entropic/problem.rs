//! A checked transport problem, seen from its shorter side.
//! The solver eliminates the longer ("outer") marginal in closed form and works on the shorter
//! ("inner") one; samples without mass are left out here and come back as zeros in the plan.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use crate::checks::LARGEST_COST;
use crate::error::{Error, Result};
use crate::loops::{dot, scale_and_accumulate, slack_and_max};
use crate::marginals::masses_of;
use crate::parts::{rows_of_a_part, sum_rows};
use crate::rows::entries;

use super::feasibility;
use super::kernels::{RowSummary, accumulate_finite, largest, subtract, summarise};

/// Outer samples that are handled together, so that a transposed cost matrix is read by cache lines.
pub(super) const BLOCK: usize = 8;

/// What is added to the costs of each class of rows, one value a column: a reweighting that takes no other matrix.
#[derive(Clone, Copy)]
pub(crate) struct ClassPenalty<'a> {
    /// The class of each row.
    pub(crate) classes: &'a [usize],
    /// Classes × columns, all finite.
    pub(crate) values: &'a Array2<f64>,
}

impl<'a> ClassPenalty<'a> {
    /// What the pairs of a row are charged.
    pub(super) fn of_row(&self, row: usize) -> &'a [f64] {
        // An array of ours is contiguous.
        self.values.index_axis(Axis(0), self.classes[row]).to_slice().unwrap_or_default()
    }
}

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
    pub(super) cost_spread: f64,
    pub(super) has_forbidden_pairs: bool,
}

impl<'a> Problem<'a> {
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
        let ends =
            penalty.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |ends, &value| {
                (ends.0.min(value), ends.1.max(value))
            });
        Problem {
            cost: self.cost.view(),
            penalty: Some(penalty),
            contiguous: self.contiguous,
            inner_is_source: self.inner_is_source,
            inner: self.inner.clone(),
            outer: self.outer.clone(),
            inner_mass: self.inner_mass.clone(),
            outer_mass: self.outer_mass.clone(),
            cost_spread: self.cost_spread + (ends.1 - ends.0),
            has_forbidden_pairs: self.has_forbidden_pairs,
        }
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
                        transposed_slacks_with(penalty, costs, place, potential, rows);
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
    fn cost_at(&self, (row, column): (usize, usize)) -> f64 {
        let cost = self.cost[(row, column)];
        self.penalty.map_or(cost, |penalty| cost + penalty.values[(penalty.classes[row], column)])
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

/// The same with a penalty.
fn transposed_slacks_with(
    penalty: ClassPenalty<'_>,
    costs: &[f64],
    (columns, first): (usize, usize),
    potential: &[f64],
    rows: &mut [f64],
) {
    let width = potential.len();
    let charges = penalty.values.as_slice().unwrap_or_default();
    let costs = costs.chunks_exact(columns).zip(potential).zip(penalty.classes);
    for (position, ((costs, potential), class)) in costs.enumerate() {
        let start = class * columns + first;
        let (costs, charges) = (&costs[first..first + BLOCK], &charges[start..start + BLOCK]);
        for (slot, (cost, charge)) in costs.iter().zip(charges).enumerate() {
            rows[slot * width + position] = potential - (cost + charge);
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
        let of_a_part = rows_of_a_part(cost.nrows(), cost.ncols(), 1);
        let parts: Vec<_> = (0..cost.nrows().div_ceil(of_a_part))
            .into_par_iter()
            .map(|part| {
                let first = part * of_a_part;
                Sums::of_rows(cost, first..cost.nrows().min(first + of_a_part))
            })
            .collect();
        let mut all = Sums { sum: 0.0, count: 0, smallest: f64::INFINITY };
        for part in parts {
            let part = part?;
            all.sum += part.sum;
            all.count += part.count;
            all.smallest = all.smallest.min(part.smallest);
        }
        let spread = if all.count == 0 { 0.0 } else { all.sum / all.count as f64 - all.smallest };
        Ok(Self { spread, has_forbidden_pairs: all.count < cost.len() })
    }
}

/// Of the finite costs of some rows.
struct Sums {
    sum: f64,
    count: usize,
    smallest: f64,
}

impl Sums {
    fn of_rows(cost: ArrayView2<'_, f64>, rows: Range<usize>) -> Result<Self> {
        let mut all = Self { sum: 0.0, count: 0, smallest: f64::INFINITY };
        for row in rows {
            let costs = cost.row(row);
            // A moderate sum of moderate terms leaves nothing in the row that needs a closer look.
            let is_ordinary = |s: &RowSummary| s.smallest > -LARGEST_COST && s.sum < LARGEST_COST;
            if let Some(summary) = costs.as_slice().map(summarise).filter(is_ordinary) {
                all.sum += summary.sum;
                all.count += costs.len();
                all.smallest = all.smallest.min(summary.smallest);
                continue;
            }
            for (column, &value) in costs.iter().enumerate() {
                if value.is_nan() || (value.abs() > LARGEST_COST && value != f64::INFINITY) {
                    return Err(Error::Cost { row, column, value });
                }
                if value < f64::INFINITY {
                    all.sum += value;
                    all.count += 1;
                    all.smallest = all.smallest.min(value);
                }
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In both orientations, with whole and partial blocks, and where a sample has no mass.
    #[test]
    fn a_penalty_is_as_good_as_higher_costs() {
        let penalties = Array2::from_shape_fn((3, 21), |(class, j)| ((class + 2 * j) % 5) as f64);
        for (rows, columns, massless) in [(13, 21, None), (34, 21, None), (34, 21, Some(4))] {
            let cost = Array2::from_shape_fn((rows, columns), |(i, j)| ((i * j) % 11) as f64);
            let classes: Vec<usize> = (0..rows).map(|row| row % 3).collect();
            let higher = Array2::from_shape_fn((rows, columns), |(i, j)| {
                cost[(i, j)] + penalties[(classes[i], j)]
            });
            let count = rows - massless.iter().len();
            let mass = |row| if Some(row) == massless { 0.0 } else { 1.0 / count as f64 };
            let source_mass: Vec<f64> = (0..rows).map(mass).collect();
            let target_mass = vec![1.0 / columns as f64; columns];
            let plain = Problem::new(cost.view(), &source_mass, &target_mass).unwrap();
            let penalty = ClassPenalty { classes: &classes, values: &penalties };
            let found = plain.reweighted(penalty);
            let expected = Problem::new(higher.view(), &source_mass, &target_mass).unwrap();
            assert!(found.cost_spread >= expected.cost_spread);
            let width = expected.inner_len();
            let potential: Vec<f64> = (0..width).map(|k| (k as f64).sin()).collect();
            for first in (0..expected.outer_len()).step_by(BLOCK) {
                let count = BLOCK.min(expected.outer_len() - first);
                let slacks = |problem: &Problem<'_>| {
                    let mut rows = vec![0.0; count * width];
                    let maxima = problem.slacks(first, &potential, &mut rows);
                    (rows, maxima)
                };
                let (found, expected) = (slacks(&found), slacks(&expected));
                assert_eq!(found.1, expected.1);
                for (found, expected) in found.0.iter().zip(&expected.0) {
                    assert!((found - expected).abs() < 1e-14, "{found} and {expected}");
                }
            }
            let means = |problem: &Problem<'_>| {
                let mut means = vec![0.0; width];
                problem.mean_costs(&mut means);
                means
            };
            for (found, expected) in means(&found).iter().zip(means(&expected)) {
                assert!((found - expected).abs() < 1e-13, "{found} and {expected}");
            }
        }
    }
}
