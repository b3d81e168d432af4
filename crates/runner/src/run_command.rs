//! `runner CONFIG`: every trial of every pair, then the tables.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use datasets::{DataRoots, Environment, Fetcher, Library};
use rayon::prelude::*;

use crate::cli::{DataLocation, RunArguments};
use crate::config::{Data, Experiment};
use crate::experiment::{Tasks, leave_out_missing};
use crate::paper::PaperTable;
use crate::progress::{DownloadBars, unit_bar};
use crate::say_line;
use crate::scores::{Cell, Scores, accuracy};
use crate::table::{self, Table};

/// Runs an experiment and writes its tables.
pub fn run(arguments: &RunArguments, location: &DataLocation) -> Result<()> {
    let path =
        arguments.config.as_deref().context("name a config, for example configs/quick.toml")?;
    let mut experiment = Experiment::load(path, arguments)?;
    let folder = arguments.out.clone().unwrap_or_else(|| experiment.default_folder());
    let [csv, markdown] = ["table.csv", "table.md"].map(|name| folder.join(name));
    // Before the long part, so that an unwritable folder is found out now.
    fs::create_dir_all(&folder).with_context(|| {
        format!("cannot make the folder {}; choose another with --out DIR", folder.display())
    })?;
    check_writable(&csv)?;
    check_writable(&markdown)?;
    if let Some(jobs) = arguments.jobs {
        rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.into())
            .build_global()
            .context("cannot start the threads")?;
    }
    let library = library(location)?;
    let named = || path.display().to_string();
    leave_out_missing(&mut experiment, &library, &DownloadBars::default()).with_context(named)?;
    let scores = sweep(&experiment, &library, arguments.quiet).with_context(named)?;
    let tables = Tables::of(&experiment, &scores);
    write(&csv, &tables.plain.to_csv())?;
    write(&markdown, &tables.markdown(&experiment, &command(&experiment, path, arguments)))?;
    say_line!("{}", tables.shown.to_screen())?;
    if let Some(differences) = &tables.differences {
        say_line!("{}", differences.to_screen())?;
    }
    if !arguments.quiet {
        let why = match (&arguments.out, experiment.is_partial) {
            (None, true) => ", apart from those of the whole config",
            _ => "",
        };
        eprintln!("Tables are in {}{why}.", folder.display());
    }
    Ok(())
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

/// Scores every method on every trial of every pair. The result does not depend on the threads.
fn sweep(experiment: &Experiment, library: &Library, quiet: bool) -> Result<Scores> {
    let tasks = Tasks::prepare(experiment, library, &DownloadBars::default())?;
    let units: Vec<(usize, u64)> = (0..experiment.pairs.len())
        .flat_map(|pair| (0..experiment.trials).map(move |trial| (pair, trial)))
        .collect();
    let bar = unit_bar(units.len(), quiet);
    let accuracies: Vec<Vec<f64>> = units
        .par_iter()
        .map(|&(pair, trial)| {
            let pair = &experiment.pairs[pair];
            let task = tasks
                .task(pair, trial)
                .with_context(|| format!("pair {pair}, trial {}", trial + 1))?;
            let scored = experiment
                .methods
                .iter()
                .map(|method| {
                    let predicted = (method.predict)(&task).with_context(|| {
                        format!("{} on pair {pair}, trial {}", method.title, trial + 1)
                    })?;
                    Ok(accuracy(&predicted, &task.test.labels))
                })
                .collect();
            bar.inc(1);
            scored
        })
        .collect::<Result<_>>()?;
    bar.finish_and_clear();
    let cells = accuracies
        .chunks(units.len() / experiment.pairs.len())
        .map(|trials| {
            (0..experiment.methods.len())
                .map(|method| Cell(trials.iter().map(|scored| scored[method]).collect()))
                .collect()
        })
        .collect();
    Ok(Scores {
        pairs: experiment.pairs.iter().map(ToString::to_string).collect(),
        methods: experiment.methods.iter().map(|method| method.title).collect(),
        cells,
    })
}

/// What a run shows and writes.
struct Tables {
    plain: Table,
    shown: Table,
    differences: Option<Table>,
}

impl Tables {
    fn of(experiment: &Experiment, scores: &Scores) -> Self {
        match &experiment.data {
            Data::TwoMoons(_) => Self {
                plain: table::error_rates(scores, table::rate),
                shown: table::error_rates(scores, table::rate_with_error),
                differences: None,
            },
            data => Self {
                plain: table::accuracies(scores, table::percent),
                shown: table::accuracies(scores, table::percent_with_error),
                differences: match data {
                    Data::Catalogued { set, .. } => PaperTable::of_set(set.id)
                        .and_then(|paper| table::differences(scores, &paper)),
                    _ => None,
                },
            },
        }
    }

    fn markdown(&self, experiment: &Experiment, command: &str) -> String {
        let Experiment { name, trials, .. } = experiment;
        let what = match experiment.data {
            Data::TwoMoons(_) => "Error rate",
            _ => "Accuracy in %",
        };
        let mut text = format!(
            "# {name}\n\n{what}, mean ± standard error of {trials} trials: `{command}`\n\n{}\n",
            self.shown.to_markdown()
        );
        if let Some(differences) = &self.differences {
            text += &format!("\n{}\n", differences.to_markdown());
        }
        text
    }
}

/// Fails if the file cannot be written; leaves everything as it is.
fn check_writable(path: &Path) -> Result<()> {
    let is_new = !path.exists();
    let opened = fs::OpenOptions::new().create(true).append(true).open(path);
    opened.with_context(|| {
        format!("cannot write {}; choose another folder with --out DIR", path.display())
    })?;
    if is_new {
        // Best effort: an empty file that stays behind is overwritten by the run.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| {
        format!("cannot write {}; choose another folder with --out DIR", path.display())
    })
}
