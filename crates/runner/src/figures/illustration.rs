//! The approach in three panels: a classifier of the source, the transport of the source samples with class
//! regularization (eq. `cuturigroup`), and a classifier of the moved samples.

use anyhow::Result;
use baselines::{SvmGrid, classify_by_svm};
use datasets::Library;
use ndarray::{Axis, concatenate};
use solvers::cost::{Metric, cost_matrix};
use solvers::entropic::Workspace;
use solvers::gcg::{GcgOptions, GcgProblem, solve_gcg};
use solvers::mapping::{Barycenter, barycentric_map};
use solvers::marginals::uniform_mass;
use solvers::regularizers::GroupLasso;

use super::clouds::ellipse;
use super::scene::{Panel, STYLE};
use crate::report::svg::Drawing;

/// Samples in each class of the source, and of the target.
const SIZES: (usize, usize) = (45, 55);
const LAMBDA: f64 = 0.05;
const ETA: f64 = 0.2;

pub fn draw(_: &Library) -> Result<String> {
    let cloud =
        |count: usize, centre: [f64; 2], angle: f64| ellipse(count, centre, [0.95, 0.45], angle);
    let source =
        concatenate![Axis(0), cloud(SIZES.0, [-1.6, 1.3], 0.0), cloud(SIZES.0, [-1.6, -0.9], 0.0)];
    // The target: the source turned by −30° about its centre, and moved.
    let target = concatenate![
        Axis(0),
        cloud(SIZES.1, [1.75, 0.45], -30.0),
        cloud(SIZES.1, [0.65, -1.45], -30.0)
    ];
    let labels: Vec<usize> = (0..2 * SIZES.0).map(|place| place / SIZES.0).collect();
    let cost = cost_matrix(source.view(), target.view(), Metric::SquaredEuclidean)?;
    let (source_mass, target_mass) = (uniform_mass(source.nrows()), uniform_mass(target.nrows()));
    let problem = GcgProblem {
        cost: cost.view(),
        source_mass: &source_mass,
        target_mass: &target_mass,
        entropy_weight: LAMBDA,
        regularizer: &GroupLasso::new(&labels),
        regularization_weight: ETA,
    };
    let solution = solve_gcg(&problem, None, &mut Workspace::default(), &GcgOptions::default())?;
    let moved =
        barycentric_map(solution.plan.view(), target.view(), Barycenter::Mean, source.view())?;

    let panel = |place: f64| Panel {
        at: (10.0 + 310.0 * place, 10.0),
        size: 300.0,
        from: (-2.9, -2.9),
        width: 5.9,
    };
    let mut drawing = Drawing::new(940.0, 340.0);
    let classify = |samples: &ndarray::Array2<f64>, queries: ndarray::ArrayView2<'_, f64>| {
        Ok(classify_by_svm(samples.view(), &labels, queries, &SvmGrid::default())?)
    };
    panel(0.0).regions(&mut drawing, |queries| classify(&source, queries))?;
    panel(0.0).grey(&mut drawing, target.view());
    panel(0.0).samples(&mut drawing, source.view(), &labels);
    panel(0.0).frame(&mut drawing, "source, its classifier, and target");

    let middle = panel(1.0);
    middle.grey(&mut drawing, target.view());
    for (from, to) in source.rows().into_iter().zip(moved.rows()) {
        drawing.line(middle.place(from), middle.place(to), "link");
    }
    middle.samples(&mut drawing, source.view(), &labels);
    middle.samples(&mut drawing, moved.view(), &labels);
    middle.frame(&mut drawing, "transport");

    panel(2.0).regions(&mut drawing, |queries| classify(&moved, queries))?;
    panel(2.0).grey(&mut drawing, target.view());
    panel(2.0).samples(&mut drawing, moved.view(), &labels);
    panel(2.0).frame(&mut drawing, "classifier of the moved samples");
    Ok(drawing.into_file("Illustration of domain adaptation by optimal transport", STYLE))
}
