//! Each kind of bad input gets its sentence: what, where, how to fix.

mod common;

use std::path::Path;

use common::features;
use datasets::format::{ReadOptions, parse};
use datasets::{
    DataSet, Domain, DrawKey, DrawSizes, Selection, align_classes, draw, read_features,
    read_labelled,
};
use ndarray::Array2;

/// Writes the bytes and tries to load a domain from them.
fn message(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let text = load(&path).expect_err("the file is bad").to_string();
    assert!(text.contains(name), "the file is not named: {text}");
    text
}

fn load(path: &Path) -> datasets::Result<Domain> {
    let (features, labels) =
        read_labelled(path, None, &Selection::default(), ReadOptions::default())?;
    Domain::from_label_names("X", features, &labels)
}

fn assert_says(text: &str, expected: &str) {
    assert!(text.contains(expected), "expected {expected:?} in {text:?}");
}

/// An uncompressed .mat with one array whose header declares `rows` × `columns`.
fn mat_declaring(rows: i32, columns: i32) -> Vec<u8> {
    let mut bytes = common::uncompressed(&common::mat());
    // The file's header, the array's tag, its flags, the tag of the dimensions.
    let dimensions = 128 + 8 + 16 + 8;
    bytes[dimensions..dimensions + 4].copy_from_slice(&rows.to_le_bytes());
    bytes[dimensions + 4..dimensions + 8].copy_from_slice(&columns.to_le_bytes());
    bytes
}

#[test]
fn a_file_that_is_not_there() {
    let text = load(Path::new("no/such/file.mat")).unwrap_err().to_string();
    assert_says(&text, "no/such/file.mat: cannot read the file");
}

#[test]
fn not_a_mat_file() {
    assert_says(&message("x.mat", b"hello"), "not a MATLAB v5 file: it has 5 bytes");
    assert_says(&message("x.mat", &[b'x'; 300]), "its header lacks the byte-order mark");
}

#[test]
fn a_mat_file_of_another_version() {
    let mut hdf5 = vec![0; 600];
    hdf5[..10].copy_from_slice(b"MATLAB 7.3");
    assert_says(
        &message("x.mat", &hdf5),
        "v7.3 (HDF5) file. Save it again from MATLAB with the option -v7",
    );
    let mut big_endian = common::mat();
    big_endian[126..128].copy_from_slice(b"MI");
    assert_says(&message("x.mat", &big_endian), "big-endian");
}

#[test]
fn a_truncated_file() {
    let cut = |bytes: Vec<u8>, kept: usize| bytes[..kept].to_vec();
    let mat = common::mat();
    let plain = common::uncompressed(&mat);
    let half = plain.len() / 2;
    assert_says(&message("x.mat", &cut(plain, half)), "the MATLAB v5 file is truncated");
    let half = mat.len() - 20;
    assert_says(&message("x.mat", &cut(mat, half)), "the MATLAB v5 file is truncated");
    assert_says(
        &message("x.npy", &cut(common::npy(), 140)),
        "the NumPy file is truncated: it declares 12 values of 8 bytes each and has 12 bytes of data",
    );
    assert_says(
        &message("x.parquet", &cut(common::parquet(), 60)),
        "the Parquet file is truncated",
    );
    assert_says(
        &message("x-idx1-ubyte", &cut(common::idx_labels(&[1, 2, 3]), 9)),
        "it declares 3 bytes of data and has 1",
    );
    assert_says(
        &message("x.gz", &cut(common::gzip(&common::usps()), 40)),
        "the gzip file is truncated",
    );
    assert_says(&message("zip.train", &cut(common::usps(), 1000)), "pixels instead of 256");
    assert_says(&message("x.npz", &cut(common::npz(), 200)), "not a NumPy .npz file");
}

#[test]
fn an_absurd_declared_size_is_refused_before_anything_is_allocated() {
    assert_says(
        &message("x.mat", &mat_declaring(i32::MAX, i32::MAX)),
        "declares an array of 2147483647×2147483647, more than the limit",
    );
    assert_says(&message("x.mat", &mat_declaring(-4, 3)), "a dimension is -4");

    let mut npy = common::npy();
    let shape = npy.windows(6).position(|window| window == b"(4, 3)").unwrap();
    npy.splice(shape..shape + 19, *b"(4000000, 3000000)}");
    assert_says(
        &message("x.npy", &npy),
        "declares an array of 4000000×3000000, more than the limit",
    );

    let mut idx = common::idx_images(1, 2);
    idx[4..16].fill(0xff);
    assert_says(
        &message("x-idx3-ubyte", &idx),
        "declares an array of 4294967295×4294967295×4294967295",
    );
}

#[test]
fn a_wrong_shape() {
    assert_says(
        &message("x.mat", &mat_declaring(4, 5)),
        "array fts declares 4×5 values and has 12",
    );
    let three = common::mat_array("fts", &Array2::zeros((3, 2)));
    assert_says(
        &message("x.mat", &common::mat_of(vec![three, common::mat_labels("labels")])),
        "the features are 3×2 and there are 4 labels: neither side matches",
    );
    let square = common::mat_array("labels", &Array2::zeros((4, 4)));
    assert_says(
        &message("x.mat", &common::mat_of(vec![common::mat_array("fts", &features()), square])),
        "the labels must be one number or text a sample, but there is labels 4×4",
    );
}

#[test]
fn a_value_that_is_not_finite_is_located() {
    for (bad, spelled) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let mut broken = features();
        broken[[2, 1]] = bad;
        let bytes =
            common::mat_of(vec![common::mat_array("fts", &broken), common::mat_labels("labels")]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.mat");
        std::fs::write(&path, bytes).unwrap();
        let text = load(&path).unwrap_err().to_string();
        assert_says(&text, &format!("x.mat: the value in row 3, column 2 is {spelled}"));
    }
    for entry in ["nan", "", "NaN"] {
        let text = message("x.csv", format!("label,a,b\nmug,1,2\nbike,3,{entry}\n").as_bytes());
        assert_says(&text, "x.csv: the value in row 2, column \"b\" is NaN");
    }
}

#[test]
fn a_value_that_is_not_finite_is_located_as_the_file_has_it_when_samples_are_columns() {
    let mut columns = features().reversed_axes().as_standard_layout().into_owned();
    columns[[1, 2]] = f64::NAN;
    let arrays = vec![common::mat_array("fts", &columns), common::mat_labels("labels")];
    assert_says(&message("x.mat", &common::mat_of(arrays)), "row 2, column 3 is NaN");
}

#[test]
fn a_missing_label_is_located() {
    let text = message("x.csv", b"a,label\n1,mug\n2,\n3,bike\n");
    assert_says(&text, "the label of row 2 is empty");
}

#[test]
fn two_columns_that_look_like_labels() {
    let text = message("x.csv", b"x,y,class\n1,2,1\n3,4,2\n");
    assert_says(&text, "both y and class look like labels; name one with labels_array");
}

#[test]
fn features_by_name_beside_the_labels_of_two_domains() {
    let bytes = common::mat_of(vec![
        common::mat_array("X_src", &features()),
        common::mat_labels("Y_src"),
        common::mat_array("X_tar", &features()),
        common::mat_labels("Y_tar"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("both.mat");
    std::fs::write(&path, bytes).unwrap();
    let read = |labels: Option<&str>| {
        let selection =
            Selection { features: Some("X_tar".into()), labels: labels.map(str::to_owned) };
        read_labelled(&path, None, &selection, ReadOptions::default())
    };
    let text = read(None).unwrap_err().to_string();
    assert_says(&text, "Y_src and Y_tar look like labels. Name one with labels_array");
    assert!(read(Some("Y_tar")).is_ok());
    assert!(load(&path).is_ok(), "without a choice the known names are taken");
}

#[test]
fn an_index_that_pandas_wrote() {
    let text = message("x.csv", b",a,b,label\n0,1.5,2,mug\n1,3.5,4,bike\n");
    assert_says(&text, "column 1 has no name and a number of its own for each row");
    assert_says(&text, "to_csv(index=False)");
    // R counts from one, and rows may have been shuffled or filtered.
    let text = message("x.csv", b"\"\",a,b,label\n7,1.5,2,mug\n3,3.5,4,bike\n");
    assert_says(&text, "it is an index and no feature");
}

#[test]
fn a_first_line_that_may_be_a_sample_or_a_header() {
    let text = message("x.csv", b"1.5,2,mug\n3.5,4,bike\n");
    assert_says(&text, "line 1 holds both numbers and text");
    let text = message("x.csv", b"0,1,2\n1.5,2.5,3\n3.5,4.5,1\n");
    assert_says(&text, "line 1 counts 0, 1, 2, …");
}

#[test]
fn rows_of_different_length() {
    let lines = "rows have different numbers of fields: line";
    for (text, expected) in [
        ("a,b,label\n1,2,mug\n3,4,5,bike\n", format!("{lines} 1 has 3, line 3 has 4")),
        ("a,b,label\n1,2,mug\n3,4\n", format!("{lines} 1 has 3, line 3 has 2")),
        ("1,2\n3,4\n5,6\n7,8\n9,1\n2,3,4\n", format!("{lines} 1 has 2, line 6 has 3")),
        ("\n\"a,b\",label\n1,2\n\"3\",4,5\n", format!("{lines} 2 has 2, line 4 has 3")),
        ("a,b,label\n1,2,mug\n\n3,4,bike\n\n", "line 3 is empty. Remove it".to_owned()),
    ] {
        assert_says(&message("x.csv", text.as_bytes()), &expected);
    }
}

#[test]
fn a_column_that_is_called_like_labels_is_no_feature() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let labels = "mug\nbike\n";
    std::fs::write(path("labels.csv"), labels).unwrap();
    std::fs::write(path("other.csv"), "mug\nmug\n").unwrap();
    std::fs::write(path("x.csv"), "a,label,b,class\n1,mug,2,mug\n3,bike,4,bike\n").unwrap();
    std::fs::write(path("xy.csv"), "x,y\n1,2\n3,4\n").unwrap();
    std::fs::write(path("plane.csv"), "x,y\n1,2.5\n3,4\n").unwrap();
    let read = |features: &str, labels: &str| {
        let (features, labels) = (path(features), path(labels));
        read_labelled(&features, Some(&labels), &Selection::default(), ReadOptions::default())
    };
    let (features, found) = read("x.csv", "labels.csv").unwrap();
    assert_eq!(features, ndarray::array![[1., 2.], [3., 4.]]);
    assert_eq!(found, ["mug", "bike"]);
    for (features, labels, column) in
        [("x.csv", "other.csv", "label"), ("xy.csv", "labels.csv", "y")]
    {
        let text = read(features, labels).unwrap_err().to_string();
        assert_says(&text, &format!("{features}: column {column:?} is called like labels"));
        assert_says(&text, &format!("{labels}. Remove one of the two, or give the column another"));
    }
    // Fractions are no labels: these are points of a plane.
    let (plane, _) = read("plane.csv", "labels.csv").unwrap();
    assert_eq!(plane, ndarray::array![[1., 2.5], [3., 4.]]);
    assert_eq!(read_features(&path("plane.csv"), None, Some(2)).unwrap(), plane);

    // Under a name of its own the labels' column is found in the file itself.
    std::fs::write(path("own.csv"), "a,kind\n1,7\n3,8\n").unwrap();
    let selection = Selection { features: None, labels: Some("kind".into()) };
    let (own, options) = (path("own.csv"), ReadOptions::default());
    let (features, _) = read_labelled(&own, Some(&own), &selection, options).unwrap();
    assert_eq!(features, ndarray::array![[1.], [3.]]);

    // A target, whose labels nobody asks for.
    let target = read_features(&path("x.csv"), None, Some(2)).unwrap();
    assert_eq!(target, ndarray::array![[1., 2.], [3., 4.]]);
    let text = read_features(&path("xy.csv"), None, Some(2)).unwrap_err().to_string();
    assert_says(
        &text,
        "column \"y\" is called like labels, and without it too few features are left: 1",
    );
}

#[test]
fn a_table_is_not_turned_to_fit_its_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (table, labels) = (folder.path().join("x.csv"), folder.path().join("y.csv"));
    std::fs::write(&table, "a,b,c\n1,2,3\n4,5,6\n").unwrap();
    std::fs::write(&labels, "1\n2\n3\n").unwrap();
    let result =
        read_labelled(&table, Some(&labels), &Selection::default(), ReadOptions::default());
    assert_says(&result.unwrap_err().to_string(), "the table has 2 rows and there are 3 labels");
}

#[test]
fn an_image_side_without_meaning() {
    for side in [0, 257, usize::MAX] {
        let options = ReadOptions { image_side: Some(side) };
        let text = read_labelled(Path::new("x.gz"), None, &Selection::default(), options)
            .unwrap_err()
            .to_string();
        assert_says(&text, &format!("image_side = {side} is not allowed"));
    }
}

#[test]
fn more_data_than_declared() {
    let mut idx = common::idx_labels(&[1, 2, 3]);
    idx.push(4);
    assert_says(
        &message("x-idx1-ubyte", &idx),
        "has more data than it declares: it declares 3 bytes of data and has 4",
    );
    let mut npy = common::npy();
    npy.extend([0; 8]);
    assert_says(&message("x.npy", &npy), "the NumPy file has more data than it declares");
}

#[test]
fn a_file_larger_than_the_limit_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    // Sparse: it takes no space on the disk.
    std::fs::File::create(&path).unwrap().set_len((1 << 31) + 1).unwrap();
    assert_says(&load(&path).unwrap_err().to_string(), "more than the limit of 2147483648");
}

#[test]
fn missing_labels_and_features_say_what_was_found() {
    let text = message("x.mat", &common::mat_of(vec![common::mat_array("fts", &features())]));
    assert_says(&text, "no labels found. It holds: fts 4×3.");
    assert_says(&text, "labels_array");
    let arrays = vec![
        common::mat_array("one", &features()),
        common::mat_array("two", &features()),
        common::mat_labels("gnd"),
    ];
    let text = message("x.mat", &common::mat_of(arrays));
    assert_says(&text, "no features found. It holds: one 4×3, two 4×3, gnd 4×1.");
    assert_says(&text, "features_array");
}

#[test]
fn labels_that_are_no_classes() {
    let text = message("x.csv", b"a,label\n1,0.5\n2,1\n");
    assert_says(&text, "the label of row 1 is 0.5. Labels must be whole numbers or text");
}

#[test]
fn text_among_the_features() {
    let text = message("x.csv", b"a,b,label\n1,2,mug\n3,four,bike\n");
    assert_says(&text, "column \"b\", row 2: \"four\" is not a number");
}

#[test]
fn an_unsupported_numpy_type_says_how_to_save() {
    let mut bytes = common::npy();
    let place = bytes.windows(3).position(|window| window == b"<f8").unwrap();
    bytes[place..place + 3].copy_from_slice(b"|O8");
    assert_says(&message("x.npy", &bytes), "astype('float64')");
}

#[test]
fn an_array_of_three_axes_says_how_to_save() {
    let mut bytes = common::npy();
    let shape = bytes.windows(6).position(|window| window == b"(4, 3)").unwrap();
    bytes.splice(shape..shape + 10, *b"(2, 2, 3)}");
    assert_says(&message("x.npy", &bytes), "3-dimensional array; reshape it to samples × features");
}

#[test]
fn an_unknown_format_lists_the_known_ones() {
    assert_says(&message("x.docx", b"whatever"), "Known are .mat (v5), .npy, .npz, .csv");
}

#[test]
fn an_empty_domain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, b"a,b,label\n").unwrap();
    assert_says(&load(&path).unwrap_err().to_string(), "domain X: it is empty (0 samples");
    assert_says(&message("empty.csv", b""), "not a CSV file: it is empty");
}

fn domain(name: &str, width: usize, class_sizes: &[usize]) -> Domain {
    let labels: Vec<usize> =
        class_sizes.iter().enumerate().flat_map(|(class, &size)| vec![class; size]).collect();
    let classes = (0..class_sizes.len()).map(|class| format!("c{class}")).collect();
    Domain::new(name, Array2::ones((labels.len(), width)), labels, classes).unwrap()
}

fn draw_message(source: &Domain, target: &Domain, sizes: DrawSizes) -> String {
    let key = DrawKey { seed: 1, source: source.name(), target: target.name(), trial: 0 };
    draw(source, target, sizes, key).expect_err("the draw is impossible").to_string()
}

#[test]
fn a_class_with_fewer_samples_than_the_draw_needs() {
    let (source, target) = (domain("D", 2, &[9, 8]), domain("W", 2, &[2, 5]));
    let text = draw_message(
        &source,
        &target,
        DrawSizes { source_per_class: 9, labelled_target_per_class: 0 },
    );
    assert_says(
        &text,
        "domain D: class c1 has 8 samples and the draw needs 9 of them. Lower source_per_class",
    );
    let text = draw_message(
        &source,
        &target,
        DrawSizes { source_per_class: usize::MAX, labelled_target_per_class: 0 },
    );
    assert_says(&text, "class c0 has 9 samples and the draw needs 18446744073709551615");
    let text = draw_message(
        &source,
        &target,
        DrawSizes { source_per_class: 8, labelled_target_per_class: 3 },
    );
    assert_says(
        &text,
        "domain W: class c0 has 2 samples and the draw needs 3 of them. Lower labelled_target_per_class",
    );
}

#[test]
fn a_class_that_only_the_target_has() {
    let named = |name: &str, labels: &[&str]| {
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        Domain::from_label_names(name, Array2::ones((labels.len(), 1)), &labels).unwrap()
    };
    let (few, many) = (named("X", &["1", "1", "1", "2", "2", "2"]), named("Z", &["1", "2", "3"]));
    let sizes = DrawSizes { source_per_class: 1, labelled_target_per_class: 1 };
    let (source, target) = align_classes(&few, &many);
    assert_says(
        &draw_message(&source, &target, sizes),
        "domain X has no sample of class 3, which domain Z has. Remove that class from Z",
    );
    let (source, target) = align_classes(&many, &few);
    let key = DrawKey { seed: 1, source: "Z", target: "X", trial: 0 };
    let drawn = draw(&source, &target, sizes, key).unwrap();
    assert_eq!((drawn.source.len(), drawn.labelled_target.len()), (3, 2));
}

#[test]
fn a_target_of_which_nothing_is_left_to_label() {
    let message = |labelled_target_per_class: usize, counts: &[usize]| {
        let sizes = DrawSizes { source_per_class: 1, labelled_target_per_class };
        draw_message(&domain("D", 2, &[3, 3]), &domain("W", 2, counts), sizes)
    };
    assert_says(
        &message(2, &[2, 3]),
        "W: no class has two samples beside the 4 that are drawn with labels (labelled_target_per_class), so that",
    );
    assert_says(
        &message(0, &[1, 1]),
        "W: no class has two samples, so that none can be cut in two",
    );
}

#[test]
fn domains_of_different_width() {
    let text = draw_message(
        &domain("D", 2, &[3]),
        &domain("W", 5, &[3]),
        DrawSizes { source_per_class: 1, labelled_target_per_class: 0 },
    );
    assert_says(&text, "domains D and W differ in width: 2 and 5 features");
}

#[test]
fn unknown_names_list_the_known_ones() {
    assert_says(
        &DataSet::find("ofice").unwrap_err().to_string(),
        "Known: digits, pie, office-surf",
    );
    let set = DataSet::find("office-surf").unwrap();
    assert_says(&set.domain("X").unwrap_err().to_string(), "It has: C, A, W, D");
}

#[test]
fn nested_gzip_is_opened_once() {
    let nested = common::gzip(&common::gzip(b"hello"));
    let problem = parse("x.gz", &nested, ReadOptions::default()).unwrap_err().to_string();
    assert_says(&problem, "neither its content nor its name says what format it has");
}
