//! The tables of an experiment in the paper's layout.

mod differences;

use crate::config::{Data, Experiment};
use crate::scores::{Cell, Column, Scores, Section};
use crate::table::{Field, MEAN, Table};
use differences::{Unit, differences, methods_down};

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
                plain: angles(scores, |cell| rate(&cell.complement())),
                shown: angles(scores, |cell| rate_with_error(&cell.complement())),
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

/// Whether a text has the mean that the best one is shown with: to a reader they are equal.
fn is_shown_as(text: &str, best: f64, show: impl Fn(&Cell) -> String) -> bool {
    text.split(' ').next() == Some(show(&Cell(vec![best])).as_str())
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
            let is_best = is_shown_as(&fields[place + 1].text, best, percent_with_error);
            fields[place + 1].is_best = scores.columns.len() > 1 && is_best;
        }
    }
    table
}

/// The layout of the paper's Table 1: methods down, angles across, error rates.
fn angles(scores: &Scores<'_>, show: impl Fn(&Cell) -> String) -> Table {
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
            Some(cell) => {
                let text = show(cell);
                let is_best = scores.columns.len() > 1 && is_shown_as(&text, best(pair), &show);
                Field { text, is_best }
            }
        });
        std::iter::once(Field::from(column.name())).chain(fields).collect()
    });
    let angles = pairs().map(|pair| pair.trim_start_matches("0->").to_owned());
    Table {
        header: std::iter::once("method".to_owned()).chain(angles).collect(),
        rows: rows.collect(),
    }
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
        assert!(line.ends_with(" 1 cell is missing."), "{line}");
        // As in the table, no mean over some of the pairs.
        let mean: Vec<&str> = differences.rows[2].iter().map(|field| field.text.as_str()).collect();
        assert_eq!(mean, ["mean", "-0.4 [35.90]", ""]);
    }

    #[test]
    fn all_that_are_shown_with_the_best_mean_are_bold() {
        let experiment = committed("two_moons.toml", 1, &["40"], &["1nn", "ot-it", "ot-gl"]);
        let moons = [("1nn", 1.0), ("ot-it", 0.9996), ("ot-gl", 0.9994)]
            .map(|(method, accuracy)| record("", "0->40", 1, method, accuracy));
        let bold = |table: &Table| {
            let fields = table.rows.iter().flat_map(|row| &row[1..]);
            fields.map(|field| (field.text.clone(), field.is_best)).collect::<Vec<_>>()
        };
        let expected = [("0.000", true), ("0.000", true), ("0.001", false)]
            .map(|(text, is_best)| (text.to_owned(), is_best));
        assert_eq!(bold(&tables(&experiment, &moons).shown), expected);

        let experiment = committed("office.toml", 2, &["C-A"], &["1nn", "ot-it"]);
        let office = [("1nn", 0.2104, 0.23), ("ot-it", 0.2204, 0.22)].map(|(method, one, two)| {
            [record("", "C->A", 1, method, one), record("", "C->A", 2, method, two)]
        });
        let shown = tables(&experiment, office.as_flattened()).shown;
        assert_eq!(shown.rows[0][1].text, "22.0 ± 1.0");
        assert_eq!(shown.rows[0][2].text, "22.0 ± 0.0");
        assert!(shown.rows[0][1].is_best && shown.rows[0][2].is_best);
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
