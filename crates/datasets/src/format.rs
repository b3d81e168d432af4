//! Files to named arrays. Every reader works on bytes in memory, allocates no more than those bytes
//! (or [`MAX_VALUES`]) justify, and answers bad bytes with a sentence.

mod gzip;
mod idx;
mod mat;
mod npy;
mod table;
mod usps;

use std::io::{ErrorKind, Read};
use std::path::Path;

use ndarray::Array2;

use crate::error::{Error, Result};

/// The most values one array may hold: 2 GiB as `f64`. A declared size beyond it is a damaged file.
pub const MAX_VALUES: usize = 1 << 28;

/// The side to which 28 × 28 images of an IDX file are resized: USPS's resolution.
pub const DEFAULT_IMAGE_SIDE: usize = 16;

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
    /// The side to which the images of an IDX file are resized; `None` keeps them.
    pub image_side: Option<usize>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { image_side: Some(DEFAULT_IMAGE_SIDE) }
    }
}

/// Reads a file of any known format.
pub fn read(path: &Path, options: ReadOptions) -> Result<Contents> {
    let bytes =
        std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    parse(&name, &bytes, options).map_err(|source| Error::Format { path: path.to_owned(), source })
}

/// Parses the bytes of a file. The content decides the format; the name only where content cannot.
pub fn parse(
    file_name: &str,
    bytes: &[u8],
    options: ReadOptions,
) -> std::result::Result<Contents, FormatError> {
    let name = file_name.to_ascii_lowercase();
    if gzip::is_gzip(bytes) {
        let inner = gzip::inflate(bytes)?;
        // Once only: nobody compresses twice, but a hostile file might a thousand times.
        return parse_plain(name.trim_end_matches(".gz"), &inner, options);
    }
    parse_plain(&name, bytes, options)
}

fn parse_plain(name: &str, bytes: &[u8], options: ReadOptions) -> Parsed<Contents> {
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
        return npy::parse_npz(bytes).map(matrices);
    }
    if table::is_parquet(bytes) || has_extension(&["parquet", "pq"]) {
        return table::parse_parquet(bytes).map(columns);
    }
    if mat::is_mat(bytes) || has_extension(&["mat"]) {
        return mat::parse(bytes).map(matrices);
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

/// Inflates at most what [`MAX_VALUES`] values take, so that a small file cannot fill the memory.
fn read_limited(format: &'static str, reader: impl Read) -> Parsed<Vec<u8>> {
    const LIMIT: u64 = MAX_VALUES as u64 * 8;
    let mut bytes = Vec::new();
    match reader.take(LIMIT + 1).read_to_end(&mut bytes) {
        Err(problem) if problem.kind() == ErrorKind::UnexpectedEof => {
            Err(FormatError::Truncated { format, problem: "its compressed data ends early".into() })
        }
        Err(problem) => Err(FormatError::Damaged {
            format,
            problem: format!("its compressed data cannot be inflated ({problem})"),
        }),
        Ok(_) if bytes.len() as u64 > LIMIT => Err(FormatError::TooLarge {
            format,
            declared: format!("compressed data of more than {LIMIT} bytes"),
        }),
        Ok(_) => Ok(bytes),
    }
}
