//! The Wright omega function: the root ω > 0 of ω + ln ω = z.
//! A rational guess below z = 1 and an asymptotic one above it, then steps of the fourth-order
//! iteration of Fritsch, Shafer and Crowley (Communications of the ACM 16, 1973, algorithm 443).

use crate::elementary::{exp_one, ln_one, multiply_add};

/// Below this ω = eᶻ to the last digit.
const EXPONENTIAL_END: f64 = -37.0;

/// ω(z) to a few units in the last place; 0 for −∞ and wherever eᶻ is below the normal range.
#[cfg(test)]
pub(super) fn wright_omega<const FUSED: bool>(z: f64) -> f64 {
    refine::<FUSED>(z, rough_wright_omega::<FUSED>(z))
}

/// ω(z) to 1e-5; 0 for −∞ and wherever eᶻ is below the normal range.
#[inline(always)]
pub(super) fn rough_wright_omega<const FUSED: bool>(z: f64) -> f64 {
    let below = if z < 1.0 { z } else { 1.0 };
    let above = if z > 1.0 { z } else { 1.0 };
    // Lambert's W at eᶻ, as a Padé approximant.
    let t = exp_one::<FUSED>(below);
    let numerator = multiply_add::<FUSED>(t, multiply_add::<FUSED>(17.0, t, 114.0), 60.0);
    let denominator = multiply_add::<FUSED>(t, multiply_add::<FUSED>(101.0, t, 174.0), 60.0);
    let logarithm = ln_one::<FUSED>(above);
    let asymptotic = above - logarithm + logarithm / above;
    let guess = if z < 1.0 { t * numerator / denominator } else { asymptotic };
    let refined = refine::<FUSED>(z, guess);
    if z < EXPONENTIAL_END { t } else { refined }
}

/// ω at z + change from ω at z: for a small change to the cube of it.
#[inline(always)]
pub(super) fn shift(omega: f64, change: f64) -> f64 {
    // ln ω has the slope 1/(1 + ω); the fraction stands for an exponential.
    let successor = 1.0 + omega;
    omega * (successor + 0.5 * change) / (successor - 0.5 * change)
}

/// One step of the iteration: an error of 10⁻ᵏ becomes one of 10⁻⁴ᵏ.
#[inline(always)]
pub(super) fn refine<const FUSED: bool>(z: f64, omega: f64) -> f64 {
    let residual = z - omega - ln_one::<FUSED>(omega);
    let successor = 1.0 + omega;
    let curve = 2.0 * successor * multiply_add::<FUSED>(2.0 / 3.0, residual, successor);
    let ratio = residual * (curve - residual) / (successor * (curve - 2.0 * residual));
    let refined = multiply_add::<FUSED>(omega, ratio, omega);
    // Zero has no logarithm, and stays what it is.
    if omega < f64::MIN_POSITIVE { omega } else { refined }
}

#[cfg(test)]
mod tests {
    use super::{refine, shift, wright_omega};

    /// Computed with 50 digits.
    const REFERENCE: [(f64, f64); 25] = [
        (-700.0, 9.859_676_543_759_77e-305),
        (-300.5, 3.122_541_277_232_284_8e-131),
        (-100.0, 3.720_075_976_020_836e-44),
        (-37.5, 5.175_555_005_801_868e-17),
        (-36.5, 1.406_861_712_446_146_6e-16),
        (-20.0, 2.061_153_618_190_203_6e-9),
        (-5.0, 0.006_693_000_497_730_993),
        (-2.0, 0.120_028_238_987_641_23),
        (-1.0, 0.278_464_542_761_073_8),
        (-0.25, 0.481_288_466_397_586_44),
        (0.0, 0.567_143_290_409_783_8),
        (0.5, 0.766_248_608_161_750_2),
        (0.999, 0.999_500_062_505_208_1),
        (1.0, 1.0),
        (1.001, 1.000_500_062_494_791_3),
        (1.5, 1.264_959_720_125_500_5),
        (2.0, 1.557_145_598_997_611_4),
        (3.0, 2.207_940_031_569_323),
        (5.0, 3.693_441_358_960_649_8),
        (10.0, 7.929_420_095_019_697),
        (50.0, 46.167_719_165_492_09),
        (1_000.0, 993.099_169_472_389_1),
        (12_345.678, 12_336.257_702_014_174),
        (1_000_000.0, 999_986.184_503_257_6),
        (100_000_000.0, 99_999_981.579_319_44),
    ];

    #[test]
    fn agrees_with_a_reference_of_high_precision() {
        for (z, expected) in REFERENCE {
            for omega in [wright_omega::<true>(z), wright_omega::<false>(z)] {
                let error = (omega - expected).abs() / expected;
                // ω is as uncertain as its logarithm, hence as z, is in absolute terms.
                assert!(error <= 1e-15 + 2e-16 * z.abs(), "ω({z}) = {omega}, not {expected}");
            }
        }
    }

    #[test]
    fn solves_its_equation_everywhere() {
        for step in 0..200_000 {
            let z = -700.0 + 0.005 * f64::from(step);
            let omega = wright_omega::<true>(z);
            let residual = omega + omega.ln() - z;
            assert!(residual.abs() <= 4e-16 * (4.0 + z.abs()), "{z}: {residual:e}");
        }
    }

    #[test]
    fn minus_infinity_gives_zero() {
        assert_eq!(wright_omega::<true>(f64::NEG_INFINITY), 0.0);
        assert_eq!(wright_omega::<true>(-1e4), 0.0);
    }

    #[test]
    fn a_shifted_value_is_refined_to_the_exact_one() {
        for z in [-30.0, -3.0, 0.0, 0.9, 1.1, 4.0, 300.0] {
            for change in [-1.0, -0.1, 1e-3, 0.5, 1.0] {
                let expected = wright_omega::<true>(z + change);
                let once = refine::<true>(z + change, shift(wright_omega::<true>(z), change));
                assert!((once - expected).abs() <= 1e-4 * expected, "{z}, {change}: {once}");
                let twice = refine::<true>(z + change, once);
                assert!((twice - expected).abs() <= 1e-14 * expected, "{z}, {change}: {twice}");
            }
        }
    }
}
