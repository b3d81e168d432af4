//! `runner CONFIG`: every method on every trial of every pair, then the tables.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use datasets::{DataRoots, Environment, Fetcher, Library};

use crate::cli::{DataLocation, RunArguments};
use crate::config::Experiment;
use crate::journal::Journal;
use crate::manifest::{Machine, Manifest, Origin, Program};
use crate::missing_pairs::leave_out_missing;
use crate::progress::{DownloadBars, duration};
use crate::report::{self, in_shell};
use crate::results_folder::{Results, check_writable, make_folder};
use crate::session::Spent;
use crate::sweep::{RunManner, Swept, sweep};
use crate::unit::{Ending, Record};

/// Runs an experiment and writes its results.
pub fn run(arguments: &RunArguments, location: &DataLocation) -> Result<()> {
    let clock = Instant::now();
    let path =
        arguments.config.as_deref().context("name a config, for example configs/quick.toml")?;
    let mut experiment = Experiment::load(path, arguments)?;
    let folder = arguments.out.clone().unwrap_or_else(|| experiment.default_folder());
    // Before the long part, so that an unwritable folder, or one that another run has, is found out now.
    make_folder(&folder)?;
    let journal = Journal::open(&folder)?;
    check_writable(&folder)?;
    if let Some(jobs) = arguments.jobs {
        rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.into())
            .build_global()
            .context("cannot start the threads")?;
    }
    let library = library(location)?;
    let named = || path.display().to_string();
    let manner = RunManner { fresh: arguments.fresh, quiet: arguments.quiet };
    let bars = DownloadBars::new(manner.quiet);
    let left_out =
        leave_out_missing(&mut experiment.blocks, &library, &bars).with_context(named)?;
    let Swept { records, undone, run, checksums } =
        sweep(&experiment, &library, &journal, manner).with_context(named)?;
    if undone > 0 {
        // What an earlier run wrote is better than tables with holes.
        bail!("interrupted: {undone} units are left; the same command goes on with them");
    }
    let failures: Vec<&Record> =
        records.iter().filter(|record| matches!(record.ending, Ending::Failed(_))).collect();
    let failed = failures.len();
    let complaint = failures.first().map(|record| failure_text(record, failed));
    // Where nothing was left to do, what made the results is what made them before.
    let origin = Manifest::read(&folder).ok().filter(|_| run == 0).map(|manifest| manifest.origin);
    let Spent { started, seconds } = journal.session.spent();
    let manifest = Manifest {
        command: command(&experiment, path, arguments),
        checksums,
        left_out,
        origin: origin.unwrap_or_else(|| Origin {
            program: Program::this(),
            machine: Machine::this(),
            started,
            seconds,
        }),
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
    format!(
        "{failed} units failed and are tried again by the same command. The first is {}: {problem}",
        record.name()
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
    if let Some(folder) = &location.data {
        ensure!(
            folder.is_dir(),
            "--data {}: this is no folder: make it, or name one that is there",
            folder.display()
        );
    }
    let roots = DataRoots::new(&Environment::of_process(location.data.clone()));
    Ok(Library::new(roots, Fetcher::new(mirror)))
}

/// The command that makes the same tables again.
fn command(experiment: &Experiment, config: &Path, arguments: &RunArguments) -> String {
    let Experiment { seed, trials, .. } = experiment;
    let config = in_shell(&config.display().to_string());
    let mut command = format!("cargo run -p runner -- {config} --trials {trials} --seed {seed}");
    for (option, names) in [("pairs", &arguments.pairs), ("methods", &arguments.methods)] {
        if let Some(names) = names {
            command += &format!(" --{option} {}", in_shell(&names.join(",")));
        }
    }
    command
}
