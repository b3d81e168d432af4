//! A covariance estimated from few samples, shrunk towards a multiple of the identity.
//!
//! O. Ledoit and M. Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", Journal of
//! Multivariate Analysis 88(2), 2004: (1 − ρ) S + ρ μ I with μ = tr(S)/d and the ρ of least expected error,
//! estimated by ρ = min(b², δ²)/δ² with δ² = ‖S − μI‖² and b² = 1/n² Σ ‖xᵢxᵢᵀ − S‖².

use ndarray::{Array2, ArrayView2};

/// The shrunk covariance of samples whose mean is zero. With fewer samples than features it still has full
/// rank, unless all samples are zero.
pub(crate) fn shrunk_covariance(samples: ArrayView2<'_, f64>) -> Array2<f64> {
    let (count, width) = samples.dim();
    let mut covariance = samples.t().dot(&samples) / count as f64;
    let mean_variance = covariance.diag().sum() / width as f64;
    let squared_norm: f64 = covariance.iter().map(|value| value * value).sum();
    // ‖S − μI‖² = ‖S‖² − d μ², and Σ ‖xᵢxᵢᵀ − S‖² = Σ ‖xᵢ‖⁴ − n ‖S‖².
    let dispersion = squared_norm - width as f64 * mean_variance * mean_variance;
    let fourth_powers: f64 = samples.rows().into_iter().map(|row| row.dot(&row).powi(2)).sum();
    let error = (fourth_powers / count as f64 - squared_norm) / count as f64;
    let intensity = if error < dispersion { error.max(0.0) / dispersion } else { 1.0 };
    covariance *= 1.0 - intensity;
    covariance.diag_mut().mapv_inplace(|variance| variance + intensity * mean_variance);
    covariance
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_estimate_is_that_of_the_definition() {
        let samples = array![[1.0, 2.0], [-2.0, 0.5], [0.0, -3.0], [1.0, 0.5]];
        let covariance = samples.t().dot(&samples) / 4.0;
        let mean = covariance.diag().sum() / 2.0;
        let target = Array2::<f64>::eye(2) * mean;
        let square = |matrix: Array2<f64>| matrix.mapv(|value| value * value).sum();
        let dispersion = square(&covariance - &target);
        let error = samples
            .rows()
            .into_iter()
            .map(|row| {
                let outer = Array2::from_shape_fn((2, 2), |(a, b)| row[a] * row[b]);
                square(outer - &covariance) / 16.0
            })
            .sum::<f64>();
        let intensity = error.min(dispersion) / dispersion;
        let expected = &covariance * (1.0 - intensity) + &target * intensity;
        assert!((shrunk_covariance(samples.view()) - expected).iter().all(|gap| gap.abs() < 1e-14));
    }

    #[test]
    fn samples_that_agree_on_the_covariance_are_not_shrunk() {
        let alike = array![[3.0, 4.0], [-3.0, -4.0]];
        // Every xᵢxᵢᵀ is S, so nothing speaks for shrinking.
        assert_eq!(shrunk_covariance(alike.view()), array![[9.0, 12.0], [12.0, 16.0]]);
        assert_eq!(shrunk_covariance(array![[0.0, 0.0]].view()), Array2::<f64>::zeros((2, 2)));
    }
}
