//! The paper's own methods: the source samples move along a transport plan, then a classifier is trained on them.

use std::time::Instant;

use anyhow::Result;
use ndarray::{Array2, ArrayView2};
use solvers::entropic::{self, Workspace};
use solvers::exact::{ExactOptions, solve_exact};
use solvers::gcg::{GcgOptions, GcgProblem, GcgSolution, QuadraticPath, solve_gcg};
use solvers::group_lasso::{
    GroupLassoOptions, GroupLassoProblem, GroupLassoSolution, GroupLassoWorkspace,
    solve_group_lasso_path,
};
use solvers::lp_l1::{LpL1Options, LpL1Problem, LpL1Start, solve_lp_l1};
use solvers::mapping::{Barycenter, barycentric_map};
use solvers::regularizers::{LpL1, Quadratic};
use solvers::{Regularizer, Stop};

use super::transport_problem::{TransportProblem, laplacian, metric};
use super::{Convergence, Outcome, Problem};
use crate::config::{MethodConfig, Point};

/// A problem with its costs and masses, and what is made of its plans.
struct Transport<'a, 'data> {
    problem: &'a Problem<'data>,
    cost: Array2<f64>,
    source_mass: Vec<f64>,
    target_mass: Vec<f64>,
    barycenter: Barycenter,
    /// The last plan and the labels that came of it: neighbours on a grid often share theirs.
    last: Option<(Array2<f64>, Vec<usize>)>,
    clock: Instant,
}

impl<'a, 'data> Transport<'a, 'data> {
    fn new(problem: &'a Problem<'data>, config: &MethodConfig) -> Result<Self> {
        let clock = Instant::now();
        let TransportProblem { cost, source_mass, target_mass } =
            TransportProblem::new(problem, config)?;
        let barycenter = metric(config).into();
        Ok(Self { problem, cost, source_mass, target_mass, barycenter, last: None, clock })
    }

    /// Moves the source along a plan (eq. `bary_map`) and labels the queries.
    fn outcome(&mut self, plan: ArrayView2<'_, f64>, convergence: Convergence) -> Result<Outcome> {
        let predicted = match &self.last {
            Some((last, predicted)) if last == plan => predicted.clone(),
            _ => {
                let source = self.problem.source.features.view();
                let mapped = barycentric_map(plan, self.problem.target, self.barycenter, source)?;
                let predicted = self.problem.classify(mapped.view())?;
                self.last = Some((plan.to_owned(), predicted.clone()));
                predicted
            }
        };
        // The time since the last outcome: work that grid points share counts for the first of them.
        let seconds = self.clock.elapsed().as_secs_f64();
        self.clock = Instant::now();
        Ok(Outcome { predicted, convergence: Some(convergence), seconds })
    }

    /// Eq. `optreg_disc` by the generalized conditional gradient at some of the points. Those of a quadratic Ω_c start
    /// from their neighbours, from the largest λ down and from the smallest η up.
    fn regularized(
        &mut self,
        points: &[Point],
        mut places: Vec<usize>,
        regularizer: &dyn Regularizer,
    ) -> Result<Vec<(usize, Outcome)>> {
        let weights = |place: usize| (points[place].get("lambda"), points[place].get("eta"));
        places.sort_by(|&a, &b| {
            let ((lambda_a, eta_a), (lambda_b, eta_b)) = (weights(a), weights(b));
            lambda_b.total_cmp(&lambda_a).then(eta_a.total_cmp(&eta_b))
        });
        let options =
            GcgOptions { relative_gap: self.problem.relative_gap, ..GcgOptions::default() };
        let (source_mass, target_mass) = (self.source_mass.clone(), self.target_mass.clone());
        let cost = self.cost.clone();
        let mut outcomes = Vec::with_capacity(places.len());
        if regularizer.is_quadratic() {
            let masses = (&*source_mass, &*target_mass);
            let mut path = QuadraticPath::new(cost.view(), masses, regularizer, options)?;
            for place in places {
                let (lambda, eta) = weights(place);
                let solution = path.solve(lambda, eta)?;
                let outcome = self.outcome(solution.plan.view(), of_gcg(solution))?;
                outcomes.push((place, outcome));
            }
            return Ok(outcomes);
        }
        let mut workspace = Workspace::default();
        for place in places {
            let (entropy_weight, regularization_weight) = weights(place);
            let problem = GcgProblem {
                cost: cost.view(),
                source_mass: &source_mass,
                target_mass: &target_mass,
                entropy_weight,
                regularizer,
                regularization_weight,
            };
            let solution = solve_gcg(&problem, None, &mut workspace, &options)?;
            outcomes.push((place, self.outcome(solution.plan.view(), of_gcg(&solution))?));
        }
        Ok(outcomes)
    }
}

fn of_gcg(solution: &GcgSolution) -> Convergence {
    let gap = (solution.duality_gap, solution.objective.total());
    convergence(solution.stop, solution.iterations, gap, solution.marginal_error)
}

fn convergence(
    stop: Stop,
    iterations: usize,
    (gap, objective): (f64, f64),
    marginal_error: f64,
) -> Convergence {
    // An objective of zero leaves nothing to be relative to.
    let relative_gap = if gap == 0.0 { 0.0 } else { (gap / objective.abs()).min(f64::MAX) };
    Convergence {
        stop: stop.to_string(),
        iterations,
        relative_gap: Some(relative_gap),
        marginal_error: Some(marginal_error),
    }
}

/// OT-exact, eq. `gzero`.
pub fn exact(
    problem: &Problem<'_>,
    config: &MethodConfig,
    points: &[Point],
) -> Result<Vec<Outcome>> {
    let mut transport = Transport::new(problem, config)?;
    let solve = |_: &Point| {
        let Transport { cost, source_mass, target_mass, .. } = &transport;
        let solution =
            solve_exact(cost.view(), source_mass, target_mass, &ExactOptions::default())?;
        let gap = (solution.duality_gap(), solution.cost);
        let convergence = convergence(solution.stop, solution.pivots, gap, 0.0);
        let plan = solution.dense_plan(cost.dim());
        transport.outcome(plan.view(), convergence)
    };
    points.iter().map(solve).collect()
}

/// OT-IT, eq. `cuturi`: all λ along one path.
pub fn entropic(
    problem: &Problem<'_>,
    config: &MethodConfig,
    points: &[Point],
) -> Result<Vec<Outcome>> {
    let mut transport = Transport::new(problem, config)?;
    let lambdas: Vec<f64> = points.iter().map(|point| point.get("lambda")).collect();
    let solutions = entropic::solve_path(
        transport.cost.view(),
        &transport.source_mass,
        &transport.target_mass,
        &lambdas,
        &mut Workspace::default(),
        &entropic::Options::default(),
    )?;
    solutions
        .into_iter()
        .map(|solution| {
            let gap = (solution.duality_gap(), solution.objective);
            let convergence =
                convergence(solution.stop, solution.iterations, gap, solution.marginal_error);
            transport.outcome(solution.plan.view(), convergence)
        })
        .collect()
}

/// OT-GL, eq. `cuturigroup`: all λ of one η along one path, the η from the smallest up, each beside the one before.
pub fn group_lasso(
    problem: &Problem<'_>,
    config: &MethodConfig,
    points: &[Point],
) -> Result<Vec<Outcome>> {
    let mut transport = Transport::new(problem, config)?;
    let mut workspace = GroupLassoWorkspace::default();
    let mut outcomes = Vec::with_capacity(points.len());
    let mut etas = places_by(points, 0..points.len(), "eta");
    etas.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut last: (Vec<f64>, Vec<GroupLassoSolution>) = Default::default();
    for (eta, places) in etas {
        let lambdas: Vec<f64> = places.iter().map(|&place| points[place].get("lambda")).collect();
        let problem = GroupLassoProblem {
            cost: transport.cost.view(),
            source_mass: &transport.source_mass,
            target_mass: &transport.target_mass,
            source_labels: &problem.source.labels,
            regularization_weight: eta,
        };
        let options = GroupLassoOptions {
            relative_gap: transport.problem.relative_gap,
            ..Default::default()
        };
        // A grid that someone lists point by point may have other λ for each η.
        let neighbours = if last.0 == lambdas { &last.1[..] } else { &[] };
        let solutions =
            solve_group_lasso_path(&problem, &lambdas, neighbours, &mut workspace, &options)?;
        for (place, solution) in places.into_iter().zip(&solutions) {
            let gap = (solution.duality_gap(), solution.objective.total());
            let convergence =
                convergence(solution.stop, solution.iterations, gap, solution.marginal_error);
            outcomes.push((place, transport.outcome(solution.plan.view(), convergence)?));
        }
        last = (lambdas, solutions);
    }
    Ok(in_order(outcomes))
}

/// OT-LpL1: ℓp-ℓ1 by majorisation-minimisation. Not convex: each point starts at its entropic plan, whatever
/// else is asked for. The entropic plans of all λ come from one path.
pub fn lp_l1(
    problem: &Problem<'_>,
    config: &MethodConfig,
    points: &[Point],
) -> Result<Vec<Outcome>> {
    let mut transport = Transport::new(problem, config)?;
    let by_lambda = places_by(points, 0..points.len(), "lambda");
    let lambdas: Vec<f64> = by_lambda.iter().map(|(lambda, _)| *lambda).collect();
    let mut workspace = Workspace::default();
    let regularizer = LpL1::new(&problem.source.labels);
    let starts = entropic::solve_path(
        transport.cost.view(),
        &transport.source_mass,
        &transport.target_mass,
        &lambdas,
        &mut workspace,
        &entropic::Options::default(),
    )?
    .iter()
    .map(|solution| LpL1Start::new(&regularizer, solution))
    .collect::<Result<Vec<_>, _>>()?;
    let mut outcomes = Vec::with_capacity(points.len());
    for ((_, places), start) in by_lambda.into_iter().zip(starts) {
        for place in places {
            let point = &points[place];
            let regularizer = regularizer.clone().with_power(point.get("p"))?;
            // The gap stays tight while a point is chosen: Ω is concave, so that its gap says how nearly a plan is
            // stationary, not how good it is. At large λ 1e-3 is that of the saddle beside the entropic plan.
            let options = LpL1Options {
                iteration_limit: point.count("reweightings"),
                ..LpL1Options::default()
            };
            let problem = LpL1Problem {
                cost: transport.cost.view(),
                source_mass: &transport.source_mass,
                target_mass: &transport.target_mass,
                regularizer: &regularizer,
                regularization_weight: point.get("eta"),
            };
            let solution = solve_lp_l1(&problem, &start, &mut workspace, &options)?;
            let gap = (solution.duality_gap, solution.objective.total());
            let convergence =
                convergence(solution.stop, solution.iterations, gap, solution.marginal_error);
            outcomes.push((place, transport.outcome(solution.plan.view(), convergence)?));
        }
    }
    Ok(in_order(outcomes))
}

/// OT-Laplace, eq. `reglaps2`.
pub fn laplace(
    problem: &Problem<'_>,
    config: &MethodConfig,
    points: &[Point],
) -> Result<Vec<Outcome>> {
    let mut transport = Transport::new(problem, config)?;
    let mut outcomes = Vec::with_capacity(points.len());
    for (_, places) in places_by(points, 0..points.len(), "neighbours") {
        let neighbours = points[places[0]].count("neighbours");
        for (alpha, places) in places_by(points, places, "alpha") {
            let masses = (&*transport.source_mass, &*transport.target_mass);
            let regularizer = laplacian(problem, masses, neighbours, alpha)?;
            outcomes.extend(transport.regularized(points, places, &regularizer)?);
        }
    }
    Ok(in_order(outcomes))
}

/// Quadratic regularization beside the entropic one.
pub fn quadratic(
    problem: &Problem<'_>,
    config: &MethodConfig,
    points: &[Point],
) -> Result<Vec<Outcome>> {
    let mut transport = Transport::new(problem, config)?;
    let regularizer = Quadratic::new(&transport.source_mass, &transport.target_mass);
    let places = (0..points.len()).collect();
    Ok(in_order(transport.regularized(points, places, &regularizer)?))
}

/// The places of the points that share a value, in the order of their first ones.
fn places_by(
    points: &[Point],
    places: impl IntoIterator<Item = usize>,
    name: &str,
) -> Vec<(f64, Vec<usize>)> {
    let mut groups: Vec<(f64, Vec<usize>)> = Vec::new();
    for place in places {
        let value = points[place].get(name);
        match groups.iter_mut().find(|(own, _)| *own == value) {
            Some((_, places)) => places.push(place),
            None => groups.push((value, vec![place])),
        }
    }
    groups
}

fn in_order(mut outcomes: Vec<(usize, Outcome)>) -> Vec<Outcome> {
    outcomes.sort_by_key(|(place, _)| *place);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
