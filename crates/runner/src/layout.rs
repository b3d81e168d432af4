//! The tables of an experiment in the paper's layout, and the differences to the paper.

use crate::config::{Classifier, Data, Experiment};
use crate::paper::PaperTable;
use crate::scores::{Cell, Column, Scores, Section, is_same};
use crate::table::{Field, MEAN, Table};

/// How near a cell has to be to the paper's to count as near: three points.
const NEAR: f64 = 0.03;

/// What a run shows and writes.
pub struct Tables {
    /// What the numbers are.
    pub caption: &'static str,
    /// Plain numbers, for machines.
    pub plain: Table,
    /// With standard errors, the best in bold.
    pub shown: Table,
    /// Ours minus the paper's, if the paper has some of the cells, and a line on how many are near.
    pub differences: Option<(Table, String)>,
}

impl Tables {
    /// Makes the tables of an experiment from its scores.
    pub fn of(experiment: &Experiment, scores: &Scores<'_>) -> Self {
        if has_angles(experiment) {
            return Self {
                caption: "Error rate",
                plain: angles(scores, |_, cell| rate(&cell.complement())),
                shown: angles(scores, |_, cell| rate_with_error(&cell.complement())),
                differences: differences(scores, experiment.classifier, Unit::ErrorRate)
                    .map(|(table, line)| (methods_down(&table), line)),
            };
        }
        Self {
            caption: "Accuracy in %",
            plain: pairs(scores, percent),
            shown: bold_best(pairs(scores, percent_with_error), scores),
            differences: differences(scores, experiment.classifier, Unit::Percent),
        }
    }
}

impl Tables {
    /// What is shown, for a paper, and below it the differences to the paper's.
    pub fn to_latex(&self) -> String {
        let differences = self.differences.as_ref().map(|(table, line)| {
            format!(
                "\n% Ours minus the paper's, whose values are in brackets. {line}\n{}",
                table.to_latex()
            )
        });
        self.shown.to_latex() + &differences.unwrap_or_default()
    }
}

/// Whether an experiment is shown as the paper's Table 1 is: error rates, methods down, angles across.
pub fn has_angles(experiment: &Experiment) -> bool {
    experiment.blocks.iter().all(|block| matches!(block.data, Data::TwoMoons(_)))
}

/// The paper's layout of accuracies in percent: pairs and their mean down, methods across.
fn pairs(scores: &Scores<'_>, show: impl Fn(&Cell) -> String) -> Table {
    let mut rows = Vec::new();
    for section in &scores.sections {
        for (pair, cells) in section.pairs.iter().zip(&section.cells) {
            let shown = cells.iter().map(|cell| cell.as_ref().map(&show).unwrap_or_default());
            rows.push(row(pair, shown));
        }
        if section.pairs.len() > 1 {
            let means = (0..scores.columns.len()).map(|column| section.trial_means(column));
            rows.push(row(MEAN, means.map(|cell| cell.as_ref().map(&show).unwrap_or_default())));
        }
    }
    Table { header: header("pair", scores), rows }
}

fn means<'a>(
    scores: &'a Scores<'_>,
    section: &'a Section<'_>,
) -> impl Iterator<Item = Option<f64>> + 'a {
    (0..scores.columns.len()).map(|column| section.mean(column))
}

/// Marks the best of each row: columns with the same prefix compete.
fn bold_best(mut table: Table, scores: &Scores<'_>) -> Table {
    let values = scores.sections.iter().flat_map(|section| {
        let rows = section.cells.iter().map(|cells| {
            cells.iter().map(|cell| cell.as_ref().map(Cell::mean)).collect::<Vec<_>>()
        });
        let mean = (section.pairs.len() > 1).then(|| means(scores, section).collect());
        rows.chain(mean).collect::<Vec<_>>()
    });
    for (fields, values) in table.rows.iter_mut().zip(values) {
        for (place, column) in scores.columns.iter().enumerate() {
            let rivals = scores.columns.iter().zip(&values);
            let best = rivals
                .filter(|(rival, _)| rival.prefix == column.prefix)
                .filter_map(|(_, value)| *value)
                .fold(f64::NEG_INFINITY, f64::max);
            let is_best = values[place].is_some_and(|value| is_same(value, best));
            fields[place + 1].is_best = scores.columns.len() > 1 && is_best;
        }
    }
    table
}

/// The layout of the paper's Table 1: methods down, angles across, error rates.
fn angles(scores: &Scores<'_>, show: impl Fn(&str, &Cell) -> String) -> Table {
    let pairs = || scores.sections.iter().flat_map(|section| &section.pairs);
    let cells = |column: usize| {
        scores.sections.iter().flat_map(move |section| {
            section.pairs.iter().zip(section.cells.iter().map(move |row| &row[column]))
        })
    };
    let best = |pair: &str| {
        let all = (0..scores.columns.len()).flat_map(cells);
        all.filter(|(own, _)| *own == pair)
            .filter_map(|(_, cell)| cell.as_ref().map(Cell::mean))
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let rows = scores.columns.iter().enumerate().map(|(place, column)| {
        let fields = cells(place).map(|(pair, cell)| match cell {
            None => Field::default(),
            Some(cell) => Field {
                text: show(pair, cell),
                is_best: scores.columns.len() > 1 && is_same(cell.mean(), best(pair)),
            },
        });
        std::iter::once(Field::from(column.name())).chain(fields).collect()
    });
    let angles = pairs().map(|pair| pair.trim_start_matches("0->").to_owned());
    Table {
        header: std::iter::once("method".to_owned()).chain(angles).collect(),
        rows: rows.collect(),
    }
}

/// A table with pairs down in the layout of Table 1; methods that have nothing in it are left out.
fn methods_down(table: &Table) -> Table {
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

/// The unit of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
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

/// Ours minus the paper's, with the paper's value in brackets. None if the paper has no such cell.
fn differences(scores: &Scores<'_>, classifier: Classifier, unit: Unit) -> Option<(Table, String)> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
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
                    _ => String::new(),
                });
            }
            rows.push(row(pair, fields.into_iter()));
        }
        let mean = |pairs: &Vec<(f64, f64)>| {
            let (ours, printed): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            if ours.is_empty() {
                return String::new();
            }
            unit.difference(Cell(ours).mean(), Cell(printed).mean())
        };
        rows.push(row(MEAN, sums.iter().map(mean)));
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
    let line = format!(
        "{} of {} cells lie within 3 points of the paper's, {} are not more than 3 points worse.",
        count(&|difference| difference.abs() <= NEAR),
        all.len(),
        count(&|difference| difference >= -NEAR)
    );
    Some((Table { header: header("ours − paper [paper]", scores), rows }, line))
}

fn row(name: &str, fields: impl Iterator<Item = String>) -> Vec<Field> {
    std::iter::once(name.to_owned()).chain(fields).map(Field::from).collect()
}

fn header(first: &str, scores: &Scores<'_>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(scores.columns.iter().map(Column::name)).collect()
}

/// `21.2 ± 0.5`, in percent.
fn percent_with_error(cell: &Cell) -> String {
    match cell.standard_error() {
        Some(error) => format!("{:.1} ± {:.1}", 100.0 * cell.mean(), 100.0 * error),
        None => format!("{:.1}", 100.0 * cell.mean()),
    }
}

/// `21.23`, in percent.
pub fn percent(cell: &Cell) -> String {
    format!("{:.2}", 100.0 * cell.mean())
}

/// `0.212 ± 0.005`.
fn rate_with_error(cell: &Cell) -> String {
    match cell.standard_error() {
        Some(error) => format!("{:.3} ± {error:.3}", cell.mean()),
        None => rate(cell),
    }
}

/// `0.212`.
pub fn rate(cell: &Cell) -> String {
    format!("{:.3}", cell.mean())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::RunArguments;
    use crate::config::Point;
    use crate::unit::{Ending, Record, Score, UnitScores};

    fn committed(name: &str, trials: u64, pairs: &[&str], methods: &[&str]) -> Experiment {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs").join(name);
        let names = |names: &[&str]| Some(names.iter().copied().map(str::to_owned).collect());
        let arguments = RunArguments {
            trials: Some(trials),
            pairs: names(pairs),
            methods: names(methods),
            ..RunArguments::default()
        };
        Experiment::load(&path, &arguments).unwrap()
    }

    fn record(prefix: &str, pair: &str, trial: u64, method: &str, accuracy: f64) -> Record {
        let score = Score { point: Point::default(), accuracy, convergence: None, seconds: 0.0 };
        Record {
            key: String::new(),
            prefix: prefix.into(),
            pair: pair.into(),
            trial,
            method: method.into(),
            seconds: 0.0,
            ending: Ending::Scored(UnitScores {
                tried: vec![score.clone()],
                chosen: 0,
                test: score,
            }),
        }
    }

    fn tables(experiment: &Experiment, records: &[Record]) -> Tables {
        Tables::of(experiment, &Scores::of(experiment, records))
    }

    #[test]
    fn the_csv_has_the_papers_header_and_differences_show_its_values() {
        let experiment = committed("office.toml", 2, &["C-A", "D-W"], &["1nn", "ot-gl"]);
        let records = [
            record("", "C->A", 2, "1nn", 0.22),
            record("", "C->A", 1, "1nn", 0.20),
            record("", "D->W", 1, "1nn", 0.5),
            record("", "D->W", 2, "1nn", 0.5),
            record("", "C->A", 1, "ot-gl", 0.5),
            record("", "C->A", 2, "ot-gl", 0.5),
            // One of two trials: no cell.
            record("", "D->W", 1, "ot-gl", 0.9),
        ];
        let tables = tables(&experiment, &records);
        assert_eq!(
            tables.plain.to_csv(),
            "pair,1NN,OT-GL\nC->A,21.00,50.00\nD->W,50.00,\nmean,35.50,\n"
        );
        assert!(tables.shown.rows[0][2].is_best && !tables.shown.rows[0][1].is_best);
        let (differences, line) = tables.differences.unwrap();
        assert_eq!(differences.rows[0][1].text, "+0.5 [20.54]");
        assert_eq!(differences.rows[1][1].text, "-1.3 [51.26]");
        assert!(line.starts_with("2 of 3 cells lie within 3 points"), "{line}");
    }

    #[test]
    fn blocks_with_different_prefixes_stand_side_by_side() {
        let experiment = committed("decaf.toml", 1, &["W-D"], &["1nn", "jda"]);
        let records =
            [record("L6-", "W->D", 1, "1nn", 0.975), record("L7-", "W->D", 1, "jda", 0.5)];
        let tables = tables(&experiment, &records);
        assert_eq!(tables.plain.header, ["pair", "L6-DeCAF", "L6-JDA", "L7-DeCAF", "L7-JDA"]);
        assert_eq!(tables.plain.to_csv().lines().nth(1), Some("W->D,97.50,,,50.00"));
        let (differences, _) = tables.differences.unwrap();
        assert_eq!(differences.rows[0][1].text, "+0.0 [97.50]");
    }

    #[test]
    fn two_moons_are_error_rates_by_angle() {
        let experiment = committed("two_moons.toml", 1, &["40", "90"], &["1nn", "ot-gl"]);
        let records = [
            record("", "0->40", 1, "1nn", 0.75),
            record("", "0->90", 1, "1nn", 0.25),
            record("", "0->40", 1, "ot-gl", 1.0),
            record("", "0->90", 1, "ot-gl", 0.5),
        ];
        let tables = tables(&experiment, &records);
        assert_eq!(tables.plain.to_csv(), "method,40,90\n1NN,0.250,0.750\nOT-GL,0.000,0.500\n");
        let (differences, _) = tables.differences.unwrap();
        assert_eq!(differences.header, ["ours − paper [paper]", "40", "90", "mean"]);
        // 1NN has no row in the paper.
        assert_eq!(differences.rows[0][0].text, "OT-GL");
        assert_eq!(differences.rows[0][1].text, "-0.013 [0.013]");
    }
}
