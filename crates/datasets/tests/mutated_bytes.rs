//! Random and mutated bytes: every reader answers, none panics, none allocates without bound.
//! `PROPTEST_CASES=100000` makes it a fuzzing run.

mod common;

use datasets::format::{ReadOptions, parse};
use proptest::prelude::*;

/// Every name that selects a reader when the content does not.
const NAMES: [&str; 9] =
    ["x.mat", "x.npy", "x.npz", "x.csv", "x.parquet", "x.gz", "zip.train", "x-idx3-ubyte", "x.tsv"];

fn parse_must_return(name: &str, bytes: &[u8]) {
    let _ = parse(name, bytes, ReadOptions::default());
}

proptest! {
    #[test]
    fn random_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        for name in NAMES {
            parse_must_return(name, &bytes);
        }
    }

    #[test]
    fn random_bytes_behind_a_true_beginning_are_answered(
        which in 0_usize..10,
        kept in 1_usize..160,
        tail in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let (name, bytes) = &common::every_format()[which];
        let mut mutated = bytes[..kept.min(bytes.len())].to_vec();
        mutated.extend(tail);
        parse_must_return(name, &mutated);
    }

    #[test]
    fn files_with_some_bytes_changed_are_answered(
        which in 0_usize..10,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let (name, mut bytes) = common::every_format()[which].clone();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        parse_must_return(name, &bytes);
    }

    #[test]
    fn truncated_files_are_answered(which in 0_usize..10, kept in any::<prop::sample::Index>()) {
        let (name, bytes) = &common::every_format()[which];
        parse_must_return(name, &bytes[..kept.index(bytes.len())]);
    }
}
