//! Laplacian regularizers, eqs. `reglapsurce`, `reglaps` and `reglaps2`: samples that are neighbours before
//! the transport stay so after it.
//!
//! Ω(γ) = (1 − α) tr(X̂_sᵀ L_s X̂_s)/n_s² + α tr(X̂_tᵀ L_t X̂_t)/n_t² with the transported samples
//! X̂_s = diag(a)⁻¹ γ X_t and X̂_t = diag(b)⁻¹ γᵀ X_s. For uniform marginals this is eq. `reglaps2`:
//! (1 − α) tr(X_tᵀ γᵀ L_s γ X_t) + α tr(X_sᵀ γ L_t γᵀ X_s).

use faer::Accum;
use ndarray::{Array2, ArrayView2};

use crate::checks::{check_finite, check_length, check_same_width};
use crate::error::{Error, Result};
use crate::graph::{NeighbourGraph, centred};
use crate::product::{gram, product, write_product};
use crate::regularizer::{MovedSamples, Regularizer};

/// One of the two sides: a graph on the samples that move, and the samples they move to.
#[derive(Debug, Clone)]
struct Half {
    weight: f64,
    graph: NeighbourGraph,
    /// 1 / (n · mass) of each moving sample; zero where there is no mass to move.
    scale: Vec<f64>,
    destination: Destination,
}

/// The samples X of the other side, moved to their mean: a common shift moves all transported samples alike and
/// leaves Ω.
#[derive(Debug, Clone)]
enum Destination {
    /// X, of few dimensions: M X Xᵀ is two products with a narrow matrix.
    Samples(Array2<f64>),
    /// X Xᵀ otherwise.
    Gram(Array2<f64>),
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
        let target = centred(target);
        let gram = gram(&target);
        let half = Half::new(1.0, graph, Destination::new(target, gram), source_mass)?;
        Ok(Self { source: Some(half), target: None })
    }

    /// Eq. `reglaps2`: both sides, the target's weighing `trade_off` (the paper's α).
    pub fn symmetric(
        graphs: (NeighbourGraph, NeighbourGraph),
        samples: (ArrayView2<'_, f64>, ArrayView2<'_, f64>),
        masses: (&[f64], &[f64]),
        trade_off: f64,
    ) -> Result<Self> {
        check_samples(samples)?;
        let samples = (centred(samples.0), centred(samples.1));
        let grams = (gram(&samples.0), gram(&samples.1));
        Self::of_centred(graphs, samples, grams, masses, trade_off)
    }

    /// Eq. `reglaps2` with the graphs of the paper: the nearest `neighbours` of each sample, those of the source
    /// only within its class. The inner products serve the graphs and Ω, which halves the work of setting up.
    pub fn of_nearest_neighbours(
        samples: (ArrayView2<'_, f64>, ArrayView2<'_, f64>),
        source_labels: &[usize],
        masses: (&[f64], &[f64]),
        neighbours: usize,
        trade_off: f64,
    ) -> Result<Self> {
        check_samples(samples)?;
        let samples = (centred(samples.0), centred(samples.1));
        let grams = (gram(&samples.0), gram(&samples.1));
        let source = NeighbourGraph::nearest_by_gram(&grams.0, neighbours)?;
        let target = NeighbourGraph::nearest_by_gram(&grams.1, neighbours)?;
        let graphs = (source.prune_by_class(source_labels)?, target);
        Self::of_centred(graphs, samples, grams, masses, trade_off)
    }

    fn of_centred(
        graphs: (NeighbourGraph, NeighbourGraph),
        samples: (Array2<f64>, Array2<f64>),
        grams: (Array2<f64>, Array2<f64>),
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
        let to_source = Destination::new(samples.0, grams.0);
        let to_target = Destination::new(samples.1, grams.1);
        Ok(Self {
            source: Some(Half::new(1.0 - trade_off, graphs.0, to_target, masses.0)?),
            target: Some(Half::new(trade_off, graphs.1, to_source, masses.1)?),
        })
    }
}

fn check_samples((source, target): (ArrayView2<'_, f64>, ArrayView2<'_, f64>)) -> Result<()> {
    check_finite("source", source)?;
    check_finite("target", target)?;
    check_same_width(source, target)
}

impl Destination {
    fn new(samples: Array2<f64>, gram: Array2<f64>) -> Self {
        if 2 * samples.ncols() < samples.nrows() {
            Self::Samples(samples)
        } else {
            Self::Gram(gram)
        }
    }

    fn samples(&self) -> usize {
        match self {
            Self::Samples(matrix) | Self::Gram(matrix) => matrix.nrows(),
        }
    }
}

impl Half {
    fn new(
        weight: f64,
        graph: NeighbourGraph,
        destination: Destination,
        mass: &[f64],
    ) -> Result<Self> {
        check_length("mass", mass.len(), "the samples of the graph", graph.size())?;
        let count = mass.len() as f64;
        let scale = mass
            .iter()
            .map(|&mass| if mass >= f64::MIN_POSITIVE { 1.0 / (count * mass) } else { 0.0 })
            .collect();
        Ok(Self { weight, graph, scale, destination })
    }

    /// The factors of diag(s) L diag(s) γ X Xᵀ, where the rows of γ belong to the samples of the graph.
    fn factors(&self, plan: ArrayView2<'_, f64>) -> (Array2<f64>, ArrayView2<'_, f64>) {
        match &self.destination {
            Destination::Samples(samples) => {
                let moved = product(plan, samples.view());
                (self.graph.scaled_laplacian_times(&self.scale, moved.view()), samples.t())
            }
            Destination::Gram(gram) => {
                (self.graph.scaled_laplacian_times(&self.scale, plan), gram.view())
            }
        }
    }
}

impl Regularizer for Laplacian {
    fn check_shape(&self, (rows, columns): (usize, usize)) -> Result<()> {
        for (half, moving, staying) in
            [(&self.source, rows, columns), (&self.target, columns, rows)]
        {
            let Some(half) = half else { continue };
            check_length(
                "the graph of the regularizer",
                half.graph.size(),
                "the samples that move",
                moving,
            )?;
            let samples = half.destination.samples();
            check_length(
                "the samples of the regularizer",
                samples,
                "those that others move to",
                staying,
            )?;
        }
        Ok(())
    }

    fn value(&self, plan: ArrayView2<'_, f64>) -> f64 {
        let mut gradient = Array2::zeros(plan.raw_dim());
        self.gradient(plan, &mut gradient);
        0.5 * (&gradient * &plan).sum()
    }

    /// 2 (1 − α) diag(s) L_s diag(s) γ X_t X_tᵀ + 2 α X_s X_sᵀ γ diag(s) L_t diag(s).
    fn gradient(&self, plan: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        let mut accumulate = Accum::Replace;
        if let Some(half) = &self.source {
            let (smoothed, to_target) = half.factors(plan);
            let weight = 2.0 * half.weight;
            write_product(weight, smoothed.view(), to_target, accumulate, gradient);
            accumulate = Accum::Add;
        }
        if let Some(half) = &self.target {
            let (smoothed, to_source) = half.factors(plan.t());
            let weight = 2.0 * half.weight;
            write_product(weight, to_source.t(), smoothed.t(), accumulate, gradient);
        }
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn moved_samples(&self) -> Option<Box<dyn MovedSamples + '_>> {
        let sides = [Narrow::of(self.source.as_ref()?)?, Narrow::of(self.target.as_ref()?)?];
        Some(Box::new(sides))
    }
}

/// A side whose samples move to others of few dimensions.
struct Narrow<'a> {
    half: &'a Half,
    destination: &'a Array2<f64>,
}

impl<'a> Narrow<'a> {
    fn of(half: &'a Half) -> Option<Self> {
        match &half.destination {
            Destination::Samples(destination) => Some(Self { half, destination }),
            Destination::Gram(_) => None,
        }
    }
}

impl MovedSamples for [Narrow<'_>; 2] {
    fn destinations(&self) -> [ArrayView2<'_, f64>; 2] {
        self.each_ref().map(|side| side.destination.view())
    }

    /// 2 (1 − α) diag(s) L_s diag(s) Y₁ and 2 α diag(s) L_t diag(s) Y₂.
    fn slopes(&self, moved: &[Array2<f64>; 2]) -> [Array2<f64>; 2] {
        let slope = |side: usize| {
            let Half { weight, graph, scale, .. } = self[side].half;
            2.0 * *weight * graph.scaled_laplacian_times(scale, moved[side].view())
        };
        [slope(0), slope(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marginals::uniform_mass;

    #[test]
    fn samples_and_their_inner_products_give_the_same_gradient() {
        let spread = |rows: usize, shift: f64| {
            Array2::from_shape_fn((rows, 2), |(i, j)| ((i * i + 3 * j) as f64 + shift).sin())
        };
        let (source, target) = (centred(spread(9, 0.0).view()), centred(spread(7, 0.5).view()));
        let graphs = || {
            let graph = |samples: &Array2<f64>| NeighbourGraph::nearest(samples.view(), 2).unwrap();
            (graph(&source), graph(&target))
        };
        let masses = (uniform_mass(9), uniform_mass(7));
        let by_samples = Laplacian::symmetric(
            graphs(),
            (source.view(), target.view()),
            (&masses.0, &masses.1),
            0.3,
        )
        .unwrap();
        let half = |weight: f64, graph, other: &Array2<f64>, mass: &[f64]| {
            Some(Half::new(weight, graph, Destination::Gram(gram(other)), mass).unwrap())
        };
        let (of_source, of_target) = graphs();
        let by_grams = Laplacian {
            source: half(0.7, of_source, &target, &masses.0),
            target: half(0.3, of_target, &source, &masses.1),
        };
        let is_by_samples = |half: &Option<Half>| {
            matches!(half, Some(Half { destination: Destination::Samples(_), .. }))
        };
        assert!(is_by_samples(&by_samples.source) && is_by_samples(&by_samples.target));
        let plan = Array2::from_shape_fn((9, 7), |(i, j)| ((2 * i + 5 * j) as f64).cos().abs());
        let mut gradient = Array2::zeros(plan.dim());
        by_samples.gradient(plan.view(), &mut gradient);
        let form = by_samples.moved_samples().unwrap();
        let [to_target, to_source] = form.destinations();
        let slopes = form.slopes(&[plan.dot(&to_target), plan.t().dot(&to_source)]);
        let by_slopes = slopes[0].dot(&to_target.t()) + to_source.dot(&slopes[1].t());
        let difference = (&gradient - &by_slopes).mapv(f64::abs).sum();
        assert!(difference <= 1e-11, "{difference}");
        drop(form);
        let gradients = [by_samples, by_grams].map(|laplacian| {
            let mut gradient = Array2::zeros(plan.dim());
            laplacian.gradient(plan.view(), &mut gradient);
            gradient
        });
        let difference = (&gradients[0] - &gradients[1]).mapv(f64::abs).sum();
        assert!(difference <= 1e-11, "{difference}");
    }
}
