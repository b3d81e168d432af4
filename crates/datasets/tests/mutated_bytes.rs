//! Random and mutated bytes: every reader answers, none panics, none allocates without bound.
//! `PROPTEST_CASES=100000` makes it a fuzzing run.

mod common;

use datasets::format::ReadOptions;
use datasets::{Domain, Selection, read_labelled};
use proptest::prelude::*;

/// Every name that selects a reader when the content does not.
const NAMES: [&str; 9] =
    ["x.mat", "x.npy", "x.npz", "x.csv", "x.parquet", "x.gz", "zip.train", "x-idx3-ubyte", "x.tsv"];

/// Goes all the way to a domain; a bad file may be refused anywhere, but not by a panic.
fn loading_must_return(name: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    for labels in [None, Some(path.as_path())] {
        let read = read_labelled(&path, labels, &Selection::default(), ReadOptions::default());
        if let Ok((features, labels)) = read {
            let _ = Domain::from_label_names("X", features, &labels);
        }
    }
}

fn any_format() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    prop::sample::select(common::every_format())
}

proptest! {
    #[test]
    fn random_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        for name in NAMES {
            loading_must_return(name, &bytes);
        }
    }

    #[test]
    fn random_bytes_behind_a_true_beginning_are_answered(
        (name, bytes) in any_format(),
        kept in 1_usize..160,
        tail in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut mutated = bytes[..kept.min(bytes.len())].to_vec();
        mutated.extend(tail);
        loading_must_return(name, &mutated);
    }

    #[test]
    fn files_with_some_bytes_changed_are_answered(
        (name, mut bytes) in any_format(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        loading_must_return(name, &bytes);
    }

    #[test]
    fn truncated_files_are_answered(
        (name, bytes) in any_format(),
        kept in any::<prop::sample::Index>(),
    ) {
        loading_must_return(name, &bytes[..kept.index(bytes.len())]);
    }
}
