//! Pairs of domains: all of them, or those that a config or `--pairs` names.

use std::fmt;

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::data::{Candidate, Data};
use super::place::Place;
use crate::nearest_name::suggestion;

/// A source and a target domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    pub source: String,
    pub target: String,
}

impl fmt::Display for Pair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}->{}", self.source, self.target)
    }
}

/// Each domain as source with each other as target, in the order of the names.
pub(super) fn ordered_pairs(names: &[String]) -> Vec<Pair> {
    names
        .iter()
        .flat_map(|source| {
            names
                .iter()
                .filter(move |target| *target != source)
                .map(move |target| Pair { source: source.clone(), target: target.clone() })
        })
        .collect()
}

/// The pairs to run: all of them, or those written.
pub(super) fn choose_pairs(
    written: Option<&[String]>,
    available: &[Pair],
    has_angles: bool,
    place: &Place<'_>,
) -> Result<Vec<Pair>> {
    let Some(written) = written else {
        ensure!(!available.is_empty(), "{place}: no pairs to run: name at least two domains");
        return Ok(available.to_vec());
    };
    ensure!(!written.is_empty(), "{place}: no pairs to run: name at least one, or leave it out");
    let mut pairs = Vec::with_capacity(written.len());
    for (number, text) in written.iter().enumerate() {
        let at = || place.entry(number).to_string();
        let pair = find_pair(text, available, has_angles).with_context(at)?;
        let pair = pair.with_context(|| no_such_pair(text, available.iter())).with_context(at)?;
        add_once(&mut pairs, pair).with_context(at)?;
    }
    Ok(pairs)
}

/// The blocks that have some of the written pairs, with these alone.
pub(super) fn restrict_to_pairs(
    candidates: &[Candidate],
    written: &[String],
) -> Result<Vec<Candidate>> {
    let mut restricted = candidates.to_vec();
    for candidate in &mut restricted {
        candidate.block.pairs.clear();
    }
    for text in written {
        let mut is_known = false;
        for Candidate { block, available } in &mut restricted {
            let has_angles = matches!(block.data, Data::TwoMoons(_));
            if let Some(pair) = find_pair(text, available, has_angles)? {
                is_known = true;
                add_once(&mut block.pairs, pair)?;
            }
        }
        let available = candidates.iter().flat_map(|candidate| &candidate.available);
        ensure!(is_known, no_such_pair(text, available));
    }
    restricted.retain(|candidate| !candidate.block.pairs.is_empty());
    Ok(restricted)
}

fn add_once(pairs: &mut Vec<Pair>, pair: Pair) -> Result<()> {
    ensure!(!pairs.contains(&pair), "pair {pair} is named twice: remove one of them");
    pairs.push(pair);
    Ok(())
}

/// `C-A`, `C->A` and `C→A` name the same pair.
fn spellings(Pair { source, target }: &Pair) -> [String; 3] {
    [format!("{source}-{target}"), format!("{source}->{target}"), format!("{source}→{target}")]
}

/// A pair by one of its spellings; of two moons also by the angle alone. Names with hyphens may make two of one text.
fn find_pair(text: &str, available: &[Pair], has_angles: bool) -> Result<Option<Pair>> {
    let text = text.trim();
    let is_meant = |pair: &&Pair| {
        spellings(pair).iter().any(|spelling| spelling == text)
            || (has_angles && pair.target == text)
    };
    let mut meant = available.iter().filter(is_meant);
    let pair = meant.next();
    if let Some((first, second)) = pair.zip(meant.next()) {
        bail!("{text:?} may be two pairs: write \"{first}\" or \"{second}\"");
    }
    Ok(pair.cloned())
}

fn no_such_pair<'a>(text: &str, available: impl Iterator<Item = &'a Pair>) -> String {
    let known: Vec<String> = available.map(|pair| spellings(pair)[0].clone()).collect();
    let nearest = suggestion(text, known.iter().map(String::as_str));
    format!("there is no pair {text:?}.{nearest} Pairs are {}", known.join(", "))
}
