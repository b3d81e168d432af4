//! Small files of every format, made in memory.
#![allow(dead_code, reason = "each test binary uses some of these")]

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::GzEncoder;
use mat5::{DenseMatrix, MatFile, Matrix, NamedArray, Values};
use ndarray::{Array1, Array2, array};
use ndarray_npy::{NpzWriter, WriteNpyExt};

/// Four samples of three features, in two classes.
pub fn features() -> Array2<f64> {
    array![[0.5, 1.0, 2.0], [3.0, 4.0, 5.5], [-6.0, 7.0, 8.0], [9.0, 10.0, 11.25]]
}

pub const LABELS: [u8; 4] = [1, 2, 2, 1];

pub fn mat_array(name: &str, matrix: &Array2<f64>) -> NamedArray {
    NamedArray {
        name: name.to_owned(),
        matrix: Matrix::Dense(DenseMatrix {
            rows: matrix.nrows(),
            cols: matrix.ncols(),
            values: Values::F64(matrix.t().iter().copied().collect()),
        }),
    }
}

pub fn mat_labels(name: &str) -> NamedArray {
    NamedArray {
        name: name.to_owned(),
        matrix: Matrix::Dense(DenseMatrix {
            rows: LABELS.len(),
            cols: 1,
            values: Values::U8(LABELS.to_vec()),
        }),
    }
}

/// Compressed, as MATLAB writes by default.
pub fn mat_of(arrays: Vec<NamedArray>) -> Vec<u8> {
    MatFile { header_text: "MATLAB 5.0 MAT-file".to_owned(), arrays }.write_bytes().unwrap()
}

pub fn mat() -> Vec<u8> {
    mat_of(vec![mat_array("fts", &features()), mat_labels("labels")])
}

/// The same file with no array compressed.
pub fn uncompressed(mat: &[u8]) -> Vec<u8> {
    let mut bytes = mat[..128].to_vec();
    let mut rest = &mat[128..];
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
        ZlibDecoder::new(&rest[8..8 + length]).read_to_end(&mut bytes).unwrap();
        rest = &rest[8 + length..];
    }
    bytes
}

pub fn npy() -> Vec<u8> {
    let mut bytes = Vec::new();
    features().write_npy(&mut bytes).unwrap();
    bytes
}

pub fn npz() -> Vec<u8> {
    let mut writer = NpzWriter::new_compressed(std::io::Cursor::new(Vec::new()));
    writer.add_array("X", &features()).unwrap();
    writer.add_array("y", &Array1::from_iter(LABELS.map(i64::from))).unwrap();
    writer.finish().unwrap().into_inner()
}

pub fn csv() -> Vec<u8> {
    b"a,b,c,label\n0.5,1,2,mug\n3,4,5.5,bike\n-6,7,8,bike\n9,10,11.25,mug\n".to_vec()
}

pub fn parquet() -> Vec<u8> {
    use polars_core::prelude::{Column, DataFrame};
    let matrix = features();
    let columns: Vec<Column> = ["a", "b", "c"]
        .iter()
        .enumerate()
        .map(|(index, name)| Column::new((*name).into(), matrix.column(index).to_vec()))
        .chain([Column::new("label".into(), LABELS.map(i64::from).to_vec())])
        .collect();
    let mut table = DataFrame::new(LABELS.len(), columns).unwrap();
    let mut bytes = Vec::new();
    polars_io::parquet::write::ParquetWriter::new(&mut bytes).finish(&mut table).unwrap();
    bytes
}

pub fn idx_labels(labels: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 1];
    bytes.extend(u32::try_from(labels.len()).unwrap().to_be_bytes());
    bytes.extend(labels);
    bytes
}

pub fn idx_images(count: u32, side: u32) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 3];
    for length in [count, side, side] {
        bytes.extend(length.to_be_bytes());
    }
    bytes.extend((0..count * side * side).map(|pixel| (pixel % 251) as u8));
    bytes
}

pub fn usps() -> Vec<u8> {
    let line = |label: f64, grey: f64| {
        std::iter::once(format!("{label:.4}"))
            .chain((0..256).map(|_| format!("{grey:.3}")))
            .collect::<Vec<_>>()
            .join(" ")
    };
    format!("{} \n{} \n", line(6.0, -1.0), line(5.0, 0.5)).into_bytes()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A file of every format, with the name that goes with it.
pub fn every_format() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("plain.mat", uncompressed(&mat())),
        ("compressed.mat", mat()),
        ("array.npy", npy()),
        ("arrays.npz", npz()),
        ("table.csv", csv()),
        ("table.parquet", parquet()),
        ("train-labels-idx1-ubyte", idx_labels(&LABELS)),
        ("train-images-idx3-ubyte.gz", gzip(&idx_images(2, 28))),
        ("zip.train", usps()),
        ("zip.train.gz", gzip(&usps())),
    ]
}
