//! The nearest neighbour (1NN), the paper's classifier in all experiments on images.
//!
//! Squared distances come from one matrix product, ‖x − q‖² = ‖x‖² − 2⟨x, q⟩ + ‖q‖². What rounding there
//! leaves undecided is settled by direct distances, so that the answer is the exact one, with the
//! lowest index among equals.

use ndarray::{ArrayView1, ArrayView2, Axis, Zip};

use crate::error::{Error, Result};
use crate::product::product;

/// Queries a block: its products with the training samples stay in cache.
const BLOCK: usize = 128;
/// Training samples of which the smallest score is kept, so that few scores are looked at twice.
const CHUNK: usize = 64;

/// For each query the index of the nearest training sample.
pub fn nearest_neighbours(
    training: ArrayView2<'_, f64>,
    queries: ArrayView2<'_, f64>,
) -> Result<Vec<usize>> {
    check(training, queries)?;
    let training_norms = squared_norms(training);
    let largest_norm = training_norms.iter().fold(0.0, |largest: f64, &norm| largest.max(norm));
    let mut nearest = Vec::with_capacity(queries.nrows());
    let mut scores = vec![0.0; training.nrows()];
    let mut smallest = vec![0.0; training.nrows().div_ceil(CHUNK)];
    for block in queries.axis_chunks_iter(Axis(0), BLOCK) {
        let (products, _) = product(block, training.t()).into_raw_vec_and_offset();
        let products = products.chunks_exact(training.nrows());
        for (query, products) in block.rows().into_iter().zip(products) {
            score(products, &training_norms, &mut scores, &mut smallest);
            let best = smallest.iter().copied().fold(f64::INFINITY, f64::min);
            // A sum of `width` products is off by at most width · ε · ‖x‖‖q‖ on either side.
            let scale = largest_norm + query.dot(&query);
            // Every score, distance and partial sum is at most 4 · scale.
            if !(4.0 * scale).is_finite() {
                return Err(Error::Overflow);
            }
            let doubt = 8.0 * (query.len() + 4) as f64 * f64::EPSILON * scale;
            let limit = best + doubt;
            let candidates = smallest
                .iter()
                .enumerate()
                .filter(|&(_, &smallest)| smallest <= limit)
                .flat_map(|(chunk, _)| chunk * CHUNK..scores.len().min((chunk + 1) * CHUNK))
                .filter(|&index| scores[index] <= limit);
            nearest.push(nearest_among(candidates, training, query).ok_or(Error::Overflow)?);
        }
    }
    Ok(nearest)
}

/// Labels each query as its nearest training sample.
pub fn classify_by_nearest(
    training: ArrayView2<'_, f64>,
    labels: &[usize],
    queries: ArrayView2<'_, f64>,
) -> Result<Vec<usize>> {
    if labels.len() != training.nrows() {
        return Err(Error::LabelCount { samples: training.nrows(), labels: labels.len() });
    }
    let nearest = nearest_neighbours(training, queries)?;
    Ok(nearest.into_iter().map(|index| labels[index]).collect())
}

/// The scores ‖x‖² − 2⟨x, q⟩ of all training samples x, and the smallest of each chunk.
fn score(products: &[f64], norms: &[f64], scores: &mut [f64], smallest: &mut [f64]) {
    let chunks = products.chunks(CHUNK).zip(norms.chunks(CHUNK)).zip(scores.chunks_mut(CHUNK));
    for (((products, norms), scores), smallest) in chunks.zip(smallest) {
        for ((score, product), norm) in scores.iter_mut().zip(products).zip(norms) {
            *score = norm - 2.0 * product;
        }
        // By lanes that a processor compares at once.
        let (lanes, rest) = scores.as_chunks::<8>();
        let least = lanes.iter().fold([f64::INFINITY; 8], |mut least, lanes| {
            for (least, &score) in least.iter_mut().zip(lanes) {
                *least = if score < *least { score } else { *least };
            }
            least
        });
        *smallest = least.iter().chain(rest).copied().fold(f64::INFINITY, f64::min);
    }
}

fn nearest_among(
    candidates: impl Iterator<Item = usize>,
    training: ArrayView2<'_, f64>,
    query: ArrayView1<'_, f64>,
) -> Option<usize> {
    let mut candidates = candidates.peekable();
    let first = candidates.next()?;
    // Nearly always there is one candidate only, and no distance to compute.
    if candidates.peek().is_none() {
        return Some(first);
    }
    let distance = |index: usize| squared_distance(training.row(index), query);
    let (nearest, _) = candidates.fold((first, distance(first)), |(best, smallest), index| {
        let candidate = distance(index);
        if candidate < smallest { (index, candidate) } else { (best, smallest) }
    });
    Some(nearest)
}

fn squared_distance(first: ArrayView1<'_, f64>, second: ArrayView1<'_, f64>) -> f64 {
    Zip::from(first).and(second).fold(0.0, |sum, &x, &y| sum + (x - y) * (x - y))
}

fn squared_norms(rows: ArrayView2<'_, f64>) -> Vec<f64> {
    rows.rows().into_iter().map(|row| row.dot(&row)).collect()
}

fn check(training: ArrayView2<'_, f64>, queries: ArrayView2<'_, f64>) -> Result<()> {
    if training.is_empty() {
        return Err(Error::Empty { what: "the training set" });
    }
    if training.ncols() != queries.ncols() {
        return Err(Error::WidthMismatch { training: training.ncols(), queries: queries.ncols() });
    }
    for (what, matrix) in [("training samples", training.view()), ("queries", queries.view())] {
        if let Some(((row, column), _)) =
            matrix.indexed_iter().find(|(_, value)| !value.is_finite())
        {
            return Err(Error::NotFinite { what, row: row + 1, column: column + 1 });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array, s};

    use super::*;

    /// Deterministic scatter without a dependency: the fractional parts of multiples of √2.
    fn scatter(rows: usize, columns: usize, offset: f64) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(row, column)| {
            (((row * columns + column) as f64 + offset) * std::f64::consts::SQRT_2 * 7.3).fract()
        })
    }

    fn by_brute_force(training: &Array2<f64>, query: ArrayView1<'_, f64>) -> usize {
        let mut best = 0;
        for index in 1..training.nrows() {
            let candidate = squared_distance(training.row(index), query);
            if candidate < squared_distance(training.row(best), query) {
                best = index;
            }
        }
        best
    }

    #[test]
    fn neighbours_are_those_of_brute_force_even_far_from_the_origin() {
        for shift in [0.0, 1e6] {
            let training = scatter(70, 33, 0.0) + shift;
            let queries = scatter(300, 33, 0.5) + shift;
            let found = nearest_neighbours(training.view(), queries.view()).unwrap();
            for (query, found) in queries.rows().into_iter().zip(found) {
                assert_eq!(found, by_brute_force(&training, query));
            }
        }
    }

    #[test]
    fn among_equal_distances_the_lowest_index_wins() {
        let training = array![[9.0, 9.0], [1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]];
        let queries = array![[0.0, 0.0], [1.0, 0.0]];
        assert_eq!(nearest_neighbours(training.view(), queries.view()).unwrap(), [1, 1]);
    }

    #[test]
    fn a_sample_is_its_own_neighbour_whatever_its_block() {
        let training = scatter(2 * BLOCK + 5, 3, 0.0);
        let all: Vec<usize> = (0..training.nrows()).collect();
        assert_eq!(nearest_neighbours(training.view(), training.view()).unwrap(), all);
    }

    #[test]
    fn distances_beyond_the_range_of_numbers_are_refused() {
        let near = array![[0.0, 0.0], [1.0, 1.0]];
        let far = array![[1e160, 0.0], [1e160, 1e160]];
        for (training, queries) in [(&near, &far), (&far, &near), (&far, &far)] {
            assert_eq!(nearest_neighbours(training.view(), queries.view()), Err(Error::Overflow));
        }
        let large = &far / 1e10;
        assert_eq!(nearest_neighbours(large.view(), large.view()).unwrap(), [0, 1]);
    }

    #[test]
    fn bad_input_is_named() {
        let training = scatter(3, 2, 0.0);
        let wide = scatter(3, 4, 0.0);
        assert_eq!(
            nearest_neighbours(training.view(), wide.view()),
            Err(Error::WidthMismatch { training: 2, queries: 4 })
        );
        assert_eq!(
            nearest_neighbours(training.slice(s![0..0, ..]), training.view()),
            Err(Error::Empty { what: "the training set" })
        );
        assert_eq!(
            classify_by_nearest(training.view(), &[0, 1], training.view()),
            Err(Error::LabelCount { samples: 3, labels: 2 })
        );
        let mut broken = training.clone();
        broken[[1, 1]] = f64::NAN;
        assert_eq!(
            nearest_neighbours(training.view(), broken.view()),
            Err(Error::NotFinite { what: "queries", row: 2, column: 2 })
        );
    }
}
