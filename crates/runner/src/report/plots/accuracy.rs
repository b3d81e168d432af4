//! The mean accuracy of each method with its 95 % confidence interval, beside the paper's.

use super::Plot;
use super::frame::{Frame, room_for};
use crate::paper::PaperTable;
use crate::report::Subject;
use crate::report::scale::Scale;
use crate::report::svg::Drawing;
use crate::scores::{Cell, Section};
use crate::statistics::Comparison;

const ROW: f64 = 28.0;

/// A method's line in the plot; all in percent.
struct Line {
    name: String,
    mean: f64,
    half_width: Option<f64>,
    paper: Option<f64>,
}

/// A plot for each section of the table that has more than one method.
pub fn accuracy(subject: &Subject<'_>) -> Vec<Plot> {
    subject
        .scores
        .sections
        .iter()
        .filter_map(|section| {
            let mut lines = lines(subject, section);
            lines.sort_by(|a, b| b.mean.total_cmp(&a.mean));
            (lines.len() > 1).then(|| Plot {
                title: match section.pairs.as_slice() {
                    [pair] => format!("Accuracy on {pair}"),
                    pairs => format!("Mean accuracy over {} pairs", pairs.len()),
                },
                svg: drawn(&lines),
                note: "Best first. The intervals are Student’s, at 95 %, over the trials: each trial’s mean over \
                       the pairs is one value. They say how much the draws matter, not how much the pairs do."
                    .into(),
            })
        })
        .collect()
}

fn lines(subject: &Subject<'_>, section: &Section<'_>) -> Vec<Line> {
    let classifier = subject.results.manifest.experiment.classifier;
    let line = |(place, column): (usize, &crate::scores::Column<'_>)| {
        let trials: Vec<f64> =
            section.trial_means(place)?.0.iter().map(|mean| 100.0 * mean).collect();
        let table = section.blocks[place].and_then(|block| PaperTable::of_block(block, classifier));
        // The paper's mean over the same pairs, if it has them all.
        let paper: Option<Vec<f64>> = table.and_then(|table| {
            let own =
                section.pairs.iter().zip(&section.cells).filter(|(_, row)| row[place].is_some());
            own.map(|(pair, _)| table.accuracy(pair, column.prefix, column.title)).collect()
        });
        Some(Line {
            name: column.name(),
            mean: 100.0 * section.mean(place)?,
            half_width: Comparison::of(&trials).half_width,
            paper: paper.map(|values| 100.0 * Cell(values).mean()),
        })
    };
    subject.scores.columns.iter().enumerate().filter_map(line).collect()
}

fn drawn(lines: &[Line]) -> String {
    let bottom = 34.0 + ROW * lines.len() as f64;
    let names = lines.iter().map(|line| line.name.as_str());
    let frame = Frame { left: room_for(names) + 24.0, right: 700.0, top: 34.0, bottom };
    let mut drawing = Drawing::new(760.0, bottom + 44.0);
    let ends = lines.iter().flat_map(|line| {
        let half = line.half_width.unwrap_or(0.0);
        [Some(line.mean - half), Some(line.mean + half), line.paper].into_iter().flatten()
    });
    let (low, high) = ends
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    let room = 0.04 * (high - low).max(1.0);
    let scale = Scale::linear((low - room, high + room), (frame.left, frame.right));
    frame.horizontal_axis(&mut drawing, &scale, 8, "accuracy in %");

    drawing.line((frame.left, 14.0), (frame.left + 28.0, 14.0), "interval");
    drawing.disc((frame.left + 14.0, 14.0), 4.5, "mark", "");
    drawing.text((frame.left + 36.0, 18.0), "legend", "ours, 95 % interval");
    if lines.iter().any(|line| line.paper.is_some()) {
        diamond(&mut drawing, (frame.left + 190.0, 14.0));
        drawing.text((frame.left + 202.0, 18.0), "legend", "the paper");
    }
    for (place, line) in lines.iter().enumerate() {
        let y = frame.top + ROW * (place as f64 + 0.5);
        drawing.text((frame.left - 12.0, y + 4.0), "name end", &line.name);
        drawing.line((frame.left, y), (frame.right, y), "row");
        if let Some(half) = line.half_width {
            let at = |value: f64| (scale.at(value), y);
            drawing.line(at(line.mean - half), at(line.mean + half), "interval");
        }
        if let Some(paper) = line.paper {
            diamond(&mut drawing, (scale.at(paper), y));
        }
        let interval = line.half_width.map(|half| format!(" ± {half:.2}")).unwrap_or_default();
        let hint = format!("{}: {:.2}{interval}", line.name, line.mean);
        drawing.disc((scale.at(line.mean), y), 4.5, "mark", &hint);
        drawing.text((frame.right + 10.0, y + 4.0), "value", &format!("{:.1}", line.mean));
    }
    drawing.into_inline("Mean accuracy of each method")
}

fn diamond(drawing: &mut Drawing, (x, y): (f64, f64)) {
    let size = 5.5;
    let corners = [(x, y - size), (x + size, y), (x, y + size), (x - size, y), (x, y - size)];
    drawing.curve(&corners, "paper-mark");
}
