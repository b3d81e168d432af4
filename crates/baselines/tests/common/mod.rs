//! Synthetic domains, and dense linear algebra to compare with.
#![allow(dead_code, reason = "each test file uses its part")]

use faer::{Mat, Side};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Numbers in (−1, 1).
pub fn uniform(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_fn((rows, columns), |_| random.gen_range(-1.0..1.0_f64))
}

/// Samples with feature scales from 1 down to 0.1, around class centres that `shift` moves.
pub fn classes(
    per_class: usize,
    classes: usize,
    width: usize,
    shift: f64,
    seed: u64,
) -> (Array2<f64>, Vec<usize>) {
    let centres = uniform(classes, width, 7);
    let labels: Vec<usize> = (0..per_class * classes).map(|sample| sample % classes).collect();
    let mut samples = uniform(labels.len(), width, seed);
    for (mut sample, &label) in samples.axis_iter_mut(Axis(0)).zip(&labels) {
        sample += &centres.row(label);
        sample += shift;
    }
    let scales = Array1::linspace(1.0, 0.1, width);
    (samples * scales, labels)
}

pub fn centred(samples: ArrayView2<'_, f64>) -> Array2<f64> {
    &samples - &samples.mean_axis(Axis(0)).unwrap()
}

pub fn to_faer(matrix: ArrayView2<'_, f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |row, column| matrix[[row, column]])
}

/// Singular values and right singular vectors (columns) by a full decomposition.
pub fn right_singular(matrix: ArrayView2<'_, f64>) -> (Vec<f64>, Array2<f64>) {
    let svd = to_faer(matrix).thin_svd().unwrap();
    let right = svd.V();
    let vectors = Array2::from_shape_fn((right.nrows(), right.ncols()), |place| right[place]);
    (svd.S().column_vector().iter().copied().collect(), vectors)
}

/// Eigenvalues, smallest first, and eigenvectors (columns) of a symmetric matrix.
pub fn eigen(matrix: ArrayView2<'_, f64>) -> (Vec<f64>, Array2<f64>) {
    let eigen = to_faer(matrix).self_adjoint_eigen(Side::Lower).unwrap();
    let vectors = eigen.U();
    let vectors = Array2::from_shape_fn(matrix.dim(), |place| vectors[place]);
    (eigen.S().column_vector().iter().copied().collect(), vectors)
}

/// f(A) of a symmetric matrix A.
pub fn spectral(matrix: ArrayView2<'_, f64>, function: impl Fn(f64) -> f64) -> Array2<f64> {
    let (values, vectors) = eigen(matrix);
    let weights = Array1::from_iter(values.into_iter().map(function));
    (&vectors * &weights).dot(&vectors.t())
}

/// Inner products between all rows of the two: what is the same whatever basis an embedding is written in.
pub fn products(source: &Array2<f64>, target: &Array2<f64>) -> Array2<f64> {
    source.dot(&target.t())
}

pub fn assert_close(found: &Array2<f64>, expected: &Array2<f64>, tolerance: f64) {
    assert_eq!(found.dim(), expected.dim());
    let scale = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let worst = (found - expected).iter().fold(0.0_f64, |worst, value| worst.max(value.abs()));
    assert!(worst <= tolerance * scale, "off by {worst:e} at a scale of {scale:e}");
}
