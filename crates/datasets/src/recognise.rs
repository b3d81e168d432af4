//! Which array of a file holds the features and which the labels, and which way round the samples lie.

use std::path::Path;

use ndarray::{Array2, Axis, concatenate};

use crate::error::{Error, Result};
use crate::format::{Contents, Layout, NamedArray, Values};

/// Names under which features are found in the wild, the likeliest first. Compared without case.
const FEATURE_NAMES: &[&str] =
    &["fts", "fea", "feas", "features", "x", "x_src", "xs", "data", "images", "feat"];
/// Names under which labels are found.
const LABEL_NAMES: &[&str] =
    &["labels", "label", "gnd", "y", "y_src", "ys", "class", "classes", "target", "targets"];

/// Which arrays to take, where the names alone do not say.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The array (or columns) with the features.
    pub features: Option<String>,
    /// The array (or column) with the labels.
    pub labels: Option<String>,
}

/// Finds the features in a file that may also hold labels. Samples are not yet oriented.
pub(crate) fn features(
    path: &Path,
    contents: &Contents,
    selection: &Selection,
) -> Result<Array2<f64>> {
    match contents.layout {
        Layout::Columns => feature_columns(path, contents, selection),
        Layout::Matrices => {
            let array = match find(path, contents, selection.features.as_deref(), FEATURE_NAMES)? {
                Some(array) => array,
                None => only_matrix(contents).ok_or_else(|| {
                    nothing_found(path, contents, "features", "features_array", FEATURE_NAMES)
                })?,
            };
            match &array.values {
                Values::Numbers(matrix) => Ok(matrix.clone()),
                _ => Err(content(
                    path,
                    format!(
                        "the features must be a numeric matrix, but there is {}.",
                        array.describe()
                    ),
                )),
            }
        }
    }
}

/// Finds the labels, spelled as in the file; `None` if the file has none.
pub(crate) fn labels(
    path: &Path,
    contents: &Contents,
    selection: &Selection,
) -> Result<Option<Vec<String>>> {
    find(path, contents, selection.labels.as_deref(), LABEL_NAMES)?
        .map(|array| label_names(path, array))
        .transpose()
}

/// The labels of a file that holds nothing else of interest: a sole array needs no known name.
pub(crate) fn labels_alone(
    path: &Path,
    contents: &Contents,
    selection: &Selection,
) -> Result<Vec<String>> {
    if let Some(found) = labels(path, contents, selection)? {
        return Ok(found);
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

/// Turns the features so that each row is a sample, given how many samples there are.
pub(crate) fn orient(path: &Path, features: Array2<f64>, samples: usize) -> Result<Array2<f64>> {
    match features.dim() {
        (rows, _) if rows == samples => Ok(features),
        (_, columns) if columns == samples => Ok(features.reversed_axes()),
        (rows, columns) => Err(content(
            path,
            format!(
                "the features are {rows}×{columns} and there are {samples} labels: neither side matches. \
                 Are the labels those of these samples?"
            ),
        )),
    }
}

fn feature_columns(path: &Path, contents: &Contents, selection: &Selection) -> Result<Array2<f64>> {
    if let Some(wanted) = &selection.features {
        return Err(content(
            path,
            format!(
                "features_array = {wanted:?} does not apply to a table: \
                 its features are all columns but the labels'."
            ),
        ));
    }
    let label_column = find(path, contents, selection.labels.as_deref(), LABEL_NAMES)?;
    let columns = contents
        .arrays
        .iter()
        .filter(|array| label_column.is_none_or(|label| !std::ptr::eq(*array, label)))
        .map(|array| match &array.values {
            Values::Numbers(column) => Ok(column.view()),
            Values::Text(entries) => {
                let bad = entries.iter().position(|entry| entry.trim().parse::<f64>().is_err());
                let row = bad.unwrap_or(0);
                Err(content(
                    path,
                    format!(
                        "column {:?}, row {}: {:?} is not a number. \
                         Remove the column, or name it with labels_array if it holds the labels.",
                        array.name,
                        row + 1,
                        entries[row]
                    ),
                ))
            }
            Values::Other(_) => Err(content(
                path,
                format!("{} is not numeric. Remove it from the table.", array.describe()),
            )),
        })
        .collect::<Result<Vec<_>>>()?;
    if columns.is_empty() {
        return Err(content(path, "the table has no feature columns.".into()));
    }
    concatenate(Axis(1), &columns)
        .map_err(|_| content(path, "the columns of the table differ in length.".into()))
}

fn find<'a>(
    path: &Path,
    contents: &'a Contents,
    wanted: Option<&str>,
    known: &[&str],
) -> Result<Option<&'a NamedArray>> {
    if let Some(wanted) = wanted {
        let found = contents.arrays.iter().find(|array| array.name == wanted);
        return found.map(Some).ok_or_else(|| {
            content(
                path,
                format!("there is no array {wanted:?}. It holds: {}.", inventory(contents)),
            )
        });
    }
    Ok(known.iter().find_map(|name| {
        contents.arrays.iter().find(|array| array.name.eq_ignore_ascii_case(name))
    }))
}

/// The sole matrix of a file with more than one column and row, whatever its name.
fn only_matrix(contents: &Contents) -> Option<&NamedArray> {
    let mut matrices = contents.arrays.iter().filter(|array| match &array.values {
        Values::Numbers(matrix) => {
            contents.arrays.len() == 1 || (matrix.nrows() > 1 && matrix.ncols() > 1)
        }
        _ => false,
    });
    matrices.next().filter(|_| matrices.next().is_none())
}

fn label_names(path: &Path, array: &NamedArray) -> Result<Vec<String>> {
    match &array.values {
        Values::Text(entries) => Ok(entries.clone()),
        Values::Numbers(matrix) if matrix.nrows() == 1 || matrix.ncols() == 1 => matrix
            .iter()
            .enumerate()
            .map(|(row, &value)| {
                if value.fract() == 0.0 && value.abs() < 1e15 {
                    Ok(format!("{value:.0}"))
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
                "the labels must be one number or text a sample, but there is {}.",
                array.describe()
            ),
        )),
    }
}

fn nothing_found(path: &Path, contents: &Contents, what: &str, key: &str, known: &[&str]) -> Error {
    content(
        path,
        format!(
            "no {what} found. It holds: {}. Known names for {what} are {}; name another with {key} = \"…\".",
            inventory(contents),
            known.join(", ")
        ),
    )
}

fn inventory(contents: &Contents) -> String {
    const SHOWN: usize = 12;
    if contents.arrays.is_empty() {
        return "nothing".to_owned();
    }
    let mut names: Vec<String> =
        contents.arrays.iter().take(SHOWN).map(NamedArray::describe).collect();
    if contents.arrays.len() > SHOWN {
        names.push(format!("and {} more", contents.arrays.len() - SHOWN));
    }
    names.join(", ")
}

fn content(path: &Path, problem: String) -> Error {
    Error::Content { path: path.to_owned(), problem }
}
