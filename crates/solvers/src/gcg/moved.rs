//! Newton's method where Ω_c depends on few numbers, the moved samples Y = (γ X_t, γᵀ X_s): Ω_c(γ) = ½⟨Y, MY⟩.
//!
//! A convex Ω_c lies above its linearizations, so that
//! φ(Ȳ) = min over γ ∈ Π(a, b) of ⟨γ, C + ηG⟩ + λ Ω_s(γ) − η/2 ⟨Ȳ, MȲ⟩ with G = (MȲ)₁ X_tᵀ + X_s (MȲ)₂ᵀ
//! is a lower bound for every Ȳ. It is concave, and its largest value is the least objective. The plan γ that it is made
//! of, with the moved samples Y, has the objective φ(Ȳ) + η/2 ⟨Y − Ȳ, M(Y − Ȳ)⟩: a certificate comes with each Ȳ.
//! λ falls by steps which Newton's method can follow.
//!
//! A step multiplies with M many times, but solves an entropic problem only at its end, where `accelerated` solves one for each
//! product. Of wide samples the products are what takes long, and that takes fewer.

use faer::Accum;
use ndarray::Array2;

use super::iteration::LARGEST_MARGINAL_ERROR;
use super::newton::newton_step;
use super::response::Response;
use super::sides::{Sides, add_scaled, inner, moved_by, write_gradient};
use super::terms::objective;
use super::{GcgOptions, GcgProblem, GcgSolution, GcgStep};
use crate::entropic::{self, Potentials, Workspace};
use crate::error::{Error, Result};
use crate::regularizer::MovedSamples;
use crate::stop::Stop;

/// Features up to which this is the quicker way. On clouds of 400 samples it takes half of the time with 8 where η/λ is large,
/// as long with 32, and ten times as long with 96.
const MOST_FEATURES: usize = 8;
/// Target samples, to a source sample: the linear system that keeps the marginals has their size.
const MOST_TARGETS: usize = 4;
/// Of λ, from one step of the way down to the next.
const DESCENT: f64 = 0.5;
/// Where Newton's method is lost, λ may have fallen too far; not if it fell by less than this.
const SHALLOWEST_DESCENT: f64 = 0.6;
/// The relative gap at which λ falls further. With 1e-2 the last steps on two moons were shorter and several times as many.
const GAP_ON_THE_WAY: f64 = 2e-3;
/// The marginal error of an entropic problem, as a share of the relative gap asked for.
const ACCURACY: f64 = 5e-3;
/// At one λ. Where it needs more, Newton's method is lost.
const MOST_STEPS: usize = 12;
/// A share of the whole step below which nothing is gained any more.
const SHORTEST_STEP: f64 = 1.0 / 128.0;
/// What a step gains at least, as a share of what the slope of φ promises.
const SUFFICIENT_GAIN: f64 = 1e-4;

/// Ω_c as a form of moved samples, if it is one for which this is the quicker way.
pub(super) fn form<'a>(problem: &GcgProblem<'a>) -> Option<Box<dyn MovedSamples + 'a>> {
    let form = problem.regularizer.moved_samples()?;
    let is_narrow = form.destinations().iter().all(|samples| samples.ncols() <= MOST_FEATURES);
    let (rows, columns) = problem.cost.dim();
    let is_quicker = is_narrow && columns <= MOST_TARGETS * rows;
    (is_quicker && problem.regularization_weight > 0.0).then_some(form)
}

/// Where the descent starts: a λ, and what solves the problem for it, about. Where λ is large that has little of Ω_c.
pub(super) struct Start {
    pub(super) entropy_weight: f64,
    /// Ȳ.
    pub(super) moved: Sides,
    pub(super) potentials: Potentials,
}

impl Start {
    /// The entropic plan for a λ as large as the differences between costs.
    pub(super) fn far_away(
        problem: &GcgProblem<'_>,
        form: &dyn MovedSamples,
        workspace: &mut Workspace,
        options: &GcgOptions,
    ) -> Result<Self> {
        let costs = problem.cost.iter().filter(|cost| cost.is_finite());
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, largest) = costs.fold(nothing, |(a, b), &cost| (a.min(cost), b.max(cost)));
        let entropy_weight = problem.entropy_weight.max(largest - least);
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
    /// What the gap is relative to on the way, where the objective changes its sign.
    scale: f64,
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
    let descent = Descent {
        problem: *problem,
        is_last: false,
        form,
        options,
        workspace,
        linearized: Array2::zeros(problem.cost.raw_dim()),
        marginal_error: 0.0,
        steps: 0,
    };
    descent.run(start, bound)
}

struct Descent<'a, 'data> {
    /// With the λ that it has come down to.
    problem: GcgProblem<'data>,
    /// That is the λ asked for.
    is_last: bool,
    form: &'a dyn MovedSamples,
    options: &'a GcgOptions,
    workspace: &'a mut Workspace,
    linearized: Array2<f64>,
    marginal_error: f64,
    /// At all λ.
    steps: usize,
}

impl Descent<'_, '_> {
    fn run(mut self, start: Start, bound: f64) -> Result<Option<GcgSolution>> {
        let goal = self.problem.entropy_weight;
        let mut above = start;
        let mut descent = DESCENT;
        loop {
            let weight = (descent * above.entropy_weight).max(goal);
            self.problem.entropy_weight = weight;
            self.is_last = weight <= goal;
            let bound = if self.is_last { bound } else { f64::NEG_INFINITY };
            let found = match self.evaluate(above.moved.clone(), &above.potentials)? {
                Some(here) => self.climb(here, bound)?,
                None => None,
            };
            match found {
                Some(found) if self.is_last => return Ok(Some(self.finish(found))),
                Some(found) => {
                    let Place { moved, potentials, .. } = found.last;
                    above = Start { entropy_weight: weight, moved, potentials };
                    descent = DESCENT;
                }
                None => {
                    let fallen = weight / above.entropy_weight;
                    if fallen > SHALLOWEST_DESCENT {
                        return Ok(None);
                    }
                    descent = fallen.sqrt();
                }
            }
        }
    }

    /// Relative, at this λ.
    fn largest_gap(&self) -> f64 {
        let asked_for = self.options.relative_gap;
        if self.is_last { asked_for } else { GAP_ON_THE_WAY.max(asked_for) }
    }

    /// Raises φ until the gap is closed.
    fn climb(&mut self, mut here: Place, mut bound: f64) -> Result<Option<Climbed>> {
        let mut best: Option<(f64, Array2<f64>)> = None;
        let mut history: Vec<GcgStep> = Vec::new();
        loop {
            bound = bound.max(here.bound);
            let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
            let objective = least.min(here.objective);
            let gap = (objective - bound).max(0.0);
            history.push(GcgStep { objective, gap, damping: 0.0, step: 0.0 });
            let scale = if self.is_last { objective.abs() } else { here.scale };
            if objective.is_finite() && gap <= self.largest_gap() * scale {
                let better = best.filter(|_| least < here.objective).map(|(_, plan)| plan);
                return Ok(Some(Climbed { last: here, better, gap, history }));
            }
            if history.len() > MOST_STEPS || self.steps == self.options.iteration_limit {
                return Ok(None);
            }
            let Some((next, share)) = self.step(&here)? else { return Ok(None) };
            self.steps += 1;
            history.last_mut().into_iter().for_each(|last| last.step = share);
            let last = std::mem::replace(&mut here, next);
            if last.objective < least {
                best = Some((last.objective, last.plan));
            }
        }
    }

    /// `None` where the linearized costs overflow.
    fn evaluate(&mut self, moved: Sides, potentials: &Potentials) -> Result<Option<Place>> {
        let GcgProblem { source_mass, target_mass, entropy_weight, .. } = self.problem;
        let weight = self.problem.regularization_weight;
        let destinations = self.form.destinations();
        let slopes = self.form.slopes(&moved);
        self.linearized.assign(&self.problem.cost);
        write_gradient(weight, &slopes, &destinations, Accum::Add, &mut self.linearized);
        let tolerance = (ACCURACY * self.largest_gap()).min(LARGEST_MARGINAL_ERROR);
        let solved = entropic::solve(
            self.linearized.view(),
            source_mass,
            target_mass,
            entropy_weight,
            Some(potentials),
            self.workspace,
            &self.options.rough(tolerance),
        );
        let entropic = match solved {
            // The costs themselves were checked.
            Err(Error::Cost { .. }) => return Ok(None),
            solved => solved?,
        };
        self.marginal_error = self.marginal_error.max(entropic.marginal_error);
        let mut residual = moved_by(entropic.plan.view(), &destinations);
        add_scaled(&mut residual, -1.0, &moved);
        let residual_slopes = self.form.slopes(&residual);
        let own = 0.5 * weight * inner(&moved, &slopes);
        let excess = 0.5 * weight * inner(&residual, &residual_slopes);
        let entropy_term = entropic.objective - entropic.transport_cost;
        Ok(Some(Place {
            objective: entropic.objective - own + excess,
            scale: entropic.transport_cost.abs() + entropy_term.abs(),
            bound: entropic.dual_objective - own,
            moved,
            plan: entropic.plan,
            potentials: entropic.potentials,
            residual,
            residual_slopes,
        }))
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
        while slope > 0.0 && share >= SHORTEST_STEP {
            let mut moved = here.moved.clone();
            add_scaled(&mut moved, share, &step.moved);
            let mut potentials = here.potentials.clone();
            potentials.source.scaled_add(share, &step.potentials.source);
            potentials.target.scaled_add(share, &step.potentials.target);
            let Some(next) = self.evaluate(moved, &potentials)? else { return Ok(None) };
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
            iterations: self.steps,
            stop: Stop::Converged,
            marginal_error: self.marginal_error,
            curvature: None,
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
