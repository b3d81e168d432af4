//! Runs the units of an experiment in parallel, each once: those in the journal are not run again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use datasets::Library;

use crate::config::Experiment;
use crate::experiment::Tasks;
use crate::journal::Journal;
use crate::memory;
use crate::progress::{DownloadBars, SweepProgress};
use crate::unit::{Record, Unit};

/// What a sweep brought.
pub struct Swept {
    /// In the order of the table; without those that an interrupt left undone.
    pub records: Vec<Record>,
    /// Units that an interrupt left undone.
    pub undone: usize,
    /// Units that were run now.
    pub run: usize,
    /// Checksums of the domains, by block.
    pub checksums: Vec<Vec<(String, String)>>,
}

/// How a sweep goes about it.
#[derive(Debug, Clone, Copy)]
pub struct RunManner {
    /// Forgets what the journal has.
    pub fresh: bool,
    /// Says nothing meanwhile.
    pub quiet: bool,
}

struct Work<'a> {
    unit: Unit<'a>,
    tasks: &'a Tasks,
    key: String,
    /// For the order and the estimate of the time left.
    effort: f64,
}

/// Runs what the journal does not have, or with `fresh` everything. The result does not depend on the number of threads.
pub fn sweep(
    experiment: &Experiment,
    library: &Library,
    journal: &Journal,
    RunManner { fresh, quiet }: RunManner,
) -> Result<Swept> {
    let blocks = experiment
        .blocks
        .iter()
        .map(|block| Tasks::prepare(block, experiment.seed, library, &DownloadBars::new(quiet)))
        .collect::<Result<Vec<_>>>()?;
    check_draws(experiment, &blocks)?;
    let mut done = if fresh {
        journal.clear()?;
        HashMap::new()
    } else {
        journal.scored()?
    };
    let units = Unit::all(experiment);
    let keys = units
        .iter()
        .map(|unit| unit.key(experiment, &blocks[unit.block]))
        .collect::<Result<Vec<_>>>()?;
    let mut work = units
        .iter()
        .zip(&keys)
        .filter(|(_, key)| !done.contains_key(*key))
        .map(|(&unit, key)| {
            let tasks = &blocks[unit.block];
            let effort = unit.method.effort()? * tasks.size(unit.pair) as f64;
            Ok(Work { unit, tasks, key: key.clone(), effort })
        })
        .collect::<Result<Vec<_>>>()?;
    if work.len() == units.len() {
        // Nothing is taken over, be it after --fresh or because all units of the journal are of other settings.
        journal.session.forget();
    }
    // Longest first, so that no core waits for a long unit at the end. The sort is stable.
    work.sort_by(|a, b| b.effort.total_cmp(&a.effort));
    let finished = run_all(experiment, &work, journal, quiet, units.len())?;
    let run = finished.len();
    done.extend(finished.into_iter().map(|record| (record.key.clone(), record)));
    // A unit may have been run under another name or title: the record takes the present one.
    let records: Vec<Record> = units
        .iter()
        .zip(&keys)
        .filter_map(|(unit, key)| {
            let record = done.get(key)?.clone();
            let prefix = experiment.blocks[unit.block].prefix.clone();
            Some(Record { method: unit.method.id.clone(), prefix, ..record })
        })
        .collect();
    let owned = |(name, checksum): (&str, &str)| (name.to_owned(), checksum.to_owned());
    Ok(Swept {
        undone: units.len() - records.len(),
        run,
        records,
        checksums: blocks.iter().map(|tasks| tasks.checksums().map(owned).collect()).collect(),
    })
}

/// A draw that is not possible is the config's fault, not a unit's, and so is a method for other data: found out before
/// the long part.
fn check_draws(experiment: &Experiment, blocks: &[Tasks]) -> Result<()> {
    for (block, tasks) in experiment.blocks.iter().zip(blocks) {
        for pair in &block.pairs {
            let task = tasks.task(pair, 0).with_context(|| format!("pair {pair}"))?;
            let (problem, _) = task.test(experiment.classifier);
            let classes = problem.source.labels.iter().collect::<BTreeSet<_>>().len();
            for method in &experiment.methods {
                ensure!(
                    classes == 2 || !method.entry()?.needs_two_classes,
                    "{} tells two classes apart, and domain {} has {classes}: leave out the method or its pairs",
                    method.id,
                    pair.source
                );
            }
        }
    }
    Ok(())
}

fn run_all(
    experiment: &Experiment,
    work: &[Work<'_>],
    journal: &Journal,
    quiet: bool,
    total: usize,
) -> Result<Vec<Record>> {
    let progress = SweepProgress::new(total, work.iter().map(|work| work.effort), quiet);
    let stop = interrupted();
    let next = AtomicUsize::new(0);
    let finished = Mutex::new(Vec::with_capacity(work.len()));
    let run_until_done = || -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let Some(Work { unit, tasks, key, effort }) =
                work.get(next.fetch_add(1, Ordering::Relaxed))
            else {
                break;
            };
            let name = unit.name(experiment);
            progress.start(&name);
            let record = unit.run(experiment, tasks, key.clone());
            // A journal that cannot be written ends the run: what it does not have would be lost.
            journal.append(&record).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            progress.finish(&name, *effort);
            memory::return_what_is_free();
            finished.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(record);
        }
        Ok(())
    };
    let ends = rayon::broadcast(|_| run_until_done());
    progress.end();
    ends.into_iter().collect::<Result<()>>()?;
    Ok(finished.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Set by Ctrl-C: units in flight are finished, and no other is begun. A second Ctrl-C ends the program.
fn interrupted() -> &'static AtomicBool {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED_EXIT_CODE);
        }
        eprintln!("Finishing the units in flight; Ctrl-C again ends at once.");
    };
    // A second sweep in one program (the tests) finds the handler installed.
    let _ = ctrlc::set_handler(handler);
    &INTERRUPTED
}

/// What shells say of a program that Ctrl-C ended.
const INTERRUPTED_EXIT_CODE: i32 = 130;
