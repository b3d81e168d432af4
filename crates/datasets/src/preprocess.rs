//! Named steps from the features of a file to the features of an experiment.

use ndarray::{Array2, ArrayViewMut1, Axis};
use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::error::{Error, Result};

/// One step, over a whole domain and before any draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Each sample divided by the sum of its absolute values: counts become a histogram.
    L1Rows,
    /// Each sample divided by its Euclidean norm.
    L2Rows,
    /// Each feature to zero mean and unit (population) deviation over the domain.
    Zscore,
    /// Each feature to the range [0, 1] over the domain.
    MinMax,
    /// The square root of each value: Euclidean distances become Hellinger's between histograms.
    Sqrt,
}

/// Applies the steps in their order.
pub fn preprocess(domain: Domain, steps: &[Step]) -> Result<Domain> {
    if steps.is_empty() {
        return Ok(domain);
    }
    let mut features = domain.features().to_owned();
    for step in steps {
        step.apply(domain.name(), &mut features)?;
    }
    domain.with_features(features)
}

impl Step {
    fn apply(self, domain: &str, features: &mut Array2<f64>) -> Result<()> {
        match self {
            Self::L1Rows => divide_rows(features, |row| row.iter().map(|value| value.abs()).sum()),
            Self::L2Rows => divide_rows(features, |row| row.dot(row).sqrt()),
            Self::Zscore => {
                for (place, mut column) in features.columns_mut().into_iter().enumerate() {
                    let mean = column.mean().unwrap_or(0.0);
                    let deviation = column.std(0.0);
                    check_range(domain, "zscore", place, deviation)?;
                    // Rounding leaves a constant feature a deviation that is tiny but not zero.
                    let is_constant = deviation <= (1e-12 * mean.abs()).max(f64::MIN_POSITIVE);
                    let scale = if is_constant { 0.0 } else { deviation.recip() };
                    column.mapv_inplace(|value| (value - mean) * scale);
                }
            }
            Self::MinMax => {
                for (place, mut column) in features.columns_mut().into_iter().enumerate() {
                    let low = column.fold(f64::INFINITY, |low, &value| low.min(value));
                    let high = column.fold(f64::NEG_INFINITY, |high, &value| high.max(value));
                    check_range(domain, "min_max", place, high - low)?;
                    let spread = high - low;
                    let scale = if spread > f64::MIN_POSITIVE { spread.recip() } else { 0.0 };
                    column.mapv_inplace(|value| (value - low) * scale);
                }
            }
            Self::Sqrt => {
                if let Some(((row, column), value)) =
                    features.indexed_iter().find(|(_, value)| **value < 0.0)
                {
                    return Err(Error::Domain {
                        domain: domain.to_owned(),
                        problem: format!(
                            "preprocessing step sqrt needs values of at least 0, and row {}, column {} is {value}.",
                            row + 1,
                            column + 1
                        ),
                    });
                }
                features.mapv_inplace(f64::sqrt);
            }
        }
        Ok(())
    }
}

/// Divides each row by its size; a row of zeros stays as it is.
fn divide_rows(features: &mut Array2<f64>, size: impl Fn(&ArrayViewMut1<'_, f64>) -> f64) {
    for mut row in features.axis_iter_mut(Axis(0)) {
        let mut of_row = size(&row);
        let largest = row.fold(0.0, |largest: f64, value| largest.max(value.abs()));
        // The sum of squares leaves the range of f64 before the values do: bring them to 1 first.
        if largest > 0.0 && !(of_row.is_normal()) {
            row.mapv_inplace(|value| value / largest);
            of_row = size(&row);
        }
        if of_row > 0.0 {
            row /= of_row;
        }
    }
}

/// Values may be finite and their spread not: dividing by it would turn the feature to zeros.
fn check_range(domain: &str, step: &str, place: usize, spread: f64) -> Result<()> {
    if spread.is_finite() {
        return Ok(());
    }
    Err(Error::Domain {
        domain: domain.to_owned(),
        problem: format!(
            "preprocessing step {step}: the values of column {} are too large to compute with. \
             Divide them by a constant in the file.",
            place + 1
        ),
    })
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    fn after(steps: &[Step], features: Array2<f64>) -> Array2<f64> {
        let labels = vec![0; features.nrows()];
        let domain = Domain::new("X", features, labels, vec!["a".into()]).unwrap();
        preprocess(domain, steps).unwrap().features().to_owned()
    }

    #[test]
    fn histograms_sum_to_one_and_empty_ones_stay_empty() {
        assert_eq!(
            after(&[Step::L1Rows], array![[1., 3.], [0., 0.]]),
            array![[0.25, 0.75], [0., 0.]]
        );
    }

    #[test]
    fn unit_norm_keeps_the_direction() {
        assert_eq!(after(&[Step::L2Rows], array![[3., 4.]]), array![[0.6, 0.8]]);
    }

    #[test]
    fn the_norm_of_huge_and_tiny_rows_is_still_one() {
        let features = array![[3e200, 4e200], [3e-200, 4e-200]];
        let unit = after(&[Step::L2Rows], features);
        for (value, expected) in unit.iter().zip([0.6, 0.8, 0.6, 0.8]) {
            assert!((value - expected).abs() < 1e-15, "{unit}");
        }
        assert_eq!(after(&[Step::L1Rows], array![[1e308, 1e308]]), array![[0.5, 0.5]]);
    }

    #[test]
    fn a_spread_beyond_the_range_of_numbers_is_refused() {
        for step in [Step::Zscore, Step::MinMax] {
            let features = array![[1., -1e308], [2., 1e308]];
            let domain = Domain::new("X", features, vec![0, 0], vec!["a".into()]).unwrap();
            let text = preprocess(domain, &[step]).unwrap_err().to_string();
            assert!(text.contains("the values of column 2 are too large"), "{text}");
        }
    }

    #[test]
    fn standard_scores_use_the_population_deviation_and_zero_a_constant() {
        assert_eq!(
            after(&[Step::Zscore], array![[1., 0.1], [3., 0.1], [5., 0.1]]),
            array![[-(1.5_f64.sqrt()), 0.], [0., 0.], [1.5_f64.sqrt(), 0.]]
        );
    }

    #[test]
    fn steps_run_in_the_order_given() {
        let features = array![[1., 3.], [2., 2.]];
        let histograms_first = after(&[Step::L1Rows, Step::Sqrt], features.clone());
        let roots_first = after(&[Step::Sqrt, Step::L1Rows], features);
        assert_eq!(histograms_first[[0, 0]], 0.5);
        assert_eq!(roots_first[[0, 0]], 1.0 / (1.0 + 3_f64.sqrt()));
    }

    #[test]
    fn ranges_are_stretched_to_zero_and_one_and_a_constant_to_zero() {
        let stretched = after(&[Step::MinMax], array![[1., 7.], [3., 7.], [5., 7.]]);
        assert_eq!(stretched, array![[0., 0.], [0.5, 0.], [1., 0.]]);
    }

    #[test]
    fn a_root_of_a_negative_value_is_refused_with_its_place() {
        let domain = Domain::new("X", array![[1., -2.]], vec![0], vec!["a".into()]).unwrap();
        let text = preprocess(domain, &[Step::Sqrt]).unwrap_err().to_string();
        assert!(
            text.contains("sqrt needs values of at least 0, and row 1, column 2 is -2"),
            "{text}"
        );
    }
}
