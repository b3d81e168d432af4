//! Damped Newton ascent on the concave semi-dual at one λ. Gradient: a − γ1. It does not choose λ: see
//! `continuation`.

use super::columns::Precision;
use super::curvature::Curvature;
use super::kernel::{DualValue, Kernel};
use super::problem::Problem;
use crate::loops::dot;
use crate::stop::Stop;

/// A factor is used again while a step with it shrinks the error at least to this share.
const REUSE_SHRINKAGE: f64 = 0.03;
/// Relative accuracy of a Newton direction by conjugate gradients: rough far away, then finer.
const DIRECTION_ACCURACY: std::ops::RangeInclusive<f64> = 1e-3..=0.1;
const TANGENT_ACCURACY: f64 = 0.02;
/// Share of the predicted increase that a step must realise.
const SUFFICIENT_INCREASE: f64 = 1e-4;
/// No potential moves further than this many units at first; twice as far after each step that was cut
/// and went well. A unit is λ, and more for a sample that the norms of its class keep from responding.
const FIRST_RADIUS: f64 = 3.0;
/// The curvature is singular on constants, and nearly so between samples that hardly exchange mass.
/// Directions that carry less mass than this cannot matter for the marginals.
const SMALLEST_DAMPING: f64 = 1e-10;
/// Where a step fails all the same, more damping shortens it where the curvature is unreliable.
const DAMPING_GROWTH: f64 = 1e3;
const LARGEST_DAMPING: f64 = 1.0;
const STEP_HALVINGS: usize = 12;
/// Single precision serves while the marginal error that it makes is at most this share of the one that is looked for,
const SINGLE_SHARE: f64 = 0.2;
/// and of any.
const LARGEST_SINGLE_ERROR: f64 = 2e-4;
/// Of η/λ: powers of ω, which is smaller still, vanish in single precision.
const SMALLEST_SINGLE_RATIO: f64 = 1e-4;

/// What one ascent has to reach, and what it may spend.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    pub(super) entropy_weight: f64,
    pub(super) tolerance: f64,
    pub(super) iteration_limit: usize,
}

/// The memory of the solver and the state of its current ascent.
#[derive(Default)]
pub(super) struct Ascent {
    pub(super) kernel: Kernel,
    pub(super) curvature: Curvature,
    gradient: Vec<f64>,
    pub(super) direction: Vec<f64>,
    previous: Vec<f64>,
    pub(super) value: DualValue,
    /// In which the kernel was evaluated.
    precision: Precision,
    /// L1 error of the source marginal; the target marginal is exact.
    pub(super) error: f64,
    /// Largest change of a potential in the next step.
    radius: f64,
    /// Share of each mass that is added to the diagonal of the curvature.
    damping: f64,
    /// Set once conjugate gradients were slower than a factorisation; stays for smaller λ.
    prefers_factor: bool,
    pub(super) iterations: usize,
}

impl Ascent {
    pub(super) fn resize(&mut self, problem: &Problem<'_>) {
        self.kernel.resize(problem);
        self.curvature.resize(problem);
        for vector in [&mut self.gradient, &mut self.direction, &mut self.previous] {
            vector.resize(problem.sources.len(), 0.0);
        }
        self.damping = SMALLEST_DAMPING;
        self.prefers_factor = false;
        self.iterations = 0;
    }

    /// Evaluates the kernel at its potential and λ, as a start.
    pub(super) fn evaluate(&mut self, problem: &Problem<'_>, entropy_weight: f64) {
        let precision = precision_for(1.0, problem, entropy_weight);
        self.evaluate_in(precision, problem, entropy_weight);
    }

    fn evaluate_in(&mut self, precision: Precision, problem: &Problem<'_>, entropy_weight: f64) {
        self.precision = precision;
        self.value = self.kernel.evaluate(problem, entropy_weight, precision);
        self.error = 0.0;
        for ((gradient, mass), marginal) in
            self.gradient.iter_mut().zip(&problem.source_mass).zip(&self.kernel.marginal)
        {
            *gradient = mass - marginal;
            self.error += gradient.abs();
        }
    }

    /// The marginal error that the rounding of (u − C)/λ alone makes.
    fn rounding(&self, entropy_weight: f64) -> f64 {
        let largest = self.kernel.potential.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        4.0 * f64::EPSILON * largest / entropy_weight
    }

    /// Climbs from the evaluated potential until the marginal error is within the goal.
    pub(super) fn climb(&mut self, problem: &Problem<'_>, goal: Goal) -> Stop {
        let mut reuse_factor = false;
        self.radius = FIRST_RADIUS;
        let entropy_weight = goal.entropy_weight;
        let mut is_single_enough = true;
        loop {
            // Not a number is not within the goal.
            if self.error <= goal.tolerance {
                let needed = precision_for(goal.tolerance, problem, entropy_weight);
                if self.precision == Precision::Double || needed == Precision::Single {
                    return Stop::Converged;
                }
                is_single_enough = false;
                self.evaluate_in(Precision::Double, problem, entropy_weight);
                continue;
            }
            if self.iterations >= goal.iteration_limit {
                return Stop::IterationLimit;
            }
            if self.error <= self.rounding(entropy_weight) {
                return Stop::Stalled;
            }
            // Newton's method squares the error.
            let next_error = goal.tolerance.max(self.error * self.error);
            let precision = if is_single_enough {
                precision_for(next_error, problem, entropy_weight)
            } else {
                Precision::Double
            };
            self.iterations += 1;
            let before = self.error;
            self.find_direction(problem, reuse_factor);
            if !self.advance(problem, entropy_weight, precision) {
                if precision == Precision::Single {
                    is_single_enough = false;
                    self.evaluate_in(Precision::Double, problem, entropy_weight);
                    continue;
                }
                if reuse_factor {
                    reuse_factor = false;
                    continue;
                }
                self.prefers_factor = true;
                if self.damping >= LARGEST_DAMPING {
                    self.damping = SMALLEST_DAMPING;
                    return Stop::Stalled;
                }
                self.damping *= DAMPING_GROWTH;
                continue;
            }
            self.damping = (self.damping / DAMPING_GROWTH).max(SMALLEST_DAMPING);
            reuse_factor = self.curvature.is_factored && self.error <= REUSE_SHRINKAGE * before;
        }
    }

    /// Newton's direction in units of λ; with `reuse_factor` the one of an earlier factor.
    fn find_direction(&mut self, problem: &Problem<'_>, reuse_factor: bool) {
        let accuracy = self.error.clamp(*DIRECTION_ACCURACY.start(), *DIRECTION_ACCURACY.end());
        let rhs = std::mem::take(&mut self.gradient);
        if reuse_factor {
            self.curvature.solve_directly(problem, &self.kernel, &rhs, &mut self.direction);
        } else {
            self.solve(problem, &rhs, accuracy);
        }
        self.gradient = rhs;
    }

    /// du/dλ at the current plan, roughly.
    pub(super) fn find_tangent(&mut self, problem: &Problem<'_>, spread: &[f64]) {
        self.solve(problem, spread, TANGENT_ACCURACY);
    }

    /// Solves `H direction = rhs` at the current plan, by conjugate gradients while these are cheaper.
    fn solve(&mut self, problem: &Problem<'_>, rhs: &[f64], accuracy: f64) {
        let Self { kernel, curvature, direction, .. } = self;
        direction.fill(0.0);
        if !curvature.assemble_blocks(problem, kernel, self.damping) {
            return;
        }
        if !self.prefers_factor {
            let limit = Curvature::sweeps_per_factorisation(problem, kernel);
            if curvature.solve_iteratively(problem, kernel, rhs, direction, accuracy, limit) {
                return;
            }
            self.prefers_factor = true;
        }
        if curvature.factor(problem, kernel) {
            curvature.solve_directly(problem, kernel, rhs, direction);
        } else {
            direction.fill(0.0);
        }
    }

    /// Limits each component of the direction to the radius; true when that changed anything. Groups of samples
    /// that are almost unconnected get huge steps, all in the same direction: cutting each component, and
    /// not the whole vector, lets the rest take its full step. A constant means nothing here, so
    /// the median sample is made the one that stands still.
    pub(super) fn cut_direction(&mut self, radius: f64) -> bool {
        if self.direction.iter().all(|step| step.abs() <= radius) {
            return false;
        }
        self.previous.copy_from_slice(&self.direction);
        let middle = self.previous.len() / 2;
        let (_, &mut median, _) = self.previous.select_nth_unstable_by(middle, f64::total_cmp);
        let mut is_cut = false;
        let responses = self.kernel.marginal.iter().zip(&self.curvature.blocks.own);
        for (step, (marginal, own)) in self.direction.iter_mut().zip(responses) {
            // ≥ 1; NaN for a sample without any mass.
            let softness = marginal / own;
            let limit = if softness > 1.0 { softness * radius } else { radius };
            *step -= median;
            is_cut |= step.abs() > limit;
            *step = step.clamp(-limit, limit);
        }
        is_cut
    }

    /// Moves along the direction as far as that helps; false when no step does.
    fn advance(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        precision: Precision,
    ) -> bool {
        let is_cut = self.cut_direction(self.radius);
        let slope = dot(&self.gradient, &self.direction);
        if !(slope > 0.0 && slope.is_finite()) {
            return false;
        }
        let (start_value, start_error) = (self.value, self.error);
        let radius = std::mem::replace(&mut self.radius, FIRST_RADIUS);
        self.previous.copy_from_slice(&self.kernel.potential);
        // The dual is summed from terms of this size, so smaller differences mean nothing.
        let mut noise = 1e-14 * start_value.magnitude;
        if precision == Precision::Single || self.precision == Precision::Single {
            noise += entropy_weight * error_of_single_precision(problem, entropy_weight);
        }
        let mut step = 1.0;
        for attempt in 0..STEP_HALVINGS {
            for ((potential, previous), direction) in
                self.kernel.potential.iter_mut().zip(&self.previous).zip(&self.direction)
            {
                *potential = previous + step * entropy_weight * direction;
            }
            self.evaluate_in(precision, problem, entropy_weight);
            let expected = SUFFICIENT_INCREASE * step * slope * entropy_weight;
            let increase = self.value.value - start_value.value;
            let trial_slope = dot(&self.gradient, &self.direction);
            // A concave function that still rises at the trial point has risen all the way there,
            // also where its values are too close to tell.
            if trial_slope >= 0.0
                || increase >= expected + noise
                || (increase >= -noise && self.error < start_error)
            {
                if is_cut && attempt == 0 {
                    self.radius = 2.0 * radius;
                }
                return true;
            }
            // The derivative at the trial point tells where the maximum of a parabola would be.
            let shrink = slope / (slope - trial_slope);
            step *= if shrink.is_finite() { shrink.clamp(0.1, 0.5) } else { 0.1 };
        }
        self.kernel.potential.copy_from_slice(&self.previous);
        self.evaluate_in(precision, problem, entropy_weight);
        false
    }
}

/// What serves to see a marginal error.
fn precision_for(error: f64, problem: &Problem<'_>, entropy_weight: f64) -> Precision {
    let rounding = error_of_single_precision(problem, entropy_weight);
    if rounding <= (SINGLE_SHARE * error).min(LARGEST_SINGLE_ERROR) {
        Precision::Single
    } else {
        Precision::Double
    }
}

/// The marginal error of groups in single precision: their exponents are about 10, and κ more for the logarithms of their
/// norms.
fn error_of_single_precision(problem: &Problem<'_>, entropy_weight: f64) -> f64 {
    let ratio = problem.regularization_weight / entropy_weight;
    if ratio < SMALLEST_SINGLE_RATIO {
        return f64::INFINITY;
    }
    f64::from(f32::EPSILON) * (10.0 + ratio)
}
