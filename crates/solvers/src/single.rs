//! `exp` and `ln` in single precision, for searches whose result double precision takes up.

/// exp of less counts as nothing: beside the largest of its sum it is, and products with it would be subnormal numbers,
/// which take processors many times as long.
const SMALLEST_EXPONENT: f32 = -40.0;
/// 1.5 · 2^23: adding it rounds to an integer and leaves that integer in the low bits.
const ROUNDER: f32 = 12_582_912.0;
/// ln 2 cut after 10 bits, so that its product with an exponent is exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Taylor's, from 1/6! down to 1/2!: 1.2e-7 where ln 2 / 2 is the largest argument.
const TAYLOR: [f32; 5] = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5];
/// 2/(2k+1) for k = 4, 3, 2, 1: the series of `2 atanh(s)` in s², without its first term; 1e-9 for s² ≤ 0.03.
const ATANH_COEFFICIENTS: [f32; 4] = [2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0];

/// Without the hardware instruction `mul_add` is a slow library call, so it is a compile-time choice.
#[inline(always)]
pub(crate) fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// exp(x) for x < 88 to a few units of 1e-7; below −40 nothing.
#[inline(always)]
pub(crate) fn exp_one<const FUSED: bool>(x: f32) -> f32 {
    let rounded = multiply_add::<FUSED>(x, std::f32::consts::LOG2_E, ROUNDER);
    let exponent = rounded - ROUNDER;
    let high = multiply_add::<FUSED>(-exponent, LN2_HIGH, x);
    let rest = multiply_add::<FUSED>(-exponent, LN2_LOW, high);
    let mut sum = TAYLOR[0];
    for &coefficient in &TAYLOR[1..] {
        sum = multiply_add::<FUSED>(sum, rest, coefficient);
    }
    let sum = multiply_add::<FUSED>(sum * rest, rest, rest) + 1.0;
    let result = sum * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    if x > SMALLEST_EXPONENT { result } else { 0.0 }
}

/// ln x for normal x > 0.
#[inline(always)]
pub(crate) fn ln_one<const FUSED: bool>(x: f32) -> f32 {
    // Shifting by the bits of √½ puts the mantissa into [√½, √2), where the series is short.
    const SQRT_HALF_BITS: u32 = 0x3f35_04f3;
    const EXPONENT_MASK: u32 = 0xff80_0000;
    const TWO_POW_23_BITS: u32 = 0x4b00_0000;
    const BIAS: f32 = 8_388_608.0 + 127.0;
    let bits = x.to_bits();
    let shifted = bits.wrapping_sub(SQRT_HALF_BITS).wrapping_add(127 << 23);
    let exponent = f32::from_bits((shifted >> 23) | TWO_POW_23_BITS) - BIAS;
    let mantissa =
        f32::from_bits(bits.wrapping_sub((shifted & EXPONENT_MASK).wrapping_sub(127 << 23)));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut sum = ATANH_COEFFICIENTS[0];
    for coefficient in &ATANH_COEFFICIENTS[1..] {
        sum = multiply_add::<FUSED>(sum, square, *coefficient);
    }
    let series = multiply_add::<FUSED>(s * square, sum, 2.0 * s);
    multiply_add::<FUSED>(exponent, LN2_HIGH, multiply_add::<FUSED>(exponent, LN2_LOW, series))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_exponentials_have_the_digits_of_single_precision() {
        for step in 0..40_000_u16 {
            let x = 0.003 * (f32::from(step) - 12_000.0);
            let power = exp_one::<true>(x);
            let expected = f64::from(x).exp();
            assert!((f64::from(power) - expected).abs() <= 4e-7 * expected, "exp({x}) = {power}");
            let logarithm = ln_one::<true>(power);
            let expected = f64::from(power).ln();
            let error = (f64::from(logarithm) - expected).abs();
            assert!(error <= 2e-7 * (expected.abs() + 0.5), "ln({power}) = {logarithm}");
        }
        assert_eq!(exp_one::<true>(-41.0), 0.0);
        assert_eq!(exp_one::<true>(f32::NEG_INFINITY), 0.0);
        assert_eq!(ln_one::<true>(1.0), 0.0);
    }
}
