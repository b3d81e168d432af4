//! Vectorised `exp` and `x ln x` for slices, about four times the speed of `f64::exp`.
//! The functions are compiled for several instruction sets and the best one is chosen at run time.
//! They are not a general maths library: results that would be subnormal become zero.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// ln 2 cut after 32 bits, so that its product with an exponent is exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5 · 2^52: adding it rounds to an integer and leaves that integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// Below this the result is smaller than the smallest normal number.
const SMALLEST_ARGUMENT: f64 = -708.396_418_532_264_1;
const LARGEST_ARGUMENT: f64 = 709.089;

/// Interpolates exp on [-½ ln 2, ½ ln 2] to 2e-17, from the constant upwards; even and odd powers
/// are summed apart, which halves the chain of dependent operations.
const EXP_EVEN: [f64; 6] = [
    1.0,
    0.500_000_000_000_000_1,
    0.041_666_666_666_623_99,
    1.388_888_891_728_179_4e-3,
    2.480_152_119_021_773e-5,
    2.762_013_871_973_399_4e-7,
];
const EXP_ODD: [f64; 6] = [
    1.0,
    0.166_666_666_666_666_69,
    8.333_333_333_330_051e-3,
    1.984_126_986_310_596_8e-4,
    2.755_726_837_868_419_2e-6,
    2.510_042_415_700_506_7e-8,
];

/// 2/(2k+1) for k = 10, 9, …, 1: the series of `2 atanh(s)` in s², without its first term.
const ATANH_COEFFICIENTS: [f64; 10] = [
    2.0 / 21.0,
    2.0 / 19.0,
    2.0 / 17.0,
    2.0 / 15.0,
    2.0 / 13.0,
    2.0 / 11.0,
    2.0 / 9.0,
    2.0 / 7.0,
    2.0 / 5.0,
    2.0 / 3.0,
];

/// Without the hardware instruction `mul_add` is a slow library call, so it is a compile-time choice.
#[expect(
    clippy::inline_always,
    reason = "it must be compiled with the instruction set of its caller"
)]
#[inline(always)]
pub(crate) fn multiply_add<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[expect(
    clippy::inline_always,
    reason = "it must be compiled with the instruction set of its caller"
)]
#[inline(always)]
pub(crate) fn exp_one<const FUSED: bool>(x: f64) -> f64 {
    let rounded = multiply_add::<FUSED>(x, LOG2_E, ROUNDER);
    let exponent = rounded - ROUNDER;
    let high = multiply_add::<FUSED>(-exponent, LN2_HIGH, x);
    let remainder = multiply_add::<FUSED>(-exponent, LN2_LOW, high);
    let square = remainder * remainder;
    let (mut even, mut odd) = (EXP_EVEN[5], EXP_ODD[5]);
    for degree in (0..5).rev() {
        even = multiply_add::<FUSED>(even, square, EXP_EVEN[degree]);
        odd = multiply_add::<FUSED>(odd, square, EXP_ODD[degree]);
    }
    let sum = multiply_add::<FUSED>(odd, remainder, even);
    let power_of_two = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    let normal = sum * power_of_two;
    let with_zero = if x < SMALLEST_ARGUMENT { 0.0 } else { normal };
    if x > LARGEST_ARGUMENT { f64::INFINITY } else { with_zero }
}

#[inline(always)]
pub(crate) fn ln_one<const FUSED: bool>(x: f64) -> f64 {
    // Shifting by the bits of √½ puts the mantissa into [√½, √2), where the series is short.
    const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
    const EXPONENT_MASK: u64 = 0xfff0_0000_0000_0000;
    const TWO_POW_52_BITS: u64 = 0x4330_0000_0000_0000;
    const BIAS: f64 = 4_503_599_627_370_496.0 + 1023.0;
    let bits = x.to_bits();
    let shifted = bits.wrapping_sub(SQRT_HALF_BITS).wrapping_add(1023 << 52);
    let exponent = f64::from_bits((shifted >> 52) | TWO_POW_52_BITS) - BIAS;
    let mantissa =
        f64::from_bits(bits.wrapping_sub((shifted & EXPONENT_MASK).wrapping_sub(1023 << 52)));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut sum = ATANH_COEFFICIENTS[0];
    for coefficient in &ATANH_COEFFICIENTS[1..] {
        sum = multiply_add::<FUSED>(sum, square, *coefficient);
    }
    let series = multiply_add::<FUSED>(s * square, sum, 2.0 * s);
    multiply_add::<FUSED>(exponent, LN2_HIGH, multiply_add::<FUSED>(exponent, LN2_LOW, series))
}

#[inline(always)]
fn x_ln_x_one<const FUSED: bool>(x: f64) -> f64 {
    let product = x * ln_one::<FUSED>(x);
    if x < f64::MIN_POSITIVE { 0.0 } else { product }
}

/// ln x, where an x below the normal range counts as the smallest normal number.
#[inline(always)]
fn floored_ln_one<const FUSED: bool>(x: f64) -> f64 {
    ln_one::<FUSED>(if x < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { x })
}

/// Replaces each entry `x` by `exp((x - shift) · scale)` and returns the sum of the results.
///
/// About 2 ulp; results below the normal range are zero, −∞ gives 0, NaN stays NaN.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn exp_shifted(values: &mut [f64], shift: f64, scale: f64) -> f64 {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let mut sums = [0.0; 8];
    let mut chunks = values.chunks_exact_mut(8);
    for chunk in &mut chunks {
        for (value, sum) in chunk.iter_mut().zip(&mut sums) {
            *value = exp_one::<FUSED>((*value - shift) * scale);
            *sum += *value;
        }
    }
    let mut total: f64 = sums.iter().sum();
    for value in chunks.into_remainder() {
        *value = exp_one::<FUSED>((*value - shift) * scale);
        total += *value;
    }
    total
}

/// Returns `Σ γ c` and `Σ γ ln γ` over one row; entries with γ = 0 count as zero even where c = ∞.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn cost_and_negentropy(plan: &[f64], cost: &[f64]) -> (f64, f64) {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let mut costs = [0.0; 8];
    let mut entropies = [0.0; 8];
    let plan_chunks = plan.chunks_exact(8);
    let cost_chunks = cost.chunks_exact(8);
    let (plan_rest, cost_rest) = (plan_chunks.remainder(), cost_chunks.remainder());
    for (gammas, prices) in plan_chunks.zip(cost_chunks) {
        for lane in 0..8 {
            let gamma = gammas[lane];
            costs[lane] += if gamma > 0.0 { gamma * prices[lane] } else { 0.0 };
            entropies[lane] += x_ln_x_one::<FUSED>(gamma);
        }
    }
    let mut total_cost: f64 = costs.iter().sum();
    let mut total_entropy: f64 = entropies.iter().sum();
    for (&gamma, &price) in plan_rest.iter().zip(cost_rest) {
        total_cost += if gamma > 0.0 { gamma * price } else { 0.0 };
        total_entropy += x_ln_x_one::<FUSED>(gamma);
    }
    (total_cost, total_entropy)
}

/// `values -= weight · ln masses`, masses below the normal range counting as the smallest normal number.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn subtract_logarithms(values: &mut [f64], masses: &[f64], weight: f64) {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    for (value, &mass) in values.iter_mut().zip(masses) {
        *value -= weight * floored_ln_one::<FUSED>(mass);
    }
}

/// Σ (to − from) cost, where a pair whose mass does not change counts as zero even if it is forbidden, and
/// the slopes of Σ γ ln γ at both ends.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn end_slopes(from: &[f64], to: &[f64], cost: &[f64]) -> [f64; 3] {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let mut sums = [[0.0; 8]; 3];
    let add = |sums: &mut [[f64; 8]; 3], lane: usize, from: f64, to: f64, cost: f64| {
        let change = to - from;
        sums[0][lane] += if change == 0.0 { 0.0 } else { change * cost };
        sums[1][lane] += change * floored_ln_one::<FUSED>(from);
        sums[2][lane] += change * floored_ln_one::<FUSED>(to);
    };
    let chunks = from.chunks_exact(8).zip(to.chunks_exact(8)).zip(cost.chunks_exact(8));
    for ((from, to), cost) in chunks {
        for lane in 0..8 {
            add(&mut sums, lane, from[lane], to[lane], cost[lane]);
        }
    }
    let done = from.len() / 8 * 8;
    for ((&from, &to), &cost) in from[done..].iter().zip(&to[done..]).zip(&cost[done..]) {
        add(&mut sums, 0, from, to, cost);
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// Σ (to − from) ln(from + step (to − from)): the slope of Σ γ ln γ on a segment of plans of equal mass.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn slope_of_negentropy(from: &[f64], to: &[f64], step: f64) -> f64 {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let term = |from: f64, to: f64| {
        let change = to - from;
        change * floored_ln_one::<FUSED>(multiply_add::<FUSED>(step, change, from))
    };
    let mut sums = [0.0; 8];
    let (from_chunks, to_chunks) = (from.chunks_exact(8), to.chunks_exact(8));
    let rest: f64 = from_chunks
        .remainder()
        .iter()
        .zip(to_chunks.remainder())
        .map(|(&from, &to)| term(from, to))
        .sum();
    for (from, to) in from_chunks.zip(to_chunks) {
        for lane in 0..8 {
            sums[lane] += term(from[lane], to[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these values are exact")]
mod tests {
    use super::*;

    fn exp(x: f64) -> f64 {
        let mut values = [x; 9];
        exp_shifted(&mut values, 0.0, 1.0);
        assert!(
            values.iter().all(|v| v.to_bits() == values[0].to_bits()),
            "remainder differs at {x}"
        );
        values[0]
    }

    #[test]
    fn agrees_with_the_standard_library_over_the_normal_range() {
        let steps = 400_000;
        for k in 0..=steps {
            let x = -708.39 + f64::from(k) * (1417.4 / f64::from(steps));
            let (ours, reference) = (exp(x), x.exp());
            assert!(
                (ours - reference).abs() <= 4.5e-16 * reference,
                "exp({x}) = {ours}, not {reference}"
            );
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
    }

    #[test]
    fn underflows_to_zero_and_overflows_to_infinity() {
        for x in [-708.4, -745.0, -1e4, -1e300, f64::NEG_INFINITY] {
            assert_eq!(exp(x), 0.0, "exp({x})");
        }
        for x in [710.0, 1e300, f64::INFINITY] {
            assert_eq!(exp(x), f64::INFINITY, "exp({x})");
        }
    }

    #[test]
    fn nan_stays_nan() {
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn returns_the_sum_of_the_exponentials() {
        let mut values: Vec<f64> = (0..21).map(|k| -0.3 * f64::from(k)).collect();
        let sum = exp_shifted(&mut values, -1.0, 2.0);
        let expected: f64 = (0..21).map(|k| (2.0 * (1.0 - 0.3 * f64::from(k))).exp()).sum();
        assert!((sum - expected).abs() < 1e-14 * expected);
    }

    #[test]
    fn negentropy_agrees_with_the_standard_library() {
        let mut x = 1e-307;
        while x < 1e300 {
            let (_, ours) = cost_and_negentropy(&[x], &[0.0]);
            let reference = x * x.ln();
            assert!(
                (ours - reference).abs() <= 1e-15 * reference.abs(),
                "{x}: {ours}, not {reference}"
            );
            x *= 1.003_1;
        }
        assert_eq!(cost_and_negentropy(&[1.0; 9], &[2.0; 9]), (18.0, 0.0));
        assert_eq!(cost_and_negentropy(&[0.0; 9], &[f64::INFINITY; 9]), (0.0, 0.0));
    }
}
