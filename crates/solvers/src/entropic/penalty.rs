//! A reweighting of the costs that takes no other matrix: it is added where costs are read.

use ndarray::{Array2, Axis};

use super::problem::BLOCK;

/// What is added to the costs of each class of rows, one value a column: a reweighting that takes no other matrix.
#[derive(Clone, Copy)]
pub(crate) struct ClassPenalty<'a> {
    /// The class of each row.
    pub(crate) classes: &'a [usize],
    /// Classes × columns, all finite.
    pub(crate) values: &'a Array2<f64>,
}

impl<'a> ClassPenalty<'a> {
    /// The largest charge minus the smallest one.
    pub(super) fn range(&self) -> f64 {
        let most = self.values.iter().fold(f64::NEG_INFINITY, |most, &charge| most.max(charge));
        let least = self.values.iter().fold(f64::INFINITY, |least, &charge| least.min(charge));
        most - least
    }

    pub(super) fn of_pair(&self, (row, column): (usize, usize)) -> f64 {
        self.values[(self.classes[row], column)]
    }

    /// What the pairs of a row are charged.
    pub(super) fn of_row(&self, row: usize) -> &'a [f64] {
        // An array of ours is contiguous.
        self.values.index_axis(Axis(0), self.classes[row]).to_slice().unwrap_or_default()
    }

    /// Writes `potential - cost - charge` for a block of columns of the cost matrix from `first` on, one row for each.
    pub(super) fn transposed_slacks(
        &self,
        costs: &[f64],
        (columns, first): (usize, usize),
        potential: &[f64],
        rows: &mut [f64],
    ) {
        let width = potential.len();
        let charges = self.values.as_slice().unwrap_or_default();
        let costs = costs.chunks_exact(columns).zip(potential).zip(self.classes);
        for (position, ((costs, potential), class)) in costs.enumerate() {
            let start = class * columns + first;
            let (costs, charges) = (&costs[first..first + BLOCK], &charges[start..start + BLOCK]);
            for (slot, (cost, charge)) in costs.iter().zip(charges).enumerate() {
                rows[slot * width + position] = potential - (cost + charge);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Array2, BLOCK, ClassPenalty};
    use crate::entropic::problem::Problem;

    /// In both orientations, with whole and partial blocks, and where a sample has no mass.
    #[test]
    fn a_penalty_is_as_good_as_higher_costs() {
        let penalties = Array2::from_shape_fn((3, 21), |(class, j)| ((class + 2 * j) % 5) as f64);
        for (rows, columns, massless) in [(13, 21, None), (34, 21, None), (34, 21, Some(4))] {
            let cost = Array2::from_shape_fn((rows, columns), |(i, j)| ((i * j) % 11) as f64);
            let classes: Vec<usize> = (0..rows).map(|row| row % 3).collect();
            let higher = Array2::from_shape_fn((rows, columns), |(i, j)| {
                cost[(i, j)] + penalties[(classes[i], j)]
            });
            let count = rows - massless.iter().len();
            let mass = |row| if Some(row) == massless { 0.0 } else { 1.0 / count as f64 };
            let source_mass: Vec<f64> = (0..rows).map(mass).collect();
            let target_mass = vec![1.0 / columns as f64; columns];
            let plain = Problem::new(cost.view(), &source_mass, &target_mass).unwrap();
            let penalty = ClassPenalty { classes: &classes, values: &penalties };
            let found = plain.reweighted(penalty);
            let expected = Problem::new(higher.view(), &source_mass, &target_mass).unwrap();
            assert!(found.cost_spread >= expected.cost_spread);
            let width = expected.inner_len();
            let potential: Vec<f64> = (0..width).map(|k| (k as f64).sin()).collect();
            for first in (0..expected.outer_len()).step_by(BLOCK) {
                let count = BLOCK.min(expected.outer_len() - first);
                let slacks = |problem: &Problem<'_>| {
                    let mut rows = vec![0.0; count * width];
                    let maxima = problem.slacks(first, &potential, &mut rows);
                    (rows, maxima)
                };
                let (found, expected) = (slacks(&found), slacks(&expected));
                assert_eq!(found.1, expected.1);
                for (found, expected) in found.0.iter().zip(&expected.0) {
                    assert!((found - expected).abs() < 1e-14, "{found} and {expected}");
                }
            }
            let means = |problem: &Problem<'_>| {
                let mut means = vec![0.0; width];
                problem.mean_costs(&mut means);
                means
            };
            for (found, expected) in means(&found).iter().zip(means(&expected)) {
                assert!((found - expected).abs() < 1e-13, "{found} and {expected}");
            }
        }
    }
}
