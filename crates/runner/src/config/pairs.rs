//! Pairs of domains: all of them, or those that a config or `--pairs` names.

use std::fmt;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use super::data::{Candidate, Data};
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
) -> Result<Vec<Pair>> {
    let pairs = match written {
        None => available.to_vec(),
        Some(written) => written
            .iter()
            .map(|text| {
                find_pair(text, available, has_angles)
                    .with_context(|| no_such_pair(text, available.iter()))
            })
            .collect::<Result<Vec<_>>>()?,
    };
    ensure!(!pairs.is_empty(), "no pairs to run: name at least two domains, or at least one pair");
    for (place, pair) in pairs.iter().enumerate() {
        ensure!(!pairs[..place].contains(pair), "pair {pair} is named twice: remove one of them");
    }
    Ok(pairs)
}

/// The blocks that have some of the written pairs, with these alone.
pub(super) fn restrict_to_pairs(
    candidates: &[Candidate],
    written: &[String],
) -> Result<Vec<Candidate>> {
    let find = |candidate: &Candidate, text: &str| {
        let has_angles = matches!(candidate.block.data, Data::TwoMoons(_));
        find_pair(text, &candidate.available, has_angles)
    };
    for text in written {
        ensure!(
            candidates.iter().any(|candidate| find(candidate, text).is_some()),
            no_such_pair(text, candidates.iter().flat_map(|candidate| &candidate.available))
        );
    }
    let mut restricted = candidates.to_vec();
    for candidate in &mut restricted {
        let pairs: Vec<Pair> = written.iter().filter_map(|text| find(candidate, text)).collect();
        for (place, pair) in pairs.iter().enumerate() {
            ensure!(
                !pairs[..place].contains(pair),
                "pair {pair} is named twice: remove one of them"
            );
        }
        candidate.block.pairs = pairs;
    }
    restricted.retain(|candidate| !candidate.block.pairs.is_empty());
    Ok(restricted)
}

/// `C-A`, `C->A` and `C→A` name the same pair.
fn spellings(Pair { source, target }: &Pair) -> [String; 3] {
    [format!("{source}-{target}"), format!("{source}->{target}"), format!("{source}→{target}")]
}

/// A pair by one of its spellings; of two moons also by the angle alone.
fn find_pair(text: &str, available: &[Pair], has_angles: bool) -> Option<Pair> {
    let text = text.trim();
    let is_meant = |pair: &&Pair| {
        spellings(pair).iter().any(|spelling| spelling == text)
            || (has_angles && pair.target == text)
    };
    available.iter().find(is_meant).cloned()
}

fn no_such_pair<'a>(text: &str, available: impl Iterator<Item = &'a Pair>) -> String {
    let known: Vec<String> = available.map(|pair| spellings(pair)[0].clone()).collect();
    let nearest = suggestion(text, known.iter().map(String::as_str));
    format!("there is no pair {text:?}.{nearest} Pairs are {}", known.join(", "))
}
