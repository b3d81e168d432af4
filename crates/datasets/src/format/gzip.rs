//! Gzip, as MNIST's and USPS's originals are distributed.

use flate2::read::MultiGzDecoder;

use super::{Budget, Parsed, read_limited};

pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

pub(super) fn inflate(bytes: &[u8], budget: &mut Budget) -> Parsed<Vec<u8>> {
    read_limited("gzip", MultiGzDecoder::new(bytes), budget)
}
