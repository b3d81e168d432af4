//! The config of an experiment: as written (`RawConfig`), and as checked (`Experiment`).

mod pairs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use datasets::{DataSet, OwnDomain, PAIR_CENTRE, SETS, SYNTHETIC_DOMAINS, Step, TwoMoons};
use indexmap::IndexMap;
use serde::Deserialize;

use crate::cli::RunArguments;
use crate::methods::{METHODS, Method};
use crate::nearest_name::suggestion;

pub use pairs::Pair;
use pairs::{choose_pairs, ordered_pairs};

/// The paper's number of trials.
const PAPER_TRIALS: u64 = 10;
/// The paper's source draw.
const PAPER_SOURCE_PER_CLASS: usize = 20;
/// The paper's rotations of the two moons, in degrees.
const PAPER_ANGLES: [f64; 7] = [10.0, 20.0, 30.0, 40.0, 50.0, 70.0, 90.0];

/// An experiment, checked: every name in it exists.
#[derive(Debug)]
pub struct Experiment {
    /// Names the folder of the results.
    pub name: String,
    pub seed: u64,
    pub trials: u64,
    pub data: Data,
    pub pairs: Vec<Pair>,
    pub methods: Vec<&'static Method>,
    /// Whether the command line changes what the config runs.
    pub is_partial: bool,
}

/// Where the samples come from.
#[derive(Debug)]
pub enum Data {
    /// A set of the catalogue, preprocessed and drawn.
    Catalogued {
        set: &'static DataSet,
        preprocessing: Vec<Step>,
        draw: DrawConfig,
        /// Whether pairs whose files cannot be had are left out.
        skip_missing: bool,
    },
    /// Files that the config names.
    Own {
        domains: IndexMap<String, OwnDomain>,
        config_folder: PathBuf,
        preprocessing: Vec<Step>,
        draw: DrawConfig,
    },
    /// The generated benchmark.
    Synthetic { preprocessing: Vec<Step>, draw: DrawConfig },
    /// Two moons; a pair's target is the angle in degrees.
    TwoMoons(TwoMoons),
}

/// How many source samples a class are drawn.
#[derive(Debug, Clone)]
pub struct DrawConfig {
    usual: Option<usize>,
    of_domain: BTreeMap<String, usize>,
}

impl DrawConfig {
    /// The number for one source domain: its own if the config gives one, then the config's usual number,
    /// then the catalogue's.
    pub fn source_per_class(&self, domain: &str, catalogued: Option<usize>) -> usize {
        self.of_domain
            .get(domain)
            .copied()
            .or(self.usual)
            .or(catalogued)
            .unwrap_or(PAPER_SOURCE_PER_CLASS)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConfig {
    seed: Option<u64>,
    #[serde(default = "paper_trials")]
    trials: u64,
    data: Option<RawData>,
    draw: Option<RawDraw>,
    #[serde(default)]
    methods: IndexMap<String, toml::Table>,
}

fn paper_trials() -> u64 {
    PAPER_TRIALS
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawData {
    set: Option<String>,
    domains: Option<IndexMap<String, OwnDomain>>,
    pairs: Option<Vec<String>>,
    preprocessing: Option<Vec<Step>>,
    two_moons: Option<RawTwoMoons>,
    #[serde(default)]
    skip_missing: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTwoMoons {
    angles: Option<Vec<f64>>,
    source_per_class: Option<usize>,
    target_per_class: Option<usize>,
    test_samples: Option<usize>,
    noise: Option<f64>,
    centre: Option<[f64; 2]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDraw {
    source_per_class: Option<usize>,
    #[serde(default)]
    source_per_class_of: BTreeMap<String, usize>,
}

const SYNTHETIC: &str = "synthetic";
const TWO_MOONS: &str = "two-moons";
/// The sets that need no files.
pub const GENERATED_SETS: [&str; 2] = [SYNTHETIC, TWO_MOONS];
/// More trials than anybody needs; what comes of a slip must not fill the memory.
const MAX_TRIALS: u64 = 10_000;

impl Experiment {
    /// Reads a config and applies what the command line overrides.
    pub fn load(path: &Path, arguments: &RunArguments) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("cannot read the config {}; configs/ holds one for each table", path.display())
        })?;
        let raw: RawConfig = toml::from_str(&text)
            .map_err(|problem| anyhow::anyhow!("{}: {problem}", path.display()))?;
        Self::check(raw, path, arguments).with_context(|| path.display().to_string())
    }

    fn check(raw: RawConfig, path: &Path, arguments: &RunArguments) -> Result<Self> {
        let trials = arguments.trials.unwrap_or(raw.trials);
        ensure!(trials > 0, "trials = 0: at least one trial is needed");
        ensure!(trials <= MAX_TRIALS, "trials = {trials}: at most {MAX_TRIALS} are possible");
        let seed = arguments.seed.or(raw.seed).context("there is no seed: add seed = 1")?;
        let raw_data =
            raw.data.context("there is no [data]: add [data] with set = \"office-surf\"")?;
        ensure!(!raw.methods.is_empty(), "there are no methods: add [methods.1nn], for example");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let config_folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let written_pairs = raw_data.pairs.clone();
        let (data, available) = check_data(raw_data, raw.draw, config_folder)?;
        let has_angles = matches!(data, Data::TwoMoons(_));
        let config_pairs = choose_pairs(written_pairs.as_deref(), &available, has_angles)?;
        let pairs = match &arguments.pairs {
            None => config_pairs.clone(),
            written => choose_pairs(written.as_deref(), &available, has_angles)?,
        };
        for (method, settings) in &raw.methods {
            if let Some(key) = settings.keys().next() {
                bail!("[methods.{method}] has no setting {key:?}: leave it empty");
            }
        }
        let config_methods = check_methods(&raw.methods.into_keys().collect::<Vec<_>>())?;
        let methods = match &arguments.methods {
            None => config_methods.clone(),
            Some(written) => check_methods(written)?,
        };
        let ids = |methods: &[&Method]| methods.iter().map(|method| method.id).collect::<Vec<_>>();
        let is_partial = trials != raw.trials
            || raw.seed != Some(seed)
            || pairs != config_pairs
            || ids(&methods) != ids(&config_methods);
        Ok(Self { name, seed, trials, data, pairs, methods, is_partial })
    }

    /// Where the tables go: what the command line changed must not replace the config's own results.
    pub fn default_folder(&self) -> PathBuf {
        let folder = Path::new("results").join(&self.name);
        if self.is_partial { folder.join("partial") } else { folder }
    }
}

/// The data and every pair that it allows.
fn check_data(
    raw: RawData,
    draw: Option<RawDraw>,
    config_folder: PathBuf,
) -> Result<(Data, Vec<Pair>)> {
    let RawData { set, domains, preprocessing, two_moons, skip_missing, .. } = raw;
    let has_draw = draw.is_some();
    let draw = draw.unwrap_or_default();
    let draw = DrawConfig { usual: draw.source_per_class, of_domain: draw.source_per_class_of };
    ensure!(
        two_moons.is_none() || set.as_deref() == Some(TWO_MOONS),
        "[data.two_moons] needs set = \"{TWO_MOONS}\""
    );
    let (data, names) = match (set.as_deref(), domains) {
        (Some(set), Some(_)) => {
            bail!("[data] has both set = {set:?} and domains: keep one of them")
        }
        (None, None) => {
            bail!("[data] names neither a set nor domains: add set = \"office-surf\", for example")
        }
        (Some(TWO_MOONS), None) => {
            ensure!(preprocessing.is_none(), "two moons are generated and not preprocessed");
            ensure!(
                !has_draw,
                "[draw] does not apply to two moons: their sizes are in [data.two_moons]"
            );
            let raw = two_moons.unwrap_or_default();
            let angles = raw.angles.clone().unwrap_or(PAPER_ANGLES.to_vec());
            ensure!(!angles.is_empty(), "[data.two_moons] angles = []: name at least one angle");
            if let Some(angle) = angles.iter().find(|angle| !angle.is_finite()) {
                bail!("[data.two_moons] angles has {angle}: an angle is a number of degrees");
            }
            let pairs: Vec<Pair> = angles
                .iter()
                .map(|angle| Pair { source: "0".into(), target: angle.to_string() })
                .collect();
            return Ok((Data::TwoMoons(raw.resolve()), pairs));
        }
        (Some(SYNTHETIC), None) => {
            let names = SYNTHETIC_DOMAINS.iter().map(ToString::to_string).collect();
            (Data::Synthetic { preprocessing: preprocessing.unwrap_or_default(), draw }, names)
        }
        (Some(id), None) => {
            let set = DataSet::find(id).map_err(|_| {
                let known = || SETS.iter().map(|set| set.id).chain(GENERATED_SETS);
                anyhow::anyhow!(
                    "[data] set = {id:?} is not known.{} Known are {}",
                    suggestion(id, known()),
                    known().collect::<Vec<_>>().join(", ")
                )
            })?;
            let names = set.domains.iter().map(|domain| domain.abbreviation.to_owned()).collect();
            let preprocessing = preprocessing.unwrap_or_else(|| set.preprocessing.to_vec());
            (Data::Catalogued { set, preprocessing, draw, skip_missing }, names)
        }
        (None, Some(domains)) => {
            let names: Vec<String> = domains.keys().cloned().collect();
            let preprocessing = preprocessing.unwrap_or_default();
            (Data::Own { domains, config_folder, preprocessing, draw }, names)
        }
    };
    ensure!(
        !skip_missing || matches!(data, Data::Catalogued { .. }),
        "[data] skip_missing = true needs a published set"
    );
    check_draw_names(&data, &names)?;
    Ok((data, ordered_pairs(&names)))
}

fn check_draw_names(data: &Data, names: &[String]) -> Result<()> {
    let (Data::Catalogued { draw, .. } | Data::Own { draw, .. } | Data::Synthetic { draw, .. }) =
        data
    else {
        return Ok(());
    };
    if let Some(unknown) = draw.of_domain.keys().find(|name| !names.contains(name)) {
        bail!(
            "[draw] source_per_class_of names domain {unknown:?}, which is not one of {}",
            names.join(", ")
        );
    }
    Ok(())
}

impl RawTwoMoons {
    fn resolve(self) -> TwoMoons {
        let paper = TwoMoons::default();
        TwoMoons {
            source_per_class: self.source_per_class.unwrap_or(paper.source_per_class),
            target_per_class: self.target_per_class.unwrap_or(paper.target_per_class),
            test_samples: self.test_samples.unwrap_or(paper.test_samples),
            noise: self.noise.unwrap_or(paper.noise),
            angle: paper.angle,
            centre: self.centre.unwrap_or(PAIR_CENTRE),
        }
    }
}

/// The methods in the registry's order, which is the paper's.
fn check_methods(written: &[String]) -> Result<Vec<&'static Method>> {
    ensure!(!written.is_empty(), "no methods to run: add [methods.1nn], for example");
    if let Some(unknown) =
        written.iter().find(|name| !METHODS.iter().any(|method| method.id == **name))
    {
        let known = || METHODS.iter().map(|method| method.id);
        bail!(
            "there is no method {unknown:?}.{} Known are {}",
            suggestion(unknown, known()),
            known().collect::<Vec<_>>().join(", ")
        );
    }
    Ok(METHODS.iter().filter(|method| written.iter().any(|name| name == method.id)).collect())
}
