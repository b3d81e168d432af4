//! Loops in single precision, twice as many numbers to a register and to a cache line. Rows and vectors are padded to a
//! multiple of `LANES`, so that no loop has a rest. They hold no mathematics of the method.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::single::{exp_one, multiply_add};

pub(super) const LANES: usize = 16;

/// Of what pads a row of exponents: nothing is added to any sum.
const PADDING: f32 = -1e3;
/// The largest `potential − cost`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn largest_slack(costs: &[f64], potential: &[f64]) -> f64 {
    let mut maxima = [f64::NEG_INFINITY; LANES];
    let (cost_chunks, potential_chunks) =
        (costs.chunks_exact(LANES), potential.chunks_exact(LANES));
    let rest = cost_chunks.remainder().iter().zip(potential_chunks.remainder());
    let largest = rest.fold(f64::NEG_INFINITY, |most, (cost, f)| most.max(f - cost));
    for (costs, potentials) in cost_chunks.zip(potential_chunks) {
        for lane in 0..LANES {
            let slack = potentials[lane] - costs[lane];
            maxima[lane] = if slack > maxima[lane] { slack } else { maxima[lane] };
        }
    }
    maxima.iter().fold(largest, |a, &b| a.max(b))
}

/// Writes `(potential − cost − shift) · scale`, and behind it what is nothing as an exponent. The differences are taken in
/// double precision: of costs that are large beside λ single precision has none left.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn fill_exponents(
    (costs, potential): (&[f64], &[f64]),
    shift: f64,
    scale: f64,
    exponents: &mut [f32],
) {
    for ((value, cost), potential) in exponents.iter_mut().zip(costs).zip(potential) {
        #[expect(clippy::cast_possible_truncation, reason = "single precision is what is wanted")]
        let exponent = ((potential - cost - shift) * scale) as f32;
        *value = exponent;
    }
    exponents[costs.len()..].fill(PADDING);
}

/// Replaces exponents by their exponentials and returns the sum.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn exponentials(row: &mut [f32]) -> f32 {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let mut sums = [0.0; LANES];
    for chunk in row.chunks_exact_mut(LANES) {
        for lane in 0..LANES {
            chunk[lane] = exp_one::<FUSED>(chunk[lane]);
            sums[lane] += chunk[lane];
        }
    }
    sums.iter().sum()
}

/// Dot products of four consecutive rows with `x`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn dot_four(rows: &[f32], x: &[f32]) -> [f32; 4] {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let width = x.len();
    let (first, rest) = rows.split_at(width);
    let (second, rest) = rest.split_at(width);
    let (third, fourth) = rest.split_at(width);
    let mut sums = [[0.0_f32; LANES]; 4];
    let chunks = x.chunks_exact(LANES).zip(first.chunks_exact(LANES));
    let chunks = chunks.zip(second.chunks_exact(LANES));
    let chunks = chunks.zip(third.chunks_exact(LANES)).zip(fourth.chunks_exact(LANES));
    for ((((x, a), b), c), d) in chunks {
        for lane in 0..LANES {
            sums[0][lane] = multiply_add::<FUSED>(a[lane], x[lane], sums[0][lane]);
            sums[1][lane] = multiply_add::<FUSED>(b[lane], x[lane], sums[1][lane]);
            sums[2][lane] = multiply_add::<FUSED>(c[lane], x[lane], sums[2][lane]);
            sums[3][lane] = multiply_add::<FUSED>(d[lane], x[lane], sums[3][lane]);
        }
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// `sums += Σ_k weights[k] · row_k` over four consecutive rows.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn accumulate_four(rows: &[f32], weights: &[f32; 4], sums: &mut [f32]) {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let width = sums.len();
    let (first, rest) = rows.split_at(width);
    let (second, rest) = rest.split_at(width);
    let (third, fourth) = rest.split_at(width);
    let values = first.iter().zip(second).zip(third.iter().zip(fourth));
    // One plain loop: of nested ones the compiler makes gathers.
    for (sum, ((a, b), (c, d))) in sums.iter_mut().zip(values) {
        let two = multiply_add::<FUSED>(weights[0], *a, weights[1] * b);
        let more = multiply_add::<FUSED>(weights[2], *c, two);
        *sum += multiply_add::<FUSED>(weights[3], *d, more);
    }
}

/// Σ row · exponents · scaling.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn scaled_dot(row: &[f32], exponents: &[f32], scaling: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let chunks = row.chunks_exact(LANES).zip(exponents.chunks_exact(LANES));
    for ((values, exponents), scaling) in chunks.zip(scaling.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += values[lane] * exponents[lane] * scaling[lane];
        }
    }
    sums.iter().sum()
}

/// `sums += weight · row · (exponents − mean)`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn add_spread(
    row: &[f32],
    exponents: &[f32],
    (weight, mean): (f32, f32),
    sums: &mut [f32],
) {
    for ((sum, value), exponent) in sums.iter_mut().zip(row).zip(exponents) {
        *sum += weight * value * (exponent - mean);
    }
}

/// The vectors of conjugate gradients.
pub(super) struct Conjugate<'a> {
    pub(super) solution: &'a mut [f32],
    pub(super) residual: &'a mut [f32],
    pub(super) search: &'a mut [f32],
    pub(super) image: &'a [f32],
    /// 1/diagonal.
    pub(super) preconditioner: &'a [f32],
}

/// One step of length `step` along the search direction, whose image is given; returns the norm of the residual in the
/// preconditioner.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn conjugate_step(vectors: &mut Conjugate<'_>, step: f32) -> f32 {
    let mut norms = [0.0; LANES];
    let chunks = vectors.solution.chunks_exact_mut(LANES).zip(vectors.search.chunks_exact(LANES));
    let chunks = chunks.zip(vectors.residual.chunks_exact_mut(LANES));
    let chunks = chunks.zip(vectors.image.chunks_exact(LANES));
    for ((((x, search), residual), image), inverse) in
        chunks.zip(vectors.preconditioner.chunks_exact(LANES))
    {
        for lane in 0..LANES {
            x[lane] += step * search[lane];
            residual[lane] -= step * image[lane];
            norms[lane] += residual[lane] * residual[lane] * inverse[lane];
        }
    }
    norms.iter().sum()
}

/// `search = preconditioner · residual + ratio · search`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn turn_search(vectors: &mut Conjugate<'_>, ratio: f32) {
    let pairs = vectors.residual.iter().zip(vectors.preconditioner);
    for (search, (residual, inverse)) in vectors.search.iter_mut().zip(pairs) {
        *search = residual * inverse + ratio * *search;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in left.chunks_exact(LANES).zip(right.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_have_the_digits_of_single_precision_and_no_subnormal_ones() {
        let columns = 4003;
        let potential: Vec<f64> = (0..columns).map(|column| -0.011 * f64::from(column)).collect();
        let costs = vec![1e6; potential.len()];
        let mut row = vec![0.0; potential.len().next_multiple_of(LANES)];
        fill_exponents((&costs, &potential), -1e6, 1.0, &mut row);
        let sum = exponentials(&mut row);
        for (value, exponent) in row.iter().zip(&potential) {
            let expected = if *exponent > -40.0 { exponent.exp() } else { 0.0 };
            let error = (f64::from(*value) - expected).abs();
            // An exponent of single precision is off by 4e-6 at the most, and so is the exponential, relatively.
            assert!(error <= 5e-6 * expected, "exp({exponent}) = {value}");
        }
        assert!(row[potential.len()..].iter().all(|&padding| padding == 0.0));
        let expected = 1.0 / (1.0 - (-0.011_f64).exp());
        assert!((f64::from(sum) - expected).abs() < 1e-5 * expected);
    }

    #[test]
    fn four_rows_at_a_time_are_four_rows() {
        let width = 3 * LANES;
        let rows: Vec<f32> = (0..4 * width).map(|k| ((k * 7) % 11) as f32).collect();
        let x: Vec<f32> = (0..width).map(|k| ((k * 5) % 3) as f32).collect();
        let products: Vec<f32> = rows
            .chunks_exact(width)
            .map(|row| row.iter().zip(&x).map(|(a, b)| a * b).sum())
            .collect();
        assert_eq!(dot_four(&rows, &x)[..], products[..]);
        let mut sums = vec![1.0; width];
        accumulate_four(&rows, &[1.0, 2.0, 3.0, 4.0], &mut sums);
        for (column, sum) in sums.iter().enumerate() {
            let expected: f32 =
                (0..4).map(|row| (row + 1) as f32 * rows[row * width + column]).sum();
            assert_eq!(*sum, 1.0 + expected);
        }
    }
}
