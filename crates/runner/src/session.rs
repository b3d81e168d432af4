//! `journal.time.json`: when the runs of a journal began and how long they took, so that a resumed run counts those that
//! were interrupted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::manifest::{Manifest, timestamp};

const FILE: &str = "journal.time.json";

/// The time of some runs together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// When the first of them began, in UTC.
    pub started: String,
    /// How long they took; of one that was killed until its last unit.
    pub seconds: f64,
}

/// The present run, and the time of those before it.
pub struct Session {
    path: PathBuf,
    begun: Instant,
    before: Mutex<Spent>,
}

impl Session {
    /// Begins a run. With units in the journal, it goes on with them.
    pub fn begin(folder: &Path, has_units: bool) -> Self {
        let path = folder.join(FILE);
        let kept = || serde_json::from_slice(&fs::read(&path).ok()?).ok();
        // A journal from before the time was kept: the manifest has that of its last run.
        let of_manifest = || {
            let origin = Manifest::read(folder).ok()?.origin;
            Some(Spent { started: origin.started, seconds: origin.seconds })
        };
        let before = has_units.then(|| kept().or_else(of_manifest)).flatten();
        Self { path, begun: Instant::now(), before: Mutex::new(before.unwrap_or_else(nothing)) }
    }

    /// What was done before is not part of this run.
    pub fn forget(&self) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = nothing();
    }

    /// The time until now.
    pub fn spent(&self) -> Spent {
        let Spent { started, seconds } =
            self.before.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Spent { started, seconds: seconds + self.begun.elapsed().as_secs_f64() }
    }

    /// Writes it down, in case this run is killed.
    pub fn keep(&self) -> Result<()> {
        fs::write(&self.path, serde_json::to_vec(&self.spent())?)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn nothing() -> Spent {
    Spent { started: timestamp(SystemTime::now()), seconds: 0.0 }
}
