//! `runner adapt`: the solvers from the shell, for a user's own arrays.

use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use datasets::format::ReadOptions;
use datasets::{Domain, Selection, read_features, read_labelled, read_labels};
use ndarray::Array2;
use serde::Serialize;
use solvers::Stop;
use solvers::cost::{cost_matrix, normalize_cost};
use solvers::entropic::{self, Potentials, Workspace};
use solvers::exact::{ExactOptions, solve_exact};
use solvers::gcg::{GcgOptions, GcgProblem, Objective, solve_gcg};
use solvers::group_lasso::{
    GroupLassoOptions, GroupLassoProblem, GroupLassoWorkspace, solve_group_lasso,
};
use solvers::lp_l1::{LpL1Options, LpL1Problem, LpL1Start, solve_lp_l1};
use solvers::mapping::barycentric_map;
use solvers::marginals::uniform_mass;
use solvers::regularizers::{Laplacian, LpL1};
use solvers::semi_supervised::forbid_crossing_labels;

use crate::adapt_output;
use crate::cli::{AdaptArguments, AdaptMethod};
use crate::memory;
use crate::say_line;
use crate::unit::accuracy;

/// Of class-regularized problems, relative to the objective.
const DEFAULT_GAP: f64 = 1e-6;
/// What becomes of the tolerance of marginals while OT-IT is not within the gap that is asked for.
const TIGHTENING: f64 = 0.1;
/// Spelled in a file of target labels where the label is not known.
const UNKNOWN_LABEL: &str = "-1";

/// What is printed, as one JSON object.
#[derive(Debug, Serialize)]
struct Report {
    method: String,
    n_s: usize,
    n_t: usize,
    objective: Terms,
    iterations: usize,
    stop: String,
    marginal_error: f64,
    duality_gap: f64,
    /// Of the solver alone, without reading files and computing costs; of the last solve, where there are several.
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
}

/// The three terms of eq. `optreg_disc` and their sum.
#[derive(Debug, Serialize)]
struct Terms {
    transport: f64,
    entropy: f64,
    regularization: f64,
    total: f64,
}

/// What all solvers have in common.
struct Transport {
    plan: Array2<f64>,
    objective: Objective,
    iterations: usize,
    stop: Stop,
    marginal_error: f64,
    duality_gap: f64,
}

/// Adapts a source to a target, writes what was asked for and prints the report. On a thread of the pool: from outside,
/// each part of a solve would change threads twice.
pub fn run(arguments: &AdaptArguments) -> Result<()> {
    memory::share_one_heap();
    rayon::scope(|_| adapt(arguments))
}

fn adapt(arguments: &AdaptArguments) -> Result<()> {
    check_weights(arguments)?;
    let input = Input::read(arguments)?;
    check_outputs(arguments, &input)?;
    let cost = cost_matrix(input.source.features(), input.target.view(), arguments.cost.into())?;
    let cost = normalize_cost(cost, arguments.normalize.into())?;
    let masses = (uniform_mass(input.source.samples()), uniform_mass(input.target.nrows()));
    let cost = match &input.known_labels {
        KnownLabels::Some(labels) => {
            forbid_crossing_labels(cost, input.source.labels(), labels, &masses.0, &masses.1)
                .map_err(|error| too_many_labels(error, input.source.class_names()))?
        }
        KnownLabels::None | KnownLabels::All(_) => cost,
    };
    let solve_once = || {
        let clock = Instant::now();
        let transport = solve(arguments, &input, &cost, (&masses.0, &masses.1))?;
        anyhow::Ok((transport, clock.elapsed().as_secs_f64()))
    };
    for _ in 1..arguments.repeat {
        solve_once()?;
    }
    let (transport, seconds) = solve_once()?;

    let mapped = barycentric_map(
        transport.plan.view(),
        input.target.view(),
        arguments.cost.into(),
        input.source.features(),
    )?;
    let predicted =
        baselines::classify_by_nearest(mapped.view(), input.source.labels(), input.target.view())?;
    if let Some(path) = &arguments.out {
        adapt_output::write_matrix(path, &mapped)?;
    }
    if let Some(path) = &arguments.plan {
        adapt_output::write_matrix(path, &transport.plan)?;
    }
    if let Some(path) = &arguments.predict {
        adapt_output::write_labels(path, input.source.class_names(), &predicted)?;
    }
    let Objective { transport: moved, entropy, regularization } = transport.objective;
    let report = Report {
        method: arguments.method.to_string(),
        n_s: input.source.samples(),
        n_t: input.target.nrows(),
        objective: Terms {
            transport: moved,
            entropy,
            regularization,
            total: transport.objective.total(),
        },
        iterations: transport.iterations,
        stop: transport.stop.to_string(),
        marginal_error: transport.marginal_error,
        duality_gap: transport.duality_gap,
        seconds,
        accuracy: match &input.known_labels {
            KnownLabels::All(labels) => Some(accuracy(&predicted, labels)),
            KnownLabels::None | KnownLabels::Some(_) => None,
        },
    };
    say_line!("{}", serde_json::to_string(&report)?)?;
    Ok(())
}

/// Fails if the method lacks a weight, or is given one that it has no use for.
fn check_weights(arguments: &AdaptArguments) -> Result<()> {
    let AdaptArguments { method, lambda, eta, gap, .. } = arguments;
    let has_entropy = *method != AdaptMethod::OtExact;
    let is_regularized = has_entropy && *method != AdaptMethod::OtIt;
    for (option, is_given, is_needed, example) in [
        ("--lambda", lambda.is_some(), has_entropy, "10"),
        ("--eta", eta.is_some(), is_regularized, "1"),
    ] {
        ensure!(is_given || !is_needed, "{method} needs {option}, for example {option} {example}");
        ensure!(is_needed || !is_given, "{method} has no {option}: leave it out");
    }
    ensure!(has_entropy || gap.is_none(), "{method} has no --gap: leave it out");
    Ok(())
}

/// Fails if a file that is asked for could not be written: before the solve, which may take long.
fn check_outputs(arguments: &AdaptArguments, input: &Input) -> Result<()> {
    for path in [&arguments.out, &arguments.plan].into_iter().flatten() {
        adapt_output::check(path)?;
    }
    match &arguments.predict {
        Some(path) => adapt_output::check_labels(path, input.source.class_names()),
        None => Ok(()),
    }
}

/// Says it with the labels as the user spells them.
fn too_many_labels(error: solvers::Error, classes: &[String]) -> anyhow::Error {
    match error {
        solvers::Error::LabelMass { class, needed, available } => anyhow!(
            "--target-labels: the samples with the label {:?} need a mass of {needed:.3}, and the source samples with it \
             have {available:.3}, so that no plan respects the labels; replace some of them by {UNKNOWN_LABEL}",
            classes[class]
        ),
        other => anyhow::Error::from(other).context("--target-labels"),
    }
}

struct Input {
    source: Domain,
    target: Array2<f64>,
    known_labels: KnownLabels,
}

/// What is known of the target's labels.
enum KnownLabels {
    None,
    /// They constrain the plan.
    Some(Vec<Option<usize>>),
    /// With nothing left to adapt to, they only score the prediction.
    All(Vec<usize>),
}

impl Input {
    fn read(arguments: &AdaptArguments) -> Result<Self> {
        let (features, labels) = read_labelled(
            &arguments.source,
            arguments.labels.as_deref(),
            &Selection::default(),
            ReadOptions::default(),
        )?;
        let source = Domain::from_label_names("source", features, &labels)?;
        let target_labels = arguments.target_labels.as_deref().map(read_labels).transpose()?;
        let target = read_features(
            &arguments.target,
            target_labels.as_ref().map(Vec::len),
            Some(source.width()),
        )?;
        let classes = source.class_names();
        let known_labels = match target_labels {
            None => KnownLabels::None,
            Some(labels) => known_labels(&labels, classes)?,
        };
        Ok(Self { source, target, known_labels })
    }
}

fn known_labels(labels: &[String], classes: &[String]) -> Result<KnownLabels> {
    let known: Vec<Option<usize>> = labels
        .iter()
        .enumerate()
        .map(|(row, label)| {
            if label == UNKNOWN_LABEL {
                ensure!(
                    !classes.iter().any(|class| class == UNKNOWN_LABEL),
                    "--target-labels, row {}: {UNKNOWN_LABEL} stands for a label that is not known, and is a class of \
                     the source; give that class another name in both files",
                    row + 1
                );
                return Ok(None);
            }
            let class = classes.iter().position(|class| class == label);
            ensure!(
                class.is_some(),
                "--target-labels, row {}: no source sample has the label {label:?}; write \
                 {UNKNOWN_LABEL} where it is not known",
                row + 1
            );
            Ok(class)
        })
        .collect::<Result<_>>()?;
    let all: Option<Vec<usize>> = known.iter().copied().collect();
    Ok(all.map_or(KnownLabels::Some(known), KnownLabels::All))
}

fn solve(
    arguments: &AdaptArguments,
    input: &Input,
    cost: &Array2<f64>,
    (source_mass, target_mass): (&[f64], &[f64]),
) -> Result<Transport> {
    // Those that the method needs are there: see `check_weights`.
    let (lambda, eta) = (arguments.lambda.unwrap_or_default(), arguments.eta.unwrap_or_default());
    let gap = arguments.gap.unwrap_or(DEFAULT_GAP);
    let labels = input.source.labels();
    let laplacian = match arguments.method {
        AdaptMethod::OtExact => {
            return exact(cost, source_mass, target_mass);
        }
        AdaptMethod::OtIt => {
            return entropic(cost, (source_mass, target_mass), lambda, arguments.gap);
        }
        AdaptMethod::OtGl => {
            let problem = GroupLassoProblem {
                cost: cost.view(),
                source_mass,
                target_mass,
                source_labels: labels,
                regularization_weight: eta,
            };
            return group_lasso(&problem, lambda, gap);
        }
        AdaptMethod::OtLpl1 => {
            let problem = LpL1Problem {
                cost: cost.view(),
                source_mass,
                target_mass,
                regularizer: &LpL1::new(labels),
                regularization_weight: eta,
            };
            return lp_l1(&problem, lambda, gap);
        }
        AdaptMethod::OtLaplace => Laplacian::of_nearest_neighbours(
            (input.source.features(), input.target.view()),
            labels,
            (source_mass, target_mass),
            Laplacian::DEFAULT_NEIGHBOURS,
            Laplacian::DEFAULT_TRADE_OFF,
        )?,
    };
    let problem = GcgProblem {
        cost: cost.view(),
        source_mass,
        target_mass,
        entropy_weight: lambda,
        regularizer: &laplacian,
        regularization_weight: eta,
    };
    let options = GcgOptions { relative_gap: gap, ..GcgOptions::default() };
    let solution = solve_gcg(&problem, None, &mut Workspace::default(), &options)?;
    Ok(Transport {
        plan: solution.plan,
        objective: solution.objective,
        iterations: solution.iterations,
        stop: solution.stop,
        marginal_error: solution.marginal_error,
        duality_gap: solution.duality_gap,
    })
}

fn exact(cost: &Array2<f64>, source_mass: &[f64], target_mass: &[f64]) -> Result<Transport> {
    let solution = solve_exact(cost.view(), source_mass, target_mass, &ExactOptions::default())?;
    Ok(Transport {
        plan: solution.dense_plan(cost.dim()),
        objective: Objective { transport: solution.cost, ..Objective::default() },
        iterations: solution.pivots,
        stop: solution.stop,
        // Flows are integers: the plan is on the polytope at every pivot.
        marginal_error: 0.0,
        duality_gap: solution.duality_gap(),
    })
}

/// With a gap, to the loosest marginals whose plan is within it; otherwise to those of the solver.
fn entropic(
    cost: &Array2<f64>,
    (source_mass, target_mass): (&[f64], &[f64]),
    entropy_weight: f64,
    relative_gap: Option<f64>,
) -> Result<Transport> {
    let tightest = entropic::Options::default();
    let mut workspace = Workspace::default();
    let mut solve = |tolerance: f64, start: Option<&Potentials>| {
        let options = entropic::Options { tolerance, ..tightest };
        let masses = (source_mass, target_mass);
        let cost = cost.view();
        entropic::solve(cost, masses.0, masses.1, entropy_weight, start, &mut workspace, &options)
    };
    // What marginals lack costs a few times as much, relatively, as what is transported.
    let mut tolerance = relative_gap.map_or(0.0, |gap| TIGHTENING * gap).max(tightest.tolerance);
    let mut solution = solve(tolerance, None)?;
    while let Some(gap) = relative_gap
        && solution.duality_gap() > gap * solution.objective.abs()
        && tolerance > tightest.tolerance
    {
        tolerance = (TIGHTENING * tolerance).max(tightest.tolerance);
        solution = solve(tolerance, Some(&solution.potentials))?;
    }
    let duality_gap = solution.duality_gap();
    Ok(Transport {
        objective: Objective {
            transport: solution.transport_cost,
            entropy: solution.objective - solution.transport_cost,
            regularization: 0.0,
        },
        plan: solution.plan,
        iterations: solution.iterations,
        stop: solution.stop,
        marginal_error: solution.marginal_error,
        duality_gap,
    })
}

fn group_lasso(
    problem: &GroupLassoProblem<'_>,
    entropy_weight: f64,
    relative_gap: f64,
) -> Result<Transport> {
    let solution = solve_group_lasso(
        problem,
        entropy_weight,
        None,
        &mut GroupLassoWorkspace::default(),
        &GroupLassoOptions { relative_gap, ..GroupLassoOptions::default() },
    )?;
    let duality_gap = solution.duality_gap();
    Ok(Transport {
        plan: solution.plan,
        objective: solution.objective,
        iterations: solution.iterations,
        stop: solution.stop,
        marginal_error: solution.marginal_error,
        duality_gap,
    })
}

fn lp_l1(problem: &LpL1Problem<'_>, entropy_weight: f64, relative_gap: f64) -> Result<Transport> {
    let mut workspace = Workspace::default();
    let options = LpL1Options {
        relative_gap,
        remaining_gain: relative_gap,
        settles_classes: true,
        ..LpL1Options::default()
    };
    // A start that is a hundredth as far from its optimum as the solution may be. Its plan is gone before the next is made.
    let tolerance = 0.01 * relative_gap;
    let start = LpL1Start::new(
        problem.regularizer,
        &entropic::solve(
            problem.cost,
            problem.source_mass,
            problem.target_mass,
            entropy_weight,
            None,
            &mut workspace,
            &entropic::Options { tolerance, ..entropic::Options::default() },
        )?,
    )?;
    let solution = solve_lp_l1(problem, &start, &mut workspace, &options)?;
    Ok(Transport {
        plan: solution.plan,
        objective: solution.objective,
        iterations: solution.iterations,
        stop: solution.stop,
        marginal_error: solution.marginal_error,
        duality_gap: solution.duality_gap,
    })
}
