//! The maximum mean discrepancy (MMD) matrix M = Σ_c e_c e_cᵀ of TCA and JDA, by its columns e_c.
//!
//! e_0 has 1/n_s at the source samples and −1/n_t at the target samples; e_c the same among those of class c.
//! A class that no target sample is labelled with has no e_c. M is divided by its Frobenius norm, so that λ
//! means the same whatever the number of samples. With ‖e_0‖² = 1/n_s + 1/n_t = ⟨e_0, e_c⟩ and disjoint classes,
//! the norm has a closed form, and M itself is never formed.

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

/// Xᵀ e_c for each e_c, as rows, divided by the square root of ‖M‖_F.
pub(crate) fn discrepancies(
    source: &ClassSums,
    target: &ClassSums,
    compared: Compared,
) -> Array2<f64> {
    let spread = |in_source: usize, in_target: usize| {
        (in_source as f64).recip() + (in_target as f64).recip()
    };
    let of_domains = spread(source.samples(), target.samples());
    let mut differences = vec![source.mean() - target.mean()];
    let mut squared_norm = of_domains * of_domains;
    if compared == Compared::DomainsAndClasses {
        for class in 0..source.counts.len() {
            let (in_source, in_target) = (source.counts[class], target.counts[class]);
            if in_source > 0 && in_target > 0 {
                differences.push(source.class_mean(class) - target.class_mean(class));
                let of_class = spread(in_source, in_target);
                squared_norm += of_class * of_class + 2.0 * of_domains * of_domains;
            }
        }
    }
    let scale = squared_norm.sqrt().sqrt().recip();
    Array2::from_shape_fn((differences.len(), differences[0].len()), |(row, column)| {
        differences[row][column] * scale
    })
}
