//! The program as a person uses it: what it prints, writes and refuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ndarray::{Array1, Array2};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A committed config.
fn committed(name: &str) -> String {
    workspace().join("configs").join(name).display().to_string()
}

/// Runs the program with no data anywhere, not even in the workspace, and no network.
fn runner(arguments: &[&str]) -> Output {
    let nowhere = tempfile::tempdir().unwrap();
    runner_in(nowhere.path(), arguments)
}

fn runner_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(folder)
        .env("OTDA_DATA", "")
        .env("XDG_CACHE_HOME", folder)
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
            &committed("quick.toml"),
            "--trials",
            "1",
            "--methods",
            "1nn,ot-it,ot-quadratic",
            "--jobs",
            jobs,
            "--out",
            &folder,
        ]));
        assert_says(&shown, "S1->S2");
        tables.push(std::fs::read_to_string(out.path().join("new/table.csv")).unwrap());
    }
    assert_eq!(tables[0], tables[1]);
    assert!(tables[0].starts_with("pair,1NN,OT-IT,OT-quadratic\n0->20,"));
    // Three angles and twelve pairs, each block with its mean.
    assert_eq!(tables[0].lines().count(), 1 + 3 + 1 + 12 + 1);
}

#[test]
fn two_moons_print_error_rates_by_angle() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().display().to_string();
    let arguments = ["--trials", "3", "--methods", "1nn", "--out", &folder];
    stdout(&runner(&[&[committed("two_moons.toml").as_str()], &arguments[..]].concat()));
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
    let text = complaint(&runner(&[
        &committed("office.toml"),
        "--out",
        &out.path().display().to_string(),
    ]));
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
    let text = complaint(&runner(&[&committed("quick.toml"), "--out", &out]));
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
fn a_misspelt_name_is_answered_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("office.toml"), "").unwrap();
    for (arguments, expected) in [
        (&["data", "fetch", "faces"][..], "Known are digits, pie, office-surf"),
        (&["data", "fetch", "ofice"], "Did you mean \"office-surf\"?"),
        (&["ofice.toml"], "cannot read the config ofice.toml. Did you mean \"office.toml\"?"),
        (&["tabels"], "Did you mean \"tables\"?"),
        (&["tabels", "results/office"], "no subcommand \"tabels\". Did you mean \"tables\"?"),
    ] {
        let output = runner_in(folder.path(), arguments);
        assert!(!output.status.success());
        assert_says(&String::from_utf8_lossy(&output.stderr), expected);
    }
}

#[test]
fn a_pair_that_may_be_two_is_refused() {
    let (folder, path) = own_domains("", &[("A", &[1]), ("B-C", &[1]), ("A-B", &[1]), ("C", &[1])]);
    let out = folder.path().join("out").display().to_string();
    let text = complaint(&runner(&[&path, "--pairs", "A-B-C", "--out", &out]));
    assert_says(&text, "\"A-B-C\" may be two pairs: write \"A->B-C\" or \"A-B->C\"");
    stdout(&runner(&[&path, "--pairs", "A->B-C", "--out", &out]));
    let table = std::fs::read_to_string(folder.path().join("out/table.csv")).unwrap();
    assert_eq!(table, "pair,1NN\nA->B-C,100.00\n");
}

/// Own domains by CSV, each with two samples of every class.
fn own_domains(settings: &str, domains: &[(&str, &[u8])]) -> (tempfile::TempDir, String) {
    let mut names = String::new();
    for (name, _) in domains {
        names += &format!("{name} = {{ features = \"{name}.csv\" }}\n");
    }
    let (folder, path) = config(&format!(
        "seed = 1\ntrials = 1\n{settings}\n[data.domains]\n{names}[draw]\nsource_per_class = 1\n[methods.1nn]\n"
    ));
    for (name, classes) in domains {
        let mut table = "a,label\n".to_owned();
        for class in *classes {
            table += &format!("{class},{class}\n{class}.1,{class}\n");
        }
        std::fs::write(folder.path().join(format!("{name}.csv")), table).unwrap();
    }
    (folder, path)
}

#[test]
fn a_pair_depends_on_its_own_domains_alone() {
    let domains: [(&str, &[u8]); 3] = [("X", &[1, 2]), ("Y", &[1, 2]), ("Z", &[1, 2, 3])];
    let (folder, path) = own_domains("[data]\npairs = [\"X-Y\", \"Z-X\"]", &domains);
    let out = folder.path().join("out").display().to_string();
    stdout(&runner(&[&path, "--out", &out]));
    let table = std::fs::read_to_string(folder.path().join("out/table.csv")).unwrap();
    assert_eq!(table, "pair,1NN\nX->Y,100.00\nZ->X,100.00\nmean,100.00\n");
    let text = complaint(&runner(&[&path, "--pairs", "X-Z", "--out", &out]));
    assert_says(&text, "domain X has no sample of class 3, which domain Z has");
}

#[test]
fn a_complaint_is_printed_once() {
    let (folder, path) = own_domains("", &[("X", &[1]), ("Y", &[1])]);
    std::fs::write(folder.path().join("X.csv"), [0xff]).unwrap();
    let text = complaint(&runner(&[&path]));
    assert_eq!(text.matches("is not UTF-8").count(), 1, "{text}");
    let unreadable = complaint(&runner(&[
        "adapt", "--method", "ot-exact", "--source", "no.csv", "--target", "no.csv",
    ]));
    assert_eq!(unreadable.matches("os error").count(), 1, "{unreadable}");
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    let huge = u64::MAX / 2;
    let synthetic = "[data]\nset = \"synthetic\"\n[methods.1nn]\n";
    assert_says(&refusal(&format!("seed = 1\ntrials = {huge}\n{synthetic}")), "at most 10000");
    assert_says(
        &refusal(&format!("seed = 1\n{synthetic}[draw]\nsource_per_class = {huge}\n")),
        "the draw needs",
    );
    assert_says(
        &refusal(&format!("{TWO_MOONS}[data.two_moons]\ntest_samples = {huge}\n")),
        "a moon has at most 1000000 samples",
    );
    let many = runner(&[&committed("quick.toml"), "--jobs", "100000"]);
    assert_says(&String::from_utf8_lossy(&many.stderr), "100000 is not in 1..=1024");
}

const TWO_MOONS: &str = "seed = 1\ntrials = 1\n[data]\nset = \"two-moons\"\n[methods.1nn]\n";

#[test]
fn two_moons_without_meaning_are_refused() {
    let moons = |settings: &str| refusal(&format!("{TWO_MOONS}[data.two_moons]\n{settings}\n"));
    assert_says(&moons("test_samples = 1"), "test_samples = 1 is not allowed");
    assert_says(&moons("angles = []"), "name at least one angle");
    assert_says(&moons("angles = [nan]"), "an angle is a number of degrees");
    assert_says(&moons("angles = [10, 10.0]"), "angles has 10 twice");
    assert_says(&refusal(&format!("{TWO_MOONS}[draw]\n")), "[draw] does not apply to two moons");
}

#[test]
fn what_a_config_lacks_is_said_with_what_to_add() {
    let set = "[data]\nset = \"synthetic\"\n";
    assert_says(&refusal(&format!("{set}[methods.1nn]\n")), "there is no seed: add seed = 1");
    assert_says(&refusal(&format!("seed = 1\n{set}")), "add [methods.1nn]");
    assert_says(&refusal("seed = 1\n[methods.1nn]\n"), "there is no [data]");
    assert_says(
        &refusal(&format!("seed = 1\n{set}pairs = [\"S1-S2\", \"S1->S2\"]\n[methods.1nn]\n")),
        "pair S1->S2 is named twice",
    );
}

#[test]
fn a_bare_angle_is_a_pair_of_two_moons_only() {
    let (folder, path) = own_domains("", &[("0", &[1]), ("5", &[1])]);
    let out = folder.path().join("out").display().to_string();
    assert_says(&complaint(&runner(&[&path, "--pairs", "5", "--out", &out])), "no pair \"5\"");
    stdout(&runner(&[&path, "--pairs", " 0-5", "--out", &out]));
    stdout(&runner(&[
        &committed("two_moons.toml"),
        "--trials",
        "1",
        "--methods",
        "1nn",
        "--pairs",
        "50",
        "--out",
        &out,
    ]));
}

#[test]
fn a_missing_file_is_told_from_a_folder_and_the_current_folder_has_a_name() {
    let (folder, path) = own_domains("", &[("X", &[1]), ("Y", &[1])]);
    std::fs::remove_file(folder.path().join("X.csv")).unwrap();
    assert_says(&complaint(&runner_in(folder.path(), &["own.toml"])), "Looked for it in ., ");
    std::fs::create_dir(folder.path().join("X.csv")).unwrap();
    assert_says(&complaint(&runner(&[&path])), "X.csv is a folder. Name the file in it.");
}

#[test]
fn a_changed_run_does_not_replace_the_results_of_its_config() {
    let (folder, path) =
        config("seed = 1\ntrials = 2\n[data]\nset = \"synthetic\"\n[methods.1nn]\n");
    let run = |options: &[&str]| {
        let arguments: Vec<&str> = [path.as_str()].iter().chain(options).copied().collect();
        stdout(&runner_in(folder.path(), &arguments));
    };
    run(&["--trials", "2", "--seed", "1"]);
    let whole = folder.path().join("results/own/table.csv");
    assert_eq!(std::fs::read_to_string(&whole).unwrap().lines().count(), 14);
    run(&["--pairs", "S1-S2", "--methods", "1nn"]);
    assert_eq!(std::fs::read_to_string(&whole).unwrap().lines().count(), 14);
    let partial = std::fs::read_to_string(folder.path().join("results/own/partial/table.md"));
    assert_says(&partial.unwrap(), "--trials 2 --seed 1 --pairs S1-S2 --methods 1nn`");
}

#[test]
fn the_command_of_a_manifest_is_one_for_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let configs = folder.path().join("my configs");
    std::fs::create_dir(&configs).unwrap();
    std::fs::copy(committed("quick.toml"), configs.join("own.toml")).unwrap();
    let arguments =
        ["my configs/own.toml", "--methods", "1nn", "--pairs", "S1->S2", "--out", "out"];
    stdout(&runner_in(folder.path(), &arguments));
    let manifest = std::fs::read_to_string(folder.path().join("out/manifest.json")).unwrap();
    assert_says(
        &manifest,
        "-- 'my configs/own.toml' --trials 3 --seed 1 --pairs 'S1->S2' --methods 1nn\"",
    );
}

#[test]
fn an_unwritable_table_is_found_out_before_the_run_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("table.md")).unwrap();
    let out = folder.path().display().to_string();
    let output = runner(&[&committed("quick.toml"), "--out", &out]);
    assert!(output.stdout.is_empty());
    assert_says(&complaint(&output), "table.md; choose another folder with --out DIR");
    assert!(!folder.path().join("table.csv").exists());
}

#[test]
fn options_of_the_data_go_before_or_after_the_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    for arguments in [["--data", &data, "data"], ["data", "--data", &data]] {
        assert_says(&stdout(&runner(&arguments)), &format!("Looked for data in:\n  {data}\n"));
    }
    assert_says(
        &complaint(&runner(&["--trials", "3", "data"])),
        "a config and its options do not go with a subcommand",
    );
    assert_says(
        &complaint(&runner(&["data", "--mirror", "ftp://x"])),
        "begin it with http:// or https://",
    );
    stdout(&runner(&["data", "--mirror", ""]));
    for arguments in
        [["data", "--data", "nowhere"], [&committed("quick.toml"), "--data", "nowhere"]]
    {
        assert_says(&complaint(&runner(&arguments)), "--data nowhere: this is no folder");
    }
}

#[test]
fn what_is_generated_needs_no_fetching() {
    let text = stdout(&runner(&["data", "fetch", "two-moons", "synthetic"]));
    assert_says(&text, "two-moons is generated: nothing to fetch.");
    assert_says(&text, "synthetic is generated: nothing to fetch.");
    // A folder to download to need not be there.
    let folder = tempfile::tempdir().unwrap();
    stdout(&runner_in(folder.path(), &["data", "fetch", "synthetic", "--data", "new"]));
    assert!(folder.path().join("new").is_dir());
}

#[test]
fn a_damaged_file_is_a_row_without_numbers_and_is_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("PIE05.mat"), "damaged").unwrap();
    let data = folder.path().display().to_string();
    let output = runner(&["data", "summary", "--format", "csv", "--data", &data]);
    assert_says(&String::from_utf8_lossy(&output.stdout), "Faces,PIE05,,,,P1\n");
    let text = complaint(&output);
    assert_says(&text, "PIE05.mat: not a MATLAB v5 file");
    assert_says(&text, "1 of the files cannot be used");
    let text = complaint(&runner(&["data", "fetch", "pie", "--data", &data]));
    assert_says(&text, "Fetching it again.");
    assert_says(&text, "4 data files are missing");
}

#[test]
fn pairs_without_data_may_be_left_out_but_not_all() {
    let text = complaint(&runner(&[&committed("decaf.toml"), "--pairs", "C-A"]));
    assert_says(&text, "2 data files are missing");
    assert_says(&text, "no pair is left to run, because files of all of them are missing (L6-C->A");
    assert_says(
        &refusal("seed = 1\n[data]\nset = \"synthetic\"\nskip_missing = true\n[methods.1nn]\n"),
        "skip_missing = true needs a published set",
    );
}

#[test]
fn the_help_lists_the_methods() {
    assert_says(&stdout(&runner(&["--help"])), "with the paper's grids: 1nn, svm");
}

#[test]
fn a_method_that_is_not_there_is_answered_with_those_of_the_config() {
    let own = "[methods.it-sharp]\nmethod = \"ot-it\"\nlambda = 0.01\n";
    let (_folder, path) = config(&format!("seed = 1\n[data]\nset = \"two-moons\"\n{own}"));
    let complaint = complaint(&runner(&[&path, "--methods", "it-sharb"]));
    assert_says(&complaint, "Did you mean \"it-sharp\"? Known are it-sharp, 1nn");
}

#[test]
fn a_reader_that_goes_away_does_not_cost_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(folder.path())
        .args([&committed("quick.toml"), "--trials", "1", "--methods", "1nn", "--out", "out"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(run.stdout.take());
    assert!(run.wait().unwrap().success());
    assert!(folder.path().join("out/table.csv").is_file());
}

#[test]
fn a_run_writes_its_report_and_the_store_makes_it_again() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("results");
    let folder_text = folder.display().to_string();
    stdout(&runner(&[
        &committed("quick.toml"),
        "--trials",
        "1",
        "--methods",
        "1nn,ot-it",
        "--out",
        &folder_text,
    ]));
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert_says(&page, "<table class=\"results\"");
    assert_says(&page, "configs/quick.toml --trials 1 --seed");
    std::fs::remove_file(folder.join("report.html")).unwrap();
    assert_says(&stdout(&runner(&["report", &folder_text])), "report.html");
    assert_eq!(std::fs::read_to_string(folder.join("report.html")).unwrap(), page);
    assert_says(&complaint(&runner(&["report", "nowhere"])), "is nowhere a folder of results?");
}

#[test]
fn a_units_history_is_that_of_the_run() {
    let (folder, path) = config(
        "seed = 1\ntrials = 1\n[data]\nset = \"two-moons\"\n[data.two_moons]\nangles = [20]\n\
         source_per_class = 20\ntarget_per_class = 20\ntest_samples = 50\n\
         [methods.ot-it]\nlambda = 1\n[methods.ot-laplace]\nlambda = 0.1\neta = 1\n",
    );
    let out = folder.path().join("out").display().to_string();
    stdout(&runner(&[&path, "--out", &out, "-q"]));
    let answer = runner(&["history", &out, "--pair", "0-20"]);
    assert_says(&stdout(&answer), "OT-Laplace on 0->20, trial 1: converged after");
    // The same number of directions as in the run, or it would be said here.
    assert_eq!(String::from_utf8_lossy(&answer.stderr), "");
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert_says(&page, "Iterations of one unit");
    let refused = complaint(&runner(&["history", &out, "--method", "ot-it"]));
    assert_says(&refused, "these methods are: ot-laplace, ot-quadratic");
    let unknown = complaint(&runner(&["history", &out, "--method", "ot-lap"]));
    assert_says(&unknown, "Did you mean \"ot-laplace\"? It has ot-it, ot-laplace");
}
