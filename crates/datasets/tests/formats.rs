//! Each format is read exactly, and the arrays in it are recognised under the names of the wild.

mod common;

use std::path::{Path, PathBuf};

use common::{LABELS, features};
use datasets::format::{Contents, Layout, ReadOptions, Values, parse};
use datasets::{Domain, Selection, read_labelled, resize_images};
use ndarray::{Array2, array, s};
use ndarray_npy::WriteNpyExt;

fn read(name: &str, bytes: &[u8]) -> Contents {
    parse(name, bytes, ReadOptions::default()).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

fn numbers<'a>(contents: &'a Contents, name: &str) -> &'a Array2<f64> {
    let array = contents.arrays.iter().find(|array| array.name == name);
    match array.map(|array| &array.values) {
        Some(Values::Numbers(matrix)) => matrix,
        other => panic!("{name}: {other:?}"),
    }
}

fn in_folder(files: &[(&str, Vec<u8>)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = files
        .iter()
        .map(|(name, bytes)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        })
        .collect();
    (folder, paths)
}

fn load(features: &Path, labels: Option<&Path>) -> Domain {
    let (features, labels) =
        read_labelled(features, labels, &Selection::default(), ReadOptions::default())
            .unwrap_or_else(|problem| panic!("{problem}"));
    Domain::from_label_names("X", features, &labels).unwrap()
}

#[test]
fn matlab_arrays_are_read_exactly_compressed_or_not() {
    for bytes in [common::mat(), common::uncompressed(&common::mat())] {
        let contents = read("x.mat", &bytes);
        assert_eq!(numbers(&contents, "fts"), features());
        assert_eq!(numbers(&contents, "labels").column(0).to_vec(), LABELS.map(f64::from));
    }
}

#[test]
fn every_matlab_number_type_is_read_and_sparse_matrices_become_dense() {
    use mat5::{DenseMatrix, Matrix, NamedArray, SparseMatrix, Values as V};
    let dense = |name: &str, values: V| NamedArray {
        name: name.into(),
        matrix: Matrix::Dense(DenseMatrix { rows: 1, cols: 2, values }),
    };
    let bytes = common::mat_of(vec![
        dense("i8", V::I8(vec![-128, 127])),
        dense("u8", V::U8(vec![0, 255])),
        dense("i16", V::I16(vec![-32768, 32767])),
        dense("u16", V::U16(vec![0, 65535])),
        dense("i32", V::I32(vec![i32::MIN, i32::MAX])),
        dense("u32", V::U32(vec![0, u32::MAX])),
        dense("i64", V::I64(vec![-(1 << 52), 1 << 52])),
        dense("u64", V::U64(vec![0, 1 << 52])),
        dense("f32", V::F32(vec![-0.1, 1e30])),
        dense("f64", V::F64(vec![-0.1, 1e300])),
        dense("logical", V::Bool(vec![true, false])),
        NamedArray {
            name: "sparse".into(),
            matrix: Matrix::Sparse(SparseMatrix {
                rows: 3,
                cols: 2,
                row_indices: vec![2, 0],
                col_ptr: vec![0, 1, 2],
                values: V::F64(vec![1.5, -2.0]),
            }),
        },
    ]);
    let contents = read("x.mat", &bytes);
    let row = |name: &str| numbers(&contents, name).row(0).to_vec();
    assert_eq!(row("i8"), [-128.0, 127.0]);
    assert_eq!(row("u8"), [0.0, 255.0]);
    assert_eq!(row("i16"), [-32768.0, 32767.0]);
    assert_eq!(row("u16"), [0.0, 65535.0]);
    assert_eq!(row("i32"), [f64::from(i32::MIN), f64::from(i32::MAX)]);
    assert_eq!(row("u32"), [0.0, f64::from(u32::MAX)]);
    assert_eq!(row("i64"), [-(2_f64.powi(52)), 2_f64.powi(52)]);
    assert_eq!(row("u64"), [0.0, 2_f64.powi(52)]);
    assert_eq!(row("f32"), [f64::from(-0.1_f32), f64::from(1e30_f32)]);
    assert_eq!(row("f64"), [-0.1, 1e300]);
    assert_eq!(row("logical"), [1.0, 0.0]);
    assert_eq!(numbers(&contents, "sparse"), ndarray::array![[0.0, -2.0], [0.0, 0.0], [1.5, 0.0]]);
}

#[test]
fn numpy_arrays_are_read_in_either_memory_order_and_type() {
    assert_eq!(numbers(&read("x.npy", &common::npy()), ""), features());

    let mut column_order = Vec::new();
    let transposed = features().reversed_axes().as_standard_layout().into_owned();
    transposed.t().write_npy(&mut column_order).unwrap();
    assert_eq!(numbers(&read("x.npy", &column_order), ""), features());

    let mut single = Vec::new();
    ndarray::array![[0.5_f32, -1.25]].write_npy(&mut single).unwrap();
    assert_eq!(numbers(&read("x.npy", &single), ""), ndarray::array![[0.5, -1.25]]);

    let contents = read("x.npz", &common::npz());
    assert_eq!(numbers(&contents, "X"), features());
    assert_eq!(numbers(&contents, "y").column(0).to_vec(), LABELS.map(f64::from));
}

#[test]
fn numpy_text_is_read() {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let header = "{'descr': '<U4', 'fortran_order': False, 'shape': (2,), }       \n";
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    for text in ["bike", "mug"] {
        let codes = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(4);
        bytes.extend(codes.flat_map(u32::to_le_bytes));
    }
    let contents = read("y.npy", &bytes);
    assert_eq!(contents.arrays[0].values, Values::Text(vec!["bike".into(), "mug".into()]));
}

#[test]
fn tables_have_one_array_a_column() {
    for (name, bytes) in [("x.csv", common::csv()), ("x.parquet", common::parquet())] {
        let contents = read(name, &bytes);
        assert_eq!(contents.layout, Layout::Columns);
        for (index, column) in ["a", "b", "c"].iter().enumerate() {
            assert_eq!(numbers(&contents, column).column(0), features().column(index), "{name}");
        }
    }
}

#[test]
fn a_table_without_header_and_with_another_separator_is_read() {
    for (separator, header) in [(",", false), (";", true), ("\t", false), (" ", false)] {
        let mut text = if header { format!("a{separator}b\n") } else { String::new() };
        text += &format!("1.5{separator}2\n3{separator}4\n");
        let contents = read("x.csv", text.as_bytes());
        let first = match &contents.arrays[0].values {
            Values::Numbers(column) => column.column(0).to_vec(),
            other => panic!("{other:?}"),
        };
        assert_eq!(first, [1.5, 3.0], "separator {separator:?}");
    }
}

#[test]
fn mnist_images_are_resized_to_usps_resolution_and_gzip_makes_no_difference() {
    let bytes = common::idx_images(3, 28);
    let options = ReadOptions { image_side: None };
    let original = parse("train-images-idx3-ubyte", &bytes, options).unwrap();
    let original = numbers(&original, "images");
    assert_eq!(original.dim(), (3, 784));
    assert_eq!(original.slice(s![0, 0..3]).to_vec(), [0.0, 1.0, 2.0]);

    let resized = read("train-images-idx3-ubyte", &bytes);
    assert_eq!(numbers(&resized, "images"), resize_images(original.view(), 28, 16));
    assert_eq!(read("train-images-idx3-ubyte.gz", &common::gzip(&bytes)), resized);
}

#[test]
fn parquet_columns_of_small_whole_numbers_are_read() {
    use polars_core::prelude::{Column, DataFrame};
    let columns = vec![
        Column::new("a".into(), vec![0_u8, 255]),
        Column::new("b".into(), vec![-1_i8, 1]),
        Column::new("c".into(), vec![60_000_u16, 1]),
        Column::new("label".into(), vec![2_i16, 1]),
    ];
    let mut table = DataFrame::new(2, columns).unwrap();
    let mut bytes = Vec::new();
    polars_io::parquet::write::ParquetWriter::new(&mut bytes).finish(&mut table).unwrap();
    let (_folder, paths) = in_folder(&[("x.parquet", bytes)]);
    let domain = load(&paths[0], None);
    assert_eq!(domain.features(), array![[0.0, -1.0, 60_000.0], [255.0, 1.0, 1.0]]);
}

#[test]
fn usps_greys_are_moved_to_zero_and_one() {
    let contents = read("zip.train.gz", &common::gzip(&common::usps()));
    let images = numbers(&contents, "images");
    assert_eq!(images.dim(), (2, 256));
    assert_eq!((images[[0, 0]], images[[1, 255]]), (0.0, 0.75));
    assert_eq!(numbers(&contents, "labels").column(0).to_vec(), [6.0, 5.0]);
    assert_eq!(read("a-renamed-file", &common::usps()), contents);
    // As many numbers with the label elsewhere are a table.
    let row = (0..257).map(|place| format!("{}.5", place % 3)).collect::<Vec<_>>().join(" ");
    let table = read("mine.txt", format!("{row}\n{row}\n").as_bytes());
    assert_eq!(table.arrays.len(), 257);
}

#[test]
fn the_names_of_the_wild_are_recognised() {
    for (features_name, labels_name) in
        [("fts", "labels"), ("fea", "gnd"), ("feas", "labels"), ("X", "Y"), ("features", "label")]
    {
        let bytes = common::mat_of(vec![
            common::mat_array(features_name, &features()),
            common::mat_labels(labels_name),
        ]);
        let (_folder, paths) = in_folder(&[("x.mat", bytes)]);
        let domain = load(&paths[0], None);
        assert_eq!(domain.features(), features(), "{features_name}");
        assert_eq!(domain.labels(), [0, 1, 1, 0], "{labels_name}");
        assert_eq!(domain.class_names(), ["1", "2"]);
    }
}

#[test]
fn samples_in_columns_are_turned_as_in_the_digit_files() {
    let columns = features().reversed_axes().as_standard_layout().into_owned();
    let bytes = common::mat_of(vec![
        common::mat_array("X_tar", &columns.slice(s![.., 0..2]).to_owned()),
        common::mat_array("X_src", &columns),
        common::mat_labels("Y_src"),
    ]);
    let (_folder, paths) = in_folder(&[("x.mat", bytes)]);
    assert_eq!(load(&paths[0], None).features(), features());
}

#[test]
fn features_and_labels_may_come_in_files_of_different_formats() {
    let (_folder, paths) = in_folder(&[
        ("x.npy", common::npy()),
        ("y-idx1-ubyte", common::idx_labels(&LABELS)),
        ("y.csv", b"1\n2\n2\n1\n".to_vec()),
        ("x.parquet", common::parquet()),
        ("x.csv", common::csv()),
        ("x.npz", common::npz()),
    ]);
    let expected = load(&paths[0], Some(&paths[1]));
    assert_eq!(expected.features(), features());
    assert_eq!(load(&paths[0], Some(&paths[2])), expected);
    assert_eq!(load(&paths[3], None), expected);
    assert_eq!(load(&paths[5], None), expected);

    let named = load(&paths[4], None);
    assert_eq!(named.class_names(), ["bike", "mug"]);
    assert_eq!(named.labels(), [1, 0, 0, 1]);
    assert_eq!(named.features(), features());
}

#[test]
fn the_first_line_of_one_column_is_a_name_or_a_label() {
    for (text, expected) in [
        ("mug\nbike\n", &["mug", "bike"][..]),
        ("label\nmug\nbike\n", &["mug", "bike"]),
        ("kind\n1\n2\n", &["1", "2"]),
        ("1\n2\n", &["1", "2"]),
    ] {
        let (_folder, paths) = in_folder(&[("y.csv", text.as_bytes().to_vec())]);
        assert_eq!(datasets::read_labels(&paths[0]).unwrap(), expected, "{text:?}");
    }
}

#[test]
fn spaces_around_labels_and_the_sign_of_zero_make_no_classes() {
    let (_folder, paths) = in_folder(&[
        ("text.csv", b"a,label\n1, mug\n2,mug\n".to_vec()),
        ("numbers.csv", b"a,label\n1,-0.0\n2,0\n".to_vec()),
    ]);
    assert_eq!(load(&paths[0], None).class_names(), ["mug"]);
    assert_eq!(load(&paths[1], None).class_names(), ["0"]);
}

#[test]
fn a_missing_value_in_the_first_line_does_not_make_it_a_header() {
    // Nor does the mark that some editors put before the text.
    for text in ["1,,3\n4,5,6\n", "\u{feff}1,2,3\n4,5,6\n"] {
        let contents = read("x.csv", text.as_bytes());
        let Values::Numbers(first) = &contents.arrays[0].values else { panic!("{contents:?}") };
        assert_eq!((contents.arrays.len(), first.column(0).to_vec()), (3, vec![1.0, 4.0]));
    }
}

/// A `.npy` of this type and shape.
fn npy_of(descriptor: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header =
        format!("{{'descr': '{descriptor}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn half_precision_numbers_are_read() {
    // 1, −2, the smallest subnormal, the largest number, ⅓ rounded.
    let bits = [0x3c00_u16, 0xc000, 0x0001, 0x7bff, 0x3555];
    let expected = [1.0, -2.0, 2_f64.powi(-24), 65504.0, 0.333_251_953_125];
    let little: Vec<u8> = bits.iter().flat_map(|half| half.to_le_bytes()).collect();
    let big: Vec<u8> = bits.iter().flat_map(|half| half.to_be_bytes()).collect();
    for (descriptor, data) in [("<f2", little), (">f2", big)] {
        let contents = read("x.npy", &npy_of(descriptor, "(5,)", &data));
        assert_eq!(numbers(&contents, "").column(0).to_vec(), expected, "{descriptor}");
    }
}

#[test]
fn an_odd_array_in_an_archive_does_not_spoil_the_others() {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("X.npy", common::npy()),
        ("y.npy", npy_of("<i8", "(4,)", &[1_i64, 2, 2, 1].map(i64::to_le_bytes).concat())),
        ("names.npy", npy_of("|O", "(4,)", &[0; 32])),
        ("scalar.npy", npy_of("<f8", "()", &[0; 8])),
    ] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut archive, &bytes).unwrap();
    }
    let bytes = archive.finish().unwrap().into_inner();
    let contents = read("x.npz", &bytes);
    for place in [2, 3] {
        assert!(matches!(contents.arrays[place].values, Values::Other(_)), "{contents:?}");
    }
    let (_folder, paths) = in_folder(&[("x.npz", bytes)]);
    assert_eq!(load(&paths[0], None).features(), features());
}

#[test]
fn an_array_of_any_name_can_be_selected() {
    let bytes = common::mat_of(vec![
        common::mat_array("fts", &(features() * 2.0)),
        common::mat_array("other", &features()),
        common::mat_labels("truth"),
    ]);
    let (_folder, paths) = in_folder(&[("x.mat", bytes)]);
    let selection = Selection { features: Some("other".into()), labels: Some("truth".into()) };
    let (found, labels) =
        read_labelled(&paths[0], None, &selection, ReadOptions::default()).unwrap();
    assert_eq!(found, features());
    assert_eq!(labels, ["1", "2", "2", "1"]);
}
