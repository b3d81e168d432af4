//! `runner adapt`: the report, the files it writes, and what it refuses.

use std::path::Path;
use std::process::{Command, Output};

use ndarray::{Array1, Array2, Axis};
use ndarray_npy::{read_npy, write_npy};
use serde_json::Value;

const SAMPLES: usize = 24;
const TARGETS: usize = 30;

/// Two well separated classes in the plane; the target is the source's law, shifted.
fn arrays(folder: &Path) {
    let cloud = |count: usize, shift: f64| {
        Array2::from_shape_fn((count, 2), |(row, column)| {
            let scatter = ((row * 7 + column * 3) as f64 * std::f64::consts::SQRT_2).fract();
            scatter + shift + if row % 2 == 0 { 0.0 } else { 6.0 }
        })
    };
    let labels = |count: i64| Array1::from_iter((0..count).map(|row| 3 + row % 2));
    write_npy(folder.join("xs.npy"), &cloud(SAMPLES, 0.0)).unwrap();
    write_npy(folder.join("xt.npy"), &cloud(TARGETS, 2.0)).unwrap();
    write_npy(folder.join("ys.npy"), &labels(24)).unwrap();
    write_npy(folder.join("yt.npy"), &labels(30)).unwrap();
    let mut partial = labels(30);
    partial.slice_mut(ndarray::s![6..]).fill(-1);
    write_npy(folder.join("partial.npy"), &partial).unwrap();
}

fn adapt(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(folder)
        .args(["adapt", "--source", "xs.npy", "--labels", "ys.npy", "--target", "xt.npy"])
        .args(arguments)
        .output()
        .unwrap()
}

fn report(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn complaint(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_method_reports_its_terms_and_certificate() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    for (method, weights) in [
        ("ot-exact", &[][..]),
        ("ot-it", &["--lambda", "0.5"]),
        ("ot-gl", &["--lambda", "0.5", "--eta", "0.1"]),
        ("ot-laplace", &["--lambda", "0.5", "--eta", "0.1"]),
        ("ot-lpl1", &["--lambda", "0.5", "--eta", "0.1"]),
    ] {
        let arguments = [&["--method", method, "--target-labels", "yt.npy"], weights].concat();
        let report = report(&adapt(folder.path(), &arguments));
        assert_eq!(report["method"], method);
        assert_eq!((report["n_s"].as_u64(), report["n_t"].as_u64()), (Some(24), Some(30)));
        assert_eq!(report["stop"], "converged", "{report}");
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{method}: {report}"));
        let objective = &report["objective"];
        let sum = number(&objective["transport"])
            + number(&objective["entropy"])
            + number(&objective["regularization"]);
        assert!((sum - number(&objective["total"])).abs() <= 1e-12 * sum.abs());
        assert!(number(&report["duality_gap"]) <= 1e-5 * sum.abs());
        assert!(number(&report["marginal_error"]) <= 1e-3);
        assert!(number(&report["seconds"]) > 0.0);
        assert!(report["iterations"].is_u64());
        // The classes are far apart: every method transports them onto each other.
        assert_eq!(report["accuracy"], 1.0, "{method}");
    }
}

#[test]
fn solving_again_changes_nothing_but_the_time() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    let arguments = ["--method", "ot-gl", "--lambda", "0.5", "--eta", "0.1"];
    let [once, thrice] = ["1", "3"].map(|count| {
        let mut report =
            report(&adapt(folder.path(), &[&arguments[..], &["--repeat", count]].concat()));
        report["seconds"] = Value::Null;
        report
    });
    assert_eq!(once, thrice);
    let never = complaint(&adapt(folder.path(), &[&arguments[..], &["--repeat", "0"]].concat()));
    assert!(never.contains("--repeat"), "{never}");
}

#[test]
fn plan_image_and_prediction_are_written() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    let arguments = [
        "--method",
        "ot-gl",
        "--lambda",
        "0.5",
        "--eta",
        "1",
        "--plan",
        "plan.npy",
        "--out",
        "mapped.csv",
        "--predict",
        "predicted.npy",
    ];
    let report = report(&adapt(folder.path(), &arguments));
    assert!(report.get("accuracy").is_none());
    let plan: Array2<f64> = read_npy(folder.path().join("plan.npy")).unwrap();
    assert_eq!(plan.dim(), (SAMPLES, TARGETS));
    assert!(plan.sum_axis(Axis(1)).iter().all(|sum| (sum - 1.0 / 24.0).abs() <= 1e-9));
    assert!(plan.sum_axis(Axis(0)).iter().all(|sum| (sum - 1.0 / 30.0).abs() <= 1e-9));
    let mapped = std::fs::read_to_string(folder.path().join("mapped.csv")).unwrap();
    assert_eq!(mapped.lines().count(), SAMPLES);
    let predicted: Array1<i64> = read_npy(folder.path().join("predicted.npy")).unwrap();
    let truth: Array1<i64> = read_npy(folder.path().join("yt.npy")).unwrap();
    assert_eq!(predicted, truth);
}

#[test]
fn a_file_that_cannot_be_written_is_found_out_before_the_solve() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    std::fs::create_dir(folder.path().join("taken.npy")).unwrap();
    std::fs::write(folder.path().join("old.csv"), "kept").unwrap();
    let arguments = ["--method", "ot-exact", "--out", "old.csv", "--plan", "taken.npy"];
    let refused = complaint(&adapt(folder.path(), &arguments));
    assert!(refused.contains("cannot write taken.npy; choose another file"), "{refused}");
    assert_eq!(std::fs::read_to_string(folder.path().join("old.csv")).unwrap(), "kept");
    let arguments = ["--method", "ot-exact", "--out", "new.csv", "--plan", "taken.npy"];
    complaint(&adapt(folder.path(), &arguments));
    assert!(!folder.path().join("new.csv").exists(), "what was tried leaves nothing behind");
}

#[test]
fn some_target_labels_constrain_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    let arguments = [
        "--method",
        "ot-it",
        "--lambda",
        "50",
        "--plan",
        "plan.npy",
        "--target-labels",
        "partial.npy",
    ];
    report(&adapt(folder.path(), &arguments));
    let plan: Array2<f64> = read_npy(folder.path().join("plan.npy")).unwrap();
    for ((row, column), mass) in plan.indexed_iter() {
        assert!(column >= 6 || row % 2 == column % 2 || *mass == 0.0);
    }
}

#[test]
fn a_class_that_is_spelled_like_an_unknown_label_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    let signs = |count: i64| Array1::from_iter((0..count).map(|row| 1 - 2 * (row % 2)));
    write_npy(folder.path().join("ys.npy"), &signs(24)).unwrap();
    write_npy(folder.path().join("yt.npy"), &signs(30)).unwrap();
    let arguments = ["--method", "ot-exact", "--target-labels", "yt.npy"];
    let refused = complaint(&adapt(folder.path(), &arguments));
    assert!(refused.contains("row 2: -1 stands for a label that is not known"), "{refused}");
}

#[test]
fn costs_and_their_normalization_are_options() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    let transport = |arguments: &[&str]| {
        let all: Vec<&str> = ["--method", "ot-exact"].iter().chain(arguments).copied().collect();
        report(&adapt(folder.path(), &all))["objective"]["transport"].as_f64().unwrap()
    };
    let plain = transport(&[]);
    assert!(transport(&["--normalize", "max"]) < 1.0 && plain > 1.0);
    for cost in ["euclidean", "cityblock", "cosine"] {
        assert!((transport(&["--cost", cost]) - plain).abs() > 1e-3);
    }
}

#[test]
fn a_wider_gap_takes_fewer_iterations_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    for (method, gaps) in [
        (&["--method", "ot-laplace", "--lambda", "0.01", "--eta", "100"][..], ["1e-2", "1e-8"]),
        (&["--method", "ot-it", "--lambda", "0.1"][..], ["1e-2", "1e-9"]),
    ] {
        let iterations = gaps.map(|gap| {
            let report = report(&adapt(folder.path(), &[method, &["--gap", gap]].concat()));
            let total = report["objective"]["total"].as_f64().unwrap();
            let allowed = gap.parse::<f64>().unwrap() * total.abs();
            assert!(report["duality_gap"].as_f64().unwrap() <= allowed, "{report}");
            report["iterations"].as_u64().unwrap()
        });
        assert!(iterations[0] < iterations[1], "{method:?}: {iterations:?}");
    }
}

#[test]
fn bad_arguments_are_answered_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    arrays(folder.path());
    for (arguments, expected) in [
        (&["--method", "ot-it"][..], "ot-it needs --lambda"),
        (&["--method", "ot-gl", "--lambda", "1"], "ot-gl needs --eta"),
        (&["--method", "ot-it", "--lambda", "0"], "lambda = 0 is not allowed"),
        (&["--method", "ot-gl", "--lambda", "1", "--eta", "-1"], "eta = -1 is not allowed"),
        (&["--method", "ot-lpl1", "--lambda", "1", "--eta", "1e99"], "eta = 1e99 is not allowed"),
        (&["--method", "ot-exact", "--gap", "0"], "it is a positive number"),
        (&["--method", "ot-exact", "--gap", "1"], "ot-exact has no --gap"),
        (&["--method", "ot-exact", "--lambda", "1"], "ot-exact has no --lambda"),
        (&["--method", "ot-it", "--lambda", "1", "--eta", "1"], "ot-it has no --eta"),
        (&["--method", "ot-exact", "--out", "nowhere/mapped.npy"], "there is no folder nowhere"),
        (&["--method", "ot-exact", "--plan", "plan.txt"], "ends in .npy or .csv"),
        (&["--method", "ot-exact", "--target-labels", "ys.npy"], "there are 24 labels"),
        (&["--method", "ot-best"], "invalid value 'ot-best'"),
    ] {
        let text = complaint(&adapt(folder.path(), arguments));
        assert!(text.contains(expected), "expected {expected:?} in {text}");
    }
    let mut one_sided = Array1::from_elem(TARGETS, 4_i64);
    one_sided[0] = -1;
    write_npy(folder.path().join("one_sided.npy"), &one_sided).unwrap();
    let arguments = ["--method", "ot-exact", "--target-labels", "one_sided.npy"];
    let text = complaint(&adapt(folder.path(), &arguments));
    assert!(text.contains("the label \"4\" need a mass of 0.967"), "{text}");
    write_npy(folder.path().join("xt.npy"), &Array2::<f64>::ones((5, 3))).unwrap();
    let text = complaint(&adapt(folder.path(), &["--method", "ot-exact"]));
    assert!(text.contains("the features of target has 3 entries and source 2"), "{text}");
}

/// `adapt` without anything that this file's other tests give it.
fn adapt_only(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_runner"))
        .current_dir(folder)
        .arg("adapt")
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn labels_are_asked_for_only_where_something_uses_them() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    arrays(folder);
    let files = ["--source", "xs.npy", "--target", "xt.npy", "--method"];
    let run = |options: &[&str]| adapt_only(folder, &[&files, options].concat());
    let plan = ["--plan", "plan.npy"];
    let without = report(&run(&[&["ot-it", "--lambda", "1"], &plan[..]].concat()));
    let with = report(&adapt(folder, &["--method", "ot-it", "--lambda", "1"]));
    assert_eq!(without["objective"], with["objective"]);
    assert!(without.get("accuracy").is_none());
    for (options, what) in [
        (&["ot-gl", "--lambda", "1", "--eta", "1"][..], "ot-gl"),
        (&["ot-lpl1", "--lambda", "1", "--eta", "1"], "ot-lpl1"),
        (&["ot-laplace", "--lambda", "1", "--eta", "1"], "ot-laplace"),
        (&["ot-exact", "--predict", "labels.csv"], "--predict"),
        (&["ot-exact", "--target-labels", "yt.npy"], "--target-labels"),
    ] {
        let text = complaint(&run(options));
        let expected =
            format!("xs.npy has no labels, and {what} needs them: give them with --labels FILE");
        assert!(text.contains(&expected), "expected {expected:?} in {text}");
    }
}

#[test]
fn a_column_of_labels_is_no_feature_of_source_or_target() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    arrays(folder);
    for (name, labels) in [("xs", "ys"), ("xt", "yt")] {
        let features: Array2<f64> = read_npy(folder.join(format!("{name}.npy"))).unwrap();
        let labels: Array1<i64> = read_npy(folder.join(format!("{labels}.npy"))).unwrap();
        let lines = features.rows().into_iter().zip(&labels);
        let table = lines.map(|(row, label)| format!("{},{label},{}\n", row[0], row[1]));
        let table = "a,label,b\n".to_owned() + &table.collect::<String>();
        std::fs::write(folder.join(format!("{name}.csv")), table).unwrap();
    }
    let method = ["--method", "ot-exact"];
    let objective = |arguments: &[&str]| {
        report(&adapt_only(folder, &[&method, arguments].concat()))["objective"].clone()
    };
    let expected = report(&adapt(folder, &method))["objective"].clone();
    let tables = ["--source", "xs.csv", "--target", "xt.csv"];
    assert_eq!(objective(&tables), expected);
    assert_eq!(objective(&[&tables[..], &["--labels", "ys.npy"]].concat()), expected);
    // The source's labels in another order.
    let labels: Array1<i64> = read_npy(folder.join("ys.npy")).unwrap();
    write_npy(folder.join("other.npy"), &labels.mapv(|label| 7 - label)).unwrap();
    let mixed = [&method[..], &tables, &["--labels", "other.npy"]].concat();
    let text = complaint(&adapt_only(folder, &mixed));
    assert!(text.contains("xs.csv: column \"label\"") && text.contains("other.npy"), "{text}");
}

#[test]
fn no_file_takes_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    arrays(folder);
    let before = std::fs::read(folder.join("xt.npy")).unwrap();
    for (options, expected) in [
        (["--out", "same.npy", "--plan", "./same.npy"], "--out and --plan are both ./same.npy"),
        (["--plan", "same.csv", "--predict", "same.csv"], "--plan and --predict are both same.csv"),
        (["--out", "xt.npy", "--predict", "p.csv"], "--target and --out are both xt.npy"),
        (["--out", "new.npy", "--predict", "ys.npy"], "--labels and --predict are both ys.npy"),
    ] {
        let text = complaint(&adapt(folder, &[&["--method", "ot-exact"], &options[..]].concat()));
        assert!(text.contains(expected), "expected {expected:?} in {text}");
    }
    assert_eq!(std::fs::read(folder.join("xt.npy")).unwrap(), before);
    assert!(!folder.join("new.npy").exists() && !folder.join("same.npy").exists());
}
