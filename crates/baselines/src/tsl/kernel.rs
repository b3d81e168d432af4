//! One row of the Gaussian kernel's matrix, vectorised: it is where TSL spends its time, beside matrix products.
//!
//! Multiplications and additions are not fused, so that every instruction set gives the same bits.

use multiversion::multiversion;

/// ln 2 cut after 32 bits, so that its product with an exponent is exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5 · 2^52: adding it rounds to an integer and leaves that integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// Below this the exponential is less than the smallest normal number.
const SMALLEST_ARGUMENT: f64 = -708.0;
/// 1/n! for n = 12, 11, …, 0: on ±½ ln 2 the rest of the series is below 2e-16.
const SERIES: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// exp(x) for x ≤ 0; zero where that is below the normal range.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    let rounded = x * std::f64::consts::LOG2_E + ROUNDER;
    let exponent = rounded - ROUNDER;
    let remainder = (x - exponent * LN2_HIGH) - exponent * LN2_LOW;
    let mut sum = SERIES[0];
    for coefficient in &SERIES[1..] {
        sum = sum * remainder + coefficient;
    }
    let power_of_two = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    if x < SMALLEST_ARGUMENT { 0.0 } else { sum * power_of_two }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_agrees_with_the_standard_library() {
        for step in 0..=70_000 {
            let x = -f64::from(step) * 0.01;
            let (ours, reference) = (exp_of_negative(x), x.exp());
            assert!(
                (ours - reference).abs() <= 1e-15 * reference,
                "exp({x}) = {ours}, not {reference}"
            );
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(-1e300), 0.0);
    }
}
