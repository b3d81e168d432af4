//! ℓp-ℓ1 transport by majorization-minimization (Courty, Flamary, Tuia, ECML 2014, doi:10.1007/978-3-662-44848-9_18):
//! min over γ ∈ Π(a, b) of ⟨γ, C⟩ + λ Σ γ ln γ + η Σ_j Σ_cl [(‖γ(I_cl, j)‖₁ + ε)^p − ε^p], for any λ > 0, η ≥ 0 and
//! unscaled costs.
//!
//! Ω is concave, so its linearization at a plan lies above it, and the plan that minimizes the linearized objective, an
//! entropic problem with the cost C + η ∂Ω, lowers the whole one. The reweighting ∂Ω has one value a class and column, so
//! that potentials of before start the next problem once each class is shifted to its mass (see `coarse`). What the
//! minimum of the linearized objective promises to gain is the duality gap of the generalized conditional gradient
//! ([`crate::gcg`], which solves the same problem without any of this); the iteration ends where it is small and, if
//! that is asked for, where the gains of the last steps, continued as a geometric series, leave as little. Dozens of
//! reweightings may change little but the masses of the classes; those can settle between classes and columns alone,
//! where no majorization promises a gain: such a step counts only if it gains as much as a reweighting must.

mod between;
mod coarse;

use ndarray::{Array2, ArrayView2};

use crate::checks::{check_length, check_weight};
use crate::entropic::{self, ClassPenalty, Potentials, Workspace};
use crate::error::Result;
use crate::gcg::Objective;
use crate::loops::dot;
use crate::marginals::masses_of;
use crate::regularizers::LpL1;
use crate::stop::Stop;
use coarse::Coarse;

/// The marginal error of a reweighted problem, as a share of what it promises to gain, and at most.
const DIRECTION_ACCURACY: f64 = 0.01;
const LARGEST_MARGINAL_ERROR: f64 = 1e-5;
/// Reweightings before classes may settle. They decide between local minima: of 44 problems of objects, digits and faces
/// ten ended higher than by reweightings alone with three of them (by up to 4e-4 of the objective), one with five (5e-5) and
/// none with eight; 12, 13 and 7 ended lower. With five they took the least time.
const PLAIN_REWEIGHTINGS: usize = 5;

/// The problem, up to λ.
#[derive(Debug, Clone, Copy)]
pub struct LpL1Problem<'a> {
    /// C, with +∞ for forbidden pairs.
    pub cost: ArrayView2<'a, f64>,
    /// a.
    pub source_mass: &'a [f64],
    /// b.
    pub target_mass: &'a [f64],
    /// Ω with its classes, p and ε.
    pub regularizer: &'a LpL1,
    /// η.
    pub regularization_weight: f64,
}

/// When to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct LpL1Options {
    /// Largest duality gap, relative to the objective.
    pub relative_gap: f64,
    /// Largest gain, relative to the objective, that further reweightings may be expected to bring; +∞ does not ask.
    pub remaining_gain: f64,
    /// Most reweightings of the whole problem.
    pub iteration_limit: usize,
    /// Whether, after the first few, reweightings between classes and columns alone come before each of the whole problem.
    /// Far fewer are needed then, but they are not those of the published algorithm, and may lead to another local minimum.
    pub settles_classes: bool,
    /// For the reweighted problems.
    pub entropic: entropic::Options,
}

impl Default for LpL1Options {
    fn default() -> Self {
        Self {
            relative_gap: 1e-6,
            remaining_gain: f64::INFINITY,
            iteration_limit: 1000,
            settles_classes: false,
            entropic: entropic::Options::default(),
        }
    }
}

/// A plan with its certificate.
#[derive(Debug, Clone)]
pub struct LpL1Solution {
    /// λ.
    pub entropy_weight: f64,
    /// The transport plan γ; its marginals hold to rounding.
    pub plan: Array2<f64>,
    /// The dual potentials of the entropic problem that the plan solves.
    pub potentials: Potentials,
    /// The objective at the plan, by terms.
    pub objective: Objective,
    /// What the linearized objective can gain, at most: a measure of stationarity.
    pub duality_gap: f64,
    /// Reweightings of the whole problem; with none the plan is the entropic one.
    pub iterations: usize,
    /// Why the iteration ended.
    pub stop: Stop,
    /// The largest marginal error of an entropic problem before its projection.
    pub marginal_error: f64,
}

/// What is known of the entropic plan that a solve starts at, without the plan itself.
#[derive(Debug, Clone)]
pub struct LpL1Start {
    entropy_weight: f64,
    potentials: Potentials,
    /// ‖γ(I_cl, j)‖₁.
    masses: Array2<f64>,
    transport_cost: f64,
    entropy: f64,
    marginal_error: f64,
}

impl LpL1Start {
    /// At the solution of the entropic problem with the same cost and masses; λ is its.
    pub fn new(regularizer: &LpL1, solution: &entropic::Solution) -> Result<Self> {
        let labels = regularizer.class_of_row().len();
        let rows = solution.plan.nrows();
        check_length("the labels of the regularizer", labels, "the rows of start", rows)?;
        Ok(Self {
            entropy_weight: solution.entropy_weight,
            potentials: solution.potentials.clone(),
            masses: regularizer.group_masses(solution.plan.view()),
            transport_cost: solution.transport_cost,
            entropy: solution.objective - solution.transport_cost,
            marginal_error: solution.marginal_error,
        })
    }
}

/// Minimizes the objective from its entropic plan, which, with the first reweightings, decides between local minima.
pub fn solve_lp_l1(
    problem: &LpL1Problem<'_>,
    start: &LpL1Start,
    workspace: &mut Workspace,
    options: &LpL1Options,
) -> Result<LpL1Solution> {
    let &LpL1Problem { regularizer, regularization_weight, .. } = problem;
    let cost = problem.cost.view();
    let entropy_weight = start.entropy_weight;
    check_weight("eta", regularization_weight)?;
    let (source_mass, target_mass) = masses_of(cost, problem.source_mass, problem.target_mass)?;
    let classes = regularizer.class_of_row();
    check_length("the labels of the regularizer", classes.len(), "the rows of cost", cost.nrows())?;
    check_length("the columns of start", start.masses.ncols(), "cost", cost.ncols())?;
    let (found, expected) = (start.masses.nrows(), regularizer.classes().len());
    check_length("the classes of start", found, "the classes of the regularizer", expected)?;
    let masses = (source_mass.as_slice(), target_mass.as_slice());
    let unweighted = entropic::Problem::new(cost, masses.0, masses.1)?;
    let mut coarse = Coarse::new(cost, regularizer.classes(), masses);
    let mut iterate = Iterate::at_start(problem, start);
    let mut marginal_error = start.marginal_error;
    let mut largest_error = LARGEST_MARGINAL_ERROR;
    let mut iterations = 0;
    // Without Ω nothing is below the entropic plan.
    let mut progress = Progress::new(iterate.objective.regularization);
    let mut may_settle = options.settles_classes;
    let (duality_gap, stop) = loop {
        let linearized = iterate.linearized_objective(problem);
        let total = iterate.objective.total();
        let tolerance = options.relative_gap * total.abs();
        let largest_gain = options.remaining_gain * total.abs().max(f64::MIN_POSITIVE);
        let penalty = regularization_weight * &iterate.slopes;
        let shifted = coarse.shift(&iterate.potentials, &penalty, entropy_weight)?;
        let gap = linearized - shifted.dual_objective;
        if gap <= tolerance && progress.left() <= largest_gain {
            break (gap, Stop::Converged);
        }
        if iterations == options.iteration_limit {
            break (gap, Stop::IterationLimit);
        }
        let settles = may_settle && iterations >= PLAIN_REWEIGHTINGS;
        let (penalty, shifted) = if settles {
            let may_be_left = tolerance.min(largest_gain);
            let start = (penalty, shifted);
            coarse.settle(&iterate.potentials, start, problem, (entropy_weight, may_be_left))?
        } else {
            (penalty, shifted)
        };
        let tolerance_of_marginals = (DIRECTION_ACCURACY * gap / total.abs())
            .min(largest_error)
            .max(options.entropic.tolerance);
        let next = entropic::solve_from(
            &unweighted.reweighted(ClassPenalty { classes, values: &penalty }),
            entropy_weight,
            &mut |weight| {
                if weight == entropy_weight {
                    return Ok(shifted.potentials.clone());
                }
                Ok(coarse.shift(&iterate.potentials, &penalty, weight)?.potentials)
            },
            iterate.plan.take(),
            workspace,
            &entropic::Options { tolerance: tolerance_of_marginals, ..options.entropic },
        )?;
        // The penalty of a settled step is that of another plan.
        let gap = if settles { gap } else { gap.min(linearized - next.dual_objective) };
        if gap <= tolerance && progress.left() <= largest_gain {
            break (gap, Stop::Converged);
        }
        marginal_error = marginal_error.max(next.marginal_error);
        let next = Iterate::at(problem, next, Some(penalty));
        let gain = total - next.objective.total();
        if gain > 0.0 && (!settles || gain >= gap) {
            progress.add(gain, settles);
            iterate = next;
            iterations += 1;
        } else if settles {
            may_settle = false;
        } else if tolerance_of_marginals > options.entropic.tolerance {
            // What a rough solution gains is lost again in its projection.
            largest_error = options.entropic.tolerance;
        } else {
            // Nothing was left after all, if the gap is small.
            break (gap, if gap <= tolerance { Stop::Converged } else { Stop::Stalled });
        }
    };
    let (plan, duality_gap) = if let Some(plan) = iterate.plan.take() {
        (plan, duality_gap)
    } else {
        iterate = iterate.made_again(problem, &unweighted, entropy_weight, workspace, options)?;
        let penalty = regularization_weight * &iterate.slopes;
        let shifted = coarse.shift(&iterate.potentials, &penalty, entropy_weight)?;
        let gap = iterate.linearized_objective(problem) - shifted.dual_objective;
        (iterate.plan.take().unwrap_or_default(), gap)
    };
    Ok(LpL1Solution {
        entropy_weight,
        plan,
        potentials: iterate.potentials,
        objective: iterate.objective,
        duality_gap,
        iterations,
        stop,
        marginal_error,
    })
}

/// What the last two reweightings gained. A concave Ω falls further than its linearization promises, so that a small
/// duality gap alone does not say that little is left to gain.
struct Progress {
    /// All that can be gained.
    most: f64,
    /// Of the last two steps, if they were of one kind.
    gains: [f64; 2],
    settles: bool,
}

impl Progress {
    fn new(most: f64) -> Self {
        Self { most, gains: [0.0; 2], settles: false }
    }

    fn add(&mut self, gain: f64, settles: bool) {
        let before = if self.settles == settles { self.gains[1] } else { 0.0 };
        *self = Self { most: self.most - gain, gains: [before, gain], settles };
    }

    /// The sum of all gains to come if they go on falling as the last two did.
    fn left(&self) -> f64 {
        let [before, last] = self.gains;
        let ratio = last / before;
        // Before there are two it is not a number, or infinite.
        if ratio < 1.0 { last * ratio / (1.0 - ratio) } else { self.most }
    }
}

/// Where the iteration stands.
struct Iterate {
    /// None where its memory serves for something else, and at the start: see `made_again`.
    plan: Option<Array2<f64>>,
    /// Of the entropic problem that the plan solves.
    potentials: Potentials,
    /// Its penalty, none for that of the start.
    penalty: Option<Array2<f64>>,
    /// ‖γ(I_cl, j)‖₁ and ∂Ω there.
    masses: Array2<f64>,
    slopes: Array2<f64>,
    objective: Objective,
}

impl Iterate {
    /// At the plan of the entropic problem.
    fn at_start(problem: &LpL1Problem<'_>, start: &LpL1Start) -> Self {
        let terms = (start.transport_cost, start.entropy);
        let found = (None, start.potentials.clone());
        Self::new(problem, found, None, start.masses.clone(), terms)
    }

    /// At the plan of an entropic problem, perhaps with a penalty.
    fn at(
        problem: &LpL1Problem<'_>,
        solution: entropic::Solution,
        penalty: Option<Array2<f64>>,
    ) -> Self {
        let masses = problem.regularizer.group_masses(solution.plan.view());
        let terms = (solution.transport_cost, solution.objective - solution.transport_cost);
        let found = (Some(solution.plan), solution.potentials);
        Self::new(problem, found, penalty, masses, terms)
    }

    fn new(
        problem: &LpL1Problem<'_>,
        (plan, potentials): (Option<Array2<f64>>, Potentials),
        penalty: Option<Array2<f64>>,
        masses: Array2<f64>,
        (transport, entropy): (f64, f64),
    ) -> Self {
        let LpL1Problem { regularizer, regularization_weight, .. } = *problem;
        Self {
            plan,
            potentials,
            penalty,
            slopes: regularizer.slopes_at(&masses),
            objective: Objective {
                transport,
                entropy,
                regularization: regularization_weight * regularizer.value_at(&masses),
            },
            masses,
        }
    }

    /// With its plan, which is found again from its potentials: two plans at a time would be half as much memory again. All
    /// that is said of the plan is said anew, because it was solved less tightly before.
    fn made_again(
        self,
        problem: &LpL1Problem<'_>,
        unweighted: &entropic::Problem<'_>,
        entropy_weight: f64,
        workspace: &mut Workspace,
        options: &LpL1Options,
    ) -> Result<Self> {
        let mut solve = |problem: &entropic::Problem<'_>| {
            let start = &mut |_| Ok(self.potentials.clone());
            entropic::solve_from(problem, entropy_weight, start, None, workspace, &options.entropic)
        };
        let solution = match &self.penalty {
            Some(values) => {
                let classes = problem.regularizer.class_of_row();
                solve(&unweighted.reweighted(ClassPenalty { classes, values }))?
            }
            None => solve(unweighted)?,
        };
        Ok(Self::at(problem, solution, self.penalty))
    }

    /// ⟨γ, C + η ∂Ω(γ)⟩ + λ Σ γ ln γ at the plan.
    fn linearized_objective(&self, problem: &LpL1Problem<'_>) -> f64 {
        let slope = inner_product(&self.masses, &self.slopes);
        self.objective.transport + self.objective.entropy + problem.regularization_weight * slope
    }
}

fn inner_product(left: &Array2<f64>, right: &Array2<f64>) -> f64 {
    match (left.as_slice(), right.as_slice()) {
        (Some(left), Some(right)) => dot(left, right),
        _ => left.iter().zip(right).map(|(left, right)| left * right).sum(),
    }
}
