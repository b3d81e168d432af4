//! The criteria F of subspace learning, each a ratio of traces tr(WᵀAW) / tr(WᵀBW), to be minimised.
//!
//! The minimiser over the k-dimensional subspaces is found by the iteration of H. Wang, S. Yan, D. Xu,
//! X. Tang and T. Huang, "Trace Ratio vs. Ratio Trace for Dimensionality Reduction", CVPR 2007: with ρ the
//! ratio at W, the next W spans the k lowest eigenvectors of A − ρB. It is Newton's method for the root ρ
//! of their sum of eigenvalues, and its limit is the global minimum.

use ndarray::{Array2, ArrayView2, Axis, s};

use crate::error::{Error, Result};
use crate::symmetric_eigen::symmetric_eigen;
use crate::tsl::locality::locality_matrices;
use crate::tsl::shrinkage::shrunk_covariance;

/// What the subspace should be good for, apart from making the domains alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// Fisher's: little scatter within the classes of the source, much between them. A is the covariance
    /// within classes, shrunk after Ledoit and Wolf, because there are more features than samples a class;
    /// B is the covariance of the classes' means.
    Fisher,
    /// That of PCA: much variance of both domains together. A = I and B is their covariance.
    Pca,
    /// That of X. He and P. Niyogi, "Locality Preserving Projections", NIPS 2003: neighbours, of either
    /// domain, stay close. A = XᵀLX and B = XᵀDX, where L is the Laplacian of the graph that joins each
    /// sample to its nearest ones and D has its degrees.
    Lpp {
        /// The number of neighbours that a sample is joined to.
        neighbours: usize,
    },
}

/// Steps of the iteration, which converges quadratically: a dozen are more than it ever took.
const MAX_STEPS: usize = 50;

/// F(W) = tr(WᵀAW) / tr(WᵀBW).
#[derive(Debug)]
pub(crate) struct TraceRatio {
    numerator: Array2<f64>,
    denominator: Array2<f64>,
}

impl TraceRatio {
    /// The criterion for centred samples, of which the first belong to the source and have labels.
    pub(crate) fn new(
        criterion: Criterion,
        samples: ArrayView2<'_, f64>,
        labels: &[usize],
    ) -> Result<Self> {
        let (numerator, denominator) = match criterion {
            Criterion::Fisher => fisher_matrices(samples.slice(s![..labels.len(), ..]), labels)?,
            Criterion::Pca => {
                (Array2::eye(samples.ncols()), samples.t().dot(&samples) / samples.nrows() as f64)
            }
            Criterion::Lpp { neighbours } => locality_matrices(samples, neighbours)?,
        };
        Ok(Self { numerator, denominator })
    }

    /// A and B.
    #[cfg(test)]
    pub(crate) fn matrices(&self) -> (ArrayView2<'_, f64>, ArrayView2<'_, f64>) {
        (self.numerator.view(), self.denominator.view())
    }

    /// F(W).
    pub(crate) fn value(&self, basis: ArrayView2<'_, f64>) -> f64 {
        quadratic(&self.numerator, basis).1 / quadratic(&self.denominator, basis).1
    }

    /// F(W) and its gradient 2 (A W − F B W) / tr(WᵀBW).
    pub(crate) fn value_and_gradient(&self, basis: ArrayView2<'_, f64>) -> (f64, Array2<f64>) {
        let (mut gradient, above) = quadratic(&self.numerator, basis);
        let (slope_below, below) = quadratic(&self.denominator, basis);
        let value = above / below;
        gradient.scaled_add(-value, &slope_below);
        gradient *= 2.0 / below;
        (value, gradient)
    }

    /// An orthonormal basis of the k-dimensional subspace with the smallest F.
    pub(crate) fn minimiser(&self, k: usize) -> Result<Array2<f64>> {
        let (above, below) = (self.numerator.diag().sum(), self.denominator.diag().sum());
        if above <= f64::EPSILON * below {
            // Each class is one point, and F is zero everywhere: what separates the classes most.
            let eigen = symmetric_eigen(self.denominator.view(), "the criterion's matrices")?;
            return Ok(eigen.vectors.slice(s![.., ..k]).to_owned());
        }
        // The ratio of the whole space is finite, and above the minimum or the minimum itself.
        let mut ratio = above / below;
        let mut basis = Array2::zeros((self.numerator.nrows(), k));
        for _ in 0..MAX_STEPS {
            // Largest first: the lowest of A − ρB are the leading ones of ρB − A.
            let difference = &self.denominator * ratio - &self.numerator;
            let eigen = symmetric_eigen(difference.view(), "the criterion's matrices")?;
            basis.assign(&eigen.vectors.slice(s![.., ..k]));
            let next = self.value(basis.view());
            let is_settled = (ratio - next).abs() <= 1e-12 * next.abs();
            ratio = next;
            if is_settled {
                break;
            }
        }
        Ok(basis)
    }
}

/// M W and tr(WᵀMW).
fn quadratic(matrix: &Array2<f64>, basis: ArrayView2<'_, f64>) -> (Array2<f64>, f64) {
    let product = matrix.dot(&basis);
    let trace = (&product * &basis).sum();
    (product, trace)
}

/// The covariances within classes, shrunk, and between their means.
fn fisher_matrices(
    source: ArrayView2<'_, f64>,
    labels: &[usize],
) -> Result<(Array2<f64>, Array2<f64>)> {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    if classes.len() < 2 {
        return Err(Error::OneClass { what: "the source samples", class: labels[0] });
    }
    let width = source.ncols();
    let mut means = Array2::<f64>::zeros((classes.len(), width));
    let mut counts = vec![0.0; classes.len()];
    let places: Vec<usize> =
        labels.iter().map(|label| classes.partition_point(|class| class < label)).collect();
    for (sample, &place) in source.rows().into_iter().zip(&places) {
        means.row_mut(place).scaled_add(1.0, &sample);
        counts[place] += 1.0;
    }
    for (mut mean, &count) in means.rows_mut().into_iter().zip(&counts) {
        mean /= count;
    }
    let mut residuals = source.to_owned();
    for (mut residual, &place) in residuals.rows_mut().into_iter().zip(&places) {
        residual -= &means.row(place);
    }
    let centre = source.sum_axis(Axis(0)) / source.nrows() as f64;
    for (mut mean, &count) in means.rows_mut().into_iter().zip(&counts) {
        mean -= &centre;
        mean *= (count / source.nrows() as f64).sqrt();
    }
    let between = means.t().dot(&means);
    // Of centred samples with a mean square of 1.
    if between.diag().sum() <= f64::EPSILON * width as f64 {
        return Err(Error::NoSeparation);
    }
    Ok((shrunk_covariance(residuals.view()), between))
}
