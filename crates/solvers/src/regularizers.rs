//! The paper's class-based regularizers and others, one file each.

mod group_lasso;
mod laplacian;
mod lp_l1;
mod quadratic;

use std::collections::BTreeMap;

use crate::checks::check_length;
use crate::error::Result;

pub use group_lasso::GroupLasso;
pub use laplacian::Laplacian;
pub use lp_l1::LpL1;
pub use quadratic::Quadratic;

/// The rows of each class, in the order of the labels, which may be any numbers.
fn rows_by_class(labels: &[usize]) -> Vec<Vec<usize>> {
    let mut rows = BTreeMap::<usize, Vec<usize>>::new();
    for (row, &label) in labels.iter().enumerate() {
        rows.entry(label).or_default().push(row);
    }
    rows.into_values().collect()
}

/// Fails unless the classes are those of so many rows.
fn check_rows(classes: &[Vec<usize>], rows: usize) -> Result<()> {
    let labels = classes.iter().map(Vec::len).sum();
    check_length("the labels of the regularizer", labels, "the rows of cost", rows)
}
