//! Dense Cholesky factors, by the kernels of `faer`, and the Laplacians that are factored.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{MatMut, MatRef, Par};

/// Replaces the lower triangle of a matrix, column by column, by its Cholesky factor; false when it is not positive
/// definite.
pub(crate) fn cholesky(matrix: &mut [f64], size: usize) -> bool {
    let scratch =
        llt::factor::cholesky_in_place_scratch::<f64>(size, Par::Seq, faer::Spec::default());
    llt::factor::cholesky_in_place(
        MatMut::from_column_major_slice_mut(matrix, size, size),
        llt::factor::LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        faer::Spec::default(),
    )
    .is_ok()
}

/// Solves with a Cholesky factor, in place.
pub(crate) fn cholesky_solve(factor: &[f64], x: &mut [f64]) {
    let size = x.len();
    llt::solve::solve_in_place(
        MatRef::from_column_major_slice(factor, size, size),
        MatMut::from_column_major_slice_mut(x, size, 1),
        Par::Seq,
        MemStack::new(&mut []),
    );
}

/// Completes a graph's Laplacian of which the entries below the diagonal are given, column by column: its rows sum to
/// zero, which tells the diagonal without cancellation. `damping` times the masses is added to it.
pub(crate) fn complete_laplacian(matrix: &mut [f64], masses: &[f64], damping: f64) {
    let size = masses.len();
    let mut diagonal = vec![0.0; size];
    for column in 0..size {
        let entries = &mut matrix[column * size..(column + 1) * size];
        let mut sum = 0.0;
        for (entry, below) in entries[column + 1..].iter().zip(&mut diagonal[column + 1..]) {
            sum -= *entry;
            *below -= *entry;
        }
        entries[column] = diagonal[column] + sum + damping * masses[column];
    }
}
