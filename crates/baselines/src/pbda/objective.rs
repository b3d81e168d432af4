//! PBDA's objective as a function of the scores ⟨w, φ(xᵢ)⟩ of all samples.

use ndarray::{Array1, ArrayView1, ArrayView2, Zip};

use super::probit::{Loss, convex_risk, disagreement};
use crate::binary::TwoDomains;

/// |d| is √(d² + this²): the kink at equal disagreement is rounded off over a thousandth of a sample.
const ROUNDING: f64 = 1e-3;

/// The part of the objective without ‖w‖²/2.
pub struct Objective {
    /// 1/√k(xᵢ, xᵢ), with the sign of the label in the source.
    factors: Array1<f64>,
    /// 1 in the source and 0 in the target.
    risk_weights: Array1<f64>,
    /// How much a disagreement counts: −1 in the source; n_s/n_t in the target, so that domains of
    /// different sizes weigh the same.
    disagreement_weights: Array1<f64>,
    /// C.
    risk: f64,
    /// A.
    disagreement: f64,
}

impl Objective {
    pub fn new(
        domains: &TwoDomains,
        gram: ArrayView2<'_, f64>,
        risk: f64,
        disagreement: f64,
    ) -> Self {
        // A sample at the origin has no direction; every w gives it the score 0.
        let mut factors =
            gram.diag().mapv(|norm| if norm > 0.0 { norm.sqrt().recip() } else { 0.0 });
        let mut risk_weights = Array1::zeros(factors.len());
        let target_weight = domains.labelled.len() as f64 / domains.unlabelled.len() as f64;
        let mut disagreement_weights = Array1::from_elem(factors.len(), target_weight);
        for (&sample, &sign) in domains.labelled.iter().zip(&domains.signs) {
            factors[sample] *= sign;
            risk_weights[sample] = 1.0;
            disagreement_weights[sample] = -1.0;
        }
        Self { factors, risk_weights, disagreement_weights, risk, disagreement }
    }

    /// Its value, and its derivative by each score.
    pub fn evaluate(&self, scores: ArrayView1<'_, f64>) -> (f64, Array1<f64>) {
        let mut slopes = Array1::zeros(scores.len());
        let mut disagreement_slopes = Array1::zeros(scores.len());
        let (mut risk, mut difference) = (0.0, 0.0);
        Zip::indexed(&mut slopes).and(&mut disagreement_slopes).and(scores).for_each(
            |sample, slope, disagreement_slope, &score| {
                let factor = self.factors[sample];
                let margin = factor * score;
                let weight = self.risk_weights[sample];
                if weight > 0.0 {
                    let Loss { value, slope: steepness } = convex_risk(margin);
                    risk += weight * value;
                    *slope = self.risk * weight * factor * steepness;
                }
                let weight = self.disagreement_weights[sample];
                let Loss { value, slope: steepness } = disagreement(margin);
                difference += weight * value;
                *disagreement_slope = weight * factor * steepness;
            },
        );
        let distance = difference.hypot(ROUNDING);
        slopes.scaled_add(self.disagreement * difference / distance, &disagreement_slopes);
        (self.risk * risk + self.disagreement * distance, slopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let labels = [Some(0), Some(1), Some(1), None, None, None, None];
        let domains = TwoDomains::new(&labels).unwrap();
        let gram = ndarray::Array2::from_diag(&ndarray::array![1.0, 4.0, 2.0, 0.5, 3.0, 1.0, 9.0]);
        let objective = Objective::new(&domains, gram.view(), 2.5, 7.0);
        let scores = ndarray::array![0.4, -1.3, 0.2, -0.1, 2.5, -0.7, 0.3];
        let (_, slopes) = objective.evaluate(scores.view());
        for sample in 0..scores.len() {
            let shifted = |shift: f64| {
                let mut scores = scores.clone();
                scores[sample] += shift;
                objective.evaluate(scores.view()).0
            };
            let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
            assert!((slopes[sample] - difference).abs() < 1e-7, "sample {sample}");
        }
    }
}
