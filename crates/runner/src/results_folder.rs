//! A folder of results: its store, and the tables that are made from the store alone.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::config::Block;
use crate::layout::Tables;
use crate::manifest::Manifest;
use crate::progress::duration;
use crate::report;
use crate::runs;
use crate::say_line;
use crate::scores::Scores;
use crate::unit::{Ending, Record};
use crate::writable;

/// The files that a run writes besides its journal.
pub const FILES: [&str; 6] =
    ["table.csv", "table.md", "table.tex", "runs.parquet", "manifest.json", report::FILE];

/// Manifest and units of a folder.
pub struct Results {
    pub manifest: Manifest,
    pub records: Vec<Record>,
}

impl Results {
    /// Reads the store of a folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let results = Self { manifest: Manifest::read(folder)?, records: runs::read(folder)? };
        results.check_same_run(folder)?;
        Ok(results)
    }

    /// Of a manifest and the units of another run, tables would be empty or half empty.
    fn check_same_run(&self, folder: &Path) -> Result<()> {
        let Manifest { experiment, units, command, .. } = &self.manifest;
        let has_pair =
            |block: &Block, pair: &str| block.pairs.iter().any(|own| own.to_string() == pair);
        let is_of_it = |record: &Record| {
            let Record { prefix, pair, method, .. } = record;
            experiment.methods.iter().any(|own| own.id == *method)
                && experiment
                    .blocks
                    .iter()
                    .any(|block| block.prefix == *prefix && has_pair(block, pair))
        };
        ensure!(
            self.records.len() == *units && self.records.iter().all(is_of_it),
            "{}: manifest.json and runs.parquet are of different runs: get those of the same one, or run it again ({command})",
            folder.display()
        );
        Ok(())
    }

    /// Writes the store.
    pub fn write(&self, folder: &Path) -> Result<()> {
        runs::write(folder, &self.records)?;
        self.manifest.write(folder)
    }

    /// Writes the tables and prints them.
    pub fn show(&self, folder: &Path) -> Result<()> {
        let scores = Scores::of(&self.manifest.experiment, &self.records);
        let tables = Tables::of(&self.manifest.experiment, &scores);
        write(folder, "table.csv", &tables.plain.to_csv())?;
        write(folder, "table.md", &self.markdown(&tables))?;
        write(folder, "table.tex", &tables.to_latex())?;
        say_line!("{}", tables.shown.to_screen())?;
        if let Some((differences, line)) = &tables.differences {
            say_line!("{}\n{line}", differences.to_screen())?;
        }
        Ok(())
    }

    fn markdown(&self, tables: &Tables) -> String {
        let Manifest { command, experiment, left_out, origin, unit_seconds, .. } = &self.manifest;
        let mut text = format!(
            "# {}\n\n{}, mean ± standard error of {} trials: `{command}`\n\n{}\n",
            experiment.name,
            tables.caption,
            experiment.trials,
            tables.shown.to_markdown()
        );
        if let Some((differences, line)) = &tables.differences {
            text += &format!("\n{}\n\n{line}\n", differences.to_markdown());
        }
        for record in &self.records {
            if let Ending::Failed(problem) = &record.ending {
                text += &format!("\nFailed: {}: {problem}\n", record.name());
            }
        }
        if !left_out.is_empty() {
            text += &format!(
                "\nLeft out, because their files could not be had: {}.\n",
                left_out.join(", ")
            );
        }
        text + &format!(
            "\n{} of units on {} ({} threads), revision {}.\n",
            duration(*unit_seconds),
            origin.machine.cpu,
            origin.machine.threads,
            origin.program.revision
        )
    }
}

/// Makes a folder of results, if it is not there.
pub fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| {
        format!("cannot make the folder {}; choose another with --out DIR", folder.display())
    })
}

/// Fails unless all files of a run can be written to a folder; leaves everything as it is.
pub fn check_writable(folder: &Path) -> Result<()> {
    for name in FILES {
        let path = folder.join(name);
        writable::probe(&path).with_context(|| cannot_write(&path))?;
    }
    Ok(())
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    fs::write(&path, text).with_context(|| cannot_write(&path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}; choose another folder with --out DIR", path.display())
}
