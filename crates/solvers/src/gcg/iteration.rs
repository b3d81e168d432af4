//! The iteration of algorithm `algo:fws`: linearize, solve, search, certify. For a quadratic Ω_c see `accelerated`.

use ndarray::{Array2, ArrayView2};

use super::line_search::{LineSearch, search};
use super::sinkhorn;
use super::terms::{inner_product, objective, write_linearized};
use super::{GcgOptions, GcgProblem, GcgSolution, GcgStep, Objective};
use crate::entropic::{self, Potentials, Workspace};
use crate::error::Result;
use crate::stop::Stop;

/// A direction's marginal error, as a share of what the one before it promised to gain.
pub(super) const DIRECTION_ACCURACY: f64 = 0.05;
/// Of any direction.
pub(super) const LARGEST_MARGINAL_ERROR: f64 = 1e-3;
/// One bad step does not condemn the model: λ + τ grows by no more than this at once.
const LARGEST_GROWTH: f64 = 4.0;
/// A shorter first step says that the start was a poor one.
pub(super) const TRUSTED_STEP: f64 = 0.5;

/// Where the iteration stands.
pub(super) struct State {
    pub(super) plan: Array2<f64>,
    /// ∇Ω_c at the plan.
    pub(super) gradient: Array2<f64>,
    pub(super) objective: Objective,
    pub(super) potentials: Potentials,
    pub(super) marginal_error: f64,
    /// λ + τ.
    pub(super) model_weight: f64,
    /// The marginal error of the next direction before its projection.
    pub(super) direction_tolerance: f64,
    has_forbidden_pairs: bool,
    /// Of a quadratic Ω_c relative to KL.
    pub(super) curvature: f64,
    pub(super) history: Vec<GcgStep>,
}

impl State {
    /// The state at an entropic plan of weight λ + τ.
    pub(super) fn at_entropic_plan(
        problem: &GcgProblem<'_>,
        model_weight: f64,
        workspace: &mut Workspace,
        options: &GcgOptions,
    ) -> Result<Self> {
        let entropic = entropic::solve(
            problem.cost,
            problem.source_mass,
            problem.target_mass,
            model_weight,
            None,
            workspace,
            &options.rough(LARGEST_MARGINAL_ERROR),
        )?;
        let mut state = Self::at(problem, entropic.plan, entropic.potentials, model_weight);
        state.marginal_error = entropic.marginal_error;
        Ok(state)
    }

    pub(super) fn at(
        problem: &GcgProblem<'_>,
        plan: Array2<f64>,
        potentials: Potentials,
        model_weight: f64,
    ) -> Self {
        let mut gradient = Array2::zeros(plan.raw_dim());
        problem.regularizer.gradient(plan.view(), &mut gradient);
        Self::with_gradient(problem, (plan, gradient), potentials, model_weight)
    }

    /// The state at a plan whose ∇Ω_c is known.
    pub(super) fn with_gradient(
        problem: &GcgProblem<'_>,
        (plan, gradient): (Array2<f64>, Array2<f64>),
        potentials: Potentials,
        model_weight: f64,
    ) -> Self {
        Self {
            objective: objective(problem, plan.view(), gradient.view()),
            plan,
            gradient,
            potentials,
            marginal_error: 0.0,
            model_weight,
            direction_tolerance: LARGEST_MARGINAL_ERROR,
            has_forbidden_pairs: problem.cost.iter().any(|cost| cost.is_infinite()),
            curvature: 0.0,
            history: Vec::new(),
        }
    }

    pub(super) fn run(
        mut self,
        problem: &GcgProblem<'_>,
        mut may_restart: bool,
        workspace: &mut Workspace,
        options: &GcgOptions,
    ) -> Result<GcgSolution> {
        let mut linearized = Array2::zeros(self.plan.raw_dim());
        let mut trial_gradient = Array2::zeros(self.plan.raw_dim());
        let mut direction = Array2::zeros(self.plan.raw_dim());
        // Certifying costs as much as an undamped direction, so it waits for a promising estimate.
        let mut promising_gap = f64::INFINITY;
        for iteration in 1..=options.iteration_limit {
            let damping = self.model_weight - problem.entropy_weight;
            self.linearize(problem, damping, &mut linearized);
            let lower_bound =
                self.direction(problem, linearized.view(), workspace, options, &mut direction)?;
            let segment = LineSearch {
                cost: problem.cost.view(),
                entropy_weight: problem.entropy_weight,
                regularizer: problem.regularizer,
                regularization_weight: problem.regularization_weight,
                from: self.plan.view(),
                to: direction.view(),
                gradient: self.gradient.view(),
            };
            let found = search(&segment, &mut linearized, &mut trial_gradient);
            if may_restart && found.descent > 0.0 && found.step < TRUSTED_STEP {
                // The entropic plan for λ is sharper than the solution can be, and its zeros are hard
                // to fill again: start at the plan of the weight that the step asks for.
                let weight = self.model_weight / found.curvature_step;
                self = Self::at_entropic_plan(problem, weight, workspace, options)?;
                continue;
            }
            may_restart = false;
            if found.descent <= 0.0 && self.direction_tolerance > options.entropic.tolerance {
                // What a rough direction gains is lost again in its projection.
                self.direction_tolerance = options.entropic.tolerance;
                continue;
            }
            if found.descent <= 0.0 && damping > 0.0 {
                // What a short direction gains is lost in rounding.
                self.weaken_damping(problem);
                continue;
            }
            // A damped direction sees about λ / (λ + τ) of the gap.
            let gap = found.descent * self.model_weight / problem.entropy_weight;
            let tolerance = options.relative_gap * self.objective.total().abs();
            self.history.push(GcgStep {
                objective: self.objective.total(),
                gap,
                damping,
                step: found.step,
            });
            if gap <= tolerance.min(promising_gap) || found.descent <= 0.0 {
                let certified = match lower_bound {
                    Some(bound) => self.linearized_objective(problem) - bound,
                    None => self.certified_gap(problem, workspace, options, &mut direction)?,
                };
                if certified <= tolerance {
                    return Ok(self.finish(certified, iteration, Stop::Converged));
                }
                if found.descent <= 0.0 {
                    return Ok(self.finish(certified, iteration, Stop::Stalled));
                }
                promising_gap = 0.5 * gap;
            }
            self.direction_tolerance = (DIRECTION_ACCURACY * found.descent
                / self.objective.total().abs())
            .min(LARGEST_MARGINAL_ERROR)
            .max(options.entropic.tolerance);
            std::mem::swap(&mut self.plan, &mut linearized);
            std::mem::swap(&mut self.gradient, &mut trial_gradient);
            self.objective = objective(problem, self.plan.view(), self.gradient.view());
            let growth = found.curvature_step.recip().min(LARGEST_GROWTH);
            self.model_weight = (self.model_weight * growth).max(problem.entropy_weight);
        }
        let certified = self.certified_gap(problem, workspace, options, &mut linearized)?;
        let within = certified <= options.relative_gap * self.objective.total().abs();
        let stop = if within { Stop::Converged } else { Stop::IterationLimit };
        Ok(self.finish(certified, options.iteration_limit, stop))
    }

    /// Writes the plan that minimizes the linearized, damped objective. Returns a lower bound of the
    /// linearized objective where there is one for free.
    pub(super) fn direction(
        &mut self,
        problem: &GcgProblem<'_>,
        linearized: ArrayView2<'_, f64>,
        workspace: &mut Workspace,
        options: &GcgOptions,
        direction: &mut Array2<f64>,
    ) -> Result<Option<f64>> {
        let masses = (problem.source_mass, problem.target_mass);
        let is_undamped = self.model_weight <= problem.entropy_weight;
        // Its projection may put a little mass anywhere, so not where pairs are forbidden.
        if !self.has_forbidden_pairs
            && let Some(balanced) = sinkhorn::balance(
                linearized,
                masses,
                self.model_weight,
                &mut self.potentials,
                self.direction_tolerance,
                direction,
            )
        {
            self.marginal_error = self.marginal_error.max(balanced.error);
            return Ok(is_undamped.then_some(balanced.lower_bound));
        }
        let solution = entropic::solve(
            linearized,
            problem.source_mass,
            problem.target_mass,
            self.model_weight,
            Some(&self.potentials),
            workspace,
            &options.rough(self.direction_tolerance),
        )?;
        self.marginal_error = self.marginal_error.max(solution.marginal_error);
        self.potentials = solution.potentials;
        *direction = solution.plan;
        Ok(is_undamped.then_some(solution.dual_objective))
    }

    fn weaken_damping(&mut self, problem: &GcgProblem<'_>) {
        self.model_weight = (self.model_weight / LARGEST_GROWTH).max(problem.entropy_weight);
    }

    /// C + η∇Ω_c(γᵏ) − τ ln γᵏ.
    pub(super) fn linearize(
        &self,
        problem: &GcgProblem<'_>,
        damping: f64,
        linearized: &mut Array2<f64>,
    ) {
        let gradient = (1.0, self.gradient.view());
        write_linearized(problem, &[gradient], self.plan.view(), damping, linearized);
    }

    /// The duality gap of the generalized conditional gradient: the linearized objective at the plan minus a
    /// lower bound of its minimum, which is the dual value of the undamped direction problem.
    pub(super) fn certified_gap(
        &mut self,
        problem: &GcgProblem<'_>,
        workspace: &mut Workspace,
        options: &GcgOptions,
        linearized: &mut Array2<f64>,
    ) -> Result<f64> {
        self.linearize(problem, 0.0, linearized);
        let undamped = entropic::solve(
            linearized.view(),
            problem.source_mass,
            problem.target_mass,
            problem.entropy_weight,
            Some(&self.potentials),
            workspace,
            // Its dual value is a bound however rough the plan is.
            &options.rough(DIRECTION_ACCURACY * options.relative_gap),
        )?;
        self.marginal_error = self.marginal_error.max(undamped.marginal_error);
        self.potentials = undamped.potentials;
        Ok(self.linearized_objective(problem) - undamped.dual_objective)
    }

    /// ⟨γ, C + η∇Ω_c(γ)⟩ + λ Ω_s(γ) at the plan.
    pub(super) fn linearized_objective(&self, problem: &GcgProblem<'_>) -> f64 {
        let slope = inner_product(self.plan.view(), self.gradient.view());
        self.objective.transport + self.objective.entropy + problem.regularization_weight * slope
    }

    pub(super) fn finish(mut self, duality_gap: f64, iterations: usize, stop: Stop) -> GcgSolution {
        if let Some(last) = self.history.last_mut() {
            last.gap = duality_gap;
        }
        GcgSolution {
            plan: self.plan,
            gradient: self.gradient,
            potentials: self.potentials,
            objective: self.objective,
            duality_gap,
            iterations,
            stop,
            marginal_error: self.marginal_error,
            curvature: Some(self.curvature),
            linearized_at: None,
            history: self.history,
        }
    }
}
