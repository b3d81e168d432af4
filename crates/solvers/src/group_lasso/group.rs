//! One group of the plan, γ(I_c, j), in closed form up to a scalar root.
//! The maximum over γ of ⟨s, γ⟩ − λ Σ γ (ln γ − 1) − η ‖γ‖ is where λ ln γ_i + η γ_i/‖γ‖ = s_i. With γ = exp(ρ) p
//! (ρ the logarithm of the norm, ‖p‖ = 1), z = s/λ and κ = η/λ this says κ p_i = ω(z_i − ρ + ln κ), ω
//! being Wright's omega function, so that ρ is the root of ‖ω‖ = κ. Adding t to all z adds t to ρ and leaves p.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::wright_omega::{Refined, refine, rough_logarithm};
use crate::real::Real;

/// After a longer move of ρ its ω is computed anew instead of from its last value.
const LONGEST_MOVE: f64 = 0.5;
/// A rough ω does not tell on which side a root closer than this lies.
const DOUBT: f64 = 1e-2;
/// Logarithm of the share of κ below which an ω is without any weight in its group.
const WEIGHTLESS: f64 = -39.0;
const STEPS: usize = 100;

/// A precision in which groups are solved, `LANES` of one class side by side.
pub(super) trait GroupReal<const LANES: usize>: Real {
    /// Stands for −∞, which has no differences.
    const FLOOR: f64;
    /// A step of ρ of this length is followed by its second-order change of ω; Newton's method leaves the square of it.
    const LAST_STEP: f64;
    /// After steps of this length the refined ω is exact.
    const EXACT_AFTER: f64;

    /// Solves the groups of a batch; `bounds` are those of [`Ratio::offsets`].
    fn solve_groups(
        batch: Batch<'_, Self, LANES>,
        ratio: Ratio,
        bounds: (f64, f64),
    ) -> Groups<Self, LANES>;
}

impl GroupReal<8> for f64 {
    const FLOOR: f64 = -1e300;
    const LAST_STEP: f64 = 3e-7;
    const EXACT_AFTER: f64 = 2e-3;

    fn solve_groups(batch: Batch<'_, f64, 8>, ratio: Ratio, bounds: (f64, f64)) -> Groups<f64, 8> {
        solve_in_double(batch, ratio, bounds)
    }
}

impl GroupReal<16> for f32 {
    const FLOOR: f64 = -1e30;
    const LAST_STEP: f64 = 3e-4;
    const EXACT_AFTER: f64 = 3e-2;

    fn solve_groups(
        batch: Batch<'_, f32, 16>,
        ratio: Ratio,
        bounds: (f64, f64),
    ) -> Groups<f32, 16> {
        solve_in_single(batch, ratio, bounds)
    }
}

/// κ, with what all groups of a problem derive from it.
#[derive(Clone, Copy)]
pub(super) struct Ratio {
    pub(super) kappa: f64,
    ln_kappa: f64,
}

impl Ratio {
    /// A κ below this changes nothing in the digits of f64, and a positive one needs no special case.
    const SMALLEST: f64 = 1e-18;

    pub(super) fn new(entropy_weight: f64, regularization_weight: f64) -> Self {
        let kappa = (regularization_weight / entropy_weight).max(Self::SMALLEST);
        Self { kappa, ln_kappa: kappa.ln() }
    }

    /// Bounds of ρ − max z of a group of this size: one entry, or all alike. A little wider, so that rounding
    /// does not put a root at a bound beyond it.
    pub(super) fn offsets(self, size: usize) -> (f64, f64) {
        let root = (size as f64).sqrt();
        let slack = 1e-3 + 1e-12 * self.kappa;
        (-self.kappa - slack, root.ln() - self.kappa / root + slack)
    }
}

/// What [`GroupReal::solve_groups`] finds.
pub(super) struct Groups<T, const LANES: usize> {
    /// ρ − max z.
    pub(super) offsets: [T; LANES],
    /// Σ p of the p that were found, with all digits: columns are scaled by it to their masses.
    pub(super) sums: [f64; LANES],
}

/// Groups of one class: an entry for each source sample, with a lane for each group.
pub(super) struct Batch<'a, T, const LANES: usize> {
    /// z − max z, replaced by p.
    pub(super) entries: &'a mut [[T; LANES]],
    /// The logarithms of ω for nearby z if `is_warm`, replaced by those for z.
    pub(super) logarithms: &'a mut [[T; LANES]],
    pub(super) omegas: &'a mut [[T; LANES]],
    /// Offsets to start from.
    pub(super) guesses: [T; LANES],
    pub(super) is_warm: bool,
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn solve_in_double(batch: Batch<'_, f64, 8>, ratio: Ratio, bounds: (f64, f64)) -> Groups<f64, 8> {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    solve::<f64, 8, FUSED>(batch, ratio, bounds)
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn solve_in_single(batch: Batch<'_, f32, 16>, ratio: Ratio, bounds: (f64, f64)) -> Groups<f32, 16> {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    solve::<f32, 16, FUSED>(batch, ratio, bounds)
}

#[inline(always)]
fn solve<T: GroupReal<LANES>, const LANES: usize, const FUSED: bool>(
    batch: Batch<'_, T, LANES>,
    ratio: Ratio,
    bounds: (f64, f64),
) -> Groups<T, LANES> {
    let Batch { entries, logarithms, omegas, guesses, is_warm } = batch;
    let (kappa, ln_kappa) = (T::of(ratio.kappa), T::of(ratio.ln_kappa));
    let (zero, one) = (T::ZERO, T::ONE);
    let weightless = ln_kappa + T::of(WEIGHTLESS);
    let (longest_move, doubt) = (T::of(LONGEST_MOVE), T::of(DOUBT));
    let (last_step, exact_after) = (T::of(T::LAST_STEP), T::of(T::EXACT_AFTER));
    let (half, rounding) = (T::of(0.5), T::of(4.0) * T::EPSILON);
    let (lowest, highest) = (T::of(bounds.0), T::of(bounds.1));
    let (mut low, mut high) = ([lowest; LANES], [highest; LANES]);
    let mut offsets =
        guesses.map(|guess| if guess >= lowest && guess <= highest { guess } else { highest });
    let mut changes = [zero; LANES];
    let mut is_rough = !is_warm;
    for _ in 0..STEPS {
        let bases = offsets.map(|offset| ln_kappa - offset);
        if is_rough {
            for (logarithms, &z) in logarithms.iter_mut().zip(entries.iter()) {
                let mut rough = [zero; LANES];
                for lane in 0..LANES {
                    rough[lane] = rough_logarithm::<T, FUSED>(z[lane] + bases[lane]);
                }
                *logarithms = rough;
            }
        }
        let mut squares = [zero; LANES];
        let mut cubes = [zero; LANES];
        let mut slopes = [zero; LANES];
        let mut farthest = [zero; LANES];
        for ((&z, logarithms), omegas) in
            entries.iter().zip(logarithms.iter_mut()).zip(omegas.iter_mut())
        {
            // Copies: the compiler sees that they do not overlap, and uses vectors.
            let known = *logarithms;
            let (mut refined, mut found) = ([zero; LANES], [zero; LANES]);
            for lane in 0..LANES {
                let Refined { logarithm, omega, response, step } =
                    refine::<T, FUSED>(z[lane] + bases[lane], known[lane]);
                refined[lane] = logarithm;
                found[lane] = omega;
                let square = omega * omega;
                squares[lane] += square;
                cubes[lane] += square * omega;
                slopes[lane] += square * response;
                let length = if logarithm > weightless { step.abs() } else { zero };
                farthest[lane] = if length > farthest[lane] { length } else { farthest[lane] };
            }
            *logarithms = refined;
            *omegas = found;
        }
        // The series does not reach farther; what it makes of an overflow is not a number.
        let is_near = (farthest.iter().zip(&squares))
            .all(|(&length, &square)| length <= longest_move && square < T::INFINITY);
        if !is_rough && !is_near {
            is_rough = true;
            continue;
        }
        // No branches, so that the compiler uses vectors here, too.
        let mut moved = offsets;
        let (mut steps, mut remaining, mut moves) = ([zero; LANES], [zero; LANES], [zero; LANES]);
        for lane in 0..LANES {
            let (square, offset) = (squares[lane], offsets[lane]);
            let norm = square.sqrt();
            // φ(‖ω‖) = t ‖ω‖ + ln ‖ω‖ is almost linear in ρ: exactly so if all entries that matter are alike.
            let t = cubes[lane] / (square * norm);
            let excess = t * (norm - kappa) + (norm / kappa).ln_one::<FUSED>();
            let step = excess * square / ((t * norm + one) * slopes[lane]);
            let is_exact = farthest[lane] <= exact_after;
            let is_beyond_doubt = is_exact || step.abs() > doubt;
            low[lane] = if is_beyond_doubt && excess > zero { offset } else { low[lane] };
            high[lane] = if is_beyond_doubt && excess <= zero { offset } else { high[lane] };
            let excess_of_step = step.abs() - rounding * offset.abs();
            remaining[lane] = if is_exact { excess_of_step } else { T::INFINITY };
            let next = offset + step;
            let is_inside = next >= low[lane] && next <= high[lane];
            moved[lane] = if is_inside { next } else { half * (low[lane] + high[lane]) };
            steps[lane] = step;
            moves[lane] = (moved[lane] - offset).abs();
        }
        let is_last = remaining.iter().all(|step| *step <= last_step);
        if is_last {
            changes = steps;
            break;
        }
        is_rough = moves.iter().any(|length| *length > longest_move);
        offsets = moved;
    }
    let scale = one / kappa;
    let mut sums = [0.0; LANES];
    for (entries, &omegas) in entries.iter_mut().zip(omegas.iter()) {
        let mut shares = [zero; LANES];
        for lane in 0..LANES {
            let (omega, change) = (omegas[lane], changes[lane]);
            let response = one / (one + omega);
            let first = change * response;
            shares[lane] = scale * omega * (one - first + half * first * first * response);
            sums[lane] += shares[lane].to_f64();
        }
        *entries = shares;
    }
    for lane in 0..LANES {
        offsets[lane] += changes[lane];
    }
    Groups { offsets, sums }
}

#[cfg(test)]
mod tests {
    use super::{Batch, GroupReal, Groups, Ratio};

    /// ρ − max z, p and Σ p of one group, from the bound and from a root nearby.
    fn solve<T: GroupReal<LANES>, const LANES: usize>(
        z: &[f64],
        kappa: f64,
    ) -> (f64, Vec<f64>, f64) {
        let ratio = Ratio::new(1.0, kappa);
        let bounds = ratio.offsets(z.len());
        let mut entries: Vec<[T; LANES]> = z.iter().map(|&z| [T::of(z); LANES]).collect();
        let mut logarithms = vec![[T::ZERO; LANES]; z.len()];
        let batch = Batch {
            entries: &mut entries,
            logarithms: &mut logarithms,
            omegas: &mut vec![[T::ZERO; LANES]; z.len()],
            guesses: [T::of(f64::NAN); LANES],
            is_warm: false,
        };
        let Groups { offsets, sums } = T::solve_groups(batch, ratio, bounds);
        let shares = entries.iter().map(|lanes| lanes[LANES - 1].to_f64()).collect();
        (offsets[0].to_f64(), shares, sums[LANES - 1])
    }

    #[test]
    fn groups_solve_their_equation_and_single_precision_finds_the_same() {
        let spread: Vec<f64> = (0..20).map(|k| -0.3 * f64::from(k * k % 17)).collect();
        let alike = vec![0.0; 20];
        let single_entry: Vec<f64> = (0..20).map(|k| -200.0 * f64::from(k)).collect();
        for z in [spread, alike, single_entry] {
            for kappa in [1e-3, 0.1, 1.0, 30.0, 500.0] {
                let (offset, shares, sum) = solve::<f64, 8>(&z, kappa);
                let norm = shares.iter().map(|share| share * share).sum::<f64>().sqrt();
                assert!((norm - 1.0).abs() <= 1e-12, "κ = {kappa}: ‖p‖ = {norm}");
                for (z, share) in z.iter().zip(&shares).filter(|(_, share)| **share > 1e-200) {
                    // ln γ + κ p = z.
                    let residual = offset + share.ln() + kappa * share - z;
                    let size = 1.0 + kappa + z.abs();
                    assert!(residual.abs() <= 1e-11 * size, "κ = {kappa}, z = {z}: {residual:e}");
                }
                let (single_offset, single_shares, single_sum) = solve::<f32, 16>(&z, kappa);
                let error = (single_offset - offset).abs();
                assert!(error <= 4e-7 * (10.0 + kappa), "κ = {kappa}: ρ is off by {error:e}");
                assert!((single_sum - sum).abs() <= 3e-6 * sum, "κ = {kappa}: {single_sum}");
                for (share, single) in shares.iter().zip(&single_shares) {
                    assert!((share - single).abs() <= 3e-6, "κ = {kappa}: {share} and {single}");
                }
            }
        }
    }
}
