//! Scoring an adaptation without target labels: adapt to the target, label it, adapt back, and look at the
//! source's labels.
//!
//! The circular validation of Bruzzone and Marconcini, "Domain Adaptation Problems: A DASVM Classification
//! Technique and a Circular Validation Strategy", IEEE TPAMI 32(5), 2010, and the reverse cross-validation
//! of Zhong, Fan, Yang, Verscheure and Ren, "Cross Validation Framework to Choose amongst Models and
//! Datasets for Transfer Learning", ECML PKDD 2010, which PBDA's authors use.

use crate::classes::{all_but, stratified_folds};
use crate::error::{Error, Result};

/// One adaptation that is asked for, in indices into the samples of both domains.
pub struct Adaptation<'a> {
    /// The samples to learn from.
    pub training: &'a [usize],
    /// Their labels, `None` in the domain to adapt to.
    pub labels: &'a [Option<usize>],
    /// The samples to label.
    pub queries: &'a [usize],
}

/// The fraction of the labelled samples whose class is found by the way to the other domain and back.
///
/// With `folds` of 2 or more, each fold of the labelled domain is scored by adaptations that did not see it;
/// with 1 all samples take part in everything (circular validation).
pub fn reverse_accuracy(
    labels: &[Option<usize>],
    folds: usize,
    seed: u64,
    mut adapt: impl FnMut(Adaptation<'_>) -> Result<Vec<usize>>,
) -> Result<f64> {
    if folds == 0 {
        return Err(Error::TooFew { argument: "folds", value: folds, least: 1 });
    }
    let (labelled, unlabelled): (Vec<usize>, Vec<usize>) =
        (0..labels.len()).partition(|&sample| labels[sample].is_some());
    let given: Vec<usize> = labels.iter().flatten().copied().collect();
    let mut right = 0;
    for held_out in stratified_folds(&given, folds, seed) {
        let kept = if folds == 1 { held_out.clone() } else { all_but(&held_out, given.len()) };
        let training: Vec<usize> =
            kept.iter().map(|&place| labelled[place]).chain(unlabelled.iter().copied()).collect();
        let forth: Vec<Option<usize>> = training.iter().map(|&sample| labels[sample]).collect();
        let found =
            adapt(Adaptation { training: &training, labels: &forth, queries: &unlabelled })?;
        let back: Vec<Option<usize>> =
            kept.iter().map(|_| None).chain(found.iter().copied().map(Some)).collect();
        let queries: Vec<usize> = held_out.iter().map(|&place| labelled[place]).collect();
        let returned =
            match adapt(Adaptation { training: &training, labels: &back, queries: &queries }) {
                // The whole target in one class: so is then everything.
                Err(Error::OneClass { class, .. }) => vec![class; queries.len()],
                other => other?,
            };
        right += returned.iter().zip(&held_out).filter(|&(class, &i)| *class == given[i]).count();
    }
    Ok(right as f64 / given.len() as f64)
}
