//! Following the potentials from a large λ down to a small one at fixed η.
//! At λ/C ≪ 1 Newton's method only works close to the solution, so λ falls in factors and the
//! potentials are extrapolated along the tangent du/dλ in between. It stores no plan.

use super::ascent::{Ascent, Goal};
use super::problem::Problem;
use crate::entropic::Potentials;
use crate::error::Result;
use crate::stop::Stop;

/// Share of the cost spread at which the limit λ → ∞ is a good start.
pub(super) const FIRST_SHARE: f64 = 0.25;
/// Marginal error up to which an intermediate λ is solved; looser ones spoil the extrapolation.
const INTERMEDIATE_ERROR: f64 = 1e-3;
/// A warm start with a larger marginal error is not trusted,
const TRUSTED_START: f64 = 0.1;
/// nor one that leaves a sample with less than this share of its mass: it may be any distance away.
const STARVED_SHARE: f64 = 1e-6;
/// A start from another η has to be better: it is not on the path, and far along a flat direction few masses tell.
const CLOSE_NEIGHBOUR: f64 = 1e-2;
/// An extrapolation with a larger marginal error is repeated with a smaller step.
const TRUSTED_EXTRAPOLATION: f64 = 0.1;
/// After an extrapolation with a smaller marginal error λ falls faster, after a larger one slower.
const EASY_ERROR: f64 = 5e-3;
const HARD_ERROR: f64 = 5e-2;
/// du/dλ is a difference of logarithms of plan entries; a larger one is rounding, at a sample whose
/// mass is so small that its potential hardly matters.
const LARGEST_TANGENT: f64 = 100.0;
const FIRST_FACTOR: f64 = 0.5;
const SMALLEST_FACTOR: f64 = 0.25;
const LARGEST_FACTOR: f64 = 0.8;
const EXTRAPOLATIONS: usize = 4;

/// Where the continuation stands.
pub(super) struct Continuation {
    entropy_weight: f64,
    factor: f64,
    spread: Vec<f64>,
    start: Vec<f64>,
}

impl Continuation {
    /// Starts from the potential in the kernel: at `target` when that is close enough, otherwise at
    /// the smallest multiple of it where it is.
    pub(super) fn warm(ascent: &mut Ascent, problem: &Problem<'_>, target: f64) -> Self {
        let mut entropy_weight = target;
        ascent.evaluate(problem, entropy_weight);
        while !is_trusted(ascent, problem)
            && entropy_weight < FIRST_SHARE * problem.entropic.cost_spread
        {
            entropy_weight *= 4.0;
            ascent.evaluate(problem, entropy_weight);
        }
        // Also catches potentials so large that the evaluation overflowed.
        if is_trusted(ascent, problem) {
            return Self::at(entropy_weight, problem);
        }
        Self::cold(ascent, problem, target)
    }

    /// Starts from the potentials of the limit λ → ∞.
    pub(super) fn cold(ascent: &mut Ascent, problem: &Problem<'_>, target: f64) -> Self {
        let entropy_weight = target.max(FIRST_SHARE * problem.entropic.cost_spread);
        problem.mean_costs(&mut ascent.kernel.potential);
        ascent.evaluate(problem, entropy_weight);
        Self::at(entropy_weight, problem)
    }

    fn at(entropy_weight: f64, problem: &Problem<'_>) -> Self {
        let sources = problem.sources.len();
        Self {
            entropy_weight,
            factor: FIRST_FACTOR,
            spread: vec![0.0; sources],
            start: vec![0.0; sources],
        }
    }

    /// Moves down to `target` and solves there to the tolerance.
    pub(super) fn descend(
        &mut self,
        ascent: &mut Ascent,
        problem: &Problem<'_>,
        target: Goal,
    ) -> Stop {
        self.leap(ascent, problem, target.entropy_weight);
        while self.entropy_weight > target.entropy_weight {
            let goal = Goal {
                entropy_weight: self.entropy_weight,
                tolerance: INTERMEDIATE_ERROR,
                iteration_limit: target.iteration_limit,
            };
            if ascent.climb(problem, goal) == Stop::IterationLimit {
                self.entropy_weight = target.entropy_weight;
                ascent.evaluate(problem, target.entropy_weight);
                return Stop::IterationLimit;
            }
            self.lower(ascent, problem, target.entropy_weight);
        }
        ascent.climb(problem, target)
    }

    /// Moves to `target` at once if the potentials of a neighbouring problem are a good start there; else stays.
    pub(super) fn try_start(
        &mut self,
        ascent: &mut Ascent,
        problem: &Problem<'_>,
        target: f64,
        neighbour: &Potentials,
    ) -> Result<bool> {
        self.start.copy_from_slice(&ascent.kernel.potential);
        ascent.kernel.load(problem, neighbour)?;
        ascent.evaluate(problem, target);
        let is_close = ascent.error <= CLOSE_NEIGHBOUR && is_trusted(ascent, problem);
        if is_close {
            self.entropy_weight = target;
        } else {
            ascent.kernel.potential.copy_from_slice(&self.start);
            ascent.evaluate(problem, self.entropy_weight);
        }
        Ok(is_close)
    }

    /// Where the limit λ → ∞ is a good start, so is the solution of any larger λ: no steps in between.
    fn leap(&mut self, ascent: &mut Ascent, problem: &Problem<'_>, target: f64) {
        let next = target.max(FIRST_SHARE * problem.entropic.cost_spread);
        if next < self.entropy_weight {
            self.entropy_weight = next;
            ascent.evaluate(problem, next);
        }
    }

    /// Extrapolates to the next λ, more cautiously until the extrapolation is trusted.
    fn lower(&mut self, ascent: &mut Ascent, problem: &Problem<'_>, target: f64) {
        ascent.kernel.spread(problem, &mut self.spread);
        ascent.find_tangent(problem, &self.spread);
        ascent.cut_direction(LARGEST_TANGENT);
        self.start.copy_from_slice(&ascent.kernel.potential);
        for attempt in 0..=EXTRAPOLATIONS {
            let next = self.next(target);
            // The last attempt stays where it is, which is never far from the solution for long.
            let change = if attempt < EXTRAPOLATIONS { next - self.entropy_weight } else { 0.0 };
            for ((potential, start), tangent) in
                ascent.kernel.potential.iter_mut().zip(&self.start).zip(&ascent.direction)
            {
                *potential = start + change * tangent;
            }
            ascent.evaluate(problem, next);
            if ascent.error <= TRUSTED_EXTRAPOLATION || attempt == EXTRAPOLATIONS {
                self.entropy_weight = next;
                break;
            }
            self.factor = self.factor.sqrt().min(LARGEST_FACTOR);
        }
        if ascent.error < EASY_ERROR {
            self.factor = (self.factor * self.factor).max(SMALLEST_FACTOR);
        } else if ascent.error > HARD_ERROR {
            self.factor = self.factor.sqrt().min(LARGEST_FACTOR);
        }
    }

    fn next(&self, target: f64) -> f64 {
        let next = self.entropy_weight * self.factor;
        // A last step that is hardly one would cost as much as the others.
        if next < 1.3 * target { target } else { next }
    }
}

fn is_trusted(ascent: &Ascent, problem: &Problem<'_>) -> bool {
    let mut pairs = ascent.kernel.marginal.iter().zip(&problem.source_mass);
    ascent.error <= TRUSTED_START && pairs.all(|(marginal, mass)| *marginal >= STARVED_SHARE * mass)
}
