//! ℓp-ℓ1, the regularizer of OT-LpL1 (Courty, Flamary, Tuia, ECML 2014, doi:10.1007/978-3-662-44848-9_18):
//! Ω(γ) = Σ_j Σ_cl [(‖γ(I_cl, j)‖₁ + ε)^p − ε^p] with p < 1. The constant ε^p, which the authors leave in, makes
//! an empty group count as zero, so that the size of Ω says something.
//!
//! It is concave, so its linearization lies above it: each full step of the generalized conditional
//! gradient is a step of majorization-minimization.

use ndarray::{Array1, Array2, ArrayView2};

use super::rows_by_class;
use crate::error::{Error, Result};
use crate::regularizer::{Regularizer, SegmentSlope};

/// ℓp-ℓ1 over the classes of the source samples.
#[derive(Debug, Clone)]
pub struct LpL1 {
    classes: Vec<Vec<usize>>,
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
        Self {
            classes: rows_by_class(source_labels),
            power: Self::DEFAULT_POWER,
            offset: Self::DEFAULT_OFFSET,
        }
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

    /// ‖γ(I_cl, j)‖₁ + ε for all j of one class.
    fn sums(&self, plan: ArrayView2<'_, f64>, class: &[usize], sums: &mut Array1<f64>) {
        sums.fill(self.offset);
        for &row in class {
            *sums += &plan.row(row);
        }
    }
}

impl Regularizer for LpL1 {
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        let mut sums = Array1::zeros(plan.ncols());
        self.classes
            .iter()
            .map(|class| {
                self.sums(plan, class, &mut sums);
                let empty = self.offset.powf(self.power);
                sums.iter().map(|sum| sum.powf(self.power) - empty).sum::<f64>()
            })
            .sum()
    }

    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        let mut slopes = Array1::zeros(plan.ncols());
        for class in &self.classes {
            self.sums(plan, class, &mut slopes);
            slopes.mapv_inplace(|sum| self.power * sum.powf(self.power - 1.0));
            for &row in class {
                gradient.row_mut(row).assign(&slopes);
            }
        }
    }

    fn row_classes(&self) -> Option<&[Vec<usize>]> {
        Some(&self.classes)
    }

    /// The sums of the groups are linear in t.
    fn slope_on_segment(
        &self,
        from: ArrayView2<'_, f64>,
        to: ArrayView2<'_, f64>,
    ) -> Option<SegmentSlope> {
        let (mut start, mut end) = (Array1::zeros(from.ncols()), Array1::zeros(from.ncols()));
        let mut lines = Vec::with_capacity(self.classes.len() * from.ncols());
        for class in &self.classes {
            self.sums(from, class, &mut start);
            self.sums(to, class, &mut end);
            lines.extend(start.iter().zip(&end).map(|(start, end)| (*start, end - start)));
        }
        let power = self.power;
        Some(Box::new(move |t| {
            let slope = |&(start, change): &(f64, f64)| {
                change * power * (start + t * change).powf(power - 1.0)
            };
            lines.iter().map(slope).sum()
        }))
    }
}
