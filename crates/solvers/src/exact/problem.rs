//! The transport problem as the simplex wants it: checked, without the samples of zero mass, the larger
//! side as rows, masses as integer units. The solution is translated back by `certificate`.

use std::borrow::Cow;

use ndarray::ArrayView2;

use crate::checks::LARGEST_COST;
use crate::error::{Error, Result};
use crate::marginals::masses_of;

/// Arbitrary masses are rounded to multiples of 2⁻⁶⁰, two digits finer than an `f64` near one, which
/// leaves room in an `i64` for sums.
const UNITS_IN_ONE: f64 = (1_u64 << 60) as f64;

pub(super) struct Problem<'a> {
    /// Row-major costs of the samples with positive mass.
    costs: Cow<'a, [f64]>,
    pub supply: Vec<i64>,
    pub demand: Vec<i64>,
    total_units: f64,
    /// For each row and column, the sample that it stands for.
    pub row_samples: Vec<usize>,
    pub column_samples: Vec<usize>,
    /// Whether rows are target samples.
    pub transposed: bool,
    /// Largest finite cost in size.
    pub magnitude: f64,
    /// Both mass vectors as given, scaled to sum to one.
    pub source_mass: Vec<f64>,
    pub target_mass: Vec<f64>,
}

impl<'a> Problem<'a> {
    pub fn new(
        cost: ArrayView2<'a, f64>,
        source_mass: &[f64],
        target_mass: &[f64],
    ) -> Result<Self> {
        let (source_mass, target_mass) = masses_of(cost, source_mass, target_mass)?;
        let magnitude = largest_finite_cost(cost)?;

        let sources = with_mass(&source_mass);
        let targets = with_mass(&target_mass);
        // Bidding in the auction and pricing both go by rows, and both do better on the larger side.
        let transposed = sources.len() < targets.len();
        let (view, row_samples, column_samples) = if transposed {
            (cost.reversed_axes(), targets, sources)
        } else {
            (cost, sources, targets)
        };
        let (row_mass, column_mass) =
            if transposed { (&target_mass, &source_mass) } else { (&source_mass, &target_mass) };
        let (supply, demand) = integer_units(
            &row_samples.iter().map(|&k| row_mass[k]).collect::<Vec<_>>(),
            &column_samples.iter().map(|&k| column_mass[k]).collect::<Vec<_>>(),
        );
        let complete = (row_samples.len(), column_samples.len()) == view.dim();
        let costs = match view.to_slice() {
            Some(slice) if complete => Cow::Borrowed(slice),
            _ => Cow::Owned(gather(view, &row_samples, &column_samples)),
        };
        Ok(Self {
            costs,
            total_units: supply.iter().sum::<i64>() as f64,
            supply,
            demand,
            row_samples,
            column_samples,
            transposed,
            magnitude,
            source_mass,
            target_mass,
        })
    }

    pub fn rows(&self) -> usize {
        self.supply.len()
    }

    pub fn columns(&self) -> usize {
        self.demand.len()
    }

    pub fn cost_row(&self, row: usize) -> &[f64] {
        &self.costs[row * self.columns()..][..self.columns()]
    }

    pub fn cost(&self, row: usize, column: usize) -> f64 {
        self.costs[row * self.columns() + column]
    }

    /// The mass that `units` stand for.
    pub fn mass(&self, units: i64) -> f64 {
        units as f64 / self.total_units
    }
}

fn largest_finite_cost(cost: ArrayView2<f64>) -> Result<f64> {
    // Without branches for the usual case, in which all costs are finite.
    if let Some(values) = cost.as_slice_memory_order() {
        let (mut magnitude, mut all_moderate) = (0.0, true);
        for value in values {
            let size = value.abs();
            all_moderate &= size < LARGEST_COST;
            magnitude = if size > magnitude { size } else { magnitude };
        }
        if all_moderate {
            return Ok(magnitude);
        }
    }
    let mut magnitude = 0.0_f64;
    for ((row, column), &value) in cost.indexed_iter() {
        if value.abs() < LARGEST_COST {
            magnitude = magnitude.max(value.abs());
        } else if value != f64::INFINITY {
            return Err(Error::Cost { row, column, value });
        }
    }
    Ok(magnitude)
}

fn with_mass(mass: &[f64]) -> Vec<usize> {
    (0..mass.len()).filter(|&k| mass[k] > 0.0).collect()
}

fn gather(view: ArrayView2<f64>, rows: &[usize], columns: &[usize]) -> Vec<f64> {
    // Tiles, because one of the two matrices is walked against its memory order.
    const TILE: usize = 32;
    let mut costs = vec![0.0; rows.len() * columns.len()];
    for top in (0..rows.len()).step_by(TILE) {
        for left in (0..columns.len()).step_by(TILE) {
            for row in top..rows.len().min(top + TILE) {
                for column in left..columns.len().min(left + TILE) {
                    costs[row * columns.len() + column] = view[[rows[row], columns[column]]];
                }
            }
        }
    }
    costs
}

/// Integer masses with equal totals. Uniform masses become the smallest integers in their ratio, so
/// that ties between partial sums stay exact and leave no residues in the plan.
#[expect(clippy::cast_possible_wrap, reason = "numbers of samples")]
fn integer_units(supply: &[f64], demand: &[f64]) -> (Vec<i64>, Vec<i64>) {
    if is_uniform(supply) && is_uniform(demand) {
        let divisor = greatest_common_divisor(supply.len(), demand.len());
        let (supply_units, demand_units) = (demand.len() / divisor, supply.len() / divisor);
        return (vec![supply_units as i64; supply.len()], vec![demand_units as i64; demand.len()]);
    }
    let mut supply = rounded_units(supply);
    let mut demand = rounded_units(demand);
    let missing = supply.iter().sum::<i64>() - demand.iter().sum::<i64>();
    // The largest mass feels the rounding least.
    let smaller = if missing > 0 { &mut demand } else { &mut supply };
    if let Some(largest) = smaller.iter_mut().max() {
        *largest += missing.abs();
    }
    (supply, demand)
}

fn is_uniform(mass: &[f64]) -> bool {
    mass.iter().all(|m| (m - mass[0]).abs() <= 4.0 * f64::EPSILON * mass[0])
}

#[expect(clippy::cast_possible_truncation, reason = "masses are at most one")]
fn rounded_units(mass: &[f64]) -> Vec<i64> {
    mass.iter().map(|m| ((m * UNITS_IN_ONE).round() as i64).max(1)).collect()
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
