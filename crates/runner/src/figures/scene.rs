//! Points of the plane in a panel of a figure: samples, links, and the regions of a classifier.

use anyhow::Result;
use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::report::svg::Drawing;

pub const STYLE: &str = include_str!("style.css");

/// Points along each side at which a classifier is asked for its regions.
const SIDE: usize = 120;

/// The classes of the stylesheet for two labels.
const CLASSES: [[&str; 2]; 2] = [["one", "one-region"], ["two", "two-region"]];

/// A square part of the plane, drawn at a place.
#[derive(Debug, Clone, Copy)]
pub struct Panel {
    /// The upper left corner.
    pub at: (f64, f64),
    pub size: f64,
    /// The lower left corner of the plane's part.
    pub from: (f64, f64),
    pub width: f64,
}

impl Panel {
    pub fn place(&self, point: ArrayView1<'_, f64>) -> (f64, f64) {
        let scale = self.size / self.width;
        (
            self.at.0 + (point[0] - self.from.0) * scale,
            self.at.1 + self.size - (point[1] - self.from.1) * scale,
        )
    }

    pub fn frame(&self, drawing: &mut Drawing, title: &str) {
        drawing.rectangle(self.at, (self.size, self.size), "panel", "", "");
        let middle = self.at.0 + self.size / 2.0;
        drawing.text((middle, self.at.1 + self.size + 20.0), "middle", title);
    }

    /// Samples in the colours of their labels.
    pub fn samples(&self, drawing: &mut Drawing, samples: ArrayView2<'_, f64>, labels: &[usize]) {
        for (sample, label) in samples.rows().into_iter().zip(labels) {
            drawing.disc(self.place(sample), 2.6, CLASSES[label % 2][0], "");
        }
    }

    /// Samples without labels.
    pub fn grey(&self, drawing: &mut Drawing, samples: ArrayView2<'_, f64>) {
        for sample in samples.rows() {
            drawing.disc(self.place(sample), 2.2, "target", "");
        }
    }

    /// The regions of two classes and the boundary between them.
    pub fn regions(
        &self,
        drawing: &mut Drawing,
        classify: impl Fn(ArrayView2<'_, f64>) -> Result<Vec<usize>>,
    ) -> Result<()> {
        let step = self.width / SIDE as f64;
        let grid = Array2::from_shape_fn((SIDE * SIDE, 2), |(place, axis)| {
            let index = if axis == 0 { place % SIDE } else { place / SIDE };
            let origin = if axis == 0 { self.from.0 } else { self.from.1 };
            origin + (index as f64 + 0.5) * step
        });
        let labels = classify(grid.view())?;
        let label = |column: usize, row: usize| labels[row * SIDE + column] % 2;
        let size = self.size / SIDE as f64;
        let corner = |column: usize, row: usize| {
            (self.at.0 + column as f64 * size, self.at.1 + self.size - row as f64 * size)
        };
        for row in 0..SIDE {
            let mut start = 0;
            for column in 1..=SIDE {
                if column == SIDE || label(column, row) != label(start, row) {
                    let width = (column - start) as f64 * size;
                    let class = CLASSES[label(start, row)][1];
                    drawing.rectangle(corner(start, row + 1), (width, size), class, "", "");
                    start = column;
                }
            }
        }
        // Marching squares: between four neighbours, the boundary joins the middles of the sides that it crosses.
        let mut boundary = Vec::new();
        for (row, column) in (1..SIDE).flat_map(|row| (1..SIDE).map(move |column| (row, column))) {
            let (x, y) = corner(column, row);
            let half = size / 2.0;
            let around =
                [(column - 1, row - 1), (column, row - 1), (column, row), (column - 1, row)]
                    .map(|(column, row)| label(column, row));
            let sides = [(x, y + half), (x + half, y), (x, y - half), (x - half, y)];
            let crossed: Vec<(f64, f64)> = (0..4)
                .filter(|&side| around[side] != around[(side + 1) % 4])
                .map(|side| sides[side])
                .collect();
            boundary.extend(crossed.chunks_exact(2).map(|ends| (ends[0], ends[1])));
        }
        drawing.segments(&boundary, "boundary");
        Ok(())
    }
}
