//! The matrices of locality preserving projections, XᵀLX and XᵀDX, of a graph of nearest neighbours.

use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::error::{Error, Result};

/// XᵀLX and XᵀDX, for the graph that joins each sample with its nearest ones, in either direction.
pub(crate) fn locality_matrices(
    samples: ArrayView2<'_, f64>,
    neighbours: usize,
) -> Result<(Array2<f64>, Array2<f64>)> {
    let count = samples.nrows();
    if neighbours == 0 || neighbours >= count {
        return Err(Error::Parameter {
            name: "neighbours",
            value: neighbours.to_string(),
            rule: "at least 1 is needed, and fewer than there are samples in both domains together",
        });
    }
    let norms: Array1<f64> = samples.rows().into_iter().map(|row| row.dot(&row)).collect();
    let mut joined = vec![Vec::new(); count];
    let mut others: Vec<usize> = Vec::with_capacity(count);
    for (sample, row) in samples.rows().into_iter().enumerate() {
        let distances = &norms - &(samples.dot(&row) * 2.0);
        others.clear();
        others.extend((0..count).filter(|&other| other != sample));
        others.select_nth_unstable_by(neighbours - 1, |a, b| {
            distances[*a].total_cmp(&distances[*b]).then_with(|| a.cmp(b))
        });
        for &other in &others[..neighbours] {
            joined[sample].push(other);
            joined[other].push(sample);
        }
    }
    let mut laplacian_times = Array2::<f64>::zeros(samples.dim());
    let mut degree_times = samples.to_owned();
    for (sample, list) in joined.iter_mut().enumerate() {
        list.sort_unstable();
        list.dedup();
        degree_times.row_mut(sample).mapv_inplace(|value| value * list.len() as f64);
        let mut row = laplacian_times.index_axis_mut(Axis(0), sample);
        row += &degree_times.row(sample);
        for &other in &*list {
            row -= &samples.row(other);
        }
    }
    Ok((samples.t().dot(&laplacian_times), samples.t().dot(&degree_times)))
}
