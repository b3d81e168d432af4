//! Two moons: the decision boundary of OT-Laplace at several rotations (section 5.1).
//!
//! The first trial of seed 1, as in Table 1: λ and η are chosen on the labels of the target samples.

use anyhow::{Context as _, Result};
use datasets::{Library, TwoMoons};
use ndarray::ArrayView2;
use rayon::prelude::*;

use super::scene::{Panel, STYLE};
use crate::config::{Block, Classifier, Data, MethodConfig, Pair, Point, Selection};
use crate::experiment::Tasks;
use crate::methods::{METHODS, Method, Problem, Queries};
use crate::progress::DownloadBars;
use crate::report::svg::Drawing;
use crate::unit::accuracy;
use crate::unit::choose;

const SEED: u64 = 1;
const ANGLES: [u16; 4] = [0, 20, 40, 90];

pub fn draw(library: &Library) -> Result<String> {
    let method = METHODS.iter().find(|method| method.id == "ot-laplace");
    let method = method.context("OT-Laplace is not registered")?;
    let pairs = ANGLES.map(|angle| Pair { source: "0".into(), target: angle.to_string() });
    let block = Block {
        prefix: String::new(),
        data: Data::TwoMoons(TwoMoons::default()),
        selection: Selection::Target,
        pairs: pairs.to_vec(),
    };
    let tasks = Tasks::prepare(&block, SEED, library, &DownloadBars::new(false))?;
    let panels: Vec<Drawn> = pairs
        .par_iter()
        .enumerate()
        .map(|(place, pair)| panel(place, pair, &tasks, method))
        .collect::<Result<_>>()?;
    let mut drawing = Drawing::new(1010.0, 282.0);
    for panel in panels {
        panel.draw(&mut drawing)?;
    }
    Ok(drawing.into_file("Decision boundaries of OT-Laplace on two moons", STYLE))
}

/// What a panel shows.
struct Drawn {
    panel: Panel,
    title: String,
    task: crate::experiment::Task,
    config: MethodConfig,
    method: &'static Method,
    /// None on the source itself, where nothing is to be adapted.
    chosen: Option<Point>,
}

fn panel(place: usize, pair: &Pair, tasks: &Tasks, method: &'static Method) -> Result<Drawn> {
    let panel = Panel {
        at: (10.0 + 250.0 * place as f64, 10.0),
        size: 240.0,
        from: (-1.35, -1.6),
        width: 3.7,
    };
    let config = MethodConfig::of_paper(method);
    let task = tasks.task(pair, 0)?;
    let (chosen, title) = if pair.target == pair.source {
        (None, "source domain".to_owned())
    } else {
        let points = config.grid.points();
        let (problem, truth) = task.selection(Classifier::Svm);
        let outcomes = (method.sweep)(&problem, &config, &points)?;
        let accuracies: Vec<f64> =
            outcomes.iter().map(|outcome| accuracy(&outcome.predicted, truth)).collect();
        let chosen = choose(&points, &accuracies).context("the grid is empty")?;
        let point = points[chosen].clone();
        let text =
            format!("{}°, λ = {}, η = {}", pair.target, point.get("lambda"), point.get("eta"));
        (Some(point), text)
    };
    Ok(Drawn { panel, title, task, config, method, chosen })
}

impl Drawn {
    fn draw(&self, drawing: &mut Drawing) -> Result<()> {
        let (problem, _) = self.task.test(Classifier::Svm);
        let classify = |queries: ArrayView2<'_, f64>| {
            let (problem, _) = self.task.test(Classifier::Svm);
            let asked = Problem { queries: Queries::Other(queries.view()), ..problem };
            match &self.chosen {
                None => asked.classify(asked.source.features.view()),
                Some(point) => {
                    let point = std::slice::from_ref(point);
                    let mut outcomes = (self.method.sweep)(&asked, &self.config, point)?;
                    Ok(outcomes.pop().context("the method skipped its point")?.predicted)
                }
            }
        };
        self.panel.regions(drawing, classify)?;
        if self.chosen.is_some() {
            self.panel.grey(drawing, problem.target);
        }
        self.panel.samples(drawing, problem.source.features.view(), &problem.source.labels);
        self.panel.frame(drawing, &self.title);
        Ok(())
    }
}
