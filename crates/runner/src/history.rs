//! `history.json`: objective and gap over the iterations of one unit's solve, part of a folder's store.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::config::Point;

/// The history's file in a folder of results.
pub const FILE: &str = "history.json";

/// One solve by the generalized conditional gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The unit's hash: a history of other results is not shown with these.
    pub key: String,
    /// The method's column.
    pub title: String,
    pub pair: String,
    /// From 1.
    pub trial: u64,
    pub point: Point,
    pub iterations: usize,
    pub stop: String,
    pub steps: Vec<Step>,
}

/// One iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub objective: f64,
    pub gap: f64,
}

impl History {
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let text = serde_json::to_string(self)? + "\n";
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// None if the folder has none.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let history = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a history: remove it", path.display()))?;
        Ok(Some(history))
    }
}
