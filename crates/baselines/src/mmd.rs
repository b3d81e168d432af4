//! Projections that bring two domains' means together while they keep the variance: the eigenproblem that
//! TCA (Pan, Tsang, Kwok & Yang, 2011) and JDA (Long, Wang, Ding, Sun & Yu, 2013) share.
//!
//! With all samples as the rows of X, the centring matrix H and an MMD matrix M = E Eᵀ (`discrepancy.rs`), the
//! projection minimises tr(Aᵀ Xᵀ M X A) + λ ‖A‖² subject to Aᵀ Xᵀ H X A = I:
//!
//! ```text
//! (Xᵀ M X + λ I) A = Xᵀ H X A Φ,   the k smallest eigenvalues.
//! ```
//!
//! With a linear kernel K = X Xᵀ the same stands with K in the place of X, and the penalty weighs other directions.
//!
//! The samples are X = U S Vᵀ + 1 μᵀ, and the mean μ has the coordinates m = Vᵀ μ and a part of length h outside of the
//! principal axes V. A column a, or with the kernel its Xᵀ a, is V b + v (μ − V m): nothing else is seen by the
//! problem. The penalty is zᵀ Q⁻¹ z for z = (b, v h), with Q = I, or with the kernel Q = Xᵀ X. With
//! G = Eᵀ X in these coordinates and the constraint's y = S b, the best v for each b gives the eigenproblem of
//!
//! ```text
//! S [Q − Q Gᵀ (λ I + G Q Gᵀ)⁻¹ G Q]_bb S y = θ y,   the k largest θ = λ/φ,
//! ```
//!
//! a diagonal with an update of as many columns as E has, and one more with the kernel: one decomposition of the samples
//! serves every λ, k and M. Its last row, that of v, gives v from y / θ.

use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};

use crate::checks::{check_dimensions, check_domains, check_positive};
use crate::discrepancy::Discrepancies;
use crate::embedding::{Embedding, scale_rows_to_unit_norm};
use crate::error::{Error, Result};
use crate::leading_eigenpairs::{Leading, leading_eigenpairs};
use crate::principal::PrincipalComponents;
use crate::product::product;
use crate::symmetric_eigen::symmetric_eigen;
use crate::updated_diagonal::UpdatedDiagonal;

const WHAT: &str = "the source and target samples";

/// What λ penalises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formulation {
    /// The projection of the features.
    Primal,
    /// The coefficients of the samples, with a linear kernel: "a linear kernel was chosen for all the methods with a
    /// kernel formulation", in the paper's words. In the mean of each of its three sets of tasks JDA's accuracy is then
    /// within 3 points of the paper's; the other formulation is better than the paper's on digits and faces.
    #[default]
    LinearKernel,
}

/// How long the columns of the projection A are: the eigenproblem leaves that open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProjectionScale {
    /// ‖a‖ = 1, as general eigensolvers return them: directions of larger variance weigh more in distances. JDA's
    /// accuracies come closer to the paper's with it: the other is 8 points below on digits.
    #[default]
    UnitNorm,
    /// The variance along a is 1, as the constraint asks: all directions weigh the same.
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
    /// m, the mean of all samples in the principal axes.
    mean: Array1<f64>,
    /// h², the squared length of the mean's part outside of the principal axes.
    outside: f64,
    options: MmdOptions,
}

/// A solution of the eigenproblem.
pub(crate) struct Projection {
    pub(crate) lambda: f64,
    /// The eigenvectors y, as rows, and eigenvalues θ.
    leading: Leading,
    /// v of each eigenvector.
    mean_coefficients: Array1<f64>,
}

impl Projection {
    /// tr(Aᵀ Xᵀ M X A) + λ ‖A‖² of the first k columns.
    pub(crate) fn objective(&self, k: usize) -> f64 {
        self.leading.values.iter().take(k).map(|value| self.lambda / value).sum()
    }

    /// How large a space it was found in: a hint for the next one.
    pub(crate) fn searched(&self) -> usize {
        self.leading.searched
    }
}

/// The symmetric matrix of the eigenproblem, and the row that takes θ⁻¹ y to v.
struct Eigenproblem {
    matrix: UpdatedDiagonal,
    mean_row: Array1<f64>,
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
        let mean = components.in_axes(components.mean.view());
        let outside = components.mean.dot(&components.mean) - mean.dot(&mean);
        Ok(Self {
            coordinates: components.coordinates(components.rank()),
            singular_values: components.singular_values.clone(),
            source_samples: source.nrows(),
            mean,
            outside: outside.max(0.0),
            options,
        })
    }

    pub(crate) fn max_k(&self) -> usize {
        self.singular_values.len()
    }

    /// The centred samples of the source and of the target in their principal coordinates.
    pub(crate) fn domains(&self) -> (ArrayView2<'_, f64>, ArrayView2<'_, f64>) {
        self.coordinates.view().split_at(Axis(0), self.source_samples)
    }

    /// Solves the eigenproblem for an MMD matrix, given as it is seen by the samples of [`MmdProblem::domains`].
    /// `similar` says what [`Projection::searched`] was for one that is nearly the same.
    pub(crate) fn solve(
        &self,
        discrepancies: &Discrepancies,
        lambda: f64,
        k: usize,
        similar: Option<usize>,
    ) -> Result<Projection> {
        check_positive("lambda", lambda)?;
        check_dimensions(k, WHAT, self.max_k())?;
        let Eigenproblem { matrix, mean_row } = self.eigenproblem(discrepancies, lambda)?;
        let leading = leading_eigenpairs(&matrix, k, similar)?;
        let mean_coefficients = leading.vectors.dot(&mean_row) / &leading.values;
        Ok(Projection { lambda, leading, mean_coefficients })
    }

    fn eigenproblem(&self, seen: &Discrepancies, lambda: f64) -> Result<Eigenproblem> {
        let scale = &self.singular_values;
        let squares = scale * scale;
        let totals = seen.totals.view().insert_axis(Axis(1));
        // G in the axes; its last column is h times the totals.
        let seen_in_axes = &seen.differences + &totals.dot(&self.mean.view().insert_axis(Axis(0)));
        // G Q in the axes, and its last column divided by h.
        let (mapped, mapped_outside) = match self.options.formulation {
            Formulation::Primal => (seen_in_axes.clone(), seen.totals.clone()),
            Formulation::LinearKernel => {
                let along_mean =
                    (seen_in_axes.dot(&self.mean) + &seen.totals * self.outside) * self.samples();
                let of_mean = along_mean.view().insert_axis(Axis(1));
                let mapped =
                    &seen_in_axes * &squares + of_mean.dot(&self.mean.view().insert_axis(Axis(0)));
                (mapped, along_mean)
            }
        };
        let mut inner = product(mapped.view(), seen_in_axes.t());
        inner += &(mapped_outside.view().insert_axis(Axis(1)).dot(&totals.t()) * self.outside);
        let mut inner_diagonal = inner.diag_mut();
        inner_diagonal += lambda;
        let inner = symmetric_eigen(inner.view(), "the domains' discrepancies")?;
        let weights = inner.values.mapv(|value| value.max(lambda).sqrt().recip());
        let root = &inner.vectors * &weights;
        let updates = product(root.t(), (mapped * scale).view());
        let mean_row = -updates.t().dot(&root.t().dot(&mapped_outside));
        let signs = Array1::from_elem(updates.nrows(), -1.0);
        Ok(match self.options.formulation {
            Formulation::Primal => Eigenproblem {
                matrix: UpdatedDiagonal { diagonal: squares, updates, signs },
                mean_row,
            },
            Formulation::LinearKernel => {
                let of_mean = &self.mean * scale;
                let row = (&of_mean * self.samples().sqrt()).insert_axis(Axis(0));
                Eigenproblem {
                    matrix: UpdatedDiagonal {
                        diagonal: &squares * &squares,
                        updates: concatenate![Axis(0), updates, row],
                        signs: concatenate![Axis(0), signs, Array1::ones(1)],
                    },
                    mean_row: mean_row + of_mean * self.samples(),
                }
            }
        })
    }

    fn samples(&self) -> f64 {
        self.coordinates.nrows() as f64
    }

    /// The length of each column of A: √(zᵀ Q⁻¹ z).
    fn lengths(&self, projection: &Projection, in_axes: &Array2<f64>) -> Array1<f64> {
        let of_mean = &projection.mean_coefficients;
        let squares = |rows: &Array2<f64>| rows.map_axis(Axis(1), |row| row.dot(&row));
        let squared = match self.options.formulation {
            Formulation::Primal => squares(in_axes) + of_mean * of_mean * self.outside,
            Formulation::LinearKernel => {
                let shifts = of_mean.view().insert_axis(Axis(1));
                let rest = in_axes - &shifts.dot(&self.mean.view().insert_axis(Axis(0)));
                squares(&(rest / &self.singular_values)) + of_mean * of_mean / self.samples()
            }
        };
        squared.mapv_into(f64::sqrt)
    }

    /// The samples' products with the projection's columns, a row for each sample.
    pub(crate) fn project(&self, projection: &Projection) -> Result<Array2<f64>> {
        let in_axes = &projection.leading.vectors / &self.singular_values;
        let mut projected = product(self.coordinates.view(), in_axes.t());
        projected += &(in_axes.dot(&self.mean) + &projection.mean_coefficients * self.outside);
        if self.options.scale == ProjectionScale::UnitNorm {
            projected /= &self.lengths(projection, &in_axes);
        }
        if projected.iter().any(|value| !value.is_finite()) {
            return Err(Error::Overflow);
        }
        Ok(projected)
    }

    /// Both domains from projected samples.
    pub(crate) fn embedding(&self, projected: ArrayView2<'_, f64>) -> Embedding {
        let (source, target) = projected.split_at(Axis(0), self.source_samples);
        let scaled = |domain: ArrayView2<'_, f64>| {
            let mut domain = domain.to_owned();
            if self.options.unit_norm {
                scale_rows_to_unit_norm(&mut domain);
            }
            domain
        };
        Embedding { source: scaled(source), target: scaled(target) }
    }
}
