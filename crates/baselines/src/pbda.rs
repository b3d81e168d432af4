//! PBDA: minimising a PAC-Bayesian bound on the target risk of a linear classifier.
//!
//! Germain, Habrard, Laviolette and Morvant, "A PAC-Bayesian Approach for Domain Adaptation with
//! Specialization to Linear Classifiers", ICML 2013: minimise over w
//! C Σₛ Φ_cvx(yᵢ⟨w, xᵢ⟩/‖xᵢ‖) + A |Σₛ Φ_dis(⟨w, xᵢ⟩/‖xᵢ‖) − Σₜ Φ_dis(⟨w, xⱼ⟩/‖xⱼ‖)| + ‖w‖²/2,
//! the risk in the source, the difference of the voters' disagreement between the domains, and the
//! divergence from the prior. With a kernel, w = Σ aᵢφ(xᵢ) over the samples of both domains.

mod descent;
mod objective;
mod probit;

use ndarray::{Array1, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::binary::{BinaryClassifier, TwoDomains};
use crate::error::{Error, Result};
use crate::kernel::{check_gram, check_positive};
use descent::descend;
use objective::Objective;

/// PBDA's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PbdaOptions {
    /// C, the weight of the source risk.
    pub risk: f64,
    /// A, the weight of the disagreements' difference.
    pub disagreement: f64,
    /// Starts: the labels themselves, then random ones. The problem is not convex; the best end counts.
    pub starts: usize,
    /// Of the random starts.
    pub seed: u64,
    /// The relative decrease of the objective at which a descent ends.
    pub tolerance: f64,
    /// Steps of one descent at most.
    pub iterations: usize,
}

impl PbdaOptions {
    /// One start, as its authors' program has it.
    #[must_use]
    pub fn new(risk: f64, disagreement: f64) -> Self {
        Self { risk, disagreement, starts: 1, seed: 0, tolerance: 1e-8, iterations: 2000 }
    }

    fn check(&self) -> Result<()> {
        check_positive("the risk's weight C", self.risk)?;
        check_positive("the disagreement's weight A", self.disagreement)?;
        check_positive("the tolerance", self.tolerance)?;
        for (argument, value) in [("starts", self.starts), ("iterations", self.iterations)] {
            if value == 0 {
                return Err(Error::TooFew { argument, value, least: 1 });
            }
        }
        Ok(())
    }
}

/// What came of the minimisation.
#[derive(Debug, Clone, PartialEq)]
pub struct Pbda {
    /// The classifier; it has no bias.
    pub classifier: BinaryClassifier,
    /// The objective's value.
    pub objective: f64,
    /// The gradient's norm, in the space of w.
    pub gradient_norm: f64,
    /// Steps of the best descent.
    pub iterations: usize,
    /// The descent ended by itself, before its steps ran out.
    pub is_converged: bool,
}

/// Trains on samples of both domains, whose labels are `None` in the target; `gram` is their kernel matrix.
pub fn train_pbda(
    gram: ArrayView2<'_, f64>,
    labels: &[Option<usize>],
    options: &PbdaOptions,
) -> Result<Pbda> {
    check_gram(gram, labels.len())?;
    options.check()?;
    let domains = TwoDomains::new(labels)?;
    let objective = Objective::new(&domains, gram, options.risk, options.disagreement);
    let samples = labels.len();
    let mut from_labels = Array1::zeros(samples);
    for (&sample, &sign) in domains.labelled.iter().zip(&domains.signs) {
        from_labels[sample] = sign / samples as f64;
    }
    let run = |start| descend(&objective, gram, start, options.tolerance, options.iterations);
    let mut best = run(from_labels);
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    for _ in 1..options.starts {
        let end = run(Array1::from_shape_simple_fn(samples, || random.gen_range(-1.0..1.0)));
        if end.value < best.value {
            best = end;
        }
    }
    if !best.value.is_finite() {
        return Err(Error::Overflow);
    }
    Ok(Pbda {
        classifier: BinaryClassifier {
            classes: domains.classes,
            coefficients: best.coefficients.to_vec(),
            bias: 0.0,
        },
        objective: best.value,
        gradient_norm: best.gradient_norm,
        iterations: best.iterations,
        is_converged: best.is_converged,
    })
}
