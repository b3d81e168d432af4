//! From a name in a config to a checked domain: find the file, download it if need be, read, verify.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::catalogue::{DataSet, DomainEntry};
use crate::domain::Domain;
use crate::error::{DownloadError, Error, MissingFile, Result};
use crate::fetch::{Fetcher, Progress};
use crate::format::{self, Contents, DEFAULT_IMAGE_SIDE, Layout, MAX_IMAGE_SIDE, ReadOptions};
use crate::locate::DataRoots;
use crate::recognise::{self, Selection};

/// Data on this machine, and the way to get what is missing.
pub struct Library {
    roots: DataRoots,
    fetcher: Fetcher,
}

impl Library {
    /// A library over these folders.
    #[must_use]
    pub fn new(roots: DataRoots, fetcher: Fetcher) -> Self {
        Self { roots, fetcher }
    }

    /// Where data is looked for.
    #[must_use]
    pub fn roots(&self) -> &DataRoots {
        &self.roots
    }

    /// Where a domain's file is, if it is anywhere.
    #[must_use]
    pub fn find(&self, set: &DataSet, entry: &DomainEntry) -> Option<PathBuf> {
        self.roots.find(set.folder, entry.file)
    }

    /// Downloads those files of the domains that are missing. The error lists every one that could not be had.
    pub fn fetch_missing(
        &self,
        wanted: &[(&DataSet, &DomainEntry)],
        progress: &dyn Progress,
    ) -> Result<()> {
        let missing: Vec<(&DataSet, &DomainEntry)> =
            wanted.iter().copied().filter(|(set, entry)| self.find(set, entry).is_none()).collect();
        self.fetch(&missing, progress)
    }

    /// Downloads the files of the domains, whether they are here or not. The error lists every one that could
    /// not be had.
    pub fn fetch(
        &self,
        wanted: &[(&DataSet, &DomainEntry)],
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut failed = Vec::new();
        // All files come from one host; each attempt at a silent one takes half a minute.
        let mut is_silent = false;
        for (set, entry) in wanted {
            let missing = self.missing(set, entry);
            let (Some(url), Some(source)) = (&missing.address, entry.source) else {
                failed.push(missing);
                continue;
            };
            let path = missing.folder.join(entry.file);
            let result = if is_silent {
                let reason = "not tried: the host did not answer for the file before".to_owned();
                Err(DownloadError::Unreachable { url: url.clone(), reason })
            } else {
                self.fetcher.download(url, source.blob_id, &path, progress)
            };
            if let Err(reason) = result {
                is_silent |= matches!(reason, DownloadError::Unreachable { .. });
                failed.push(MissingFile { reason: Some(reason), ..missing });
            }
        }
        if failed.is_empty() { Ok(()) } else { Err(Error::Missing(failed)) }
    }

    fn missing(&self, set: &DataSet, entry: &DomainEntry) -> MissingFile {
        MissingFile {
            domain: format!("{} {}", set.id, entry.abbreviation),
            file: entry.file.to_owned(),
            address: self.fetcher.address(entry),
            folder: self.roots.download_folder(set.folder),
            reason: None,
        }
    }

    /// Reads a catalogued domain and checks it against the catalogue. Does not download.
    pub fn load(&self, set: &DataSet, entry: &DomainEntry) -> Result<Domain> {
        let path =
            self.find(set, entry).ok_or_else(|| Error::Missing(vec![self.missing(set, entry)]))?;
        let (features, labels) =
            read_labelled(&path, None, &Selection::default(), ReadOptions::default())?;
        let unexpected = |problem| Error::Content { path: path.clone(), problem };
        if features.dim() != (entry.samples(), set.width) {
            return Err(unexpected(format!(
                "domain {} of {} has {} samples of {} features, and this file {} of {}. \
                 If it is another version, name it in the config as a domain of your own.",
                entry.abbreviation,
                set.id,
                entry.samples(),
                set.width,
                features.nrows(),
                features.ncols()
            )));
        }
        // Files number the classes from 1.
        let class_names = set.class_names();
        let labels = labels
            .iter()
            .map(|label| {
                let number: Option<usize> = label.parse().ok();
                number
                    .and_then(|number| number.checked_sub(1))
                    .filter(|&class| class < class_names.len())
            })
            .collect::<Option<Vec<usize>>>()
            .ok_or_else(|| unexpected(format!("labels must be 1 to {}.", class_names.len())))?;
        let domain = Domain::new(entry.abbreviation, features, labels, class_names)?;
        if domain.class_counts() != entry.class_counts {
            return Err(unexpected(format!(
                "the classes of domain {} of {} should have {:?} samples, and have {:?} here.",
                entry.abbreviation,
                set.id,
                entry.class_counts,
                domain.class_counts()
            )));
        }
        Ok(domain)
    }

    /// Reads a user's own domain; relative paths are looked for beside the config and below the data roots.
    pub fn load_own(&self, name: &str, own: &OwnDomain, config_folder: &Path) -> Result<Domain> {
        // The parent of a bare file name is empty, and means the current folder.
        let config_folder =
            if config_folder.as_os_str().is_empty() { Path::new(".") } else { config_folder };
        let find = |file: &Path| {
            self.roots.find_own(config_folder, file).ok_or_else(|| {
                let folders: Vec<&Path> = std::iter::once(config_folder)
                    .chain(self.roots.folders().iter().map(PathBuf::as_path))
                    .collect();
                let problem = match folders.iter().find(|folder| folder.join(file).is_dir()) {
                    Some(folder) => {
                        format!("{} is a folder. Name the file in it.", folder.join(file).display())
                    }
                    None => format!(
                        "there is no file {}. Looked for it in {}.",
                        file.display(),
                        folders
                            .iter()
                            .map(|folder| folder.display().to_string())
                            .collect::<Vec<_>>()
                            .join(", ")
                    ),
                };
                Error::Domain { domain: name.to_owned(), problem }
            })
        };
        let features = find(&own.features)?;
        let labels = own.labels.as_deref().map(find).transpose()?;
        let selection =
            Selection { features: own.features_array.clone(), labels: own.labels_array.clone() };
        let options = ReadOptions { image_side: Some(own.image_side) };
        let (features, labels) = read_labelled(&features, labels.as_deref(), &selection, options)?;
        Domain::from_label_names(name, features, &labels)
    }
}

/// A domain that a config names by its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnDomain {
    /// The file with the features, and with the labels too if `labels` is not given.
    pub features: PathBuf,
    /// The file with the labels.
    #[serde(default)]
    pub labels: Option<PathBuf>,
    /// The name of the array with the features, if it has an unusual one.
    #[serde(default)]
    pub features_array: Option<String>,
    /// The name of the array or column with the labels, if it has an unusual one.
    #[serde(default)]
    pub labels_array: Option<String>,
    /// The side to which MNIST's 28 × 28 images are resized.
    #[serde(default = "default_image_side")]
    pub image_side: usize,
}

fn default_image_side() -> usize {
    DEFAULT_IMAGE_SIDE
}

/// Reads features, one sample a row, and labels as the file spells them.
pub fn read_labelled(
    features_path: &Path,
    labels_path: Option<&Path>,
    selection: &Selection,
    options: ReadOptions,
) -> Result<(Array2<f64>, Vec<String>)> {
    if let Some(side) = options.image_side
        && !(1..=MAX_IMAGE_SIDE).contains(&side)
    {
        return Err(Error::Parameter {
            name: "image_side",
            value: side.to_string(),
            rule: "it is the side of a square image, 1 to 256 pixels",
        });
    }
    let contents = format::read(features_path, options)?;
    let labels = labels_of(features_path, &contents, labels_path, selection)?
        .ok_or_else(|| recognise::missing_labels(features_path, &contents))?;
    let features = features_of(features_path, &contents, labels_path, selection, Some(&labels))?;
    Ok((features, labels))
}

/// The same where labels may be missing: rows are samples then.
pub fn read_samples(
    features_path: &Path,
    labels_path: Option<&Path>,
) -> Result<(Array2<f64>, Option<Vec<String>>)> {
    let selection = Selection::default();
    let contents = format::read(features_path, ReadOptions::default())?;
    let labels = labels_of(features_path, &contents, labels_path, &selection)?;
    let features =
        features_of(features_path, &contents, labels_path, &selection, labels.as_deref())?;
    Ok((features, labels))
}

fn labels_of(
    features_path: &Path,
    contents: &Contents,
    labels_path: Option<&Path>,
    selection: &Selection,
) -> Result<Option<Vec<String>>> {
    match labels_path {
        None => recognise::labels(features_path, contents, selection),
        Some(path) => {
            let labels = format::read(path, ReadOptions::default())?;
            recognise::labels_alone(path, &labels, selection).map(Some)
        }
    }
}

fn features_of(
    path: &Path,
    contents: &Contents,
    labels_path: Option<&Path>,
    selection: &Selection,
    labels: Option<&[String]>,
) -> Result<Array2<f64>> {
    let label_columns = match labels_path.zip(labels) {
        Some(elsewhere) => recognise::repeated_labels(path, contents, selection, elsewhere)?,
        None => recognise::label_columns(path, contents, selection)?,
    };
    let wanted = selection.features.as_deref();
    let features = recognise::features(path, contents, wanted, &label_columns)?;
    match labels {
        Some(labels) => recognise::orient(path, features, contents.layout, labels.len()),
        None => Ok(features),
    }
}

/// Reads the features of a file, one sample a row, and leaves its labels out. Which way round they lie is told by the
/// number of samples or, failing that, by the number of features; with neither, rows are samples.
pub fn read_features(
    path: &Path,
    samples: Option<usize>,
    width: Option<usize>,
) -> Result<Array2<f64>> {
    let contents = format::read(path, ReadOptions::default())?;
    let label_columns = recognise::left_out_labels(path, &contents, width)?;
    let features = recognise::features(path, &contents, None, &label_columns)?;
    let (rows, columns) = features.dim();
    match (contents.layout, samples, width) {
        (layout, Some(samples), _) => recognise::orient(path, features, layout, samples),
        (Layout::Matrices, None, Some(width)) if columns != width && rows == width => {
            Ok(features.reversed_axes())
        }
        _ => Ok(features),
    }
}

/// Reads the labels of a file, as it spells them.
pub fn read_labels(path: &Path) -> Result<Vec<String>> {
    recognise::labels_alone(
        path,
        &format::read(path, ReadOptions::default())?,
        &Selection::default(),
    )
}
