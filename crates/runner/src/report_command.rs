//! `runner report FOLDER…`: one page of the results of some folders, from their stores alone.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{report, say_line};

/// Writes the page into the first folder.
pub fn run(folders: &[PathBuf]) -> Result<()> {
    let paths: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    report::write(&paths)?;
    if let Some(first) = paths.first() {
        say_line!("{}", first.join(report::FILE).display())?;
    }
    Ok(())
}
