//! Correlation alignment: Sun, Feng & Saenko, "Return of frustratingly easy domain adaptation", AAAI 2016.
//!
//! The source is whitened and re-coloured with the target's covariance,
//!
//! ```text
//! X_s* = X_s C_s^(−1/2) C_t^(1/2),   C = cov(X) + ρ I,
//! ```
//!
//! with ρ = 1 in the publication (its features are standardised); the target stays. With the covariance
//! V diag(c) Vᵀ of the domain's r principal axes, C^p = ρ^p I + V diag((c + ρ)^p − ρ^p) Vᵀ: no matrix of d × d
//! is formed or inverted.

use ndarray::{Array2, ArrayView2};

use crate::checks::{check_domains, check_positive};
use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::principal::PrincipalComponents;

/// The parameter of [`coral`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoralOptions {
    /// ρ, which is added to each variance.
    pub regularization: f64,
}

impl Default for CoralOptions {
    fn default() -> Self {
        Self { regularization: 1.0 }
    }
}

/// Re-colours the source samples (rows) with the target's covariance.
pub fn coral(
    source: ArrayView2<'_, f64>,
    target: ArrayView2<'_, f64>,
    options: CoralOptions,
) -> Result<Embedding> {
    check_domains(source, target)?;
    check_positive("regularization", options.regularization)?;
    let whitened = times_power(source, source, -0.5, options.regularization)?;
    let coloured = times_power(whitened.view(), target, 0.5, options.regularization)?;
    if coloured.iter().any(|value| !value.is_finite()) {
        return Err(Error::Overflow);
    }
    Ok(Embedding { source: coloured, target: target.to_owned() })
}

/// The rows times (cov(domain) + ρ I)^power.
fn times_power(
    rows: ArrayView2<'_, f64>,
    domain: ArrayView2<'_, f64>,
    power: f64,
    regularization: f64,
) -> Result<Array2<f64>> {
    let isotropic = regularization.powf(power);
    let components = match PrincipalComponents::new(domain, "the domain's samples") {
        // A domain that is one point has no covariance but the regularisation.
        Err(Error::Constant { .. }) => return Ok(&rows * isotropic),
        components => components?,
    };
    let axes = components.axes(components.rank());
    let freedom = domain.nrows() as f64 - 1.0;
    let weights = components
        .singular_values
        .mapv(|value| (value * value / freedom + regularization).powf(power) - isotropic);
    Ok(&rows * isotropic + (rows.dot(&axes) * weights).dot(&axes.t()))
}
