//! `runner data`: what is here, what can be fetched, and the paper's Table 2.

use std::fs;

use anyhow::{Context as _, Result, bail};
use datasets::{DataSet, DomainEntry, Library, SETS, blob_id};
use serde::Serialize;

use crate::cli::{DataArguments, DataCommand, DataLocation, Format};
use crate::config::{GENERATED_SETS, find_set};
use crate::progress::DownloadBars;
use crate::run_command::library;
use crate::say::say;
use crate::say_line;
use crate::table::Table;

/// Runs one of the data commands; without one, the list.
pub fn run(arguments: &DataArguments, location: &DataLocation) -> Result<()> {
    if let (Some(DataCommand::Fetch { .. }), Some(folder)) = (&arguments.command, &location.data) {
        fs::create_dir_all(folder)
            .with_context(|| format!("--data {}: cannot make the folder", folder.display()))?;
    }
    let library = library(location)?;
    match &arguments.command {
        None => list(&library),
        Some(DataCommand::Fetch { sets }) => fetch(&library, sets),
        Some(DataCommand::Summary { format }) => summary(&library, *format),
    }
}

fn list(library: &Library) -> Result<()> {
    let mut rows = Vec::new();
    for (set, entry) in every_domain() {
        let (state, size, place) = match library.find(set, entry) {
            None if entry.source.is_none() => {
                ("bring your own".into(), String::new(), String::new())
            }
            None => ("missing".into(), String::new(), String::new()),
            Some(path) => {
                let read = |cause| datasets::Error::Read { path: path.clone(), cause };
                let bytes = path.metadata().map_err(read)?.len();
                let state = match entry.source {
                    Some(source) if blob_id(&path).map_err(read)? == source.blob_id => "verified",
                    Some(_) => "present, not the public file",
                    None => "present",
                };
                (
                    state.to_owned(),
                    indicatif::HumanBytes(bytes).to_string(),
                    path.display().to_string(),
                )
            }
        };
        rows.push(vec![
            set.id.to_owned(),
            entry.abbreviation.to_owned(),
            entry.file.to_owned(),
            state,
            size,
            place,
        ]);
    }
    let header = ["set", "domain", "file", "state", "size", "where"];
    say_line!("{}", Table::new(&header, rows).to_screen())?;
    say_line!("Generated, always there: {}.", GENERATED_SETS.join(", "))?;
    say_line!("Looked for data in:")?;
    for folder in library.roots().folders() {
        say_line!("  {}", folder.display())?;
    }
    say_line!("`runner data fetch SET` downloads what is missing.")?;
    for set in &SETS {
        say_line!(
            "\n{}: {}.\n  Cite {}.\n  Licence: {}.",
            set.id,
            set.title,
            set.citation,
            set.licence
        )?;
    }
    Ok(())
}

fn fetch(library: &Library, names: &[String]) -> Result<()> {
    let (generated, names): (Vec<&str>, Vec<&str>) =
        names.iter().map(String::as_str).partition(|name| GENERATED_SETS.contains(name));
    for name in generated {
        say_line!("{name} is generated: nothing to fetch.")?;
    }
    let sets: Vec<&DataSet> = names.iter().map(|name| find_set(name)).collect::<Result<_>>()?;
    let wanted: Vec<(&DataSet, &DomainEntry)> =
        sets.iter().flat_map(|&set| set.domains.iter().map(move |entry| (set, entry))).collect();
    let needed: Vec<(&DataSet, &DomainEntry)> =
        wanted.iter().copied().filter(|(set, entry)| needs_fetching(library, set, entry)).collect();
    library.fetch(&needed, &DownloadBars::new(false))?;
    for (set, entry) in wanted {
        let domain = library.load(set, entry)?;
        let path = library.find(set, entry).context("the file was there a moment ago")?;
        say_line!(
            "{} {}: {} samples of {} features in {}",
            set.id,
            entry.abbreviation,
            domain.samples(),
            domain.width(),
            path.display()
        )?;
    }
    Ok(())
}

/// Whether the file of a domain is missing, or published and does not load.
fn needs_fetching(library: &Library, set: &DataSet, entry: &DomainEntry) -> bool {
    if library.find(set, entry).is_none() {
        return true;
    }
    match library.load(set, entry) {
        Err(problem) if entry.source.is_some() => {
            eprintln!("{problem}\nFetching it again.");
            true
        }
        _ => false,
    }
}

/// A row of the paper's Table 2; the numbers are those of the loaded file.
#[derive(Debug, Serialize)]
struct SummaryRow {
    problem: &'static str,
    domain: &'static str,
    samples: Option<usize>,
    features: Option<usize>,
    classes: Option<usize>,
    abbreviation: &'static str,
}

fn summary(library: &Library, format: Format) -> Result<()> {
    let mut rows = Vec::new();
    let mut unreadable = 0;
    for (set, entry) in every_domain() {
        let present = library.find(set, entry).is_some();
        // A file that nobody publishes is listed only where a user brought it.
        if !present && entry.source.is_none() {
            continue;
        }
        let domain = if present {
            library
                .load(set, entry)
                .inspect_err(|problem| {
                    eprintln!("{problem}");
                    unreadable += 1;
                })
                .ok()
        } else {
            eprintln!(
                "{} {} is missing; `runner data fetch {}` downloads it.",
                set.id, entry.abbreviation, set.id
            );
            None
        };
        rows.push(SummaryRow {
            problem: set.problem,
            domain: entry.name,
            samples: domain.as_ref().map(datasets::Domain::samples),
            features: domain.as_ref().map(datasets::Domain::width),
            classes: domain
                .as_ref()
                .map(|domain| domain.class_counts().iter().filter(|&&count| count > 0).count()),
            abbreviation: entry.abbreviation,
        });
    }
    match format {
        Format::Json => say_line!("{}", serde_json::to_string_pretty(&rows)?)?,
        Format::Csv => say(&summary_table(&rows).to_csv())?,
        Format::Table => say_line!("{}", summary_table(&rows).to_screen())?,
    }
    if unreadable > 0 {
        bail!(
            "{unreadable} of the files cannot be used; `runner data fetch SET` replaces published ones"
        );
    }
    Ok(())
}

fn summary_table(rows: &[SummaryRow]) -> Table {
    let number = |value: Option<usize>| value.map_or(String::new(), |value| value.to_string());
    let row = |row: &SummaryRow| {
        vec![
            row.problem.to_owned(),
            row.domain.to_owned(),
            number(row.samples),
            number(row.features),
            number(row.classes),
            row.abbreviation.to_owned(),
        ]
    };
    let header = ["problem", "domain", "samples", "features", "classes", "abbreviation"];
    Table::new(&header, rows.iter().map(row).collect())
}

fn every_domain() -> impl Iterator<Item = (&'static DataSet, &'static DomainEntry)> {
    SETS.iter().flat_map(|set| set.domains.iter().map(move |entry| (set, entry)))
}
