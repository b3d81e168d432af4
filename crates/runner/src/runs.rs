//! `runs.parquet`: every unit of a run, one row a grid point. The store that tables are made from.
//!
//! A scored unit has a row for each grid point that was tried (stage `selection`) and one for the chosen
//! point on the test samples (stage `test`); a failed unit has one row with its error.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use polars_core::prelude::{Column, DataFrame, NamedFrom as _, Series};
use polars_io::SerReader as _;
use polars_io::parquet::read::ParquetReader;
use polars_io::parquet::write::ParquetWriter;

use crate::config::Point;
use crate::methods::Convergence;
use crate::unit::{Ending, Record, Score, UnitScores};

const FILE: &str = "runs.parquet";
const SELECTION: &str = "selection";
const TEST: &str = "test";
const FAILED: &str = "failed";
/// Before the names of hyper-parameters, so that they cannot be taken for other columns.
const PARAMETER: &str = "parameter_";

/// Columns while they grow.
#[derive(Default)]
struct Columns {
    key: Vec<String>,
    prefix: Vec<String>,
    pair: Vec<String>,
    trial: Vec<u64>,
    method: Vec<String>,
    unit_seconds: Vec<f64>,
    stage: Vec<&'static str>,
    chosen: Vec<bool>,
    accuracy: Vec<Option<f64>>,
    stop: Vec<Option<String>>,
    iterations: Vec<Option<u64>>,
    relative_gap: Vec<Option<f64>>,
    marginal_error: Vec<Option<f64>>,
    seconds: Vec<Option<f64>>,
    error: Vec<Option<String>>,
    parameters: BTreeMap<String, Vec<Option<f64>>>,
}

impl Columns {
    fn add(&mut self, record: &Record, stage: &'static str, chosen: bool, score: Option<&Score>) {
        self.key.push(record.key.clone());
        self.prefix.push(record.prefix.clone());
        self.pair.push(record.pair.clone());
        self.trial.push(record.trial);
        self.method.push(record.method.clone());
        self.unit_seconds.push(record.seconds);
        self.stage.push(stage);
        self.chosen.push(chosen);
        self.accuracy.push(score.map(|score| score.accuracy));
        self.seconds.push(score.map(|score| score.seconds));
        let convergence = score.and_then(|score| score.convergence.as_ref());
        self.stop.push(convergence.map(|convergence| convergence.stop.clone()));
        self.iterations.push(convergence.map(|convergence| convergence.iterations as u64));
        self.relative_gap.push(convergence.and_then(|convergence| convergence.relative_gap));
        self.marginal_error.push(convergence.and_then(|convergence| convergence.marginal_error));
        self.error.push(match &record.ending {
            Ending::Failed(error) => Some(error.clone()),
            Ending::Scored(_) => None,
        });
        let row = self.key.len();
        for (name, value) in score.iter().flat_map(|score| &score.point.0) {
            let column = self.parameters.entry(name.clone()).or_default();
            column.resize(row - 1, None);
            column.push(Some(*value));
        }
    }

    fn into_frame(self) -> Result<DataFrame> {
        let rows = self.key.len();
        let mut columns = vec![
            Series::new("key".into(), self.key),
            Series::new("prefix".into(), self.prefix),
            Series::new("pair".into(), self.pair),
            Series::new("trial".into(), self.trial),
            Series::new("method".into(), self.method),
            Series::new("unit_seconds".into(), self.unit_seconds),
            Series::new("stage".into(), self.stage),
            Series::new("chosen".into(), self.chosen),
        ];
        for (name, mut values) in self.parameters {
            values.resize(rows, None);
            columns.push(Series::new(format!("{PARAMETER}{name}").into(), values));
        }
        columns.extend([
            Series::new("accuracy".into(), self.accuracy),
            Series::new("stop".into(), self.stop),
            Series::new("iterations".into(), self.iterations),
            Series::new("relative_gap".into(), self.relative_gap),
            Series::new("marginal_error".into(), self.marginal_error),
            Series::new("seconds".into(), self.seconds),
            Series::new("error".into(), self.error),
        ]);
        Ok(DataFrame::new(rows, columns.into_iter().map(Column::from).collect())?)
    }
}

/// Writes the units of a run.
pub fn write(folder: &Path, records: &[Record]) -> Result<()> {
    let mut columns = Columns::default();
    for record in records {
        match &record.ending {
            Ending::Failed(_) => columns.add(record, FAILED, false, None),
            Ending::Scored(UnitScores { tried, chosen, test }) => {
                for (place, score) in tried.iter().enumerate() {
                    columns.add(record, SELECTION, place == *chosen, Some(score));
                }
                columns.add(record, TEST, true, Some(test));
            }
        }
    }
    let path = folder.join(FILE);
    let named = || format!("cannot write {}", path.display());
    let file = File::create(&path).with_context(named)?;
    ParquetWriter::new(file).finish(&mut columns.into_frame()?).with_context(named)?;
    Ok(())
}

/// Reads the units of a run, as they were written.
pub fn read(folder: &Path) -> Result<Vec<Record>> {
    let path = folder.join(FILE);
    let file = File::open(&path).with_context(|| {
        format!("cannot read {}: is {} a folder of results?", path.display(), folder.display())
    })?;
    let frame = ParquetReader::new(file)
        .finish()
        .with_context(|| format!("{} is damaged", path.display()))?;
    records(&frame).with_context(|| format!("{} is not a store of runs", path.display()))
}

fn records(frame: &DataFrame) -> Result<Vec<Record>> {
    let text = |name: &str| anyhow::Ok(frame.column(name)?.str()?);
    let number = |name: &str| anyhow::Ok(frame.column(name)?.f64()?);
    let parameters = frame
        .get_column_names()
        .into_iter()
        .filter_map(|name| Some((name.strip_prefix(PARAMETER)?.to_owned(), number(name).ok()?)))
        .collect::<Vec<_>>();
    let (key, prefix, pair) = (text("key")?, text("prefix")?, text("pair")?);
    let (method, stage) = (text("method")?, text("stage")?);
    let (stop, error) = (text("stop")?, text("error")?);
    let (unit_seconds, accuracy) = (number("unit_seconds")?, number("accuracy")?);
    let (gap, marginal_error) = (number("relative_gap")?, number("marginal_error")?);
    let seconds = number("seconds")?;
    let (trial, iterations) = (frame.column("trial")?.u64()?, frame.column("iterations")?.u64()?);
    let chosen = frame.column("chosen")?.bool()?;

    let mut records = Vec::new();
    let mut tried: Vec<Score> = Vec::new();
    let mut chosen_place = 0;
    for row in 0..frame.height() {
        let score = || {
            let stop = stop.get(row).map(str::to_owned);
            let convergence = stop.map(|stop| Convergence {
                stop,
                iterations: iterations
                    .get(row)
                    .and_then(|count| count.try_into().ok())
                    .unwrap_or(0),
                relative_gap: gap.get(row),
                marginal_error: marginal_error.get(row),
            });
            let value = |(name, column): &(String, &polars_core::prelude::Float64Chunked)| {
                Some((name.clone(), column.get(row)?))
            };
            anyhow::Ok(Score {
                point: Point(parameters.iter().filter_map(value).collect()),
                accuracy: accuracy.get(row).context("a score without accuracy")?,
                convergence,
                seconds: seconds.get(row).context("a score without seconds")?,
            })
        };
        let ending = match stage.get(row) {
            Some(SELECTION) => {
                if chosen.get(row) == Some(true) {
                    chosen_place = tried.len();
                }
                tried.push(score()?);
                continue;
            }
            Some(TEST) => Ending::Scored(UnitScores {
                tried: std::mem::take(&mut tried),
                chosen: chosen_place,
                test: score()?,
            }),
            Some(FAILED) => Ending::Failed(error.get(row).unwrap_or_default().to_owned()),
            other => bail!("row {}: there is no stage {other:?}", row + 1),
        };
        let own = |column: &polars_core::prelude::StringChunked| {
            anyhow::Ok(column.get(row).context("a text is missing")?.to_owned())
        };
        records.push(Record {
            key: own(key)?,
            prefix: own(prefix)?,
            pair: own(pair)?,
            trial: trial.get(row).context("a trial is missing")?,
            method: own(method)?,
            seconds: unit_seconds.get(row).unwrap_or(0.0),
            ending,
        });
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_back_as_they_were_written() {
        let score = |parameters: &[(&str, f64)], accuracy: f64, is_solved: bool| Score {
            point: Point(parameters.iter().map(|(name, value)| ((*name).into(), *value)).collect()),
            accuracy,
            convergence: is_solved.then(|| Convergence {
                stop: "converged".into(),
                iterations: 7,
                relative_gap: Some(1e-7),
                marginal_error: Some(1e-12),
            }),
            seconds: 0.25,
        };
        let unit = |method: &str, ending: Ending| Record {
            key: format!("key of {method}"),
            prefix: "L6-".into(),
            pair: "C->A".into(),
            trial: 3,
            method: method.into(),
            seconds: 1.5,
            ending,
        };
        let records = vec![
            unit(
                "1nn",
                Ending::Scored(UnitScores {
                    tried: vec![score(&[], 0.5, false)],
                    chosen: 0,
                    test: score(&[], 1.0 / 3.0, false),
                }),
            ),
            unit("pca", Ending::Failed("k = 70: too large".into())),
            unit(
                "ot-gl",
                Ending::Scored(UnitScores {
                    tried: vec![
                        score(&[("eta", 1.0), ("lambda", 0.1)], 0.5, true),
                        score(&[("eta", 10.0), ("lambda", 0.1)], 0.75, true),
                    ],
                    chosen: 1,
                    test: score(&[("eta", 10.0), ("lambda", 0.1)], 0.7, true),
                }),
            ),
        ];
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &records).unwrap();
        assert_eq!(read(folder.path()).unwrap(), records);
    }

    #[test]
    fn a_folder_without_runs_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let problem = format!("{:#}", read(folder.path()).unwrap_err());
        assert!(problem.contains("a folder of results?"), "{problem}");
        std::fs::write(folder.path().join(FILE), "nonsense").unwrap();
        assert!(read(folder.path()).is_err());
    }
}
