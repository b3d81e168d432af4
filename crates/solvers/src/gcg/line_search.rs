//! The step of algorithm `algo:fws`: α = argmin over [0, 1] of the whole objective on the segment from the
//! plan to the direction's end, by the root of its slope.

use ndarray::{Array2, ArrayView2, Zip};

use crate::elementary::slope_of_negentropy;
use crate::regularizer::Regularizer;

/// The objective on a segment of plans.
pub(super) struct LineSearch<'a> {
    pub cost: ArrayView2<'a, f64>,
    pub entropy_weight: f64,
    pub regularizer: &'a dyn Regularizer,
    pub regularization_weight: f64,
    pub from: ArrayView2<'a, f64>,
    pub to: ArrayView2<'a, f64>,
    /// ∇Ω_c at `from`.
    pub gradient: ArrayView2<'a, f64>,
}

/// Where the search ended.
pub(super) struct Found {
    /// α.
    pub step: f64,
    /// Minus the slope at α = 0.
    pub descent: f64,
    /// The step that the curvature on the segment asks for, which may exceed 1.
    pub curvature_step: f64,
}

/// The slope has to fall to this share of what it was.
const ACCURACY: f64 = 0.02;
const EVALUATIONS: usize = 12;
/// No more than this is believed of an extrapolation.
const LONGEST_STEP: f64 = 2.0;
const SHORTEST_STEP: f64 = 1e-3;

/// Searches the segment. Leaves ∇Ω_c at the plan found in `gradient`; `trial` is scratch.
pub(super) fn search(
    segment: &LineSearch<'_>,
    trial: &mut Array2<f64>,
    gradient: &mut Array2<f64>,
) -> Found {
    let transport = difference_dot(segment.from, segment.to, segment.cost);
    let regularization = |gradient: ArrayView2<'_, f64>| {
        segment.regularization_weight * difference_dot(segment.from, segment.to, gradient)
    };
    let entropy = |step: f64| {
        let slopes = Zip::from(segment.from.rows()).and(segment.to.rows());
        segment.entropy_weight
            * slopes.fold(0.0, |sum, from, to| match (from.as_slice(), to.as_slice()) {
                (Some(from), Some(to)) => sum + slope_of_negentropy(from, to, step),
                _ => sum + slope_of_negentropy(&from.to_vec(), &to.to_vec(), step),
            })
    };
    let at_start = regularization(segment.gradient);
    let start = transport + entropy(0.0) + at_start;
    if start >= 0.0 {
        gradient.assign(&segment.gradient);
        return Found { step: 0.0, descent: -start, curvature_step: 1.0 };
    }
    segment.regularizer.gradient(segment.to, gradient);
    let at_end = regularization(gradient.view());
    let is_quadratic = segment.regularizer.is_quadratic();
    // Of a quadratic term the gradient anywhere is a mixture of those at the ends.
    let mut slope = |step: f64, gradient: &mut Array2<f64>| {
        let regularization = if is_quadratic {
            at_start + step * (at_end - at_start)
        } else {
            mix(segment.from, segment.to, step, trial);
            segment.regularizer.gradient(trial.view(), gradient);
            regularization(gradient.view())
        };
        transport + entropy(step) + regularization
    };

    let end = transport + entropy(1.0) + at_end;
    let curvature_step = (start / (start - end)).clamp(SHORTEST_STEP, LONGEST_STEP);
    // Up to the accuracy of the search: rounding must not shorten a full step.
    if end <= ACCURACY * start.abs() {
        let curvature_step = if end < start { 1.0 } else { curvature_step.max(1.0) };
        return Found { step: 1.0, descent: -start, curvature_step };
    }
    let step = root(start, end, |step| slope(step, gradient));
    if is_quadratic {
        Zip::from(gradient).and(segment.gradient).for_each(|end, &start| {
            *end = start + step * (*end - start);
        });
    }
    Found { step, descent: -start, curvature_step: step.max(SHORTEST_STEP) }
}

/// A root of an increasing function that is `start` < 0 at 0 and `end` > 0 at 1, by regula falsi with
/// Illinois' halving. The function was last evaluated at the root.
fn root(start: f64, end: f64, mut function: impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut high) = ((0.0, start), (1.0, end));
    let mut step = 1.0;
    for _ in 0..EVALUATIONS {
        step = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
        let value = function(step);
        if value.abs() <= ACCURACY * start.abs() {
            break;
        }
        if value < 0.0 {
            low = (step, value);
            high.1 *= 0.5;
        } else {
            high = (step, value);
            low.1 *= 0.5;
        }
    }
    step
}

/// Σ (to − from) · weight; a forbidden pair has no mass at either end and counts as zero.
fn difference_dot(
    from: ArrayView2<'_, f64>,
    to: ArrayView2<'_, f64>,
    weight: ArrayView2<'_, f64>,
) -> f64 {
    Zip::from(from).and(to).and(weight).fold(0.0, |sum, &from, &to, &weight| {
        let change = to - from;
        if change == 0.0 { sum } else { sum + change * weight }
    })
}

fn mix(from: ArrayView2<'_, f64>, to: ArrayView2<'_, f64>, step: f64, mixed: &mut Array2<f64>) {
    Zip::from(mixed).and(from).and(to).for_each(|mixed, &from, &to| {
        *mixed = from + step * (to - from);
    });
}
