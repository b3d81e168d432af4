//! Files to named arrays. Every reader works on bytes in memory, allocates no more than those bytes
//! (or [`MAX_VALUES`]) justify, and answers bad bytes with a sentence.

mod gzip;
mod idx;
mod mat;
mod npy;
mod table;
mod usps;

use std::cmp::Ordering;
use std::io::{ErrorKind, Read};
use std::path::Path;

use ndarray::Array2;

use crate::error::{Error, Result};

/// The most values one array may hold: 2 GiB as `f64`. A declared size beyond it is a damaged file.
pub const MAX_VALUES: usize = 1 << 28;

/// The side to which 28 × 28 images of an IDX file are resized: USPS's resolution.
pub const DEFAULT_IMAGE_SIDE: usize = 16;

/// The largest such side.
pub const MAX_IMAGE_SIDE: usize = 256;

/// The most bytes that a file may have, or inflate to: what [`MAX_VALUES`] take.
const MAX_BYTES: u64 = MAX_VALUES as u64 * 8;

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// In file order.
    pub arrays: Vec<NamedArray>,
    /// Whether the arrays are the columns of one table, or matrices of their own.
    pub layout: Layout,
}

/// How the arrays of a file belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Each array is a matrix of its own.
    Matrices,
    /// Each array is one column of the same table.
    Columns,
}

/// One array of a file. The name is empty where the format has none.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedArray {
    /// The name in the file.
    pub name: String,
    /// Its content.
    pub values: Values,
}

/// The content of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// A vector is a matrix with one column.
    Numbers(Array2<f64>),
    /// Text, one entry a sample.
    Text(Vec<String>),
    /// Something that is no data for us (a cell array, a struct, …), named for messages.
    Other(String),
}

impl NamedArray {
    fn numbers(name: impl Into<String>, values: Array2<f64>) -> Self {
        Self { name: name.into(), values: Values::Numbers(values) }
    }

    /// Name and shape, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = if self.name.is_empty() { "(unnamed)" } else { &self.name };
        match &self.values {
            Values::Numbers(matrix) => format!("{name} {}×{}", matrix.nrows(), matrix.ncols()),
            Values::Text(entries) => format!("{name} (text, {} entries)", entries.len()),
            Values::Other(kind) => format!("{name} ({kind})"),
        }
    }
}

/// Why bytes are not what they should be. The path is added by the caller.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each variant's message says what its fields are")]
pub enum FormatError {
    #[error("not a {format} file: {problem}.")]
    NotThisFormat { format: &'static str, problem: String },

    #[error("the {format} file is truncated: {problem}. Copy or download it again.")]
    Truncated { format: &'static str, problem: String },

    #[error(
        "the {format} file declares {declared}, more than the limit of {MAX_VALUES} values. \
         It is damaged, or too large to be read whole."
    )]
    TooLarge { format: &'static str, declared: String },

    #[error(
        "the {format} file has more data than it declares: {problem}. Copy or download it again."
    )]
    Surplus { format: &'static str, problem: String },

    #[error("the {format} file is damaged: {problem}. Copy or download it again.")]
    Damaged { format: &'static str, problem: String },

    #[error("{problem}. {remedy}.")]
    Unsupported { problem: String, remedy: &'static str },

    #[error(
        "neither its content nor its name says what format it has. \
         Known are .mat (v5), .npy, .npz, .csv, .tsv, .parquet, MNIST's IDX and USPS's zip.train, each also as .gz."
    )]
    Unknown,
}

type Parsed<T> = std::result::Result<T, FormatError>;

/// Options that only some formats use.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    /// The side to which images of 28 × 28 in an IDX file are resized; `None` keeps them.
    pub image_side: Option<usize>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { image_side: Some(DEFAULT_IMAGE_SIDE) }
    }
}

/// Reads a file of any known format.
pub fn read(path: &Path, options: ReadOptions) -> Result<Contents> {
    let unreadable = |cause| Error::Read { path: path.to_owned(), cause };
    let size = path.metadata().map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(Error::Content {
            path: path.to_owned(),
            problem: format!(
                "it has {size} bytes, more than the limit of {MAX_BYTES}. Keep fewer samples or features in it."
            ),
        });
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    parse(&name, &bytes, options).map_err(|cause| Error::Format { path: path.to_owned(), cause })
}

/// Parses the bytes of a file. The content decides the format; the name only where content cannot.
pub fn parse(
    file_name: &str,
    bytes: &[u8],
    options: ReadOptions,
) -> std::result::Result<Contents, FormatError> {
    parse_within(file_name, bytes, options, &mut Budget(MAX_BYTES))
}

fn parse_within(
    file_name: &str,
    bytes: &[u8],
    options: ReadOptions,
    budget: &mut Budget,
) -> Parsed<Contents> {
    let name = file_name.to_ascii_lowercase();
    if gzip::is_gzip(bytes) {
        let inner = gzip::inflate(bytes, budget)?;
        // Once only: nobody compresses twice, but a hostile file might a thousand times.
        return parse_plain(name.trim_end_matches(".gz"), &inner, options, budget);
    }
    parse_plain(&name, bytes, options, budget)
}

fn parse_plain(
    name: &str,
    bytes: &[u8],
    options: ReadOptions,
    budget: &mut Budget,
) -> Parsed<Contents> {
    let has_extension = |wanted: &[&str]| {
        Path::new(name)
            .extension()
            .is_some_and(|extension| wanted.iter().any(|&known| extension == known))
    };
    let matrices = |arrays| Contents { arrays, layout: Layout::Matrices };
    let columns = |arrays| Contents { arrays, layout: Layout::Columns };
    if npy::is_npy(bytes) || has_extension(&["npy"]) {
        return Ok(matrices(vec![npy::parse("", bytes)?]));
    }
    if npy::is_npz(bytes) || has_extension(&["npz"]) {
        return npy::parse_npz(bytes, budget).map(matrices);
    }
    if table::is_parquet(bytes) || has_extension(&["parquet", "pq"]) {
        return table::parse_parquet(bytes).map(columns);
    }
    if mat::is_mat(bytes) || has_extension(&["mat"]) {
        return mat::parse(bytes, budget).map(matrices);
    }
    if idx::is_idx(bytes) {
        return Ok(matrices(vec![idx::parse(bytes, options.image_side)?]));
    }
    if usps::is_usps(name, bytes) {
        return usps::parse(bytes).map(matrices);
    }
    if has_extension(&["csv", "tsv", "txt"]) {
        return table::parse_csv(bytes).map(columns);
    }
    Err(FormatError::Unknown)
}

/// Fails unless there are as many bytes of data as declared.
fn check_data_bytes(
    format: &'static str,
    declared: usize,
    found: usize,
    problem: impl FnOnce() -> String,
) -> Parsed<()> {
    match found.cmp(&declared) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(FormatError::Truncated { format, problem: problem() }),
        Ordering::Greater => Err(FormatError::Surplus { format, problem: problem() }),
    }
}

/// The number of values of a declared shape, refused beyond [`MAX_VALUES`] before anything is allocated.
fn checked_count(format: &'static str, shape: &[usize]) -> Parsed<usize> {
    shape
        .iter()
        .try_fold(1_usize, |product, &side| product.checked_mul(side))
        .filter(|&count| count <= MAX_VALUES && shape.iter().all(|&side| side <= MAX_VALUES))
        .ok_or_else(|| {
            let sides: Vec<String> = shape.iter().map(ToString::to_string).collect();
            FormatError::TooLarge { format, declared: format!("an array of {}", sides.join("×")) }
        })
}

/// How many bytes a file may still inflate to, all its parts together, so that a small file cannot fill
/// the memory.
struct Budget(u64);

/// Inflates at most what is left of the budget.
fn read_limited(format: &'static str, reader: impl Read, budget: &mut Budget) -> Parsed<Vec<u8>> {
    let mut bytes = Vec::new();
    match reader.take(budget.0.saturating_add(1)).read_to_end(&mut bytes) {
        Err(problem) if problem.kind() == ErrorKind::UnexpectedEof => {
            return Err(FormatError::Truncated {
                format,
                problem: "its compressed data ends early".into(),
            });
        }
        Err(problem) => {
            return Err(FormatError::Damaged {
                format,
                problem: format!("its compressed data cannot be inflated ({problem})"),
            });
        }
        Ok(_) => {}
    }
    budget.0 = budget.0.checked_sub(bytes.len() as u64).ok_or_else(|| FormatError::TooLarge {
        format,
        declared: "more compressed data than can be inflated".into(),
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use ndarray_npy::{NpzWriter, WriteNpyExt as _};

    use super::*;

    const KIBIBYTE: u64 = 1024;

    fn within(limit: u64, name: &str, bytes: &[u8]) -> Parsed<Contents> {
        parse_within(name, bytes, ReadOptions::default(), &mut Budget(limit))
    }

    #[test]
    fn compressed_data_is_inflated_up_to_the_limit_and_no_further() {
        let mut npy = Vec::new();
        Array2::<f64>::zeros((10, 10)).write_npy(&mut npy).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&npy).unwrap();
        let bytes = encoder.finish().unwrap();
        assert!(within(KIBIBYTE, "x.npy.gz", &bytes).is_ok());
        let text = within(KIBIBYTE / 2, "x.npy.gz", &bytes).unwrap_err().to_string();
        assert!(text.contains("more compressed data than can be inflated"), "{text}");
    }

    #[test]
    fn the_limit_is_for_all_members_of_an_archive_together() {
        let mut writer = NpzWriter::new_compressed(std::io::Cursor::new(Vec::new()));
        for name in ["a", "b", "c"] {
            writer.add_array(name, &Array2::<f64>::zeros((5, 8))).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        assert!(within(2 * KIBIBYTE, "x.npz", &bytes).is_ok());
        assert!(matches!(within(KIBIBYTE, "x.npz", &bytes), Err(FormatError::TooLarge { .. })));
    }

    #[test]
    fn the_limit_is_for_all_compressed_matlab_arrays_together() {
        let array = |name: &str| mat5::NamedArray {
            name: name.to_owned(),
            matrix: mat5::Matrix::Dense(mat5::DenseMatrix {
                rows: 8,
                cols: 8,
                values: mat5::Values::F64(vec![0.0; 64]),
            }),
        };
        let arrays = vec![array("a"), array("b"), array("c")];
        let file = mat5::MatFile { header_text: "MATLAB 5.0 MAT-file".to_owned(), arrays };
        let bytes = file.write_bytes().unwrap();
        assert!(within(2 * KIBIBYTE, "x.mat", &bytes).is_ok());
        assert!(matches!(within(KIBIBYTE, "x.mat", &bytes), Err(FormatError::TooLarge { .. })));
    }
}
