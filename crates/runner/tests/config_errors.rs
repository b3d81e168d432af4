//! What is wrong in a config is named with its place.

use std::fs;
use std::process::Command;

/// What the program says of a config with these methods, which begin in line 4.
fn refusal(methods: &str) -> String {
    refusal_of(format!("seed = 1\n[data]\nset = \"synthetic\"\n{methods}"), &[])
}

fn refusal_of(config: impl AsRef<[u8]>, options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own.toml"), config).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(folder.path())
        .arg("own.toml")
        .args(options)
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

/// Each config with the lines `|` apart and what is said of it, the place first.
fn check_all(cases: &[(&str, &str, &str)]) {
    for (config, place, expected) in cases {
        let said = refusal_of(config.replace('|', "\n") + "\n[methods.1nn]\n", &[]);
        assert!(said.contains("own.toml"), "{said}");
        for text in [place, expected] {
            assert!(said.contains(text), "expected {text:?} in {said}");
        }
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
    check(
        "[methods.1nn]\n[methods.b]\nmethod = \"1nn\"\n",
        &["line 5, column 10", "the same title \"1NN\""],
    );
    check("[methods.1nn]\ntitle = \" \"\n", &["line 5, column 9", "a column needs a name"]);
    check("[methods.mine]\ncost = \"cosine\"\n", &["line 4", "own needs method = \"ot-it\""]);
    check("[methods.dasvm]\n", &["dasvm tells two classes apart, and domain S1 has 10"]);
    let values = (1..=101).map(|value| value.to_string()).collect::<Vec<_>>().join(",");
    check(
        &format!("[methods.ot-gl]\nlambda = [{values}]\neta = [{values}]\n"),
        &["line 4, column 10", "a grid of 10201 points, and 10000 are possible"],
    );
    check(
        "[methods.ot-it]\ntarget_labels = \"plan\"\n",
        &["line 4, column 10: [methods.ot-it]", "labelled_target_per_class = 3"],
    );
    check(
        "[methods.mmdt]\n",
        &["line 4, column 10: [methods.mmdt]", "it needs labelled target samples"],
    );
}

#[test]
fn methods_that_label_no_samples_but_those_they_adapt_to_are_refused_for_two_moons() {
    let moons = "seed = 1\n[data]\nset = \"two-moons\"\n[methods.1nn]\n";
    let with_pca = format!("{moons}[methods.own]\nmethod = \"pca\"\n");
    let asked_for = refusal_of(moons, &["--methods", "1nn,mmdt"]);
    assert!(asked_for.contains("own.toml: --methods mmdt: it labels the target"), "{asked_for}");
    let said = refusal_of(with_pca, &[]);
    for text in [
        "own.toml: line 5, column 10: [methods.own]: it labels the target samples",
        "Those that label them are 1nn, svm, dasvm, pbda, ot-exact, ot-it,",
    ] {
        assert!(said.contains(text), "expected {text:?} in {said}");
    }
}

#[test]
fn domains_of_several_blocks_are_listed_once() {
    let config = "seed = 1\n[[data]]\nset = \"office-decaf6\"\nprefix = \"L6-\"\n[[data]]\nset = \"office-decaf7\"\n\
                  prefix = \"L7-\"\n[draw]\nsource_per_class_of = { X = 8 }\n[methods.1nn]\n";
    let said = refusal_of(config, &[]);
    assert!(said.contains("Known are C, A, W, D\n"), "{said}");
}

#[test]
fn what_is_wrong_with_the_data_comes_with_its_place() {
    check_all(&[
        ("seed = 1|[data]|set = \"ofice\"", "line 3, column 7", "Did you mean \"office-surf\"?"),
        ("seed = 1|trials = 0|[data]|set = \"pie\"", "line 2, column 10", "at least one trial"),
        ("seed = 1|trials = 10001|[data]|set = \"pie\"", "line 2, column 10", "at most 10000"),
        ("seed = 1|[data]", "line 2, column 2", "names neither a set nor domains"),
        ("seed = 1|[data]|set = \"pie\"|domains = {}", "line 3, column 7", "keep one of them"),
        ("seed = 1|[data]|set = \"pie\"|pairs = []", "line 4, column 9", "no pairs to run"),
        (
            "seed = 1|[data]|set = \"synthetic\"|pairs = [\"S1-S2\", \"S1-S9\"]",
            "line 4, column 19",
            "there is no pair \"S1-S9\". Did you mean \"S1-S2\"?",
        ),
        (
            "seed = 1|[data]|set = \"synthetic\"|pairs = [\"S1-S2\",|\"S1->S2\"]",
            "line 5, column 1",
            "pair S1->S2 is named twice",
        ),
        (
            "seed = 1|[[data]]|set = \"two-moons\"|[[data]]|set = \"synthetic\"|[[data]]|set = \"synthetic\"",
            "line 6, column 1",
            "pair S1->S2 is in two [[data]] blocks",
        ),
        (
            "seed = 1|[data]|set = \"pie\"|two_moons = { angles = [1] }",
            "line 4, column 1",
            "[data.two_moons] needs set = \"two-moons\"",
        ),
        (
            "seed = 1|[data]|skip_missing = true|domains = { X = { features = \"x\" } }",
            "line 3, column 16",
            "needs a published set",
        ),
        ("seed = 1|[data.domains]|\"\" = { features = \"x\" }", "line 3", "without a name"),
        (
            "seed = 1|[data]|set = \"pie\"|[draw]|source_per_class = 0",
            "line 5, column 20",
            "at least one sample of each class",
        ),
        (
            "seed = 1|[data]|set = \"pie\"|[draw]|source_per_class_of = { P1 = 5, Q = 8 }",
            "line 5, column 37",
            "names domain \"Q\"",
        ),
    ]);
}

#[test]
fn what_two_moons_do_not_have_comes_with_its_place() {
    let moons = "seed = 1|[data]|set = \"two-moons\"|[data.two_moons]|";
    for (setting, column, expected) in [
        ("angles = []", 10, "name at least one angle"),
        ("angles = [10, nan]", 15, "an angle is a number of degrees"),
        ("angles = [10, 10.0]", 15, "angles has 10 twice"),
        ("noise = -1", 9, "noise = -1 is not allowed"),
        ("source_per_class = 0", 20, "each moon needs at least one sample"),
        ("test_samples = 1", 16, "test_samples = 1 is not allowed"),
        ("centre = [1, inf]", 10, "it is a point of the plane"),
        ("centre = [1, 2, 3]", 10, "centre has 3 numbers"),
        ("centre = [1, 2, \"x\", { a = 1 }]", 17, "expected a number"),
    ] {
        check_all(&[(&format!("{moons}{setting}"), &format!("line 5, column {column}"), expected)]);
    }
    let set = "[data]|set = \"two-moons\"";
    check_all(&[
        (
            &format!("seed = 1|selection = \"validation\"|{set}"),
            "line 2, column 13",
            "two moons have no validation half",
        ),
        (
            &format!("seed = 1|{set}|preprocessing = [\"sqrt\"]"),
            "line 4, column 17",
            "are generated and not preprocessed",
        ),
        (&format!("seed = 1|{set}|[draw]"), "line 4, column 2", "does not apply to two moons"),
    ]);
}

#[test]
fn values_of_the_wrong_kind_are_named_in_plain_words() {
    let set = "[data]|set = \"synthetic\"";
    check_all(&[
        (&format!("seed = 1|trials = -1|{set}"), "line 2, column 10", "a whole number that is not"),
        (&format!("trials = 99999999999999999999|{set}"), "line 1", "99999`, expected a whole"),
        ("seed = 1|[data.domains]|X = \"x.npy\"", "line 3, column 5", "a table such as { features"),
        (&format!("selection = {{ target = {{}} }}|{set}"), "line 1, column 13", "name in quotes"),
        (&format!("classifier = {{ svm = {{}} }}|{set}"), "line 1, column 14", "name in quotes"),
        (
            &format!("{set}|preprocessing = [\"sqrt\", {{ zscore = {{}} }}]"),
            "column 26",
            "in quotes",
        ),
        (&format!("{set}|preprocessing = [\"sqrt\", \"zscor\"]"), "column 26", "\"zscore\"?"),
    ]);
}

#[test]
fn a_config_is_utf8_text_and_may_begin_with_its_mark() {
    let said = refusal_of(b"seed = 1\nname = \xff\n", &[]);
    assert!(said.contains("own.toml: line 2, column 8: this is not UTF-8 text"), "{said}");
    let said = refusal_of("\u{feff}trials = 0\nseed = 1\n[data]\n[methods.1nn]\n", &[]);
    assert!(said.contains("line 1, column 10: trials = 0"), "{said}");
}

#[test]
fn what_is_wrong_on_the_command_line_is_not_said_of_the_config() {
    let config = "seed = 1\n[data]\nset = \"synthetic\"\n[methods.1nn]\n";
    for (option, value, expected) in [
        ("--trials", "0", "--trials 0: at least one trial is needed"),
        ("--trials", "20000", "--trials 20000: at most 10000 are possible"),
        ("--pairs", "S1-S9", "--pairs: there is no pair \"S1-S9\". Did you mean \"S1-S2\"?"),
        ("--pairs", "", "--pairs: there is no pair \"\""),
        ("--pairs", "S1-S2,S1->S2", "--pairs: pair S1->S2 is named twice"),
        (
            "--methods",
            "ot-itt",
            "--methods: there is no method \"ot-itt\". Did you mean \"ot-it\"?",
        ),
        ("--methods", "1nn,1nn", "--methods: 1nn is named twice"),
    ] {
        let said = refusal_of(config, &[option, value]);
        assert!(said.starts_with(&format!("error: {expected}")), "expected {expected:?} in {said}");
    }
}
