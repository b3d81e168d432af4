//! Which array of a file holds the features and which the labels, and which way round the samples lie.

mod labels;

use std::path::Path;

use ndarray::{Array2, ArrayView2, Axis, concatenate};

use crate::error::{Error, Result};
use crate::format::{Contents, Layout, NamedArray, Values};

pub(crate) use labels::{
    is_label_name, label_columns, labels, labels_alone, left_out_labels, missing_labels,
    repeated_labels,
};

/// Names under which features are found in the wild, the likeliest first. Compared without case.
const FEATURE_NAMES: &[&str] =
    &["fts", "fea", "feas", "features", "x", "x_src", "xs", "data", "images", "feat"];
/// Names that pandas and R give to an index, or how they begin.
const INDEX_NAMES: &[&str] = &["", "Unnamed: 0"];
const INDEX_BEGINNING: &str = "__index_level_";

/// Which arrays to take, where the names alone do not say.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The array (or columns) with the features.
    pub features: Option<String>,
    /// The array (or column) with the labels.
    pub labels: Option<String>,
}

/// Finds the features in a file, of a table all columns but those of labels, and checks that they are finite numbers:
/// only here rows and columns are still the file's. Samples are not yet oriented.
pub(crate) fn features(
    path: &Path,
    contents: &Contents,
    wanted: Option<&str>,
    label_columns: &[&NamedArray],
) -> Result<Array2<f64>> {
    match contents.layout {
        Layout::Columns => feature_columns(path, contents, wanted, label_columns),
        Layout::Matrices => {
            let found = match wanted {
                Some(wanted) => Some(named(path, contents, wanted)?),
                None => first_known(contents, FEATURE_NAMES).or_else(|| only_matrix(contents)),
            };
            let array = found.ok_or_else(|| {
                nothing_found(path, contents, "features", "features_array", FEATURE_NAMES)
            })?;
            let Values::Numbers(matrix) = &array.values else {
                return Err(content(
                    path,
                    format!(
                        "the features must be a numeric matrix, but there is {}. \
                         Save them as one matrix with a sample a row.",
                        array.describe()
                    ),
                ));
            };
            match matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
                None => Ok(matrix.clone()),
                Some(((row, column), value)) => {
                    Err(not_finite(path, row, &(column + 1).to_string(), *value))
                }
            }
        }
    }
}

/// Turns the features so that each row is a sample, given how many samples there are. The rows of a table
/// are samples already.
pub(crate) fn orient(
    path: &Path,
    features: Array2<f64>,
    layout: Layout,
    samples: usize,
) -> Result<Array2<f64>> {
    match (layout, features.dim()) {
        (_, (rows, _)) if rows == samples => Ok(features),
        (Layout::Columns, (rows, _)) => Err(content(
            path,
            format!(
                "the table has {rows} rows and there are {samples} labels. \
                 Each row of a table is one sample and needs one label."
            ),
        )),
        (Layout::Matrices, (_, columns)) if columns == samples => Ok(features.reversed_axes()),
        (Layout::Matrices, (rows, columns)) => Err(content(
            path,
            format!(
                "the features are {rows}×{columns} and there are {samples} labels: neither side matches. \
                 Are the labels those of these samples?"
            ),
        )),
    }
}

fn feature_columns(
    path: &Path,
    contents: &Contents,
    wanted: Option<&str>,
    label_columns: &[&NamedArray],
) -> Result<Array2<f64>> {
    if let Some(wanted) = wanted {
        return Err(content(
            path,
            format!(
                "features_array = {wanted:?} does not apply to a table: \
                 its features are all columns but the labels'."
            ),
        ));
    }
    let columns = contents
        .arrays
        .iter()
        .enumerate()
        .filter(|(_, array)| !label_columns.iter().any(|label| std::ptr::eq(*array, *label)))
        .map(|(place, array)| feature_column(path, place, array))
        .collect::<Result<Vec<_>>>()?;
    if columns.is_empty() {
        return Err(content(path, "the table has no feature columns.".into()));
    }
    concatenate(Axis(1), &columns)
        .map_err(|_| content(path, "the columns of the table differ in length.".into()))
}

/// Whether a column numbers the rows, be they filtered or shuffled since.
fn is_index(name: &str, column: ArrayView2<'_, f64>) -> bool {
    if !INDEX_NAMES.contains(&name) && !name.starts_with(INDEX_BEGINNING) {
        return false;
    }
    let mut values: Vec<f64> = column.iter().copied().collect();
    values.sort_unstable_by(f64::total_cmp);
    values.len() > 1
        && values.iter().all(|value| *value >= 0.0 && value.fract() == 0.0)
        && values.windows(2).all(|pair| pair[0] < pair[1])
}

fn feature_column<'a>(
    path: &Path,
    place: usize,
    array: &'a NamedArray,
) -> Result<ArrayView2<'a, f64>> {
    match &array.values {
        Values::Numbers(column) => {
            if is_index(&array.name, column.view()) {
                return Err(content(
                    path,
                    format!(
                        "column {} has no name and a number of its own for each row: it is an index and no feature. \
                         Remove it (pandas: to_csv(index=False); R: write.csv(row.names = FALSE)).",
                        place + 1
                    ),
                ));
            }
            match column.iter().enumerate().find(|(_, value)| !value.is_finite()) {
                None => Ok(column.view()),
                Some((row, value)) => {
                    let column = format!("{:?}", array.name);
                    Err(not_finite(path, row, &column, *value))
                }
            }
        }
        Values::Text(entries) => {
            let bad = entries.iter().position(|entry| entry.trim().parse::<f64>().is_err());
            let row = bad.unwrap_or(0);
            Err(content(
                path,
                format!(
                    "column {:?}, row {}: {:?} is not a number. Remove the column; \
                     if it holds the labels, call it label, or name it with labels_array in a config.",
                    array.name,
                    row + 1,
                    entries.get(row).map_or("", String::as_str)
                ),
            ))
        }
        Values::Other(_) => Err(content(
            path,
            format!("{} is not numeric. Remove it from the table.", array.describe()),
        )),
    }
}

fn not_finite(path: &Path, row: usize, column: &str, value: f64) -> Error {
    content(
        path,
        format!(
            "the value in row {}, column {column} is {value}. Every feature must be a finite number; \
             remove the sample or fill the value in.",
            row + 1
        ),
    )
}

fn named<'a>(path: &Path, contents: &'a Contents, wanted: &str) -> Result<&'a NamedArray> {
    contents.arrays.iter().find(|array| array.name == wanted).ok_or_else(|| {
        content(path, format!("there is no array {wanted:?}. It holds: {}.", inventory(contents)))
    })
}

fn first_known<'a>(contents: &'a Contents, known: &[&str]) -> Option<&'a NamedArray> {
    known
        .iter()
        .find_map(|name| contents.arrays.iter().find(|array| array.name.eq_ignore_ascii_case(name)))
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

fn nothing_found(path: &Path, contents: &Contents, what: &str, key: &str, known: &[&str]) -> Error {
    content(
        path,
        format!(
            "no {what} found. It holds: {}. Known names for {what} are {}; name another with {key} = \"…\" in a config.",
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
