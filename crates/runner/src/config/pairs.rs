//! Pairs of domains: all of them, or those that a config or the command line names.

use anyhow::{Context as _, Result, ensure};

use crate::nearest_name::suggestion;

/// Source and target, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub source: String,
    pub target: String,
}

impl std::fmt::Display for Pair {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
            .map(|text| find_pair(text.trim(), available, has_angles))
            .collect::<Result<Vec<_>>>()?,
    };
    ensure!(!pairs.is_empty(), "no pairs to run: name at least two domains, or at least one pair");
    for (place, pair) in pairs.iter().enumerate() {
        ensure!(!pairs[..place].contains(pair), "pair {pair} is named twice: remove one of them");
    }
    Ok(pairs)
}

/// Reads `C-A`, `C->A` or `C→A`; for two moons the angle alone.
fn find_pair(text: &str, available: &[Pair], has_angles: bool) -> Result<Pair> {
    let spellings = |pair: &Pair| {
        let Pair { source, target } = pair;
        [format!("{source}-{target}"), format!("{source}->{target}"), format!("{source}→{target}")]
    };
    let is_angle = |pair: &Pair| has_angles && pair.target == text;
    let found = available
        .iter()
        .find(|pair| spellings(pair).iter().any(|spelling| spelling == text) || is_angle(pair));
    found.cloned().with_context(|| {
        let known: Vec<String> = available.iter().map(|pair| spellings(pair)[0].clone()).collect();
        let nearest = suggestion(text, known.iter().map(String::as_str));
        format!("there is no pair {text:?}.{nearest} Pairs are {}", known.join(", "))
    })
}
