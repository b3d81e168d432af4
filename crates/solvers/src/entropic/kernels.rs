//! The dense loops of the solver: one row of the kernel matrix, or four at a time, per call.
//! They hold no mathematics of the method; each is compiled for several instruction sets.

use multiversion::multiversion;

const LANES: usize = 8;

/// Writes `potential - cost` and returns its largest entry.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn slack_and_max(costs: &[f64], potential: &[f64], slacks: &mut [f64]) -> f64 {
    let mut maxima = [f64::NEG_INFINITY; LANES];
    let cost_chunks = costs.chunks_exact(LANES);
    let potential_chunks = potential.chunks_exact(LANES);
    let mut slack_chunks = slacks.chunks_exact_mut(LANES);
    let (cost_rest, potential_rest) = (cost_chunks.remainder(), potential_chunks.remainder());
    for ((costs, potentials), slacks) in cost_chunks.zip(potential_chunks).zip(&mut slack_chunks) {
        for lane in 0..LANES {
            let slack = potentials[lane] - costs[lane];
            slacks[lane] = slack;
            maxima[lane] = if slack > maxima[lane] { slack } else { maxima[lane] };
        }
    }
    let mut largest = f64::NEG_INFINITY;
    let rest = slack_chunks.into_remainder().iter_mut();
    for ((slack, cost), potential) in rest.zip(cost_rest).zip(potential_rest) {
        *slack = potential - cost;
        largest = largest.max(*slack);
    }
    maxima.iter().fold(largest, |a, &b| a.max(b))
}

/// Largest entry of a row without NaN.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn largest(values: &[f64]) -> f64 {
    let mut maxima = [f64::NEG_INFINITY; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            maxima[lane] = if chunk[lane] > maxima[lane] { chunk[lane] } else { maxima[lane] };
        }
    }
    maxima.iter().chain(rest).fold(f64::NEG_INFINITY, |a, &b| a.max(b))
}

/// How many entries exceed `threshold`.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn count_above(values: &[f64], threshold: f64) -> usize {
    let mut counts = [0_u64; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder().iter().filter(|value| **value > threshold).count();
    for chunk in chunks {
        for lane in 0..LANES {
            counts[lane] += u64::from(chunk[lane] > threshold);
        }
    }
    counts.iter().map(|&count| usize::try_from(count).unwrap_or(usize::MAX)).sum::<usize>() + rest
}

/// `sum += weight · row`, then `row *= scale`.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn accumulate_and_scale(row: &mut [f64], weight: f64, scale: f64, sum: &mut [f64]) {
    for (value, total) in row.iter_mut().zip(sum) {
        *total += weight * *value;
        *value *= scale;
    }
}

/// Dot products of four consecutive rows (each as long as `x`) with `x`, reading `x` once.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn dot_four(rows: &[f64], x: &[f64]) -> [f64; 4] {
    let width = x.len();
    let (first, rest) = rows.split_at(width);
    let (second, rest) = rest.split_at(width);
    let (third, fourth) = rest.split_at(width);
    let fourth = &fourth[..width];
    let mut sums = [[0.0; LANES]; 4];
    let whole = width - width % LANES;
    for start in (0..whole).step_by(LANES) {
        let end = start + LANES;
        let (xs, a, b) = (&x[start..end], &first[start..end], &second[start..end]);
        let (c, d) = (&third[start..end], &fourth[start..end]);
        for lane in 0..LANES {
            sums[0][lane] += a[lane] * xs[lane];
            sums[1][lane] += b[lane] * xs[lane];
            sums[2][lane] += c[lane] * xs[lane];
            sums[3][lane] += d[lane] * xs[lane];
        }
    }
    let mut totals = [0.0; 4];
    for (total, (sum, row)) in
        totals.iter_mut().zip(sums.iter().zip([first, second, third, fourth]))
    {
        let tail: f64 = row[whole..].iter().zip(&x[whole..]).map(|(a, b)| a * b).sum();
        *total = sum.iter().sum::<f64>() + tail;
    }
    totals
}

/// `sum += Σ_k weights[k] · row_k` over four consecutive rows, writing `sum` once.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn accumulate_four(rows: &[f64], weights: &[f64; 4], sum: &mut [f64]) {
    let width = sum.len();
    let (first, rest) = rows.split_at(width);
    let (second, rest) = rest.split_at(width);
    let (third, fourth) = rest.split_at(width);
    let values = first.iter().zip(second).zip(third.iter().zip(fourth));
    for (total, ((a, b), (c, d))) in sum.iter_mut().zip(values) {
        *total += (weights[0] * a + weights[1] * b) + (weights[2] * c + weights[3] * d);
    }
}

/// `row_i *= factor · scaling_i`.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn scale_by(row: &mut [f64], factor: f64, scaling: &[f64]) {
    for (value, scale) in row.iter_mut().zip(scaling) {
        *value *= factor * scale;
    }
}

/// Adds `weight · value · (slack - mean)` to `sum`; entries whose value is zero add nothing.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn accumulate_spread(
    values: &[f64],
    slacks: &[f64],
    mean: f64,
    weight: f64,
    sum: &mut [f64],
) {
    for (total, (&value, &slack)) in sum.iter_mut().zip(values.iter().zip(slacks)) {
        // A forbidden pair has value 0 and slack −∞; its product must not become NaN.
        *total += if value > 0.0 { weight * value * (slack - mean) } else { 0.0 };
    }
}

/// Sum and smallest entry of a row of costs; +∞ entries (forbidden pairs) are counted apart.
pub(super) struct RowSummary {
    pub(super) sum: f64,
    pub(super) smallest: f64,
}

#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn summarise(row: &[f64]) -> RowSummary {
    let mut sums = [0.0; LANES];
    let mut minima = [f64::INFINITY; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
            minima[lane] = if chunk[lane] < minima[lane] { chunk[lane] } else { minima[lane] };
        }
    }
    RowSummary {
        sum: sums.iter().sum::<f64>() + rest.iter().sum::<f64>(),
        smallest: minima.iter().chain(rest).fold(f64::INFINITY, |a, &b| a.min(b)),
    }
}

/// Adds `weight · value` to `sum` and `weight` to `weights` wherever the value is finite.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn accumulate_finite(values: &[f64], weight: f64, sum: &mut [f64], weights: &mut [f64]) {
    for ((&value, sum), weights) in values.iter().zip(sum).zip(weights) {
        let is_finite = value.abs() < f64::INFINITY;
        *sum += if is_finite { weight * value } else { 0.0 };
        *weights += if is_finite { weight } else { 0.0 };
    }
}
