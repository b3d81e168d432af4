//! The program on the real data in `OTDA_DATA`; skipped, loudly, without it.

mod real_data;

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program on this data alone.
fn runner(data: &Path, out: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env("OTDA_DATA", data)
        .env("OTDA_MIRROR", "http://127.0.0.1:9")
        .env("XDG_CACHE_HOME", out)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn the_summary_is_the_papers_table_2() {
    let needed = "office_decaf6/dslr_decaf.mat";
    let Some(data) = real_data::folder("the paper's Table 2", needed) else { return };
    let out = tempfile::tempdir().unwrap();
    let output = runner(&data, out.path(), &["data", "summary", "--format", "csv"]);
    let csv = String::from_utf8(output.stdout).unwrap();
    for row in [
        "Digits,USPS,1800,256,10,U",
        "Digits,MNIST,2000,256,10,M",
        "Faces,PIE05,3332,1024,68,P1",
        "Faces,PIE07,1629,1024,68,P2",
        "Faces,PIE09,1632,1024,68,P3",
        "Faces,PIE29,1632,1024,68,P4",
        "Objects,Caltech,1123,800,10,C",
        "Objects,Amazon,958,800,10,A",
        "Objects,Webcam,295,800,10,W",
        "Objects,DSLR,157,800,10,D",
        "Objects (DeCAF6),Webcam,295,4096,10,W",
        "Objects (DeCAF6),DSLR,157,4096,10,D",
    ] {
        assert!(csv.lines().any(|line| line == row), "{row} is not in\n{csv}");
    }
}

#[test]
fn all_pairs_of_a_users_own_features_run() {
    let needed = "office_alexnet_pool5/dslr.mat";
    let Some(data) = real_data::folder("own features", needed) else { return };
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().display().to_string();
    let config = "configs/own_features.toml";
    let arguments = [config, "--trials", "1", "--methods", "1nn", "--out", &folder];
    runner(&data, out.path(), &arguments);
    let table = std::fs::read_to_string(out.path().join("table.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 12 + 1);
    for line in table.lines().skip(1) {
        let accuracy: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
        assert!((40.0..=100.0).contains(&accuracy), "{line}");
    }
}

#[test]
fn pairs_whose_files_are_missing_are_left_out_and_named() {
    let needed = "office_decaf6/dslr_decaf.mat";
    let Some(data) = real_data::folder("DeCAF features in part", needed) else { return };
    // Two of the four domains, whatever else is there.
    let part = tempfile::tempdir().unwrap();
    for file in ["webcam_decaf.mat", "dslr_decaf.mat"] {
        std::fs::copy(data.join("office_decaf6").join(file), part.path().join(file)).unwrap();
    }
    let folder = part.path().join("out").display().to_string();
    let output = runner(
        part.path(),
        part.path(),
        &["configs/decaf.toml", "--trials", "1", "--methods", "1nn", "--out", &folder],
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("caltech_decaf.mat"), "{said}");
    assert!(
        said.contains("Pairs of office-decaf6 left out (skip_missing = true): C->A,"),
        "{said}"
    );
    let table = std::fs::read_to_string(part.path().join("out/table.csv")).unwrap();
    let pairs: Vec<&str> = table.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(pairs, ["pair", "W->D", "D->W", "mean"]);
}
