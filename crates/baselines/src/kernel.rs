//! Kernels between samples, and what they need to be shared over a grid of their parameters.
//!
//! Linear: k(x, q) = ⟨x, q⟩. Gaussian: k(x, q) = exp(−γ‖x − q‖²); one matrix of squared distances serves
//! every γ.

use std::cell::OnceCell;

use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::error::{Error, Result};
use crate::exponential::decay;

/// A kernel with its parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// ⟨x, q⟩.
    Linear,
    /// exp(−γ‖x − q‖²).
    Gaussian {
        /// γ, above 0.
        gamma: f64,
    },
}

/// Two sets of samples between which kernels are wanted.
pub struct KernelPairs<'a> {
    rows: ArrayView2<'a, f64>,
    columns: ArrayView2<'a, f64>,
    squared_distances: OnceCell<Array2<f64>>,
}

impl<'a> KernelPairs<'a> {
    /// Between each of `rows` (queries, say) and each of `columns` (training samples).
    pub fn new<'rows: 'a, 'columns: 'a>(
        rows: ArrayView2<'rows, f64>,
        columns: ArrayView2<'columns, f64>,
    ) -> Result<Self> {
        if columns.is_empty() {
            return Err(Error::Empty { what: "the training set" });
        }
        if rows.ncols() != columns.ncols() {
            return Err(Error::WidthMismatch { training: columns.ncols(), queries: rows.ncols() });
        }
        check_finite("training samples", columns)?;
        check_finite("queries", rows)?;
        let (rows, columns) = (rows.reborrow(), columns.reborrow());
        Ok(Self { rows, columns, squared_distances: OnceCell::new() })
    }

    /// Between the samples of one set.
    pub fn within(samples: ArrayView2<'a, f64>) -> Result<Self> {
        Self::new(samples, samples)
    }

    /// The kernel's matrix.
    pub fn matrix(&self, kernel: Kernel) -> Result<Array2<f64>> {
        let matrix = match kernel {
            Kernel::Linear => self.rows.dot(&self.columns.t()),
            Kernel::Gaussian { gamma } => {
                check_positive("gamma", gamma)?;
                let mut matrix = self.squared_distances().clone();
                match matrix.as_slice_memory_order_mut() {
                    Some(distances) => decay(distances, gamma),
                    None => matrix.mapv_inplace(|distance| (-gamma * distance).exp()),
                }
                matrix
            }
        };
        if matrix.iter().all(|value| value.is_finite()) { Ok(matrix) } else { Err(Error::Overflow) }
    }

    fn squared_distances(&self) -> &Array2<f64> {
        self.squared_distances.get_or_init(|| {
            // ‖x‖² − 2⟨x, q⟩ + ‖q‖² cancels far from the origin.
            let centre = self.columns.mean_axis(Axis(0)).unwrap_or_default();
            let (rows, columns) = (&self.rows - &centre, &self.columns - &centre);
            let norms = |samples: &Array2<f64>| -> Array1<f64> {
                samples.rows().into_iter().map(|sample| sample.dot(&sample)).collect()
            };
            let mut distances = rows.dot(&columns.t());
            distances *= -2.0;
            distances += &norms(&columns);
            distances += &norms(&rows).insert_axis(Axis(1));
            // Not `max`, which would turn the NaN of ∞ − ∞ into a distance of 0.
            distances.mapv_inplace(|distance| if distance < 0.0 { 0.0 } else { distance });
            distances
        })
    }
}

/// Fails with the argument's name unless it is finite and above 0.
pub(crate) fn check_positive(argument: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(Error::NotPositive { argument, value: value.to_string() })
    }
}

/// Fails with the place of the first value that is no number.
pub(crate) fn check_finite(what: &'static str, matrix: ArrayView2<'_, f64>) -> Result<()> {
    match matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), _)) => {
            Err(Error::NotFinite { what, row: row + 1, column: column + 1 })
        }
        None => Ok(()),
    }
}

/// Fails unless the kernel matrix is square, finite and of one row a sample.
pub(crate) fn check_gram(gram: ArrayView2<'_, f64>, samples: usize) -> Result<()> {
    if samples == 0 {
        return Err(Error::Empty { what: "the training set" });
    }
    check_shape("the kernel matrix", gram, (samples, samples))?;
    check_finite("the kernel matrix", gram)
}

/// Fails unless the matrix has this shape.
pub(crate) fn check_shape(
    what: &'static str,
    matrix: ArrayView2<'_, f64>,
    (needed_rows, needed_columns): (usize, usize),
) -> Result<()> {
    let (rows, columns) = matrix.dim();
    if (rows, columns) == (needed_rows, needed_columns) {
        Ok(())
    } else {
        Err(Error::MatrixShape { what, rows, columns, needed_rows, needed_columns })
    }
}

/// The rows and columns of a kernel matrix at these samples.
pub(crate) fn sub_matrix(
    gram: ArrayView2<'_, f64>,
    rows: &[usize],
    columns: &[usize],
) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), columns.len()), |(i, j)| gram[[rows[i], columns[j]]])
}
