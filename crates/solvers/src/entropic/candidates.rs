//! The pairs that can carry mass near some potentials, with their costs.
//! At small λ these are few, and a sweep over them replaces one over the whole cost matrix. With f₀ the potential at
//! which they were listed, a pair is left out when its slack f₀ − c is more than a `reach` below the largest of its
//! outer sample. Another potential f changes differences of slacks by at most the range of f − f₀, so that no pair left
//! out comes within that much less than the reach of the largest.

use super::problem::{BLOCK, Problem};

/// How far beyond what counts now the list reaches, as a multiple of that: for potentials and λ of later.
const FORESIGHT: f64 = 1.6;

#[derive(Default)]
pub(super) struct Candidates {
    pub(super) columns: Vec<u32>,
    pub(super) costs: Vec<f64>,
    pub(super) row_starts: Vec<usize>,
    /// f₀.
    potential: Vec<f64>,
    reach: f64,
}

impl Candidates {
    /// Forgets a list that belongs to other costs.
    pub(super) fn clear(&mut self) {
        self.reach = f64::NEG_INFINITY;
    }

    /// Whether every pair with a slack less than `depth` below the largest of its outer sample is listed.
    pub(super) fn cover(&self, potential: &[f64], depth: f64) -> bool {
        if self.reach < depth || self.potential.len() != potential.len() {
            return false;
        }
        let changes = potential.iter().zip(&self.potential).map(|(now, then)| now - then);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for change in changes {
            least = least.min(change);
            most = most.max(change);
        }
        // Not a number covers nothing.
        most - least + depth <= self.reach
    }

    /// Lists the pairs that matter at this potential, and those that may soon.
    pub(super) fn list(&mut self, problem: &Problem<'_>, potential: &[f64], depth: f64) {
        let (outer, inner) = (problem.outer_len(), problem.inner_len());
        self.reach = FORESIGHT * depth;
        self.potential.clear();
        self.potential.extend_from_slice(potential);
        self.columns.clear();
        self.costs.clear();
        self.row_starts.clear();
        self.row_starts.push(0);
        let mut slacks = vec![0.0; BLOCK * inner];
        for first in (0..outer).step_by(BLOCK) {
            let count = BLOCK.min(outer - first);
            let rows = &mut slacks[..count * inner];
            let maxima = problem.slacks(first, potential, rows);
            for (slot, (row, largest)) in rows.chunks_exact(inner).zip(maxima).enumerate() {
                self.append(row, largest - self.reach, |inner| {
                    problem.cost_between(first + slot, inner)
                });
                self.row_starts.push(self.columns.len());
            }
        }
    }

    fn append(&mut self, slacks: &[f64], threshold: f64, cost: impl Fn(usize) -> f64) {
        const CHUNK: usize = 16;
        for (index, chunk) in slacks.chunks(CHUNK).enumerate() {
            if chunk.iter().all(|&slack| slack < threshold) {
                continue;
            }
            for (offset, &slack) in chunk.iter().enumerate() {
                // Not below: at the smallest λ the largest slack is all there is.
                if slack >= threshold {
                    let inner = index * CHUNK + offset;
                    self.columns.push(u32::try_from(inner).unwrap_or(u32::MAX));
                    self.costs.push(cost(inner));
                }
            }
        }
    }

    /// Writes the slacks of an outer sample's pairs and returns the largest.
    pub(super) fn slacks(&self, outer: usize, potential: &[f64], slacks: &mut Vec<f64>) -> f64 {
        let pairs = self.row_starts[outer]..self.row_starts[outer + 1];
        let mut largest = f64::NEG_INFINITY;
        slacks.clear();
        slacks.extend(self.columns[pairs.clone()].iter().zip(&self.costs[pairs]).map(
            |(&column, cost)| {
                let slack = potential[column as usize] - cost;
                largest = if slack > largest { slack } else { largest };
                slack
            },
        ));
        largest
    }

    /// The inner samples of an outer sample's pairs.
    pub(super) fn columns_of(&self, outer: usize) -> &[u32] {
        &self.columns[self.row_starts[outer]..self.row_starts[outer + 1]]
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::{Candidates, Problem};

    /// What a list promises, for potentials on both sides of what it covers.
    #[test]
    fn what_it_covers_is_listed() {
        let cost = Array2::from_shape_fn((23, 11), |(i, j)| ((7 * i + 5 * j) % 13) as f64 / 2.0);
        let problem = Problem::new(cost.view(), &[1.0 / 23.0; 23], &[1.0 / 11.0; 11]).unwrap();
        let (depth, inner) = (1.0, problem.inner_len());
        let listed_at: Vec<f64> = (0..inner).map(|i| (i % 3) as f64 / 4.0).collect();
        let mut candidates = Candidates::default();
        candidates.list(&problem, &listed_at, depth);
        assert!(candidates.columns.len() < cost.len());
        let mut verdicts = Vec::new();
        for size in [0.0, 0.1, 0.2, 0.5, 3.0] {
            let potential: Vec<f64> =
                listed_at.iter().enumerate().map(|(i, f)| f + size * (i % 4) as f64).collect();
            verdicts.push(candidates.cover(&potential, depth));
            if !candidates.cover(&potential, depth) {
                continue;
            }
            for outer in 0..problem.outer_len() {
                let slack = |inner: usize| potential[inner] - problem.cost_between(outer, inner);
                let largest = (0..inner).map(slack).fold(f64::NEG_INFINITY, f64::max);
                for inner in (0..inner).filter(|&inner| slack(inner) > largest - depth) {
                    let listed = candidates.columns_of(outer).iter().any(|&c| c as usize == inner);
                    assert!(listed, "{outer}, {inner} at {size}");
                }
                let found = candidates.slacks(outer, &potential, &mut Vec::new());
                assert!((found - largest).abs() < 1e-15);
            }
        }
        assert_eq!(verdicts, [true, true, true, false, false]);
        candidates.clear();
        assert!(!candidates.cover(&listed_at, depth));
    }
}
