//! What is wrong in the methods of a config is named with its place.

use std::fs;
use std::process::Command;

/// What the program says of a config with these methods, which begin in line 4.
fn refusal(methods: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("seed = 1\n[data]\nset = \"synthetic\"\n{methods}");
    fs::write(folder.path().join("own.toml"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(folder.path())
        .arg("own.toml")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn check(methods: &str, expected: &[&str]) {
    let said = refusal(methods);
    for text in ["own.toml"].iter().chain(expected) {
        assert!(said.contains(text), "expected {text:?} in {said}");
    }
}

#[test]
fn unknown_names_come_with_their_place_and_the_nearest_valid_name() {
    check("[methods.ot-gll]\n", &["line 4, column 10", "Did you mean \"ot-gl\"?"]);
    check("[methods.ot-gl]\nlamda = [1]\n", &["line 5, column 1", "Did you mean \"lambda\"?"]);
    check(
        "[methods.mine]\nmethod = \"ot-itt\"\n",
        &["line 5, column 10", "Did you mean \"ot-it\"?"],
    );
    check(
        "[methods.ot-it]\ncost = \"euclid\"\n",
        &["line 5, column 8", "\"euclid\" is not known", "sqeuclidean"],
    );
    check("[method.1nn]\n", &["line 4", "Did you mean \"methods\"?"]);
}

#[test]
fn values_without_meaning_come_with_their_place() {
    check("[methods.ot-gl]\neta = []\n", &["line 5, column 7", "the grid is empty"]);
    check("[methods.ot-it]\nlambda = [1, -1]\n", &["line 5", "-1 is not possible: it is positive"]);
    check("[methods.ot-it]\nlambda = [1, 1.0]\n", &["line 5", "1 is there twice"]);
    check("[methods.pca]\nk = [1.5]\n", &["line 5", "a whole number"]);
    check("[methods.ot-it]\nlambda = \"all\"\n", &["line 5, column 10", "is not a number"]);
    check("[methods.1nn]\ntitle = 3\n", &["line 5, column 9", "is not a text"]);
}

#[test]
fn methods_that_cannot_be_told_apart_or_cannot_run_are_refused() {
    check("[methods.1nn]\n[methods.b]\nmethod = \"1nn\"\n", &["the same title \"1NN\""]);
    check(
        "[methods.ot-it]\ntarget_labels = \"plan\"\n",
        &["[methods.ot-it]", "labelled_target_per_class = 3"],
    );
    check("[methods.mmdt]\n", &["[methods.mmdt]", "it needs labelled target samples"]);
}
