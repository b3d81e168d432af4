//! MMDT: max-margin classifiers together with a transform that brings target samples to their side of them.
//!
//! Hoffman, Rodner, Donahue, Saenko and Darrell, "Efficient Learning of Domain-invariant Image
//! Representations", ICLR 2013: minimise over W and the hyperplanes θₖ of all classes
//! (μ/2)‖W − I‖² + ½ Σₖ‖θₖ‖² + C_s Σₛ,ₖ ℓ(yᵢₖ⟨θₖ, xᵢ⟩) + C_t Σₜ,ₖ ℓ(yⱼₖ⟨θₖ, W xⱼ⟩),
//! where samples end in a 1, so that the θₖ have a bias and W a translation, and ℓ is the hinge. The θₖ and W
//! take turns; each step is a dual of [`solve_box`]. That of W has the kernel ⟨θₖ, θₗ⟩⟨xᵢ, xⱼ⟩, and
//! W = I + ΘᵀBX with B one coefficient for each class and labelled target sample: it is never formed.
//!
//! The publication has ‖W‖² and its authors' program ‖W − I‖², the squared hinge in both steps and, in that
//! of W, a cost of 10⁻⁴, which is μ = 10⁴ C_t here.

mod box_dual;

use ndarray::linalg::kron;
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

use crate::classes::distinct_classes;
use crate::error::{Error, Result};
use crate::kernel::{check_finite, check_positive};
pub use box_dual::MarginLoss;
use box_dual::{Variable, solve_box};

/// Violation of a margin that a step leaves.
const TOLERANCE: f64 = 1e-4;

/// MMDT's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MmdtOptions {
    /// C_s.
    pub source_cost: f64,
    /// C_t.
    pub target_cost: f64,
    /// μ.
    pub stiffness: f64,
    /// ℓ.
    pub loss: MarginLoss,
    /// Turns of the hyperplanes and the transform.
    pub rounds: usize,
}

impl Default for MmdtOptions {
    /// Its authors' program: C_s = 0.05, C_t = 1, μ = 10⁴, the squared hinge and two rounds.
    fn default() -> Self {
        Self {
            source_cost: 0.05,
            target_cost: 1.0,
            stiffness: 1e4,
            loss: MarginLoss::SquaredHinge,
            rounds: 2,
        }
    }
}

impl MmdtOptions {
    fn check(&self) -> Result<()> {
        check_positive("the source cost C_s", self.source_cost)?;
        check_positive("the target cost C_t", self.target_cost)?;
        check_positive("the transform's stiffness", self.stiffness)?;
        if self.rounds == 0 {
            return Err(Error::TooFew { argument: "rounds", value: 0, least: 1 });
        }
        Ok(())
    }
}

/// Hyperplanes with the transform.
#[derive(Debug, Clone, PartialEq)]
pub struct Mmdt {
    classes: Vec<usize>,
    /// Θ, a row for each class.
    hyperplanes: Array2<f64>,
    transform: Transform,
    /// The objective after each step: hyperplanes, transform, hyperplanes, …
    pub objectives: Vec<f64>,
    /// Every step was solved to its tolerance.
    pub is_converged: bool,
}

/// W = I + ΘᵀBX.
#[derive(Debug, Clone, PartialEq)]
struct Transform {
    hyperplanes: Array2<f64>,
    coefficients: Array2<f64>,
    samples: Array2<f64>,
}

impl Transform {
    /// The rows Wx.
    fn apply(&self, samples: ArrayView2<'_, f64>) -> Array2<f64> {
        let shares = samples.dot(&self.samples.t()).dot(&self.coefficients.t());
        &samples + &shares.dot(&self.hyperplanes)
    }

    /// ‖W − I‖².
    fn squared_norm(&self) -> f64 {
        let classes = self.hyperplanes.dot(&self.hyperplanes.t());
        let samples = self.samples.dot(&self.samples.t());
        (&self.coefficients * &classes.dot(&self.coefficients).dot(&samples)).sum()
    }
}

/// Labelled samples.
#[derive(Debug, Clone, Copy)]
pub struct LabelledSamples<'a> {
    /// A row for each sample.
    pub features: ArrayView2<'a, f64>,
    /// Its class.
    pub labels: &'a [usize],
}

impl LabelledSamples<'_> {
    fn check(&self, what: &'static str) -> Result<()> {
        let (samples, labels) = (self.features.nrows(), self.labels.len());
        if self.features.is_empty() {
            return Err(Error::Empty { what });
        }
        if samples != labels {
            return Err(Error::LabelCount { samples, labels });
        }
        check_finite(what, self.features)
    }
}

/// Trains on the source and the target samples whose labels are known.
pub fn train_mmdt(
    source: LabelledSamples<'_>,
    target: LabelledSamples<'_>,
    options: &MmdtOptions,
) -> Result<Mmdt> {
    source.check("the source")?;
    target.check("the labelled target")?;
    options.check()?;
    let (source_width, target_width) = (source.features.ncols(), target.features.ncols());
    if source_width != target_width {
        return Err(Error::WidthMismatch { training: source_width, queries: target_width });
    }
    let classes = distinct_classes("the source", source.labels)?;
    if let Some(&class) = target.labels.iter().find(|label| classes.binary_search(label).is_err()) {
        return Err(Error::UnknownClass { what: "the labelled target", class });
    }
    Trainer {
        source: with_one(source.features),
        target: with_one(target.features),
        source_labels: source.labels,
        target_labels: target.labels,
        classes,
        options,
    }
    .train()
}

struct Trainer<'a> {
    source: Array2<f64>,
    target: Array2<f64>,
    source_labels: &'a [usize],
    target_labels: &'a [usize],
    classes: Vec<usize>,
    options: &'a MmdtOptions,
}

impl Trainer<'_> {
    fn train(self) -> Result<Mmdt> {
        let mut transform = Transform {
            hyperplanes: Array2::zeros((self.classes.len(), self.source.ncols())),
            coefficients: Array2::zeros((self.classes.len(), self.target.nrows())),
            samples: self.target.clone(),
        };
        let mut hyperplanes = transform.hyperplanes.clone();
        let mut objectives = Vec::with_capacity(2 * self.options.rounds);
        let mut is_converged = true;
        for _ in 0..self.options.rounds {
            is_converged &= self.fit_hyperplanes(&transform, &mut hyperplanes)?;
            objectives.push(self.objective(&hyperplanes, &transform));
            is_converged &= self.fit_transform(&hyperplanes, &mut transform)?;
            objectives.push(self.objective(&hyperplanes, &transform));
        }
        if objectives.iter().any(|objective| !objective.is_finite()) {
            return Err(Error::Overflow);
        }
        Ok(Mmdt { classes: self.classes, hyperplanes, transform, objectives, is_converged })
    }

    /// One class against the rest, for each class; tells whether all were solved.
    fn fit_hyperplanes(
        &self,
        transform: &Transform,
        hyperplanes: &mut Array2<f64>,
    ) -> Result<bool> {
        let target = transform.apply(self.target.view());
        let samples = stack(&self.source, &target);
        let gram = finite(samples.dot(&samples.t()))?;
        let mut is_solved = true;
        for (&class, mut hyperplane) in self.classes.iter().zip(hyperplanes.rows_mut()) {
            let costs = [
                (self.source_labels, self.options.source_cost),
                (self.target_labels, self.options.target_cost),
            ];
            let variables: Vec<Variable> = costs
                .into_iter()
                .flat_map(|(labels, cost)| labels.iter().map(move |&label| (label, cost)))
                .map(|(label, cost)| {
                    let sign = sign(label, class);
                    Variable { sign, cost, pull: sign }
                })
                .collect();
            let solution = solve_box(gram.view(), &variables, self.options.loss, TOLERANCE);
            is_solved &= solution.is_converged;
            hyperplane.assign(&samples.t().dot(&solution.coefficients));
        }
        Ok(is_solved)
    }

    /// The best transform for the hyperplanes; tells whether it was found.
    fn fit_transform(&self, hyperplanes: &Array2<f64>, transform: &mut Transform) -> Result<bool> {
        let (stiffness, cost) = (self.options.stiffness, self.options.target_cost);
        let classes = hyperplanes.dot(&hyperplanes.t());
        let samples = finite(self.target.dot(&self.target.t()))?;
        let scores = finite(hyperplanes.dot(&self.target.t()))?;
        let variables: Vec<Variable> = scores
            .indexed_iter()
            .map(|((class, sample), &score)| {
                let sign = sign(self.target_labels[sample], self.classes[class]);
                // Divided by μ the step has the identity's weight 1.
                Variable { sign, cost: cost / stiffness, pull: sign - score }
            })
            .collect();
        let kernel = finite(kron(&classes, &samples))?;
        let solution = solve_box(kernel.view(), &variables, self.options.loss, TOLERANCE);
        transform.hyperplanes.assign(hyperplanes);
        for (place, coefficient) in transform.coefficients.iter_mut().enumerate() {
            *coefficient = solution.coefficients[place];
        }
        Ok(solution.is_converged)
    }

    fn objective(&self, hyperplanes: &Array2<f64>, transform: &Transform) -> f64 {
        let losses = |samples: ArrayView2<'_, f64>, labels: &[usize]| -> f64 {
            let scores = samples.dot(&hyperplanes.t());
            let terms = scores.indexed_iter().map(|((sample, class), score)| {
                self.options.loss.value(sign(labels[sample], self.classes[class]) * score)
            });
            terms.sum()
        };
        let target = transform.apply(self.target.view());
        0.5 * self.options.stiffness * transform.squared_norm()
            + 0.5 * hyperplanes.mapv(|weight| weight * weight).sum()
            + self.options.source_cost * losses(self.source.view(), self.source_labels)
            + self.options.target_cost * losses(target.view(), self.target_labels)
    }
}

impl Mmdt {
    /// The class of each target sample: that of the highest ⟨θₖ, Wx⟩, of equals the lowest.
    pub fn classify(&self, queries: ArrayView2<'_, f64>) -> Result<Vec<usize>> {
        let width = self.hyperplanes.ncols() - 1;
        if queries.ncols() != width {
            return Err(Error::WidthMismatch { training: width, queries: queries.ncols() });
        }
        check_finite("queries", queries)?;
        let scores =
            finite(self.transform.apply(with_one(queries).view()).dot(&self.hyperplanes.t()))?;
        Ok(scores
            .rows()
            .into_iter()
            .map(|scores| {
                let mut best = 0;
                for (place, &score) in scores.iter().enumerate() {
                    if score > scores[best] {
                        best = place;
                    }
                }
                self.classes[best]
            })
            .collect())
    }
}

fn sign(label: usize, class: usize) -> f64 {
    if label == class { 1.0 } else { -1.0 }
}

fn with_one(samples: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut extended = Array2::ones((samples.nrows(), samples.ncols() + 1));
    extended.slice_mut(s![.., ..-1]).assign(&samples);
    extended
}

fn stack(first: &Array2<f64>, second: &Array2<f64>) -> Array2<f64> {
    concatenate(Axis(0), &[first.view(), second.view()]).expect("both have the features and a 1")
}

fn finite(matrix: Array2<f64>) -> Result<Array2<f64>> {
    if matrix.iter().all(|value| value.is_finite()) { Ok(matrix) } else { Err(Error::Overflow) }
}
