//! Figures that `runner figures` wrote beside the folders of results, as part of the page.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::figures::FIGURES;

/// A figure with its caption.
pub struct Figure {
    pub caption: &'static str,
    /// A `data:` address: within an `<img>`, nothing of the file is run.
    pub address: String,
}

/// The figures in `figures/` beside a folder of results; none if they were not made.
pub fn figures(folder: &Path) -> Result<Vec<Figure>> {
    let beside = folder.join("../figures");
    let mut found = Vec::new();
    for figure in &FIGURES {
        let path = beside.join(figure.file);
        if path.is_file() {
            let bytes =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let address = format!("data:image/svg+xml;base64,{}", base64(&bytes));
            found.push(Figure { caption: figure.caption, address });
        }
    }
    Ok(found)
}

/// Bytes as text (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let three =
            [chunk[0], chunk.get(1).copied().unwrap_or(0), chunk.get(2).copied().unwrap_or(0)];
        let word = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        for place in 0..4 {
            if place <= chunk.len() {
                text.push(char::from(DIGITS[(word >> (18 - 6 * place) & 63) as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_hold() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
