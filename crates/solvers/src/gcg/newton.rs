//! Newton's step for φ (see `moved`): (1 + η/λ · A P Aᵀ M) δ = Y − Ȳ, where A takes a plan to its moved samples and P is how
//! plans respond to costs (see `response`), by conjugate gradients in the inner product of M, in which the operator is
//! symmetric.

use ndarray::{Array1, Array2};

use super::response::Response;
use super::sides::{Sides, add_scaled, inner};
use crate::entropic::Potentials;
use crate::regularizer::MovedSamples;

/// Of the right-hand side, the residual that is left.
const ACCURACY: f64 = 0.1;
/// A step that takes more is good enough as it is.
const ITERATIONS: usize = 400;

/// δ, and what changes with it.
pub(super) struct Step {
    pub(super) moved: Sides,
    /// Mδ.
    pub(super) slopes: Sides,
    /// Of the linearized problem, to first order.
    pub(super) potentials: Potentials,
}

/// The step for the residual Y − Ȳ, of which the slopes are M(Y − Ȳ).
pub(super) fn newton_step(
    form: &dyn MovedSamples,
    response: &mut Response<'_>,
    (residual, residual_slopes): (&Sides, &Sides),
    (entropy_weight, regularization_weight): (f64, f64),
) -> Step {
    let destinations = form.destinations();
    let (mut residual, mut residual_slopes) = (residual.clone(), residual_slopes.clone());
    let (mut search, mut search_slopes) = (residual.clone(), residual_slopes.clone());
    let mut step = Step::zero(&residual);
    let mut norm = inner(&residual, &residual_slopes);
    let goal = ACCURACY * ACCURACY * norm;
    for _ in 0..ITERATIONS {
        // A NaN is not above it.
        let is_above = norm > goal;
        if !is_above {
            break;
        }
        let (mut image, potentials) = response.to(&search_slopes, &destinations);
        for side in &mut image {
            *side *= regularization_weight / entropy_weight;
        }
        add_scaled(&mut image, 1.0, &search);
        let length = norm / inner(&search_slopes, &image);
        if !length.is_finite() {
            break;
        }
        add_scaled(&mut step.moved, length, &search);
        add_scaled(&mut step.slopes, length, &search_slopes);
        let length_of_potentials = length * regularization_weight;
        step.potentials.source.scaled_add(length_of_potentials, &potentials.source);
        step.potentials.target.scaled_add(length_of_potentials, &potentials.target);
        add_scaled(&mut residual, -length, &image);
        add_scaled(&mut residual_slopes, -length, &form.slopes(&image));
        let next = inner(&residual, &residual_slopes);
        turn(&mut search, next / norm, &residual);
        turn(&mut search_slopes, next / norm, &residual_slopes);
        norm = next;
    }
    step
}

/// `search = residual + ratio · search`.
fn turn(search: &mut Sides, ratio: f64, residual: &Sides) {
    for side in search.iter_mut() {
        *side *= ratio;
    }
    add_scaled(search, 1.0, residual);
}

impl Step {
    fn zero(like: &Sides) -> Self {
        let zeros = || like.each_ref().map(|side| Array2::zeros(side.raw_dim()));
        let potential = |side: usize| Array1::zeros(like[side].nrows());
        let potentials = Potentials { source: potential(0), target: potential(1) };
        Self { moved: zeros(), slopes: zeros(), potentials }
    }
}
