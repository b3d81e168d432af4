//! The exact transport plan (eq. `gzero`) between two elliptic clouds.

use anyhow::Result;
use datasets::Library;
use solvers::cost::{Metric, cost_matrix};
use solvers::exact::{ExactOptions, solve_exact};
use solvers::marginals::uniform_mass;

use super::clouds::ellipse;
use super::scene::{Panel, STYLE};
use crate::report::svg::Drawing;

/// Not equally many, so that some samples exchange mass with several.
const SIZES: (usize, usize) = (70, 55);

pub fn draw(_: &Library) -> Result<String> {
    let source = ellipse(SIZES.0, [-1.4, -0.4], [1.5, 0.55], 70.0);
    let target = ellipse(SIZES.1, [1.6, 0.3], [1.5, 0.6], -25.0);
    let cost = cost_matrix(source.view(), target.view(), Metric::SquaredEuclidean)?;
    let (source_mass, target_mass) = (uniform_mass(SIZES.0), uniform_mass(SIZES.1));
    let solution = solve_exact(cost.view(), &source_mass, &target_mass, &ExactOptions::default())?;

    let panel = Panel { at: (10.0, -170.0), size: 460.0, from: (-2.4, -2.0), width: 5.6 };
    let mut drawing = Drawing::new(480.0, 300.0);
    for entry in solution.plan.iter().filter(|entry| entry.mass > 0.0) {
        let ends = (source.row(entry.source), target.row(entry.target));
        drawing.line(panel.place(ends.0), panel.place(ends.1), "link");
    }
    panel.samples(&mut drawing, source.view(), &[0; SIZES.0]);
    panel.samples(&mut drawing, target.view(), &[1; SIZES.1]);
    Ok(drawing.into_file("The optimal transport plan between two clouds of points", STYLE))
}
