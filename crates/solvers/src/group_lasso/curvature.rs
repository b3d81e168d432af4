//! Linear systems with the curvature of the semi-dual, H = B − WWᵀ.
//! B is block-diagonal by class (the response of the groups to u) and WWᵀ what the target marginals take
//! back. H is symmetric, non-negative, and zero on constants. Conjugate gradients, preconditioned by B, serve while they
//! are short. Afterwards comes a dense Cholesky factor on the shorter side: of H itself, or, with B = LLᵀ, of
//! S = I − WᵀB⁻¹W, from which H⁻¹ = B⁻¹ + B⁻¹W S⁻¹ WᵀB⁻¹.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

use super::blocks::Blocks;
use super::kernel::Kernel;
use super::problem::Problem;
use crate::cholesky::{cholesky, cholesky_solve};
use crate::loops::{dot, scale_and_accumulate};

/// Groups are gathered into panels only where fewer than one in this many have mass.
const SPARSE_DIVISOR: usize = 4;

#[derive(Default)]
pub(super) struct Curvature {
    pub(super) blocks: Blocks,
    /// Lower triangle of H or S, column by column; its Cholesky factor once `is_factored`.
    matrix: Vec<f64>,
    pub(super) is_factored: bool,
    panel: Vec<f64>,
    product: Vec<f64>,
    residual: Vec<f64>,
    preconditioned: Vec<f64>,
    search: Vec<f64>,
    image: Vec<f64>,
    target_vector: Vec<f64>,
}

impl Curvature {
    pub(super) fn resize(&mut self, problem: &Problem<'_>) {
        self.blocks.resize(problem);
        let sources = problem.sources.len();
        for vector in
            [&mut self.residual, &mut self.preconditioned, &mut self.search, &mut self.image]
        {
            vector.resize(sources, 0.0);
        }
        self.target_vector.resize(problem.targets.len(), 0.0);
        self.is_factored = false;
    }

    /// Returns the memory of the last factor.
    pub(super) fn forget_factor(&mut self) {
        self.is_factored = false;
        self.matrix = Vec::new();
    }

    fn reduces_to_targets(problem: &Problem<'_>) -> bool {
        problem.targets.len() < problem.sources.len()
    }

    /// How many sweeps over the kernel cost as much as one factorisation (measured constants).
    pub(super) fn sweeps_per_factorisation(problem: &Problem<'_>, kernel: &Kernel) -> usize {
        let (sources, targets) = (problem.sources.len() as f64, problem.targets.len() as f64);
        let entries = kernel.kept as f64;
        let (short, long) = (sources.min(targets), sources.max(targets));
        let assembly = 0.04 * short * short * long * (entries / (sources * targets)).powi(2);
        let sweeps = (0.02 * short.powi(3) + assembly) / (0.5 * entries);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let sweeps = sweeps as usize;
        sweeps.max(4)
    }

    /// Assembles B + damping · diag(masses); false when that is numerically singular. All solves but those with an
    /// old factor need it.
    pub(super) fn assemble_blocks(
        &mut self,
        problem: &Problem<'_>,
        kernel: &Kernel,
        damping: f64,
    ) -> bool {
        self.is_factored = false;
        self.blocks.assemble(problem, kernel, damping)
    }

    /// `image = H x`.
    fn apply(&mut self, problem: &Problem<'_>, kernel: &Kernel) {
        let (x, image) = (&self.search, &mut self.image);
        self.blocks.apply(problem, x, image);
        kernel.subtract_coupling(problem, x, image);
    }

    /// Solves `H x = rhs` by conjugate gradients to the relative accuracy `accuracy`; false when that took more
    /// than `limit` sweeps. The blocks are assembled, and `rhs` sums to zero.
    pub(super) fn solve_iteratively(
        &mut self,
        problem: &Problem<'_>,
        kernel: &Kernel,
        rhs: &[f64],
        solution: &mut [f64],
        accuracy: f64,
        limit: usize,
    ) -> bool {
        solution.fill(0.0);
        self.residual.copy_from_slice(rhs);
        self.precondition(problem);
        self.search.copy_from_slice(&self.preconditioned);
        let mut norm = dot(&self.residual, &self.preconditioned);
        let goal = norm * accuracy * accuracy;
        for _ in 0..limit {
            if norm <= goal {
                return true;
            }
            self.apply(problem, kernel);
            let curvature = dot(&self.search, &self.image);
            if curvature <= 0.0 || !curvature.is_finite() {
                return false;
            }
            let step = norm / curvature;
            scale_and_accumulate(&self.search, step, solution);
            scale_and_accumulate(&self.image, -step, &mut self.residual);
            self.precondition(problem);
            let next = dot(&self.residual, &self.preconditioned);
            let ratio = next / norm;
            norm = next;
            for (search, preconditioned) in self.search.iter_mut().zip(&self.preconditioned) {
                *search = preconditioned + ratio * *search;
            }
        }
        norm <= goal
    }

    fn precondition(&mut self, problem: &Problem<'_>) {
        self.preconditioned.copy_from_slice(&self.residual);
        self.blocks.solve(problem, &mut self.preconditioned);
    }

    /// Assembles and factors the reduced system at the kernel's current plan, for which the blocks are
    /// assembled; false when that is numerically singular.
    pub(super) fn factor(&mut self, problem: &Problem<'_>, kernel: &Kernel) -> bool {
        let size = if Self::reduces_to_targets(problem) {
            self.assemble_target_system(problem, kernel);
            problem.targets.len()
        } else {
            self.assemble_source_system(problem, kernel);
            problem.sources.len()
        };
        self.is_factored = cholesky(&mut self.matrix, size);
        self.is_factored
    }

    /// B − WWᵀ.
    fn assemble_source_system(&mut self, problem: &Problem<'_>, kernel: &Kernel) {
        let (sources, targets) = (problem.sources.len(), problem.targets.len());
        self.matrix.resize(sources * sources, 0.0);
        if SPARSE_DIVISOR * kernel.kept < kernel.values.len() {
            self.matrix.fill(0.0);
            self.subtract_sparse_products(problem, kernel);
        } else {
            let weights = MatRef::from_column_major_slice(&kernel.values, sources, targets);
            matmul(
                MatMut::from_column_major_slice_mut(&mut self.matrix, sources, sources),
                BlockStructure::TriangularLower,
                Accum::Replace,
                weights,
                BlockStructure::Rectangular,
                weights.transpose(),
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
        }
        for class in 0..problem.classes() {
            let range = problem.class(class);
            let block = self.blocks.of_class(class);
            for (column, values) in range.clone().zip(block.chunks_exact(range.len())) {
                let place = column * sources + range.start..column * sources + range.end;
                scale_and_accumulate(values, 1.0, &mut self.matrix[place]);
            }
        }
    }

    fn subtract_sparse_products(&mut self, problem: &Problem<'_>, kernel: &Kernel) {
        let (sources, classes) = (problem.sources.len(), problem.classes());
        let columns = kernel.values.chunks_exact(sources);
        for (values, norms) in columns.zip(kernel.norms.chunks_exact(classes)) {
            for class in (0..classes).filter(|&class| norms[class] > 0.0) {
                for column in problem.class(class) {
                    let matrix = &mut self.matrix[column * sources..(column + 1) * sources];
                    for other in (class..classes).filter(|&other| norms[other] > 0.0) {
                        let range = problem.class(other);
                        scale_and_accumulate(
                            &values[range.clone()],
                            -values[column],
                            &mut matrix[range],
                        );
                    }
                }
            }
        }
    }

    /// I − WᵀB⁻¹W, class by class from the targets to which the class sends mass.
    fn assemble_target_system(&mut self, problem: &Problem<'_>, kernel: &Kernel) {
        let (sources, targets) = (problem.sources.len(), problem.targets.len());
        let classes = problem.classes();
        self.matrix.clear();
        self.matrix.resize(targets * targets, 0.0);
        for target in 0..targets {
            self.matrix[target * (targets + 1)] = 1.0;
        }
        for class in 0..classes {
            let range = problem.class(class);
            let has_mass = |target: &usize| kernel.norms[target * classes + class] > 0.0;
            let served = (0..targets).filter(has_mass).count();
            let is_sparse = SPARSE_DIVISOR * served < targets;
            let members: Vec<usize> =
                (0..targets).filter(|target| !is_sparse || has_mass(target)).collect();
            // A class whose masses all underflow, far from the solution.
            if members.is_empty() {
                continue;
            }
            self.panel.clear();
            for target in &members {
                let start = target * sources;
                self.panel
                    .extend_from_slice(&kernel.values[start + range.start..start + range.end]);
            }
            let (size, width) = (range.len(), members.len());
            let factor = self.blocks.factor_of_class(class);
            solve_lower_triangular_in_place(
                MatRef::from_column_major_slice(factor, size, size),
                MatMut::from_column_major_slice_mut(&mut self.panel, size, width),
                Par::Seq,
            );
            let panel = MatRef::from_column_major_slice(&self.panel, size, width);
            let (output, accumulate) = if is_sparse {
                self.product.resize(width * width, 0.0);
                (&mut self.product[..width * width], Accum::Replace)
            } else {
                (&mut self.matrix[..], Accum::Add)
            };
            matmul(
                MatMut::from_column_major_slice_mut(output, width, width),
                BlockStructure::TriangularLower,
                accumulate,
                panel.transpose(),
                BlockStructure::Rectangular,
                panel,
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
            if is_sparse {
                for (column, products) in members.iter().zip(self.product.chunks_exact(width)) {
                    for (row, product) in members.iter().zip(products) {
                        self.matrix[column * targets + row] += product;
                    }
                }
            }
        }
    }

    /// Solves with the last factor, which may belong to slightly different potentials.
    pub(super) fn solve_directly(
        &mut self,
        problem: &Problem<'_>,
        kernel: &Kernel,
        rhs: &[f64],
        solution: &mut [f64],
    ) {
        solution.copy_from_slice(rhs);
        if Self::reduces_to_targets(problem) {
            self.blocks.solve(problem, solution);
            kernel.transposed_product(solution, &mut self.target_vector);
            cholesky_solve(&self.matrix, &mut self.target_vector);
            self.image.fill(0.0);
            kernel.accumulate_product(&self.target_vector, &mut self.image);
            self.blocks.solve(problem, &mut self.image);
            scale_and_accumulate(&self.image, 1.0, solution);
        } else {
            cholesky_solve(&self.matrix, solution);
        }
        let mean = solution.iter().sum::<f64>() / solution.len() as f64;
        for x in solution {
            *x -= mean;
        }
    }
}
