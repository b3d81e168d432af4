//! The two passes over all samples that a step of sequential minimal optimisation makes, vectorised: it spends
//! its time in them.
//!
//! A sample that must not move has an infinite gate instead of a branch. Multiplications and additions are not
//! fused, so that every instruction set gives the same bits; of equals the first sample wins.

use multiversion::multiversion;

/// Independent running bests: two vectors of four, whose comparisons do not wait for each other.
const LANES: usize = 8;
/// Kernels that are not positive definite to rounding get this curvature instead of none.
pub(crate) const LEAST_CURVATURE: f64 = 1e-12;

/// A sample and what it is the best in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best {
    pub(crate) sample: usize,
    pub(crate) value: f64,
}

/// The first largest value of each lane, with the block of samples that it stands in.
#[derive(Clone, Copy)]
struct LaneBests {
    values: [f64; LANES],
    blocks: [u64; LANES],
}

impl LaneBests {
    const NO_BLOCK: u64 = u64::MAX;

    #[inline(always)]
    fn above(least: f64) -> Self {
        Self { values: [least; LANES], blocks: [Self::NO_BLOCK; LANES] }
    }

    /// Without a branch, so that it is vectorised.
    #[inline(always)]
    fn offer(self, block: u64, values: [f64; LANES]) -> Self {
        let mut bests = self;
        for (lane, &value) in values.iter().enumerate() {
            let is_better = value > self.values[lane];
            bests.values[lane] = if is_better { value } else { self.values[lane] };
            bests.blocks[lane] = if is_better { block } else { self.blocks[lane] };
        }
        bests
    }

    fn best(&self) -> Option<Best> {
        let mut best: Option<Best> = None;
        for (lane, (&value, &block)) in self.values.iter().zip(&self.blocks).enumerate() {
            if block == Self::NO_BLOCK {
                continue;
            }
            let sample = usize::try_from(block).unwrap_or(usize::MAX) * LANES + lane;
            let is_better = best.is_none_or(|best| {
                value > best.value || (value == best.value && sample < best.sample)
            });
            if is_better {
                best = Some(Best { sample, value });
            }
        }
        best
    }
}

/// The last samples, which do not fill a block, with what never wins in the lanes that are left.
#[inline(always)]
fn padded(rest: &[f64], padding: f64) -> [f64; LANES] {
    let mut block = [padding; LANES];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// Takes `step` times (`rising` − `falling`) off the gradient and finds the sample that rises most steeply;
/// the gate is −∞ where β must not rise, else 0.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn descend_and_find_steepest(
    gradient: &mut [f64],
    rise_gate: &[f64],
    (rising, falling): (&[f64], &[f64]),
    step: f64,
) -> Option<Best> {
    let (gradient, gradient_rest) = gradient.as_chunks_mut::<LANES>();
    let (gate, gate_rest) = rise_gate.as_chunks::<LANES>();
    let (rising, rising_rest) = rising.as_chunks::<LANES>();
    let (falling, falling_rest) = falling.as_chunks::<LANES>();
    let mut bests = LaneBests::above(f64::NEG_INFINITY);
    let mut number = 0;
    for (((gradient, gate), rising), falling) in
        gradient.iter_mut().zip(gate).zip(rising).zip(falling)
    {
        let mut gated = [0.0; LANES];
        for lane in 0..LANES {
            gradient[lane] -= step * (rising[lane] - falling[lane]);
            gated[lane] = gradient[lane] + gate[lane];
        }
        bests = bests.offer(number, gated);
        number += 1;
    }
    let mut gated = [f64::NEG_INFINITY; LANES];
    for (lane, gradient) in gradient_rest.iter_mut().enumerate() {
        *gradient -= step * (rising_rest[lane] - falling_rest[lane]);
        gated[lane] = *gradient + gate_rest[lane];
    }
    bests.offer(number, gated).best()
}

/// The sample that is to rise, seen from the others.
#[derive(Clone, Copy)]
pub(crate) struct Riser<'a> {
    /// Its gradient.
    pub(crate) slope: f64,
    /// k(x, x).
    pub(crate) diagonal: f64,
    /// Its row of the kernel matrix.
    pub(crate) similarities: &'a [f64],
}

/// The sample whose fall against the riser gains most, if one gains, and the smallest gradient of those that
/// may fall; the gate is ∞ where β must not fall, else 0.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn find_partner(
    riser: Riser<'_>,
    gradient: &[f64],
    fall_gate: &[f64],
    diagonal: &[f64],
) -> (Option<Best>, f64) {
    let (gradient, gradient_rest) = gradient.as_chunks::<LANES>();
    let (gate, gate_rest) = fall_gate.as_chunks::<LANES>();
    let (diagonal, diagonal_rest) = diagonal.as_chunks::<LANES>();
    let (similarities, similarities_rest) = riser.similarities.as_chunks::<LANES>();
    let mut bests = LaneBests::above(0.0);
    let mut lowest = [f64::INFINITY; LANES];
    let mut number = 0;
    for (((gradient, gate), diagonal), similarities) in
        gradient.iter().zip(gate).zip(diagonal).zip(similarities)
    {
        let gains = gains(riser, gradient, gate, diagonal, similarities, &mut lowest);
        bests = bests.offer(number, gains);
        number += 1;
    }
    let gains = gains(
        riser,
        &padded(gradient_rest, 0.0),
        &padded(gate_rest, f64::INFINITY),
        &padded(diagonal_rest, 0.0),
        &padded(similarities_rest, 0.0),
        &mut lowest,
    );
    (bests.offer(number, gains).best(), lowest.into_iter().fold(f64::INFINITY, f64::min))
}

/// What the objective gains if the riser and each of these change by as much as is best.
#[inline(always)]
fn gains(
    riser: Riser<'_>,
    gradient: &[f64; LANES],
    gate: &[f64; LANES],
    diagonal: &[f64; LANES],
    similarities: &[f64; LANES],
    lowest: &mut [f64; LANES],
) -> [f64; LANES] {
    let mut gains = [0.0; LANES];
    for lane in 0..LANES {
        let gated = gradient[lane] + gate[lane];
        lowest[lane] = if gated < lowest[lane] { gated } else { lowest[lane] };
        let difference = riser.slope - gated;
        let slope = if difference > 0.0 { difference } else { 0.0 };
        let curvature = riser.diagonal + diagonal[lane] - 2.0 * similarities[lane];
        let curvature = if curvature > LEAST_CURVATURE { curvature } else { LEAST_CURVATURE };
        gains[lane] = slope * slope / curvature;
    }
    gains
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter(samples: usize, frequency: f64) -> Vec<f64> {
        (0..samples).map(|i| (i as f64 * frequency).sin()).collect()
    }

    #[test]
    fn the_steepest_sample_is_the_first_largest_that_may_rise() {
        for samples in [1, 7, 8, 21, 64] {
            let mut gradient = scatter(samples, 1.3);
            let gate: Vec<f64> =
                (0..samples).map(|i| if i % 3 == 1 { f64::NEG_INFINITY } else { 0.0 }).collect();
            let (rising, falling) = (scatter(samples, 0.7), scatter(samples, 2.9));
            let expected: Vec<f64> =
                (0..samples).map(|i| gradient[i] - 0.5 * (rising[i] - falling[i])).collect();
            let found =
                descend_and_find_steepest(&mut gradient, &gate, (&rising, &falling), 0.5).unwrap();
            assert_eq!(gradient, expected);
            let free = (0..samples).filter(|i| i % 3 != 1);
            let best = free.reduce(|a, b| if expected[b] > expected[a] { b } else { a }).unwrap();
            assert_eq!(found, Best { sample: best, value: expected[best] });
        }
    }

    #[test]
    fn of_equals_the_first_is_taken() {
        let mut gradient = vec![1.0; 19];
        let mut gate = vec![0.0; 19];
        gate[..5].fill(f64::NEG_INFINITY);
        let zeros = vec![0.0; 19];
        let found = descend_and_find_steepest(&mut gradient, &gate, (&zeros, &zeros), 0.0);
        assert_eq!(found, Some(Best { sample: 5, value: 1.0 }));
        gate.fill(f64::NEG_INFINITY);
        assert_eq!(descend_and_find_steepest(&mut gradient, &gate, (&zeros, &zeros), 0.0), None);
    }

    #[test]
    fn the_partner_gains_most_among_those_that_may_fall() {
        let samples = 37;
        let (gradient, similarities) = (scatter(samples, 1.9), scatter(samples, 0.4));
        let diagonal = vec![1.0; samples];
        let gate: Vec<f64> =
            (0..samples).map(|i| if i % 2 == 0 { f64::INFINITY } else { 0.0 }).collect();
        let riser = Riser { slope: 0.8, diagonal: 1.0, similarities: &similarities };
        let (partner, lowest) = find_partner(riser, &gradient, &gate, &diagonal);
        let gain = |j: usize| {
            (0.8_f64 - gradient[j]).max(0.0).powi(2)
                / (2.0 - 2.0 * similarities[j]).max(LEAST_CURVATURE)
        };
        let free = (0..samples).filter(|i| i % 2 == 1);
        let best = free.clone().reduce(|a, b| if gain(b) > gain(a) { b } else { a }).unwrap();
        assert_eq!(partner.unwrap().sample, best);
        assert_eq!(lowest, free.map(|i| gradient[i]).fold(f64::INFINITY, f64::min));
        let stuck = vec![f64::INFINITY; samples];
        assert_eq!(find_partner(riser, &gradient, &stuck, &diagonal), (None, f64::INFINITY));
    }
}
