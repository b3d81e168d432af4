//! The step of algorithm `algo:fws`: α = argmin over [0, 1] of the whole objective on the segment from the
//! plan to the direction's end, by the root of its slope.

use ndarray::{Array2, ArrayView2, Zip};

use crate::elementary::{end_slopes, slope_of_negentropy};
use crate::loops::change_dots;
use crate::parts::map_rows;
use crate::regularizer::Regularizer;
use crate::rows::entries;

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

/// Searches the segment. Leaves the plan found in `plan` and ∇Ω_c there in `gradient`, unless there is no
/// descent.
pub(super) fn search(
    segment: &LineSearch<'_>,
    plan: &mut Array2<f64>,
    gradient: &mut Array2<f64>,
) -> Found {
    let (ends, [regularization, _]) = segment.end_slopes(segment.gradient);
    let start = segment.slope(ends, 0, regularization);
    if start >= 0.0 {
        return Found { step: 0.0, descent: -start, curvature_step: 1.0 };
    }
    let cheap_slope = segment.regularizer.slope_on_segment(segment.from, segment.to);
    let end = if let Some(slope) = &cheap_slope {
        slope(1.0)
    } else {
        segment.regularizer.gradient(segment.to, gradient);
        segment.change_dot(gradient.view())
    };
    let found = segment.root(ends[0], start, segment.slope(ends, 1, end), |step| {
        if let Some(slope) = &cheap_slope {
            return slope(step);
        }
        segment.mix(step, plan);
        segment.regularizer.gradient(plan.view(), gradient);
        segment.change_dot(gradient.view())
    });
    segment.mix(found.step, plan);
    if cheap_slope.is_some() {
        segment.regularizer.gradient(plan.view(), gradient);
    }
    found
}

/// Searches the segment for a quadratic Ω_c, whose gradient at `to` is given.
pub(super) fn search_quadratic(
    segment: &LineSearch<'_>,
    end_gradient: ArrayView2<'_, f64>,
) -> Found {
    let (ends, [regularization, regularization_end]) = segment.end_slopes(end_gradient);
    let start = segment.slope(ends, 0, regularization);
    if start >= 0.0 {
        return Found { step: 0.0, descent: -start, curvature_step: 1.0 };
    }
    let end = segment.slope(ends, 1, regularization_end);
    let change = regularization_end - regularization;
    segment.root(ends[0], start, end, |step| regularization + step * change)
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

impl LineSearch<'_> {
    /// The slope of the objective at an end, given that of Ω_c.
    fn slope(&self, [transport, entropies @ ..]: [f64; 3], end: usize, regularization: f64) -> f64 {
        transport
            + self.entropy_weight * entropies[end]
            + self.regularization_weight * regularization
    }

    /// Where the slope, `start` < 0 and `end` at the ends, vanishes or the segment ends.
    fn root(
        &self,
        transport: f64,
        start: f64,
        end: f64,
        mut regularization: impl FnMut(f64) -> f64,
    ) -> Found {
        // Up to the accuracy of the search: rounding must not shorten a full step.
        if end <= ACCURACY * start.abs() {
            let is_convex = end > start;
            let wanted = (start / (start - end)).clamp(1.0, LONGEST_STEP);
            let curvature_step = if is_convex { wanted } else { 1.0 };
            return Found { step: 1.0, descent: -start, curvature_step };
        }
        let step = root(start, end, |step| {
            let entropy = self.entropy_weight * self.entropy_slope(step);
            transport + entropy + self.regularization_weight * regularization(step)
        });
        Found { step, descent: -start, curvature_step: step.max(SHORTEST_STEP) }
    }

    /// The slopes of ⟨γ, C⟩, and of Ω_s at both ends; and those of Ω_c with its gradients at both.
    fn end_slopes(&self, end_gradient: ArrayView2<'_, f64>) -> ([f64; 3], [f64; 2]) {
        let Self { cost, from, to, gradient, .. } = self;
        let parts = map_rows(from.dim(), |rows| {
            let (mut sums, mut slopes) = ([0.0; 3], [0.0; 2]);
            for row in rows {
                let (from, to) = (entries(from.row(row)), entries(to.row(row)));
                add(&mut sums, end_slopes(&from, &to, &entries(cost.row(row))));
                let gradients = (entries(gradient.row(row)), entries(end_gradient.row(row)));
                add(&mut slopes, change_dots(&from, &to, (&gradients.0, &gradients.1)));
            }
            (sums, slopes)
        });
        let (mut sums, mut slopes) = ([0.0; 3], [0.0; 2]);
        for part in parts {
            add(&mut sums, part.0);
            add(&mut slopes, part.1);
        }
        (sums, slopes)
    }

    /// The slope of Ω_s.
    fn entropy_slope(&self, step: f64) -> f64 {
        let Self { from, to, .. } = self;
        let of_row =
            |row| slope_of_negentropy(&entries(from.row(row)), &entries(to.row(row)), step);
        map_rows(from.dim(), |rows| rows.map(of_row).sum::<f64>()).into_iter().sum()
    }

    /// Σ (to − from) · weight.
    fn change_dot(&self, weight: ArrayView2<'_, f64>) -> f64 {
        Zip::from(self.from)
            .and(self.to)
            .and(weight)
            .fold(0.0, |sum, &from, &to, &weight| sum + (to - from) * weight)
    }

    fn mix(&self, step: f64, plan: &mut Array2<f64>) {
        Zip::from(plan).and(self.from).and(self.to).for_each(|mass, &from, &to| {
            *mass = (1.0 - step) * from + step * to;
        });
    }
}

fn add<const N: usize>(sums: &mut [f64; N], terms: [f64; N]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
