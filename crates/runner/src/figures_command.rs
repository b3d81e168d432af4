//! `runner figures`: the paper's figures as SVG files.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::cli::DataLocation;
use crate::figures::FIGURES;
use crate::run_command::library;
use crate::say_line;

/// Draws every figure into a folder.
pub fn run(folder: &Path, location: &DataLocation) -> Result<()> {
    let library = library(location)?;
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for figure in &FIGURES {
        let path = folder.join(figure.file);
        let text = (figure.draw)(&library).with_context(|| figure.file)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say_line!("{}", path.display())?;
    }
    Ok(())
}
