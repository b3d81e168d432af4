//! `runner CONFIG`: every method on every trial of every pair, then the tables.

use std::path::Path;
use std::time::{Instant, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use datasets::{DataRoots, Environment, Fetcher, Library};

use crate::cli::{DataLocation, RunArguments};
use crate::config::Experiment;
use crate::experiment::leave_out_missing;
use crate::journal::Journal;
use crate::manifest::{Machine, Manifest, Program, timestamp};
use crate::progress::{DownloadBars, duration};
use crate::report;
use crate::results_folder::{Results, check_writable};
use crate::sweep::{Swept, sweep};
use crate::unit::{Ending, Record};

/// Runs an experiment and writes its results.
pub fn run(arguments: &RunArguments, location: &DataLocation) -> Result<()> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let path =
        arguments.config.as_deref().context("name a config, for example configs/quick.toml")?;
    let mut experiment = Experiment::load(path, arguments)?;
    let folder = arguments.out.clone().unwrap_or_else(|| experiment.default_folder());
    // Before the long part, so that an unwritable folder is found out now.
    check_writable(&folder)?;
    if let Some(jobs) = arguments.jobs {
        rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.into())
            .build_global()
            .context("cannot start the threads")?;
    }
    let library = library(location)?;
    let named = || path.display().to_string();
    leave_out_missing(&mut experiment.blocks, &library, &DownloadBars::default())
        .with_context(named)?;
    let (journal, done) = Journal::open(&folder, arguments.fresh)?;
    let Swept { records, undone, checksums } =
        sweep(&experiment, &library, &journal, done, arguments.quiet).with_context(named)?;
    if undone > 0 {
        // What an earlier run wrote is better than tables with holes.
        bail!("interrupted: {undone} units are left; the same command goes on with them");
    }
    let failures: Vec<&Record> =
        records.iter().filter(|record| matches!(record.ending, Ending::Failed(_))).collect();
    let failed = failures.len();
    let complaint = failures.first().map(|record| failure_text(record, failed));
    let manifest = Manifest {
        command: command(&experiment, path, arguments),
        checksums,
        program: Program::this(),
        machine: Machine::this(),
        started: timestamp(started),
        seconds: clock.elapsed().as_secs_f64(),
        unit_seconds: records.iter().map(|record| record.seconds).sum(),
        units: records.len(),
        failed,
        experiment,
    };
    let results = Results { manifest, records };
    results.write(&folder)?;
    results.show(&folder)?;
    report::write(&[&folder])?;
    if !arguments.quiet {
        let why = match (&arguments.out, results.manifest.experiment.is_partial) {
            (None, true) => ", apart from those of the whole config",
            _ => "",
        };
        let took = duration(clock.elapsed().as_secs_f64());
        eprintln!("Results are in {}{why}. This took {took}.", folder.display());
    }
    match complaint {
        Some(complaint) => bail!(complaint),
        None => Ok(()),
    }
}

fn failure_text(record: &Record, failed: usize) -> String {
    let Ending::Failed(problem) = &record.ending else { return String::new() };
    let Record { method, pair, trial, .. } = record;
    format!(
        "{failed} units failed and are tried again by the same command. The first is {method} on \
         {pair}, trial {trial}: {problem}"
    )
}

/// The data that the command line and the environment point to.
pub fn library(location: &DataLocation) -> Result<Library> {
    // A variable that is set to nothing is not set.
    let mirror = location.mirror.as_deref().filter(|mirror| !mirror.is_empty());
    if let Some(mirror) = mirror {
        ensure!(
            mirror.starts_with("http://") || mirror.starts_with("https://"),
            "the mirror {mirror:?} is not an address: begin it with http:// or https:// \
             (--mirror or OTDA_MIRROR)"
        );
    }
    let roots = DataRoots::new(&Environment::of_process(location.data.clone()));
    Ok(Library::new(roots, Fetcher::new(mirror)))
}

/// The command that makes the same tables again.
fn command(experiment: &Experiment, config: &Path, arguments: &RunArguments) -> String {
    let Experiment { seed, trials, .. } = experiment;
    let mut command =
        format!("cargo run -p runner -- {} --trials {trials} --seed {seed}", config.display());
    for (option, names) in [("pairs", &arguments.pairs), ("methods", &arguments.methods)] {
        if let Some(names) = names {
            command += &format!(" --{option} '{}'", names.join(","));
        }
    }
    command
}
