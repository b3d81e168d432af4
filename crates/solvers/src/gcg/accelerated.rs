//! The iteration for a quadratic Ω_c, whose gradients mix as the plans do: accelerated Bregman proximal
//! gradient (Hanzely, Richtárik, Xiao 2021, doi:10.1007/s10589-021-00273-8) with the line search of algorithm
//! `algo:fws`, restarted where that finds no descent.
//!
//! The linearization is taken at y = (1 − θ) x + θ z, the direction starts at an anchor z, and the plan x
//! moves towards the new anchor:
//! z⁺ = argmin ⟨γ, C + η∇Ω_c(y)⟩ + λ Ω_s(γ) + θL KL(γ | z), x⁺ = argmin over [x, z⁺].
//! L is the curvature of ηΩ_c relative to KL, and θ falls by Lθ₊² = (1 − θ₊) Lθ² + λθ₊: the damping θL
//! tends to √(λL), where the plain iteration needs L. With L ≤ λ it stays at θ = 1, as printed.

use ndarray::{Array2, ArrayView2};

use super::average::Average;
use super::iteration::{DIRECTION_ACCURACY, LARGEST_MARGINAL_ERROR, State, TRUSTED_STEP};
use super::line_search::{Found, LineSearch, search_quadratic};
use super::terms::{move_quadratic, write_linearized};
use super::{GcgOptions, GcgProblem, GcgSolution, GcgStep};
use crate::elementary::end_slopes;
use crate::entropic::Workspace;
use crate::error::Result;
use crate::loops::change_dots;
use crate::parts::map_rows;
use crate::rows::entries;
use crate::stop::Stop;

/// L is measured on the way that one step took. Others curve more: half as much again is where the office tasks
/// needed the fewest steps, and with less than what is measured they need several times as many.
const CURVATURE_SAFETY: f64 = 1.5;
/// L falls to no less than this share at once, and grows by no more than the other.
const CURVATURE_DECAY: f64 = 0.7;
const CURVATURE_GROWTH: f64 = 2.0;
/// Entropic plans that are tried as starts, each smoother than the last.
const STARTS: usize = 5;
/// Steps that it takes at best to gain one decimal of the gap; before that a look at it is wasted.
const STEPS_PER_DECIMAL: f64 = 1.5;
const LONGEST_PAUSE: f64 = 8.0;
/// What a rough direction gains may be lost again in its projection: the next one after a restart is this much finer.
const TIGHTENING: f64 = 0.01;
/// Steps that lead straight to where the plans then swing: the last of these is the best.
const STRAIGHT_STEPS: usize = 20;
/// A restart says that L was too small.
const RESTART_GROWTH: f64 = 1.5;

/// The anchor z, where the next direction starts, and the schedule.
struct Anchor {
    plan: Array2<f64>,
    /// ∇Ω_c at it.
    gradient: Array2<f64>,
    /// θ.
    share: f64,
    /// L.
    curvature: f64,
}

impl State {
    /// Minimizes with a quadratic Ω_c. `curvature` is L, as far as it is known, and `bound` a lower bound of the
    /// least objective, −∞ if none is known.
    pub(super) fn run_accelerated(
        mut self,
        problem: &GcgProblem<'_>,
        curvature: Option<f64>,
        mut bound: f64,
        workspace: &mut Workspace,
        options: &GcgOptions,
    ) -> Result<GcgSolution> {
        let mut anchor = Anchor::at(&self, curvature.unwrap_or(0.0));
        if curvature.is_some() {
            anchor.share = steady_share(problem, anchor.curvature);
        }
        let mut has_just_restarted = false;
        let mut starts_left = if curvature.is_none() { STARTS } else { 0 };
        let mut next_look = 1;
        let mut average = Average::at(&self);
        let mut linearized = Array2::zeros(self.plan.raw_dim());
        let mut direction = Array2::zeros(self.plan.raw_dim());
        let mut direction_gradient = Array2::zeros(self.plan.raw_dim());
        for iteration in 1..=options.iteration_limit {
            let tolerance = options.relative_gap * self.objective.total().abs();
            if iteration >= next_look {
                let here = average.bound(problem, &self, &mut linearized, &mut direction);
                // Each look is at another linearization, and the best of their bounds holds.
                bound = bound.max(here);
                let is_damped = anchor.is_damped(problem);
                let excess = (self.objective.total() - bound) / tolerance;
                next_look = iteration + if is_damped { pause(excess) } else { 1 };
            }
            let gap = (self.objective.total() - bound).max(0.0);
            if gap <= tolerance {
                return Ok(self.finish(gap, iteration - 1, Stop::Converged));
            }
            let damping = anchor.share * anchor.curvature;
            self.model_weight = problem.entropy_weight + damping;
            anchor.linearize(problem, &self, damping, &mut linearized);
            self.direction(problem, linearized.view(), workspace, options, &mut direction)?;
            problem.regularizer.gradient(direction.view(), &mut direction_gradient);
            let segment = LineSearch {
                cost: problem.cost.view(),
                entropy_weight: problem.entropy_weight,
                regularizer: problem.regularizer,
                regularization_weight: problem.regularization_weight,
                from: self.plan.view(),
                to: direction.view(),
                gradient: self.gradient.view(),
            };
            let found = search_quadratic(&segment, direction_gradient.view());
            if starts_left > 0 && found.descent > 0.0 && found.step < TRUSTED_STEP {
                // The entropic plan for λ is sharper than the solution can be, and its zeros are hard
                // to fill again: start at the plan of the weight that the step asks for.
                let weight = self.model_weight / found.curvature_step;
                self = Self::at_entropic_plan(problem, weight, workspace, options)?;
                anchor = Anchor::at(&self, weight - problem.entropy_weight);
                average = Average::at(&self);
                starts_left -= 1;
                continue;
            }
            starts_left = 0;
            self.history.push(GcgStep {
                objective: self.objective.total(),
                gap,
                damping,
                step: found.step,
            });
            if found.descent <= 0.0 {
                let is_rough = self.direction_tolerance > options.entropic.tolerance;
                if anchor.share >= 1.0 && !is_rough {
                    let here = self.certified_gap(problem, workspace, options, &mut linearized)?;
                    let gap = here.min(gap);
                    let stop = if gap <= tolerance { Stop::Converged } else { Stop::Stalled };
                    return Ok(self.finish(gap, iteration, stop));
                }
                self.direction_tolerance =
                    (TIGHTENING * self.direction_tolerance).max(options.entropic.tolerance);
                anchor = Anchor::at(&self, RESTART_GROWTH * anchor.curvature);
                if !has_just_restarted {
                    anchor.share = steady_share(problem, anchor.curvature);
                    has_just_restarted = true;
                }
                continue;
            }
            has_just_restarted = false;
            self.advance(problem, &found, direction.view(), direction_gradient.view(), options);
            average.add(&self, iteration > STRAIGHT_STEPS && anchor.is_damped(problem));
            anchor.advance(problem, &mut direction, &mut direction_gradient);
            if problem.regularization_weight > 0.0 {
                self.curvature = anchor.curvature / problem.regularization_weight;
            }
        }
        let here = self.certified_gap(problem, workspace, options, &mut linearized)?;
        let gap = here.min(self.objective.total() - bound);
        let within = gap <= options.relative_gap * self.objective.total().abs();
        let stop = if within { Stop::Converged } else { Stop::IterationLimit };
        Ok(self.finish(gap, options.iteration_limit, stop))
    }

    /// Moves the plan to where the search ended.
    fn advance(
        &mut self,
        problem: &GcgProblem<'_>,
        found: &Found,
        direction: ArrayView2<'_, f64>,
        direction_gradient: ArrayView2<'_, f64>,
        options: &GcgOptions,
    ) {
        self.direction_tolerance = (DIRECTION_ACCURACY * found.descent
            / self.objective.total().abs())
        .min(LARGEST_MARGINAL_ERROR)
        .max(options.entropic.tolerance);
        let here = (&mut self.plan, &mut self.gradient);
        self.objective = move_quadratic(problem, here, (direction, direction_gradient), found.step);
    }
}

/// Where θ tends to, √(λ/L), and where it starts if L is known: from 1 it takes as many steps to fall there as the
/// whole solve may need.
fn steady_share(problem: &GcgProblem<'_>, curvature: f64) -> f64 {
    (problem.entropy_weight / curvature).sqrt().min(1.0)
}

/// Steps until the gap, so many times too large, may have vanished.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 9")]
fn pause(excess: f64) -> usize {
    1 + (STEPS_PER_DECIMAL * excess.log10()).clamp(0.0, LONGEST_PAUSE) as usize
}

impl Anchor {
    fn at(state: &State, curvature: f64) -> Self {
        let (plan, gradient) = (state.plan.clone(), state.gradient.clone());
        Self { plan, gradient, share: 1.0, curvature }
    }

    /// Whether directions are kept near the anchor by more than the entropy of the problem.
    fn is_damped(&self, problem: &GcgProblem<'_>) -> bool {
        self.share * self.curvature > problem.entropy_weight
    }

    /// C + η∇Ω_c(y) − θL ln z.
    fn linearize(
        &self,
        problem: &GcgProblem<'_>,
        state: &State,
        damping: f64,
        linearized: &mut Array2<f64>,
    ) {
        let gradients =
            [(1.0 - self.share, state.gradient.view()), (self.share, self.gradient.view())];
        write_linearized(problem, &gradients, self.plan.view(), damping, linearized);
    }

    /// Moves to the end of the direction, and leaves in the arguments what it was.
    fn advance(
        &mut self,
        problem: &GcgProblem<'_>,
        direction: &mut Array2<f64>,
        direction_gradient: &mut Array2<f64>,
    ) {
        std::mem::swap(&mut self.plan, direction);
        std::mem::swap(&mut self.gradient, direction_gradient);
        let before = (direction.view(), direction_gradient.view());
        let entropy_weight = problem.entropy_weight;
        let measured =
            CURVATURE_SAFETY * problem.regularization_weight * self.curvature_since(before);
        let last = self.share * self.share * self.curvature;
        if measured.is_finite() {
            let largest = CURVATURE_GROWTH * (self.curvature + entropy_weight);
            self.curvature = measured.max(CURVATURE_DECAY * self.curvature).min(largest);
        }
        self.share = if self.curvature <= entropy_weight {
            1.0
        } else {
            let slope = entropy_weight - last;
            let root = (slope * slope + 4.0 * self.curvature * last).sqrt();
            (0.5 * (slope + root) / self.curvature).min(1.0)
        };
    }

    /// ⟨Δ, ∇Ω_c(Δ)⟩ / (KL(z | z₋) + KL(z₋ | z)) for the last step Δ = z − z₋.
    fn curvature_since(&self, (plan, gradient): (ArrayView2<'_, f64>, ArrayView2<'_, f64>)) -> f64 {
        let parts = map_rows(plan.dim(), |rows| {
            let (mut divergence, mut change) = (0.0, 0.0);
            for row in rows {
                let (from, to) = (entries(plan.row(row)), entries(self.plan.row(row)));
                let slopes = (entries(gradient.row(row)), entries(self.gradient.row(row)));
                let [_, start, end] = end_slopes(&from, &to, &from);
                divergence += end - start;
                let [before, after] = change_dots(&from, &to, (&slopes.0, &slopes.1));
                change += after - before;
            }
            (divergence, change)
        });
        let (divergence, change) =
            parts.into_iter().fold((0.0, 0.0), |all, part| (all.0 + part.0, all.1 + part.1));
        change / divergence
    }
}
