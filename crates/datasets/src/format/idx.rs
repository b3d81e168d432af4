//! MNIST's IDX: a magic number, big-endian sides, then bytes. Images come out as one row each.

use ndarray::Array2;

use super::{FormatError, NamedArray, Parsed, check_data_bytes, checked_count};
use crate::resize::resize_images;

const FORMAT: &str = "IDX";
const UNSIGNED_BYTES: u8 = 8;
const MNIST_SIDE: usize = 28;

pub(super) fn is_idx(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, UNSIGNED_BYTES, 1 | 3, ..])
}

pub(super) fn parse(bytes: &[u8], image_side: Option<usize>) -> Parsed<NamedArray> {
    let sides = usize::from(bytes[3]);
    let (header, pixels) = bytes.split_at_checked(4 + 4 * sides).ok_or_else(|| {
        FormatError::Truncated { format: FORMAT, problem: "it ends within its header".into() }
    })?;
    let shape: Vec<usize> = header[4..]
        .chunks_exact(4)
        .map(|side| u32::from_be_bytes([side[0], side[1], side[2], side[3]]) as usize)
        .collect();
    let count = checked_count(FORMAT, &shape)?;
    check_data_bytes(FORMAT, count, pixels.len(), || {
        format!("it declares {count} bytes of data and has {}", pixels.len())
    })?;
    let samples = shape[0];
    let width: usize = shape[1..].iter().product();
    let values = pixels.iter().map(|&pixel| f64::from(pixel)).collect();
    let matrix = Array2::from_shape_vec((samples, width), values)
        .expect("the count was checked against the shape");
    Ok(match (shape.as_slice(), image_side) {
        ([_], _) => NamedArray::numbers("labels", matrix),
        ([_, MNIST_SIDE, MNIST_SIDE], Some(side)) => {
            checked_count(FORMAT, &[samples, side, side])?;
            NamedArray::numbers("images", resize_images(matrix.view(), MNIST_SIDE, side))
        }
        _ => NamedArray::numbers("images", matrix),
    })
}
