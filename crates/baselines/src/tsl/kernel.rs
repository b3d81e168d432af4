//! One row of the Gaussian kernel's matrix, vectorised: it is where TSL spends its time, beside matrix products.
//!
//! Multiplications and additions are not fused, so that every instruction set gives the same bits.

use multiversion::multiversion;

use crate::exponential::exp_of_negative;

/// One sample against others: their weights c and the squared norms of their projections.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) norm: f64,
    pub(crate) weight: f64,
    pub(crate) norms: &'a [f64],
    pub(crate) weights: &'a [f64],
}

/// Sums over a row of the kernel's matrix.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowSums {
    /// Σⱼ cᵢcⱼKᵢⱼ.
    pub(crate) kernel: f64,
    /// Σⱼ cᵢcⱼKᵢⱼ ln Kᵢⱼ.
    pub(crate) kernel_log: f64,
}

/// Replaces the products ⟨yᵢ, yⱼ⟩ by cᵢcⱼ exp(−‖yᵢ − yⱼ‖² / 2v), adds these to `column_sums`, and sums them.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn kernel_row(
    products: &mut [f64],
    row: Row<'_>,
    half_inverse_variance: f64,
    column_sums: &mut [f64],
) -> RowSums {
    const LANES: usize = 8;
    let length = products.len();
    let (norms, weights) = (&row.norms[..length], &row.weights[..length]);
    let column_sums = &mut column_sums[..length];
    let (mut kernels, mut logs) = ([0.0; LANES], [0.0; LANES]);
    let mut entry = |place: usize, lane: usize| {
        // Rounding must not make a distance negative.
        let distance = (row.norm + norms[place] - 2.0 * products[place]).max(0.0);
        let log = -distance * half_inverse_variance;
        let value = row.weight * weights[place] * exp_of_negative(log);
        products[place] = value;
        column_sums[place] += value;
        kernels[lane] += value;
        logs[lane] += value * log;
    };
    let whole = length / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for lane in 0..LANES {
            entry(start + lane, lane);
        }
    }
    for place in whole..length {
        entry(place, 0);
    }
    RowSums { kernel: kernels.iter().sum(), kernel_log: logs.iter().sum() }
}
