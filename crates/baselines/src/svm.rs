//! Support vector machines with a given kernel, one against one for several classes.
//!
//! Cortes and Vapnik, "Support-Vector Networks", Machine Learning 20, 1995: minimise
//! ½‖w‖² + C Σ max(0, 1 − yᵢ(⟨w, φ(xᵢ)⟩ + b)).

mod cross_validation;
pub(crate) mod smo;
mod working_set;

use ndarray::{Array2, ArrayView2};

use crate::classes::distinct_classes;
use crate::error::{Error, Result};
use crate::kernel::{KernelPairs, check_gram, check_positive, check_shape, sub_matrix};
pub use cross_validation::{SvmChoice, SvmGrid, SvmSetting};
use smo::{Certificate, Dual, TOLERANCE};

/// A trained machine: the votes of one binary machine for each pair of classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Svm {
    classes: Vec<usize>,
    samples: usize,
    duels: Vec<Duel>,
}

/// The machine of two classes.
#[derive(Debug, Clone, PartialEq)]
struct Duel {
    /// Places in `classes`, for a negative and a positive decision.
    low: usize,
    high: usize,
    /// Training samples with their coefficients, without those that are zero.
    support: Vec<(usize, f64)>,
    bias: f64,
    certificate: Certificate,
}

impl Svm {
    /// Trains with one cost C; `gram` is the kernel matrix of the training samples.
    pub fn train(gram: ArrayView2<'_, f64>, labels: &[usize], cost: f64) -> Result<Self> {
        check_gram(gram, labels.len())?;
        check_positive("the cost C", cost)?;
        let classes = distinct_classes("the training set", labels)?;
        let train = |rivals: Rivals| {
            let part = rivals.own_part(gram);
            let part = part.as_ref().map_or(gram.view(), Array2::view);
            let costs = vec![cost; rivals.members.len()];
            let machine = Dual::new(part, &rivals.signs, &costs).solve(None, TOLERANCE);
            let support = rivals.members.iter().copied().zip(machine.coefficients);
            Duel {
                low: rivals.low,
                high: rivals.high,
                support: support.filter(|&(_, beta)| beta != 0.0).collect(),
                bias: machine.bias,
                certificate: machine.certificate,
            }
        };
        let duels = Rivals::all(&classes, labels).into_iter().map(train).collect();
        Ok(Self { classes, samples: labels.len(), duels })
    }

    /// The class of each query by the most votes, of equals the lowest; `gram` has a row for each query and
    /// a column for each training sample.
    pub fn classify(&self, gram: ArrayView2<'_, f64>) -> Result<Vec<usize>> {
        check_shape("the queries' kernel matrix", gram, (gram.nrows(), self.samples))?;
        let mut votes = vec![0_usize; self.classes.len()];
        Ok(gram
            .rows()
            .into_iter()
            .map(|similarities| {
                votes.fill(0);
                for duel in &self.duels {
                    let products = duel.support.iter().map(|&(i, beta)| beta * similarities[i]);
                    let is_high = products.sum::<f64>() + duel.bias > 0.0;
                    votes[if is_high { duel.high } else { duel.low }] += 1;
                }
                self.classes[winner(&votes)]
            })
            .collect())
    }

    /// How well each binary problem was solved.
    pub fn certificates(&self) -> impl Iterator<Item = Certificate> {
        self.duels.iter().map(|duel| duel.certificate)
    }
}

/// The training samples of two classes.
struct Rivals {
    /// Places among the classes.
    low: usize,
    high: usize,
    members: Vec<usize>,
    /// +1 for the higher class and −1 for the lower.
    signs: Vec<f64>,
}

impl Rivals {
    /// Each pair of classes.
    fn all(classes: &[usize], labels: &[usize]) -> Vec<Self> {
        let mut pairs = Vec::new();
        for high in 1..classes.len() {
            for low in 0..high {
                let members: Vec<usize> = (0..labels.len())
                    .filter(|&i| labels[i] == classes[low] || labels[i] == classes[high])
                    .collect();
                let sign = |&i: &usize| if labels[i] == classes[high] { 1.0 } else { -1.0 };
                let signs = members.iter().map(sign).collect();
                pairs.push(Self { low, high, members, signs });
            }
        }
        pairs
    }

    /// The kernel matrix of the members alone, if that is not the whole.
    fn own_part(&self, gram: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        let is_part = self.members.len() < gram.nrows();
        is_part.then(|| sub_matrix(gram, &self.members, &self.members))
    }
}

/// The place of the most votes, of equals the first.
fn winner(votes: &[usize]) -> usize {
    let most = votes.iter().max();
    votes.iter().position(|count| Some(count) == most).unwrap_or(0)
}

/// Labels each query by the machine whose kernel and cost cross-validation on the training set prefers.
pub fn classify_by_svm(
    training: ArrayView2<'_, f64>,
    labels: &[usize],
    queries: ArrayView2<'_, f64>,
    grid: &SvmGrid,
) -> Result<Vec<usize>> {
    if labels.len() != training.nrows() {
        return Err(Error::LabelCount { samples: training.nrows(), labels: labels.len() });
    }
    let to_queries = KernelPairs::new(queries, training)?;
    let within = KernelPairs::within(training)?;
    let choice = grid.choose_among(&within, labels)?;
    let SvmSetting { kernel, cost } = choice.setting;
    let svm = Svm::train(within.matrix(kernel)?.view(), labels, cost)?;
    svm.classify(to_queries.matrix(kernel)?.view())
}
