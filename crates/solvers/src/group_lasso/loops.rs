//! The dense loops of the solver over one column of the plan or a part of it. They hold no mathematics of the
//! method; each is compiled for several instruction sets.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::elementary::ln_one;

const LANES: usize = 8;

/// Writes `(potential - cost) · scale` and returns its largest entry.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn scaled_slacks(
    costs: &[f64],
    potential: &[f64],
    scale: f64,
    slacks: &mut [f64],
) -> f64 {
    let mut maxima = [f64::NEG_INFINITY; LANES];
    let whole = costs.len() - costs.len() % LANES;
    let (head_costs, head_potential) = (&costs[..whole], &potential[..whole]);
    let chunks = head_costs.chunks_exact(LANES).zip(head_potential.chunks_exact(LANES));
    for ((costs, potentials), slacks) in chunks.zip(slacks.chunks_exact_mut(LANES)) {
        for lane in 0..LANES {
            let slack = (potentials[lane] - costs[lane]) * scale;
            slacks[lane] = slack;
            maxima[lane] = if slack > maxima[lane] { slack } else { maxima[lane] };
        }
    }
    let mut largest = maxima.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let rest = costs[whole..].iter().zip(&potential[whole..]);
    for ((cost, potential), slack) in rest.zip(&mut slacks[whole..]) {
        *slack = (potential - cost) * scale;
        largest = largest.max(*slack);
    }
    largest
}

/// Writes the logarithms of the values, zero for those without one, and returns Σ value · ln value.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn logarithms(values: &[f64], logs: &mut [f64]) -> f64 {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    for (&value, log) in values.iter().zip(logs.iter_mut()) {
        let found = ln_one::<FUSED>(value);
        *log = if value < f64::MIN_POSITIVE { 0.0 } else { found };
    }
    values.iter().zip(logs.iter()).map(|(value, log)| value * log).sum()
}

/// With p = scale · value and r = p/(1 + κp): adds norm · r to `diagonal`, writes p · r to `shares` and
/// returns the sum of these.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn responses(
    values: &[f64],
    (scale, kappa, norm): (f64, f64, f64),
    shares: &mut [f64],
    diagonal: &mut [f64],
) -> f64 {
    for ((value, share), own) in values.iter().zip(shares.iter_mut()).zip(diagonal) {
        let p = value * scale;
        let response = p / (1.0 + kappa * p);
        *own += norm * response;
        *share = p * response;
    }
    let mut sums = [0.0; LANES];
    let chunks = shares.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Columns that are gathered together: a cache line of each row.
pub(super) const BLOCK: usize = 8;

/// Some rows of `BLOCK` columns of a matrix from `first` on, column after column.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn transpose_block(
    matrix: &[f64],
    (columns, first): (usize, usize),
    rows: &[usize],
    block: &mut [f64],
) {
    let width = rows.len();
    let (whole, rest) = rows.as_chunks::<BLOCK>();
    for (chunk, rows) in whole.iter().enumerate() {
        let mut tile = [[0.0; BLOCK]; BLOCK];
        for (lane, row) in rows.iter().enumerate() {
            let start = row * columns + first;
            for (tile, value) in tile.iter_mut().zip(&matrix[start..start + BLOCK]) {
                tile[lane] = *value;
            }
        }
        for (slot, tile) in tile.iter().enumerate() {
            let start = slot * width + chunk * BLOCK;
            block[start..start + BLOCK].copy_from_slice(tile);
        }
    }
    for (position, row) in (width - rest.len()..width).zip(rest) {
        for slot in 0..BLOCK {
            block[slot * width + position] = matrix[row * columns + first + slot];
        }
    }
}
