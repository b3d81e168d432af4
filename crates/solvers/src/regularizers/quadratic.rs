//! Quadratic regularization (Blondel, Seguy, Rolet, AISTATS 2018, arXiv:1710.06276), relative to the product of the
//! marginals: Ω(γ) = ½ Σ_ij γ_ij² / (a_i b_j). It is least, ½, for γ = abᵀ, and unlike the entropy lets entries be zero.

use ndarray::{Array2, ArrayView2, Zip};

use crate::checks::check_length;
use crate::error::Result;
use crate::regularizer::Regularizer;

/// Half the squared norm of a plan, weighted by its marginals.
#[derive(Debug, Clone)]
pub struct Quadratic {
    source_weights: Vec<f64>,
    target_weights: Vec<f64>,
}

impl Quadratic {
    /// For plans with these marginals a and b.
    #[must_use]
    pub fn new(source_mass: &[f64], target_mass: &[f64]) -> Self {
        // A sample without mass has nothing to weigh.
        let reciprocal = |&mass: &f64| if mass >= f64::MIN_POSITIVE { mass.recip() } else { 0.0 };
        Self {
            source_weights: source_mass.iter().map(reciprocal).collect(),
            target_weights: target_mass.iter().map(reciprocal).collect(),
        }
    }
}

impl Regularizer for Quadratic {
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        let of_row = |(row, weight): (ndarray::ArrayView1<'_, f64>, &f64)| {
            let squares = row.iter().zip(&self.target_weights).map(|(mass, b)| mass * mass * b);
            weight * squares.sum::<f64>()
        };
        0.5 * plan.rows().into_iter().zip(&self.source_weights).map(of_row).sum::<f64>()
    }

    /// γ_ij / (a_i b_j).
    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        let rows = gradient.rows_mut().into_iter().zip(plan.rows());
        for ((row, masses), weight) in rows.zip(&self.source_weights) {
            Zip::from(row)
                .and(masses)
                .and(&self.target_weights)
                .for_each(|slope, mass, b| *slope = weight * mass * b);
        }
    }

    fn check_shape(&self, (rows, columns): (usize, usize)) -> Result<()> {
        check_length(
            "the source masses of the regularizer",
            self.source_weights.len(),
            "the rows of cost",
            rows,
        )?;
        let targets = self.target_weights.len();
        check_length(
            "the target masses of the regularizer",
            targets,
            "the columns of cost",
            columns,
        )
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}
