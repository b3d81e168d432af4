//! Many (λ, η) of one problem with a convex quadratic Ω_c, each from what is known of its neighbours.
//!
//! A plan that solves one point is a plan at every other, where its objective has the same three terms with
//! other weights. A lower bound B goes on, too. Ω_c ≥ 0, so B(λ, η′) ≥ B(λ, η) for η′ ≥ η. A plan has at least
//! the entropy of either marginal, Σ γ ln γ ≤ E = min(Σ a ln a, Σ b ln b), so
//! B(λ′, η) ≥ B(λ, η) − (λ − λ′) E for λ′ ≤ λ. Where the tolerance covers both, a point costs nothing; the
//! others start at the plan of the same η, which is smoother than theirs, or at the best there is.

use ndarray::ArrayView2;

use super::iteration::State;
use super::moved::{self, Start};
use super::sides::moved_by;
use super::terms::inner_product;
use super::{GcgOptions, GcgProblem, GcgSolution, Objective, solve_gcg};
use crate::checks::check_weight;
use crate::entropic::{self, Workspace};
use crate::error::{Error, Result};
use crate::marginals::masses_of;
use crate::regularizer::Regularizer;
use crate::stop::Stop;

/// Solves one problem for one pair of weights after the other. It pays to ask for the λ from the largest to the
/// smallest and, at each, for the η from the smallest to the largest. What a point ends at, within its
/// certified gap, depends on the points before it.
pub struct QuadraticPath<'a> {
    cost: ArrayView2<'a, f64>,
    source_mass: Vec<f64>,
    target_mass: Vec<f64>,
    regularizer: &'a dyn Regularizer,
    options: GcgOptions,
    workspace: Workspace,
    /// E, the largest that Σ γ ln γ can be.
    largest_negentropy: f64,
    solved: Vec<Solved>,
}

/// A solution with its weights.
struct Solved {
    entropy_weight: f64,
    regularization_weight: f64,
    solution: GcgSolution,
    /// Ω_c(γ).
    regularization: f64,
}

impl<'a> QuadraticPath<'a> {
    /// The problem of eq. `optreg_disc` without its weights. Ω_c has to be a convex quadratic form.
    pub fn new(
        cost: ArrayView2<'a, f64>,
        (source_mass, target_mass): (&[f64], &[f64]),
        regularizer: &'a dyn Regularizer,
        options: GcgOptions,
    ) -> Result<Self> {
        if !regularizer.is_quadratic() {
            return Err(Error::Argument {
                name: "regularizer",
                value: "one that is not quadratic".to_owned(),
                rule: "a path needs a quadratic form; solve each point by itself",
            });
        }
        let (source_mass, target_mass) = masses_of(cost, source_mass, target_mass)?;
        regularizer.check_shape(cost.dim())?;
        let largest_negentropy = negentropy(&source_mass).min(negentropy(&target_mass));
        let (workspace, solved) = (Workspace::default(), Vec::new());
        Ok(Self {
            cost,
            source_mass,
            target_mass,
            regularizer,
            options,
            workspace,
            largest_negentropy,
            solved,
        })
    }

    /// Minimizes ⟨γ, C⟩ + λ Ω_s(γ) + η Ω_c(γ) over the plans with the given marginals.
    pub fn solve(
        &mut self,
        entropy_weight: f64,
        regularization_weight: f64,
    ) -> Result<&GcgSolution> {
        check_weight("eta", regularization_weight)?;
        entropic::check(&[entropy_weight], &self.options.entropic)?;
        let weights = (entropy_weight, regularization_weight);
        self.forget_all_but_neighbours(weights);
        let problem = GcgProblem {
            cost: self.cost.view(),
            source_mass: &self.source_mass,
            target_mass: &self.target_mass,
            entropy_weight,
            regularizer: self.regularizer,
            regularization_weight,
        };
        let bound = (self.solved.iter())
            .map(|solved| solved.bound_at(weights, self.largest_negentropy))
            .fold(f64::NEG_INFINITY, f64::max);
        let total = |solved: &Solved| solved.objective_at(weights).total();
        let best = self.solved.iter().min_by(|a, b| total(a).total_cmp(&total(b)));
        let solution = if let Some(best) = best {
            if let Some(solution) = best.within_tolerance(weights, bound, &self.options) {
                solution
            } else {
                // The plan of the same η is the smoother one: its objective may be larger, but so is the bound
                // of its linearization, which is what takes long to raise.
                let is_same = |solved: &&Solved| {
                    solved.regularization_weight == regularization_weight
                        && solved.entropy_weight > entropy_weight
                };
                let start = self.solved.iter().find(is_same).unwrap_or(best);
                start.continued(&problem, bound, &mut self.workspace, &self.options)?
            }
        } else {
            solve_gcg(&problem, None, &mut self.workspace, &self.options)?
        };
        self.solved.push(Solved {
            entropy_weight,
            regularization_weight,
            regularization: 0.5 * inner_product(solution.plan.view(), solution.gradient.view()),
            solution,
        });
        Ok(&self.solved[self.solved.len() - 1].solution)
    }

    /// Keeps the points of the same λ, where the next smaller λ starts, and those of the next larger λ with no
    /// smaller η.
    fn forget_all_but_neighbours(&mut self, (entropy_weight, regularization_weight): (f64, f64)) {
        let next_larger = (self.solved.iter())
            .map(|solved| solved.entropy_weight)
            .filter(|weight| *weight > entropy_weight)
            .fold(f64::INFINITY, f64::min);
        self.solved.retain(|solved| {
            solved.entropy_weight == entropy_weight
                || (solved.entropy_weight == next_larger
                    && solved.regularization_weight >= regularization_weight)
        });
    }
}

fn negentropy(masses: &[f64]) -> f64 {
    masses.iter().filter(|mass| **mass > 0.0).map(|mass| mass * mass.ln()).sum()
}

impl Solved {
    /// The objective of the plan with other weights.
    fn objective_at(&self, (entropy_weight, regularization_weight): (f64, f64)) -> Objective {
        let Objective { transport, entropy, .. } = self.solution.objective;
        Objective {
            transport,
            entropy: entropy / self.entropy_weight * entropy_weight,
            regularization: self.regularization * regularization_weight,
        }
    }

    /// A lower bound of the objective with other weights.
    fn bound_at(
        &self,
        (entropy_weight, regularization_weight): (f64, f64),
        largest_negentropy: f64,
    ) -> f64 {
        let decrease = self.entropy_weight - entropy_weight;
        if decrease < 0.0 || regularization_weight < self.regularization_weight {
            return f64::NEG_INFINITY;
        }
        let bound = self.solution.objective.total() - self.solution.duality_gap;
        bound - decrease * largest_negentropy
    }

    /// The same plan as a solution with other weights, if the bound certifies it.
    fn within_tolerance(
        &self,
        weights: (f64, f64),
        bound: f64,
        options: &GcgOptions,
    ) -> Option<GcgSolution> {
        let objective = self.objective_at(weights);
        let duality_gap = (objective.total() - bound).max(0.0);
        (duality_gap <= options.relative_gap * objective.total().abs()).then(|| GcgSolution {
            objective,
            duality_gap,
            iterations: 0,
            stop: Stop::Converged,
            marginal_error: 0.0,
            history: Vec::new(),
            ..self.solution.clone()
        })
    }

    /// The solution with the weights of `problem`, of which a lower bound is known.
    fn continued(
        &self,
        problem: &GcgProblem<'_>,
        bound: f64,
        workspace: &mut Workspace,
        options: &GcgOptions,
    ) -> Result<GcgSolution> {
        let GcgSolution { plan, gradient, potentials, curvature, .. } = &self.solution;
        if let Some(form) = moved::form(problem) {
            let moved = self.solution.linearized_at.clone();
            let start = Start {
                entropy_weight: self.entropy_weight,
                moved: moved.unwrap_or_else(|| moved_by(plan.view(), &form.destinations())),
                potentials: potentials.clone(),
            };
            if let Some(solution) = moved::solve(problem, &*form, start, bound, workspace, options)?
            {
                return Ok(solution);
            }
        }
        let state = State::with_gradient(
            problem,
            (plan.clone(), gradient.clone()),
            potentials.clone(),
            problem.entropy_weight,
        );
        let curvature = curvature.map(|curvature| problem.regularization_weight * curvature);
        state.run_accelerated(problem, curvature, bound, workspace, options)
    }
}
