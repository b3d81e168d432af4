//! Following the potentials from a large λ down to a small one.
//! At λ/C ≪ 1 Newton's method only works close to the solution, so λ falls in factors and the
//! potentials are extrapolated along the tangent df/dλ in between. It stores no plan.

use super::ascent::{Ascent, AscentEnd, Goal};
use super::options::Options;
use super::problem::Problem;
use super::rough::{Found, Rough};
use crate::error::Result;

/// Share of the cost spread at which the limit λ → ∞ is a good start.
pub(super) const FIRST_SHARE: f64 = 0.25;
/// Marginal error up to which an intermediate λ is solved; looser ones spoil the extrapolation.
const INTERMEDIATE_ERROR: f64 = 1e-4;
/// Problems with forbidden pairs are solved this far if rounding allows, because the mass that is
/// missing afterwards cannot be put just anywhere.
const FORBIDDEN_PAIRS_TOLERANCE: f64 = 1e-13;
/// A warm start with a larger marginal error is not trusted,
const TRUSTED_START: f64 = 0.1;
/// nor one that leaves a sample with less than this share of its mass: it may be any distance away.
const STARVED_SHARE: f64 = 1e-6;
/// Sinkhorn's updates, an evaluation each, may bring it there while each shrinks the error at least to this share.
const SWEEPS: usize = 20;
const SWEEP_SHRINKAGE: f64 = 0.97;
/// Nor is a start trusted from which this many Newton steps do not lead to the solution; those on a long list are cheap.
const PATIENCE: usize = 12;
const PATIENCE_WITH_LIST: usize = 36;
/// Nor one from which so many steps lead away from it.
const TRIAL: usize = 6;
/// An extrapolation with a larger marginal error is repeated with a smaller step.
const TRUSTED_EXTRAPOLATION: f64 = 0.1;
/// After an extrapolation with a smaller marginal error λ falls faster, after a larger one slower.
const EASY_ERROR: f64 = 5e-3;
const HARD_ERROR: f64 = 5e-2;
/// df/dλ is a difference of logarithms of plan entries; a larger one is rounding, at a sample whose
/// mass is so small that its potential hardly matters.
const LARGEST_TANGENT: f64 = 100.0;
const FIRST_FACTOR: f64 = 0.5;
const SMALLEST_FACTOR: f64 = 0.25;
const LARGEST_FACTOR: f64 = 0.8;
const EXTRAPOLATIONS: usize = 4;

/// Where the continuation stands.
pub(super) struct Continuation {
    entropy_weight: f64,
    /// Newton steps up to the last solution.
    pub(super) iterations: usize,
    factor: f64,
    spread: Vec<f64>,
    start: Vec<f64>,
}

impl Continuation {
    /// Starts from the potentials that `start` gives for a weight: at `target` when those are close enough,
    /// otherwise at the smallest multiple of it where they are.
    pub(super) fn warm(
        ascent: &mut Ascent,
        problem: &Problem<'_>,
        target: f64,
        start: &mut dyn FnMut(f64) -> Result<Vec<f64>>,
        options: &Options,
    ) -> Result<Self> {
        let mut entropy_weight = target;
        while entropy_weight < FIRST_SHARE * problem.cost_spread || entropy_weight == target {
            ascent.kernel.potential.copy_from_slice(&start(entropy_weight)?);
            ascent.evaluate(problem, entropy_weight);
            if ascent.kernel.should_be_sparse() {
                // One more evaluation, and everything after it costs what the list does.
                ascent.evaluate(problem, entropy_weight);
            }
            sweep_until_trusted(ascent, problem, entropy_weight);
            // Also catches potentials so large that the evaluation overflowed.
            if is_trusted(ascent, problem) {
                let tolerance =
                    if entropy_weight > target { INTERMEDIATE_ERROR } else { options.tolerance };
                let limit = ascent.iterations.saturating_add(options.iteration_limit);
                climb_patiently(ascent, problem, (entropy_weight, tolerance), limit);
                if ascent.error <= tolerance.max(INTERMEDIATE_ERROR) {
                    return Ok(Self::at(entropy_weight, problem));
                }
            }
            entropy_weight *= 4.0;
        }
        Ok(Self::cold(ascent, problem, target))
    }

    /// Starts from where single precision leads to, which is as far as the solution or not.
    pub(super) fn rough(
        ascent: &mut Ascent,
        rough: &mut Rough,
        problem: &mut Problem<'_>,
        target: f64,
        options: &Options,
    ) -> Self {
        let is_smooth = problem.is_smooth_at(target);
        let can_be_rough = problem.turn_to_targets() && problem.is_plain() && !is_smooth;
        let found = if can_be_rough {
            rough.approach(problem, target, (options.tolerance, options.iteration_limit))
        } else {
            None
        };
        let Some(found) = found else {
            if !is_smooth {
                problem.turn_to_shorter();
            }
            ascent.resize(problem);
            return Self::cold(ascent, problem, target);
        };
        if found.entropy_weight > target {
            problem.turn_to_shorter();
        }
        Self::near(ascent, (rough, &found), problem, target, options)
    }

    /// Starts near the solution of a λ, and if that is the one that is wanted, goes on to it.
    pub(super) fn near(
        ascent: &mut Ascent,
        (rough, found): (&mut Rough, &Found),
        problem: &Problem<'_>,
        target: f64,
        options: &Options,
    ) -> Self {
        ascent.resize(problem);
        let near =
            if problem.inner_is_source { &found.source_potential } else { &found.target_potential };
        ascent.kernel.potential.copy_from_slice(near);
        if found.entropy_weight == target {
            ascent.refine(problem, (rough, found), options);
        } else {
            ascent.evaluate(problem, found.entropy_weight);
        }
        Self::at(found.entropy_weight, problem)
    }

    /// Starts from the potentials of the limit λ → ∞.
    pub(super) fn cold(ascent: &mut Ascent, problem: &Problem<'_>, target: f64) -> Self {
        let entropy_weight = target.max(FIRST_SHARE * problem.cost_spread);
        ascent.kernel.start_at_mean_costs(problem);
        ascent.evaluate(problem, entropy_weight);
        Self::at(entropy_weight, problem)
    }

    fn at(entropy_weight: f64, problem: &Problem<'_>) -> Self {
        let inner = problem.inner_len();
        Self {
            entropy_weight,
            iterations: 0,
            factor: FIRST_FACTOR,
            spread: vec![0.0; inner],
            start: vec![0.0; inner],
        }
    }

    /// Moves down to `target` and solves there to the tolerance of the options.
    pub(super) fn descend(
        &mut self,
        ascent: &mut Ascent,
        problem: &Problem<'_>,
        target: f64,
        options: &Options,
    ) -> AscentEnd {
        let iteration_limit = ascent.iterations.saturating_add(options.iteration_limit);
        self.leap(ascent, problem, target);
        while self.entropy_weight > target {
            let goal = Goal {
                entropy_weight: self.entropy_weight,
                tolerance: INTERMEDIATE_ERROR,
                iteration_limit,
            };
            if ascent.climb(problem, goal) == AscentEnd::IterationLimit {
                ascent.kernel.move_scaling_to_potential(self.entropy_weight);
                self.entropy_weight = target;
                ascent.evaluate(problem, target);
                return AscentEnd::IterationLimit;
            }
            self.lower(ascent, problem, target);
        }
        let tolerance = if problem.has_forbidden_pairs {
            options.tolerance.min(FORBIDDEN_PAIRS_TOLERANCE)
        } else {
            options.tolerance
        };
        let end =
            ascent.climb(problem, Goal { entropy_weight: target, tolerance, iteration_limit });
        ascent.polish(problem);
        if ascent.error <= options.tolerance { AscentEnd::Reached } else { end }
    }

    /// Where the limit λ → ∞ is a good start, so is the solution of any larger λ: no steps in between.
    fn leap(&mut self, ascent: &mut Ascent, problem: &Problem<'_>, target: f64) {
        let next = target.max(FIRST_SHARE * problem.cost_spread);
        if next < self.entropy_weight {
            ascent.kernel.move_scaling_to_potential(self.entropy_weight);
            self.entropy_weight = next;
            ascent.evaluate(problem, next);
            ascent.curvature.is_factored = false;
        }
    }

    /// Extrapolates to the next λ, more cautiously until the extrapolation is trusted.
    fn lower(&mut self, ascent: &mut Ascent, problem: &Problem<'_>, target: f64) {
        ascent.kernel.move_scaling_to_potential(self.entropy_weight);
        ascent.kernel.spread(problem, self.entropy_weight, &mut self.spread);
        ascent.solve_roughly(problem, &self.spread);
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
        ascent.curvature.is_factored = false;
    }

    fn next(&self, target: f64) -> f64 {
        let next = self.entropy_weight * self.factor;
        // A last step that is hardly one would cost as much as the others.
        if next < 1.3 * target { target } else { next }
    }
}

/// Climbs as long as that leads anywhere.
fn climb_patiently(
    ascent: &mut Ascent,
    problem: &Problem<'_>,
    (entropy_weight, tolerance): (f64, f64),
    limit: usize,
) {
    let start = ascent.iterations;
    loop {
        let before = ascent.error;
        let iteration_limit = limit.min(ascent.iterations + TRIAL);
        let end = ascent.climb(problem, Goal { entropy_weight, tolerance, iteration_limit });
        let patience = if ascent.kernel.is_long_list() { PATIENCE_WITH_LIST } else { PATIENCE };
        if end != AscentEnd::IterationLimit
            || ascent.iterations >= limit.min(start + patience)
            || ascent.error >= before
            || ascent.error.is_nan()
        {
            return;
        }
    }
}

fn sweep_until_trusted(ascent: &mut Ascent, problem: &Problem<'_>, entropy_weight: f64) {
    for _ in 0..SWEEPS {
        let before = ascent.error;
        if is_trusted(ascent, problem)
            || !ascent.sinkhorn_step(problem, entropy_weight)
            || ascent.error > SWEEP_SHRINKAGE * before
        {
            return;
        }
    }
}

fn is_trusted(ascent: &Ascent, problem: &Problem<'_>) -> bool {
    let mut pairs = ascent.kernel.marginal.iter().zip(&problem.inner_mass);
    ascent.error <= TRUSTED_START && pairs.all(|(marginal, mass)| *marginal >= STARVED_SHARE * mass)
}
