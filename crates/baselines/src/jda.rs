//! Joint distribution adaptation: Long, Wang, Ding, Sun & Yu, "Transfer feature learning with joint
//! distribution adaptation", ICCV 2013.
//!
//! The projection brings together the two domains' means and, for each class, those of the source samples and
//! of the target samples with that pseudo-label: the eigenproblem of `mmd.rs` with the matrix of `discrepancy.rs`. The
//! pseudo-labels come from the nearest neighbours in the last projection, the first of which is that of TCA.
//!
//! As in the authors' program, samples are scaled to unit norm before and after the projection, and there are ten
//! iterations.

use ndarray::{Array2, ArrayView2, s};

use crate::checks::{check_dimensions, check_labels};
use crate::discrepancy::{ClassSums, Compared, Discrepancies};
use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::mmd::{MmdOptions, MmdProblem, Projection};

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
        let (first, projected) = self.first_projection(lambda, k)?;
        self.adapt_from(&first, &projected, k)
    }

    /// [`Jda::adapt`] for several k, whose first projections are columns of one.
    pub fn adapt_each(&self, lambda: f64, dimensions: &[usize]) -> Result<Vec<JdaOutcome>> {
        let Some(&largest) = dimensions.iter().max() else { return Ok(Vec::new()) };
        let (first, projected) = self.first_projection(lambda, largest)?;
        dimensions.iter().map(|&k| self.adapt_from(&first, &projected, k)).collect()
    }

    /// The projection without pseudo-labels, and the samples in it.
    fn first_projection(&self, lambda: f64, k: usize) -> Result<(Projection, Array2<f64>)> {
        let (_, target) = self.problem.domains();
        let unlabelled = ClassSums::new(target, &vec![0; target.nrows()], self.classes.len());
        let discrepancies = Discrepancies::new(&self.source_sums, &unlabelled, Compared::Domains);
        let projection = self.problem.solve(&discrepancies, lambda, k, None)?;
        let projected = self.problem.project(&projection)?;
        Ok((projection, projected))
    }

    fn adapt_from(
        &self,
        first: &Projection,
        projected: &Array2<f64>,
        k: usize,
    ) -> Result<JdaOutcome> {
        check_dimensions(k, "the samples of the first projection", projected.ncols())?;
        let mut objectives = vec![first.objective(k)];
        let mut embedding = self.problem.embedding(projected.slice(s![.., ..k]));
        let mut pseudo_classes = embedding.classify(&self.source_classes)?;
        let mut searched = None;
        while objectives.len() < self.iterations {
            let (_, target) = self.problem.domains();
            let target_sums = ClassSums::new(target, &pseudo_classes, self.classes.len());
            let discrepancies =
                Discrepancies::new(&self.source_sums, &target_sums, Compared::DomainsAndClasses);
            let projection = self.problem.solve(&discrepancies, first.lambda, k, searched)?;
            objectives.push(projection.objective(k));
            searched = Some(projection.searched());
            embedding = self.problem.embedding(self.problem.project(&projection)?.view());
            let found = embedding.classify(&self.source_classes)?;
            let is_settled = found == pseudo_classes;
            pseudo_classes = found;
            if is_settled {
                break;
            }
        }
        let labels = pseudo_classes.iter().map(|&class| self.classes[class]).collect();
        Ok(JdaOutcome { embedding, labels, objectives })
    }
}
