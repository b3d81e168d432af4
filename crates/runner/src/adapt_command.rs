//! `runner adapt`: the solvers from the shell, for a user's own arrays.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use serde::Serialize;
use solvers::cost::{cost_matrix, normalize_cost};
use solvers::gcg::Objective;
use solvers::mapping::barycentric_map;
use solvers::marginals::uniform_mass;
use solvers::semi_supervised::forbid_crossing_labels;

use crate::adapt_input::{Input, KnownLabels, too_many_labels};
use crate::adapt_output;
use crate::adapt_solvers::solve;
use crate::cli::{AdaptArguments, AdaptMethod};
use crate::memory;
use crate::say_line;
use crate::unit::accuracy;

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

/// Adapts a source to a target, writes what was asked for and prints the report. On a thread of the pool: from outside,
/// each part of a solve would change threads twice.
pub fn run(arguments: &AdaptArguments) -> Result<()> {
    memory::share_one_heap();
    rayon::scope(|_| adapt(arguments))
}

fn adapt(arguments: &AdaptArguments) -> Result<()> {
    check_weights(arguments)?;
    check_paths(arguments)?;
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
    let truth = match &input.known_labels {
        KnownLabels::All(labels) => Some(labels),
        KnownLabels::None | KnownLabels::Some(_) => None,
    };
    let predicted = if truth.is_some() || arguments.predict.is_some() {
        let labels = input.source.labels();
        baselines::classify_by_nearest(mapped.view(), labels, input.target.view())?
    } else {
        Vec::new()
    };
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
        accuracy: truth.map(|labels| accuracy(&predicted, labels)),
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

/// Fails if one file would take the place of another: of one that is read, or of another that is written.
fn check_paths(arguments: &AdaptArguments) -> Result<()> {
    let AdaptArguments { source, labels, target, target_labels, out, plan, predict, .. } =
        arguments;
    let mut taken = vec![("--source", source), ("--target", target)];
    taken.extend(labels.iter().map(|path| ("--labels", path)));
    taken.extend(target_labels.iter().map(|path| ("--target-labels", path)));
    for (option, path) in [("--out", out), ("--plan", plan), ("--predict", predict)] {
        let Some(path) = path else { continue };
        if let Some((other, _)) = taken.iter().find(|(_, other)| is_same_file(other, path)) {
            bail!("{other} and {option} are both {}: write to another file", path.display());
        }
        taken.push((option, path));
    }
    Ok(())
}

/// Whether two paths lead to the same file, which need not be there yet.
fn is_same_file(first: &Path, second: &Path) -> bool {
    let whole = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().unwrap_or_default();
        path.canonicalize().unwrap_or(folder.join(path.file_name().unwrap_or_default()))
    };
    whole(first) == whole(second)
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
