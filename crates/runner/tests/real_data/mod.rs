//! Where the real data is, for the tests that need it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder that `OTDA_DATA` names, if it holds the file that a test needs; says that the test is skipped
/// otherwise.
pub fn folder(test: &str, needed: &str) -> Option<PathBuf> {
    let named = std::env::var_os("OTDA_DATA").unwrap_or_default();
    // Cargo runs tests in the package's folder; a relative OTDA_DATA is meant from the workspace.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(named);
    if folder.join(needed).is_file() {
        return Some(folder);
    }
    // Not eprintln: the test harness would swallow it.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: OTDA_DATA has no {needed}");
    None
}
