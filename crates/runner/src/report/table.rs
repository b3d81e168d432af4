//! The results table: the paper's layout, with what the page switches between in each cell.

use super::Subject;
use super::html::{escape, pretty};
use super::ranks::ranks;
use crate::layout::{percent, rate};
use crate::paper::PaperTable;
use crate::scores::{Cell, Section};
use crate::table::MEAN;

/// The difference, in points, at which a cell has its full colour.
const FULL_COLOUR: f64 = 6.0;

/// One cell, ours and the paper's as fractions of right labels.
#[derive(Debug, Clone, Default)]
struct Entry {
    ours: Option<f64>,
    /// Ours as `table.csv` has it.
    text: String,
    error: Option<f64>,
    /// The difference to the paper, and the paper's own.
    paper: Option<(f64, f64)>,
    rank: Option<f64>,
    is_best: bool,
}

/// A row of cells, still in the order of the columns.
struct Row {
    name: String,
    is_mean: bool,
    entries: Vec<Entry>,
}

/// The table of a folder as HTML.
pub fn table(subject: &Subject<'_>) -> String {
    let names: Vec<String> =
        subject.scores.columns.iter().map(crate::scores::Column::name).collect();
    let groups: Vec<Vec<Row>> =
        subject.scores.sections.iter().map(|section| section_rows(subject, section)).collect();
    let (header, groups) = if subject.has_angles {
        turned(&names, groups)
    } else {
        (std::iter::once("pair".to_owned()).chain(names).collect(), groups)
    };
    let heads: String = header.iter().map(|name| head(name)).collect();
    let bodies: String = groups
        .iter()
        .map(|rows| {
            let rows: String = rows.iter().map(|row| row_html(row, subject.has_angles)).collect();
            format!("<tbody>{rows}</tbody>")
        })
        .collect::<Vec<_>>()
        .concat();
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"results\" data-view=\"value\">\
         <thead><tr>{heads}</tr></thead>{bodies}</table></div>"
    )
}

/// The rows of a section, and their mean if there are several.
fn section_rows(subject: &Subject<'_>, section: &Section<'_>) -> Vec<Row> {
    let classifier = subject.results.manifest.experiment.classifier;
    let columns = &subject.scores.columns;
    let paper = |pair: &str, place: usize| {
        let block = section.blocks[place]?;
        let column = &columns[place];
        PaperTable::of_block(block, classifier)?.accuracy(pair, column.prefix, column.title)
    };
    let mut rows: Vec<Row> = section
        .pairs
        .iter()
        .zip(&section.cells)
        .map(|(pair, cells)| {
            let entry = |(place, cell): (usize, &Option<Cell>)| {
                let ours = cell.as_ref().map(Cell::mean);
                Entry {
                    ours,
                    text: cell
                        .as_ref()
                        .map(|cell| shown(cell, subject.has_angles))
                        .unwrap_or_default(),
                    error: cell.as_ref().and_then(Cell::standard_error),
                    paper: ours.zip(paper(pair, place)).map(|(ours, paper)| (ours - paper, paper)),
                    ..Entry::default()
                }
            };
            let entries = cells.iter().enumerate().map(entry).collect();
            Row { name: pair.clone(), is_mean: false, entries }
        })
        .collect();
    if section.pairs.len() > 1 && !subject.has_angles {
        let entry = |place: usize| {
            let compared: Vec<(f64, f64)> =
                rows.iter().filter_map(|row| row.entries[place].paper).collect();
            let mean = |part: fn(&(f64, f64)) -> f64| {
                compared.iter().map(part).sum::<f64>() / compared.len() as f64
            };
            let ours = section.mean(place);
            Entry {
                ours,
                text: ours.map(|mean| percent(&Cell(vec![mean]))).unwrap_or_default(),
                error: section.trial_means(place).and_then(|cell| cell.standard_error()),
                paper: (!compared.is_empty()).then(|| (mean(|pair| pair.0), mean(|pair| pair.1))),
                ..Entry::default()
            }
        };
        let entries = (0..columns.len()).map(entry).collect();
        rows.push(Row { name: MEAN.to_owned(), is_mean: true, entries });
    }
    for row in &mut rows {
        rank_entries(row, subject);
    }
    rows
}

/// Ranks the entries of a row: columns with the same prefix compete.
fn rank_entries(row: &mut Row, subject: &Subject<'_>) {
    let columns = &subject.scores.columns;
    for column in columns {
        let rivals: Vec<usize> = (0..columns.len())
            .filter(|&place| {
                columns[place].prefix == column.prefix && row.entries[place].ours.is_some()
            })
            .collect();
        let values: Vec<f64> = rivals.iter().filter_map(|&place| row.entries[place].ours).collect();
        let best = rivals.iter().zip(&values).max_by(|a, b| a.1.total_cmp(b.1));
        // What looks equal is equally good.
        let best = best.map(|(&place, _)| row.entries[place].text.clone());
        for (&place, rank) in rivals.iter().zip(ranks(&values)) {
            let entry = &mut row.entries[place];
            entry.rank = Some(rank);
            entry.is_best = columns.len() > 1 && Some(&entry.text) == best.as_ref();
        }
    }
}

/// A cell as `table.csv` has it.
fn shown(cell: &Cell, is_error_rate: bool) -> String {
    if is_error_rate { rate(&cell.complement()) } else { percent(cell) }
}

/// Methods down, angles across.
fn turned(names: &[String], groups: Vec<Vec<Row>>) -> (Vec<String>, Vec<Vec<Row>>) {
    let rows: Vec<Row> = groups.into_iter().flatten().collect();
    let angles = rows.iter().map(|row| row.name.trim_start_matches("0->").to_owned());
    let header = std::iter::once("method".to_owned()).chain(angles).collect();
    let methods = names.iter().enumerate().map(|(place, name)| Row {
        name: name.clone(),
        is_mean: false,
        entries: rows.iter().map(|row| row.entries[place].clone()).collect(),
    });
    (header, vec![methods.collect()])
}

fn head(name: &str) -> String {
    format!(
        "<th scope=\"col\"><button type=\"button\" title=\"Sort\">{}</button></th>",
        escape(&pretty(name))
    )
}

fn row_html(row: &Row, is_error_rate: bool) -> String {
    let class = if row.is_mean { " class=\"mean\"" } else { "" };
    let cells: String = row.entries.iter().map(|entry| cell_html(entry, is_error_rate)).collect();
    format!("<tr{class}><th scope=\"row\">{}</th>{cells}</tr>", escape(&pretty(&row.name)))
}

fn cell_html(entry: &Entry, is_error_rate: bool) -> String {
    if entry.ours.is_none() {
        return "<td class=\"missing\"></td>".into();
    }
    let error = entry.error.map(|error| {
        if is_error_rate { format!("{error:.3}") } else { format!("{:.2}", 100.0 * error) }
    });
    let difference = entry.paper.map(|(difference, _)| {
        if is_error_rate {
            format!("{:+.3}", 0.0 - difference)
        } else {
            format!("{:+.1}", 100.0 * difference)
        }
    });
    let rank = entry.rank.map(|rank| format!("{rank}")).unwrap_or_default();
    let (mut class, mut style, mut hint) = (String::new(), String::new(), String::new());
    if entry.is_best {
        class += "best";
    }
    if let Some((points, paper)) = entry.paper {
        class += if points >= 0.0 { " above" } else { " below" };
        let strength = (100.0 * points.abs() / FULL_COLOUR).min(1.0);
        style = format!(" style=\"--strength:{strength:.2}\"");
        hint = format!("paper: {}", shown(&Cell(vec![paper]), is_error_rate));
    }
    let value = &entry.text;
    format!(
        "<td class=\"{}\"{style} title=\"{hint}\" data-value=\"{value}\" data-error=\"{}\" \
         data-difference=\"{}\" data-rank=\"{rank}\">{value}</td>",
        class.trim(),
        error.unwrap_or_default(),
        difference.unwrap_or_default()
    )
}
