//! Where solvers ended before they had converged: how many, by method and grid point.

use super::Plot;
use super::heat_map::{Axes, Tile, heat_map};
use crate::methods::Convergence;
use crate::report::Subject;
use crate::report::html::pretty;
use crate::scores::Column;
use crate::unit::Score;

/// The `stop` of a solve that reached its tolerance.
const CONVERGED: &str = "converged";

/// The solves of one method.
#[derive(Debug, Clone, Default)]
pub struct Solves {
    pub name: String,
    pub count: usize,
    pub stalled: usize,
    /// At the limit of iterations, or for any other reason.
    pub limited: usize,
    /// The largest relative duality gap of those that did not converge.
    pub largest_gap: Option<f64>,
    /// The median of the iterations.
    pub iterations: usize,
}

/// Each method's solves, for methods that iterate.
pub fn solves(subject: &Subject<'_>) -> Vec<Solves> {
    let of_column = |column: &Column<'_>| {
        let mut solves = Solves { name: column.name(), ..Solves::default() };
        let mut iterations = Vec::new();
        for (_, convergence) in all(subject, column) {
            solves.count += 1;
            iterations.push(convergence.iterations);
            if convergence.stop == CONVERGED {
                continue;
            }
            if convergence.stop == "stalled" {
                solves.stalled += 1;
            } else {
                solves.limited += 1;
            }
            let largest = [solves.largest_gap, convergence.relative_gap];
            solves.largest_gap = largest.into_iter().flatten().reduce(f64::max);
        }
        iterations.sort_unstable();
        solves.iterations = iterations.get(iterations.len() / 2).copied().unwrap_or(0);
        (solves.count > 0).then_some(solves)
    };
    subject.scores.columns.iter().filter_map(of_column).collect()
}

/// A map of the solves that did not converge, for each method that has some and a grid of two axes.
pub fn convergence(subject: &Subject<'_>) -> Vec<Plot> {
    let plot = |column: &Column<'_>| {
        let methods = &subject.results.manifest.experiment.methods;
        let grid = &methods.iter().find(|method| method.id == column.id)?.grid;
        let mut axes = grid.0.iter().filter(|(_, values)| values.len() > 1);
        let (down, across) = (axes.next()?, axes.next()?);
        let axes = Axes { down: (&down.0, &down.1), across: (&across.0, &across.1) };
        let mut counts = vec![vec![(0_usize, 0_usize); across.1.len()]; down.1.len()];
        for (score, convergence) in all(subject, column) {
            let place = |(name, values): &(String, Vec<f64>)| {
                values.iter().position(|value| *value == score.point.get(name))
            };
            let (all, open) = &mut counts[place(down)?][place(across)?];
            *all += 1;
            *open += usize::from(convergence.stop != CONVERGED);
        }
        let most = counts.iter().flatten().map(|(_, open)| *open).max().filter(|most| *most > 0)?;
        let tile = |row: usize, column: usize| {
            let (all, open) = counts[row][column];
            Tile {
                share: (open > 0).then(|| open as f64 / most as f64),
                text: open.to_string(),
                chosen: 0.0,
                hint: format!(
                    "{} = {}, {} = {}: {open} of {all} solves did not converge",
                    pretty(axes.down.0),
                    axes.down.1[row],
                    pretty(axes.across.0),
                    axes.across.1[column]
                ),
            }
        };
        let tiles: Vec<Vec<Tile>> = (0..down.1.len())
            .map(|row| (0..across.1.len()).map(|column| tile(row, column)).collect())
            .collect();
        let label = format!("Solves of {} that did not converge", column.name());
        Some(Plot {
            title: column.name(),
            svg: heat_map(&axes, &tiles, &label),
            note: String::new(),
        })
    };
    subject.scores.columns.iter().filter_map(plot).collect()
}

/// Every solve of a column, while choosing and on the test samples.
fn all<'a>(
    subject: &'a Subject<'_>,
    column: &'a Column<'_>,
) -> impl Iterator<Item = (&'a Score, &'a Convergence)> + 'a {
    subject
        .scored(column)
        .flat_map(|scores| scores.tried.iter().chain(std::iter::once(&scores.test)))
        .filter_map(|score| Some((score, score.convergence.as_ref()?)))
}
