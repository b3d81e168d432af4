//! The config of an experiment: as written (`RawConfig`), and as checked (`Experiment`: every name in it exists, every
//! default is filled in).

mod data;
mod draw;
mod grid;
mod methods;
mod moons;
mod pairs;
mod place;
mod written;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::cli::{RunArguments, nearest_subcommand};
use crate::nearest_name::suggestion;

use data::{Candidate, RawData, check_blocks};
pub use data::{Data, GENERATED_SETS, find_set};
use draw::RawDraw;
pub use grid::{Grid, Point};
pub use methods::{MethodConfig, TargetLabels};
use methods::{RawMethods, check_methods, choose_methods};
pub use pairs::Pair;
use pairs::{choose_pairs, restrict_to_pairs};
use place::ConfigText;
use written::{Name, OneOrMany};

/// The paper's number of trials.
const PAPER_TRIALS: u64 = 10;
/// More trials than anybody needs; what comes of a slip must not fill the memory.
const MAX_TRIALS: u64 = 10_000;

/// An experiment, checked and complete: what its results depend on besides the data and the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Names the folder of the results.
    pub name: String,
    pub seed: u64,
    pub trials: u64,
    /// What labels the target once the samples are adapted.
    pub classifier: Classifier,
    pub blocks: Vec<Block>,
    pub methods: Vec<MethodConfig>,
    /// Whether the command line changes what the config runs.
    #[serde(skip)]
    pub is_partial: bool,
}

/// One set of domains with the pairs of it that are run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Stands before the methods' titles in the table; blocks with different prefixes stand side by side.
    pub prefix: String,
    pub data: Data,
    pub selection: Selection,
    pub pairs: Vec<Pair>,
}

/// The labels on which a grid point is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Those of the target's validation half, as in section 5.2 of the paper.
    Validation,
    /// Those of the target samples that are adapted to: an upper bound of what any selection can reach.
    Target,
}

/// What is trained on the adapted samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Classifier {
    /// The nearest neighbour, as in the paper's Tables 3 to 5.
    #[default]
    #[serde(rename = "1nn")]
    Nearest,
    /// A Gaussian support-vector machine with C and γ by 5-fold cross-validation, as in Table 1.
    #[serde(rename = "svm")]
    Svm,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConfig {
    seed: Option<u64>,
    #[serde(default = "paper_trials")]
    trials: u64,
    classifier: Option<Name<Classifier>>,
    selection: Option<Name<Selection>>,
    data: Option<OneOrMany<RawData>>,
    draw: Option<RawDraw>,
    #[serde(default)]
    methods: RawMethods,
}

fn paper_trials() -> u64 {
    PAPER_TRIALS
}

/// What a config says, apart from the command line.
struct Config {
    seed: Option<u64>,
    trials: u64,
    classifier: Classifier,
    candidates: Vec<Candidate>,
    methods: Vec<MethodConfig>,
}

impl Config {
    fn check(raw: RawConfig, text: &ConfigText<'_>, folder: &Path) -> Result<Self> {
        check_trials(raw.trials)
            .with_context(|| format!("{}: trials = {}", text.key("trials"), raw.trials))?;
        let data = raw.data.context("there is no [data]: add [data] with set = \"office-surf\"")?.0;
        ensure!(!raw.methods.is_empty(), "there are no methods: add [methods.1nn], for example");
        let selection = raw.selection.map(|Name(selection)| selection);
        Ok(Self {
            seed: raw.seed,
            trials: raw.trials,
            classifier: raw.classifier.map_or_else(Classifier::default, |Name(own)| own),
            candidates: check_blocks(data, raw.draw, selection, text, folder)?,
            methods: check_methods(raw.methods, text)?,
        })
    }
}

fn check_trials(trials: u64) -> Result<()> {
    match trials {
        0 => bail!("at least one trial is needed"),
        1..=MAX_TRIALS => Ok(()),
        _ => bail!("at most {MAX_TRIALS} are possible"),
    }
}

impl Experiment {
    /// Reads a config and applies what the command line overrides.
    pub fn load(path: &Path, arguments: &RunArguments) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| cannot_read(path))?;
        let text = ConfigText::new(path, &bytes)?;
        let raw: RawConfig =
            toml::from_str(text.text()).map_err(|problem| text.refusal(&problem))?;
        let named = || path.display().to_string();
        let folder = path.parent().unwrap_or(Path::new(""));
        let config = Config::check(raw, &text, folder).with_context(named)?;

        let seed = arguments.seed.or(config.seed);
        let seed = seed.context("there is no seed: add seed = 1").with_context(named)?;
        let trials = arguments.trials.unwrap_or(config.trials);
        check_trials(trials).with_context(|| format!("--trials {trials}"))?;
        let candidates = match &arguments.pairs {
            None => config.candidates.clone(),
            Some(written) => restrict_to_pairs(&config.candidates, written).context("--pairs")?,
        };
        let methods = match &arguments.methods {
            None => config.methods.clone(),
            Some(asked) => choose_methods(&config.methods, asked).context("--methods")?,
        };
        let is_partial = trials != config.trials
            || config.seed != Some(seed)
            || candidates != config.candidates
            || methods != config.methods;
        let experiment = Self {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            seed,
            trials,
            classifier: config.classifier,
            blocks: candidates.into_iter().map(|candidate| candidate.block).collect(),
            methods,
            is_partial,
        };
        experiment.check_sense(&config.methods, &text).with_context(named)?;
        Ok(experiment)
    }

    /// What only the whole config shows. A method that the command line alone names has no place in it.
    fn check_sense(&self, configured: &[MethodConfig], text: &ConfigText<'_>) -> Result<()> {
        for method in &self.methods {
            let MethodConfig { id, .. } = method;
            let named = || {
                if configured.iter().any(|own| own.id == *id) {
                    format!("{}: [methods.{id}]", text.key("methods").key(id))
                } else {
                    format!("--methods {id}")
                }
            };
            for block in &self.blocks {
                method.check_block(block).with_context(named)?;
            }
        }
        Ok(())
    }

    /// Where the tables go: what the command line changed must not replace the config's own results.
    pub fn default_folder(&self) -> PathBuf {
        let folder = Path::new("results").join(&self.name);
        if self.is_partial { folder.join("partial") } else { folder }
    }
}

/// Names the config that may be meant, or the subcommand.
fn cannot_read(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let others: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|other| other.extension().is_some_and(|extension| extension == "toml"))
        .filter_map(|other| Some(other.file_name()?.to_string_lossy().into_owned()))
        .filter(|other| Some(other.as_ref()) != path.file_name())
        .collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let nearest = match nearest_subcommand(&name) {
        nothing if nothing.is_empty() => suggestion(&name, others.iter().map(String::as_str)),
        subcommand => subcommand,
    };
    format!("cannot read the config {}.{nearest} configs/ holds one for each table", path.display())
}
