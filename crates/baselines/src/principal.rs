//! The principal components of one set of samples, from which the subspace methods are built.
//!
//! The centred samples are X_c = U S Vᵀ. U or V comes from the eigenvectors of the smaller of X_c X_cᵀ and
//! X_cᵀ X_c, which is many times faster than the full decomposition and exact to ε s₁² in s². Components
//! below that level are rounding, not variance, and are left out: the rank is the numerical one.

use faer::Mat;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};

use crate::error::{Error, Result};
use crate::product::product;
use crate::symmetric_eigen::symmetric_eigen;

/// The decomposition of centred samples.
pub(crate) struct PrincipalComponents {
    pub(crate) mean: Array1<f64>,
    pub(crate) centred: Array2<f64>,
    /// The singular values, largest first; all positive.
    pub(crate) singular_values: Array1<f64>,
    vectors: Vectors,
}

enum Vectors {
    /// The columns of U.
    OfSamples(Array2<f64>),
    /// The columns of V.
    OfFeatures(Array2<f64>),
}

impl PrincipalComponents {
    /// Decomposes the samples, the rows; `what` names them in errors.
    pub(crate) fn new(samples: ArrayView2<'_, f64>, what: &'static str) -> Result<Self> {
        let mean = samples.mean_axis(Axis(0)).ok_or(Error::Empty { what })?;
        let centred = &samples - &mean;
        let (count, width) = centred.dim();
        let has_fewer_samples = count < width;
        let gram = if has_fewer_samples {
            product(centred.view(), centred.t())
        } else {
            product(centred.t(), centred.view())
        };
        let eigen = symmetric_eigen(gram.view(), what)?;
        let largest = eigen.values.first().copied().unwrap_or(0.0);
        // Centring leaves rounding of the mean's size behind.
        let rounding = f64::EPSILON * count.max(width) as f64;
        let noise = (rounding * largest).max(count as f64 * mean.dot(&mean) * f64::EPSILON.powi(2));
        let rank = eigen.values.iter().take_while(|&&value| value > noise).count();
        if rank == 0 {
            return Err(Error::Constant { what });
        }
        let vectors = eigen.vectors.slice_move(s![.., ..rank]);
        Ok(Self {
            mean,
            centred,
            singular_values: eigen.values.slice(s![..rank]).mapv(f64::sqrt),
            vectors: if has_fewer_samples {
                Vectors::OfSamples(vectors)
            } else {
                Vectors::OfFeatures(vectors)
            },
        })
    }

    pub(crate) fn rank(&self) -> usize {
        self.singular_values.len()
    }

    /// The first k columns of U S = X_c V: the samples in the coordinates of their principal axes.
    pub(crate) fn coordinates(&self, k: usize) -> Array2<f64> {
        match &self.vectors {
            Vectors::OfSamples(left) => {
                &left.slice(s![.., ..k]) * &self.singular_values.slice(s![..k])
            }
            Vectors::OfFeatures(right) => product(self.centred.view(), right.slice(s![.., ..k])),
        }
    }

    /// Vᵀ times a vector.
    pub(crate) fn in_axes(&self, vector: ArrayView1<'_, f64>) -> Array1<f64> {
        match &self.vectors {
            Vectors::OfSamples(left) => {
                left.t().dot(&self.centred.dot(&vector)) / &self.singular_values
            }
            Vectors::OfFeatures(right) => right.t().dot(&vector),
        }
    }

    /// The first k columns of V: the principal axes.
    pub(crate) fn axes(&self, k: usize) -> Array2<f64> {
        match &self.vectors {
            Vectors::OfSamples(left) => {
                // Rounding in the small components is a part of the large ones, removed here.
                orthonormal_columns(&self.centred.t().dot(&left.slice(s![.., ..k])))
            }
            Vectors::OfFeatures(right) => right.slice(s![.., ..k]).to_owned(),
        }
    }
}

/// The orthonormal columns Q of Q R with a positive diagonal of R: each column, less its part in those before.
fn orthonormal_columns(matrix: &Array2<f64>) -> Array2<f64> {
    let (rows, columns) = matrix.dim();
    let factors = Mat::from_fn(rows, columns, |row, column| matrix[[row, column]]).qr();
    let (orthonormal, triangle) = (factors.compute_thin_Q(), factors.thin_R());
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        orthonormal[(row, column)] * triangle[(column, column)].signum()
    })
}
