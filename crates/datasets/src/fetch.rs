//! Downloads: to a temporary name, resumed where one broke off, verified by blob id, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Agent;
use ureq::http::StatusCode;
use ureq::tls::{RootCerts, TlsConfig};

use crate::blob::blob_id;
use crate::catalogue::{DomainEntry, Source};
use crate::error::DownloadError;

/// Serves any file of a public repository at a commit, as `<repository>/<commit>/<path>`.
const PUBLIC_SOURCE: &str = "https://raw.githubusercontent.com";
/// Unfinished downloads carry this suffix.
const PARTIAL_SUFFIX: &str = "part";
/// A transfer that breaks off is taken up again this many times.
const ATTEMPTS: usize = 3;

/// Told how a download goes.
pub trait Progress {
    /// A file starts; `total` is its size where the server tells.
    fn start(&self, file: &str, total: Option<u64>);
    /// This many bytes of it are there.
    fn at(&self, bytes: u64);
    /// It is complete, or given up.
    fn finish(&self);
}

/// Downloads files of the catalogue.
pub struct Fetcher {
    agent: Agent,
    base: String,
}

impl Fetcher {
    /// Downloads from the public source or, if `mirror` is given, from an address that serves the same paths.
    #[must_use]
    pub fn new(mirror: Option<&str>) -> Self {
        Self::with_patience(mirror, Duration::from_secs(30))
    }

    /// As [`Self::new`], giving up on a server that is silent for longer than `patience`.
    #[must_use]
    pub fn with_patience(mirror: Option<&str>, patience: Duration) -> Self {
        let agent = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            // No limit on the whole: a slow line is fine as long as something arrives.
            .timeout_connect(Some(patience))
            .timeout_per_read(Some(patience))
            .http_status_as_error(false)
            .build()
            .new_agent();
        Self { agent, base: mirror.unwrap_or(PUBLIC_SOURCE).trim_end_matches('/').to_owned() }
    }

    /// The address of a domain's file.
    #[must_use]
    pub fn address(&self, entry: &DomainEntry) -> Option<String> {
        let Source { repository, commit, folder, .. } = entry.source?;
        Some(format!("{}/{repository}/{commit}/{folder}/{}", self.base, entry.file))
    }

    /// Downloads `url` to `path`, whose content must have this blob id.
    pub fn download(
        &self,
        url: &str,
        expected: &str,
        path: &Path,
        progress: &dyn Progress,
    ) -> Result<(), DownloadError> {
        let result = self.download_verified(url, expected, path, progress);
        progress.finish();
        result
    }

    fn download_verified(
        &self,
        url: &str,
        expected: &str,
        path: &Path,
        progress: &dyn Progress,
    ) -> Result<(), DownloadError> {
        let partial = partial_path(path);
        let cannot_write = |cause: io::Error| DownloadError::Write { path: partial.clone(), cause };
        let mut attempt = 1;
        loop {
            let resumed = fs::metadata(&partial).is_ok_and(|data| data.len() > 0);
            let _locked = match self.transfer(url, &partial, progress) {
                // The lock on the file holds until it has its final name.
                Ok(locked) => locked,
                Err(DownloadError::Interrupted { .. }) if attempt < ATTEMPTS => {
                    attempt += 1;
                    continue;
                }
                Err(problem) => return Err(problem),
            };
            let found = blob_id(&partial).map_err(cannot_write)?;
            if found == expected {
                return fs::rename(&partial, path)
                    .map_err(|cause| DownloadError::Write { path: path.to_owned(), cause });
            }
            fs::remove_file(&partial).map_err(cannot_write)?;
            // What an earlier run left may be the damaged part: once more from the start.
            if !resumed || attempt >= ATTEMPTS {
                return Err(DownloadError::Checksum {
                    url: url.to_owned(),
                    found,
                    expected: expected.to_owned(),
                });
            }
            attempt += 1;
        }
    }

    /// Brings what is missing of the partial file, which stays behind if the transfer breaks off. The file is
    /// locked for as long as the result lives.
    fn transfer(
        &self,
        url: &str,
        partial: &Path,
        progress: &dyn Progress,
    ) -> Result<File, DownloadError> {
        let unreachable =
            |reason: String| DownloadError::Unreachable { url: url.to_owned(), reason };
        let present = fs::metadata(partial).map_or(0, |data| data.len());
        let mut request = self.agent.get(url);
        if present > 0 {
            request = request.header("Range", format!("bytes={present}-"));
        }
        let mut response = request.call().map_err(|problem| unreachable(problem.to_string()))?;
        let start = match response.status() {
            StatusCode::OK => 0,
            StatusCode::PARTIAL_CONTENT => present,
            // The partial file is complete already; verification decides.
            StatusCode::RANGE_NOT_SATISFIABLE if present > 0 => {
                return open_partial(partial, present);
            }
            status => {
                return Err(DownloadError::Status { url: url.to_owned(), status: status.as_u16() });
            }
        };
        let total = response.body().content_length().map(|rest| start + rest);
        let mut file = open_partial(partial, start)?;
        let name = partial.file_stem().unwrap_or_default().to_string_lossy();
        progress.start(&name, total);
        let mut body = response.body_mut().as_reader();
        let mut received = start;
        let mut buffer = vec![0; 1 << 16];
        let interrupted = |received: u64, reason: String| DownloadError::Interrupted {
            url: url.to_owned(),
            received,
            expected: total.map_or("unknown".to_owned(), |total| total.to_string()),
            reason,
        };
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(problem) => return Err(interrupted(received, problem.to_string())),
            };
            file.write_all(&buffer[..count])
                .map_err(|cause| DownloadError::Write { path: partial.to_owned(), cause })?;
            received += count as u64;
            progress.at(received);
        }
        match total {
            Some(total) if received < total => {
                Err(interrupted(received, "the server closed the connection".into()))
            }
            _ => Ok(file),
        }
    }
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(PARTIAL_SUFFIX);
    PathBuf::from(name)
}

/// Opens the partial file at `start`, for this process alone.
fn open_partial(partial: &Path, start: u64) -> Result<File, DownloadError> {
    let cannot_write = |cause: io::Error| DownloadError::Write { path: partial.to_owned(), cause };
    // Only now, when the server has answered: a failed download leaves no empty folder behind.
    if let Some(folder) = partial.parent() {
        fs::create_dir_all(folder).map_err(cannot_write)?;
    }
    let file = OpenOptions::new().create(true).append(true).open(partial).map_err(cannot_write)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            return Err(DownloadError::Busy { path: partial.to_owned() });
        }
        Err(fs::TryLockError::Error(cause)) => return Err(cannot_write(cause)),
    }
    file.set_len(start).map_err(cannot_write)?;
    Ok(file)
}
