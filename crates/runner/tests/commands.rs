//! The program as a person uses it: what it prints, writes and refuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ndarray::{Array1, Array2};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the program with no data anywhere and no network.
fn runner(arguments: &[&str]) -> Output {
    let nowhere = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(workspace())
        .env("OTDA_DATA", nowhere.path())
        .env("XDG_CACHE_HOME", nowhere.path())
        .env("OTDA_MIRROR", "http://127.0.0.1:9")
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn complaint(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A config in a folder of its own; the folder lives as long as the result.
fn config(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

fn refusal(text: &str) -> String {
    let (_folder, path) = config(text);
    let complaint = complaint(&runner(&[&path]));
    assert!(complaint.contains("own.toml"), "the config is not named: {complaint}");
    complaint
}

fn assert_says(text: &str, expected: &str) {
    assert!(text.contains(expected), "expected {expected:?} in {text}");
}

#[test]
fn the_quick_config_needs_no_data_and_threads_do_not_change_its_table() {
    let mut tables = Vec::new();
    for jobs in ["1", "2"] {
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("new").display().to_string();
        let shown = stdout(&runner(&[
            "configs/quick.toml",
            "--trials",
            "2",
            "--jobs",
            jobs,
            "--out",
            &folder,
        ]));
        assert_says(&shown, "S1->S2");
        tables.push(std::fs::read_to_string(out.path().join("new/table.csv")).unwrap());
    }
    assert_eq!(tables[0], tables[1]);
    assert!(tables[0].starts_with("pair,1NN\nS1->S2,"));
    assert_eq!(tables[0].lines().count(), 14);
}

#[test]
fn two_moons_print_error_rates_by_angle() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().display().to_string();
    stdout(&runner(&["configs/two_moons.toml", "--trials", "3", "--out", &folder]));
    let table = std::fs::read_to_string(out.path().join("table.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "method,10,20,30,40,50,70,90");
    let errors: Vec<f64> =
        lines[1].split(',').skip(1).map(|field| field.parse().unwrap()).collect();
    assert!(errors[0] < 0.01, "10° is solved without adaptation: {errors:?}");
    assert!(errors[6] > 0.7, "90° is worse than chance without adaptation: {errors:?}");
}

#[test]
fn own_domains_run_from_files_of_any_format() {
    let (folder, path) = config(
        "seed = 1\ntrials = 2\n[data.domains]\n\
         X = { features = \"x.npy\", labels = \"y.npy\" }\n\
         Y = { features = \"both.csv\" }\n[draw]\nsource_per_class = 2\n[methods.1nn]\n",
    );
    let features = Array2::from_shape_fn((8, 2), |(row, column)| (row / 4 * 10 + column) as f64);
    ndarray_npy::write_npy(folder.path().join("x.npy"), &features).unwrap();
    let labels = Array1::from_iter((0..8_i64).map(|row| row / 4 + 1));
    ndarray_npy::write_npy(folder.path().join("y.npy"), &labels).unwrap();
    let mut table = String::from("a,b,label\n");
    for row in 0..8 {
        table += &format!("{},{},{}\n", row / 4 * 10, 1 + row / 4 * 10, row / 4 + 1);
    }
    std::fs::write(folder.path().join("both.csv"), table).unwrap();
    let out = folder.path().join("out").display().to_string();
    stdout(&runner(&[&path, "--out", &out]));
    let table = std::fs::read_to_string(folder.path().join("out/table.csv")).unwrap();
    assert_eq!(table, "pair,1NN\nX->Y,100.00\nY->X,100.00\nmean,100.00\n");
}

#[test]
fn missing_data_lists_files_addresses_and_folders() {
    let out = tempfile::tempdir().unwrap();
    let text =
        complaint(&runner(&["configs/office.toml", "--out", &out.path().display().to_string()]));
    assert_says(&text, "4 data files are missing");
    assert_says(&text, "amazon_SURF_L10.mat");
    assert_says(&text, "61bc949ec59a3b030476a04bb1dd647a1990eeca/data/amazon_SURF_L10.mat");
    assert_says(&text, "office_surf");
}

#[test]
fn a_bad_config_is_refused_with_a_sentence() {
    assert_says(
        &refusal("seed = 1\n[data]\nset = \"ofice-surf\"\n[methods.1nn]\n"),
        "Did you mean \"office-surf\"?",
    );
    assert_says(
        &refusal("seed = 1\n[data]\nset = \"synthetic\"\n[methods.1n]\n"),
        "there is no method \"1n\". Did you mean \"1nn\"?",
    );
    assert_says(
        &refusal("seed = 1\n[data]\nset = \"synthetic\"\npairs = [\"S1-S9\"]\n[methods.1nn]\n"),
        "there is no pair \"S1-S9\". Did you mean \"S1-S2\"?",
    );
    let unknown_key = refusal("seed = 1\ntrails = 2\n[data]\nset = \"synthetic\"\n[methods.1nn]\n");
    assert_says(&unknown_key, "line 2, column 1");
    assert_says(&unknown_key, "`trials`");
    assert_says(
        &refusal("seed = 1\ntrials = \"ten\"\n[data]\nset = \"synthetic\"\n[methods.1nn]\n"),
        "line 2, column 10",
    );
    assert_says(
        &refusal("seed = 1\ntrials = 0\n[data]\nset = \"synthetic\"\n[methods.1nn]\n"),
        "trials = 0",
    );
    assert_says(
        &refusal("seed = 1\n[data]\nset = \"synthetic\"\n[methods.1nn]\nk = 3\n"),
        "[methods.1nn] has no setting \"k\"",
    );
    assert_says(&refusal("seed = 1\n[data]\n[methods.1nn]\n"), "names neither a set nor domains");
    assert_says(
        &refusal(
            "seed = 1\n[data]\nset = \"synthetic\"\n[draw]\nsource_per_class = 99\n[methods.1nn]\n",
        ),
        "class 0 has 40 samples and the draw needs 99 of them",
    );
    assert_says(
        &refusal(
            "seed = 1\n[data.domains]\nX = { features = \"no.mat\" }\nY = { features = \"no.mat\" }\n[methods.1nn]\n",
        ),
        "domain X: there is no file no.mat. Looked for it in",
    );
}

#[test]
fn a_config_that_is_not_there_is_named() {
    assert_says(&complaint(&runner(&["configs/nothing.toml"])), "configs/nothing.toml");
}

#[test]
fn an_unwritable_folder_is_found_out_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let out = file.join("below").display().to_string();
    let text = complaint(&runner(&["configs/quick.toml", "--out", &out]));
    assert_says(&text, "choose another with --out DIR");
}

#[test]
fn the_list_of_data_says_what_is_missing_and_where_it_was_looked_for() {
    let text = stdout(&runner(&["data"]));
    assert_says(&text, "PIE05.mat");
    assert_says(&text, "missing");
    assert_says(&text, "bring your own");
    assert_says(&text, "Looked for data in:");
}

#[test]
fn the_summary_has_a_row_a_published_domain_in_csv_and_json() {
    let csv = stdout(&runner(&["data", "summary", "--format", "csv"]));
    assert!(csv.starts_with("problem,domain,samples,features,classes,abbreviation\nDigits,USPS,"));
    assert_eq!(csv.lines().count(), 1 + 14);
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&runner(&["data", "summary", "--format", "json"]))).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 14);
    assert_eq!(json[2]["abbreviation"], "P1");
}

#[test]
fn fetching_an_unknown_set_lists_the_known_ones() {
    assert_says(
        &complaint(&runner(&["data", "fetch", "faces"])),
        "Known: digits, pie, office-surf",
    );
}
