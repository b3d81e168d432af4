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

/// The run that made the results; of one that was resumed, the program and the machine are the last ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    pub program: Program,
    pub machine: Machine,
    /// When it began, in UTC.
    pub started: String,
    /// How long it took, without the time between an interrupt and the command that went on.
    pub seconds: f64,
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub release: String,
    pub revision: String,
    /// A hash of the sources that draw: runs with different ones are not compared. Empty in folders from before it was
    /// kept, whose draws are unlike any of today.
    #[serde(default)]
    pub draws: String,
    /// Hashes of the other sources that results depend on.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::RunArguments;

    #[test]
    fn a_manifest_from_before_draws_had_a_hash_is_read() {
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/quick.toml");
        let mut manifest = Manifest {
            command: "cargo run -p runner -- configs/quick.toml".into(),
            experiment: Experiment::load(&config, &RunArguments::default()).unwrap(),
            checksums: vec![Vec::new(), vec![("S1".into(), "0a".into())]],
            left_out: Vec::new(),
            origin: Origin {
                program: Program::this(),
                machine: Machine::this(),
                started: timestamp(SystemTime::UNIX_EPOCH),
                seconds: 0.5,
            },
            unit_seconds: 1.0 / 3.0,
            units: 1,
            failed: 0,
        };
        let folder = tempfile::tempdir().unwrap();
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);

        let path = folder.path().join(FILE);
        let mut json: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        json["program"].as_object_mut().unwrap().remove("draws").unwrap();
        fs::write(&path, json.to_string()).unwrap();
        manifest.origin.program.draws = String::new();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        assert_ne!(version::DRAWS, "", "it is another than that of any program");
    }
}
