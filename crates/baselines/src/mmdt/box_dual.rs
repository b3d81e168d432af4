//! Duals of max-margin problems without a bias: a quadratic over a box, by coordinate descent.
//!
//! Hsieh, Chang, Lin, Keerthi and Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear
//! SVM", ICML 2008, in signed variables βᵢ = yᵢαᵢ: minimise ½βᵀKβ + Σ βᵢ²/2·dᵢ − qᵀβ, with 0 ≤ yᵢβᵢ ≤ uᵢ.
//! For the hinge u = C and d = 0, for its square u = ∞ and d = 1/2C. Instead of taking turns, the coordinate
//! that gains most is next: with the gradient at hand this costs as much as the update. After each sweep the
//! variables between their bounds take a Newton step, without which few features and many samples, an
//! ill-conditioned K, would take coordinates millions of steps.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use ndarray::{Array1, ArrayView2};

/// Sweeps at most, each with its Newton step.
const SWEEPS: usize = 1000;
/// Added to the curvature of a Newton step, relative to its mean: K may be singular.
const RIDGE: f64 = 1e-10;

/// How a sample on the wrong side of its margin is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarginLoss {
    /// max(0, 1 − yf).
    Hinge,
    /// max(0, 1 − yf)².
    SquaredHinge,
}

impl MarginLoss {
    /// The loss at yf.
    pub(super) fn value(self, margin: f64) -> f64 {
        let slack = (1.0 - margin).max(0.0);
        match self {
            Self::Hinge => slack,
            Self::SquaredHinge => slack * slack,
        }
    }

    /// The box's u and the diagonal's d for a cost.
    fn bounds(self, cost: f64) -> (f64, f64) {
        match self {
            Self::Hinge => (cost, 0.0),
            Self::SquaredHinge => (f64::INFINITY, 0.5 / cost),
        }
    }
}

/// One variable of the problem.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// y.
    pub sign: f64,
    /// C of its loss.
    pub cost: f64,
    /// q.
    pub pull: f64,
}

/// A solution of the dual.
pub struct BoxSolution {
    pub coefficients: Array1<f64>,
    /// No margin violates its condition by more than the tolerance.
    pub is_converged: bool,
}

/// Solves to a tolerance on the margins.
pub fn solve_box(
    kernel: ArrayView2<'_, f64>,
    variables: &[Variable],
    loss: MarginLoss,
    tolerance: f64,
) -> BoxSolution {
    let mut state = State::new(kernel, variables, loss);
    for _ in 0..SWEEPS {
        for _ in 0..variables.len() {
            if state.improve_one() <= tolerance {
                return BoxSolution { coefficients: state.coefficients, is_converged: true };
            }
        }
        // A step that ends at a bound leaves fewer variables free; one that does not is their optimum.
        while state.improve_free() == NewtonStep::Bounded {}
    }
    BoxSolution { coefficients: state.coefficients, is_converged: false }
}

#[derive(PartialEq, Eq)]
enum NewtonStep {
    /// A variable came to its bound.
    Bounded,
    /// All that there is to gain among the free variables.
    Complete,
}

struct State<'a> {
    kernel: ArrayView2<'a, f64>,
    lowest: Array1<f64>,
    highest: Array1<f64>,
    /// d.
    diagonal: Array1<f64>,
    coefficients: Array1<f64>,
    /// q − (K + d)β, the ascent direction.
    residuals: Array1<f64>,
}

impl<'a> State<'a> {
    fn new(kernel: ArrayView2<'a, f64>, variables: &[Variable], loss: MarginLoss) -> Self {
        let of = |field: &dyn Fn(&Variable) -> f64| -> Array1<f64> {
            variables.iter().map(field).collect()
        };
        let bound = |variable: &Variable| loss.bounds(variable.cost).0;
        Self {
            kernel,
            lowest: of(&|variable| if variable.sign > 0.0 { 0.0 } else { -bound(variable) }),
            highest: of(&|variable| if variable.sign > 0.0 { bound(variable) } else { 0.0 }),
            diagonal: of(&|variable| loss.bounds(variable.cost).1),
            coefficients: Array1::zeros(variables.len()),
            residuals: of(&|variable| variable.pull),
        }
    }

    /// Moves the variable that gains most; returns the largest violation found before.
    fn improve_one(&mut self) -> f64 {
        let (mut best, mut best_gain, mut violation) = (None, 0.0, 0.0_f64);
        for place in 0..self.coefficients.len() {
            let (beta, slope) = (self.coefficients[place], self.residuals[place]);
            let (low, high) = (self.lowest[place], self.highest[place]);
            if (slope > 0.0 && beta >= high) || (slope < 0.0 && beta <= low) || slope == 0.0 {
                continue;
            }
            violation = violation.max(slope.abs());
            let curvature = self.kernel[[place, place]] + self.diagonal[place];
            // Without curvature, as of a hyperplane that is zero, the hinge's variable runs to its bound.
            let wanted =
                if curvature > 0.0 { beta + slope / curvature } else { slope * f64::INFINITY };
            let step = wanted.clamp(low, high) - beta;
            let gain = step * (slope - 0.5 * curvature * step);
            if gain > best_gain {
                (best, best_gain) = (Some((place, step)), gain);
            }
        }
        // Nothing gains, to rounding: what is violated then is not to be mended.
        let Some((place, step)) = best else { return 0.0 };
        self.coefficients[place] =
            (self.coefficients[place] + step).clamp(self.lowest[place], self.highest[place]);
        self.residuals.scaled_add(-step, &self.kernel.row(place));
        self.residuals[place] -= step * self.diagonal[place];
        violation
    }

    /// Newton's step of the variables between their bounds, as far as the box allows.
    fn improve_free(&mut self) -> NewtonStep {
        let free: Vec<usize> = (0..self.coefficients.len())
            .filter(|&i| {
                self.coefficients[i] > self.lowest[i] && self.coefficients[i] < self.highest[i]
            })
            .collect();
        let trace: f64 = free.iter().map(|&i| self.kernel[[i, i]] + self.diagonal[i]).sum();
        let ridge = RIDGE * trace / free.len().max(1) as f64;
        let curvature = Mat::from_fn(free.len(), free.len(), |row, column| {
            let (i, j) = (free[row], free[column]);
            self.kernel[[i, j]] + if i == j { self.diagonal[i] + ridge } else { 0.0 }
        });
        let Ok(factor) = curvature.llt(Side::Lower) else { return NewtonStep::Complete };
        let slopes = Mat::from_fn(free.len(), 1, |row, _| self.residuals[free[row]]);
        let step = factor.solve(&slopes);
        let mut direction = Array1::zeros(self.coefficients.len());
        let (mut room, mut blocking) = (f64::INFINITY, None);
        for (row, &i) in free.iter().enumerate() {
            direction[i] = step[(row, 0)];
            let bound = if direction[i] > 0.0 { self.highest[i] } else { self.lowest[i] };
            let length = (bound - self.coefficients[i]) / direction[i];
            if direction[i] != 0.0 && length < room {
                (room, blocking) = (length, Some((i, bound)));
            }
        }
        let image = self.kernel.dot(&direction) + &self.diagonal * &direction;
        let (slope, bend) = (self.residuals.dot(&direction), direction.dot(&image));
        let wanted = if bend > 0.0 { slope / bend } else { 1.0 };
        let length = wanted.min(room);
        if !(length > 0.0 && length.is_finite()) {
            return NewtonStep::Complete;
        }
        self.coefficients.scaled_add(length, &direction);
        self.residuals.scaled_add(-length, &image);
        match blocking {
            Some((place, bound)) if room <= wanted => {
                self.coefficients[place] = bound;
                NewtonStep::Bounded
            }
            _ => NewtonStep::Complete,
        }
    }
}
