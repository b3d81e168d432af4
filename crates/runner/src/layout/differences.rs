//! The differences of a table to the paper's.

use super::{header, row};
use crate::config::Classifier;
use crate::paper::PaperTable;
use crate::scores::{Cell, Scores};
use crate::table::{Field, MEAN, Table};

/// How near a cell has to be to the paper's to count as near: three points.
const NEAR: f64 = 0.03;

/// The unit of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Percent,
    ErrorRate,
}

impl Unit {
    fn difference(self, ours: f64, printed: f64) -> String {
        match self {
            Self::Percent => {
                format!("{:+.1} [{:.2}]", 100.0 * (ours - printed), 100.0 * printed)
            }
            Self::ErrorRate => format!("{:+.3} [{:.3}]", printed - ours, 1.0 - printed),
        }
    }
}

/// Ours minus the paper's, with the paper's value in brackets. None if the paper has no such cell. Where a trial failed, a
/// cell is missing, and with it the mean, as in the table itself.
pub fn differences(
    scores: &Scores<'_>,
    classifier: Classifier,
    unit: Unit,
) -> Option<(Table, String)> {
    let (mut rows, mut all, mut missing) = (Vec::new(), Vec::new(), 0);
    for section in &scores.sections {
        let mut sums = vec![Vec::new(); scores.columns.len()];
        let start = rows.len();
        for (pair, cells) in section.pairs.iter().zip(&section.cells) {
            let mut fields = Vec::new();
            for (place, (column, cell)) in scores.columns.iter().zip(cells).enumerate() {
                let table =
                    section.blocks[place].and_then(|block| PaperTable::of_block(block, classifier));
                let printed =
                    table.and_then(|table| table.accuracy(pair, column.prefix, column.title));
                fields.push(match (cell, printed) {
                    (Some(cell), Some(printed)) => {
                        sums[place].push((cell.mean(), printed));
                        unit.difference(cell.mean(), printed)
                    }
                    (None, Some(_)) if section.has(pair, place) => {
                        missing += 1;
                        String::new()
                    }
                    _ => String::new(),
                });
            }
            rows.push(row(pair, fields.into_iter()));
        }
        let mean = |(place, pairs): (usize, &Vec<(f64, f64)>)| {
            let (ours, printed): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            if ours.is_empty() || section.mean(place).is_none() {
                return String::new();
            }
            unit.difference(Cell(ours).mean(), Cell(printed).mean())
        };
        rows.push(row(MEAN, sums.iter().enumerate().map(mean)));
        if sums.iter().all(Vec::is_empty) {
            // The paper says nothing about this block.
            rows.truncate(start);
        }
        all.extend(sums.into_iter().flatten());
    }
    if all.is_empty() {
        return None;
    }
    let count = |is_counted: &dyn Fn(f64) -> bool| {
        all.iter().filter(|(ours, printed)| is_counted(ours - printed)).count()
    };
    let mut line = format!(
        "{} of {} cells lie within 3 points of the paper's, {} are not more than 3 points worse.",
        count(&|difference| difference.abs() <= NEAR),
        all.len(),
        count(&|difference| difference >= -NEAR)
    );
    match missing {
        0 => {}
        1 => line += " 1 cell is missing.",
        _ => line += &format!(" {missing} cells are missing."),
    }
    Some((Table { header: header("ours − paper [paper]", scores), rows }, line))
}

/// A table with pairs down in the layout of Table 1; methods that have nothing in it are left out.
pub fn methods_down(table: &Table) -> Table {
    let angle = |field: &Field| field.text.trim_start_matches("0->").to_owned();
    let rows = (1..table.header.len()).map(|column| {
        let fields = table.rows.iter().map(move |row| row[column].clone());
        std::iter::once(Field::from(table.header[column].clone())).chain(fields).collect::<Vec<_>>()
    });
    Table {
        header: std::iter::once(table.header[0].clone())
            .chain(table.rows.iter().map(|row| angle(&row[0])))
            .collect(),
        rows: rows.filter(|row| row[1..].iter().any(|field| !field.text.is_empty())).collect(),
    }
}
