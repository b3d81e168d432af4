//! The paper's class-based regularizers and others, one file each.

mod group_lasso;
mod laplacian;
mod lp_l1;
mod quadratic;

pub use group_lasso::GroupLasso;
pub use laplacian::Laplacian;
pub use lp_l1::LpL1;
pub use quadratic::Quadratic;

/// The rows of each class, in order; classes without rows are left out.
fn rows_by_class(labels: &[usize]) -> Vec<Vec<usize>> {
    let classes = labels.iter().max().map_or(0, |largest| largest + 1);
    let mut rows = vec![Vec::new(); classes];
    for (row, &label) in labels.iter().enumerate() {
        rows[label].push(row);
    }
    rows.retain(|class| !class.is_empty());
    rows
}
