//! 1NN without adaptation against the paper's Table 3, on the paper's draws. Needs `OTDA_DATA`.

mod real_data;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Sampling error of small domains.
const CELL_TOLERANCE: f64 = 5.0;
const BLOCK_TOLERANCE: f64 = 2.5;

#[test]
fn one_nearest_neighbour_agrees_with_the_papers_digits() {
    check_block("digits", "digits/USPS_vs_MNIST.mat", 2);
}

#[test]
fn one_nearest_neighbour_agrees_with_the_papers_faces() {
    check_block("pie", "pie/PIE05.mat", 12);
}

#[test]
fn one_nearest_neighbour_agrees_with_the_papers_objects() {
    check_block("office", "office_surf/Caltech10_SURF_L10.mat", 12);
}

/// Runs a committed config and compares each pair, and the mean over the pairs, with the paper's rows.
fn check_block(config: &str, needed: &str, pairs: usize) {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Some(data) = real_data::folder(&format!("1NN on {config} against the paper"), needed)
    else {
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(&workspace)
        .env("OTDA_DATA", data)
        // Nothing is downloaded, and nothing that was downloaded before is used.
        .env("OTDA_MIRROR", "http://127.0.0.1:9")
        .env("XDG_CACHE_HOME", out.path())
        .arg(format!("configs/{config}.toml"))
        .args(["--methods", "1nn", "--trials", "10", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));

    let ours = first_column(&out.path().join("table.csv"));
    let paper = first_column(&workspace.join("results/paper/table3_unsupervised_accuracy.csv"));
    let differences: Vec<f64> = ours
        .iter()
        .filter(|(pair, _)| pair != "mean")
        .map(|(pair, accuracy)| {
            let (_, printed) = paper.iter().find(|(row, _)| row == pair).unwrap();
            let difference = accuracy - printed;
            assert!(
                difference.abs() <= CELL_TOLERANCE,
                "{pair}: {accuracy} differs from the paper's {printed} by {difference:+.1}"
            );
            difference
        })
        .collect();
    assert_eq!(differences.len(), pairs);
    let mean = differences.iter().sum::<f64>() / pairs as f64;
    assert!(mean.abs() <= BLOCK_TOLERANCE, "{config}: the mean differs by {mean:+.2}");
}

/// Row names and first values of a table.
fn first_column(path: &PathBuf) -> Vec<(String, f64)> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.split(',');
            (fields.next().unwrap().to_owned(), fields.next().unwrap().parse().unwrap())
        })
        .collect()
}
