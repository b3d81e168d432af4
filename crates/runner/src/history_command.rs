//! `runner history FOLDER`: solves one unit of a folder again and keeps the course of its iterations, which the
//! store of a whole run has no room for.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use solvers::Regularizer;
use solvers::gcg::{GcgOptions, GcgSolution, QuadraticPath};
use solvers::regularizers::Quadratic;

use crate::cli::{DataLocation, HistoryArguments};
use crate::config::{Block, Experiment, MethodConfig, Pair, Point};
use crate::experiment::Tasks;
use crate::history::{History, Step};
use crate::methods::{Problem, TransportProblem, laplacian};
use crate::nearest_name::suggestion;
use crate::progress::DownloadBars;
use crate::report;
use crate::results_folder::Results;
use crate::run_command::library;
use crate::say_line;
use crate::unit::{Ending, Record, UnitScores};
use crate::version;

/// The methods that the generalized conditional gradient solves.
const METHODS: [&str; 2] = ["ot-laplace", "ot-quadratic"];

/// Writes the history of a unit and the report with it.
pub fn run(arguments: &HistoryArguments, location: &DataLocation) -> Result<()> {
    let folder = arguments.folder.as_path();
    let results = Results::read(folder)?;
    check_draws(&results, folder)?;
    let experiment = &results.manifest.experiment;
    let method = method(experiment, arguments.method.as_deref())?;
    let (record, scores) = unit(&results, method, arguments)?;
    let (place, pair) = block_of(experiment, record)?;
    let block = Block { pairs: vec![pair.clone()], ..experiment.blocks[place].clone() };
    let tasks =
        Tasks::prepare(&block, experiment.seed, &library(location)?, &DownloadBars::new(false))?;
    check_data(&results, place, &tasks)?;
    let task = tasks.task(&pair, record.trial - 1)?;
    let (problem, _) = task.test(experiment.classifier);
    let point = &scores.test.point;
    let solution = solve(&problem, method, point)?;
    let iterations = scores.test.convergence.as_ref().map(|convergence| convergence.iterations);
    if iterations != Some(solution.iterations) {
        eprintln!(
            "The solve of the run took {} directions and this one {}: the program or the machine differs.",
            iterations.unwrap_or(0),
            solution.iterations
        );
    }
    let steps =
        solution.history.iter().map(|step| Step { objective: step.objective, gap: step.gap });
    let history = History {
        key: record.key.clone(),
        title: method.title.clone(),
        pair: record.pair.clone(),
        trial: record.trial,
        point: point.clone(),
        iterations: solution.iterations,
        stop: solution.stop.to_string(),
        steps: steps.collect(),
    };
    history.write(folder)?;
    report::write(&[folder])?;
    let History { title, pair, trial, stop, iterations, .. } = &history;
    say_line!("{title} on {pair}, trial {trial}: {stop} after {iterations} iterations")?;
    Ok(())
}

/// Another program may draw other samples for the same trial.
fn check_draws(results: &Results, folder: &Path) -> Result<()> {
    ensure!(
        results.manifest.origin.program.draws == version::DRAWS,
        "the run of {} drew with another program, which may draw other samples: run the config again with this one ({})",
        folder.display(),
        results.manifest.command
    );
    Ok(())
}

fn method<'a>(experiment: &'a Experiment, asked: Option<&str>) -> Result<&'a MethodConfig> {
    let is_solved = |method: &&MethodConfig| METHODS.contains(&method.method.as_str());
    let Some(asked) = asked else {
        let first = experiment.methods.iter().find(is_solved);
        return first.context("none of the folder's methods is solved by the conditional gradient");
    };
    let found = experiment.methods.iter().find(|method| method.id == asked);
    let method = found.with_context(|| {
        let known = || experiment.methods.iter().map(|method| method.id.as_str());
        format!(
            "the folder has no method {asked:?}.{} It has {}",
            suggestion(asked, known()),
            known().collect::<Vec<_>>().join(", ")
        )
    })?;
    ensure!(
        is_solved(&method),
        "{asked} is not solved by the conditional gradient; these methods are: {}",
        METHODS.join(", ")
    );
    Ok(method)
}

/// The unit that is asked for, the first one by default.
fn unit<'a>(
    results: &'a Results,
    method: &MethodConfig,
    arguments: &HistoryArguments,
) -> Result<(&'a Record, &'a UnitScores)> {
    let pair = arguments
        .pair
        .as_ref()
        .map(|pair| pair.replace('→', "->"))
        .map(|pair| if pair.contains("->") { pair } else { pair.replacen('-', "->", 1) });
    let is_asked = |record: &&Record| {
        record.method == method.id
            && record.trial == arguments.trial
            && pair.as_ref().is_none_or(|pair| *pair == record.pair)
    };
    let record = results.records.iter().find(is_asked).with_context(|| {
        format!(
            "the folder has no unit of {} on {}, trial {}",
            method.id,
            pair.as_deref().unwrap_or("any pair"),
            arguments.trial
        )
    })?;
    match &record.ending {
        Ending::Scored(scores) => Ok((record, scores)),
        Ending::Failed(problem) => bail!("this unit failed: {problem}"),
    }
}

fn block_of(experiment: &Experiment, record: &Record) -> Result<(usize, Pair)> {
    let places = experiment.blocks.iter().enumerate();
    let mut found =
        places.filter(|(_, block)| block.prefix == record.prefix).filter_map(|(place, block)| {
            let pair = block.pairs.iter().find(|pair| pair.to_string() == record.pair)?;
            Some((place, pair.clone()))
        });
    found.next().with_context(|| format!("the manifest has no pair {}", record.pair))
}

fn check_data(results: &Results, block: usize, tasks: &Tasks) -> Result<()> {
    let recorded = results.manifest.checksums.get(block).into_iter().flatten();
    for (name, checksum) in recorded {
        let ours = tasks.checksums().find(|(own, _)| own == name);
        ensure!(
            ours.is_none_or(|(_, own)| own == checksum),
            "the data differ: domain {name} has other samples than in the run"
        );
    }
    Ok(())
}

/// Eq. `optreg_disc`, as the method solves it on the test samples.
fn solve(problem: &Problem<'_>, config: &MethodConfig, point: &Point) -> Result<GcgSolution> {
    let TransportProblem { cost, source_mass, target_mass } =
        TransportProblem::new(problem, config)?;
    let masses = (&*source_mass, &*target_mass);
    let regularizer: Box<dyn Regularizer> = if config.method == "ot-quadratic" {
        Box::new(Quadratic::new(masses.0, masses.1))
    } else {
        let (neighbours, alpha) = (point.count("neighbours"), point.get("alpha"));
        Box::new(laplacian(problem, masses, neighbours, alpha)?)
    };
    let options = GcgOptions { relative_gap: problem.relative_gap, ..GcgOptions::default() };
    let mut path = QuadraticPath::new(cost.view(), masses, &*regularizer, options)?;
    Ok(path.solve(point.get("lambda"), point.get("eta"))?.clone())
}
