//! Joint distribution adaptation: Long, Wang, Ding, Sun & Yu, "Transfer feature learning with joint
//! distribution adaptation", ICCV 2013.
//!
//! The projection brings together the two domains' means and, for each class, those of the source samples and
//! of the target samples with that pseudo-label: the eigenproblem of `mmd.rs` with M = Σ_{c=0}^C e_c e_cᵀ. The
//! pseudo-labels come from the nearest neighbours in the last projection, the first of which is that of TCA.

use ndarray::ArrayView2;

use crate::checks::check_labels;
use crate::discrepancy::{ClassSums, Compared, discrepancies};
use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::mmd::{MmdOptions, MmdProblem};

/// The parameters of [`Jda`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JdaOptions {
    /// How samples are treated.
    pub mmd: MmdOptions,
    /// How many projections are computed, the first without pseudo-labels.
    pub iterations: usize,
}

impl Default for JdaOptions {
    fn default() -> Self {
        Self { mmd: MmdOptions::default(), iterations: 10 }
    }
}

/// Joint distribution adaptation of two domains, for every λ and k.
#[derive(Debug)]
pub struct Jda {
    problem: MmdProblem,
    /// The distinct labels, ascending: class c has the label `classes[c]`.
    classes: Vec<usize>,
    source_classes: Vec<usize>,
    source_sums: ClassSums,
    iterations: usize,
}

/// What [`Jda::adapt`] returns.
#[derive(Debug, Clone, PartialEq)]
pub struct JdaOutcome {
    /// Both domains in the last projection.
    pub embedding: Embedding,
    /// The labels of the target samples' nearest neighbours in it.
    pub labels: Vec<usize>,
    /// The minimum tr(Aᵀ Xᵀ M X A) + λ ‖A‖² of each iteration. M changes with the pseudo-labels, so this
    /// need not decrease. Shorter than the number of iterations when the labels stayed the same: every
    /// further projection is the last one.
    pub objectives: Vec<f64>,
}

impl Jda {
    /// Decomposes the samples (rows) of both domains; each source sample has a label.
    pub fn new(
        source: ArrayView2<'_, f64>,
        source_labels: &[usize],
        target: ArrayView2<'_, f64>,
        options: JdaOptions,
    ) -> Result<Self> {
        check_labels(source, source_labels)?;
        if options.iterations == 0 {
            return Err(Error::Parameter {
                name: "iterations",
                value: "0".into(),
                rule: "at least one is needed",
            });
        }
        let problem = MmdProblem::new(source, target, options.mmd)?;
        let mut classes = source_labels.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let source_classes: Vec<usize> = source_labels
            .iter()
            .map(|label| classes.partition_point(|class| class < label))
            .collect();
        let source_sums = ClassSums::new(problem.domains().0, &source_classes, classes.len());
        Ok(Self { problem, classes, source_classes, source_sums, iterations: options.iterations })
    }

    /// The largest k that [`Jda::adapt`] accepts: the rank of the centred samples.
    #[must_use]
    pub fn max_k(&self) -> usize {
        self.problem.max_k()
    }

    /// Adapts in k dimensions with the penalty λ > 0.
    pub fn adapt(&self, lambda: f64, k: usize) -> Result<JdaOutcome> {
        let (_, target) = self.problem.domains();
        let mut step = self.step(&vec![0; target.nrows()], Compared::Domains, lambda, k)?;
        let mut objectives = vec![step.objective];
        while objectives.len() < self.iterations {
            let next = self.step(&step.pseudo_classes, Compared::DomainsAndClasses, lambda, k)?;
            let is_settled = next.pseudo_classes == step.pseudo_classes;
            step = next;
            objectives.push(step.objective);
            if is_settled {
                break;
            }
        }
        let labels = step.pseudo_classes.iter().map(|&class| self.classes[class]).collect();
        Ok(JdaOutcome { embedding: step.embedding, labels, objectives })
    }

    fn step(
        &self,
        pseudo_classes: &[usize],
        compared: Compared,
        lambda: f64,
        k: usize,
    ) -> Result<Step> {
        let (_, target) = self.problem.domains();
        let target_sums = ClassSums::new(target, pseudo_classes, self.classes.len());
        let discrepancies = discrepancies(&self.source_sums, &target_sums, compared);
        let projection = self.problem.solve(&discrepancies, lambda, k)?;
        let embedding = self.problem.embed(&projection)?;
        let pseudo_classes = embedding.classify(&self.source_classes)?;
        Ok(Step { objective: projection.objective, embedding, pseudo_classes })
    }
}

/// One projection, and the labels that it gives.
struct Step {
    objective: f64,
    embedding: Embedding,
    pseudo_classes: Vec<usize>,
}
