//! The class-based term Ω_c of eq. `optreg_disc`, as the generalized conditional gradient needs it.

use ndarray::{Array2, ArrayView2};

use crate::checks::check_weight;
use crate::error::Result;

/// A slope as a function of the place on a segment.
pub type SegmentSlope = Box<dyn Fn(f64) -> f64>;

/// A differentiable term Ω of a transport plan γ. Value and gradient are all that a new one has to write.
///
/// ```
/// use ndarray::{Array2, ArrayView2};
/// use solvers::Regularizer;
///
/// /// Ω(γ) = ½‖γ‖², which spreads the mass.
/// struct SquaredNorm;
///
/// impl Regularizer for SquaredNorm {
///     fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
///         0.5 * plan.iter().map(|mass| mass * mass).sum::<f64>()
///     }
///     fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
///         gradient.assign(&plan);
///     }
/// }
/// ```
pub trait Regularizer {
    /// Ω(γ).
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64;

    /// Writes ∇Ω(γ), which has the shape of the plan, over `gradient`.
    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>);

    /// Fails unless Ω is one of plans of this shape.
    fn check_shape(&self, _shape: (usize, usize)) -> Result<()> {
        Ok(())
    }

    /// The slope of Ω on the segment (1 − t) `from` + t `to`, as a function of t, where that takes less than a
    /// gradient for each t.
    fn slope_on_segment(
        &self,
        _from: ArrayView2<'_, f64>,
        _to: ArrayView2<'_, f64>,
    ) -> Option<SegmentSlope> {
        None
    }

    /// Whether Ω is a convex quadratic form, so that its gradient is linear in the plan and Ω(γ) = ½⟨γ, ∇Ω(γ)⟩ ≥ 0. The
    /// solver then combines values and gradients that it has instead of asking for new ones, accelerates, and bounds the
    /// objective by convexity: for another quadratic form say no.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Ω as a form of the moved samples, if it is one, which only a quadratic Ω can be. Where they have few features the solver
    /// looks for them instead of the plan.
    fn moved_samples(&self) -> Option<Box<dyn MovedSamples + '_>> {
        None
    }
}

/// Ω(γ) = ½⟨Y, MY⟩ for the moved samples Y = (γ X_t, γᵀ X_s), with M symmetric and positive semi-definite.
pub trait MovedSamples {
    /// X_t and X_s.
    fn destinations(&self) -> [ArrayView2<'_, f64>; 2];

    /// MY, of which ∇Ω is (MY)₁ X_tᵀ + X_s (MY)₂ᵀ.
    fn slopes(&self, moved: &[Array2<f64>; 2]) -> [Array2<f64>; 2];
}

/// η₁Ω₁ + η₂Ω₂ + …
#[derive(Default)]
pub struct WeightedSum<'a> {
    terms: Vec<(f64, &'a dyn Regularizer)>,
}

impl<'a> WeightedSum<'a> {
    /// A sum of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a term with its weight.
    pub fn and(mut self, weight: f64, term: &'a dyn Regularizer) -> Result<Self> {
        check_weight("eta", weight)?;
        self.terms.push((weight, term));
        Ok(self)
    }
}

impl Regularizer for WeightedSum<'_> {
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        self.terms.iter().map(|(weight, term)| weight * term.value(plan)).sum()
    }

    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        gradient.fill(0.0);
        let mut part = Array2::zeros(gradient.raw_dim());
        for (weight, term) in &self.terms {
            term.gradient(plan, &mut part);
            gradient.scaled_add(*weight, &part);
        }
    }

    fn check_shape(&self, shape: (usize, usize)) -> Result<()> {
        self.terms.iter().try_for_each(|(_, term)| term.check_shape(shape))
    }

    fn is_quadratic(&self) -> bool {
        self.terms.iter().all(|(_, term)| term.is_quadratic())
    }
}
