//! Support vector machines with a given kernel: one against one for several classes, and the choice of
//! kernel and cost by cross-validation.
//!
//! Cortes and Vapnik, "Support-Vector Networks", Machine Learning 20, 1995: minimise
//! ½‖w‖² + C Σ max(0, 1 − yᵢ(⟨w, φ(xᵢ)⟩ + b)).

pub(crate) mod smo;

use ndarray::{Array2, ArrayView2};

use crate::classes::{all_but, distinct_classes, stratified_folds};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelPairs, check_gram, check_positive, check_shape, sub_matrix};
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
        Ok(Self::train_path(gram, labels, &[cost])?.remove(0))
    }

    /// Trains with each of the costs, each solution being the start of the next: neighbours in the list
    /// should be close.
    pub fn train_path(
        gram: ArrayView2<'_, f64>,
        labels: &[usize],
        costs: &[f64],
    ) -> Result<Vec<Self>> {
        check_gram(gram, labels.len())?;
        if costs.is_empty() {
            return Err(Error::NothingToChoose { argument: "costs" });
        }
        for &cost in costs {
            check_positive("the cost C", cost)?;
        }
        let classes = distinct_classes("the training set", labels)?;
        let mut path =
            vec![
                Self { classes: classes.clone(), samples: labels.len(), duels: Vec::new() };
                costs.len()
            ];
        for high in 1..classes.len() {
            for low in 0..high {
                let members: Vec<usize> = (0..labels.len())
                    .filter(|&i| labels[i] == classes[low] || labels[i] == classes[high])
                    .collect();
                let signs: Vec<f64> = members
                    .iter()
                    .map(|&i| if labels[i] == classes[high] { 1.0 } else { -1.0 })
                    .collect();
                let gram = sub_matrix(gram, &members, &members);
                let mut start = None;
                for (place, (svm, &cost)) in path.iter_mut().zip(costs).enumerate() {
                    let bounds = vec![cost; members.len()];
                    let dual = Dual::new(gram.view(), &signs, &bounds);
                    let machine = dual.solve(start, TOLERANCE);
                    start = costs.get(place + 1).map(|next| dual.rescale(&machine, next / cost));
                    let support = members.iter().copied().zip(machine.coefficients);
                    svm.duels.push(Duel {
                        low,
                        high,
                        support: support.filter(|&(_, beta)| beta != 0.0).collect(),
                        bias: machine.bias,
                        certificate: machine.certificate,
                    });
                }
            }
        }
        Ok(path)
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
                let most = votes.iter().max();
                let winner = votes.iter().position(|count| Some(count) == most);
                self.classes[winner.unwrap_or(0)]
            })
            .collect())
    }

    /// How well each binary problem was solved.
    pub fn certificates(&self) -> impl Iterator<Item = Certificate> {
        self.duels.iter().map(|duel| duel.certificate)
    }
}

/// Kernels and costs to choose from by cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmGrid {
    /// The kernels; of equally good ones the first is taken.
    pub kernels: Vec<Kernel>,
    /// The costs C; of equally good ones the first is taken, before the kernel is looked at.
    pub costs: Vec<f64>,
    /// Parts into which the training set is cut.
    pub folds: usize,
    /// Of the shuffle before the cut.
    pub seed: u64,
}

impl Default for SvmGrid {
    /// γ and C in 10⁻³ … 10³, five folds.
    fn default() -> Self {
        let decades = (-3..=3).map(|power| 10.0_f64.powi(power));
        Self {
            kernels: decades.clone().map(|gamma| Kernel::Gaussian { gamma }).collect(),
            costs: decades.collect(),
            folds: 5,
            seed: 0,
        }
    }
}

/// What cross-validation found.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmChoice {
    /// The best kernel.
    pub kernel: Kernel,
    /// The best cost.
    pub cost: f64,
    /// Of each kernel (row) and cost (column): the fraction of samples whose class is found without them.
    pub accuracies: Array2<f64>,
}

impl SvmGrid {
    /// Scores the whole grid by cross-validation on the training set.
    pub fn choose(&self, training: ArrayView2<'_, f64>, labels: &[usize]) -> Result<SvmChoice> {
        self.choose_among(&KernelPairs::within(training)?, labels)
    }

    fn choose_among(&self, pairs: &KernelPairs<'_>, labels: &[usize]) -> Result<SvmChoice> {
        if self.kernels.is_empty() {
            return Err(Error::NothingToChoose { argument: "kernels" });
        }
        if self.folds < 2 {
            return Err(Error::TooFew { argument: "folds", value: self.folds, least: 2 });
        }
        let samples = labels.len();
        let folds: Vec<(Vec<usize>, Vec<usize>)> = stratified_folds(labels, self.folds, self.seed)
            .into_iter()
            .filter(|fold| !fold.is_empty())
            .map(|fold| (all_but(&fold, samples), fold))
            .collect();
        let mut right = Array2::zeros((self.kernels.len(), self.costs.len()));
        for (&kernel, mut right) in self.kernels.iter().zip(right.rows_mut()) {
            let gram = pairs.matrix(kernel)?;
            check_gram(gram.view(), samples)?;
            for (kept, held_out) in &folds {
                let kept_labels: Vec<usize> = kept.iter().map(|&i| labels[i]).collect();
                let path = Svm::train_path(
                    sub_matrix(gram.view(), kept, kept).view(),
                    &kept_labels,
                    &self.costs,
                )?;
                let queries = sub_matrix(gram.view(), held_out, kept);
                for (svm, right) in path.iter().zip(&mut right) {
                    let found = svm.classify(queries.view())?;
                    let hits =
                        found.iter().zip(held_out).filter(|&(class, &i)| *class == labels[i]);
                    *right += hits.count() as f64;
                }
            }
        }
        let (mut best, mut most) = ((0, 0), f64::NEG_INFINITY);
        for column in 0..self.costs.len() {
            for row in 0..self.kernels.len() {
                if right[[row, column]] > most {
                    (best, most) = ((row, column), right[[row, column]]);
                }
            }
        }
        Ok(SvmChoice {
            kernel: self.kernels[best.0],
            cost: self.costs[best.1],
            accuracies: right / samples as f64,
        })
    }
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
    let svm = Svm::train(within.matrix(choice.kernel)?.view(), labels, choice.cost)?;
    svm.classify(to_queries.matrix(choice.kernel)?.view())
}
