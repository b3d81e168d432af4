//! The registry of methods: one entry drives the config's names, the tables' columns and `--help`.

use anyhow::Result;

use crate::experiment::Task;

/// A way to label the target with the source's labels.
#[derive(Debug)]
pub struct Method {
    /// The name in configs.
    pub id: &'static str,
    /// The paper's name for it, and the column's title.
    pub title: &'static str,
    /// Labels the test samples of a task.
    pub predict: fn(&Task) -> Result<Vec<usize>>,
}

/// Every method, in the paper's order.
pub static METHODS: &[Method] = &[Method { id: "1nn", title: "1NN", predict: nearest_neighbour }];

fn nearest_neighbour(task: &Task) -> Result<Vec<usize>> {
    Ok(baselines::classify_by_nearest(
        task.source.features.view(),
        &task.source.labels,
        task.test.features.view(),
    )?)
}
