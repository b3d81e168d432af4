//! The unit of work: one method, with its whole grid, on one trial of one pair.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use crate::config::{Block, Classifier, Experiment, MethodConfig, Pair, Point};
use crate::experiment::{Tasks, hex};
use crate::methods::{Convergence, Outcome, Problem};
use crate::version;

/// Where a unit stands in its experiment.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'a> {
    pub block: usize,
    pub pair: &'a Pair,
    pub trial: u64,
    pub method: &'a MethodConfig,
}

/// A finished unit, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// A hash of everything that the result depends on.
    pub key: String,
    /// The block's prefix.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    pub pair: String,
    /// From 1.
    pub trial: u64,
    /// The method's name in the config.
    pub method: String,
    pub seconds: f64,
    pub ending: Ending,
}

impl Record {
    /// As messages name it.
    pub fn name(&self) -> String {
        let Self { prefix, pair, trial, method, .. } = self;
        format!("{prefix}{method} on {pair}, trial {trial}")
    }
}

/// How a unit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Scored(UnitScores),
    Failed(String),
}

/// The accuracies of a unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitScores {
    /// Every grid point, on the labels that the choice is made on.
    pub tried: Vec<Score>,
    /// The one that [`choose`] takes.
    pub chosen: usize,
    /// The chosen point on the test samples.
    pub test: Score,
}

/// The accuracy at one grid point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub point: Point,
    pub accuracy: f64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
    pub seconds: f64,
}

impl<'a> Unit<'a> {
    /// Every unit of an experiment, in the order of the table.
    pub fn all(experiment: &'a Experiment) -> Vec<Self> {
        let mut units = Vec::new();
        for (block, Block { pairs, .. }) in experiment.blocks.iter().enumerate() {
            for pair in pairs {
                for method in &experiment.methods {
                    units.extend((0..experiment.trials).map(|trial| Self {
                        block,
                        pair,
                        trial,
                        method,
                    }));
                }
            }
        }
        units
    }

    /// What is shown while it runs.
    pub fn name(&self, experiment: &Experiment) -> String {
        let prefix = &experiment.blocks[self.block].prefix;
        format!("{prefix}{} on {}, trial {}", self.method.title, self.pair, self.trial + 1)
    }

    /// A hash of everything that the result depends on: data, draw, settings and program.
    pub fn key(&self, experiment: &Experiment, tasks: &Tasks) -> Result<String> {
        let block = &experiment.blocks[self.block];
        let checksums: Vec<(&str, &str)> = tasks
            .checksums()
            .filter(|(domain, _)| {
                [&self.pair.source, &self.pair.target].iter().any(|name| name == domain)
            })
            .collect();
        // The column's name and title change no result.
        let method =
            MethodConfig { id: String::new(), title: String::new(), ..self.method.clone() };
        let classifier_code = match experiment.classifier {
            Classifier::Nearest => version::PROTOCOL,
            Classifier::Svm => version::BASELINES,
        };
        let depends_on = serde_json::to_vec(&(
            (version::DRAWS, version::PROTOCOL, self.method.entry()?.code, classifier_code),
            (experiment.seed, experiment.classifier, self.pair, self.trial),
            (
                block.selection,
                block.data.draw_sizes(&self.pair.source),
                checksums,
                block.data.generator(),
            ),
            method,
        ))?;
        Ok(hex(&Sha1::digest(depends_on)))
    }

    /// Runs the unit. A failure, be it a panic, is a result too.
    pub fn run(&self, experiment: &Experiment, tasks: &Tasks, key: String) -> Record {
        let clock = Instant::now();
        let scored = catch_unwind(AssertUnwindSafe(|| self.score(experiment, tasks)))
            .unwrap_or_else(|panic| Err(anyhow!("the program panicked: {}", panic_text(&*panic))));
        Record {
            key,
            prefix: experiment.blocks[self.block].prefix.clone(),
            pair: self.pair.to_string(),
            trial: self.trial + 1,
            method: self.method.id.clone(),
            seconds: clock.elapsed().as_secs_f64(),
            ending: match scored {
                Ok(scores) => Ending::Scored(scores),
                Err(problem) => Ending::Failed(format!("{problem:#}")),
            },
        }
    }

    fn score(&self, experiment: &Experiment, tasks: &Tasks) -> Result<UnitScores> {
        let task = tasks.task(self.pair, self.trial)?;
        let points = self.method.grid.points();
        let tried = self.sweep(task.selection(experiment.classifier), &points)?;
        let accuracies: Vec<f64> = tried.iter().map(|score| score.accuracy).collect();
        let chosen = choose(&points, &accuracies).context("the grid is empty")?;
        let at = std::slice::from_ref(&points[chosen]);
        let test = self.sweep(task.test(experiment.classifier), at)?;
        let test = test.into_iter().next().context("no test score")?;
        Ok(UnitScores { tried, chosen, test })
    }

    fn sweep(
        &self,
        (problem, truth): (Problem<'_>, &[usize]),
        points: &[Point],
    ) -> Result<Vec<Score>> {
        ensure!(!truth.is_empty(), "there are no target samples to label");
        let outcomes = (self.method.entry()?.sweep)(&problem, self.method, points)?;
        ensure!(outcomes.len() == points.len(), "a method skipped grid points");
        let score = |(point, outcome): (&Point, Outcome)| Score {
            point: point.clone(),
            accuracy: accuracy(&outcome.predicted, truth),
            convergence: outcome.convergence,
            seconds: outcome.seconds,
        };
        Ok(points.iter().zip(outcomes).map(score).collect())
    }
}

/// The place of the largest accuracy. Of equals the one with the largest λ, if they have one: it is penalised most, and
/// a plan of it is the smoothest, hence the best conditioned and the cheapest. Of those the first.
pub fn choose(points: &[Point], accuracies: &[f64]) -> Option<usize> {
    let smoothness = |place: usize| points[place].find("lambda").unwrap_or(0.0);
    (0..points.len()).rev().max_by(|&a, &b| {
        let by_accuracy = accuracies[a].total_cmp(&accuracies[b]);
        by_accuracy.then(smoothness(a).total_cmp(&smoothness(b)))
    })
}

/// The share of labels that are right.
pub fn accuracy(predicted: &[usize], truth: &[usize]) -> f64 {
    let right = predicted.iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count();
    right as f64 / truth.len() as f64
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lambda: f64, eta: f64) -> Point {
        Point(vec![("lambda".to_owned(), lambda), ("eta".to_owned(), eta)])
    }

    #[test]
    fn the_smoothest_of_the_best_is_chosen() {
        let points = [point(0.1, 1.0), point(1.0, 1.0), point(1.0, 10.0), point(10.0, 1.0)];
        assert_eq!(choose(&points, &[0.8, 0.8, 0.8, 0.7]), Some(1));
        assert_eq!(choose(&points, &[0.9, 0.8, 0.8, 0.7]), Some(0));
        assert_eq!(choose(&[], &[]), None);
    }

    #[test]
    fn without_a_lambda_the_first_of_the_best_is_chosen() {
        let points = [10.0, 20.0, 30.0].map(|k| Point(vec![("k".to_owned(), k)]));
        assert_eq!(choose(&points, &[0.1, 0.5, 0.5]), Some(1));
    }

    #[test]
    fn accuracy_counts_equal_labels() {
        assert!((accuracy(&[0, 1, 2, 2], &[0, 1, 1, 2]) - 0.75).abs() < 1e-15);
    }
}
