//! ℓp-ℓ1, the regularizer of OT-LpL1 (Courty, Flamary, Tuia, ECML 2014, doi:10.1007/978-3-662-44848-9_18):
//! Ω(γ) = Σ_j Σ_cl [(‖γ(I_cl, j)‖₁ + ε)^p − ε^p] with p < 1. The constant ε^p, which the authors leave in, makes
//! an empty group count as zero, so that the size of Ω says something.
//!
//! It is concave, so its linearization lies above it: each full step of the generalized conditional
//! gradient is a step of majorization-minimization: see [`crate::lp_l1`].

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::{check_rows, rows_by_class};
use crate::error::{Error, Result};
use crate::loops::{scale_and_accumulate, sum_of_roots, to_slopes_of_roots};
use crate::parts::groups_of_a_part;
use crate::regularizer::{Regularizer, SegmentSlope};
use crate::rows::entries;

/// ℓp-ℓ1 over the classes of the source samples.
#[derive(Debug, Clone)]
pub struct LpL1 {
    classes: Vec<Vec<usize>>,
    class_of_row: Vec<usize>,
    power: f64,
    offset: f64,
}

impl LpL1 {
    /// The authors' p.
    pub const DEFAULT_POWER: f64 = 0.5;
    /// The authors' ε, which keeps the slope at an empty group finite.
    pub const DEFAULT_OFFSET: f64 = 1e-3;

    /// Groups the rows of a plan by the labels of the source samples, with the authors' p and ε.
    #[must_use]
    pub fn new(source_labels: &[usize]) -> Self {
        let classes = rows_by_class(source_labels);
        let mut class_of_row = vec![0; source_labels.len()];
        for (class, rows) in classes.iter().enumerate() {
            for &row in rows {
                class_of_row[row] = class;
            }
        }
        Self { classes, class_of_row, power: Self::DEFAULT_POWER, offset: Self::DEFAULT_OFFSET }
    }

    /// Another p, between 0 and 1.
    pub fn with_power(self, power: f64) -> Result<Self> {
        if power > 0.0 && power <= 1.0 {
            return Ok(Self { power, ..self });
        }
        Err(Error::Argument {
            name: "p",
            value: power.to_string(),
            rule: "it is above 0 and at most 1",
        })
    }

    /// Another ε, above 0.
    pub fn with_offset(self, offset: f64) -> Result<Self> {
        if offset > 0.0 && offset.is_finite() {
            return Ok(Self { offset, ..self });
        }
        Err(Error::Argument {
            name: "epsilon",
            value: offset.to_string(),
            rule: "it is above 0 and finite",
        })
    }

    pub(crate) fn classes(&self) -> &[Vec<usize>] {
        &self.classes
    }

    /// The place in `classes` of each row's.
    pub(crate) fn class_of_row(&self) -> &[usize] {
        &self.class_of_row
    }

    /// ‖γ(I_cl, j)‖₁ of each class and column.
    pub(crate) fn group_masses(&self, plan: ArrayView2<'_, f64>) -> Array2<f64> {
        let columns = plan.ncols();
        let mut masses = Array2::zeros((self.classes.len(), columns));
        // A new array is contiguous.
        let values = masses.as_slice_mut().unwrap_or_default();
        let of_a_class = values.par_chunks_exact_mut(columns.max(1)).zip(&self.classes);
        let of_a_part = groups_of_a_part(self.classes.len(), plan.dim());
        of_a_class.with_min_len(of_a_part).for_each(|(masses, rows)| {
            for &row in rows {
                scale_and_accumulate(&entries(plan.row(row)), 1.0, masses);
            }
        });
        masses
    }

    /// Ω by the masses of the groups.
    pub(crate) fn value_at(&self, masses: &Array2<f64>) -> f64 {
        if let (Some(masses), true) = (masses.as_slice(), self.power == 0.5) {
            return sum_of_roots(masses, self.offset);
        }
        let empty = self.raise(self.offset);
        masses.iter().map(|mass| self.raise(mass + self.offset) - empty).sum()
    }

    /// x^p. There are many, and a root takes a tenth of the time.
    fn raise(&self, value: f64) -> f64 {
        if self.power == 0.5 { value.sqrt() } else { value.powf(self.power) }
    }

    /// The slope of Ω in a group of this mass.
    fn slope_at(&self, mass: f64) -> f64 {
        let value = mass + self.offset;
        self.power * self.raise(value) / value
    }

    /// The slopes of Ω by the masses of the groups.
    pub(crate) fn slopes_at(&self, masses: &Array2<f64>) -> Array2<f64> {
        if self.power != 0.5 {
            return masses.mapv(|mass| self.slope_at(mass));
        }
        let mut slopes = masses + self.offset;
        // A new array is contiguous.
        to_slopes_of_roots(slopes.as_slice_mut().unwrap_or_default());
        slopes
    }
}

impl Regularizer for LpL1 {
    fn check_shape(&self, (rows, _): (usize, usize)) -> Result<()> {
        check_rows(&self.classes, rows)
    }

    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        self.value_at(&self.group_masses(plan))
    }

    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        let slopes = self.slopes_at(&self.group_masses(plan));
        for (rows, slopes) in self.classes.iter().zip(slopes.rows()) {
            for &row in rows {
                gradient.row_mut(row).assign(&slopes);
            }
        }
    }

    /// The masses of the groups are linear in t.
    fn slope_on_segment(
        &self,
        from: ArrayView2<'_, f64>,
        to: ArrayView2<'_, f64>,
    ) -> Option<SegmentSlope> {
        let start = self.group_masses(from);
        let change = self.group_masses(to) - &start;
        let regularizer = self.clone();
        Some(Box::new(move |t| {
            let slope =
                |(start, change): (&f64, &f64)| change * regularizer.slope_at(start + t * change);
            start.iter().zip(&change).map(slope).sum()
        }))
    }
}
