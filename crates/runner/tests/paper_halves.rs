//! How the paper cut its targets in halves, read from what it prints. Comparing that with our draws needs `OTDA_DATA`.
//!
//! A printed accuracy is the mean of ten trials, so a whole number of samples out of ten times the test's. Each of
//! Table 3's cells of a target (thirty, of digits ten) has to be one, rounded to two decimals, and each of Table 4's
//! (twenty-four), which has other features of the same objects.

mod real_data;

use datasets::{
    DataRoots, DataSet, DrawKey, DrawSizes, Environment, Fetcher, Library, align_classes, draw,
};

const TABLE_3: &str = include_str!("../../../results/paper/table3_unsupervised_accuracy.csv");
const TABLE_4: &str = include_str!("../../../results/paper/table4_decaf_accuracy.csv");
const TRIALS: usize = 10;
/// Targets small enough for their cells to tell a half by classes from one of the whole.
const TELLING: [&str; 5] = ["C", "A", "W", "D", "U"];

#[test]
fn the_papers_accuracies_are_counts_of_our_test_halves() {
    for (set, needed, targets) in [
        ("office-surf", "office_surf/Caltech10_SURF_L10.mat", &["C", "A", "W", "D"][..]),
        // Without M and P1: of a thousand samples and more, every number that is printed is a count.
        ("digits", "digits/USPS_vs_MNIST.mat", &["U"]),
        ("pie", "pie/PIE05.mat", &["P2", "P3", "P4"]),
    ] {
        let test = format!("the paper's halves of {set}");
        let Some(data) = real_data::folder(&test, needed) else { continue };
        for target in targets {
            let (all, test) = sizes(&data, set, target);
            let cells = cells_of(TABLE_3, target);
            let misfit = cells.iter().find(|cell| !is_count(**cell, test));
            assert_eq!(misfit, None, "{target}: not a count of {test} samples");
            if TELLING.contains(target) {
                for half in [all / 2, all.div_ceil(2)] {
                    let fits = cells.iter().all(|cell| is_count(*cell, half));
                    assert!(!fits, "{target}: halves of {half} samples would do");
                }
            }
        }
    }
}

#[test]
fn no_other_test_size_near_half_gives_the_papers_small_targets() {
    for (target, half) in [("W", 151), ("D", 80)] {
        for (table, expected) in [(TABLE_3, 30), (TABLE_4, 24)] {
            let cells = cells_of(table, target);
            assert_eq!(cells.len(), expected, "{target}");
            let near = half * 4 / 5..=half * 6 / 5;
            let fitting: Vec<usize> =
                near.filter(|&test| cells.iter().all(|cell| is_count(*cell, test))).collect();
            assert_eq!(fitting, [half], "{target}");
        }
    }
}

/// Samples of a target, and how many of them a draw has for the test.
fn sizes(data: &std::path::Path, set: &str, target: &str) -> (usize, usize) {
    let environment = Environment { data_option: Some(data.into()), ..Environment::default() };
    // Port 9 discards: nothing is downloaded.
    let library =
        Library::new(DataRoots::new(&environment), Fetcher::new(Some("http://127.0.0.1:9")));
    let set = DataSet::find(set).unwrap();
    let domain = library.load(set, set.domain(target).unwrap()).unwrap();
    let (source, target) = align_classes(&domain, &domain);
    let sizes = DrawSizes { source_per_class: 1, labelled_target_per_class: 0 };
    let key = DrawKey { seed: 1, source: source.name(), target: target.name(), trial: 0 };
    (target.samples(), draw(&source, &target, sizes, key).unwrap().test.len())
}

/// A table's cells of all pairs with this target, as percentages.
fn cells_of(table: &str, target: &str) -> Vec<f64> {
    table
        .lines()
        .filter_map(|line| line.split_once("->")?.1.split_once(','))
        .filter(|(name, _)| *name == target)
        .flat_map(|(_, cells)| cells.split(',').map(|cell| cell.parse().unwrap()))
        .collect()
}

/// Whether some number of right labels, over all trials, is printed as this percentage.
fn is_count(percentage: f64, test: usize) -> bool {
    let labels = (TRIALS * test) as f64;
    let right = (percentage / 100.0 * labels).round();
    // Half a unit of the second decimal, and what a binary fraction lacks of it.
    (100.0 * right / labels - percentage).abs() <= 0.005 + 1e-9
}
