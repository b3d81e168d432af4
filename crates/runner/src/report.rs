//! `report.html`: the results of some folders as one page that opens from disk and needs no network.
//!
//! Everything on it comes from the stores of the folders; names from configs and files are escaped.

mod colours;
mod config_text;
mod embedded;
mod html;
mod page;
mod plots;
mod provenance;
mod ranks;
mod scale;
pub mod svg;
mod table;
mod warnings;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::history::History;
use crate::layout::has_angles;
use crate::results_folder::Results;
use crate::scores::{Column, Scores};
use crate::unit::{Ending, Record, UnitScores};
pub use embedded::base64;

/// The page's file in a folder of results.
pub const FILE: &str = "report.html";

/// The results of one folder, ready to be shown.
struct Subject<'a> {
    results: &'a Results,
    scores: Scores<'a>,
    history: Option<&'a History>,
    /// Whether the table has error rates, methods down and angles across, as the paper's Table 1.
    has_angles: bool,
}

impl<'a> Subject<'a> {
    fn of(results: &'a Results, history: Option<&'a History>) -> Self {
        let experiment = &results.manifest.experiment;
        Self {
            results,
            scores: Scores::of(experiment, &results.records),
            history,
            has_angles: has_angles(experiment),
        }
    }

    /// The units of a column, in the order of the store.
    fn units<'b>(&'b self, column: &'b Column<'_>) -> impl Iterator<Item = &'b Record> + 'b {
        self.results
            .records
            .iter()
            .filter(|record| record.prefix == column.prefix && record.method == column.id)
    }

    /// The scores of those of them that did not fail.
    fn scored<'b>(&'b self, column: &'b Column<'_>) -> impl Iterator<Item = &'b UnitScores> + 'b {
        self.units(column).filter_map(|record| match &record.ending {
            Ending::Scored(scores) => Some(scores),
            Ending::Failed(_) => None,
        })
    }
}

/// Writes the page of some folders into the first of them.
pub fn write(folders: &[&Path]) -> Result<()> {
    let read = |folder: &&Path| Ok((Results::read(folder)?, History::read(folder)?));
    let all: Vec<(Results, Option<History>)> = folders.iter().map(read).collect::<Result<_>>()?;
    let subjects: Vec<Subject<'_>> =
        all.iter().map(|(results, history)| Subject::of(results, history.as_ref())).collect();
    let first = folders.first().context("name a folder of results, for example results/office")?;
    let figures = embedded::figures(first)?;
    let command =
        folders.iter().fold("cargo run -p runner -- report".to_owned(), |command, folder| {
            format!("{command} {}", in_shell(&folder.display().to_string()))
        });
    let path = first.join(FILE);
    fs::write(&path, page::page(&subjects, &figures, &command)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// A text as one word of a shell.
pub fn in_shell(text: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "/._-+,:=@%".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
