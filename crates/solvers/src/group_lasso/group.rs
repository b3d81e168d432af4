//! One group of the plan, γ(I_c, j), in closed form up to a scalar root.
//! The maximum over γ of ⟨s, γ⟩ − λ Σ γ (ln γ − 1) − η ‖γ‖ is where λ ln γ_i + η γ_i/‖γ‖ = s_i. With γ = exp(ρ) p
//! (ρ the logarithm of the norm, ‖p‖ = 1), z = s/λ and κ = η/λ this says κ p_i = ω(z_i − ρ + ln κ), ω
//! being Wright's omega function, so that ρ is the root of ‖ω‖ = κ. Adding t to all z adds t to ρ and leaves p.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::wright_omega::{Refined, refine, rough_logarithm};
use crate::elementary::ln_one;

/// Groups of one class that are solved side by side.
pub(super) const LANES: usize = 8;
pub(super) type Lanes = [f64; LANES];

/// Stands for −∞, which has no differences.
pub(super) const FLOOR: f64 = -1e300;
/// A step of ρ of this length is followed by its second-order change of ω; Newton's method leaves the square of it.
const LAST_STEP: f64 = 3e-7;
/// After a longer move ω is computed anew instead of from its last value;
const LONGEST_MOVE: f64 = 0.5;
/// after steps of this length the refined ω is exact.
const EXACT_AFTER: f64 = 2e-3;
/// A rough ω does not tell on which side a root closer than this lies.
const DOUBT: f64 = 1e-2;
/// Logarithm of the share of κ below which an ω is without any weight in its group.
const WEIGHTLESS: f64 = -39.0;
const STEPS: usize = 100;

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

/// What `solve_groups` finds.
pub(super) struct Groups {
    /// ρ − max z.
    pub(super) offsets: Lanes,
    /// Σ p.
    pub(super) sums: Lanes,
}

/// Groups of one class: an entry for each source sample, with a lane for each group.
pub(super) struct Batch<'a> {
    /// z − max z, replaced by p.
    pub(super) entries: &'a mut [Lanes],
    /// The logarithms of ω for nearby z if `is_warm`, replaced by those for z.
    pub(super) logarithms: &'a mut [Lanes],
    pub(super) omegas: &'a mut [Lanes],
    /// Offsets to start from.
    pub(super) guesses: Lanes,
    pub(super) is_warm: bool,
}

/// Solves the groups of a batch; `bounds` are those of [`Ratio::offsets`].
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn solve_groups(batch: Batch<'_>, ratio: Ratio, bounds: (f64, f64)) -> Groups {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let Batch { entries, logarithms, omegas, guesses, is_warm } = batch;
    let Ratio { kappa, ln_kappa } = ratio;
    let weightless = ln_kappa + WEIGHTLESS;
    let (mut low, mut high) = ([bounds.0; LANES], [bounds.1; LANES]);
    let mut offsets =
        guesses.map(|guess| if guess >= bounds.0 && guess <= bounds.1 { guess } else { bounds.1 });
    let mut changes = [0.0; LANES];
    let mut is_rough = !is_warm;
    for _ in 0..STEPS {
        let bases = offsets.map(|offset| ln_kappa - offset);
        if is_rough {
            for (logarithms, &z) in logarithms.iter_mut().zip(entries.iter()) {
                let mut rough = [0.0; LANES];
                for lane in 0..LANES {
                    rough[lane] = rough_logarithm::<FUSED>(z[lane] + bases[lane]);
                }
                *logarithms = rough;
            }
        }
        let mut squares = [0.0; LANES];
        let mut cubes = [0.0; LANES];
        let mut slopes = [0.0; LANES];
        let mut farthest = [0.0; LANES];
        for ((&z, logarithms), omegas) in
            entries.iter().zip(logarithms.iter_mut()).zip(omegas.iter_mut())
        {
            // Copies: the compiler sees that they do not overlap, and uses vectors.
            let known = *logarithms;
            let (mut refined, mut found) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                let Refined { logarithm, omega, response, step } =
                    refine::<FUSED>(z[lane] + bases[lane], known[lane]);
                refined[lane] = logarithm;
                found[lane] = omega;
                let square = omega * omega;
                squares[lane] += square;
                cubes[lane] += square * omega;
                slopes[lane] += square * response;
                let length = if logarithm > weightless { step.abs() } else { 0.0 };
                farthest[lane] = if length > farthest[lane] { length } else { farthest[lane] };
            }
            *logarithms = refined;
            *omegas = found;
        }
        // The series does not reach farther; what it makes of an overflow is not a number.
        let is_near = (farthest.iter().zip(&squares))
            .all(|(&length, &square)| length <= LONGEST_MOVE && square < f64::INFINITY);
        if !is_rough && !is_near {
            is_rough = true;
            continue;
        }
        let mut is_last = true;
        let mut longest = 0.0_f64;
        let mut moved = offsets;
        let mut steps = [0.0; LANES];
        for lane in 0..LANES {
            let (square, offset) = (squares[lane], offsets[lane]);
            let norm = square.sqrt();
            // φ(‖ω‖) = t ‖ω‖ + ln ‖ω‖ is almost linear in ρ: exactly so if all entries that matter are alike.
            let t = cubes[lane] / (square * norm);
            let excess = t * (norm - kappa) + ln_one::<FUSED>(norm / kappa);
            let step = excess * square / ((t * norm + 1.0) * slopes[lane]);
            let is_exact = farthest[lane] <= EXACT_AFTER;
            if is_exact || step.abs() > DOUBT {
                *(if excess > 0.0 { &mut low[lane] } else { &mut high[lane] }) = offset;
            }
            is_last &= is_exact && step.abs() <= LAST_STEP + 4.0 * f64::EPSILON * offset.abs();
            let next = offset + step;
            let is_inside = next >= low[lane] && next <= high[lane];
            moved[lane] = if is_inside { next } else { f64::midpoint(low[lane], high[lane]) };
            steps[lane] = step;
            longest = longest.max((moved[lane] - offset).abs());
        }
        if is_last {
            changes = steps;
            break;
        }
        is_rough = longest > LONGEST_MOVE;
        offsets = moved;
    }
    let scale = 1.0 / kappa;
    let mut sums = [0.0; LANES];
    for (entries, &omegas) in entries.iter_mut().zip(omegas.iter()) {
        let mut shares = [0.0; LANES];
        for lane in 0..LANES {
            let (omega, change) = (omegas[lane], changes[lane]);
            let response = 1.0 / (1.0 + omega);
            let first = change * response;
            shares[lane] = scale * omega * (1.0 - first + 0.5 * first * first * response);
            sums[lane] += shares[lane];
        }
        *entries = shares;
    }
    for lane in 0..LANES {
        offsets[lane] += changes[lane];
    }
    Groups { offsets, sums }
}
