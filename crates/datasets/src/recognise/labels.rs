//! Which array of a file holds the labels, and how they are spelled.

use std::path::Path;

use super::{Selection, content, first_known, named, nothing_found};
use crate::error::{Error, Result};
use crate::format::{Contents, Layout, NamedArray, Values};

/// Names under which labels are found.
const LABEL_NAMES: &[&str] =
    &["labels", "label", "gnd", "y", "y_src", "ys", "class", "classes", "target", "targets"];

/// How names of label arrays begin, beyond those that are taken without asking: `Y_tar`, `labels_test`.
const LABEL_BEGINNINGS: &[&str] = &["y", "label", "gnd", "class", "target"];

/// Whether a name alone says that labels are under it.
pub(crate) fn is_label_name(name: &str) -> bool {
    LABEL_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Finds the labels, text as it is spelled and numbers as whole ones; `None` if the file has none.
pub(crate) fn labels(
    path: &Path,
    contents: &Contents,
    selection: &Selection,
) -> Result<Option<Vec<String>>> {
    let found = label_array(path, contents, selection)?;
    // A file of two domains (X_src, Y_src, X_tar, Y_tar): labels of the first are wrong for the second.
    if let (Some(features), None, Layout::Matrices) =
        (&selection.features, &selection.labels, contents.layout)
    {
        let candidates: Vec<&str> = contents
            .arrays
            .iter()
            .filter(|array| looks_like_labels(array) && array.name != *features)
            .map(|array| array.name.as_str())
            .collect();
        if candidates.len() > 1 {
            return Err(content(
                path,
                format!(
                    "features_array = {features:?} does not say which labels go with it: {} look like \
                     labels. Name one with labels_array = \"…\".",
                    candidates.join(" and ")
                ),
            ));
        }
    }
    found.map(|array| label_names(path, array)).transpose()
}

/// The labels of a file that holds nothing else of interest: a sole array needs no known name.
pub(crate) fn labels_alone(
    path: &Path,
    contents: &Contents,
    selection: &Selection,
) -> Result<Vec<String>> {
    if let Some(array) = label_array(path, contents, selection)? {
        return label_names(path, array);
    }
    match contents.arrays.as_slice() {
        [array] => label_names(path, array),
        _ => Err(nothing_found(path, contents, "labels", "labels_array", LABEL_NAMES)),
    }
}

/// The error for a file whose labels cannot be found.
pub(crate) fn missing_labels(path: &Path, contents: &Contents) -> Error {
    nothing_found(path, contents, "labels", "labels_array", LABEL_NAMES)
}

/// The columns of a table that are no features because they hold the labels.
pub(crate) fn label_columns<'a>(
    path: &Path,
    contents: &'a Contents,
    selection: &Selection,
) -> Result<Vec<&'a NamedArray>> {
    Ok(label_array(path, contents, selection)?.into_iter().collect())
}

/// The same where another file has the labels. Columns that hold other labels may be features of that name: which of
/// the two files is wrong is not for us to say.
pub(crate) fn repeated_labels<'a>(
    path: &Path,
    contents: &'a Contents,
    selection: &Selection,
    (labels_path, labels): (&Path, &[String]),
) -> Result<Vec<&'a NamedArray>> {
    let mut repeated = named_like_labels(contents);
    if contents.layout == Layout::Columns
        && let Some(name) = &selection.labels
    {
        repeated.extend(contents.arrays.iter().filter(|array| array.name == *name));
    }
    for column in &repeated {
        if !label_names(path, column).is_ok_and(|own| own == labels) {
            return Err(content(
                path,
                format!(
                    "column {:?} is called like labels, and is not the same as the labels in {}. \
                     Remove one of the two, or give the column another name if it is a feature.",
                    column.name,
                    labels_path.display()
                ),
            ));
        }
    }
    Ok(repeated)
}

/// The same where nobody asks for labels. Fails if the table has the features that are needed only with a column of
/// labels among them.
pub(crate) fn left_out_labels<'a>(
    path: &Path,
    contents: &'a Contents,
    width: Option<usize>,
) -> Result<Vec<&'a NamedArray>> {
    let left_out = named_like_labels(contents);
    match left_out.first() {
        Some(column) if width == Some(contents.arrays.len()) => Err(content(
            path,
            format!(
                "column {:?} is called like labels, and without it too few features are left: {} instead of {}. \
                 Give the column another name if it is a feature.",
                column.name,
                contents.arrays.len() - left_out.len(),
                contents.arrays.len()
            ),
        )),
        _ => Ok(left_out),
    }
}

/// The columns of a table that are labels by their names. Fractions are features, whatever they are called: x and y may be
/// coordinates.
fn named_like_labels(contents: &Contents) -> Vec<&NamedArray> {
    let is_table = contents.layout == Layout::Columns;
    let is_whole = |array: &NamedArray| match &array.values {
        Values::Numbers(matrix) => matrix.iter().all(|value| value.fract() == 0.0),
        Values::Text(_) | Values::Other(_) => true,
    };
    let is_like_labels = |array: &&NamedArray| is_label_name(&array.name) && is_whole(array);
    contents.arrays.iter().filter(|array| is_table && is_like_labels(array)).collect()
}

/// The array with the labels, if the file has one. In a table two candidates are one too many: each is a
/// column of the same samples, and taking one would make the other a feature.
fn label_array<'a>(
    path: &Path,
    contents: &'a Contents,
    selection: &Selection,
) -> Result<Option<&'a NamedArray>> {
    if let Some(wanted) = &selection.labels {
        return named(path, contents, wanted).map(Some);
    }
    match *named_like_labels(contents) {
        [] => Ok(first_known(contents, LABEL_NAMES)),
        [only] => Ok(Some(only)),
        [first, second, ..] => Err(content(
            path,
            format!(
                "both {} and {} look like labels; name one with labels_array = \"…\" in a config, or remove one.",
                first.name, second.name
            ),
        )),
    }
}

/// Whether an array has the shape of labels and a name that begins like theirs.
fn looks_like_labels(array: &NamedArray) -> bool {
    let name = array.name.to_ascii_lowercase();
    let is_vector = match &array.values {
        Values::Numbers(matrix) => matrix.nrows() == 1 || matrix.ncols() == 1,
        Values::Text(_) => true,
        Values::Other(_) => false,
    };
    is_vector && LABEL_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

fn label_names(path: &Path, array: &NamedArray) -> Result<Vec<String>> {
    match &array.values {
        Values::Text(entries) => entries
            .iter()
            .enumerate()
            .map(|(row, entry)| match entry.trim() {
                "" => Err(content(
                    path,
                    format!(
                        "the label of row {} is empty. Fill it in, or remove the sample.",
                        row + 1
                    ),
                )),
                label => Ok(label.to_owned()),
            })
            .collect(),
        Values::Numbers(matrix) if matrix.nrows() == 1 || matrix.ncols() == 1 => matrix
            .iter()
            .enumerate()
            .map(|(row, &value)| {
                if value.fract() == 0.0 && value.abs() < 1e15 {
                    // Adding 0 makes −0 the class of 0.
                    Ok(format!("{:.0}", value + 0.0))
                } else {
                    Err(content(
                        path,
                        format!(
                            "the label of row {} is {value}. Labels must be whole numbers or text.",
                            row + 1
                        ),
                    ))
                }
            })
            .collect(),
        _ => Err(content(
            path,
            format!(
                "the labels must be one number or text a sample, but there is {}. \
                 Save them as a vector of whole numbers.",
                array.describe()
            ),
        )),
    }
}
