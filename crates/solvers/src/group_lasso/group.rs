//! One group of the plan, γ(I_c, j), in closed form up to a scalar root.
//! The maximum over γ of ⟨s, γ⟩ − λ Σ γ (ln γ − 1) − η ‖γ‖ is where λ ln γ_i + η γ_i/‖γ‖ = s_i. With γ = exp(ρ) p
//! (ρ the logarithm of the norm, ‖p‖ = 1), z = s/λ and κ = η/λ this says κ p_i = ω(z_i − ρ + ln κ), ω
//! being Wright's omega function, so that ρ is the root of ‖ω‖ = κ. Adding t to all z adds t to ρ and leaves p.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::wright_omega::{refine, rough_wright_omega, shift};

/// Groups are padded with −∞ to a multiple of this.
pub(super) const LANES: usize = 4;
/// A step of this length is followed by its first-order change of ω, whose error is the square of it.
const LAST_STEP: f64 = 1e-8;
/// After a longer step ω is computed anew instead of from its last value;
const LONGEST_SHIFT: f64 = 1.0;
/// after one of this length the refined ω is exact.
const SAFE_SHIFT: f64 = 1e-3;
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

/// What `solve_group` finds.
pub(super) struct Group {
    /// ρ − max z.
    pub(super) offset: f64,
    /// Σ p.
    pub(super) sum: f64,
}

/// Replaces z − max z of one group by p. `guess` is an offset to start from, `bounds` those of
/// [`Ratio::offsets`].
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn solve_group(
    entries: &mut [f64],
    omegas: &mut [f64],
    ratio: Ratio,
    bounds: (f64, f64),
    guess: f64,
) -> Group {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let Ratio { kappa, ln_kappa } = ratio;
    let (mut low, mut high) = bounds;
    let mut offset = if guess >= low && guess <= high { guess } else { high };
    // How far z moved since ω was computed.
    let mut move_since = f64::INFINITY;
    let mut change = 0.0;
    for _ in 0..STEPS {
        let base = ln_kappa - offset;
        let pairs = omegas.iter_mut().zip(entries.iter());
        if move_since.abs() <= LONGEST_SHIFT {
            for (omega, z) in pairs {
                *omega = refine::<FUSED>(z + base, shift(*omega, move_since));
            }
        } else {
            for (omega, z) in pairs {
                *omega = rough_wright_omega::<FUSED>(z + base);
            }
        }
        let mut squares = [0.0; LANES];
        let mut cubes = [0.0; LANES];
        let mut slopes = [0.0; LANES];
        for omegas in omegas.chunks_exact(LANES) {
            for lane in 0..LANES {
                let omega = omegas[lane];
                let square = omega * omega;
                squares[lane] += square;
                cubes[lane] += square * omega;
                slopes[lane] += square / (1.0 + omega);
            }
        }
        let sum = |lanes: [f64; LANES]| lanes.iter().sum::<f64>();
        let (square, cube, slope) = (sum(squares), sum(cubes), sum(slopes));
        let norm = square.sqrt();
        // φ(‖ω‖) = t ‖ω‖ + ln ‖ω‖ is almost linear in ρ: exactly so if all entries that matter are alike.
        let t = cube / (square * norm);
        let excess = t * (norm - kappa) + (norm / kappa).ln();
        let step = excess * square / ((t * norm + 1.0) * slope);
        let is_exact = move_since.abs() <= SAFE_SHIFT;
        // A rough ω does not tell on which side a root nearby lies.
        if is_exact || step.abs() > SAFE_SHIFT {
            *(if excess > 0.0 { &mut low } else { &mut high }) = offset;
        }
        if is_exact && step.abs() <= LAST_STEP + 4.0 * f64::EPSILON * offset.abs() {
            change = step;
            break;
        }
        let next = offset + step;
        let next = if next >= low && next <= high { next } else { f64::midpoint(low, high) };
        move_since = offset - next;
        offset = next;
    }
    let scale = 1.0 / kappa;
    let mut sums = [0.0; LANES];
    for (entries, omegas) in entries.chunks_exact_mut(LANES).zip(omegas.chunks_exact(LANES)) {
        for lane in 0..LANES {
            let omega = omegas[lane];
            let moved = omega - change * omega / (1.0 + omega);
            entries[lane] = moved * scale;
            sums[lane] += entries[lane];
        }
    }
    Group { offset: offset + change, sum: sums.iter().sum() }
}
