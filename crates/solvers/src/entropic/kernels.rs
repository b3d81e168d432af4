//! The dense loops that this solver has for itself, one row of the kernel matrix per call.
//! They hold no mathematics of the method; each is compiled for several instruction sets.

use multiversion::multiversion;

const LANES: usize = 8;

/// Largest entry of a row without NaN.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
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

/// Subtracts from each entry and returns the largest of what is left.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn subtract(values: &mut [f64], amounts: &[f64]) -> f64 {
    for (value, amount) in values.iter_mut().zip(amounts) {
        *value -= amount;
    }
    largest(values)
}

/// How many entries exceed `threshold`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
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

/// Adds `weight · value · (slack - mean)` to `sum`; entries whose value is zero add nothing.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
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

#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
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
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn accumulate_finite(values: &[f64], weight: f64, sum: &mut [f64], weights: &mut [f64]) {
    for ((&value, sum), weights) in values.iter().zip(sum).zip(weights) {
        let is_finite = value.abs() < f64::INFINITY;
        *sum += if is_finite { weight * value } else { 0.0 };
        *weights += if is_finite { weight } else { 0.0 };
    }
}
