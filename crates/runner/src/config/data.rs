//! The data of a config: which domains, which pairs of them, how much is drawn.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use datasets::{DataSet, OwnDomain, PAIR_CENTRE, SETS, SYNTHETIC_DOMAINS, Step, TwoMoons};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::pairs::{Pair, ordered_pairs};
use super::{Block, Selection, choose_pairs};
use crate::nearest_name::suggestion;

/// The paper's source draw.
const PAPER_SOURCE_PER_CLASS: usize = 20;
/// The paper's rotations of the two moons, in degrees.
const PAPER_ANGLES: [f64; 7] = [10.0, 20.0, 30.0, 40.0, 50.0, 70.0, 90.0];

const SYNTHETIC: &str = "synthetic";
const TWO_MOONS: &str = "two-moons";
/// The sets that need no files.
pub const GENERATED_SETS: [&str; 2] = [SYNTHETIC, TWO_MOONS];

/// Where the samples come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// A set of the catalogue, preprocessed and drawn.
    Catalogued {
        set: String,
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

impl Data {
    /// How much is drawn; two moons are generated to size.
    pub fn draw(&self) -> Option<&DrawConfig> {
        match self {
            Self::Catalogued { draw, .. }
            | Self::Own { draw, .. }
            | Self::Synthetic { draw, .. } => Some(draw),
            Self::TwoMoons(_) => None,
        }
    }

    /// How many samples a class are drawn of a source domain, and of a target with their labels.
    pub fn draw_sizes(&self, source: &str) -> Option<(usize, usize)> {
        let draw = self.draw()?;
        let catalogued = match self {
            Self::Catalogued { set, .. } => {
                DataSet::find(set).and_then(|set| set.domain(source)).ok()
            }
            Self::Own { .. } | Self::Synthetic { .. } | Self::TwoMoons(_) => None,
        };
        let usual = catalogued.map(|entry| entry.source_per_class);
        Some((draw.source_per_class(source, usual), draw.labelled_target_per_class))
    }

    /// What generates the samples anew in each trial; files and benchmarks have checksums instead.
    pub fn generator(&self) -> Option<&TwoMoons> {
        match self {
            Self::TwoMoons(moons) => Some(moons),
            Self::Catalogued { .. } | Self::Own { .. } | Self::Synthetic { .. } => None,
        }
    }
}

/// How many samples a class are drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DrawConfig {
    /// Of the source, unless `source_per_class_of` has the domain.
    source_per_class: Option<usize>,
    source_per_class_of: BTreeMap<String, usize>,
    /// Of the target, with their labels: the semi-supervised setting of Table 5.
    pub labelled_target_per_class: usize,
}

impl DrawConfig {
    /// The number for one source domain: its own if the config gives one, then the config's usual number,
    /// then the catalogue's.
    fn source_per_class(&self, domain: &str, catalogued: Option<usize>) -> usize {
        self.source_per_class_of
            .get(domain)
            .copied()
            .or(self.source_per_class)
            .or(catalogued)
            .unwrap_or(PAPER_SOURCE_PER_CLASS)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawData {
    set: Option<String>,
    domains: Option<IndexMap<String, OwnDomain>>,
    pairs: Option<Vec<String>>,
    preprocessing: Option<Vec<Step>>,
    two_moons: Option<RawTwoMoons>,
    #[serde(default)]
    skip_missing: bool,
    #[serde(default)]
    prefix: String,
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
pub(super) struct RawDraw {
    source_per_class: Option<usize>,
    #[serde(default)]
    source_per_class_of: BTreeMap<String, usize>,
    #[serde(default)]
    labelled_target_per_class: usize,
}

/// A block and every pair that its data allow.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub block: Block,
    pub available: Vec<Pair>,
}

/// The blocks of a config, complete.
pub(super) fn check_blocks(
    raw: Vec<RawData>,
    draw: Option<RawDraw>,
    selection: Option<Selection>,
    config_folder: &Path,
) -> Result<Vec<Candidate>> {
    ensure!(!raw.is_empty(), "[[data]] is empty: add set = \"office-surf\", for example");
    let has_draw = draw.is_some();
    let draw = draw.unwrap_or_default();
    let draw = DrawConfig {
        source_per_class: draw.source_per_class,
        source_per_class_of: draw.source_per_class_of,
        labelled_target_per_class: draw.labelled_target_per_class,
    };
    let candidates = raw
        .into_iter()
        .map(|raw| check_block(raw, &draw, selection, config_folder))
        .collect::<Result<Vec<_>>>()?;
    ensure!(
        !has_draw || candidates.iter().any(|candidate| candidate.block.data.draw().is_some()),
        "[draw] does not apply to two moons: their sizes are in [data.two_moons]"
    );
    check_draw_names(&draw, &candidates)?;
    for (place, Candidate { block, .. }) in candidates.iter().enumerate() {
        for earlier in candidates[..place].iter().map(|candidate| &candidate.block) {
            let same = block.pairs.iter().find(|pair| earlier.pairs.contains(pair));
            if let Some(pair) = same.filter(|_| block.prefix == earlier.prefix) {
                bail!(
                    "pair {pair} is in two [[data]] blocks: give each a prefix of its own, such as \
                     prefix = \"L6-\""
                );
            }
        }
    }
    Ok(candidates)
}

fn check_block(
    mut raw: RawData,
    draw: &DrawConfig,
    selection: Option<Selection>,
    config_folder: &Path,
) -> Result<Candidate> {
    let (prefix, written) = (std::mem::take(&mut raw.prefix), raw.pairs.take());
    let (data, available) = check_data(raw, draw, config_folder)?;
    let is_moons = matches!(data, Data::TwoMoons(_));
    ensure!(
        !is_moons || selection != Some(Selection::Validation),
        "two moons have no validation half: write selection = \"target\", or leave it out"
    );
    let usual = if is_moons { Selection::Target } else { Selection::Validation };
    let pairs = choose_pairs(written.as_deref(), &available, is_moons)?;
    let block = Block { prefix, data, selection: selection.unwrap_or(usual), pairs };
    Ok(Candidate { block, available })
}

/// The data and every pair that it allows.
fn check_data(raw: RawData, draw: &DrawConfig, config_folder: &Path) -> Result<(Data, Vec<Pair>)> {
    let RawData { set, domains, preprocessing, two_moons, skip_missing, .. } = raw;
    ensure!(
        two_moons.is_none() || set.as_deref() == Some(TWO_MOONS),
        "[data.two_moons] needs set = \"{TWO_MOONS}\""
    );
    let draw = draw.clone();
    let (data, names) = match (set.as_deref(), domains) {
        (Some(set), Some(_)) => {
            bail!("[data] has both set = {set:?} and domains: keep one of them")
        }
        (None, None) => {
            bail!("[data] names neither a set nor domains: add set = \"office-surf\", for example")
        }
        (Some(TWO_MOONS), None) => {
            ensure!(preprocessing.is_none(), "two moons are generated and not preprocessed");
            return check_two_moons(two_moons.unwrap_or_default());
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
            (Data::Catalogued { set: set.id.to_owned(), preprocessing, draw, skip_missing }, names)
        }
        (None, Some(domains)) => {
            let names: Vec<String> = domains.keys().cloned().collect();
            let preprocessing = preprocessing.unwrap_or_default();
            let config_folder = config_folder.to_owned();
            (Data::Own { domains, config_folder, preprocessing, draw }, names)
        }
    };
    ensure!(
        !skip_missing || matches!(data, Data::Catalogued { .. }),
        "[data] skip_missing = true needs a published set"
    );
    Ok((data, ordered_pairs(&names)))
}

fn check_two_moons(raw: RawTwoMoons) -> Result<(Data, Vec<Pair>)> {
    let angles = raw.angles.unwrap_or(PAPER_ANGLES.to_vec());
    ensure!(!angles.is_empty(), "[data.two_moons] angles = []: name at least one angle");
    if let Some(angle) = angles.iter().find(|angle| !angle.is_finite()) {
        bail!("[data.two_moons] angles has {angle}: an angle is a number of degrees");
    }
    let pairs =
        angles.iter().map(|angle| Pair { source: "0".into(), target: angle.to_string() }).collect();
    let paper = TwoMoons::default();
    let moons = TwoMoons {
        source_per_class: raw.source_per_class.unwrap_or(paper.source_per_class),
        target_per_class: raw.target_per_class.unwrap_or(paper.target_per_class),
        test_samples: raw.test_samples.unwrap_or(paper.test_samples),
        noise: raw.noise.unwrap_or(paper.noise),
        angle: paper.angle,
        centre: raw.centre.unwrap_or(PAIR_CENTRE),
    };
    Ok((Data::TwoMoons(moons), pairs))
}

fn check_draw_names(draw: &DrawConfig, candidates: &[Candidate]) -> Result<()> {
    let mut names: Vec<&str> = candidates
        .iter()
        .filter(|candidate| candidate.block.data.draw().is_some())
        .flat_map(|candidate| candidate.available.iter().map(|pair| pair.source.as_str()))
        .collect();
    names.dedup();
    if let Some(unknown) =
        draw.source_per_class_of.keys().find(|name| !names.contains(&name.as_str()))
    {
        bail!(
            "[draw] source_per_class_of names domain {unknown:?}.{} Known are {}",
            suggestion(unknown, names.iter().copied()),
            names.join(", ")
        );
    }
    Ok(())
}
