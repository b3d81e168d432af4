//! The loops over all training samples, with the vectors that the processor has. Multiplications and additions
//! are not fused, so that every instruction set gives the same bits.

use multiversion::multiversion;
use ndarray::ArrayView2;

/// Samples that are compared at once: two vectors of four.
const LANES: usize = 8;
/// Scores that are looked at together for one that is small enough; nearly always there is none.
const PASSED_OVER: usize = 32;

/// Training samples of few features, arranged for direct distances to one query after the other.
pub(super) struct DirectScan {
    width: usize,
    /// For each `LANES` samples the first feature of all, then the second, and so on.
    features: Vec<[f64; LANES]>,
    /// Of the last query, for each `LANES` samples.
    distances: Vec<[f64; LANES]>,
}

impl DirectScan {
    pub(super) fn new(training: ArrayView2<'_, f64>) -> Self {
        let (samples, width) = training.dim();
        let blocks = samples.div_ceil(LANES);
        let mut features = Vec::with_capacity(blocks * width);
        for first in (0..samples).step_by(LANES) {
            for feature in 0..width {
                // The places behind the last sample repeat it, which then is found first.
                features.push(std::array::from_fn(|lane| {
                    training[[(first + lane).min(samples - 1), feature]]
                }));
            }
        }
        Self { width, features, distances: vec![[0.0; LANES]; blocks] }
    }

    /// The index of the sample with the smallest ‖x − q‖², of equals the first. No distance may overflow.
    pub(super) fn nearest(&mut self, query: &[f64]) -> usize {
        find_nearest(&self.features, self.width, query, &mut self.distances)
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn find_nearest(
    features: &[[f64; LANES]],
    width: usize,
    query: &[f64],
    distances: &mut [[f64; LANES]],
) -> usize {
    let mut smallest = [f64::INFINITY; LANES];
    for (block, distances) in features.chunks_exact(width).zip(distances.iter_mut()) {
        let mut sums = [0.0; LANES];
        for (values, &of_query) in block.iter().zip(query) {
            for lane in 0..LANES {
                let gap = values[lane] - of_query;
                sums[lane] += gap * gap;
            }
        }
        for lane in 0..LANES {
            smallest[lane] = if sums[lane] < smallest[lane] { sums[lane] } else { smallest[lane] };
        }
        *distances = sums;
    }
    let smallest = smallest.into_iter().fold(f64::INFINITY, f64::min);
    // Counted and not asked for any: without a branch in between, a vector at a time.
    let is_there =
        |block: &[f64; LANES]| block.iter().filter(|&&value| value == smallest).count() > 0;
    let block = distances.iter().position(is_there).unwrap_or(0);
    let lane = distances[block].iter().position(|&value| value == smallest).unwrap_or(0);
    block * LANES + lane
}

/// Writes the scores ‖x‖² − 2⟨x, q⟩ of all samples x and returns the smallest.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn score(norms: &[f64], products: &[f64], scores: &mut [f64]) -> f64 {
    for ((score, product), norm) in scores.iter_mut().zip(products).zip(norms) {
        *score = norm - 2.0 * product;
    }
    let (chunks, rest) = scores.as_chunks::<LANES>();
    let mut smallest = [f64::INFINITY; LANES];
    for chunk in chunks {
        for (smallest, &score) in smallest.iter_mut().zip(chunk) {
            *smallest = if score < *smallest { score } else { *smallest };
        }
    }
    smallest.iter().chain(rest).copied().fold(f64::INFINITY, f64::min)
}

/// The indices of the scores up to `limit`, ascending.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn find_up_to(limit: f64, scores: &[f64], found: &mut Vec<usize>) {
    found.clear();
    for (number, chunk) in scores.chunks(PASSED_OVER).enumerate() {
        if chunk.iter().filter(|&&score| score <= limit).count() > 0 {
            let within = chunk.iter().enumerate().filter(|&(_, &score)| score <= limit);
            found.extend(within.map(|(place, _)| number * PASSED_OVER + place));
        }
    }
}
