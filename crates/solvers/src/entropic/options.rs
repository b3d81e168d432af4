//! What a caller can choose about an entropic solve, and what comes back.
//! The potentials are those of eq. `cuturi`: γ = exp((f ⊕ g - C)/λ).

use ndarray::{Array1, Array2};

use crate::stop::Stop;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Largest L1 error of the marginals before the final projection.
    pub tolerance: f64,
    /// Newton steps and sweeps for one λ, including those at the larger λ on the way to it; as many again where a warm start
    /// does not serve.
    pub iteration_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: 1e-10, iteration_limit: 500 }
    }
}

/// Dual potentials of a solution. A sample without mass has the potential −∞.
#[derive(Debug, Clone, PartialEq)]
pub struct Potentials {
    /// f.
    pub source: Array1<f64>,
    /// g.
    pub target: Array1<f64>,
}

/// The solution for one λ.
#[derive(Debug, Clone)]
pub struct Solution {
    /// λ.
    pub entropy_weight: f64,
    /// The transport plan γ; its marginals hold to rounding.
    pub plan: Array2<f64>,
    /// What the plan is made of.
    pub potentials: Potentials,
    /// Σ γ C.
    pub transport_cost: f64,
    /// Σ γ C + λ Σ γ ln γ, the objective of eq. `cuturi`.
    pub objective: f64,
    /// The value of the dual at the potentials: a lower bound on the objective.
    pub dual_objective: f64,
    /// L1 error of both marginals before the projection.
    pub marginal_error: f64,
    /// Newton steps and sweeps since the previous solution.
    pub iterations: usize,
    /// Why the solve ended.
    pub stop: Stop,
}

impl Solution {
    /// Objective minus dual objective: not below zero except by rounding.
    #[must_use]
    pub fn duality_gap(&self) -> f64 {
        self.objective - self.dual_objective
    }

    /// The duality gap relative to the larger of the transport cost and the entropy term.
    #[must_use]
    pub fn relative_gap(&self) -> f64 {
        let entropy_term = self.objective - self.transport_cost;
        let scale = self.transport_cost.abs().max(entropy_term.abs()).max(f64::MIN_POSITIVE);
        self.duality_gap() / scale
    }
}
