//! Everything that can go wrong with data, as sentences: what, where, how to fix.

use std::io;
use std::path::PathBuf;

use crate::format::FormatError;

/// The result of an operation on data.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong with a file, a domain, a draw or a download.
///
/// A message tells the whole story. No field is called `source`: a chain of errors would print it again.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each variant's message says what its fields are")]
pub enum Error {
    #[error("{}: cannot read the file: {cause}. Check the path and its permissions.", path.display())]
    Read { path: PathBuf, cause: io::Error },

    #[error("{}: {cause}", path.display())]
    Format { path: PathBuf, cause: FormatError },

    #[error("{}: {problem}", path.display())]
    Content { path: PathBuf, problem: String },

    #[error("domain {domain}: {problem}")]
    Domain { domain: String, problem: String },

    #[error(
        "domain {domain}: class {class} has {found} samples and the draw needs {needed} of them. \
         Lower {setting}{}, or leave this domain out.",
        for_one_domain(setting)
    )]
    ClassTooSmall {
        domain: String,
        class: String,
        found: usize,
        needed: usize,
        setting: &'static str,
    },

    #[error(
        "domain {source_domain} has no sample of class {class}, which domain {target_domain} has. \
         Remove that class from {target_domain}, or bring samples of it for {source_domain}."
    )]
    ClassMissing { source_domain: String, target_domain: String, class: String },

    #[error(
        "domains {first} and {second} differ in width: {first_width} and {second_width} features. \
         Both sides of a pair need the same features."
    )]
    WidthMismatch { first: String, first_width: usize, second: String, second_width: usize },

    #[error("{name} = {value} is not allowed: {rule}.")]
    Parameter { name: &'static str, value: String, rule: &'static str },

    #[error("unknown data set {name:?}. Known: {known}.")]
    UnknownSet { name: String, known: String },

    #[error("data set {set} has no domain {name:?}. It has: {known}.")]
    UnknownDomain { set: String, name: String, known: String },

    #[error("{}", missing_files(.0))]
    Missing(Vec<MissingFile>),
}

/// Why one download failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each variant's message says what its fields are")]
pub enum DownloadError {
    #[error("{url}: no answer ({reason})")]
    Unreachable { url: String, reason: String },

    #[error("{url}: the server answered {status}")]
    Status { url: String, status: u16 },

    #[error(
        "{url}: the transfer stopped after {received} of {expected} bytes ({reason}). \
         What arrived is kept: the same command goes on from there."
    )]
    Interrupted { url: String, received: u64, expected: String, reason: String },

    #[error(
        "{url}: the content is not the expected one (git blob {found}, expected {expected}). \
         Nothing was kept: the download was damaged, or the source changed."
    )]
    Checksum { url: String, found: String, expected: String },

    #[error("{}: another process is downloading this file; wait for it to finish.", path.display())]
    Busy { path: PathBuf },

    #[error("{}: cannot write the download: {cause}. Choose another folder with --data DIR.", path.display())]
    Write { path: PathBuf, cause: io::Error },
}

/// A file that is needed and nowhere to be found.
#[derive(Debug)]
pub struct MissingFile {
    /// What it is for, as `set domain`.
    pub domain: String,
    /// Its file name.
    pub file: String,
    /// Where it can be downloaded; `None` if it has no public source.
    pub address: Option<String>,
    /// The folder to put it in.
    pub folder: PathBuf,
    /// Why the download failed, if one was tried.
    pub reason: Option<DownloadError>,
}

/// Where the number can be set for one domain alone.
fn for_one_domain(setting: &str) -> &'static str {
    if setting == "source_per_class" {
        " (of one domain alone with source_per_class_of)"
    } else {
        ""
    }
}

fn missing_files(files: &[MissingFile]) -> String {
    use std::fmt::Write as _;
    let mut text = match files.len() {
        1 => "a data file is missing and could not be downloaded:".to_owned(),
        count => format!("{count} data files are missing and could not be downloaded:"),
    };
    for file in files {
        let address = file.address.as_deref().unwrap_or("no public source: bring your own copy");
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n  {} ({})\n    from {address}\n    to   {}",
            file.file,
            file.domain,
            file.folder.display(),
        );
        if let Some(reason) = &file.reason {
            // The address stands above already.
            let reason = reason.to_string();
            let _ =
                write!(text, "\n    why  {}", reason.trim_start_matches(&format!("{address}: ")));
        }
    }
    text.push_str("\nPut each file into its folder by hand, or name a folder that has them with --data DIR or OTDA_DATA.");
    text
}
