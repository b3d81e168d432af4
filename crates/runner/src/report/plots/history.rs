//! Objective and duality gap over the iterations of one unit's solve by the generalized conditional gradient.

use super::Plot;
use super::frame::Frame;
use crate::history::History;
use crate::report::html::pretty;
use crate::report::scale::Scale;
use crate::report::svg::Drawing;

const TOP: f64 = 14.0;
const BOTTOM: f64 = 214.0;

/// The two curves of a unit.
pub fn history(history: &History) -> Option<Plot> {
    let steps = history.steps.as_slice();
    let last = steps.len().checked_sub(1).filter(|last| *last > 0)?;
    let mut drawing = Drawing::new(760.0, 258.0);
    let curve = |drawing: &mut Drawing, frame: Frame, y: Scale, values: Vec<f64>| {
        let x = Scale::linear((0.0, last as f64), (frame.left, frame.right));
        frame.horizontal_axis(drawing, &x, 6, "iteration");
        let points: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .map(|(step, value)| (x.at(step as f64), y.at(*value)))
            .collect();
        drawing.curve(&points, "curve");
    };
    let range = |values: &[f64]| {
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
    };
    let frame = Frame { left: 78.0, right: 360.0, top: TOP, bottom: BOTTOM };
    let objectives: Vec<f64> = steps.iter().map(|step| step.objective).collect();
    let y = Scale::linear(range(&objectives), (frame.bottom, frame.top));
    frame.vertical_axis(&mut drawing, &y, 5, "objective");
    curve(&mut drawing, frame, y, objectives);

    let frame = Frame { left: 470.0, right: 752.0, ..frame };
    let gaps: Vec<f64> = steps.iter().map(|step| step.gap.max(f64::MIN_POSITIVE)).collect();
    let y = Scale::logarithmic(range(&gaps), (frame.bottom, frame.top));
    frame.vertical_axis(&mut drawing, &y, 6, "duality gap");
    curve(&mut drawing, frame, y, gaps);

    let point: Vec<String> =
        history.point.0.iter().map(|(name, value)| format!("{} = {value}", pretty(name))).collect();
    Some(Plot {
        title: format!(
            "Generalized conditional gradient: {} on {}, trial {}",
            history.title,
            pretty(&history.pair),
            history.trial
        ),
        svg: drawing.into_inline("Objective and duality gap over the iterations"),
        note: format!(
            "Solved again at the chosen point ({}): iterations {}, {}.",
            point.join(", "),
            history.iterations,
            history.stop.replace('_', " ")
        ),
    })
}
