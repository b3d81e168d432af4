//! Axes with ticks, grid lines and names.

use crate::report::scale::Scale;
use crate::report::svg::Drawing;

/// The room that the longest of some names takes, at the size of names.
pub fn room_for<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    7.6 * names.map(|name| name.chars().count()).max().unwrap_or(0) as f64
}

/// The rectangle that a plot's data are in.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// Vertical lines at the ticks of a horizontal scale, with their texts below, and the axis's name.
    pub fn horizontal_axis(&self, drawing: &mut Drawing, scale: &Scale, most: usize, name: &str) {
        for (value, text) in scale.ticks(most) {
            let x = scale.at(value);
            drawing.line((x, self.top), (x, self.bottom), "grid");
            drawing.text((x, self.bottom + 16.0), "tick middle", &text);
        }
        let middle = f64::midpoint(self.left, self.right);
        drawing.text((middle, self.bottom + 34.0), "axis-name middle", name);
    }

    /// Horizontal lines at the ticks of a vertical scale, with their texts to the left, and the axis's name.
    pub fn vertical_axis(&self, drawing: &mut Drawing, scale: &Scale, most: usize, name: &str) {
        for (value, text) in scale.ticks(most) {
            let y = scale.at(value);
            drawing.line((self.left, y), (self.right, y), "grid");
            drawing.text((self.left - 6.0, y + 3.5), "tick end", &text);
        }
        drawing.upward_text((self.left - 52.0, f64::midpoint(self.top, self.bottom)), name);
    }
}
