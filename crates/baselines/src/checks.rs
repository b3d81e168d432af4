//! What the methods on two domains ask of their input.

use ndarray::ArrayView2;

use crate::error::{Error, Result};

/// Both domains have samples and features, the same features, and numbers whose squares sum up.
pub(crate) fn check_domains(
    source: ArrayView2<'_, f64>,
    target: ArrayView2<'_, f64>,
) -> Result<()> {
    for (what, samples) in [("the source", source.view()), ("the target", target.view())] {
        if samples.is_empty() {
            return Err(Error::Empty { what });
        }
    }
    if source.ncols() != target.ncols() {
        return Err(Error::DomainWidths { in_source: source.ncols(), in_target: target.ncols() });
    }
    let mut squares = 0.0;
    for (what, samples) in [("source samples", source.view()), ("target samples", target.view())] {
        for ((row, column), value) in samples.indexed_iter() {
            if !value.is_finite() {
                return Err(Error::NotFinite { what, row: row + 1, column: column + 1 });
            }
            squares += value * value;
        }
    }
    // Centring at most doubles a value; a sample is multiplied with every other.
    let samples = (source.nrows() + target.nrows()) as f64;
    if (4.0 * samples * squares).is_finite() { Ok(()) } else { Err(Error::Overflow) }
}

/// A label for each source sample.
pub(crate) fn check_labels(source: ArrayView2<'_, f64>, labels: &[usize]) -> Result<()> {
    if labels.len() == source.nrows() {
        Ok(())
    } else {
        Err(Error::LabelCount { samples: source.nrows(), labels: labels.len() })
    }
}

/// A parameter that has to be a positive number.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(Error::Parameter {
            name,
            value: value.to_string(),
            rule: "a positive number is needed",
        })
    }
}

/// A number of dimensions between 1 and `most`, the components that `what` have.
pub(crate) fn check_dimensions(asked: usize, what: &'static str, most: usize) -> Result<()> {
    if (1..=most).contains(&asked) { Ok(()) } else { Err(Error::Dimensions { asked, what, most }) }
}
