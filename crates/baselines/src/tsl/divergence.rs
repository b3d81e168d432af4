//! The divergence between the projected domains, D = ∫ (p_s(y) − p_t(y))² dy, for Gaussian kernel density
//! estimates p_s and p_t: Si, Tao and Geng's equation for the quadratic Bregman divergence.
//!
//! With yᵢ = Wᵀxᵢ in k dimensions, cᵢ = 1/n_s for the source and −1/n_t for the target, and both estimates of
//! the variance v/2, the integral is a sum of kernels of variance v,
//!
//! D = Σᵢⱼ cᵢcⱼ Kᵢⱼ, Kᵢⱼ = (2πv)^(−k/2) exp(−‖yᵢ − yⱼ‖² / 2v).
//!
//! The variance is a multiple of the mean squared distance between projected samples, v = β · 2 tr(WᵀCW) with
//! the covariance C. A fixed variance would be minimised by directions in which nothing varies. With this one
//! D · (2πv)^(k/2) does not change when all samples are scaled.

use std::f64::consts::PI;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

use crate::tsl::kernel::{Row, RowSums, kernel_row};

/// Samples a block: a block of the kernel's matrix stays in cache between its three uses.
const BLOCK: usize = 64;

/// D as a function of the subspace.
#[derive(Debug)]
pub(crate) struct Divergence {
    samples: Array2<f64>,
    weights: Array1<f64>,
    covariance: Array2<f64>,
    bandwidth: f64,
    kernel: DivergenceKernel,
}

/// The kernel K of the divergence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DivergenceKernel {
    /// A density: (2πv)^(−k/2) exp(−‖y‖² / 2v). In a unit in which features vary by about 1, the divergence fades as
    /// k grows.
    Density,
    /// exp(−‖y‖² / 2v), which is 1 at zero: a weight means the same for every k. The divergence is then the
    /// squared maximum mean discrepancy under this kernel, and prevails over the criterion at large weights.
    UnitPeak,
}

impl Divergence {
    /// D for centred samples, of which the first belong to the source.
    pub(crate) fn new(
        samples: ArrayView2<'_, f64>,
        source_samples: usize,
        bandwidth: f64,
        kernel: DivergenceKernel,
    ) -> Self {
        let count = samples.nrows();
        let weights = Array1::from_shape_fn(count, |sample| {
            if sample < source_samples {
                1.0 / source_samples as f64
            } else {
                -1.0 / (count - source_samples) as f64
            }
        });
        let covariance = samples.t().dot(&samples) / count as f64;
        Self { samples: samples.to_owned(), weights, covariance, bandwidth, kernel }
    }

    /// D and its gradient in the entries of W.
    ///
    /// With M = (cᵢcⱼKᵢⱼ) and E the exponents of K the gradient is −2/v Xᵀ(diag(M1) − M)Y + ∂D/∂v · ∂v/∂W, where
    /// ∂D/∂v = −(Σ MᵢⱼEᵢⱼ + k/2 Σ Mᵢⱼ) / v, the second sum from the factor (2πv)^(−k/2), and ∂v/∂W = 4 β C W.
    pub(crate) fn value_and_gradient(&self, basis: ArrayView2<'_, f64>) -> (f64, Array2<f64>) {
        let projected = self.samples.dot(&basis);
        let covariance_basis = self.covariance.dot(&basis);
        let variance = 2.0 * self.bandwidth * (&covariance_basis * &basis).sum();
        // The exponent of 2πv in K.
        let power = match self.kernel {
            DivergenceKernel::Density => -0.5 * basis.ncols() as f64,
            DivergenceKernel::UnitPeak => 0.0,
        };
        let peak = (2.0 * PI * variance).powf(power);
        let KernelTotals { total, row_sums, products } =
            self.kernel_sums(projected.view(), variance);
        let mut slope = projected;
        slope *= &row_sums.insert_axis(Axis(1));
        slope -= &products;
        let mut gradient = self.samples.t().dot(&slope);
        gradient *= -2.0 * peak / variance;
        let slope_of_variance = peak * (power * total.kernel - total.kernel_log) / variance;
        gradient.scaled_add(4.0 * self.bandwidth * slope_of_variance, &covariance_basis);
        (peak * total.kernel, gradient)
    }

    /// The sums for kernels whose peak is 1, from the upper triangle of M, block by block: each block serves its
    /// mirror image too.
    fn kernel_sums(&self, projected: ArrayView2<'_, f64>, variance: f64) -> KernelTotals {
        let (count, k) = projected.dim();
        let norms: Vec<f64> = projected.rows().into_iter().map(|row| row.dot(&row)).collect();
        let weights = self.weights.to_vec();
        let half_inverse_variance = 0.5 / variance;
        let mut total = RowSums::default();
        let mut row_sums = Array1::<f64>::zeros(count);
        let mut products = Array2::<f64>::zeros((count, k));
        let mut buffer = Array2::<f64>::zeros((BLOCK.min(count), count));
        // What a block adds to the sums of its columns.
        let mut column_sums = vec![0.0; count];
        for start in (0..count).step_by(BLOCK) {
            let end = (start + BLOCK).min(count);
            let rows = projected.slice(s![start..end, ..]);
            for (from, to, times) in [(start, end, 1.0), (end, count, 2.0)] {
                if from == to {
                    continue;
                }
                let columns = projected.slice(s![from..to, ..]);
                let mut block = buffer.slice_mut(s![..end - start, ..to - from]);
                general_mat_mul(1.0, &rows, &columns.t(), 0.0, &mut block);
                column_sums[from..to].fill(0.0);
                for (offset, mut line) in block.rows_mut().into_iter().enumerate() {
                    let sample = start + offset;
                    let row = Row {
                        norm: norms[sample],
                        weight: weights[sample],
                        norms: &norms[from..to],
                        weights: &weights[from..to],
                    };
                    // A row of a row-major buffer is always contiguous.
                    if let Some(line) = line.as_slice_mut() {
                        let sums = kernel_row(
                            line,
                            row,
                            half_inverse_variance,
                            &mut column_sums[from..to],
                        );
                        total.kernel += times * sums.kernel;
                        total.kernel_log += times * sums.kernel_log;
                        row_sums[sample] += sums.kernel;
                    }
                }
                let mut into = products.slice_mut(s![start..end, ..]);
                general_mat_mul(1.0, &block, &columns, 1.0, &mut into);
                if from == end {
                    let mut into = products.slice_mut(s![from..to, ..]);
                    general_mat_mul(1.0, &block.t(), &rows, 1.0, &mut into);
                    for (sum, added) in
                        row_sums.slice_mut(s![from..to]).iter_mut().zip(&column_sums[from..to])
                    {
                        *sum += added;
                    }
                }
            }
        }
        KernelTotals { total, row_sums, products }
    }
}

struct KernelTotals {
    /// Over all entries of M.
    total: RowSums,
    /// M 1.
    row_sums: Array1<f64>,
    /// M Y.
    products: Array2<f64>,
}
