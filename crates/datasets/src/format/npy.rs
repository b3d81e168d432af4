//! numpy's `.npy` and `.npz`.
//!
//! `ndarray-npy` reads the arrays; it allocates what a header declares, so the header is checked first.

use std::io::Cursor;

use ndarray::{ArrayD, Axis, Ix2};
use ndarray_npy::{ReadNpyExt, ReadableElement};

use super::{
    Budget, FormatError, NamedArray, Parsed, Values, check_data_bytes, checked_count, read_limited,
};

const FORMAT: &str = "NumPy";
const MAGIC: &[u8] = b"\x93NUMPY";
/// Real headers have about 100 bytes.
const LONGEST_HEADER: usize = 4096;

pub(super) fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

pub(super) fn is_npz(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

pub(super) fn parse_npz(bytes: &[u8], budget: &mut Budget) -> Parsed<Vec<NamedArray>> {
    let not_npz = |problem: zip::result::ZipError| FormatError::NotThisFormat {
        format: "NumPy .npz",
        problem: problem.to_string(),
    };
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(not_npz)?;
    (0..archive.len())
        .map(|index| {
            let member = archive.by_index(index).map_err(not_npz)?;
            let name = member.name().trim_end_matches(".npy").to_owned();
            parse_member(&name, &read_limited(FORMAT, member, budget)?)
        })
        .collect()
}

/// One odd array does not spoil an archive: it is named where it is asked for.
fn parse_member(name: &str, bytes: &[u8]) -> Parsed<NamedArray> {
    match parse(name, bytes) {
        Err(FormatError::Unsupported { problem, .. }) => {
            Ok(NamedArray { name: name.to_owned(), values: Values::Other(problem) })
        }
        Err(FormatError::NotThisFormat { .. }) => {
            Ok(NamedArray { name: name.to_owned(), values: Values::Other("not an array".into()) })
        }
        Err(FormatError::Damaged { format, problem }) => {
            Err(FormatError::Damaged { format, problem: format!("array {name}: {problem}") })
        }
        Err(FormatError::Truncated { format, problem }) => {
            Err(FormatError::Truncated { format, problem: format!("array {name}: {problem}") })
        }
        Err(FormatError::Surplus { format, problem }) => {
            Err(FormatError::Surplus { format, problem: format!("array {name}: {problem}") })
        }
        parsed => parsed,
    }
}

pub(super) fn parse(name: &str, bytes: &[u8]) -> Parsed<NamedArray> {
    let header = Header::parse(bytes)?;
    let width = header.value_bytes()?;
    let count = checked_count(FORMAT, &header.shape)?;
    let found = bytes.len() - header.data_start;
    check_data_bytes(FORMAT, count * width, found, || {
        format!("it declares {count} values of {width} bytes each and has {found} bytes of data")
    })?;
    let values = match header.kind() {
        "f8" => numbers::<f64>(bytes, |value| value)?,
        "f2" => numbers::<f64>(&header.halves_as_doubles(bytes), |value| value)?,
        "f4" => numbers::<f32>(bytes, f64::from)?,
        "i1" => numbers::<i8>(bytes, f64::from)?,
        "i2" => numbers::<i16>(bytes, f64::from)?,
        "i4" => numbers::<i32>(bytes, f64::from)?,
        "i8" => numbers::<i64>(bytes, |value| value as f64)?,
        "u1" => numbers::<u8>(bytes, f64::from)?,
        "u2" => numbers::<u16>(bytes, f64::from)?,
        "u4" => numbers::<u32>(bytes, f64::from)?,
        "u8" => numbers::<u64>(bytes, |value| value as f64)?,
        "b1" => numbers::<bool>(bytes, f64::from)?,
        _ => Values::Text(header.text(&bytes[header.data_start..])),
    };
    Ok(NamedArray { name: name.to_owned(), values })
}

fn numbers<T: ReadableElement + Copy>(bytes: &[u8], widen: impl Fn(T) -> f64) -> Parsed<Values> {
    let array = ArrayD::<T>::read_npy(bytes).map_err(|problem| damaged(problem.to_string()))?;
    let array = array.mapv(widen);
    let array = if array.ndim() == 1 { array.insert_axis(Axis(1)) } else { array };
    let axes = array.ndim();
    Ok(match array.into_dimensionality::<Ix2>() {
        Ok(matrix) => Values::Numbers(matrix),
        Err(_) => {
            Values::Other(format!("{axes}-dimensional array; reshape it to samples × features"))
        }
    })
}

/// IEEE 754 half precision: a sign, 5 bits of exponent, 10 of fraction.
fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match (exponent, fraction) {
        (0, _) => fraction * 2_f64.powi(-24),
        (0x1f, 0.0) => f64::INFINITY,
        (0x1f, _) => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    }
}

fn damaged(problem: String) -> FormatError {
    FormatError::Damaged { format: FORMAT, problem }
}

/// The part of a header that decides how much memory the array takes.
struct Header<'a> {
    /// Byte order, kind and size, as in `<f8`.
    descriptor: &'a str,
    shape: Vec<usize>,
    data_start: usize,
}

impl<'a> Header<'a> {
    fn parse(bytes: &'a [u8]) -> Parsed<Self> {
        let not_npy = |problem: &str| FormatError::NotThisFormat {
            format: FORMAT,
            problem: problem.to_owned(),
        };
        if !is_npy(bytes) {
            return Err(not_npy("it does not start with the NumPy mark"));
        }
        // Versions 1 and 2 differ in the size of the header's length.
        let (text_start, length) = match bytes {
            [_, _, _, _, _, _, 1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([*a, *b]))),
            [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] => {
                (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize)
            }
            _ => return Err(not_npy("its version is unknown")),
        };
        if length > LONGEST_HEADER {
            return Err(damaged(format!("its header declares {length} bytes")));
        }
        let data_start = text_start + length;
        let text = bytes.get(text_start..data_start).ok_or_else(|| FormatError::Truncated {
            format: FORMAT,
            problem: "it ends within its header".into(),
        })?;
        let text = std::str::from_utf8(text).map_err(|_| not_npy("its header is not text"))?;
        // One flat dictionary with one tuple. Anything else is hostile: the full parser is recursive.
        let flat = ["(", ")", "{", "}", "shape", "descr"]
            .iter()
            .all(|mark| text.matches(mark).count() == 1);
        if !flat || text.contains('[') {
            return Err(if text.contains('[') {
                FormatError::Unsupported {
                    problem: "this NumPy array has named fields".into(),
                    remedy: "Save the features as one plain matrix",
                }
            } else {
                damaged("its header is not one of a plain array".into())
            });
        }
        let between = |after: &str, open: char, close: char| {
            let rest = &text[text.find(after)? + after.len()..];
            let start = rest.find(open)? + 1;
            Some(&rest[start..start + rest[start..].find(close)?])
        };
        let fields = between("shape", '(', ')')
            .zip(between("descr'", '\'', '\'').or_else(|| between("descr\"", '"', '"')));
        let (shape, descriptor) =
            fields.ok_or_else(|| damaged("its header lacks the type or the shape".into()))?;
        let shape = shape
            .split(',')
            .map(|side| side.trim().trim_end_matches('L'))
            .filter(|side| !side.is_empty())
            .map(str::parse)
            .collect::<Result<Vec<usize>, _>>()
            .map_err(|_| damaged(format!("its shape is ({shape})")))?;
        Ok(Self { descriptor, shape, data_start })
    }

    /// The descriptor without its byte order.
    fn kind(&self) -> &str {
        self.descriptor.trim_start_matches(['<', '>', '=', '|'])
    }

    fn value_bytes(&self) -> Parsed<usize> {
        let size = |digits: &str| digits.parse().ok().filter(|&size| size <= LONGEST_HEADER);
        let bytes = match self.kind() {
            "f8" | "i8" | "u8" => Some(8),
            "f4" | "i4" | "u4" => Some(4),
            "f2" | "i2" | "u2" => Some(2),
            "i1" | "u1" | "b1" => Some(1),
            other if self.descriptor.starts_with('<') && self.shape.len() == 1 => {
                other.strip_prefix('U').and_then(size).map(|characters: usize| characters * 4)
            }
            _ => None,
        };
        bytes.ok_or_else(|| FormatError::Unsupported {
            problem: format!("NumPy arrays of type {:?} are not read", self.descriptor),
            remedy: "Save features with astype('float64') and labels as integers or plain strings",
        })
    }

    /// The same file with half-precision numbers, which no crate here reads, written as doubles.
    fn halves_as_doubles(&self, bytes: &[u8]) -> Vec<u8> {
        let (head, data) = bytes.split_at(self.data_start);
        let is_big_endian = self.descriptor.starts_with('>');
        let mut wide = head.to_vec();
        if let Some(place) = head.windows(2).position(|window| window == b"f2") {
            wide[place + 1] = b'8';
        }
        for half in data.as_chunks::<2>().0 {
            let bits =
                if is_big_endian { u16::from_be_bytes(*half) } else { u16::from_le_bytes(*half) };
            let value = half_to_f64(bits);
            wide.extend(if is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() });
        }
        wide
    }

    /// Fixed-width text: 4 bytes a character, padded with zeros.
    fn text(&self, data: &[u8]) -> Vec<String> {
        let entries = self.shape.iter().product();
        let entry_bytes = data.len().checked_div(entries).unwrap_or(0).max(1);
        data.chunks(entry_bytes)
            .map(|entry| {
                entry
                    .chunks_exact(4)
                    .map(|code| u32::from_le_bytes([code[0], code[1], code[2], code[3]]))
                    .take_while(|&code| code != 0)
                    .map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            })
            .collect()
    }
}
