//! Minimisation over subspaces: conjugate gradients on the Grassmann manifold.
//!
//! A. Edelman, T. Arias and S. Smith, "The Geometry of Algorithms with Orthogonality Constraints", SIAM Journal
//! on Matrix Analysis and Applications 20(2), 1998. A subspace is given by an orthonormal basis W; the gradient
//! there is (I − WWᵀ) G, a step is W + t H made orthonormal again, and directions are carried along by
//! projection. Polak and Ribière's rule, restarted where it is negative; steps after Armijo.

use ndarray::{Array2, ArrayView2};

use crate::error::{Error, Result};

/// Why a minimisation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The gradient is below the tolerance: this is a stationary point.
    Stationary,
    /// Two steps in a row lowered the objective by less than a millionth, or no step lowered it at all.
    Stalled,
    /// The limit of steps was reached.
    IterationLimit,
}

/// When to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) max_iterations: usize,
    /// For the norm of the gradient, relative to the objective.
    pub(crate) tolerance: f64,
}

/// Where a minimisation ended.
pub(crate) struct Minimum {
    pub(crate) basis: Array2<f64>,
    /// At the start and after each step.
    pub(crate) objectives: Vec<f64>,
    pub(crate) relative_gradient: f64,
    pub(crate) stop: Stop,
}

/// A step shortened more often than this is lost in rounding.
const MAX_SHORTENINGS: usize = 25;
/// The part of the decrease that a linear objective would have.
const ARMIJO: f64 = 1e-4;
/// Relative decrease of a step that counts as none, and how many such steps end the search.
const NO_PROGRESS: f64 = 1e-6;
const IDLE_STEPS: usize = 2;
/// The longest step: farther along a tangent all subspaces look the same.
const LONGEST_STEP: f64 = 2.0;

/// Minimises a function of the subspace that `basis` spans; `objective` gives its value and gradient in the
/// entries of the basis, and `start` is what it gives for the first one.
pub(crate) fn minimise(
    mut basis: Array2<f64>,
    start: (f64, Array2<f64>),
    limits: Limits,
    objective: impl Fn(ArrayView2<'_, f64>) -> (f64, Array2<f64>),
) -> Result<Minimum> {
    let (mut value, slope) = start;
    let mut gradient = tangent(basis.view(), slope);
    let mut direction = -&gradient;
    let mut step = f64::INFINITY;
    let mut objectives = vec![value];
    let mut idle = 0;
    let mut stop = Stop::IterationLimit;
    let relative = |gradient: &Array2<f64>, value: f64| {
        inner(gradient, gradient).sqrt() / value.abs().max(f64::MIN_POSITIVE)
    };
    for _ in 0..limits.max_iterations {
        if relative(&gradient, value) <= limits.tolerance {
            stop = Stop::Stationary;
            break;
        }
        let squared_norm = inner(&gradient, &gradient);
        let mut descent = inner(&gradient, &direction);
        if descent >= 0.0 {
            direction = -&gradient;
            descent = -squared_norm;
        }
        // The first step aims at half of the objective, were it linear.
        step = step
            .min(0.5 * value.abs() / -descent)
            .min(LONGEST_STEP / inner(&direction, &direction).sqrt());
        let mut taken = None;
        for _ in 0..MAX_SHORTENINGS {
            let candidate = orthonormalised(&basis + &(&direction * step))?;
            let (reached, slope) = objective(candidate.view());
            if reached <= value + ARMIJO * step * descent {
                taken = Some((candidate, reached, slope));
                break;
            }
            // The minimum of the parabola through both values, within reason.
            let parabola = -descent * step * step / (2.0 * (reached - value - descent * step));
            step = parabola.clamp(0.1 * step, 0.5 * step);
        }
        let Some((candidate, reached, slope)) = taken else {
            stop = Stop::Stalled;
            break;
        };
        let next = tangent(candidate.view(), slope);
        let carried = tangent(candidate.view(), gradient);
        let conjugacy = (inner(&next, &next) - inner(&next, &carried)) / squared_norm;
        direction = tangent(candidate.view(), direction) * conjugacy.max(0.0) - &next;
        idle = if value - reached <= NO_PROGRESS * value.abs() { idle + 1 } else { 0 };
        (basis, value, gradient) = (candidate, reached, next);
        objectives.push(value);
        // Steps have to be able to grow.
        step *= 2.0;
        if idle == IDLE_STEPS {
            stop = Stop::Stalled;
            break;
        }
    }
    let relative_gradient = relative(&gradient, value);
    if relative_gradient <= limits.tolerance {
        stop = Stop::Stationary;
    }
    Ok(Minimum { basis, objectives, relative_gradient, stop })
}

/// The part of a matrix that changes the subspace: (I − WWᵀ) M.
fn tangent(basis: ArrayView2<'_, f64>, mut matrix: Array2<f64>) -> Array2<f64> {
    matrix -= &basis.dot(&basis.t().dot(&matrix));
    matrix
}

fn inner(first: &Array2<f64>, second: &Array2<f64>) -> f64 {
    first.iter().zip(second).map(|(a, b)| a * b).sum()
}

/// An orthonormal basis of the columns' span, V = M L⁻ᵀ with MᵀM = L Lᵀ. A basis plus a tangent has
/// MᵀM = I + t²HᵀH, whose condition the length of a step bounds, so that squaring it costs no digits.
fn orthonormalised(mut matrix: Array2<f64>) -> Result<Array2<f64>> {
    let lost = Error::Decomposition { what: "the basis of the subspace" };
    let gram = matrix.t().dot(&matrix);
    let size = gram.nrows();
    let mut lower = Array2::<f64>::zeros((size, size));
    for column in 0..size {
        for row in column..size {
            let known: f64 =
                (0..column).map(|before| lower[[row, before]] * lower[[column, before]]).sum();
            let rest = gram[[row, column]] - known;
            lower[[row, column]] = if row > column {
                rest / lower[[column, column]]
            } else if rest > 0.0 {
                rest.sqrt()
            } else {
                return Err(lost);
            };
        }
    }
    for mut row in matrix.rows_mut() {
        for column in 0..size {
            let known: f64 = (0..column).map(|before| row[before] * lower[[column, before]]).sum();
            row[column] = (row[column] - known) / lower[[column, column]];
        }
    }
    Ok(matrix)
}
