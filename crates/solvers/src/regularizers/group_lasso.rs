//! Group lasso, eq. `cuturigroup`: Ω(γ) = Σ_j Σ_cl ‖γ(I_cl, j)‖₂, so that a target sample receives mass
//! from one class only.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::{check_rows, rows_by_class};
use crate::error::Result;
use crate::loops::accumulate_squares;
use crate::parts::groups_of_a_part;
use crate::regularizer::{Regularizer, SegmentSlope};
use crate::rows::entries;

/// ℓ₁-ℓ₂ over the classes of the source samples.
#[derive(Debug, Clone)]
pub struct GroupLasso {
    classes: Vec<Vec<usize>>,
}

impl GroupLasso {
    /// Groups the rows of a plan by the labels of the source samples.
    #[must_use]
    pub fn new(source_labels: &[usize]) -> Self {
        Self { classes: rows_by_class(source_labels) }
    }

    /// ‖γ(I_cl, j)‖₂ for all j of one class.
    fn norms(plan: ArrayView2<'_, f64>, class: &[usize], norms: &mut [f64]) {
        norms.fill(0.0);
        for &row in class {
            accumulate_squares(&entries(plan.row(row)), norms);
        }
        for norm in norms {
            *norm = norm.sqrt();
        }
    }
}

impl Regularizer for GroupLasso {
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        let of_a_part = groups_of_a_part(self.classes.len(), plan.dim());
        let of_classes = self.classes.par_iter().with_min_len(of_a_part).map_init(
            || vec![0.0; plan.ncols()],
            |norms, class| {
                Self::norms(plan, class, norms);
                norms.iter().sum()
            },
        );
        // In their order, whatever the threads.
        of_classes.collect::<Vec<f64>>().iter().sum()
    }

    fn check_shape(&self, (rows, _): (usize, usize)) -> Result<()> {
        check_rows(&self.classes, rows)
    }

    /// γ(i, j) / ‖γ(I_cl, j)‖₂; a group of zeros has the subgradient 0.
    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        let mut norms = vec![0.0; plan.ncols()];
        for class in &self.classes {
            Self::norms(plan, class, &mut norms);
            for &row in class {
                let slopes = gradient.row_mut(row).into_iter().zip(plan.row(row));
                for ((slope, mass), norm) in slopes.zip(&norms) {
                    // The square of a mass that is nearly nothing has few digits.
                    *slope = if *norm > 0.0 { (mass / norm).min(1.0) } else { 0.0 };
                }
            }
        }
    }

    /// ‖p + t d‖₂ of each group is the root of a quadratic in t: three sums a group serve every t.
    fn slope_on_segment(
        &self,
        from: ArrayView2<'_, f64>,
        to: ArrayView2<'_, f64>,
    ) -> Option<SegmentSlope> {
        let columns = from.ncols();
        let mut quadratics = vec![[0.0; 3]; self.classes.len() * columns];
        for (class, quadratics) in self.classes.iter().zip(quadratics.chunks_exact_mut(columns)) {
            for &row in class {
                let masses = from.row(row).into_iter().zip(to.row(row));
                for ([square, product, change_square], (&from, &to)) in
                    quadratics.iter_mut().zip(masses)
                {
                    let change = to - from;
                    *square += from * from;
                    *product += from * change;
                    *change_square += change * change;
                }
            }
        }
        Some(Box::new(move |t| {
            let slope = |&[square, product, change_square]: &[f64; 3]| {
                let norm = (square + t * (2.0 * product + t * change_square)).max(0.0).sqrt();
                if norm > 0.0 { (product + t * change_square) / norm } else { 0.0 }
            };
            quadratics.iter().map(slope).sum()
        }))
    }
}
