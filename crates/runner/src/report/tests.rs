//! What the whole page has to hold, on the committed results and on hostile names.

use std::path::PathBuf;

use super::*;
use crate::config::Point;
use crate::unit::Score;

fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results").join(name)
}

fn page_of(results: &Results) -> String {
    page::page(&[Subject::of(results, None)], &[], "runner report").unwrap()
}

/// The values of an attribute, in the order of the page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Panics unless every tag is closed in order. Our SVG has neither comments nor bare ampersands.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (inside, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains('>') || open.last() == Some(&"style"), "a bare > in {text}");
        assert_eq!(inside.matches('"').count() % 2, 0, "quotes in {inside}");
        let name = inside.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !inside.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    for entity in svg.split('&').skip(1) {
        let name = entity.split(';').next().unwrap_or_default();
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "&{name}");
    }
}

#[test]
fn the_numbers_of_the_page_are_those_of_the_table() {
    for name in ["office", "two_moons", "semi_supervised", "quick", "decaf"] {
        let results = Results::read(&committed(name)).unwrap();
        let csv = std::fs::read_to_string(committed(name).join("table.csv")).unwrap();
        let numbers: Vec<&str> = csv
            .lines()
            .skip(1)
            .flat_map(|line| line.split(',').skip(1))
            .filter(|number| !number.is_empty())
            .collect();
        assert_eq!(attributes(&page_of(&results), "data-value"), numbers, "{name}");
    }
}

#[test]
fn a_page_of_1200_units_is_small_and_its_drawings_are_well_formed() {
    let results = Results::read(&committed("office")).unwrap();
    let page = page_of(&results);
    assert!(results.records.len() >= 1200 && page.len() < 3_000_000, "{} bytes", page.len());
    let drawings: Vec<&str> = page
        .split("<svg")
        .skip(1)
        .map(|rest| rest.split("</svg>").next().unwrap_or_default())
        .collect();
    // Means, critical difference, eight grids, two maps of convergence, five of gaps, times.
    assert!(drawings.len() >= 17, "{} drawings", drawings.len());
    for drawing in drawings {
        assert_well_formed(&format!("<svg{drawing}</svg>"));
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"));
    }
}

#[test]
fn markup_in_names_stays_text() {
    let evil = "<script>alert(\"'&\")</script>";
    let mut results = Results::read(&committed("quick")).unwrap();
    let experiment = &mut results.manifest.experiment;
    let methods: Vec<(String, String)> = experiment
        .methods
        .iter()
        .map(|method| (method.id.clone(), format!("{evil}{}", method.id)))
        .collect();
    experiment.name = evil.into();
    for (method, (_, new)) in experiment.methods.iter_mut().zip(&methods) {
        method.id.clone_from(new);
        method.title.clone_from(new);
    }
    for block in &mut experiment.blocks {
        block.prefix = evil.into();
        for pair in &mut block.pairs {
            pair.source = format!("{evil}{}", pair.source);
        }
    }
    for record in &mut results.records {
        record.prefix = evil.into();
        record.pair = format!("{evil}{}", record.pair);
        let new = methods.iter().find(|(old, _)| *old == record.method);
        record.method.clone_from(&new.unwrap().1);
    }
    results.records[0].ending = Ending::Failed(evil.into());
    results.manifest.command = evil.into();
    results.manifest.checksums.push(vec![(evil.into(), evil.into())]);
    results.manifest.origin.machine.cpu = evil.into();
    let page = page_of(&results);
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(page.contains("&lt;script&gt;alert(&quot;&#39;&amp;&quot;)&lt;/script&gt;"));
    assert!(page.contains("Failed: &lt;script"));
}

#[test]
fn what_is_missing_or_misprinted_is_said() {
    let mut results = Results::read(&committed("office")).unwrap();
    let misprints = "OT-GL 47.70 (45.67)";
    assert!(page_of(&results).contains(misprints));
    results
        .records
        .retain(|record| !(record.pair == "C->A" && record.method == "jda" && record.trial == 1));
    results.manifest.experiment.methods.retain(|method| method.id != "ot-gl");
    results.manifest.experiment.blocks[0].pairs.pop();
    let warnings = warnings::warnings(&Subject::of(&results, None)).join("\n");
    for expected in [
        "a trial is missing or failed: 1.",
        "Pairs of the paper that are not here: D → W.",
        "Columns of the paper that are not here: OT-GL.",
        "OT-LpL1: ",
    ] {
        assert!(warnings.contains(expected), "{expected} in {warnings}");
    }
}

#[test]
fn a_history_is_shown_with_its_own_results_only() {
    let results = Results::read(&committed("quick")).unwrap();
    let step = |gap: f64| crate::history::Step { objective: 1.0 + gap, gap };
    let mut history = History {
        key: results.records[0].key.clone(),
        title: "OT-Laplace".into(),
        pair: "A->B".into(),
        trial: 1,
        point: Point(vec![("lambda".into(), 1.0)]),
        iterations: 2,
        stop: "converged".into(),
        steps: vec![step(1.0), step(0.1), step(1e-7)],
    };
    let shown = |history: &History| {
        page::page(&[Subject::of(&results, Some(history))], &[], "")
            .unwrap()
            .contains("A → B, trial 1")
    };
    assert!(shown(&history));
    history.key = "of another run".into();
    assert!(!shown(&history));
}

#[test]
fn a_store_of_one_unit_without_a_grid_has_a_page() {
    let mut results = Results::read(&committed("digits")).unwrap();
    results.records.truncate(1);
    for record in &mut results.records {
        if let Ending::Scored(UnitScores { tried, .. }) = &mut record.ending {
            *tried = vec![Score {
                point: Point::default(),
                accuracy: 0.5,
                convergence: None,
                seconds: 0.0,
            }];
        }
    }
    assert!(page_of(&results).contains("<table class=\"results\""));
    results.records.clear();
    assert!(page_of(&results).ends_with("</html>\n"));
}

#[test]
fn folders_are_words_of_the_shell() {
    assert_eq!(in_shell("results/two_moons"), "results/two_moons");
    assert_eq!(in_shell("my results; rm"), "'my results; rm'");
    assert_eq!(in_shell("it's"), r"'it'\''s'");
}

#[test]
fn figures_that_need_no_data_are_well_formed() {
    let location = crate::cli::DataLocation { data: None, mirror: None };
    let library = crate::run_command::library(&location).unwrap();
    for file in ["illustration.svg", "transport_plan.svg"] {
        let figure = crate::figures::FIGURES.iter().find(|figure| figure.file == file).unwrap();
        assert_well_formed(&(figure.draw)(&library).unwrap());
    }
}
