//! MATLAB's v5 `.mat`, compressed or not: real dense and sparse matrices; text, cells and structs are
//! named but not read.
//!
//! Our own reader, because the crate `mat5` 0.1 refuses a whole file for one cell array in it, panics on
//! a short element of more than 4 bytes, and inflates without a limit. It is the tests' writer and
//! cross-check.

use flate2::read::ZlibDecoder;
use ndarray::{Array2, ShapeBuilder};

use super::{Budget, FormatError, NamedArray, Parsed, Values, checked_count, read_limited};

const FORMAT: &str = "MATLAB v5";
const HEADER_BYTES: usize = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const SPARSE_CLASS: u8 = 5;
const COMPLEX_FLAG: u32 = 0x0800;

pub(super) fn is_mat(bytes: &[u8]) -> bool {
    bytes.starts_with(b"MATLAB ") && bytes.len() >= HEADER_BYTES
}

pub(super) fn parse(bytes: &[u8], budget: &mut Budget) -> Parsed<Vec<NamedArray>> {
    check_header(bytes)?;
    let mut elements = Elements { bytes: &bytes[HEADER_BYTES..] };
    let mut arrays = Vec::new();
    while !elements.bytes.is_empty() {
        let (kind, data) = elements.next("an array")?;
        match kind {
            MATRIX => arrays.push(parse_matrix(data)?),
            COMPRESSED => {
                let inflated = read_limited(FORMAT, ZlibDecoder::new(data), budget)?;
                match (Elements { bytes: &inflated }).next("a compressed array")? {
                    (MATRIX, data) => arrays.push(parse_matrix(data)?),
                    (other, _) => return Err(unexpected(other, "in a compressed element")),
                }
            }
            other => return Err(unexpected(other, "between the arrays")),
        }
    }
    Ok(arrays)
}

fn check_header(bytes: &[u8]) -> Parsed<()> {
    if bytes.starts_with(b"MATLAB 7.3") || bytes.get(512..516) == Some(b"\x89HDF") {
        return Err(FormatError::Unsupported {
            problem: "this is a MATLAB v7.3 (HDF5) file".into(),
            remedy: "Save it again from MATLAB with the option -v7",
        });
    }
    match bytes.get(126..128) {
        None => Err(FormatError::NotThisFormat {
            format: FORMAT,
            problem: format!(
                "it has {} bytes, fewer than the header's {HEADER_BYTES}",
                bytes.len()
            ),
        }),
        Some(b"IM") => Ok(()),
        Some(b"MI") => Err(FormatError::Unsupported {
            problem: "this .mat file has big-endian numbers".into(),
            remedy: "Save it again on a current machine",
        }),
        Some(_) => Err(FormatError::NotThisFormat {
            format: FORMAT,
            problem: "its header lacks the byte-order mark".into(),
        }),
    }
}

fn unexpected(kind: u32, place: &str) -> FormatError {
    damaged(format!("an element of type {kind} {place}"))
}

fn damaged(problem: String) -> FormatError {
    FormatError::Damaged { format: FORMAT, problem }
}

/// A walk over tagged elements; each is padded to 8 bytes except compressed ones.
struct Elements<'a> {
    bytes: &'a [u8],
}

impl<'a> Elements<'a> {
    fn take(&mut self, count: usize, what: &str) -> Parsed<&'a [u8]> {
        let (taken, rest) =
            self.bytes.split_at_checked(count).ok_or_else(|| FormatError::Truncated {
                format: FORMAT,
                problem: format!("{what} needs {count} bytes and {} are left", self.bytes.len()),
            })?;
        self.bytes = rest;
        Ok(taken)
    }

    fn next(&mut self, what: &str) -> Parsed<(u32, &'a [u8])> {
        let word = u32_at(self.take(4, what)?);
        // The short form packs length and type into one word, and at most 4 bytes behind it.
        let short_length = word >> 16;
        if short_length > 4 {
            return Err(damaged(format!("{what} is a short element of {short_length} bytes")));
        }
        if short_length > 0 {
            let data = self.take(4, what)?;
            return Ok((word & 0xffff, &data[..short_length as usize]));
        }
        let length = u32_at(self.take(4, what)?) as usize;
        let data = self.take(length, what)?;
        if word != COMPRESSED {
            let padding = length.next_multiple_of(8) - length;
            // Some writers leave the padding of the last element out.
            self.bytes = self.bytes.get(padding..).unwrap_or_default();
        }
        Ok((word, data))
    }
}

fn u32_at(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn parse_matrix(data: &[u8]) -> Parsed<NamedArray> {
    let mut elements = Elements { bytes: data };
    let (_, flags) = elements.next("the flags of an array")?;
    if flags.len() < 4 {
        return Err(damaged("an array has no flags".into()));
    }
    let flags = u32_at(flags);
    let class = (flags & 0xff) as u8;
    let (kind, sides) = elements.next("the dimensions of an array")?;
    let sides = whole_numbers(kind, sides, "a dimension")?;
    let (_, name) = elements.next("the name of an array")?;
    let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();

    let other = |what: String| NamedArray { name: name.clone(), values: Values::Other(what) };
    if let Some(kind) = class_of_other(class) {
        return Ok(other(kind.to_owned()));
    }
    if flags & COMPLEX_FLAG != 0 {
        return Ok(other("complex numbers".into()));
    }
    let &[rows, columns] = sides.as_slice() else {
        return Ok(other(format!(
            "{}-dimensional array; reshape it to samples × features",
            sides.len()
        )));
    };
    let count = checked_count(FORMAT, &[rows, columns])?;
    let matrix = if class == SPARSE_CLASS {
        parse_sparse(&mut elements, rows, columns)?
    } else {
        let (kind, values) = elements.next("the values of an array")?;
        // Before they are widened: bytes that nobody declared must not cost eightfold memory.
        let found = values.len() / value_bytes(kind)?;
        if found != count {
            return Err(damaged(format!(
                "array {name} declares {rows}×{columns} values and has {found}"
            )));
        }
        let values = numbers(kind, values)?;
        Array2::from_shape_vec((rows, columns).f(), values)
            .map_err(|problem| damaged(format!("array {name}: {problem}")))?
    };
    Ok(NamedArray { name, values: Values::Numbers(matrix) })
}

fn class_of_other(class: u8) -> Option<&'static str> {
    match class {
        SPARSE_CLASS | 6..=15 => None,
        1 => Some("cell array"),
        2 => Some("struct"),
        3 => Some("object"),
        4 => Some("text"),
        _ => Some("array of an unknown class"),
    }
}

/// Compressed columns: row indices, column starts, values.
fn parse_sparse(elements: &mut Elements<'_>, rows: usize, columns: usize) -> Parsed<Array2<f64>> {
    let (kind, row_indices) = elements.next("the row indices of a sparse array")?;
    let row_indices = whole_numbers(kind, row_indices, "a row index")?;
    let (kind, starts) = elements.next("the column starts of a sparse array")?;
    let starts = whole_numbers(kind, starts, "a column start")?;
    let (kind, values) = elements.next("the values of a sparse array")?;
    let values = numbers(kind, values)?;
    if starts.len() != columns + 1 {
        return Err(damaged(format!(
            "a sparse array of {columns} columns has {} column starts",
            starts.len()
        )));
    }
    let mut matrix = Array2::zeros((rows, columns).f());
    for (column, bounds) in starts.windows(2).enumerate() {
        let stored = row_indices.get(bounds[0]..bounds[1]).zip(values.get(bounds[0]..bounds[1]));
        let (column_rows, column_values) = stored.ok_or_else(|| {
            damaged(format!("column {} of a sparse array points outside its values", column + 1))
        })?;
        for (&row, &value) in column_rows.iter().zip(column_values) {
            *matrix.get_mut((row, column)).ok_or_else(|| {
                damaged(format!("a sparse array of {rows} rows has a value in row {}", row + 1))
            })? = value;
        }
    }
    Ok(matrix)
}

fn whole_numbers(kind: u32, data: &[u8], what: &str) -> Parsed<Vec<usize>> {
    numbers(kind, data)?
        .into_iter()
        .map(|number| {
            // Beyond 2^52 an f64 is no longer exact, and no file is that large.
            if number >= 0.0 && number.fract() == 0.0 && number < 4_503_599_627_370_496.0 {
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked in the line above"
                )]
                Ok(number as usize)
            } else {
                Err(damaged(format!("{what} is {number}")))
            }
        })
        .collect()
}

/// The bytes of one value of a numeric type.
fn value_bytes(kind: u32) -> Parsed<usize> {
    match kind {
        1 | 2 => Ok(1),
        3 | 4 => Ok(2),
        5..=7 => Ok(4),
        9 | 12 | 13 => Ok(8),
        other => Err(unexpected(other, "in place of numbers")),
    }
}

/// The values of an element, widened to `f64`. MATLAB may store a class in a narrower type.
fn numbers(kind: u32, data: &[u8]) -> Parsed<Vec<f64>> {
    checked_count(FORMAT, &[data.len() / value_bytes(kind)?])?;
    macro_rules! widen {
        ($type:ty) => {{
            const SIZE: usize = size_of::<$type>();
            let (values, rest) = data.as_chunks::<SIZE>();
            if !rest.is_empty() {
                return Err(damaged(format!(
                    "{} bytes of data do not make values of {SIZE} bytes",
                    data.len()
                )));
            }
            values.iter().map(|&bytes| <$type>::from_le_bytes(bytes) as f64).collect()
        }};
    }
    #[allow(clippy::cast_lossless, reason = "one macro serves the lossless and the wide types")]
    Ok(match kind {
        1 => widen!(i8),
        2 => widen!(u8),
        3 => widen!(i16),
        4 => widen!(u16),
        5 => widen!(i32),
        6 => widen!(u32),
        7 => widen!(f32),
        9 => widen!(f64),
        12 => widen!(i64),
        13 => widen!(u64),
        other => return Err(unexpected(other, "in place of numbers")),
    })
}
