//! The accuracies of an experiment: which trials make which cell of the table.

use std::collections::HashMap;

use crate::config::{Block, Experiment};
use crate::unit::{Ending, Record};

/// A fraction for each trial of one pair and one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell(pub Vec<f64>);

impl Cell {
    /// The mean over the trials.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// One minus each: error rates from accuracies.
    pub fn complement(&self) -> Self {
        Self(self.0.iter().map(|value| 1.0 - value).collect())
    }

    /// The standard error of the mean; none with a single trial.
    pub fn standard_error(&self) -> Option<f64> {
        let count = self.0.len() as f64;
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean).powi(2)).sum();
        (count > 1.0).then(|| (squares / (count - 1.0) / count).sqrt())
    }
}

/// Whether two means are the same: those of the same trials in another order differ by rounding.
pub fn is_same(first: f64, second: f64) -> bool {
    (first - second).abs() <= 1e-12
}

/// Accuracies as fractions, in the layout of the paper: pairs down, methods across. Blocks with the same
/// prefix stand below each other, others side by side.
#[derive(Debug)]
pub struct Scores<'a> {
    pub columns: Vec<Column<'a>>,
    pub sections: Vec<Section<'a>>,
}

/// A method, under the prefix of a block.
#[derive(Debug)]
pub struct Column<'a> {
    pub prefix: &'a str,
    pub title: &'a str,
    /// The method's name in the config.
    pub id: &'a str,
}

impl Column<'_> {
    /// As the table's header shows it.
    pub fn name(&self) -> String {
        format!("{}{}", self.prefix, self.title)
    }
}

/// The rows of one block, or of several that stand side by side.
#[derive(Debug)]
pub struct Section<'a> {
    /// A block of it for each column.
    pub blocks: Vec<Option<&'a Block>>,
    pub pairs: Vec<String>,
    /// A row a pair; nothing where a trial is missing or failed.
    pub cells: Vec<Vec<Option<Cell>>>,
}

impl<'a> Scores<'a> {
    /// Sorts the test accuracies of an experiment's units into cells.
    pub fn of(experiment: &'a Experiment, records: &[Record]) -> Self {
        let mut by_cell: HashMap<_, Vec<(u64, f64)>> = HashMap::new();
        for record in records {
            if let Ending::Scored(scores) = &record.ending {
                let cell = (record.prefix.as_str(), record.pair.as_str(), record.method.as_str());
                by_cell.entry(cell).or_default().push((record.trial, scores.test.accuracy));
            }
        }
        let cell = |prefix: &str, pair: &str, method: &str| {
            let mut trials = by_cell.get(&(prefix, pair, method))?.clone();
            trials.sort_by_key(|(trial, _)| *trial);
            let is_complete = trials.len() as u64 == experiment.trials;
            is_complete.then(|| Cell(trials.into_iter().map(|(_, accuracy)| accuracy).collect()))
        };
        let mut prefixes: Vec<&str> = Vec::new();
        for block in &experiment.blocks {
            if !prefixes.contains(&block.prefix.as_str()) {
                prefixes.push(&block.prefix);
            }
        }
        let columns: Vec<Column<'_>> = prefixes
            .iter()
            .flat_map(|prefix| {
                experiment.methods.iter().map(move |method| Column {
                    prefix,
                    title: &method.title,
                    id: &method.id,
                })
            })
            .collect();
        let of_prefix = |prefix: &str| -> Vec<&'a Block> {
            experiment.blocks.iter().filter(|block| block.prefix == prefix).collect()
        };
        let depth = prefixes.iter().map(|prefix| of_prefix(prefix).len()).max().unwrap_or(0);
        let section = |place: usize| {
            let block_of = |prefix: &&str| of_prefix(prefix).get(place).copied();
            let mut pairs: Vec<String> = Vec::new();
            for pair in prefixes.iter().filter_map(block_of).flat_map(|block| &block.pairs) {
                let name = pair.to_string();
                if !pairs.contains(&name) {
                    pairs.push(name);
                }
            }
            let row = |pair: &String| {
                columns.iter().map(|column| cell(column.prefix, pair, column.id)).collect()
            };
            let cells = pairs.iter().map(row).collect();
            let blocks = columns.iter().map(|column| block_of(&column.prefix)).collect();
            Section { blocks, pairs, cells }
        };
        let sections = (0..depth).map(section).collect();
        Self { columns, sections }
    }
}

impl Section<'_> {
    /// Whether a column's block has a pair.
    pub fn has(&self, pair: &str, column: usize) -> bool {
        self.blocks[column]
            .is_some_and(|block| block.pairs.iter().any(|own| own.to_string() == pair))
    }

    /// The mean of a column over the pairs that it has; nothing if a cell is missing.
    pub fn mean(&self, column: usize) -> Option<f64> {
        let means: Option<Vec<f64>> = self
            .pairs
            .iter()
            .zip(&self.cells)
            .filter(|(pair, _)| self.has(pair, column))
            .map(|(_, row)| row[column].as_ref().map(Cell::mean))
            .collect();
        means.filter(|means| !means.is_empty()).map(|means| Cell(means).mean())
    }

    /// For each trial the mean of a column over its pairs; nothing if a cell is missing.
    pub fn trial_means(&self, column: usize) -> Option<Cell> {
        self.mean(column)?;
        let cells: Vec<&Cell> = self.cells.iter().filter_map(|row| row[column].as_ref()).collect();
        let trials = cells.iter().map(|cell| cell.0.len()).min()?;
        let of_trial = |trial: usize| Cell(cells.iter().map(|cell| cell.0[trial]).collect()).mean();
        Some(Cell((0..trials).map(of_trial).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_mean_and_the_standard_error_of_its_trials() {
        let cell = Cell(vec![0.2, 0.4, 0.6]);
        assert!((cell.mean() - 0.4).abs() < 1e-15);
        assert!((cell.standard_error().unwrap() - 0.2 / 3_f64.sqrt()).abs() < 1e-15);
        assert_eq!(Cell(vec![0.5]).standard_error(), None);
    }
}
