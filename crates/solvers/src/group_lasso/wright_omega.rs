//! The Wright omega function by its logarithm: the root y of y + eʸ = x, and ω = eʸ > 0.
//! A rational guess below x = 1 and an asymptotic one above it, then steps of the inverse series of y + eʸ to the fourth
//! power, in which the only division is by 1 + ω. The function is that of Corless and Jeffrey (The Wright ω function, 2002).

use crate::real::Real;

/// The logarithm of ω(x) to a tenth; x itself wherever eˣ is below the normal range.
#[inline(always)]
pub(super) fn rough_logarithm<T: Real, const FUSED: bool>(x: T) -> T {
    let one = T::ONE;
    let polynomial = |t: T, [second, first, constant]: [f64; 3]| {
        let inner = T::of(second).multiply_add::<FUSED>(t, T::of(first));
        t.multiply_add::<FUSED>(inner, T::of(constant))
    };
    let below = if x < one { x } else { one };
    let above = if x > one { x } else { one };
    // Lambert's W at eˣ, as a Padé approximant.
    let t = below.exp_one::<FUSED>();
    let numerator = polynomial(t, [17.0, 114.0, 60.0]);
    let denominator = polynomial(t, [101.0, 174.0, 60.0]);
    let logarithm = above.ln_one::<FUSED>();
    let asymptotic = logarithm - logarithm / above;
    if x < one { x - t * numerator / denominator } else { asymptotic }
}

/// What one step makes of a logarithm of ω.
pub(super) struct Refined<T> {
    pub(super) logarithm: T,
    pub(super) omega: T,
    /// 1/(1 + ω), roughly.
    pub(super) response: T,
    /// The first-order change of the logarithm: what remains afterwards is about its fifth power.
    pub(super) step: T,
}

/// One step towards ω(x) from an approximate logarithm of it.
#[inline(always)]
pub(super) fn refine<T: Real, const FUSED: bool>(x: T, logarithm: T) -> Refined<T> {
    let fused = |a: T, b: T, c: T| a.multiply_add::<FUSED>(b, c);
    let omega = logarithm.exp_one::<FUSED>();
    let response = T::ONE / (T::ONE + omega);
    let step = (x - logarithm - omega) * response;
    // δ + q (e^δ − 1 − δ) = step, solved for δ as a series in the step.
    let q = omega * response;
    let fourth = q * fused(q, fused(T::of(-5.0 / 8.0), q, T::of(5.0 / 12.0)), T::of(-1.0 / 24.0));
    let third = q * fused(T::of(0.5), q, T::of(-1.0 / 6.0));
    let tail = fused(fused(fourth, step, third), step, T::of(-0.5) * q);
    let change = fused(tail * step, step, step);
    // e^δ − 1.
    let series = fused(change, T::of(1.0 / 24.0), T::of(1.0 / 6.0));
    let series = fused(change, fused(change, series, T::of(0.5)), T::ONE);
    let growth = change * series;
    let shrink = q * growth;
    Refined {
        logarithm: logarithm + change,
        omega: fused(omega, growth, omega),
        response: response * fused(shrink, shrink - T::ONE, T::ONE),
        step,
    }
}

#[cfg(test)]
mod tests {
    use super::{refine, rough_logarithm};

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

    /// ω(x) after three steps from the rough guess.
    fn wright_omega<const FUSED: bool>(x: f64) -> f64 {
        let start = rough_logarithm::<f64, FUSED>(x);
        let once = refine::<f64, FUSED>(x, start).logarithm;
        let twice = refine::<f64, FUSED>(x, once).logarithm;
        refine::<f64, FUSED>(x, twice).omega
    }

    #[test]
    fn agrees_with_a_reference_of_high_precision() {
        for (x, expected) in REFERENCE {
            for omega in [wright_omega::<true>(x), wright_omega::<false>(x)] {
                let error = (omega - expected).abs() / expected;
                // ω is as uncertain as its logarithm, hence as x, is in absolute terms.
                assert!(error <= 2e-15 + 2e-16 * x.abs(), "ω({x}) = {omega}, not {expected}");
            }
        }
    }

    #[test]
    fn solves_its_equation_everywhere() {
        for step in 0..200_000 {
            let x = -700.0 + 0.005 * f64::from(step);
            let omega = wright_omega::<true>(x);
            let residual = omega + omega.ln() - x;
            assert!(residual.abs() <= 8e-16 * (4.0 + x.abs()), "{x}: {residual:e}");
        }
    }

    #[test]
    fn what_is_far_below_zero_gives_zero() {
        assert_eq!(wright_omega::<true>(-1e300), 0.0);
        assert_eq!(wright_omega::<true>(-1e4), 0.0);
    }

    #[test]
    fn a_step_leaves_about_its_fifth_power() {
        for x in [-30.0, -3.0, 0.0, 0.9, 1.1, 4.0, 300.0] {
            let exact = wright_omega::<true>(x).ln();
            for distance in [-0.4, -0.1, 1e-3, 0.1, 0.4] {
                let refined = refine::<f64, true>(x, exact + distance);
                let size = refined.step.abs().max(f64::abs(distance));
                let error = (refined.omega.ln() - exact).abs();
                assert!(
                    error <= 0.5 * size.powi(5) + 1e-14 + 4e-16 * x.abs(),
                    "{x}, {distance}: {error:e}"
                );
                let response = (refined.response * (1.0 + refined.omega) - 1.0).abs();
                assert!(response <= 2.0 * size.powi(3) + 1e-15, "{x}, {distance}: {response:e}");
            }
        }
    }
}
