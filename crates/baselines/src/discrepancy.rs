//! The maximum mean discrepancy (MMD) matrix M of TCA and JDA, by its columns e_c.
//!
//! ```text
//! M ∝ C e_0 e_0ᵀ + Σ_{c=1}^C e_c e_cᵀ,   ‖M‖_F = 1.
//! ```
//!
//! e_0 has 1/n_s at the source samples and −1/n_t at the target samples; e_c the same among those of class c. Two
//! things are as in the program of JDA's authors: the C classes together weigh as much as the domains, and M is divided
//! by its Frobenius norm, so that λ means the same whatever the number of samples. A class that no target sample is
//! labelled with keeps the entries that the publication gives to pairs of its source samples: it draws their mean to
//! the origin. With many classes this matters: on faces it happens to
//! some classes in most iterations, and without it JDA is some points worse.
//!
//! As e_0 and e_c have ⟨e_0, e_c⟩ = 1/n_s, plus 1/n_t if class c has target samples, and classes are disjoint, the norm
//! has a closed form, and M itself is never formed.

use ndarray::{Array1, Array2, ArrayView2, Axis};

/// The sums of one domain's samples, class by class.
#[derive(Debug)]
pub(crate) struct ClassSums {
    sums: Array2<f64>,
    counts: Vec<usize>,
}

impl ClassSums {
    /// Sums the samples (rows) with each of the labels 0 to `classes` − 1.
    pub(crate) fn new(samples: ArrayView2<'_, f64>, labels: &[usize], classes: usize) -> Self {
        let mut sums = Array2::zeros((classes, samples.ncols()));
        let mut counts = vec![0; classes];
        for (sample, &label) in samples.rows().into_iter().zip(labels) {
            let mut sum = sums.row_mut(label);
            sum += &sample;
            counts[label] += 1;
        }
        Self { sums, counts }
    }

    fn samples(&self) -> usize {
        self.counts.iter().sum()
    }

    fn mean(&self) -> Array1<f64> {
        self.sums.sum_axis(Axis(0)) / self.samples() as f64
    }

    fn class_mean(&self, class: usize) -> Array1<f64> {
        &self.sums.row(class) / self.counts[class] as f64
    }
}

/// Whose means are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The domains'.
    Domains,
    /// The domains' and those of each class.
    DomainsAndClasses,
}

/// The factors of M = E Eᵀ as the samples see them.
#[derive(Debug)]
pub(crate) struct Discrepancies {
    /// Eᵀ X, a row for each column of E, with the samples X as they were summed.
    pub(crate) differences: Array2<f64>,
    /// Eᵀ 1: zero but for classes without target samples.
    pub(crate) totals: Array1<f64>,
}

impl Discrepancies {
    pub(crate) fn new(source: &ClassSums, target: &ClassSums, compared: Compared) -> Self {
        let share = |count: usize| if count == 0 { 0.0 } else { (count as f64).recip() };
        let weight = match compared {
            Compared::Domains => 1.0,
            Compared::DomainsAndClasses => source.counts.len() as f64,
        };
        let of_domains = share(source.samples()) + share(target.samples());
        let mut differences = vec![(source.mean() - target.mean()) * weight.sqrt()];
        let mut totals = vec![0.0];
        let mut squared_norm = (weight * of_domains).powi(2);
        if compared == Compared::DomainsAndClasses {
            for (class, (&in_source, &in_target)) in
                source.counts.iter().zip(&target.counts).enumerate()
            {
                let (overlap, total) = if in_target == 0 {
                    differences.push(source.class_mean(class));
                    (share(source.samples()), 1.0)
                } else {
                    differences.push(source.class_mean(class) - target.class_mean(class));
                    (of_domains, 0.0)
                };
                totals.push(total);
                let of_class = share(in_source) + share(in_target);
                squared_norm += of_class.powi(2) + 2.0 * weight * overlap.powi(2);
            }
        }
        let scale = squared_norm.sqrt().sqrt().recip();
        let shape = (differences.len(), differences[0].len());
        Self {
            differences: Array2::from_shape_fn(shape, |(row, column)| {
                differences[row][column] * scale
            }),
            totals: Array1::from(totals) * scale,
        }
    }
}
