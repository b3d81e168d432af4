//! The catalogue against the real files in `OTDA_DATA`; skipped, loudly, without it.

use std::io::Write as _;
use std::path::PathBuf;

use datasets::format::{self, ReadOptions, Values};
use datasets::{DataRoots, Environment, Fetcher, Library, OwnDomain, SETS, blob_id, preprocess};
use ndarray::Axis;

const SURF_CALTECH: &str = "office_surf/Caltech10_SURF_L10.mat";

/// The data in `OTDA_DATA`, if this file of it is there.
fn library(test: &str, needed: &str) -> Option<Library> {
    let folder = std::env::var_os("OTDA_DATA").unwrap_or_default();
    // Cargo runs tests in the package's folder; a relative OTDA_DATA is meant from the workspace.
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    if !folder.join(needed).is_file() {
        // Not eprintln: the test harness would swallow it.
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: OTDA_DATA has no {needed}");
        return None;
    }
    let environment = Environment { data_option: Some(folder), ..Environment::default() };
    // Port 9 discards: these tests must not download.
    Some(Library::new(DataRoots::new(&environment), Fetcher::new(Some("http://127.0.0.1:9"))))
}

#[test]
fn every_file_that_is_there_is_what_the_catalogue_says() {
    let test = "every_file_that_is_there_is_what_the_catalogue_says";
    let Some(library) = library(test, SURF_CALTECH) else { return };
    let mut loaded = 0;
    for (set, entry) in
        SETS.iter().flat_map(|set| set.domains.iter().map(move |entry| (set, entry)))
    {
        let Some(path) = library.find(set, entry) else { continue };
        // Shapes, labels and class counts are checked by the load itself.
        let domain = library.load(set, entry).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(domain.name(), entry.abbreviation);
        loaded += 1;
        // Faces from other encodings of the same images are accepted.
        if let (Some(source), true) = (entry.source, set.id != "pie") {
            assert_eq!(blob_id(&path).unwrap(), source.blob_id, "{}", path.display());
        }
    }
    assert!(loaded > 0);
}

#[test]
fn our_matlab_reader_agrees_with_another_one() {
    let Some(library) = library("our_matlab_reader_agrees_with_another_one", SURF_CALTECH) else {
        return;
    };
    for (set, entry) in
        SETS.iter().flat_map(|set| set.domains.iter().map(move |entry| (set, entry)))
    {
        let Some(path) = library.find(set, entry) else { continue };
        let theirs = mat5::MatFile::read_path(&path).unwrap();
        let ours = format::read(&path, ReadOptions::default()).unwrap();
        assert_eq!(ours.arrays.len(), theirs.arrays.len());
        for (ours, theirs) in ours.arrays.iter().zip(&theirs.arrays) {
            assert_eq!(ours.name, theirs.name);
            let (Values::Numbers(matrix), mat5::Matrix::Dense(dense)) =
                (&ours.values, &theirs.matrix)
            else {
                panic!("{}: {} is not a dense matrix", path.display(), ours.name)
            };
            assert_eq!(matrix.dim(), (dense.rows, dense.cols));
            // Both walk down the columns.
            assert!(matrix.t().iter().eq(&dense.values.to_f64()));
        }
    }
}

#[test]
fn surf_histograms_become_standard_scores() {
    let Some(library) = library("surf_histograms_become_standard_scores", SURF_CALTECH) else {
        return;
    };
    let set = datasets::DataSet::find("office-surf").unwrap();
    let entry = set.domain("C").unwrap();
    let domain = preprocess(library.load(set, entry).unwrap(), set.preprocessing).unwrap();
    for column in domain.features().axis_iter(Axis(1)) {
        assert!(column.mean().unwrap().abs() < 1e-12);
        let deviation = column.std(0.0);
        assert!((deviation - 1.0).abs() < 1e-12 || deviation == 0.0);
    }
}

#[test]
fn a_file_with_a_cell_array_beside_its_features_is_a_users_domain() {
    let test = "a_file_with_a_cell_array_beside_its_features_is_a_users_domain";
    let Some(library) = library(test, "office_alexnet_pool5/dslr.mat") else { return };
    let own = OwnDomain {
        features: "office_alexnet_pool5/dslr.mat".into(),
        labels: None,
        features_array: None,
        labels_array: None,
        image_side: 16,
    };
    let folder = PathBuf::new();
    let domain = library.load_own("D", &own, &folder).unwrap();
    assert_eq!((domain.samples(), domain.width()), (157, 9216));
    assert_eq!(domain.class_counts(), [12, 21, 12, 13, 10, 24, 22, 12, 8, 23]);
}
