//! Finds out before a long solve whether its results can be written.

use std::fs;
use std::io;
use std::path::Path;

/// Fails unless a file can be written; leaves everything as it is.
pub fn probe(path: &Path) -> io::Result<()> {
    let is_new = !path.exists();
    fs::OpenOptions::new().create(true).append(true).open(path)?;
    if is_new {
        // Best effort: an empty file that stays behind is overwritten by the results.
        let _ = fs::remove_file(path);
    }
    Ok(())
}
