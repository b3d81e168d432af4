//! Newton's method where Ω_c depends on few numbers, the moved samples Y = (γ X_t, γᵀ X_s): Ω_c(γ) = ½⟨Y, MY⟩.
//!
//! A convex Ω_c lies above its linearizations, so that
//! φ(Ȳ) = min over γ ∈ Π(a, b) of ⟨γ, C + ηG⟩ + λ Ω_s(γ) − η/2 ⟨Ȳ, MȲ⟩ with G = (MȲ)₁ X_tᵀ + X_s (MȲ)₂ᵀ
//! is a lower bound for every Ȳ. It is concave, and its largest value is the least objective. The plan γ that it is made
//! of, with the moved samples Y, has the objective φ(Ȳ) + η/2 ⟨Y − Ȳ, M(Y − Ȳ)⟩: a certificate comes with each Ȳ.
//! λ falls by steps which Newton's method can follow.
//!
//! A step multiplies with M more often than the directions of `accelerated` that it replaces, but needs no whole plan
//! for that. Of wide samples the products are what takes long, and those directions take fewer.

use faer::Accum;
use ndarray::Array2;

use super::iteration::LARGEST_MARGINAL_ERROR;
use super::newton::newton_step;
use super::response::Response;
use super::sides::{Sides, add_scaled, inner, moved_by, write_gradient};
use super::terms::objective;
use super::{GcgOptions, GcgProblem, GcgSolution, GcgStep};
use crate::entropic::{self, Potentials, Workspace};
use crate::error::Result;
use crate::regularizer::MovedSamples;
use crate::stop::Stop;

/// Of λ, from one step of the way down to the next.
const DESCENT: f64 = 0.5;
/// Where Newton's method is lost, λ has fallen too far; not if it fell by less than this.
const SHALLOWEST_DESCENT: f64 = 0.6;
/// The relative gap at which λ falls further: with 1e-2 Newton's method has three times as much to do at the end.
const GAP_ON_THE_WAY: f64 = 2e-3;
/// The marginal error of an entropic problem, as a share of the relative gap asked for.
const ACCURACY: f64 = 5e-3;
/// At one λ. Where it needs more, Newton's method is lost.
const MOST_STEPS: usize = 12;
const SHORTEST_STEP: f64 = 1.0 / 128.0;
/// What a step gains at least, as a share of what the slope of φ promises.
const SUFFICIENT_GAIN: f64 = 1e-4;

/// What solves the problem for some λ, about.
pub(super) struct Start {
    pub(super) entropy_weight: f64,
    /// Ȳ.
    pub(super) moved: Sides,
    pub(super) potentials: Potentials,
}

impl Start {
    /// The entropic plan for a λ as large as the costs.
    pub(super) fn far_away(
        problem: &GcgProblem<'_>,
        form: &dyn MovedSamples,
        workspace: &mut Workspace,
        options: &GcgOptions,
    ) -> Result<Self> {
        let costs = problem.cost.iter().filter(|cost| cost.is_finite());
        let entropy_weight =
            costs.fold(problem.entropy_weight, |largest, cost| largest.max(cost.abs()));
        let entropic = entropic::solve(
            problem.cost,
            problem.source_mass,
            problem.target_mass,
            entropy_weight,
            None,
            workspace,
            &options.rough(LARGEST_MARGINAL_ERROR),
        )?;
        let moved = moved_by(entropic.plan.view(), &form.destinations());
        Ok(Self { entropy_weight, moved, potentials: entropic.potentials })
    }
}

/// A place Ȳ.
struct Place {
    moved: Sides,
    /// The plan of the problem that is linearized there.
    plan: Array2<f64>,
    potentials: Potentials,
    /// Y − Ȳ and M(Y − Ȳ).
    residual: Sides,
    residual_slopes: Sides,
    /// Of the plan.
    objective: f64,
    /// φ(Ȳ), up to the gap of the entropic problem.
    bound: f64,
}

/// Minimizes from a start down; `None` where Newton's method is lost. `bound` is a lower bound of the least objective, −∞ if
/// none is known.
pub(super) fn solve(
    problem: &GcgProblem<'_>,
    form: &dyn MovedSamples,
    start: Start,
    bound: f64,
    workspace: &mut Workspace,
    options: &GcgOptions,
) -> Result<Option<GcgSolution>> {
    let linearized = Array2::zeros(problem.cost.raw_dim());
    let descent =
        Descent { problem: *problem, form, options, workspace, linearized, marginal_error: 0.0 };
    descent.run(start, bound)
}

struct Descent<'a, 'data> {
    /// With the λ of the step of the way.
    problem: GcgProblem<'data>,
    form: &'a dyn MovedSamples,
    options: &'a GcgOptions,
    workspace: &'a mut Workspace,
    linearized: Array2<f64>,
    marginal_error: f64,
}

impl Descent<'_, '_> {
    fn run(mut self, start: Start, bound: f64) -> Result<Option<GcgSolution>> {
        let goal = self.problem.entropy_weight;
        let mut above = start;
        let mut descent = DESCENT;
        loop {
            let weight = (descent * above.entropy_weight).max(goal);
            self.problem.entropy_weight = weight;
            let is_last = weight <= goal;
            let (bound, relative_gap) = if is_last {
                (bound, self.options.relative_gap)
            } else {
                (f64::NEG_INFINITY, GAP_ON_THE_WAY.max(self.options.relative_gap))
            };
            let here = self.evaluate(above.moved.clone(), &above.potentials)?;
            match self.climb(here, bound, relative_gap)? {
                Some(found) if is_last => return Ok(Some(self.finish(found))),
                Some(found) => {
                    descent = DESCENT;
                    let Place { moved, potentials, .. } = found.last;
                    above = Start { entropy_weight: weight, moved, potentials };
                }
                None if above.entropy_weight <= goal || descent > SHALLOWEST_DESCENT => {
                    return Ok(None);
                }
                None => descent = descent.sqrt(),
            }
        }
    }

    /// Raises φ until the gap is closed.
    fn climb(
        &mut self,
        mut here: Place,
        mut bound: f64,
        relative_gap: f64,
    ) -> Result<Option<Climbed>> {
        let mut best: Option<(f64, Array2<f64>)> = None;
        let mut history = Vec::new();
        let mut share = 1.0;
        for _ in 0..=MOST_STEPS.min(self.options.iteration_limit) {
            bound = bound.max(here.bound);
            let lowest =
                best.as_ref().map_or(here.objective, |(least, _)| least.min(here.objective));
            let gap = (lowest - bound).max(0.0);
            history.push(GcgStep { objective: lowest, gap, damping: 0.0, step: share });
            if gap <= relative_gap * lowest.abs() {
                let better = best.filter(|(least, _)| *least < here.objective);
                return Ok(Some(Climbed {
                    last: here,
                    better: better.map(|(_, plan)| plan),
                    gap,
                    history,
                }));
            }
            let Some((next, taken)) = self.step(&here)? else { return Ok(None) };
            share = taken;
            let last = std::mem::replace(&mut here, next);
            if last.objective <= lowest {
                best = Some((last.objective, last.plan));
            }
        }
        Ok(None)
    }

    fn evaluate(&mut self, moved: Sides, potentials: &Potentials) -> Result<Place> {
        let GcgProblem { source_mass, target_mass, entropy_weight, .. } = self.problem;
        let weight = self.problem.regularization_weight;
        let destinations = self.form.destinations();
        let slopes = self.form.slopes(&moved);
        self.linearized.assign(&self.problem.cost);
        write_gradient(weight, &slopes, &destinations, Accum::Add, &mut self.linearized);
        let tolerance = (ACCURACY * self.options.relative_gap).min(LARGEST_MARGINAL_ERROR);
        let entropic = entropic::solve(
            self.linearized.view(),
            source_mass,
            target_mass,
            entropy_weight,
            Some(potentials),
            self.workspace,
            &self.options.rough(tolerance),
        )?;
        self.marginal_error = self.marginal_error.max(entropic.marginal_error);
        let mut residual = moved_by(entropic.plan.view(), &destinations);
        add_scaled(&mut residual, -1.0, &moved);
        let residual_slopes = self.form.slopes(&residual);
        let own = 0.5 * weight * inner(&moved, &slopes);
        let excess = 0.5 * weight * inner(&residual, &residual_slopes);
        Ok(Place {
            objective: entropic.objective - own + excess,
            bound: entropic.dual_objective - own,
            moved,
            plan: entropic.plan,
            potentials: entropic.potentials,
            residual,
            residual_slopes,
        })
    }

    /// The place where a share of Newton's step leads, and the share; `None` where φ does not rise.
    fn step(&mut self, here: &Place) -> Result<Option<(Place, f64)>> {
        let weights = (self.problem.entropy_weight, self.problem.regularization_weight);
        let masses = (self.problem.source_mass, self.problem.target_mass);
        let Some(mut response) = Response::at(here.plan.view(), masses) else { return Ok(None) };
        let residual = (&here.residual, &here.residual_slopes);
        let step = newton_step(self.form, &mut response, residual, weights);
        drop(response);
        let slope = weights.1 * inner(&here.residual, &step.slopes);
        let mut share = 1.0;
        while share >= SHORTEST_STEP {
            let mut moved = here.moved.clone();
            add_scaled(&mut moved, share, &step.moved);
            let mut potentials = here.potentials.clone();
            potentials.source.scaled_add(share, &step.potentials.source);
            potentials.target.scaled_add(share, &step.potentials.target);
            let next = self.evaluate(moved, &potentials)?;
            let (gain, promise) = (next.bound - here.bound, share * slope);
            if gain >= SUFFICIENT_GAIN * promise {
                return Ok(Some((next, share)));
            }
            // Near the top of the parabola through what is known.
            share *= (0.5 * promise / (promise - gain)).clamp(0.1, 0.5);
        }
        Ok(None)
    }

    fn finish(self, Climbed { last, better, gap, history }: Climbed) -> GcgSolution {
        let plan = better.unwrap_or(last.plan);
        let mut gradient = Array2::zeros(plan.raw_dim());
        self.problem.regularizer.gradient(plan.view(), &mut gradient);
        GcgSolution {
            objective: objective(&self.problem, plan.view(), gradient.view()),
            plan,
            gradient,
            potentials: last.potentials,
            duality_gap: gap,
            iterations: history.len() - 1,
            stop: Stop::Converged,
            marginal_error: self.marginal_error,
            curvature: 0.0,
            linearized_at: Some(last.moved),
            history,
        }
    }
}

/// Where a climb ended.
struct Climbed {
    last: Place,
    /// The plan of an earlier place, if its objective was lower.
    better: Option<Array2<f64>>,
    gap: f64,
    history: Vec<GcgStep>,
}
