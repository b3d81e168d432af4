//! What a reader of the results has to know: what is missing, what failed, what is not as printed.

use std::collections::BTreeSet;

use super::Subject;
use super::html::pretty;
use super::plots::solves;
use crate::paper::PaperTable;
use crate::unit::{Ending, Record};

/// Most failed units that are shown one by one.
const MOST_FAILURES: usize = 20;

/// One sentence each, the gravest first.
pub fn warnings(subject: &Subject<'_>) -> Vec<String> {
    let mut all = failures(subject);
    all.extend(empty_cells(subject));
    all.extend(not_run(subject));
    all.extend(not_converged(subject));
    all.extend(misprints(subject));
    let revision = &subject.results.manifest.origin.program.revision;
    if revision == "unknown" || revision.ends_with('+') {
        all.push(
            "The program that ran was not a clean build of a commit: its revision does not say all.".into(),
        );
    }
    all
}

fn failures(subject: &Subject<'_>) -> Vec<String> {
    let failed: Vec<String> = subject
        .results
        .records
        .iter()
        .filter_map(|record| match &record.ending {
            Ending::Scored(_) => None,
            Ending::Failed(problem) => {
                let Record { method, pair, trial, .. } = record;
                Some(format!("Failed: {method} on {}, trial {trial}: {problem}", pretty(pair)))
            }
        })
        .collect();
    let more = failed.len().saturating_sub(MOST_FAILURES);
    let mut shown: Vec<String> = failed.into_iter().take(MOST_FAILURES).collect();
    if more > 0 {
        shown.push(format!("{more} more units failed; runs.parquet has them all."));
    }
    shown
}

fn empty_cells(subject: &Subject<'_>) -> Option<String> {
    let empty: usize = subject
        .scores
        .sections
        .iter()
        .flat_map(|section| {
            section.pairs.iter().zip(&section.cells).flat_map(move |(pair, cells)| {
                cells.iter().zip(&section.blocks).filter(move |(cell, block)| {
                    let has_pair = |own: &crate::config::Pair| own.to_string() == *pair;
                    cell.is_none() && block.is_some_and(|block| block.pairs.iter().any(has_pair))
                })
            })
        })
        .count();
    (empty > 0)
        .then(|| format!("Cells that are empty because a trial is missing or failed: {empty}."))
}

/// What the paper's tables have and this one has not: domains without data, methods that were not asked for.
fn not_run(subject: &Subject<'_>) -> Vec<String> {
    let experiment = &subject.results.manifest.experiment;
    let mut sentences = Vec::new();
    let (mut titles, mut present) = (Vec::new(), BTreeSet::new());
    for block in &experiment.blocks {
        let Some(table) = PaperTable::of_block(block, experiment.classifier) else { continue };
        let own: Vec<String> = block.pairs.iter().map(ToString::to_string).collect();
        let printed = own.iter().find_map(|pair| table.block_of(pair)).unwrap_or_default();
        let missing: Vec<String> =
            printed.iter().filter(|pair| !own.contains(pair)).map(|pair| pretty(pair)).collect();
        if !missing.is_empty() {
            let which = if block.prefix.is_empty() { "" } else { " under " };
            sentences.push(format!(
                "Pairs of the paper{which}{} that are not here: {}.",
                block.prefix,
                missing.join(", ")
            ));
        }
        present.extend(
            experiment.methods.iter().map(|method| table.name_of(&block.prefix, &method.title)),
        );
        for title in table.titles() {
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
    }
    let missing: Vec<&str> = titles.into_iter().filter(|title| !present.contains(*title)).collect();
    if !missing.is_empty() {
        sentences.push(format!("Columns of the paper that are not here: {}.", missing.join(", ")));
    }
    sentences
}

fn not_converged(subject: &Subject<'_>) -> Vec<String> {
    solves(subject)
        .into_iter()
        .filter(|solves| solves.stalled + solves.limited > 0)
        .map(|solves| {
            let gap = solves
                .largest_gap
                .map(|gap| format!(", at a relative duality gap of at most {gap:.1e}"));
            format!(
                "{}: {} of {} solves ended before they had converged{}.",
                solves.name,
                solves.stalled + solves.limited,
                solves.count,
                gap.unwrap_or_default()
            )
        })
        .collect()
}

/// Means that the paper prints and that are not the means of its rows.
fn misprints(subject: &Subject<'_>) -> Option<String> {
    let classifier = subject.results.manifest.experiment.classifier;
    let mut wrong: Vec<String> = Vec::new();
    for section in &subject.scores.sections {
        for (column, block) in subject.scores.columns.iter().zip(&section.blocks) {
            let table = block.and_then(|block| PaperTable::of_block(block, classifier));
            let means = table
                .and_then(|table| table.means(section.pairs.first()?, column.prefix, column.title));
            // Table 5 prints means to one decimal of rows to one decimal.
            let Some((printed, of_rows)) = means else { continue };
            if (printed - of_rows).abs() > 1e-3 {
                let (printed, of_rows) = (100.0 * printed, 100.0 * of_rows);
                wrong.push(format!("{} {printed:.2} ({of_rows:.2})", column.name()));
            }
        }
    }
    (!wrong.is_empty()).then(|| {
        format!(
            "Means that the paper prints differ from the means of its rows (in brackets): {}. Differences here are \
             to the rows.",
            wrong.join(", ")
        )
    })
}
