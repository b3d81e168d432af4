//! Moving samples along a plan: the barycentric map of eqs. `bary_map`, `OTatt1` and `OTattunif`, the
//! geodesic of eq. `interp`, and points that were not in the problem.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::checks::{check_finite, check_length, check_same_width};
use crate::cost::squared_distances;
use crate::entropic::{self, Potentials};
use crate::error::{Error, Result};
use crate::product::product;

/// The centre that a sample's mass is mapped to: the minimizer of eq. `bary_map` for a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Barycenter {
    /// The weighted mean, for squared Euclidean costs.
    #[default]
    Mean,
    /// The weighted median of each component, for cityblock costs.
    Median,
}

/// Where each source sample (row of `plan`) goes among the target samples; with the transposed plan and
/// the source samples, the inverse map. A sample without mass has nowhere to go and stays at `stay`.
pub fn barycentric_map(
    plan: ArrayView2<'_, f64>,
    destination: ArrayView2<'_, f64>,
    barycenter: Barycenter,
    stay: ArrayView2<'_, f64>,
) -> Result<Array2<f64>> {
    check_length(
        "the columns of plan",
        plan.ncols(),
        "the samples of destination",
        destination.nrows(),
    )?;
    check_length("the rows of plan", plan.nrows(), "the samples of stay", stay.nrows())?;
    check_same_width(stay, destination)?;
    check_finite("plan", plan)?;
    let mut mapped = match barycenter {
        Barycenter::Mean => {
            let mut mapped = product(plan, destination);
            for (mut row, mass) in mapped.rows_mut().into_iter().zip(plan.sum_axis(Axis(1))) {
                row /= mass;
            }
            mapped
        }
        Barycenter::Median => weighted_medians(plan, destination),
    };
    for (sample, mass) in plan.sum_axis(Axis(1)).into_iter().enumerate() {
        if mass <= 0.0 {
            mapped.row_mut(sample).assign(&stay.row(sample));
        }
    }
    Ok(mapped)
}

fn weighted_medians(plan: ArrayView2<'_, f64>, destination: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut medians = Array2::zeros((plan.nrows(), destination.ncols()));
    for (feature, values) in destination.columns().into_iter().enumerate() {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        for (sample, masses) in plan.rows().into_iter().enumerate() {
            medians[[sample, feature]] = weighted_median(&order, values, masses);
        }
    }
    medians
}

/// The middle of the interval of minimizers of Σ m |x − v|.
fn weighted_median(
    order: &[usize],
    values: ArrayView1<'_, f64>,
    masses: ArrayView1<'_, f64>,
) -> f64 {
    let half = 0.5 * masses.sum();
    // Sums of masses that make one half exactly differ from it by rounding.
    let rounding = 1e-12 * half;
    let mut below = 0.0;
    let mut lower = None;
    for &index in order.iter().filter(|&&index| masses[index] > 0.0) {
        if let Some(lower) = lower {
            return f64::midpoint(lower, values[index]);
        }
        below += masses[index];
        if below > half + rounding {
            return values[index];
        }
        if below >= half - rounding {
            lower = Some(values[index]);
        }
    }
    lower.unwrap_or(0.0)
}

/// The distribution at time t on the geodesic between source and target (eq. `interp`): the points
/// (1 − t) x_i + t x_j for all pairs with mass, and those masses.
pub fn geodesic(
    plan: ArrayView2<'_, f64>,
    source: ArrayView2<'_, f64>,
    target: ArrayView2<'_, f64>,
    time: f64,
) -> Result<(Array2<f64>, Array1<f64>)> {
    check_length("the rows of plan", plan.nrows(), "the samples of source", source.nrows())?;
    check_length("the columns of plan", plan.ncols(), "the samples of target", target.nrows())?;
    check_same_width(source, target)?;
    if !(0.0..=1.0).contains(&time) {
        return Err(Error::Argument {
            name: "t",
            value: time.to_string(),
            rule: "it lies between 0 (the source) and 1 (the target)",
        });
    }
    let pairs: Vec<((usize, usize), f64)> = plan
        .indexed_iter()
        .filter(|(_, mass)| **mass > 0.0)
        .map(|(pair, mass)| (pair, *mass))
        .collect();
    let mut points = Array2::zeros((pairs.len(), source.ncols()));
    for (mut point, ((from, to), _)) in points.rows_mut().into_iter().zip(&pairs) {
        point.scaled_add(1.0 - time, &source.row(*from));
        point.scaled_add(time, &target.row(*to));
    }
    Ok((points, pairs.into_iter().map(|(_, mass)| mass).collect()))
}

/// Moves points that were not in the problem: each as far as its nearest source sample (the lowest index
/// among equals) was moved. What becomes of a point does not depend on the points it comes with.
pub fn map_by_nearest_source(
    points: ArrayView2<'_, f64>,
    source: ArrayView2<'_, f64>,
    mapped_source: ArrayView2<'_, f64>,
) -> Result<Array2<f64>> {
    check_finite("points", points)?;
    check_finite("source", source)?;
    check_same_width(source, points)?;
    check_length("mapped_source", mapped_source.nrows(), "source", source.nrows())?;
    check_same_width(source, mapped_source)?;
    if source.nrows() == 0 {
        return Err(Error::Empty { rows: 0, columns: points.nrows() });
    }
    let mut mapped = points.to_owned();
    for (mut point, original) in mapped.rows_mut().into_iter().zip(points.rows()) {
        let nearest = nearest_row(source, original);
        point += &mapped_source.row(nearest);
        point -= &source.row(nearest);
    }
    Ok(mapped)
}

fn nearest_row(samples: ArrayView2<'_, f64>, point: ArrayView1<'_, f64>) -> usize {
    let mut best = (0, f64::INFINITY);
    for (index, sample) in samples.rows().into_iter().enumerate() {
        let distance = sample.iter().zip(point).map(|(x, y)| (x - y) * (x - y)).sum();
        if distance < best.1 {
            best = (index, distance);
        }
    }
    best.0
}

/// The entropic map, continuous in the point: the mean of the target samples weighted by
/// exp((g_j − ‖x − x_j‖²)/λ), which at a source sample is its barycentric image under the entropic plan.
pub fn map_by_potentials(
    points: ArrayView2<'_, f64>,
    target: ArrayView2<'_, f64>,
    potentials: &Potentials,
    entropy_weight: f64,
) -> Result<Array2<f64>> {
    check_finite("points", points)?;
    check_finite("target", target)?;
    check_same_width(points, target)?;
    check_length("the target potentials", potentials.target.len(), "target", target.nrows())?;
    entropic::check(&[entropy_weight], &entropic::Options::default())?;
    if potentials.target.iter().all(|potential| *potential == f64::NEG_INFINITY) {
        // Nobody to map to; also where there are no target samples at all.
        return Err(Error::Empty { rows: points.nrows(), columns: 0 });
    }
    let mut mapped = Array2::zeros(points.dim());
    for (index, mut image) in mapped.rows_mut().into_iter().enumerate() {
        // One point at a time, so that rounding does not depend on the batch either.
        let costs = squared_distances(points.slice(ndarray::s![index..=index, ..]), target);
        let scores: Array1<f64> = (&potentials.target - &costs.row(0)) / entropy_weight;
        let largest = scores.fold(f64::NEG_INFINITY, |largest, &score| largest.max(score));
        let weights = scores.mapv(|score| (score - largest).exp());
        image.assign(&weights.dot(&target));
        image /= weights.sum();
    }
    Ok(mapped)
}
