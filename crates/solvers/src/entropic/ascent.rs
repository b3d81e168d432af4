//! Damped Newton ascent on the concave semi-dual at one λ.
//! Gradient: a - r. Large steps recompute the exponentials; small ones rescale the stored kernel,
//! which is cheaper and free of the rounding of f - c. It does not choose λ: see `continuation`.

use super::curvature::Curvature;
use super::kernel::{DualValue, FEW_SAMPLES, Kernel};
use super::options::Options;
use super::problem::Problem;
use super::rough::{Found, Rough};
use crate::loops::dot;

/// Changes of the potential up to this many λ, in sum, are made by rescaling.
const RESCALING_RADIUS: f64 = 1.0;
/// Sinkhorn's updates go on while one shrinks the error at least to this share.
const SWEEP_SHRINKAGE: f64 = 0.1;
/// Share of the tolerance that a last direction of single precision aims at.
const REFINEMENT: f64 = 0.3;
/// A factor is used again while a step with it shrinks the error at least to this share.
const REUSE_SHRINKAGE: f64 = 0.15;
/// Relative accuracy of a Newton direction by conjugate gradients: rough far away, then finer.
const DIRECTION_ACCURACY: std::ops::RangeInclusive<f64> = 1e-3..=0.1;
const TANGENT_ACCURACY: f64 = 0.02;
/// Share of the predicted increase that a step must realise.
const SUFFICIENT_INCREASE: f64 = 1e-4;
/// No potential moves further than this many λ at first; twice as far after each step that was cut
/// and went well, so that a start far away (a stale warm start) does not take forever.
const FIRST_RADIUS: f64 = 3.0;
/// The curvature is singular on constants, and nearly so between groups of samples that hardly
/// exchange mass. Directions that carry less mass than this cannot matter for the marginals, but
/// rounding in them would spoil the steps and the extrapolation.
const SMALLEST_DAMPING: f64 = 1e-10;
/// Where a step fails all the same, more damping shortens it where the curvature is unreliable.
const DAMPING_GROWTH: f64 = 1e3;
const LARGEST_DAMPING: f64 = 1.0;
const STEP_HALVINGS: usize = 12;

/// What one ascent has to reach, and what it may spend.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    pub(super) entropy_weight: f64,
    pub(super) tolerance: f64,
    pub(super) iteration_limit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AscentEnd {
    Reached,
    IterationLimit,
    Stalled,
}

/// The memory of the solver and the state of its current ascent.
#[derive(Default)]
pub(super) struct Ascent {
    pub(super) kernel: Kernel,
    pub(super) curvature: Curvature,
    pub(super) gradient: Vec<f64>,
    pub(super) direction: Vec<f64>,
    previous: Vec<f64>,
    value: DualValue,
    /// L1 error of the inner marginal; the outer one is exact.
    pub(super) error: f64,
    /// Largest change of a potential in the next step, in units of λ.
    radius: f64,
    /// Share of each mass that is added to the diagonal of the curvature.
    damping: f64,
    /// Set once conjugate gradients were slower than a factorisation; stays for smaller λ.
    prefers_factor: bool,
    pub(super) iterations: usize,
}

impl Ascent {
    pub(super) fn resize(&mut self, problem: &Problem<'_>) {
        let inner = problem.inner_len();
        self.kernel.resize(problem);
        self.curvature.resize(inner);
        for vector in [&mut self.gradient, &mut self.direction, &mut self.previous] {
            vector.resize(inner, 0.0);
        }
        self.damping = SMALLEST_DAMPING;
        self.prefers_factor = false;
        self.iterations = 0;
    }

    /// Evaluates the kernel at its potential and λ.
    pub(super) fn evaluate(&mut self, problem: &Problem<'_>, entropy_weight: f64) {
        self.value = self.kernel.evaluate(problem, entropy_weight);
        self.update_gradient(problem);
    }

    fn update_gradient(&mut self, problem: &Problem<'_>) {
        let mut error = 0.0;
        for ((gradient, mass), marginal) in
            self.gradient.iter_mut().zip(&problem.inner_mass).zip(&self.kernel.marginal)
        {
            *gradient = mass - marginal;
            error += gradient.abs();
        }
        self.error = error;
    }

    /// Climbs from the evaluated potential until the marginal error is within the goal.
    pub(super) fn climb(&mut self, problem: &Problem<'_>, goal: Goal) -> AscentEnd {
        let mut reuse_factor = false;
        self.radius = FIRST_RADIUS;
        if problem.is_smooth_at(goal.entropy_weight) {
            self.sweep(problem, goal);
        }
        loop {
            // Not a number is not within the goal.
            if self.error <= goal.tolerance {
                return AscentEnd::Reached;
            }
            if self.iterations >= goal.iteration_limit {
                return AscentEnd::IterationLimit;
            }
            self.iterations += 1;
            let before = self.error;
            self.find_direction(problem, reuse_factor);
            if !self.advance(problem, goal.entropy_weight) {
                if reuse_factor {
                    reuse_factor = false;
                    continue;
                }
                self.prefers_factor = true;
                if self.damping < LARGEST_DAMPING {
                    self.damping *= DAMPING_GROWTH;
                } else if !self.sinkhorn_step(problem, goal.entropy_weight) {
                    return AscentEnd::Stalled;
                }
                continue;
            }
            self.damping = (self.damping / DAMPING_GROWTH).max(SMALLEST_DAMPING);
            reuse_factor = self.curvature.is_factored && self.error <= REUSE_SHRINKAGE * before;
        }
    }

    /// Steps from where single precision has led, with its directions: a pass over the kernel each.
    pub(super) fn refine(
        &mut self,
        problem: &Problem<'_>,
        (rough, found): (&mut Rough, &Found),
        options: &Options,
    ) {
        self.iterations += found.steps;
        self.kernel.evaluate_near(problem, found.entropy_weight, &found.source_potential);
        self.update_gradient(problem);
        while self.error > options.tolerance && self.iterations < options.iteration_limit {
            let before = self.error;
            self.iterations += 1;
            let accuracy = REFINEMENT * options.tolerance / before;
            if !rough.find_direction(&self.gradient, &mut self.direction, accuracy)
                || !self.is_within_rescaling()
                || !self.advance_by_rescaling(problem)
                || self.error > SWEEP_SHRINKAGE * before
            {
                return;
            }
        }
    }

    /// Sinkhorn's updates, a pass over the kernel each, while they shrink the error more than Newton's steps, which take
    /// several, would.
    fn sweep(&mut self, problem: &Problem<'_>, goal: Goal) {
        while self.error > goal.tolerance && self.iterations < goal.iteration_limit {
            let before = self.error;
            let pairs = problem.inner_mass.iter().zip(&self.kernel.marginal);
            for (step, (mass, marginal)) in self.direction.iter_mut().zip(pairs) {
                *step = (mass / marginal).ln();
            }
            if !self.is_within_rescaling() {
                return;
            }
            self.iterations += 1;
            if !self.advance_by_rescaling(problem) || self.error > SWEEP_SHRINKAGE * before {
                return;
            }
        }
    }

    /// Newton's direction in units of λ; with `reuse_factor` the one of an earlier factor.
    fn find_direction(&mut self, problem: &Problem<'_>, reuse_factor: bool) {
        let Self { kernel, curvature, gradient, direction, .. } = self;
        if reuse_factor {
            curvature.solve_directly(gradient, direction);
            return;
        }
        let accuracy = self.error.clamp(*DIRECTION_ACCURACY.start(), *DIRECTION_ACCURACY.end());
        if !self.prefers_factor {
            let limit = Curvature::sweeps_per_factorisation(kernel);
            if curvature.solve_iteratively(kernel, gradient, direction, accuracy, limit) {
                return;
            }
            self.prefers_factor = true;
        }
        if kernel.potential.len() >= FEW_SAMPLES {
            let damped = (problem.inner_mass.as_slice(), self.damping);
            if curvature.solve_sparsely(kernel, gradient, direction, damped, accuracy) {
                curvature.is_factored = false;
                return;
            }
        }
        if curvature.factor(kernel, &problem.inner_mass, self.damping) {
            curvature.solve_directly(gradient, direction);
        } else {
            direction.fill(0.0);
        }
    }

    /// Moves along the direction as far as that helps; false when no step does.
    fn advance(&mut self, problem: &Problem<'_>, entropy_weight: f64) -> bool {
        let is_cut = self.cut_direction(self.radius);
        let slope = dot(&self.gradient, &self.direction);
        if !(slope > 0.0 && slope.is_finite()) {
            return false;
        }
        (self.is_within_rescaling() && self.advance_by_rescaling(problem))
            || self.advance_by_evaluation(problem, entropy_weight, slope, is_cut)
    }

    /// Whether the direction leads to where rescaling the kernel is accurate.
    fn is_within_rescaling(&self) -> bool {
        let mut steps = self.direction.iter().zip(&self.kernel.log_scaling);
        steps.all(|(step, scaling)| (step + scaling).abs() <= RESCALING_RADIUS)
    }

    /// Limits each component of the direction to the radius; true when that changed anything. Groups of samples that
    /// are almost unconnected get huge steps, all in the same direction: cutting each component, and
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
        for step in &mut self.direction {
            *step -= median;
            is_cut |= step.abs() > radius;
            *step = step.clamp(-radius, radius);
        }
        is_cut
    }

    fn advance_by_rescaling(&mut self, problem: &Problem<'_>) -> bool {
        let before = self.error;
        self.previous.copy_from_slice(&self.kernel.log_scaling);
        let Kernel { log_scaling, scaling, .. } = &mut self.kernel;
        for ((log_scaling, scaling), step) in
            log_scaling.iter_mut().zip(scaling).zip(&self.direction)
        {
            *log_scaling += step;
            *scaling *= step.exp();
        }
        self.rescale(problem);
        if self.error < 0.9 * before {
            return true;
        }
        let Kernel { log_scaling, scaling, .. } = &mut self.kernel;
        for ((log_scaling, scaling), previous) in
            log_scaling.iter_mut().zip(scaling).zip(&self.previous)
        {
            *scaling *= (previous - *log_scaling).exp();
            *log_scaling = *previous;
        }
        self.rescale(problem);
        false
    }

    fn rescale(&mut self, problem: &Problem<'_>) {
        self.kernel.rescale(problem);
        self.update_gradient(problem);
    }

    fn advance_by_evaluation(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        slope: f64,
        is_cut: bool,
    ) -> bool {
        if self.kernel.log_scaling.iter().any(|&scaling| scaling != 0.0) {
            self.kernel.move_scaling_to_potential(entropy_weight);
            self.evaluate(problem, entropy_weight);
        }
        let (start_value, start_error) = (self.value, self.error);
        let radius = std::mem::replace(&mut self.radius, FIRST_RADIUS);
        self.previous.copy_from_slice(&self.kernel.potential);
        // The dual is summed from terms of this size, so smaller differences mean nothing.
        let noise = 1e-14 * start_value.magnitude;
        let mut step = 1.0;
        for attempt in 0..STEP_HALVINGS {
            for ((potential, previous), direction) in
                self.kernel.potential.iter_mut().zip(&self.previous).zip(&self.direction)
            {
                *potential = previous + step * entropy_weight * direction;
            }
            self.evaluate(problem, entropy_weight);
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
        self.evaluate(problem, entropy_weight);
        false
    }

    /// One Sinkhorn update of the inner side: always increases the dual, if slowly.
    pub(super) fn sinkhorn_step(&mut self, problem: &Problem<'_>, entropy_weight: f64) -> bool {
        let before = self.error;
        if self.kernel.log_scaling.iter().any(|&scaling| scaling != 0.0) {
            self.kernel.move_scaling_to_potential(entropy_weight);
            self.evaluate(problem, entropy_weight);
        }
        for ((potential, mass), marginal) in
            self.kernel.potential.iter_mut().zip(&problem.inner_mass).zip(&self.kernel.marginal)
        {
            // An underflown marginal would send the potential to infinity in one step.
            *potential += entropy_weight * (mass / marginal.max(f64::MIN_POSITIVE)).ln();
        }
        self.evaluate(problem, entropy_weight);
        self.curvature.is_factored = false;
        self.error < before
    }

    /// Chord steps beyond the tolerance, until rounding stops them: they cost one sweep each.
    pub(super) fn polish(&mut self, problem: &Problem<'_>) {
        const POLISHED: f64 = 1e-15;
        const STEPS: usize = 4;
        for _ in 0..STEPS {
            if self.error <= POLISHED || !self.curvature.is_factored {
                return;
            }
            let before = self.error;
            self.curvature.solve_directly(&self.gradient, &mut self.direction);
            let reach = self.direction.iter().fold(0.0_f64, |reach, step| reach.max(step.abs()));
            if reach > RESCALING_RADIUS
                || !self.advance_by_rescaling(problem)
                || self.error > 0.5 * before
            {
                return;
            }
        }
    }

    /// Solves `H x = rhs` at the current plan, roughly.
    pub(super) fn solve_roughly(&mut self, problem: &Problem<'_>, rhs: &[f64]) {
        let Self { kernel, curvature, direction, .. } = self;
        if !self.prefers_factor {
            let limit = Curvature::sweeps_per_factorisation(kernel);
            if curvature.solve_iteratively(kernel, rhs, direction, TANGENT_ACCURACY, limit) {
                return;
            }
            self.prefers_factor = true;
        }
        if curvature.is_factored || curvature.factor(kernel, &problem.inner_mass, self.damping) {
            curvature.solve_directly(rhs, direction);
        } else {
            direction.fill(0.0);
        }
    }
}
