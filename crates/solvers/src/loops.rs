//! The dense loops that several solvers share: one row of a matrix, or four at a time, per call.
//! They hold no mathematics of a method; each is compiled for several instruction sets.

use multiversion::multiversion;

const LANES: usize = 8;

/// Dot product of two vectors.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; 32];
    let (left_chunks, right_chunks) = (left.chunks_exact(32), right.chunks_exact(32));
    let rest: f64 =
        left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left_chunks.zip(right_chunks) {
        for lane in 0..32 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// `sums += scale · row`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn scale_and_accumulate(row: &[f64], scale: f64, sums: &mut [f64]) {
    for (sum, &value) in sums.iter_mut().zip(row) {
        *sum += scale * value;
    }
}

/// Σ √(value + offset) − √offset.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn sum_of_roots(values: &[f64], offset: f64) -> f64 {
    let empty = offset.sqrt();
    let mut sums = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += (chunk[lane] + offset).sqrt() - empty;
        }
    }
    let rest: f64 = rest.iter().map(|value| (value + offset).sqrt() - empty).sum();
    sums.iter().sum::<f64>() + rest
}

/// Replaces each value by the slope of its root.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn to_slopes_of_roots(values: &mut [f64]) {
    for value in values {
        *value = 0.5 / value.sqrt();
    }
}

/// `sums += row²`, entry by entry.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn accumulate_squares(row: &[f64], sums: &mut [f64]) {
    for (sum, &value) in sums.iter_mut().zip(row) {
        *sum += value * value;
    }
}

/// `sums += scale · row` where the cost is not infinite.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn accumulate_where_allowed(row: &[f64], scale: f64, costs: &[f64], sums: &mut [f64]) {
    for ((sum, &value), &cost) in sums.iter_mut().zip(row).zip(costs) {
        *sum += if cost < f64::INFINITY { scale * value } else { 0.0 };
    }
}

/// Writes `potential - cost` and returns its largest entry.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn slack_and_max(costs: &[f64], potential: &[f64], slacks: &mut [f64]) -> f64 {
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

/// `sum += weight · row`, then `row *= scale`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn accumulate_and_scale(row: &mut [f64], weight: f64, scale: f64, sum: &mut [f64]) {
    for (value, total) in row.iter_mut().zip(sum) {
        *total += weight * *value;
        *value *= scale;
    }
}

/// Dot products of four consecutive rows (each as long as `x`) with `x`, reading `x` once.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn dot_four(rows: &[f64], x: &[f64]) -> [f64; 4] {
    // Two cache lines of each row at a time: with one a pass over a large matrix takes half as long again.
    const WIDTH: usize = 2 * LANES;
    let (first, rest) = rows.split_at(x.len());
    let (second, rest) = rest.split_at(x.len());
    let (third, fourth) = rest.split_at(x.len());
    let mut sums = [[0.0; WIDTH]; 4];
    let chunks = x.chunks_exact(WIDTH).zip(first.chunks_exact(WIDTH));
    let chunks = chunks.zip(second.chunks_exact(WIDTH));
    let chunks = chunks.zip(third.chunks_exact(WIDTH)).zip(fourth.chunks_exact(WIDTH));
    for ((((x, a), b), c), d) in chunks {
        for lane in 0..WIDTH {
            sums[0][lane] += a[lane] * x[lane];
            sums[1][lane] += b[lane] * x[lane];
            sums[2][lane] += c[lane] * x[lane];
            sums[3][lane] += d[lane] * x[lane];
        }
    }
    let whole = x.len() - x.len() % WIDTH;
    let mut totals = sums.map(|lanes| lanes.iter().sum());
    for (total, row) in totals.iter_mut().zip([first, second, third, fourth]) {
        *total += row[whole..].iter().zip(&x[whole..]).map(|(a, b)| a * b).sum::<f64>();
    }
    totals
}

/// `sum += Σ_k weights[k] · row_k` over four consecutive rows, writing `sum` once.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn accumulate_four(rows: &[f64], weights: &[f64; 4], sum: &mut [f64]) {
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
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn scale_by(row: &mut [f64], factor: f64, scaling: &[f64]) {
    for (value, scale) in row.iter_mut().zip(scaling) {
        *value *= factor * scale;
    }
}

/// `row = factor · scaling · row + share · additions`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn scale_and_add(
    row: &mut [f64],
    (factor, scaling): (f64, &[f64]),
    (share, additions): (f64, &[f64]),
) {
    for ((value, scale), addition) in row.iter_mut().zip(scaling).zip(additions) {
        *value = factor * scale * *value + share * addition;
    }
}

/// `sums = left + right`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn add(left: &[f64], right: &[f64], sums: &mut [f64]) {
    for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
        *sum = left + right;
    }
}

/// `row *= by`, and returns the sum of the products.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn multiply_and_sum(row: &mut [f64], by: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (row, row_rest) = row.as_chunks_mut::<LANES>();
    let (by, by_rest) = by.as_chunks::<LANES>();
    for (values, by) in row.iter_mut().zip(by) {
        for lane in 0..LANES {
            values[lane] *= by[lane];
            sums[lane] += values[lane];
        }
    }
    let mut sum: f64 = sums.iter().sum();
    for (value, by) in row_rest.iter_mut().zip(by_rest) {
        *value *= by;
        sum += *value;
    }
    sum
}

/// `values -= masses · (shift + shifts)`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn subtract_products(values: &mut [f64], masses: &[f64], shift: f64, shifts: &[f64]) {
    for ((value, mass), more) in values.iter_mut().zip(masses).zip(shifts) {
        *value -= mass * (shift + more);
    }
}

/// `slacks = potential - costs`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn write_slacks(costs: &[f64], potential: &[f64], slacks: &mut [f64]) {
    for ((slack, cost), potential) in slacks.iter_mut().zip(costs).zip(potential) {
        *slack = potential - cost;
    }
}

/// `values += share · (to − values)`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn mix(values: &mut [f64], to: &[f64], share: f64) {
    for (value, &to) in values.iter_mut().zip(to) {
        *value = (1.0 - share) * *value + share * to;
    }
}

/// Σ (to − from) · weight for two weights.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn change_dots(from: &[f64], to: &[f64], weights: (&[f64], &[f64])) -> [f64; 2] {
    let mut sums = [[0.0; LANES]; 2];
    let whole = from.len() - from.len() % LANES;
    let (first, second) = (&weights.0[..from.len()], &weights.1[..from.len()]);
    let to = &to[..from.len()];
    for start in (0..whole).step_by(LANES) {
        let end = start + LANES;
        let (from, to) = (&from[start..end], &to[start..end]);
        let (first, second) = (&first[start..end], &second[start..end]);
        for lane in 0..LANES {
            let change = to[lane] - from[lane];
            sums[0][lane] += change * first[lane];
            sums[1][lane] += change * second[lane];
        }
    }
    for place in whole..from.len() {
        let change = to[place] - from[place];
        sums[0][0] += change * first[place];
        sums[1][0] += change * second[place];
    }
    sums.map(|lanes| lanes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(length: usize, shift: f64) -> Vec<f64> {
        (0..length).map(|k| (k as f64 + shift).sin()).collect()
    }

    fn is_near(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-14 * left.abs().max(1.0)
    }

    /// Lengths below, at and above multiples of the lanes.
    const LENGTHS: [usize; 7] = [0, 1, 7, 8, 33, 64, 67];

    #[test]
    fn sums_are_those_of_the_definition_whatever_the_length() {
        for length in LENGTHS {
            let [a, b, c, d] = [0.0, 0.3, 0.7, 1.9].map(|shift| row(length, shift));
            let product = |left: &[f64], right: &[f64]| -> f64 {
                left.iter().zip(right).map(|(left, right)| left * right).sum()
            };
            assert!(is_near(dot(&a, &b), product(&a, &b)), "{length}");
            let change: Vec<f64> = b.iter().zip(&a).map(|(to, from)| to - from).collect();
            let [first, second] = change_dots(&a, &b, (&c, &d));
            assert!(is_near(first, product(&change, &c)), "{length}");
            assert!(is_near(second, product(&change, &d)), "{length}");
            let mut products = a.clone();
            let sum = multiply_and_sum(&mut products, &b);
            assert!(is_near(sum, product(&a, &b)), "{length}");
            assert!(products.iter().zip(a.iter().zip(&b)).all(|(found, (a, b))| *found == a * b));
            let four = [&a[..], &b, &c, &d].concat();
            let products = dot_four(&four, &b);
            for (found, row) in products.iter().zip([&a, &b, &c, &d]) {
                assert!(is_near(*found, product(row, &b)), "{length}");
            }
        }
    }

    #[test]
    fn half_way_is_the_mean() {
        for length in LENGTHS {
            let (mut values, to) = (row(length, 0.0), row(length, 1.0));
            let expected: Vec<f64> =
                values.iter().zip(&to).map(|(a, b)| f64::midpoint(*a, *b)).collect();
            mix(&mut values, &to, 0.5);
            assert_eq!(values, expected);
        }
    }
}
