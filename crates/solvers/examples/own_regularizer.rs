//! A regularizer of one's own, solved and certified: what CONTRIBUTING walks through.
//!
//! `cargo run -p solvers --example own_regularizer`

use ndarray::{Array2, ArrayView2, array};
use solvers::Regularizer;
use solvers::cost::{Metric, cost_matrix};
use solvers::entropic::Workspace;
use solvers::gcg::{GcgOptions, GcgProblem, solve_gcg};
use solvers::marginals::uniform_mass;

/// Ω(γ) = ½ Σ_c Σ_j (Σ_{i ∈ c} γ_ij − m_cj)² asks the mass that a class sends to a target sample to be near m_cj,
/// what is believed of that sample's label.
struct BelievedLabels {
    labels: Vec<usize>,
    believed: Array2<f64>,
}

impl BelievedLabels {
    /// What each class sends to each target sample, minus what is believed.
    fn excess(&self, plan: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut excess = -&self.believed;
        for (row, &label) in plan.rows().into_iter().zip(&self.labels) {
            let mut sums = excess.row_mut(label);
            sums += &row;
        }
        excess
    }
}

impl Regularizer for BelievedLabels {
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        0.5 * self.excess(plan).iter().map(|excess| excess * excess).sum::<f64>()
    }

    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        let excess = self.excess(plan);
        for (mut row, &label) in gradient.rows_mut().into_iter().zip(&self.labels) {
            row.assign(&excess.row(label));
        }
    }
}

fn main() -> solvers::Result<()> {
    let source = array![[0.0, 0.0], [0.2, 0.1], [3.0, 3.0], [3.1, 2.8]];
    let target = array![[1.4, 1.5], [1.6, 1.4], [1.5, 1.6]];
    let cost = cost_matrix(source.view(), target.view(), Metric::SquaredEuclidean)?;
    let (source_mass, target_mass) = (uniform_mass(4), uniform_mass(3));
    // The first target sample is believed to be of class 0, the second of class 1.
    let regularizer = BelievedLabels {
        labels: vec![0, 0, 1, 1],
        believed: array![[1.0 / 3.0, 0.0, 1.0 / 6.0], [0.0, 1.0 / 3.0, 1.0 / 6.0]],
    };
    for regularization_weight in [0.0, 10.0, 1000.0] {
        let problem = GcgProblem {
            cost: cost.view(),
            source_mass: &source_mass,
            target_mass: &target_mass,
            entropy_weight: 0.5,
            regularizer: &regularizer,
            regularization_weight,
        };
        let solution =
            solve_gcg(&problem, None, &mut Workspace::default(), &GcgOptions::default())?;
        let to_first = solution.plan[[0, 0]] + solution.plan[[1, 0]];
        println!(
            "η = {regularization_weight}: class 0 sends {to_first:.3} of 0.333 to the first target sample; \
             duality gap {:.1e}, {}",
            solution.duality_gap, solution.stop
        );
    }
    Ok(())
}
