//! The masses of the samples (eq. `mus`): uniform, given, or reweighted by class.

use ndarray::ArrayView2;

use crate::checks::check_length;
use crate::error::{Error, Result};

/// Given masses may miss a sum of one by this much; they are then divided by their sum.
const SUM_TOLERANCE: f64 = 1e-6;

/// The same mass for each of `samples` samples.
#[must_use]
pub fn uniform_mass(samples: usize) -> Vec<f64> {
    vec![1.0 / samples as f64; samples]
}

/// Masses that a user gives, checked and divided by their sum. `name` is for the error message.
pub fn given_mass(name: &'static str, mass: &[f64]) -> Result<Vec<f64>> {
    if let Some(index) = mass.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
        return Err(Error::Mass { name, index, value: mass[index] });
    }
    let sum: f64 = mass.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(Error::MassSum { name, sum });
    }
    Ok(mass.iter().map(|value| value / sum).collect())
}

/// The checked masses of both sides of a problem with this cost matrix.
pub(crate) fn masses_of(
    cost: ArrayView2<'_, f64>,
    source_mass: &[f64],
    target_mass: &[f64],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (rows, columns) = cost.dim();
    if rows == 0 || columns == 0 {
        return Err(Error::Empty { rows, columns });
    }
    check_length("source_mass", source_mass.len(), "the rows of cost", rows)?;
    check_length("target_mass", target_mass.len(), "the columns of cost", columns)?;
    Ok((given_mass("source_mass", source_mass)?, given_mass("target_mass", target_mass)?))
}

/// Source masses under which class `c` weighs `proportions[c]` in all, for a target whose classes have
/// other proportions than the source's (section 2 of the paper). Samples of one class weigh the same.
pub fn class_reweighted_mass(labels: &[usize], proportions: &[f64]) -> Result<Vec<f64>> {
    let proportions = given_mass("proportions", proportions)?;
    let mut counts = vec![0_usize; proportions.len()];
    for &label in labels {
        *counts.get_mut(label).ok_or(Error::Argument {
            name: "labels",
            value: label.to_string(),
            rule: "each label needs a proportion",
        })? += 1;
    }
    if let Some(class) =
        (0..counts.len()).find(|&class| counts[class] == 0 && proportions[class] > 0.0)
    {
        return Err(Error::Argument {
            name: "proportions",
            value: format!("{} for class {class}", proportions[class]),
            rule: "a class without source samples cannot have mass",
        });
    }
    Ok(labels.iter().map(|&label| proportions[label] / counts[label] as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reweighted_classes_have_the_wanted_proportions() {
        let mass = class_reweighted_mass(&[0, 0, 0, 1], &[0.3, 0.7]).unwrap();
        for (found, expected) in mass.iter().zip([0.1, 0.1, 0.1, 0.7]) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn a_class_without_samples_cannot_have_mass() {
        let text = class_reweighted_mass(&[0, 0], &[0.5, 0.5]).unwrap_err().to_string();
        assert!(text.contains("0.5 for class 1"), "{text}");
    }

    #[test]
    fn masses_are_checked_by_name() {
        let text = given_mass("mass", &[0.5, -0.5, 1.0]).unwrap_err().to_string();
        assert!(text.contains("mass is -0.5 at sample 1"), "{text}");
        let text = given_mass("mass", &[0.5, 0.4]).unwrap_err().to_string();
        assert!(text.contains("sums to 0.9"), "{text}");
    }
}
