//! Rows of matrices as slices, which is what the loops take.

use std::borrow::Cow;

use ndarray::ArrayView1;

/// The entries of a row, copied if they are not one after the other.
pub(crate) fn entries(row: ArrayView1<'_, f64>) -> Cow<'_, [f64]> {
    row.to_slice().map_or_else(|| Cow::Owned(row.to_vec()), Cow::Borrowed)
}
