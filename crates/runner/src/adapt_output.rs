//! The files that `runner adapt` writes: `.npy`, or `.csv` without a header.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use ndarray::{Array1, Array2};

use crate::writable;

enum Format {
    Npy,
    Csv,
}

fn format_of(path: &Path) -> Result<Format> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => Ok(Format::Npy),
        Some("csv") => Ok(Format::Csv),
        _ => bail!("{}: write to a file that ends in .npy or .csv", path.display()),
    }
}

/// Fails if a matrix could not be written there; leaves everything as it is.
pub fn check(path: &Path) -> Result<()> {
    format_of(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        ensure!(folder.is_dir(), "{}: there is no folder {}", path.display(), folder.display());
    }
    writable::probe(path)
        .with_context(|| format!("cannot write {}; choose another file", path.display()))
}

/// Fails if labels of these classes could not be written there.
pub fn check_labels(path: &Path, classes: &[String]) -> Result<()> {
    check(path)?;
    if let Format::Npy = format_of(path)? {
        numbers(classes).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

pub fn write_matrix(path: &Path, matrix: &Array2<f64>) -> Result<()> {
    let written = match format_of(path)? {
        Format::Npy => ndarray_npy::write_npy(path, matrix).map_err(anyhow::Error::from),
        Format::Csv => {
            let lines = matrix.rows().into_iter().map(|row| {
                row.iter().map(ToString::to_string).collect::<Vec<_>>().join(",") + "\n"
            });
            std::fs::write(path, lines.collect::<String>()).map_err(anyhow::Error::from)
        }
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Labels as the source spells them; whole numbers to `.npy` as such.
pub fn write_labels(path: &Path, classes: &[String], labels: &[usize]) -> Result<()> {
    let written = match format_of(path)? {
        Format::Npy => {
            let numbers = numbers(classes)?;
            let labels: Array1<i64> = labels.iter().map(|&label| numbers[label]).collect();
            ndarray_npy::write_npy(path, &labels).map_err(anyhow::Error::from)
        }
        Format::Csv => {
            let lines = labels.iter().map(|&label| classes[label].clone() + "\n");
            std::fs::write(path, lines.collect::<String>()).map_err(anyhow::Error::from)
        }
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn numbers(classes: &[String]) -> Result<Vec<i64>> {
    let numbers: Option<Vec<i64>> = classes.iter().map(|class| class.parse().ok()).collect();
    numbers.context("labels that are text go to a .csv file")
}
