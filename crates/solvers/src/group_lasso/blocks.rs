//! B, the block-diagonal part of the curvature: how the groups of a class respond to its potentials while the target
//! potentials stand still. One small dense matrix a class, with its Cholesky factor.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::kernel::Kernel;
use super::problem::Problem;
use crate::cholesky::{cholesky, cholesky_solve};
use crate::loops::scale_and_accumulate;

#[derive(Default)]
pub(super) struct Blocks {
    /// The blocks of B + damping, class after class, column by column; and their Cholesky factors.
    values: Vec<f64>,
    factors: Vec<f64>,
    starts: Vec<usize>,
    /// The diagonal part of B: what each sample responds with alone. Less than its marginal where norms resist.
    pub(super) own: Vec<f64>,
    panel: Vec<f64>,
}

impl Blocks {
    pub(super) fn resize(&mut self, problem: &Problem<'_>) {
        self.starts.clear();
        self.starts.push(0);
        let mut end = 0;
        for class in 0..problem.classes() {
            end += problem.class(class).len().pow(2);
            self.starts.push(end);
        }
        self.values.resize(end, 0.0);
        self.factors.resize(end, 0.0);
        self.own.resize(problem.sources.len(), 0.0);
    }

    /// Assembles B + damping · diag(masses) at the kernel's plan, and factors its blocks; false when one
    /// is numerically singular.
    pub(super) fn assemble(
        &mut self,
        problem: &Problem<'_>,
        kernel: &Kernel,
        damping: f64,
    ) -> bool {
        self.own.fill(0.0);
        for class in 0..problem.classes() {
            let range = problem.class(class);
            let size = range.len();
            self.panel.clear();
            for target in 0..problem.targets.len() {
                let start = self.panel.len();
                self.panel.resize(start + size, 0.0);
                let (shares, own) = (&mut self.panel[start..], &mut self.own[range.clone()]);
                let coupling = kernel.response(problem, target, class, shares, own);
                if coupling == 0.0 {
                    self.panel.truncate(start);
                } else {
                    let root = coupling.sqrt();
                    for share in shares {
                        *share *= root;
                    }
                }
            }
            let place = self.starts[class]..self.starts[class + 1];
            let block = &mut self.values[place.clone()];
            let panel = MatRef::from_column_major_slice(&self.panel, size, self.panel.len() / size);
            matmul(
                MatMut::from_column_major_slice_mut(block, size, size),
                Accum::Replace,
                panel,
                panel.transpose(),
                1.0,
                Par::Seq,
            );
            for (offset, source) in range.enumerate() {
                block[offset * (size + 1)] +=
                    self.own[source] + damping * problem.source_mass[source];
            }
            let factor = &mut self.factors[place.clone()];
            factor.copy_from_slice(&self.values[place]);
            if !cholesky(factor, size) {
                return false;
            }
        }
        true
    }

    /// The block of a class, column by column.
    pub(super) fn of_class(&self, class: usize) -> &[f64] {
        &self.values[self.starts[class]..self.starts[class + 1]]
    }

    /// The Cholesky factor of the block of a class.
    pub(super) fn factor_of_class(&self, class: usize) -> &[f64] {
        &self.factors[self.starts[class]..self.starts[class + 1]]
    }

    /// x ← B⁻¹x.
    pub(super) fn solve(&self, problem: &Problem<'_>, x: &mut [f64]) {
        for class in 0..problem.classes() {
            cholesky_solve(self.factor_of_class(class), &mut x[problem.class(class)]);
        }
    }

    /// `image = B x`.
    pub(super) fn apply(&self, problem: &Problem<'_>, x: &[f64], image: &mut [f64]) {
        image.fill(0.0);
        for class in 0..problem.classes() {
            let range = problem.class(class);
            let columns = self.of_class(class).chunks_exact(range.len());
            for (column, &x) in columns.zip(&x[range.clone()]) {
                scale_and_accumulate(column, x, &mut image[range.clone()]);
            }
        }
    }
}
