//! Rows of a matrix in parts that threads take side by side. How many parts there are depends on the matrix alone, and so
//! do the digits of what is summed over them.

use std::ops::Range;

use rayon::prelude::*;

use crate::loops::scale_and_accumulate;

/// Entries that are worth another thread.
const ENTRIES_OF_A_PART: usize = 1 << 16;
/// Each part has sums of its own, which are added up at the end.
const MOST_PARTS: usize = 32;

/// How many rows of this width a part has, a multiple of `step`.
pub(crate) fn rows_of_a_part(rows: usize, width: usize, step: usize) -> usize {
    // A power of two, so that two threads have the same to do.
    let parts = (rows * width / ENTRIES_OF_A_PART).next_power_of_two().min(MOST_PARTS);
    rows.div_ceil(parts).max(1).next_multiple_of(step)
}

/// How many groups of the rows of a matrix a part has at least.
pub(crate) fn groups_of_a_part(groups: usize, (rows, width): (usize, usize)) -> usize {
    (groups * rows_of_a_part(rows, width, 1)).div_ceil(rows.max(1)).max(1)
}

/// What `part` makes of each part of the rows of a matrix, in their order.
pub(crate) fn map_rows<T: Send>(
    (rows, width): (usize, usize),
    part: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let of_a_part = rows_of_a_part(rows, width, 1);
    (0..rows.div_ceil(of_a_part))
        .into_par_iter()
        .map(|index| part(index * of_a_part..rows.min((index + 1) * of_a_part)))
        .collect()
}

/// `sums` += what `add` adds to them for each part of the rows.
pub(crate) fn sum_rows(
    (rows, rows_of_a_part): (usize, usize),
    sums: &mut [f64],
    add: impl Fn(Range<usize>, &mut [f64]) + Sync,
) {
    if rows <= rows_of_a_part {
        add(0..rows, sums);
        return;
    }
    let width = sums.len();
    let parts: Vec<Vec<f64>> = (0..rows.div_ceil(rows_of_a_part))
        .into_par_iter()
        .map(|part| {
            let mut sums = vec![0.0; width];
            let first = part * rows_of_a_part;
            add(first..rows.min(first + rows_of_a_part), &mut sums);
            sums
        })
        .collect();
    add_all(parts, sums);
}

/// `sums` += each of the vectors, in their order.
pub(crate) fn add_all(parts: impl IntoIterator<Item = Vec<f64>>, sums: &mut [f64]) {
    for part in parts {
        scale_and_accumulate(&part, 1.0, sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_row_once_whatever_their_number() {
        for (rows, width) in [(1, 1), (7, 3), (200, 1000), (1360, 814), (5000, 4000)] {
            let of_a_part = rows_of_a_part(rows, width, 8);
            assert_eq!(of_a_part % 8, 0);
            let mut counts = vec![0.0; 1];
            sum_rows((rows, of_a_part), &mut counts, |range, counts| {
                counts[0] += range.len() as f64;
            });
            assert_eq!(counts[0], rows as f64, "{rows} × {width}");
        }
        assert!(rows_of_a_part(200, 300, 8) >= 200, "a small matrix is one part");
    }
}
