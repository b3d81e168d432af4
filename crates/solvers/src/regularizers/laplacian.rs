//! Laplacian regularizers, eqs. `reglapsurce`, `reglaps` and `reglaps2`: samples that are neighbours before
//! the transport stay so after it.
//!
//! Ω(γ) = (1 − α) tr(X̂_sᵀ L_s X̂_s)/n_s² + α tr(X̂_tᵀ L_t X̂_t)/n_t² with the transported samples
//! X̂_s = diag(a)⁻¹ γ X_t and X̂_t = diag(b)⁻¹ γᵀ X_s. For uniform marginals this is eq. `reglaps2`:
//! (1 − α) tr(X_tᵀ γᵀ L_s γ X_t) + α tr(X_sᵀ γ L_t γᵀ X_s).

use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::checks::{check_finite, check_length, check_same_width};
use crate::error::{Error, Result};
use crate::graph::NeighbourGraph;
use crate::regularizer::Regularizer;

/// One of the two sides: a graph on the samples that move, and the samples they move to.
#[derive(Debug, Clone)]
struct Half {
    weight: f64,
    graph: NeighbourGraph,
    /// 1 / (n · mass) of each moving sample; zero where there is no mass to move.
    scale: Array1<f64>,
    /// X Xᵀ of the samples of the other side.
    gram: Array2<f64>,
}

/// The source term, the target term, or both.
#[derive(Debug, Clone)]
pub struct Laplacian {
    source: Option<Half>,
    target: Option<Half>,
}

impl Laplacian {
    /// The paper's trade-off in eq. `reglaps2`.
    pub const DEFAULT_TRADE_OFF: f64 = 0.5;
    /// The paper's number of neighbours.
    pub const DEFAULT_NEIGHBOURS: usize = 8;

    /// Eq. `reglaps`: transported source samples that `graph` joins stay close.
    pub fn of_source(
        graph: NeighbourGraph,
        target: ArrayView2<'_, f64>,
        source_mass: &[f64],
    ) -> Result<Self> {
        check_finite("target", target)?;
        Ok(Self { source: Some(Half::new(1.0, graph, target, source_mass)?), target: None })
    }

    /// Eq. `reglaps2`: both sides, the target's weighing `trade_off` (the paper's α).
    pub fn symmetric(
        graphs: (NeighbourGraph, NeighbourGraph),
        samples: (ArrayView2<'_, f64>, ArrayView2<'_, f64>),
        masses: (&[f64], &[f64]),
        trade_off: f64,
    ) -> Result<Self> {
        if !(0.0..=1.0).contains(&trade_off) {
            return Err(Error::Argument {
                name: "alpha",
                value: trade_off.to_string(),
                rule: "it lies between 0 and 1",
            });
        }
        let (source, target) = samples;
        check_finite("source", source)?;
        check_finite("target", target)?;
        check_same_width(source, target)?;
        Ok(Self {
            source: Some(Half::new(1.0 - trade_off, graphs.0, target, masses.0)?),
            target: Some(Half::new(trade_off, graphs.1, source, masses.1)?),
        })
    }
}

impl Half {
    fn new(
        weight: f64,
        graph: NeighbourGraph,
        destination: ArrayView2<'_, f64>,
        mass: &[f64],
    ) -> Result<Self> {
        check_length("mass", mass.len(), "the samples of the graph", graph.size())?;
        let count = mass.len() as f64;
        let scale =
            mass.iter().map(|&mass| if mass > 0.0 { 1.0 / (count * mass) } else { 0.0 }).collect();
        // A common shift moves all transported samples alike and leaves Ω; it costs digits, though.
        let centred = match destination.mean_axis(Axis(0)) {
            Some(centre) => &destination - &centre,
            None => destination.to_owned(),
        };
        Ok(Self { weight, graph, scale, gram: centred.dot(&centred.t()) })
    }

    /// diag(s) L diag(s) γ X Xᵀ, of which Ω is half the inner product with γ, twice.
    fn quarter_gradient(&self, plan: ArrayView2<'_, f64>) -> Array2<f64> {
        let scale = self.scale.view().insert_axis(Axis(1));
        let scaled = &plan * &scale;
        let mut smoothed = self.graph.laplacian_times(scaled.view());
        smoothed *= &scale;
        smoothed.dot(&self.gram)
    }
}

impl Regularizer for Laplacian {
    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        let energy = |half: &Half, plan: ArrayView2<'_, f64>| {
            half.weight * (&half.quarter_gradient(plan) * &plan).sum()
        };
        let source = self.source.as_ref().map_or(0.0, |half| energy(half, plan));
        source + self.target.as_ref().map_or(0.0, |half| energy(half, plan.reversed_axes()))
    }

    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        gradient.fill(0.0);
        if let Some(half) = &self.source {
            gradient.scaled_add(2.0 * half.weight, &half.quarter_gradient(plan));
        }
        if let Some(half) = &self.target {
            let part = half.quarter_gradient(plan.reversed_axes());
            gradient.scaled_add(2.0 * half.weight, &part.t());
        }
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}
