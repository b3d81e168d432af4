//! Newton's directions by conjugate gradients on the rough kernel.

use super::kernel::{RoughKernel, single};
use super::loops::{Conjugate, conjugate_step, dot, turn_search};

/// A factorisation in double precision takes about as long as so many.
const MOST_PASSES: usize = 100;
/// A marginal below this counts as this, so that its reciprocal is one.
const SMALLEST_MARGINAL: f64 = 1e-30;

#[derive(Default)]
pub(super) struct Directions {
    solution: Vec<f32>,
    residual: Vec<f32>,
    search: Vec<f32>,
    image: Vec<f32>,
    preconditioner: Vec<f32>,
}

impl Directions {
    /// Vectors as long as the padded rows of the kernel.
    pub(super) fn resize(&mut self, padded: usize) {
        for vector in [
            &mut self.solution,
            &mut self.residual,
            &mut self.search,
            &mut self.image,
            &mut self.preconditioner,
        ] {
            vector.clear();
            vector.resize(padded, 0.0);
        }
    }

    /// Solves `H x = rhs` to a relative accuracy, H the curvature at the kernel's plan; false when that takes too long.
    /// `rhs` sums to zero.
    pub(super) fn solve(
        &mut self,
        kernel: &mut RoughKernel,
        rhs: &[f64],
        solution: &mut [f64],
        accuracy: f64,
    ) -> bool {
        // Of this size, so that squares are far from the ends of single precision.
        let size = rhs.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        if size == 0.0 || !size.is_finite() {
            solution.fill(0.0);
            return size == 0.0;
        }
        // What rounding leaves of its sum, H can make of nothing.
        let mean = rhs.iter().sum::<f64>() / kernel.marginal.iter().sum::<f64>();
        for ((residual, value), marginal) in self.residual.iter_mut().zip(rhs).zip(&kernel.marginal)
        {
            *residual = single((value - mean * marginal) / size);
        }
        for (inverse, marginal) in self.preconditioner.iter_mut().zip(&kernel.marginal) {
            *inverse = single(1.0 / marginal.max(SMALLEST_MARGINAL));
        }
        self.solution.fill(0.0);
        self.search.fill(0.0);
        let mut norm = conjugate_step(&mut self.vectors(), 0.0);
        turn_search(&mut self.vectors(), 0.0);
        let goal = norm * single(accuracy * accuracy);
        let mut passes = 0;
        while norm > goal {
            if passes == MOST_PASSES {
                return false;
            }
            passes += 1;
            kernel.apply_curvature(&self.search, &mut self.image);
            let curvature = dot(&self.search, &self.image);
            if curvature <= 0.0 || !curvature.is_finite() {
                return false;
            }
            let next = conjugate_step(&mut self.vectors(), norm / curvature);
            turn_search(&mut self.vectors(), next / norm);
            norm = next;
        }
        for (solution, x) in solution.iter_mut().zip(&self.solution) {
            *solution = f64::from(*x) * size;
        }
        norm.is_finite()
    }

    fn vectors(&mut self) -> Conjugate<'_> {
        let Self { solution, residual, search, image, preconditioner } = self;
        Conjugate { solution, residual, search, image, preconditioner }
    }
}
