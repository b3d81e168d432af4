//! `[draw]`: how many samples a class are drawn.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use super::data::Candidate;
use super::place::Place;
use crate::nearest_name::suggestion;

/// The paper's source draw.
const PAPER_SOURCE_PER_CLASS: usize = 20;

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
    pub fn source_per_class(&self, domain: &str, catalogued: Option<usize>) -> usize {
        self.source_per_class_of
            .get(domain)
            .copied()
            .or(self.source_per_class)
            .or(catalogued)
            .unwrap_or(PAPER_SOURCE_PER_CLASS)
    }
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

/// What is to be drawn, without regard to the data.
pub(super) fn check_draw(raw: RawDraw, place: &Place<'_>) -> Result<DrawConfig> {
    let RawDraw { source_per_class, source_per_class_of, labelled_target_per_class } = raw;
    let needed = "the source needs at least one sample of each class";
    ensure!(
        source_per_class != Some(0),
        "{}: [draw] source_per_class = 0: {needed}",
        place.key("source_per_class")
    );
    if let Some((domain, _)) = source_per_class_of.iter().find(|(_, number)| **number == 0) {
        bail!(
            "{}: [draw] source_per_class_of has {domain} = 0: {needed}",
            place.key("source_per_class_of").key(domain)
        );
    }
    Ok(DrawConfig { source_per_class, source_per_class_of, labelled_target_per_class })
}

/// Fails if it names a domain that no block has.
pub(super) fn check_draw_names(
    draw: &DrawConfig,
    candidates: &[Candidate],
    place: &Place<'_>,
) -> Result<()> {
    // Blocks may have domains of the same names.
    let names: IndexSet<&str> = candidates
        .iter()
        .filter(|candidate| candidate.block.data.draw().is_some())
        .flat_map(|candidate| candidate.available.iter().map(|pair| pair.source.as_str()))
        .collect();
    if let Some(unknown) =
        draw.source_per_class_of.keys().find(|name| !names.contains(name.as_str()))
    {
        bail!(
            "{}: [draw] source_per_class_of names domain {unknown:?}.{} Known are {}",
            place.key("source_per_class_of").key(unknown),
            suggestion(unknown, names.iter().copied()),
            names.iter().copied().collect::<Vec<_>>().join(", ")
        );
    }
    Ok(())
}
