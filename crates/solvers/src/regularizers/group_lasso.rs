//! Group lasso, eq. `cuturigroup`: Ω(γ) = Σ_j Σ_cl ‖γ(I_cl, j)‖₂, so that a target sample receives mass
//! from one class only.

use ndarray::{Array1, Array2, ArrayView2, Zip};

use super::rows_by_class;
use crate::regularizer::Regularizer;

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
    fn norms(plan: ArrayView2<'_, f64>, class: &[usize], norms: &mut Array1<f64>) {
        norms.fill(0.0);
        for &row in class {
            Zip::from(&mut *norms).and(plan.row(row)).for_each(|sum, &mass| *sum += mass * mass);
        }
        norms.mapv_inplace(f64::sqrt);
    }
}

impl Regularizer for GroupLasso {
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        let mut norms = Array1::zeros(plan.ncols());
        self.classes
            .iter()
            .map(|class| {
                Self::norms(plan, class, &mut norms);
                norms.sum()
            })
            .sum()
    }

    /// γ(i, j) / ‖γ(I_cl, j)‖₂; a group of zeros has the subgradient 0.
    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        let mut norms = Array1::zeros(plan.ncols());
        for class in &self.classes {
            Self::norms(plan, class, &mut norms);
            norms.mapv_inplace(|norm| if norm > 0.0 { norm.recip() } else { 0.0 });
            for &row in class {
                Zip::from(gradient.row_mut(row))
                    .and(plan.row(row))
                    .and(&norms)
                    // A subnormal norm has an infinite reciprocal.
                    .for_each(|slope, &mass, &reciprocal| *slope = (mass * reciprocal).min(1.0));
            }
        }
    }
}
