//! A narrow matrix for the source samples and one for the target samples, in which Ω_c of moved samples is written.

use faer::Accum;
use ndarray::{Array2, ArrayView2, Zip};

use crate::product::{product, write_product};

/// As many rows as there are samples.
pub(super) type Sides = [Array2<f64>; 2];

/// X_t and X_s.
pub(super) type Destinations<'a> = [ArrayView2<'a, f64>; 2];

pub(super) fn inner(left: &Sides, right: &Sides) -> f64 {
    let sum = |side: usize| {
        Zip::from(&left[side]).and(&right[side]).fold(0.0, |sum, left, right| sum + left * right)
    };
    sum(0) + sum(1)
}

/// `to += scale · what`.
pub(super) fn add_scaled(to: &mut Sides, scale: f64, what: &Sides) {
    to.iter_mut().zip(what).for_each(|(to, what)| to.scaled_add(scale, what));
}

/// (γ X_t, γᵀ X_s).
pub(super) fn moved_by(plan: ArrayView2<'_, f64>, destinations: &Destinations<'_>) -> Sides {
    [product(plan, destinations[0]), product(plan.t(), destinations[1])]
}

/// weight · (S₁ X_tᵀ + X_s S₂ᵀ), in place of what there is or added to it.
pub(super) fn write_gradient(
    weight: f64,
    slopes: &Sides,
    destinations: &Destinations<'_>,
    accumulate: Accum,
    matrix: &mut Array2<f64>,
) {
    write_product(weight, slopes[0].view(), destinations[0].t(), accumulate, matrix);
    write_product(weight, destinations[1], slopes[1].t(), Accum::Add, matrix);
}
