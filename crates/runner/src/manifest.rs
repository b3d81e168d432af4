//! `manifest.json`: what made the results of a folder.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::config::Experiment;
use crate::version;

const FILE: &str = "manifest.json";

/// Everything that is needed to make the results again, and to know what they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The command that makes them again.
    pub command: String,
    /// The config with every default filled in.
    pub experiment: Experiment,
    /// SHA-1 of each domain's samples after preprocessing, by block.
    pub checksums: Vec<Vec<(String, String)>>,
    /// Pairs of the config whose files could not be had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    #[serde(flatten)]
    pub origin: Origin,
    /// The sum over the units, whenever they ran.
    pub unit_seconds: f64,
    pub units: usize,
    pub failed: usize,
}

/// The run that made the results, or the last of several if it was resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    pub program: Program,
    pub machine: Machine,
    /// When it began, in UTC.
    pub started: String,
    /// How long it took, earlier runs of a resumed one not counted.
    pub seconds: f64,
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub release: String,
    pub revision: String,
    /// Hashes of the sources that results depend on.
    pub draws: String,
    pub protocol: String,
    pub solvers: String,
    pub baselines: String,
}

/// The machine that it ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub threads: usize,
}

impl Program {
    pub fn this() -> Self {
        Self {
            release: version::RELEASE.to_owned(),
            revision: version::REVISION.to_owned(),
            draws: version::DRAWS.to_owned(),
            protocol: version::PROTOCOL.to_owned(),
            solvers: version::SOLVERS.to_owned(),
            baselines: version::BASELINES.to_owned(),
        }
    }
}

impl Machine {
    pub fn this() -> Self {
        Self { cpu: cpu(), threads: rayon::current_num_threads() }
    }
}

impl Manifest {
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).with_context(|| {
            format!("cannot read {}: is {} a folder of results?", path.display(), folder.display())
        })?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is not a manifest of this program", path.display()))
    }
}

/// A moment as `2026-11-16T06:14:22Z`.
pub fn timestamp(moment: SystemTime) -> String {
    humantime::format_rfc3339_seconds(moment).to_string()
}

fn cpu() -> String {
    let described = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    described.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
