//! Runs that are interrupted, repeated, changed or compared.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Small domains and every kind of method: without grid, with one axis, with two.
const CONFIG: &str = "\
seed = 1
trials = 2

[data]
set = \"synthetic\"
pairs = [\"S1-S2\", \"S2-S1\"]

[methods.1nn]
[methods.ot-it]
[methods.ot-gl]
lambda = [1, 10]
eta = [0.1, 1]
";

/// One unit, which the conditional gradient solves at once.
const MOONS: &str = "\
seed = 1
trials = 1

[data]
set = \"two-moons\"

[data.two_moons]
angles = [20]
source_per_class = 5
target_per_class = 5
test_samples = 10

[methods.ot-quadratic]
lambda = 1
eta = 1
";

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runner"));
    command.current_dir(folder).env("OTDA_MIRROR", "http://127.0.0.1:9").args(arguments);
    command
}

fn runner(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn succeeds(folder: &Path, arguments: &[&str]) -> Output {
    let output = runner(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder_with(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own.toml"), config).unwrap();
    folder
}

fn table(folder: &Path, out: &str) -> String {
    fs::read_to_string(folder.join(out).join("table.csv")).unwrap()
}

fn units(folder: &Path, out: &str) -> usize {
    let journal = fs::read_to_string(folder.join(out).join("journal.jsonl")).unwrap_or_default();
    journal.lines().count()
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_table() {
    let folder = folder_with(CONFIG);
    let folder = folder.path();
    succeeds(folder, &["own.toml", "--out", "whole", "--jobs", "2"]);

    let mut run = command(folder, &["own.toml", "--out", "killed", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while units(folder, "killed") < 2 && run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL on Unix.
    run.kill().unwrap();
    run.wait().unwrap();
    let before = units(folder, "killed");
    assert!(before >= 2);

    let time = || -> serde_json::Value {
        let text = fs::read(folder.join("killed/journal.time.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    let killed = time();
    // Seconds are what a timestamp shows.
    std::thread::sleep(Duration::from_millis(1100));
    let resumed = succeeds(folder, &["own.toml", "--out", "killed", "--jobs", "2"]);
    assert_eq!(units(folder, "killed"), 12, "nothing is done twice");
    assert!(stderr(&resumed).contains("of 12 units are done already"), "{}", stderr(&resumed));
    assert_eq!(table(folder, "killed"), table(folder, "whole"));

    let manifest = || fs::read_to_string(folder.join("killed/manifest.json")).unwrap();
    let made_by = manifest();
    let origin: serde_json::Value = serde_json::from_str(&made_by).unwrap();
    assert_eq!(origin["started"], killed["started"], "the killed run was part of it");
    assert!(origin["seconds"].as_f64() > killed["seconds"].as_f64());
    succeeds(folder, &["own.toml", "--out", "killed"]);
    assert_eq!(units(folder, "killed"), 12, "a finished run has nothing to do");
    assert_eq!(manifest(), made_by, "nor did it make anything");
    let impossible = CONFIG.to_owned() + "[draw]\nsource_per_class = 100000\n";
    fs::write(folder.join("impossible.toml"), impossible).unwrap();
    let refused = runner(folder, &["impossible.toml", "--out", "killed", "--fresh"]);
    assert!(stderr(&refused).contains("100000"), "{}", stderr(&refused));
    assert_eq!(units(folder, "killed"), 12, "what cannot begin forgets nothing");
    succeeds(folder, &["own.toml", "--out", "killed", "--fresh", "--methods", "1nn"]);
    assert_eq!(units(folder, "killed"), 4, "--fresh forgets");
    assert_ne!(time()["started"], killed["started"], "and begins anew");
}

#[test]
fn a_changed_config_runs_what_changed_and_only_that() {
    let folder = folder_with(CONFIG);
    let folder = folder.path();
    succeeds(folder, &["own.toml", "--out", "out"]);
    // A title changes no result; a grid changes those of its method.
    let changed = CONFIG.replace("[methods.ot-it]", "[methods.ot-it]\ntitle = \"Sinkhorn\"");
    fs::write(folder.join("own.toml"), &changed).unwrap();
    succeeds(folder, &["own.toml", "--out", "out"]);
    assert_eq!(units(folder, "out"), 12);
    assert!(table(folder, "out").starts_with("pair,1NN,Sinkhorn,OT-GL\n"));
    fs::write(folder.join("own.toml"), changed.replace("eta = [0.1, 1]", "eta = [0.1]")).unwrap();
    succeeds(folder, &["own.toml", "--out", "out"]);
    assert_eq!(units(folder, "out"), 12 + 4);
    succeeds(folder, &["own.toml", "--out", "out", "--seed", "2"]);
    assert_eq!(units(folder, "out"), 12 + 4 + 12);
}

#[test]
fn a_failed_unit_is_named_and_tried_again_and_the_others_are_kept() {
    // Two features have two principal components, not nine.
    let folder = folder_with(
        "seed = 1\ntrials = 1\n[data.domains]\nX = { features = \"x.csv\" }\nY = { features = \"x.csv\" }\n\
         [draw]\nsource_per_class = 2\n[methods.1nn]\n[methods.pca]\nk = [9]\n",
    );
    let mut samples = "a,b,label\n".to_owned();
    for row in 0..12 {
        samples += &format!("{},{},{}\n", row % 5, row % 3, row % 2);
    }
    fs::write(folder.path().join("x.csv"), samples).unwrap();
    for _ in 0..2 {
        let output = runner(folder.path(), &["own.toml", "--out", "out"]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains("2 units failed"), "{said}");
        assert!(said.contains("pca on X->Y, trial 1: k = 9"), "{said}");
    }
    // Two scored units, and two failures in each of the two runs.
    assert_eq!(units(folder.path(), "out"), 2 + 4);
    let table = table(folder.path(), "out");
    assert!(table.lines().skip(1).all(|line| line.ends_with(',')), "{table}");
}

#[test]
fn a_folder_has_one_run_at_a_time() {
    let folder = folder_with(&CONFIG.replace("trials = 2", "trials = 50"));
    let mut first = command(folder.path(), &["own.toml", "--out", "out", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while units(folder.path(), "out") == 0 && first.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = runner(folder.path(), &["own.toml", "--out", "out"]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(stderr(&second).contains("another run is writing to out"), "{}", stderr(&second));
}

#[test]
fn tables_come_from_the_store_alone() {
    let folder = folder_with(CONFIG);
    let folder = folder.path();
    succeeds(folder, &["own.toml", "--out", "out"]);
    let names = ["table.csv", "table.md", "table.tex"];
    let read = || names.map(|name| fs::read_to_string(folder.join("out").join(name)).unwrap());
    let written = read();
    for name in names.iter().chain(&["journal.jsonl"]) {
        fs::remove_file(folder.join("out").join(name)).unwrap();
    }
    succeeds(folder, &["tables", "out"]);
    assert_eq!(read(), written);
    assert!(written[2].contains("\\toprule"));
    let refused = runner(folder, &["tables", "."]);
    assert!(stderr(&refused).contains("is . a folder of results?"), "{}", stderr(&refused));
}

#[test]
fn a_store_with_the_manifest_of_another_run_has_no_tables() {
    let folder = folder_with(CONFIG);
    let folder = folder.path();
    succeeds(folder, &["own.toml", "--out", "out"]);
    succeeds(folder, &["own.toml", "--out", "other", "--methods", "svm"]);
    let before = table(folder, "out");
    fs::copy(folder.join("other/manifest.json"), folder.join("out/manifest.json")).unwrap();
    let refused = runner(folder, &["tables", "out"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = stderr(&refused);
    assert!(said.contains("manifest.json and runs.parquet are of different runs"), "{said}");
    assert_eq!(table(folder, "out"), before);
}

#[test]
fn two_methods_are_compared_on_the_same_draws() {
    let folder = folder_with(CONFIG);
    let folder = folder.path();
    succeeds(folder, &["own.toml", "--out", "one"]);
    succeeds(folder, &["own.toml", "--out", "two", "--seed", "2"]);
    let say = |arguments: &[&str]| {
        String::from_utf8_lossy(&succeeds(folder, arguments).stdout).into_owned()
    };
    let shown = say(&["compare", "one:ot-gl", "one:1nn"]);
    assert!(shown.contains("OT-GL − 1NN"), "{shown}");
    let same = say(&["compare", "one", "one"]);
    assert_eq!(same.matches("0/4/0").count(), 3, "{same}");
    let complain = |arguments: &[&str]| stderr(&runner(folder, arguments));
    assert!(complain(&["compare", "one", "two"]).contains("the seeds are 1 and 2"));
    let fewer = CONFIG.to_owned() + "[draw]\nsource_per_class = 3\n";
    fs::write(folder.join("fewer.toml"), fewer).unwrap();
    succeeds(folder, &["fewer.toml", "--out", "fewer", "--methods", "1nn"]);
    let other_sizes = complain(&["compare", "one", "fewer"]);
    assert!(other_sizes.contains("the draws of S1->S2 differ: 20 source samples"), "{other_sizes}");
    assert!(same.contains("Draws of one pair share samples"), "{same}");
    // A pair that only one of them has is no matter.
    succeeds(folder, &["fewer.toml", "--out", "fewer", "--methods", "1nn", "--pairs", "S3-S1"]);
    let nothing = complain(&["compare", "one", "fewer"]);
    assert!(nothing.contains("no draw in common"), "{nothing}");
    assert!(complain(&["compare", "one:ot-g", "one:1nn"]).contains("Did you mean \"ot-gl\"?"));
    assert!(complain(&["compare", "one", "one:1nn"]).contains("on both sides, or on neither"));
}

#[test]
fn moons_are_compared_with_moons_of_the_same_settings() {
    let folder = folder_with(MOONS);
    let folder = folder.path();
    let noisy = MOONS.replace("angles = [20]", "angles = [20]\nnoise = 0.1");
    fs::write(folder.join("noisy.toml"), noisy).unwrap();
    for (config, out) in [("own.toml", "one"), ("own.toml", "same"), ("noisy.toml", "noisy")] {
        succeeds(folder, &[config, "--out", out, "--methods", "1nn"]);
    }
    let same = succeeds(folder, &["compare", "one", "same"]);
    let shown = String::from_utf8_lossy(&same.stdout);
    assert!(shown.contains("0/1/0") && !shown.contains("share samples"), "{shown}");
    let refused = stderr(&runner(folder, &["compare", "one", "noisy"]));
    assert!(refused.contains("two moons are generated with other settings"), "{refused}");
}

#[test]
fn a_folder_of_a_program_that_draws_differently_is_not_compared_and_has_no_history() {
    let folder = folder_with(MOONS);
    let folder = folder.path();
    for out in ["ours", "theirs"] {
        succeeds(folder, &["own.toml", "--out", out]);
        succeeds(folder, &["history", out]);
    }
    succeeds(folder, &["compare", "ours", "theirs"]);

    let path = folder.join("theirs/manifest.json");
    let mut manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    manifest["program"]["draws"] = "0123456789abcdef".into();
    fs::write(&path, manifest.to_string()).unwrap();
    let history = folder.join("theirs/history.json");
    fs::remove_file(&history).unwrap();

    let compared = stderr(&runner(folder, &["compare", "ours", "theirs"]));
    assert!(compared.contains("may draw in different ways"), "{compared}");
    let refused = stderr(&runner(folder, &["history", "theirs"]));
    assert!(refused.contains("the run of theirs drew with another program"), "{refused}");
    assert!(refused.contains("cargo run -p runner -- own.toml"), "{refused}");
    assert!(!history.exists(), "nothing was solved");
}
