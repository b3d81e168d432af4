//! The accuracy on which grid points are chosen, over each method's grid, with how often each point was chosen.

use super::Plot;
use super::frame::Frame;
use super::heat_map::{Axes, Tile, heat_map, short};
use crate::config::{Grid, Point};
use crate::report::Subject;
use crate::report::html::pretty;
use crate::report::scale::Scale;
use crate::report::svg::Drawing;
use crate::scores::Column;

/// What happened at one grid point.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// The mean accuracy over the units, in percent.
    accuracy: f64,
    /// How many units chose it.
    chosen: usize,
}

/// A map or a curve for each method that has something to choose.
pub fn grids(subject: &Subject<'_>) -> Vec<Plot> {
    let plot = |column: &Column<'_>| {
        let methods = &subject.results.manifest.experiment.methods;
        let grid = &methods.iter().find(|method| method.id == column.id)?.grid;
        let tallies = tallies(subject, column, grid)?;
        let axes: Vec<(&str, &[f64])> = grid
            .0
            .iter()
            .filter(|(_, values)| values.len() > 1)
            .map(|(name, values)| (name.as_str(), values.as_slice()))
            .collect();
        let (svg, note) = match axes.as_slice() {
            [] => return None,
            [axis] => (curve(*axis, &tallies, &column.name()), String::new()),
            [down, across, rest @ ..] => {
                let names: Vec<String> = rest.iter().map(|(name, _)| pretty(name)).collect();
                let note = match names.as_slice() {
                    [] => String::new(),
                    names => format!("At the best {}.", names.join(" and ")),
                };
                let axes = Axes { down: *down, across: *across };
                (map(&axes, &tallies, &column.name()), note)
            }
        };
        Some(Plot { title: column.name(), svg, note })
    };
    subject.scores.columns.iter().filter_map(plot).collect()
}

/// The tally of each grid point over all units of a column.
fn tallies(subject: &Subject<'_>, column: &Column<'_>, grid: &Grid) -> Option<Vec<(Point, Tally)>> {
    let mut tallies: Vec<(Point, Tally)> =
        grid.points().into_iter().map(|point| (point, Tally::default())).collect();
    let (points, mut units) = (tallies.len(), 0.0);
    for scores in subject.scored(column).filter(|scores| scores.tried.len() == points) {
        units += 1.0;
        for (score, (_, tally)) in scores.tried.iter().zip(&mut tallies) {
            tally.accuracy += 100.0 * score.accuracy;
        }
        tallies.get_mut(scores.chosen)?.1.chosen += 1;
    }
    for (_, tally) in &mut tallies {
        tally.accuracy /= units;
    }
    (units > 0.0).then_some(tallies)
}

fn map(axes: &Axes<'_>, tallies: &[(Point, Tally)], name: &str) -> String {
    let at = |down: f64, across: f64| {
        let here = tallies.iter().filter(|(point, _)| {
            point.get(axes.down.0) == down && point.get(axes.across.0) == across
        });
        here.fold(Tally { accuracy: f64::NEG_INFINITY, chosen: 0 }, |best, (_, tally)| Tally {
            accuracy: best.accuracy.max(tally.accuracy),
            chosen: best.chosen + tally.chosen,
        })
    };
    let tallies: Vec<Vec<Tally>> = axes
        .down
        .1
        .iter()
        .map(|&down| axes.across.1.iter().map(|&across| at(down, across)).collect())
        .collect();
    let all = || tallies.iter().flatten();
    let (low, high) = range(all().map(|tally| tally.accuracy));
    let most = all().map(|tally| tally.chosen).max().unwrap_or(1).max(1) as f64;
    let tile = |row: usize, column: usize| {
        let Tally { accuracy, chosen } = tallies[row][column];
        Tile {
            share: Some(if high > low { (accuracy - low) / (high - low) } else { 0.5 }),
            text: format!("{accuracy:.1}"),
            chosen: chosen as f64 / most,
            hint: format!(
                "{} = {}, {} = {}: {accuracy:.2} %, chosen {chosen} times",
                pretty(axes.down.0),
                axes.down.1[row],
                pretty(axes.across.0),
                axes.across.1[column]
            ),
        }
    };
    let tiles: Vec<Vec<Tile>> = (0..axes.down.1.len())
        .map(|row| (0..axes.across.1.len()).map(|column| tile(row, column)).collect())
        .collect();
    heat_map(axes, &tiles, &format!("Accuracy of {name} over its grid"))
}

fn curve((axis, values): (&str, &[f64]), tallies: &[(Point, Tally)], name: &str) -> String {
    let frame = Frame { left: 66.0, right: 345.0, top: 8.0, bottom: 239.0 };
    let mut drawing = Drawing::new(351.0, 281.0);
    let (low, high) = range(tallies.iter().map(|(_, tally)| tally.accuracy));
    let room = 0.08 * (high - low).max(0.5);
    let y = Scale::linear((low - room, high + room), (frame.bottom, frame.top));
    frame.vertical_axis(&mut drawing, &y, 5, "accuracy in %");
    let step = (frame.right - frame.left) / values.len() as f64;
    let x = |place: usize| frame.left + step * (place as f64 + 0.5);
    let most = tallies.iter().map(|(_, tally)| tally.chosen).max().unwrap_or(1).max(1) as f64;
    let points: Vec<(f64, f64)> = tallies
        .iter()
        .enumerate()
        .map(|(place, (_, tally))| (x(place), y.at(tally.accuracy)))
        .collect();
    drawing.curve(&points, "curve");
    for ((place, (_, tally)), at) in tallies.iter().enumerate().zip(&points) {
        let Tally { accuracy, chosen } = tally;
        let hint =
            format!("{} = {}: {accuracy:.2} %, chosen {chosen} times", pretty(axis), values[place]);
        let radius = if *chosen == 0 { 2.0 } else { 2.5 + 6.5 * (*chosen as f64 / most).sqrt() };
        drawing.disc(*at, radius, if *chosen == 0 { "mark" } else { "mark soft" }, &hint);
        drawing.text((x(place), frame.bottom + 15.0), "tick middle", &short(values[place]));
    }
    let middle = f64::midpoint(frame.left, frame.right);
    drawing.text((middle, frame.bottom + 34.0), "axis-name middle", &pretty(axis));
    drawing.into_inline(&format!("Accuracy of {name} over {}", pretty(axis)))
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}
