//! The cost matrix C of eq. `gzero`: C(i, j) = c(x_i, x_j) between source and target samples.
//! Any other matrix will do for the solvers, with +∞ where a pair is forbidden.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis, Zip};

use crate::checks::{check_finite, check_same_width};
use crate::error::{Error, Result};
use crate::product::product;

/// The cost c between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metric {
    /// ‖x − y‖₂², the paper's choice.
    #[default]
    SquaredEuclidean,
    /// ‖x − y‖₂.
    Euclidean,
    /// ‖x − y‖₁.
    Cityblock,
    /// 1 − ⟨x, y⟩ / (‖x‖ ‖y‖). A sample of zeros is at cost 1 from every other.
    Cosine,
}

/// What a cost matrix is divided by. The paper divides by nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Normalization {
    /// Costs as they are.
    #[default]
    None,
    /// The largest finite cost.
    Max,
    /// The median of the finite costs.
    Median,
    /// The mean of the finite costs.
    Mean,
}

/// The costs between all source samples (rows) and target samples (columns).
pub fn cost_matrix(
    source: ArrayView2<'_, f64>,
    target: ArrayView2<'_, f64>,
    metric: Metric,
) -> Result<Array2<f64>> {
    check_finite("source", source)?;
    check_finite("target", target)?;
    check_same_width(source, target)?;
    let (rows, columns) = (source.nrows(), target.nrows());
    if rows == 0 || columns == 0 {
        return Err(Error::Empty { rows, columns });
    }
    let costs = match metric {
        Metric::SquaredEuclidean => squared_distances(source, target),
        Metric::Euclidean => squared_distances(source, target).mapv_into(f64::sqrt),
        Metric::Cityblock => pairwise(source, target, |x, y| {
            Zip::from(x).and(y).fold(0.0, |sum, &x, &y| sum + (x - y).abs())
        }),
        Metric::Cosine => {
            let mut costs = unit_rows(source).dot(&unit_rows(target).t());
            costs.mapv_inplace(|cosine| (1.0 - cosine).max(0.0));
            costs
        }
    };
    // Squares of features beyond 1e150 are too large for numbers.
    check_finite("cost", costs.view())?;
    Ok(costs)
}

/// Divides the finite costs by the chosen statistic of them.
pub fn normalize_cost(mut cost: Array2<f64>, normalization: Normalization) -> Result<Array2<f64>> {
    let mut finite: Vec<f64> = cost.iter().copied().filter(|value| value.is_finite()).collect();
    let scale = match normalization {
        Normalization::None => return Ok(cost),
        Normalization::Max => finite.iter().copied().fold(0.0, f64::max),
        Normalization::Mean => finite.iter().sum::<f64>() / finite.len().max(1) as f64,
        Normalization::Median => median(&mut finite),
    };
    if scale <= 0.0 || !scale.is_finite() {
        return Err(Error::Argument {
            name: "normalization",
            value: format!("{normalization:?}"),
            rule: "the costs' statistic must be positive: use no normalization for costs of zero",
        });
    }
    cost.mapv_inplace(|value| value / scale);
    Ok(cost)
}

/// ‖x − y‖² = ‖x‖² + ‖y‖² − 2⟨x, y⟩, by one matrix product.
pub(crate) fn squared_distances(
    source: ArrayView2<'_, f64>,
    target: ArrayView2<'_, f64>,
) -> Array2<f64> {
    // Distances do not feel a common shift, but the cancellation in this formula does.
    let centre = target.mean_axis(Axis(0)).unwrap_or_default();
    let (source, target) = (&source - &centre, &target - &centre);
    let source_norms = source.map_axis(Axis(1), |row| row.dot(&row));
    let target_norms = target.map_axis(Axis(1), |row| row.dot(&row));
    let mut costs = product(source.view(), target.t());
    for (mut row, source_norm) in costs.rows_mut().into_iter().zip(source_norms) {
        Zip::from(&mut row).and(&target_norms).for_each(|cost, &target_norm| {
            let square = source_norm + target_norm - 2.0 * *cost;
            // Rounding may leave less than nothing; what overflowed stays not a number.
            *cost = if square < 0.0 { 0.0 } else { square };
        });
    }
    costs
}

fn pairwise(
    source: ArrayView2<'_, f64>,
    target: ArrayView2<'_, f64>,
    distance: impl Fn(ArrayView1<'_, f64>, ArrayView1<'_, f64>) -> f64,
) -> Array2<f64> {
    Array2::from_shape_fn((source.nrows(), target.nrows()), |(row, column)| {
        distance(source.row(row), target.row(column))
    })
}

fn unit_rows(samples: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut units = samples.to_owned();
    for mut row in units.rows_mut() {
        let norm = row.dot(&row).sqrt();
        if norm > 0.0 {
            row /= norm;
        }
    }
    units
}

fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if below.len() == middle && values.len().is_multiple_of(2) {
        let lower = values[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return f64::midpoint(lower, upper);
    }
    upper
}
