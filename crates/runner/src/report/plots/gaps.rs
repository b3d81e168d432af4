//! The duality gap that the solve of each chosen point reached, against its iterations.

use super::Plot;
use super::frame::Frame;
use crate::report::Subject;
use crate::report::scale::Scale;
use crate::report::svg::Drawing;
use crate::scores::Column;

/// A gap below this is rounding.
const LEAST_GAP: f64 = 1e-16;

/// A scatter plot for each method with gaps.
pub fn gaps(subject: &Subject<'_>) -> Vec<Plot> {
    let plot = |column: &Column<'_>| {
        let solves: Vec<(f64, f64, bool)> = subject
            .scored(column)
            .filter_map(|scores| {
                let convergence = scores.test.convergence.as_ref()?;
                let gap = convergence.relative_gap?.max(LEAST_GAP);
                let iterations = convergence.iterations.max(1) as f64;
                Some((iterations, gap, convergence.stop == "converged"))
            })
            .collect();
        if solves.is_empty() {
            return None;
        }
        let range = |value: fn(&(f64, f64, bool)) -> f64| {
            solves.iter().map(value).fold((f64::INFINITY, 0.0), |(low, high), value: f64| {
                (f64::min(low, value), f64::max(high, value))
            })
        };
        let frame = Frame { left: 66.0, right: 332.0, top: 8.0, bottom: 200.0 };
        let mut drawing = Drawing::new(351.0, 242.0);
        let x = Scale::logarithmic(range(|solve| solve.0), (frame.left, frame.right));
        let y = Scale::logarithmic(range(|solve| solve.1), (frame.bottom, frame.top));
        frame.horizontal_axis(&mut drawing, &x, 6, "iterations");
        frame.vertical_axis(&mut drawing, &y, 5, "relative duality gap");
        for (iterations, gap, has_converged) in &solves {
            let class = if *has_converged { "mark faint" } else { "mark open" };
            drawing.disc((x.at(*iterations), y.at(*gap)), 3.0, class, "");
        }
        let label = format!("Gap against iterations of {}", column.name());
        Some(Plot { title: column.name(), svg: drawing.into_inline(&label), note: String::new() })
    };
    subject.scores.columns.iter().filter_map(plot).collect()
}
