//! The exponential of numbers that are not positive, vectorised: Gaussian kernel matrices are made of it.
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

/// exp(x) for x ≤ 0; zero where that is below the normal range, and NaN stays NaN.
#[inline(always)]
pub(crate) fn exp_of_negative(x: f64) -> f64 {
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

/// Replaces each x by exp(−`rate` · x), where neither is negative.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn decay(values: &mut [f64], rate: f64) {
    for value in values {
        *value = exp_of_negative(-rate * *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_standard_library() {
        let values: Vec<f64> = (0..=70_000).map(|step| f64::from(step) * 0.01).collect();
        let mut decayed = values.clone();
        decay(&mut decayed, 1.0);
        for (x, ours) in values.iter().zip(decayed) {
            let reference = (-x).exp();
            assert!((ours - reference).abs() <= 1e-15 * reference, "exp(−{x}) = {ours}");
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(-1e300), 0.0);
        assert_eq!(exp_of_negative(f64::NEG_INFINITY), 0.0);
        assert!(exp_of_negative(f64::NAN).is_nan());
    }
}
