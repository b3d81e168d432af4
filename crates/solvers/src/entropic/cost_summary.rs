//! One look at a cost matrix: whether its entries can be computed with, and their scale.

use std::ops::Range;

use ndarray::ArrayView2;
use rayon::prelude::*;

use super::kernels::{RowSummary, summarise};
use crate::checks::LARGEST_COST;
use crate::error::{Error, Result};
use crate::parts::rows_of_a_part;

pub(super) struct CostSummary {
    /// Mean finite cost minus the smallest cost.
    pub(super) spread: f64,
    pub(super) has_forbidden_pairs: bool,
}

impl CostSummary {
    pub(super) fn new(cost: ArrayView2<'_, f64>) -> Result<Self> {
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
