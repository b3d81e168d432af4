//! Both domains in a common space, where a classifier learned on one is used on the other.

use ndarray::{Array2, Axis};

use crate::error::Result;
use crate::nearest::classify_by_nearest;

/// Source and target samples in a common space; rows are samples, in the order in which they were given.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The source samples.
    pub source: Array2<f64>,
    /// The target samples.
    pub target: Array2<f64>,
}

impl Embedding {
    /// Labels each target sample as its nearest source sample.
    pub fn classify(&self, source_labels: &[usize]) -> Result<Vec<usize>> {
        classify_by_nearest(self.source.view(), source_labels, self.target.view())
    }
}

/// Divides each row by its Euclidean norm; rows of zeros stay.
pub(crate) fn scale_rows_to_unit_norm(rows: &mut Array2<f64>) {
    for mut row in rows.axis_iter_mut(Axis(0)) {
        // Twice, because the squares of tiny entries underflow: the largest entry first.
        let largest = row.fold(0.0_f64, |largest, value| largest.max(value.abs()));
        if largest > 0.0 {
            row /= largest;
            let norm = row.dot(&row).sqrt();
            row /= norm;
        }
    }
}
