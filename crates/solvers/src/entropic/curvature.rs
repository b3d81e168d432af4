//! Linear systems with the curvature of the semi-dual, `H = diag(r) - WᵀW`.
//! H is the Laplacian of a graph on the inner samples: symmetric, non-negative, and zero on
//! constants. Conjugate gradients serve while they are short, a dense Cholesky factor afterwards.

use faer::MatRef;
use rayon::prelude::*;

use super::kernel::Kernel;
use super::sparse_factor::SparseFactor;
use crate::cholesky::{cholesky, cholesky_solve, complete_laplacian};
use crate::loops::dot;
use crate::product::write_upper_gram;

/// What a sparse factor of a long list costs, about.
const SWEEPS_PER_SPARSE_FACTOR: usize = 20;
/// Most sweeps with a sparse factor before the dense one is the better choice.
const SPARSE_SWEEPS: usize = 60;
/// Half a megabyte, which a core's own cache holds.
const ENTRIES_AT_HAND: usize = 1 << 16;

#[derive(Default)]
pub(super) struct Curvature {
    /// Lower triangle, column by column; its Cholesky factor once `is_factored`.
    matrix: Vec<f64>,
    sparse: SparseFactor,
    pub(super) is_factored: bool,
    residual: Vec<f64>,
    preconditioned: Vec<f64>,
    search: Vec<f64>,
    image: Vec<f64>,
}

impl Curvature {
    pub(super) fn resize(&mut self, inner: usize) {
        if self.residual.len() != inner {
            self.matrix.clear();
        }
        for vector in
            [&mut self.residual, &mut self.preconditioned, &mut self.search, &mut self.image]
        {
            vector.resize(inner, 0.0);
        }
        self.is_factored = false;
    }

    /// How many sweeps over the kernel cost as much as one factorisation (measured constants).
    pub(super) fn sweeps_per_factorisation(kernel: &Kernel) -> usize {
        let inner = kernel.potential.len() as f64;
        let outer = kernel.outer_scaling.len() as f64;
        let factorisation = 0.02 * inner * inner * inner;
        if kernel.is_long_list() {
            return SWEEPS_PER_SPARSE_FACTOR;
        }
        let (assembly, sweep) = if kernel.is_sparse {
            let entries = *kernel.row_starts.last().unwrap_or(&0) as f64;
            (0.5 * entries * entries / outer, 2.0 * entries)
        } else {
            (0.04 * outer * inner * inner, 0.5 * outer * inner)
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let sweeps = ((factorisation + assembly) / sweep) as usize;
        sweeps.max(4)
    }

    /// Solves `H x = rhs` by conjugate gradients, preconditioned with diag(r), to the relative
    /// accuracy `accuracy`; false when that took more than `limit` sweeps. `rhs` sums to zero.
    pub(super) fn solve_iteratively(
        &mut self,
        kernel: &mut Kernel,
        rhs: &[f64],
        solution: &mut [f64],
        accuracy: f64,
        limit: usize,
    ) -> bool {
        self.conjugate_gradients(kernel, rhs, solution, None, (accuracy, limit))
    }

    /// Solves `(H + damping · diag(masses)) x = rhs` by conjugate gradients, preconditioned with a sparse factor of the
    /// strong links; false when that factor is not worth its while.
    pub(super) fn solve_sparsely(
        &mut self,
        kernel: &mut Kernel,
        rhs: &[f64],
        solution: &mut [f64],
        (masses, damping): (&[f64], f64),
        accuracy: f64,
    ) -> bool {
        if !self.sparse.factor(kernel, masses, damping) {
            return false;
        }
        let done = self.conjugate_gradients(
            kernel,
            rhs,
            solution,
            Some((masses, damping)),
            (accuracy, SPARSE_SWEEPS),
        );
        let mean = solution.iter().sum::<f64>() / solution.len() as f64;
        for x in solution {
            *x -= mean;
        }
        done
    }

    /// With masses and a damping the preconditioner is the sparse factor of that.
    fn conjugate_gradients(
        &mut self,
        kernel: &mut Kernel,
        rhs: &[f64],
        solution: &mut [f64],
        damped: Option<(&[f64], f64)>,
        (accuracy, limit): (f64, usize),
    ) -> bool {
        solution.fill(0.0);
        self.residual.copy_from_slice(rhs);
        self.precondition(kernel, damped.is_some());
        self.search.copy_from_slice(&self.preconditioned);
        let mut norm = dot(&self.residual, &self.preconditioned);
        let goal = norm * accuracy * accuracy;
        for _ in 0..limit {
            if norm <= goal {
                return true;
            }
            kernel.apply_curvature(&self.search, &mut self.image);
            if let Some((masses, damping)) = damped {
                for ((image, search), mass) in self.image.iter_mut().zip(&self.search).zip(masses) {
                    *image += damping * mass * search;
                }
            }
            let curvature = dot(&self.search, &self.image);
            if curvature <= 0.0 || !curvature.is_finite() {
                return false;
            }
            let step = norm / curvature;
            for (((x, search), residual), image) in
                solution.iter_mut().zip(&self.search).zip(&mut self.residual).zip(&self.image)
            {
                *x += step * search;
                *residual -= step * image;
            }
            self.precondition(kernel, damped.is_some());
            let next = dot(&self.residual, &self.preconditioned);
            let ratio = next / norm;
            norm = next;
            for (search, preconditioned) in self.search.iter_mut().zip(&self.preconditioned) {
                *search = preconditioned + ratio * *search;
            }
        }
        norm <= goal
    }

    fn precondition(&mut self, kernel: &Kernel, sparsely: bool) {
        if sparsely {
            self.preconditioned.copy_from_slice(&self.residual);
            self.sparse.solve(&mut self.preconditioned);
            return;
        }
        for ((output, residual), marginal) in
            self.preconditioned.iter_mut().zip(&self.residual).zip(&kernel.marginal)
        {
            *output = residual / marginal.max(f64::MIN_POSITIVE);
        }
    }

    /// Assembles and factors H + damping · diag(masses) at the kernel's current plan; false when that
    /// is numerically singular.
    pub(super) fn factor(&mut self, kernel: &mut Kernel, masses: &[f64], damping: f64) -> bool {
        let inner = kernel.potential.len();
        kernel.absorb_scaling();
        self.matrix.resize(inner * inner, 0.0);
        if kernel.is_sparse {
            self.matrix.fill(0.0);
            self.subtract_sparse_products(kernel);
        } else {
            let outer = kernel.outer_scaling.len();
            let weights = MatRef::from_column_major_slice(&kernel.values, inner, outer);
            // The upper triangle by rows is the lower one by columns.
            write_upper_gram(-1.0, weights, &mut self.matrix);
        }
        complete_laplacian(&mut self.matrix, masses, damping);
        self.is_factored = cholesky(&mut self.matrix, inner);
        self.is_factored
    }

    /// −WᵀW below the diagonal, from a list. Some columns at a time, so that what the rows' entries meet is near at hand.
    fn subtract_sparse_products(&mut self, kernel: &Kernel) {
        let inner = kernel.potential.len();
        let of_a_part = (ENTRIES_AT_HAND / inner).max(1);
        let parts = self.matrix.par_chunks_mut(of_a_part * inner).enumerate();
        parts.for_each(|(part, matrix)| {
            let first = part * of_a_part;
            for bounds in kernel.row_starts.windows(2) {
                let columns = &kernel.columns[bounds[0]..bounds[1]];
                let values = &kernel.values[bounds[0]..bounds[1]];
                // A row's entries are in the order of their columns.
                let before =
                    |end: usize| columns.partition_point(|&column| (column as usize) < end);
                for position in before(first)..before(first + of_a_part) {
                    let place = (columns[position] as usize - first) * inner;
                    let (target, value) = (&mut matrix[place..place + inner], values[position]);
                    let below = columns[position + 1..].iter().zip(&values[position + 1..]);
                    for (&row, other) in below {
                        target[row as usize] -= value * other;
                    }
                }
            }
        });
    }

    /// Solves with the last factor, which may belong to slightly different potentials.
    pub(super) fn solve_directly(&mut self, rhs: &[f64], solution: &mut [f64]) {
        let inner = rhs.len();
        solution.copy_from_slice(rhs);
        cholesky_solve(&self.matrix, solution);
        let mean = solution.iter().sum::<f64>() / inner as f64;
        for x in solution {
            *x -= mean;
        }
    }
}
