//! The data of a config: which domains, which pairs of them, how much is drawn.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use datasets::{DataSet, OwnDomain, SETS, SYNTHETIC_DOMAINS, Step, TwoMoons};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::draw::{DrawConfig, RawDraw, check_draw, check_draw_names};
use super::moons::{RawTwoMoons, check_two_moons};
use super::pairs::{Pair, ordered_pairs};
use super::place::{ConfigText, Place};
use super::written::Name;
use super::{Block, Selection, choose_pairs};
use crate::nearest_name::suggestion;

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

    /// Whether what is scored are other samples than those that are adapted to.
    pub fn has_other_test_samples(&self) -> bool {
        self.generator().is_some()
    }

    /// What generates the samples anew in each trial; files and benchmarks have checksums instead.
    pub fn generator(&self) -> Option<&TwoMoons> {
        match self {
            Self::TwoMoons(moons) => Some(moons),
            Self::Catalogued { .. } | Self::Own { .. } | Self::Synthetic { .. } => None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawData {
    set: Option<String>,
    domains: Option<IndexMap<String, OwnDomain>>,
    pairs: Option<Vec<String>>,
    preprocessing: Option<Vec<Name<Step>>>,
    two_moons: Option<RawTwoMoons>,
    #[serde(default)]
    skip_missing: bool,
    #[serde(default)]
    prefix: String,
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
    text: &ConfigText<'_>,
    config_folder: &Path,
) -> Result<Vec<Candidate>> {
    let data = text.key("data");
    ensure!(!raw.is_empty(), "{data}: [[data]] is empty: add set = \"office-surf\", for example");
    let has_draw = draw.is_some();
    let draw = check_draw(draw.unwrap_or_default(), &text.key("draw"))?;
    let candidates = raw
        .into_iter()
        .enumerate()
        .map(|(number, raw)| {
            let candidate = check_block(raw, &draw, selection, &data.entry(number), config_folder)?;
            ensure!(
                selection != Some(Selection::Validation)
                    || !matches!(candidate.block.data, Data::TwoMoons(_)),
                "{}: two moons have no validation half: write selection = \"target\", or leave it out",
                text.key("selection")
            );
            Ok(candidate)
        })
        .collect::<Result<Vec<_>>>()?;
    ensure!(
        !has_draw || candidates.iter().any(|candidate| candidate.block.data.draw().is_some()),
        "{}: [draw] does not apply to two moons: their sizes are in [data.two_moons]",
        text.key("draw")
    );
    check_draw_names(&draw, &candidates, &text.key("draw"))?;
    for (number, Candidate { block, .. }) in candidates.iter().enumerate() {
        for earlier in candidates[..number].iter().map(|candidate| &candidate.block) {
            let same = block.pairs.iter().find(|pair| earlier.pairs.contains(pair));
            if let Some(pair) = same.filter(|_| block.prefix == earlier.prefix) {
                bail!(
                    "{}: pair {pair} is in two [[data]] blocks: give each a prefix of its own, such as \
                     prefix = \"L6-\"",
                    data.entry(number)
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
    place: &Place<'_>,
    config_folder: &Path,
) -> Result<Candidate> {
    let (prefix, written) = (std::mem::take(&mut raw.prefix), raw.pairs.take());
    let (data, available) = check_data(raw, draw, place, config_folder)?;
    let is_moons = matches!(data, Data::TwoMoons(_));
    let usual = if is_moons { Selection::Target } else { Selection::Validation };
    let pairs = choose_pairs(written.as_deref(), &available, is_moons, &place.key("pairs"))?;
    let block = Block { prefix, data, selection: selection.unwrap_or(usual), pairs };
    Ok(Candidate { block, available })
}

/// The data and every pair that it allows.
fn check_data(
    raw: RawData,
    draw: &DrawConfig,
    place: &Place<'_>,
    config_folder: &Path,
) -> Result<(Data, Vec<Pair>)> {
    let RawData { set, domains, preprocessing, two_moons, skip_missing, .. } = raw;
    let preprocessing: Option<Vec<Step>> =
        preprocessing.map(|steps| steps.into_iter().map(|Name(step)| step).collect());
    ensure!(
        two_moons.is_none() || set.as_deref() == Some(TWO_MOONS),
        "{}: [data.two_moons] needs set = \"{TWO_MOONS}\"",
        place.key("two_moons")
    );
    let draw = draw.clone();
    let (data, names) = match (set.as_deref(), domains) {
        (Some(set), Some(_)) => {
            bail!(
                "{}: [data] has both set = {set:?} and domains: keep one of them",
                place.key("set")
            )
        }
        (None, None) => bail!(
            "{place}: [data] names neither a set nor domains: add set = \"office-surf\", for example"
        ),
        (Some(TWO_MOONS), None) => {
            ensure!(
                preprocessing.is_none(),
                "{}: two moons are generated and not preprocessed",
                place.key("preprocessing")
            );
            return check_two_moons(two_moons.unwrap_or_default(), &place.key("two_moons"));
        }
        (Some(SYNTHETIC), None) => {
            let names = SYNTHETIC_DOMAINS.iter().map(ToString::to_string).collect();
            (Data::Synthetic { preprocessing: preprocessing.unwrap_or_default(), draw }, names)
        }
        (Some(id), None) => {
            let set = find_set(id).with_context(|| format!("{}: [data] set", place.key("set")))?;
            let names = set.domains.iter().map(|domain| domain.abbreviation.to_owned()).collect();
            let preprocessing = preprocessing.unwrap_or_else(|| set.preprocessing.to_vec());
            (Data::Catalogued { set: set.id.to_owned(), preprocessing, draw, skip_missing }, names)
        }
        (None, Some(domains)) => {
            let names: Vec<String> = domains.keys().cloned().collect();
            ensure!(
                names.iter().all(|name| !name.trim().is_empty()),
                "{}: [data.domains] has a domain without a name: give it one",
                place.key("domains").key("")
            );
            let preprocessing = preprocessing.unwrap_or_default();
            let config_folder = config_folder.to_owned();
            (Data::Own { domains, config_folder, preprocessing, draw }, names)
        }
    };
    ensure!(
        !skip_missing || matches!(data, Data::Catalogued { .. }),
        "{}: [data] skip_missing = true needs a published set",
        place.key("skip_missing")
    );
    Ok((data, ordered_pairs(&names)))
}

/// A set of the catalogue by its name.
pub fn find_set(id: &str) -> Result<&'static DataSet> {
    DataSet::find(id).map_err(|_| {
        let known = || SETS.iter().map(|set| set.id).chain(GENERATED_SETS);
        anyhow!(
            "there is no set {id:?}.{} Known are {}",
            suggestion(id, known()),
            known().collect::<Vec<_>>().join(", ")
        )
    })
}
