//! `runner tables FOLDER`: the tables again, from the store alone.

use std::path::PathBuf;

use anyhow::Result;

use crate::results_folder::Results;

/// Rebuilds and prints the tables of each folder.
pub fn run(folders: &[PathBuf]) -> Result<()> {
    for folder in folders {
        Results::read(folder)?.show(folder)?;
    }
    Ok(())
}
