//! The config of an experiment: as checked (`Experiment`: every name in it exists, every default is filled in).

mod data;
mod grid;
mod methods;
mod pairs;
mod place;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::cli::RunArguments;

use data::{Candidate, RawData, RawDraw, check_blocks};
pub use data::{Data, GENERATED_SETS};
pub use grid::{Grid, Point};
pub use methods::{MethodConfig, TargetLabels};
use methods::{RawMethods, choose_methods};
pub use pairs::Pair;
use pairs::{choose_pairs, restrict_to_pairs};
use place::ConfigText;

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
    #[serde(default)]
    classifier: Classifier,
    selection: Option<Selection>,
    data: Option<OneOrMany<RawData>>,
    draw: Option<RawDraw>,
    #[serde(default)]
    methods: RawMethods,
}

fn paper_trials() -> u64 {
    PAPER_TRIALS
}

/// `[data]`, or `[[data]]` several times.
#[derive(Debug)]
struct OneOrMany<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    // By hand: serde's untagged enums forget where in the file an error is.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Visitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a table")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<Self::Value, A::Error> {
                let one = T::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(OneOrMany(vec![one]))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut sequence: A,
            ) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = sequence.next_element()? {
                    all.push(one);
                }
                Ok(OneOrMany(all))
            }
        }
        deserializer.deserialize_any(Visitor(std::marker::PhantomData))
    }
}

impl Experiment {
    /// Reads a config and applies what the command line overrides.
    pub fn load(path: &Path, arguments: &RunArguments) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("cannot read the config {}; configs/ holds one for each table", path.display())
        })?;
        let text = ConfigText::new(path, &text);
        let raw: RawConfig =
            toml::from_str(text.text()).map_err(|problem| text.refusal(&problem))?;
        Self::check(raw, path, &text, arguments).with_context(|| path.display().to_string())
    }

    fn check(
        raw: RawConfig,
        path: &Path,
        text: &ConfigText<'_>,
        arguments: &RunArguments,
    ) -> Result<Self> {
        let trials = arguments.trials.unwrap_or(raw.trials);
        ensure!(trials > 0, "trials = 0: at least one trial is needed");
        ensure!(trials <= MAX_TRIALS, "trials = {trials}: at most {MAX_TRIALS} are possible");
        let seed = arguments.seed.or(raw.seed).context("there is no seed: add seed = 1")?;
        let raw_blocks =
            raw.data.context("there is no [data]: add [data] with set = \"office-surf\"")?.0;
        ensure!(!raw.methods.is_empty(), "there are no methods: add [methods.1nn], for example");
        let config_folder = path.parent().unwrap_or(Path::new(""));
        let config_blocks = check_blocks(raw_blocks, raw.draw, raw.selection, config_folder)?;
        let blocks = match &arguments.pairs {
            None => config_blocks.clone(),
            Some(written) => restrict_to_pairs(&config_blocks, written)?,
        };
        let (config_methods, methods) =
            choose_methods(raw.methods, arguments.methods.as_deref(), text)?;
        let is_partial = trials != raw.trials
            || raw.seed != Some(seed)
            || blocks != config_blocks
            || methods != config_methods;
        let blocks = blocks.into_iter().map(|Candidate { block, .. }| block).collect();
        let experiment = Self {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            seed,
            trials,
            classifier: raw.classifier,
            blocks,
            methods,
            is_partial,
        };
        experiment.check_sense()?;
        Ok(experiment)
    }

    /// What only the whole config shows.
    fn check_sense(&self) -> Result<()> {
        for method in &self.methods {
            for block in &self.blocks {
                method.check_block(block).with_context(|| format!("[methods.{}]", method.id))?;
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
