//! The data sets of the paper: files, public sources, expected shapes, citations.

mod sets;

use crate::error::{Error, Result};
use crate::preprocess::Step;

pub use sets::SETS;

/// One data set: some domains that share features and classes.
#[derive(Debug)]
pub struct DataSet {
    /// The name in configs: `office-surf`.
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The paper's name for the problem: Digits, Faces, Objects.
    pub problem: &'static str,
    /// The folder of its files below a data root.
    pub folder: &'static str,
    /// In the paper's order.
    pub domains: &'static [DomainEntry],
    /// The names of the classes, by label minus one.
    pub classes: Classes,
    /// The features of each domain.
    pub width: usize,
    /// What the paper does to the features.
    pub preprocessing: &'static [Step],
    /// Who made it.
    pub citation: &'static str,
    /// Under which terms it can be used.
    pub licence: &'static str,
}

/// How the classes of a set are named.
#[derive(Debug, Clone, Copy)]
pub enum Classes {
    /// By a word each.
    Named(&'static [&'static str]),
    /// By number, the first one being the label 1's.
    Numbered {
        /// The name of the first class.
        first: usize,
        /// How many classes there are.
        count: usize,
    },
}

/// One domain of a set.
#[derive(Debug)]
pub struct DomainEntry {
    /// The name in pairs: `C`.
    pub abbreviation: &'static str,
    /// The paper's name: `Caltech`.
    pub name: &'static str,
    /// Its file.
    pub file: &'static str,
    /// Where the file can be downloaded; `None` if users have to bring it.
    pub source: Option<Source>,
    /// The number of samples in each class.
    pub class_counts: &'static [usize],
    /// The source samples a class that the paper draws.
    pub source_per_class: usize,
}

/// A public file at a pinned commit.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// `owner/name` on GitHub.
    pub repository: &'static str,
    /// The commit.
    pub commit: &'static str,
    /// The folder in the repository.
    pub folder: &'static str,
    /// SHA-1 of `blob <size>\0` and the content, as git computes it.
    pub blob_id: &'static str,
}

impl DataSet {
    /// The set with this id.
    pub fn find(id: &str) -> Result<&'static Self> {
        SETS.iter().find(|set| set.id == id).ok_or_else(|| Error::UnknownSet {
            name: id.to_owned(),
            known: SETS.iter().map(|set| set.id).collect::<Vec<_>>().join(", "),
        })
    }

    /// The domain with this abbreviation.
    pub fn domain(&self, abbreviation: &str) -> Result<&'static DomainEntry> {
        self.domains.iter().find(|domain| domain.abbreviation == abbreviation).ok_or_else(|| {
            Error::UnknownDomain {
                set: self.id.to_owned(),
                name: abbreviation.to_owned(),
                known: self
                    .domains
                    .iter()
                    .map(|domain| domain.abbreviation)
                    .collect::<Vec<_>>()
                    .join(", "),
            }
        })
    }

    /// The names of the classes, by label minus one.
    #[must_use]
    pub fn class_names(&self) -> Vec<String> {
        match self.classes {
            Classes::Named(names) => names.iter().map(ToString::to_string).collect(),
            Classes::Numbered { first, count } => {
                (first..first + count).map(|class| class.to_string()).collect()
            }
        }
    }
}

impl DomainEntry {
    /// The number of samples.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.class_counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domains_have_the_papers_numbers_of_samples_and_classes() {
        let office = &[("C", 1123), ("A", 958), ("W", 295), ("D", 157)][..];
        let expected = [
            ("digits", 256, 10, &[("U", 1800), ("M", 2000)][..]),
            ("pie", 1024, 68, &[("P1", 3332), ("P2", 1629), ("P3", 1632), ("P4", 1632)]),
            ("office-surf", 800, 10, office),
            ("office-decaf6", 4096, 10, office),
            ("office-decaf7", 4096, 10, office),
        ];
        assert_eq!(SETS.len(), expected.len());
        for (set, (id, width, classes, domains)) in SETS.iter().zip(expected) {
            assert_eq!((set.id, set.width, set.class_names().len()), (id, width, classes));
            let found: Vec<_> =
                set.domains.iter().map(|entry| (entry.abbreviation, entry.samples())).collect();
            assert_eq!(found, domains);
            for entry in set.domains {
                assert_eq!(entry.class_counts.len(), classes, "{id} {}", entry.abbreviation);
                let smallest = entry.class_counts.iter().min().copied().unwrap_or(0);
                assert!(entry.source_per_class <= smallest, "{id} {}", entry.abbreviation);
            }
        }
    }
}
