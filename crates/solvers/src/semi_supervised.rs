//! Labels in the target domain, eq. `ssl`: ⟨γ, M⟩ with M(i, j) = +∞ where the labels differ; and the smooth
//! version that the paper names, with class probabilities of the target samples.

use std::collections::BTreeMap;

use ndarray::{Array2, ArrayView2, Zip};

use crate::checks::{check_length, check_weight};
use crate::error::{Error, Result};

/// Forbids the pairs of a source sample and a target sample with different labels. Target samples
/// without a label (`None`) may receive mass from all.
///
/// Fails with a sentence if then no plan is left: if the target samples of a class need more mass than
/// the source samples of that class have, or the other way round.
pub fn forbid_crossing_labels(
    mut cost: Array2<f64>,
    source_labels: &[usize],
    target_labels: &[Option<usize>],
    source_mass: &[f64],
    target_mass: &[f64],
) -> Result<Array2<f64>> {
    let (rows, columns) = cost.dim();
    check_length("source_labels", source_labels.len(), "the rows of cost", rows)?;
    check_length("target_labels", target_labels.len(), "the columns of cost", columns)?;
    check_length("source_mass", source_mass.len(), "the rows of cost", rows)?;
    check_length("target_mass", target_mass.len(), "the columns of cost", columns)?;
    check_label_masses(source_labels, target_labels, source_mass, target_mass)?;
    for (mut row, &source_label) in cost.rows_mut().into_iter().zip(source_labels) {
        for (cost, target_label) in row.iter_mut().zip(target_labels) {
            if target_label.is_some_and(|label| label != source_label) {
                *cost = f64::INFINITY;
            }
        }
    }
    Ok(cost)
}

/// Mass for labelled target samples can only come from their class; unlabelled ones take what is left.
fn check_label_masses(
    source_labels: &[usize],
    target_labels: &[Option<usize>],
    source_mass: &[f64],
    target_mass: &[f64],
) -> Result<()> {
    const ROUNDING: f64 = 1e-9;
    // What each class needs and has, whatever numbers the labels are.
    let mut masses = BTreeMap::<usize, (f64, f64)>::new();
    for (&label, mass) in source_labels.iter().zip(source_mass) {
        masses.entry(label).or_default().1 += mass;
    }
    for (label, mass) in target_labels.iter().zip(target_mass) {
        if let Some(label) = label {
            masses.entry(*label).or_default().0 += mass;
        }
    }
    match masses.into_iter().find(|(_, (needed, available))| *needed > available + ROUNDING) {
        None => Ok(()),
        Some((class, (needed, available))) => Err(Error::LabelMass { class, needed, available }),
    }
}

/// Adds to each cost `weight` · (1 − probability that the target sample has the source sample's label).
/// `probabilities` has a row for each target sample and a column for each class.
pub fn penalize_unlikely_labels(
    mut cost: Array2<f64>,
    source_labels: &[usize],
    probabilities: ArrayView2<'_, f64>,
    weight: f64,
) -> Result<Array2<f64>> {
    let (rows, columns) = cost.dim();
    check_weight("weight", weight)?;
    check_length("source_labels", source_labels.len(), "the rows of cost", rows)?;
    check_length(
        "the rows of probabilities",
        probabilities.nrows(),
        "the columns of cost",
        columns,
    )?;
    if let Some(((row, column), &value)) =
        probabilities.indexed_iter().find(|(_, value)| !(0.0..=1.0).contains(*value))
    {
        return Err(Error::Argument {
            name: "probabilities",
            value: format!("{value} at row {row}, column {column}"),
            rule: "probabilities lie between 0 and 1",
        });
    }
    if let Some(&label) = source_labels.iter().find(|&&label| label >= probabilities.ncols()) {
        return Err(Error::Argument {
            name: "source_labels",
            value: label.to_string(),
            rule: "each label needs a column of probabilities",
        });
    }
    for (row, &label) in cost.rows_mut().into_iter().zip(source_labels) {
        Zip::from(row)
            .and(probabilities.column(label))
            .for_each(|cost, probability| *cost += weight * (1.0 - probability));
    }
    Ok(cost)
}
