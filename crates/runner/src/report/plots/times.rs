//! How long a unit of each method took: its whole grid and the test.

use super::Plot;
use super::frame::{Frame, room_for};
use crate::progress::duration;
use crate::report::Subject;
use crate::report::scale::Scale;
use crate::report::svg::Drawing;

const ROW: f64 = 26.0;

/// Smallest, quartiles and largest of each method's seconds.
pub fn times(subject: &Subject<'_>) -> Option<Plot> {
    let mut lines: Vec<(String, Vec<f64>)> = Vec::new();
    for column in &subject.scores.columns {
        let mut seconds: Vec<f64> = subject.units(column).map(|record| record.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        if !seconds.is_empty() {
            lines.push((column.name(), seconds));
        }
    }
    let all = || lines.iter().flat_map(|(_, seconds)| seconds.iter().copied());
    let low = all().fold(f64::INFINITY, f64::min).max(1e-4);
    let high = all().fold(0.0, f64::max);
    if lines.is_empty() || high <= 0.0 {
        return None;
    }
    let bottom = 8.0 + ROW * lines.len() as f64;
    let names = lines.iter().map(|(name, _)| name.as_str());
    let frame = Frame { left: room_for(names) + 24.0, right: 640.0, top: 8.0, bottom };
    let mut drawing = Drawing::new(760.0, bottom + 42.0);
    let scale = Scale::logarithmic((low, high), (frame.left, frame.right));
    frame.horizontal_axis(&mut drawing, &scale, 8, "seconds a unit");
    for (place, (name, seconds)) in lines.iter().enumerate() {
        let y = frame.top + ROW * (place as f64 + 0.5);
        let quantile = |share: f64| seconds[nearest(share * (seconds.len() - 1) as f64)];
        let [least, lower, median, upper, most] = [0.0, 0.25, 0.5, 0.75, 1.0].map(quantile);
        let total = duration(seconds.iter().sum());
        drawing.text((frame.left - 12.0, y + 4.0), "name end", name);
        drawing.line((frame.left, y), (frame.right, y), "row");
        drawing.line((scale.at(least), y), (scale.at(most), y), "whisker");
        let (left, right) = (scale.at(lower), scale.at(upper));
        drawing.rectangle((left, y - 5.0), ((right - left).max(1.0), 10.0), "box", "", "");
        let hint =
            format!("{name}: median {median:.3} s, {least:.3} to {most:.3} s, together {total}");
        drawing.disc((scale.at(median), y), 4.5, "mark", &hint);
        drawing.text((frame.right + 12.0, y + 4.0), "value", &total);
    }
    Some(Plot {
        title: "Time by method".into(),
        svg: drawing.into_inline("Time by method"),
        note: "Each unit is one trial of one pair with its whole grid. Dot: median; box: quartiles; line: range; \
               right: the sum over all units."
            .into(),
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
fn nearest(place: f64) -> usize {
    place.round() as usize
}
