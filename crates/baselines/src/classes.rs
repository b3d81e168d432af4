//! Which classes labels name, and cutting labelled samples into folds of equal composition.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};

/// The distinct labels in rising order; at least two.
pub(crate) fn distinct_classes(what: &'static str, labels: &[usize]) -> Result<Vec<usize>> {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    match classes[..] {
        [] => Err(Error::Empty { what }),
        [class] => Err(Error::OneClass { what, class }),
        _ => Ok(classes),
    }
}

/// The samples of each fold: every class is shuffled and dealt out, the next class going on where the one
/// before stopped, so that folds differ by at most one sample in size and in each class.
pub(crate) fn stratified_folds(labels: &[usize], folds: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    let mut dealt = vec![Vec::new(); folds];
    let mut next = 0;
    for class in classes {
        let mut members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == class).collect();
        members.shuffle(&mut random);
        for sample in members {
            dealt[next % folds].push(sample);
            next += 1;
        }
    }
    for fold in &mut dealt {
        fold.sort_unstable();
    }
    dealt
}

/// The samples that are not in the fold, which is sorted.
pub(crate) fn all_but(fold: &[usize], samples: usize) -> Vec<usize> {
    (0..samples).filter(|sample| fold.binary_search(sample).is_err()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_part_the_samples_and_balance_every_class() {
        let labels: Vec<usize> = (0..103).map(|i| usize::from(i % 3 == 0) + 2 * (i % 2)).collect();
        let folds = stratified_folds(&labels, 5, 1);
        let mut all: Vec<usize> = folds.concat();
        all.sort_unstable();
        assert_eq!(all, (0..labels.len()).collect::<Vec<_>>());
        for class in 0..4 {
            let counts: Vec<usize> = folds
                .iter()
                .map(|fold| fold.iter().filter(|&&i| labels[i] == class).count())
                .collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(most - least <= 1, "class {class}: {counts:?}");
        }
        assert_eq!(folds, stratified_folds(&labels, 5, 1));
        assert_ne!(folds, stratified_folds(&labels, 5, 2));
    }
}
