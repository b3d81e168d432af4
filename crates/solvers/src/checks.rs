//! Checks of arguments that several functions share.

use ndarray::ArrayView2;

use crate::error::{Error, Result};

/// Larger costs are refused, so that sums of them, and of their exponents, stay far from overflow.
pub(crate) const LARGEST_COST: f64 = 1e100;
/// Its products with slopes are costs.
const LARGEST_WEIGHT: f64 = 1e50;

pub(crate) fn check_finite(name: &'static str, matrix: ArrayView2<'_, f64>) -> Result<()> {
    match matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some(((row, column), &value)) => Err(Error::NotFinite { name, row, column, value }),
    }
}

/// Costs are numbers of moderate size, or +∞.
pub(crate) fn check_cost(cost: ArrayView2<'_, f64>) -> Result<()> {
    let is_cost = |value: f64| value.abs() <= LARGEST_COST || value == f64::INFINITY;
    match cost.indexed_iter().find(|(_, value)| !is_cost(**value)) {
        None => Ok(()),
        Some(((row, column), &value)) => Err(Error::Cost { row, column, value }),
    }
}

pub(crate) fn check_same_width(
    source: ArrayView2<'_, f64>,
    target: ArrayView2<'_, f64>,
) -> Result<()> {
    check_length("the features of target", target.ncols(), "source", source.ncols())
}

/// Fails unless `found` (of `name`) equals `expected` (of `other`).
pub(crate) fn check_length(
    name: &'static str,
    found: usize,
    other: &'static str,
    expected: usize,
) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Length { name, found, other, expected })
}

pub(crate) fn check_weight(name: &'static str, value: f64) -> Result<()> {
    if (0.0..=LARGEST_WEIGHT).contains(&value) {
        return Ok(());
    }
    // All digits of a large number are no help.
    let value = if value > LARGEST_WEIGHT { format!("{value:e}") } else { value.to_string() };
    Err(Error::Argument { name, value, rule: "it is a weight between 0 and 1e50" })
}
