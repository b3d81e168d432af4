//! Projections that bring two domains' means together while they keep the variance: the eigenproblem that
//! TCA (Pan, Tsang, Kwok & Yang, 2011) and JDA (Long, Wang, Ding, Sun & Yu, 2013) share.
//!
//! With all samples as the rows of X, the centring matrix H and an MMD matrix M = Σ_c e_c e_cᵀ, the projection
//! minimises tr(Aᵀ Xᵀ M X A) + λ ‖A‖² subject to Aᵀ Xᵀ H X A = I:
//!
//! ```text
//! (Xᵀ M X + λ I) A = Xᵀ H X A Φ,   the k smallest eigenvalues.
//! ```
//!
//! With a linear kernel K = X Xᵀ the same stands with K in the place of X, and the penalty weighs other
//! directions. Each e_c sums to zero, so M sees centred samples H X = U S Vᵀ only, and in the coordinates
//! y = S Vᵀ a the k largest eigenvalues are those of
//!
//! ```text
//! λ (λ R + F Fᵀ)⁻¹ = R⁻¹ − R⁻¹ F (λ I + Fᵀ R⁻¹ F)⁻¹ Fᵀ R⁻¹,   F = Uᵀ [e_0 … e_C],
//! ```
//!
//! where R⁻¹ is S², and with the kernel S (S² + n m mᵀ) S with the mean's coordinates m = Vᵀ μ. That is a
//! diagonal with an update of rank C + 1 or C + 2: one decomposition of the samples serves every λ, k and M.

use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};

use crate::checks::{check_dimensions, check_domains, check_positive};
use crate::embedding::{Embedding, scale_rows_to_unit_norm};
use crate::error::{Error, Result};
use crate::leading_eigenpairs::leading_eigenpairs;
use crate::principal::PrincipalComponents;
use crate::symmetric_eigen::symmetric_eigen;
use crate::updated_diagonal::UpdatedDiagonal;

const WHAT: &str = "the source and target samples";

/// What λ penalises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formulation {
    /// The projection of the features.
    #[default]
    Primal,
    /// The coefficients of the samples, with a linear kernel.
    LinearKernel,
}

/// How long the columns of the projection A are: the eigenproblem leaves that open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProjectionScale {
    /// ‖a‖ = 1, as general eigensolvers return them: directions of larger variance weigh more in distances. JDA's
    /// accuracies come closer to the paper's with it: on digits and faces the other is 8 to 10 points below.
    #[default]
    UnitNorm,
    /// aᵀ Xᵀ H X a = 1, as the constraint asks: all directions weigh the same.
    UnitVariance,
}

/// How [`crate::Tca`] and [`crate::Jda`] treat samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MmdOptions {
    /// What λ penalises.
    pub formulation: Formulation,
    /// The length of the projection's columns.
    pub scale: ProjectionScale,
    /// Scale samples to unit norm, before and after the projection.
    pub unit_norm: bool,
}

impl Default for MmdOptions {
    fn default() -> Self {
        Self {
            formulation: Formulation::default(),
            scale: ProjectionScale::default(),
            unit_norm: true,
        }
    }
}

/// The decomposition that all projections of two domains share.
#[derive(Debug)]
pub(crate) struct MmdProblem {
    /// U S, a row for each sample.
    coordinates: Array2<f64>,
    singular_values: Array1<f64>,
    source_samples: usize,
    /// √n m in the kernel formulation.
    mean_of_kernel: Option<Array1<f64>>,
    /// The covector that takes y to the projection of the mean.
    mean_projection: Array1<f64>,
    scale: ProjectionScale,
    unit_norm: bool,
}

/// A solution of the eigenproblem.
pub(crate) struct Projection {
    /// The eigenvectors y, as rows.
    vectors: Array2<f64>,
    /// tr(Aᵀ Xᵀ M X A) + λ ‖A‖².
    pub(crate) objective: f64,
}

impl MmdProblem {
    pub(crate) fn new(
        source: ArrayView2<'_, f64>,
        target: ArrayView2<'_, f64>,
        options: MmdOptions,
    ) -> Result<Self> {
        check_domains(source, target)?;
        let mut samples = concatenate![Axis(0), source, target];
        if options.unit_norm {
            scale_rows_to_unit_norm(&mut samples);
        }
        let components = PrincipalComponents::new(samples.view(), WHAT)?;
        let count = samples.nrows() as f64;
        let mean = components.in_axes(components.mean.view());
        let singular_values = components.singular_values.clone();
        let (mean_of_kernel, mean_projection) = match options.formulation {
            Formulation::Primal => (None, &mean / &singular_values),
            Formulation::LinearKernel => {
                // The penalty leaves a direction of the mean outside of the principal axes free.
                let outside = (components.mean.dot(&components.mean) - mean.dot(&mean)).max(0.0);
                let whitened = &mean / &(&singular_values * &singular_values);
                let free = count * outside / (1.0 + count * mean.dot(&whitened));
                let projection = (&mean + &(whitened * free)) / &singular_values;
                (Some(mean * count.sqrt()), projection)
            }
        };
        Ok(Self {
            coordinates: components.coordinates(components.rank()),
            singular_values,
            source_samples: source.nrows(),
            mean_of_kernel,
            mean_projection,
            scale: options.scale,
            unit_norm: options.unit_norm,
        })
    }

    pub(crate) fn max_k(&self) -> usize {
        self.singular_values.len()
    }

    /// The samples of the source and of the target in their principal coordinates.
    pub(crate) fn domains(&self) -> (ArrayView2<'_, f64>, ArrayView2<'_, f64>) {
        self.coordinates.view().split_at(Axis(0), self.source_samples)
    }

    /// Solves the eigenproblem for the MMD matrix whose e_c are, in the principal coordinates, the rows of
    /// `discrepancies`.
    pub(crate) fn solve(
        &self,
        discrepancies: &Array2<f64>,
        lambda: f64,
        k: usize,
    ) -> Result<Projection> {
        check_positive("lambda", lambda)?;
        check_dimensions(k, WHAT, self.max_k())?;
        let matrix = self.eigenproblem(discrepancies, lambda)?;
        let leading = leading_eigenpairs(&matrix, k)?;
        let objective = leading.values.iter().map(|value| lambda / value).sum();
        Ok(Projection { vectors: leading.vectors, objective })
    }

    fn eigenproblem(&self, discrepancies: &Array2<f64>, lambda: f64) -> Result<UpdatedDiagonal> {
        let scale = &self.singular_values;
        let squares = scale * scale;
        // Fᵀ R⁻¹ = mapped · S, and Fᵀ R⁻¹ F = mapped · discrepanciesᵀ.
        let (diagonal, mapped) = match &self.mean_of_kernel {
            None => (squares, discrepancies.clone()),
            Some(mean) => {
                let along_mean = discrepancies.dot(mean).insert_axis(Axis(1));
                let mapped =
                    discrepancies * &squares + along_mean.dot(&mean.view().insert_axis(Axis(0)));
                (&squares * &squares, mapped)
            }
        };
        let mut inner = mapped.dot(&discrepancies.t());
        let mut inner_diagonal = inner.diag_mut();
        inner_diagonal += lambda;
        let inner = symmetric_eigen(inner.view(), "the domains' discrepancies")?;
        let weights = inner.values.mapv(|value| value.max(lambda).sqrt().recip());
        let mut updates = inner.vectors.t().dot(&(mapped * scale));
        updates *= &weights.insert_axis(Axis(1));
        let mut signs = Array1::from_elem(updates.nrows(), -1.0);
        if let Some(mean) = &self.mean_of_kernel {
            let row = (mean * scale).insert_axis(Axis(0));
            updates = concatenate![Axis(0), updates, row];
            signs = concatenate![Axis(0), signs, Array1::ones(1)];
        }
        Ok(UpdatedDiagonal { diagonal, updates, signs })
    }

    /// The length √(yᵀ R y) of the column a that belongs to each y, the rows.
    fn lengths(&self, vectors: &Array2<f64>) -> Array1<f64> {
        let in_axes = vectors / &self.singular_values;
        let Some(mean) = &self.mean_of_kernel else {
            return in_axes.map_axis(Axis(1), |row| row.dot(&row).sqrt());
        };
        // (S² + m mᵀ)⁻¹ by Sherman and Morrison, with √n in m.
        let whitened = in_axes / &self.singular_values;
        let whitened_mean = mean / &self.singular_values;
        let along_mean = whitened_mean.dot(&whitened_mean);
        whitened.map_axis(Axis(1), |row| {
            let (square, overlap) = (row.dot(&row), row.dot(&whitened_mean));
            // At least square / (1 + along_mean) by Cauchy and Schwarz, whatever cancels.
            let rest = square - overlap * overlap / (1.0 + along_mean);
            rest.max(square / (1.0 + along_mean)).sqrt()
        })
    }

    /// Both domains, projected.
    pub(crate) fn embed(&self, projection: &Projection) -> Result<Embedding> {
        let vectors = &projection.vectors;
        let mut projected = self.coordinates.dot(&(vectors / &self.singular_values).t());
        projected += &vectors.dot(&self.mean_projection);
        if self.scale == ProjectionScale::UnitNorm {
            projected /= &self.lengths(vectors);
        }
        if projected.iter().any(|value| !value.is_finite()) {
            return Err(Error::Overflow);
        }
        if self.unit_norm {
            scale_rows_to_unit_norm(&mut projected);
        }
        let (source, target) = projected.view().split_at(Axis(0), self.source_samples);
        Ok(Embedding { source: source.to_owned(), target: target.to_owned() })
    }
}
