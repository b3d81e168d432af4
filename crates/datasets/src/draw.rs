//! Which samples a trial sees: k source samples a class, the target cut in two halves, n labelled target
//! samples a class.
//!
//! "Then the target domain is equivalently partitioned in a validation and test sets": class by class, the odd
//! sample for the test. The paper does not say how, but its printed accuracies do: they are means of ten trials over
//! Σ ⌈n_c / 2⌉ samples, and for five targets no half of the whole gives them (the runner's test `paper_halves`).
//!
//! A draw depends on (seed, pair, trial) alone, so that every method sees the same one and leaving out a
//! pair changes no other.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;

use crate::domain::{Domain, check_same_width};
use crate::error::{Error, Result};

/// What is drawn in one trial, by index into the two domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// The labelled source samples.
    pub source: Vec<usize>,
    /// The half of the target on which hyper-parameters are chosen.
    pub validation: Vec<usize>,
    /// The half of the target that is scored.
    pub test: Vec<usize>,
    /// The target samples whose labels are given; in neither half.
    pub labelled_target: Vec<usize>,
}

/// How much is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawSizes {
    /// Source samples a class.
    pub source_per_class: usize,
    /// Labelled target samples a class.
    pub labelled_target_per_class: usize,
}

/// Names one draw.
#[derive(Debug, Clone, Copy)]
pub struct DrawKey<'a> {
    /// The experiment's seed.
    pub seed: u64,
    /// The source domain's name.
    pub source: &'a str,
    /// The target domain's name.
    pub target: &'a str,
    /// The trial, from 0.
    pub trial: u64,
}

/// What a stream of random numbers is for. Each use has its own, so that asking for labelled target
/// samples leaves the source draw as it was.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// Choosing source samples.
    Source = 0,
    /// Cutting the target in halves.
    Halves = 1,
    /// Choosing labelled target samples.
    LabelledTarget = 2,
    /// Generating samples.
    Generate = 3,
}

impl DrawKey<'_> {
    /// The random numbers of this draw for one purpose.
    #[must_use]
    pub fn stream(&self, purpose: Purpose) -> ChaCha12Rng {
        let words = [self.seed, name_hash(self.source), name_hash(self.target), self.trial];
        let mut key = [0; 32];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let mut stream = ChaCha12Rng::from_seed(key);
        stream.set_stream(purpose as u64);
        stream
    }
}

/// FNV-1a: stable across versions and machines, unlike the standard library's hashes.
fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Draws one trial of a pair whose classes are aligned (see [`crate::align_classes`]).
pub fn draw(source: &Domain, target: &Domain, sizes: DrawSizes, key: DrawKey<'_>) -> Result<Draw> {
    check_same_width(source, target)?;
    if sizes.source_per_class == 0 {
        return Err(Error::Parameter {
            name: "source_per_class",
            value: "0".into(),
            rule: "at least one source sample a class is needed",
        });
    }
    check_source_classes(source, target)?;
    let source_indices = per_class(
        source,
        sizes.source_per_class,
        "source_per_class",
        &mut key.stream(Purpose::Source),
    )?;
    let labelled_target = per_class(
        target,
        sizes.labelled_target_per_class,
        "labelled_target_per_class",
        &mut key.stream(Purpose::LabelledTarget),
    )?;

    let mut order: Vec<usize> = (0..target.samples()).collect();
    order.shuffle(&mut key.stream(Purpose::Halves));
    order.retain(|index| !labelled_target.contains(index));
    // Of each class the first, third, … go to the test. The halves stay in the random order: a solver that breaks ties by
    // index must not learn labels from it.
    let mut goes_to_test = vec![false; target.class_names().len()];
    let (test, validation): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&index| {
        let goes_to_test = &mut goes_to_test[target.labels()[index]];
        *goes_to_test = !*goes_to_test;
        *goes_to_test
    });
    if validation.is_empty() {
        let drawn = match labelled_target.len() {
            0 => String::new(),
            drawn => format!(
                " beside the {drawn} that are drawn with labels (labelled_target_per_class)"
            ),
        };
        return Err(Error::Domain {
            domain: target.name().to_owned(),
            problem: format!(
                "no class has two samples{drawn}, so that none can be cut in two halves."
            ),
        });
    }
    Ok(Draw { source: source_indices, validation, test, labelled_target })
}

/// A target sample of a class without source samples could never be labelled right. The reverse is fine.
fn check_source_classes(source: &Domain, target: &Domain) -> Result<()> {
    let counts = source.class_counts().into_iter().zip(target.class_counts());
    for (class, (in_source, in_target)) in source.class_names().iter().zip(counts) {
        if in_source == 0 && in_target > 0 {
            return Err(Error::ClassMissing {
                source_domain: source.name().to_owned(),
                target_domain: target.name().to_owned(),
                class: class.clone(),
            });
        }
    }
    Ok(())
}

/// `count` samples of each class that the domain has.
fn per_class(
    domain: &Domain,
    count: usize,
    setting: &'static str,
    stream: &mut ChaCha12Rng,
) -> Result<Vec<usize>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut members = vec![Vec::new(); domain.class_names().len()];
    for (sample, &label) in domain.labels().iter().enumerate() {
        members[label].push(sample);
    }
    // Not with the capacity of the product: the count is a user's, and checked only below.
    let mut drawn = Vec::new();
    for (class, mut members) in domain.class_names().iter().zip(members) {
        if members.is_empty() {
            continue;
        }
        if members.len() < count {
            return Err(Error::ClassTooSmall {
                domain: domain.name().to_owned(),
                class: class.clone(),
                found: members.len(),
                needed: count,
                setting,
            });
        }
        members.shuffle(stream);
        drawn.extend_from_slice(&members[..count]);
    }
    Ok(drawn)
}
