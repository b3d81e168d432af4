//! A checked problem as the solver sees it: samples with mass only, sources sorted by class, and costs target
//! by target, so that a group γ(I_c, j) is a contiguous slice.

use std::ops::Range;

use ndarray::ArrayView2;

use super::GroupLassoProblem;
use super::loops::{BLOCK, transpose_block};
use crate::checks::check_length;
use crate::entropic;
use crate::error::Result;
use crate::marginals::masses_of;

pub(super) struct Problem<'a> {
    pub(super) cost: ArrayView2<'a, f64>,
    /// The same problem without Ω.
    pub(super) entropic: entropic::Problem<'a>,
    pub(super) labels: &'a [usize],
    pub(super) regularization_weight: f64,
    /// Rows and columns of the cost matrix that have mass.
    pub(super) sources: Vec<usize>,
    pub(super) targets: Vec<usize>,
    pub(super) source_mass: Vec<f64>,
    pub(super) target_mass: Vec<f64>,
    /// Class c has the sources `class_starts[c]..class_starts[c + 1]`.
    pub(super) class_starts: Vec<usize>,
    pub(super) classes_by_size: Vec<usize>,
}

impl<'a> Problem<'a> {
    pub(super) fn new(problem: &GroupLassoProblem<'a>) -> Result<Self> {
        let GroupLassoProblem { cost, source_labels: labels, regularization_weight, .. } = *problem;
        let (source_mass, target_mass) = masses_of(cost, problem.source_mass, problem.target_mass)?;
        check_length("source_labels", labels.len(), "the rows of cost", cost.nrows())?;
        let entropic = entropic::Problem::new(cost, &source_mass, &target_mass)?;
        let mut sources = support(&source_mass);
        let targets = support(&target_mass);
        sources.sort_by_key(|&source| labels[source]);
        let mut class_starts: Vec<usize> = (0..sources.len())
            .filter(|&k| k == 0 || labels[sources[k]] != labels[sources[k - 1]])
            .collect();
        class_starts.push(sources.len());
        let mut classes_by_size: Vec<usize> = (0..class_starts.len() - 1).collect();
        classes_by_size.sort_by_key(|&class| class_starts[class + 1] - class_starts[class]);
        Ok(Self {
            cost,
            entropic,
            labels,
            regularization_weight,
            source_mass: sources.iter().map(|&source| source_mass[source]).collect(),
            target_mass: targets.iter().map(|&target| target_mass[target]).collect(),
            sources,
            targets,
            class_starts,
            classes_by_size,
        })
    }

    pub(super) fn classes(&self) -> usize {
        self.class_starts.len() - 1
    }

    /// The sources of a class.
    pub(super) fn class(&self, class: usize) -> std::ops::Range<usize> {
        self.class_starts[class]..self.class_starts[class + 1]
    }

    /// Where the group of a class in a column is, in matrices of columns.
    pub(super) fn place(&self, column: usize, class: usize) -> std::ops::Range<usize> {
        let (start, range) = (column * self.sources.len(), self.class(class));
        start + range.start..start + range.end
    }

    /// Shows the costs of some targets, one after the other. They are columns of the matrix, an entry a cache line, so that
    /// several are gathered at once.
    pub(super) fn visit_costs(&self, targets: Range<usize>, mut visit: impl FnMut(usize, &[f64])) {
        let width = self.sources.len();
        let mut block = vec![0.0; BLOCK * width];
        for first in targets.clone().step_by(BLOCK) {
            let count = BLOCK.min(targets.end - first);
            match self.cost.to_slice() {
                Some(costs) if count == BLOCK && self.targets.len() == self.cost.ncols() => {
                    transpose_block(costs, (self.targets.len(), first), &self.sources, &mut block);
                }
                _ => {
                    let columns = block.chunks_exact_mut(width);
                    for (column, &target) in columns.zip(&self.targets[first..first + count]) {
                        for (cost, &source) in column.iter_mut().zip(&self.sources) {
                            *cost = self.cost[(source, target)];
                        }
                    }
                }
            }
            for (slot, costs) in block.chunks_exact(width).take(count).enumerate() {
                visit(first + slot, costs);
            }
        }
    }

    /// Mean finite cost of each source sample, weighted with the target masses: its potential in the limit
    /// λ → ∞, up to terms that vanish there.
    pub(super) fn mean_costs(&self, means: &mut [f64]) {
        let mut weights = vec![0.0; means.len()];
        means.fill(0.0);
        self.visit_costs(0..self.targets.len(), |target, costs| {
            let mass = self.target_mass[target];
            for ((mean, weight), &cost) in means.iter_mut().zip(&mut weights).zip(costs) {
                if cost < f64::INFINITY {
                    *mean += mass * cost;
                    *weight += mass;
                }
            }
        });
        for (mean, weight) in means.iter_mut().zip(weights) {
            *mean = if weight > 0.0 { *mean / weight } else { 0.0 };
        }
    }
}

/// The samples with mass. A subnormal mass has no usable logarithm or reciprocal; it is a zero in every
/// respect.
fn support(mass: &[f64]) -> Vec<usize> {
    (0..mass.len()).filter(|&sample| mass[sample] >= f64::MIN_POSITIVE).collect()
}
