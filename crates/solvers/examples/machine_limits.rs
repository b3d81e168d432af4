//! How far the inner loops are from what the machine can do: the pass of Sinkhorn's iteration beside the bandwidth
//! of memory, and squared Euclidean costs beside faer's matrix product. One thread.
//!
//! ```text
//! cargo run -p solvers --example machine_limits
//! ```
//!
//! prints one JSON object: GB/s and GFLOP/s. Matrices have `SIZE` rows and columns, far more than a cache holds.

use std::hint::black_box;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use multiversion::multiversion;
use ndarray::Array2;
use solvers::cost::{Metric, cost_matrix};

use loops::{accumulate_four, dot_four};
use timing::seconds_of_fastest;

// The loops are private to the library. Their own file is compiled here, so that what is measured is what runs.
#[path = "../src/loops.rs"]
mod loops;
#[path = "machine_limits/timing.rs"]
mod timing;

const SIZE: usize = 4000;
/// That of the faces.
const WIDTH: usize = 1024;
const F64: usize = std::mem::size_of::<f64>();

fn main() {
    let cells = SIZE * SIZE;
    let (mut first, second, mut third) = (vec![0.5; cells], vec![1.5; cells], vec![2.5; cells]);
    let gigabytes = |arrays: usize, seconds: f64| (arrays * cells * F64) as f64 / seconds / 1e9;

    let read = gigabytes(1, seconds_of_fastest(|| black_box(sum(&second))));
    let copy = gigabytes(2, seconds_of_fastest(|| black_box(&mut first).copy_from_slice(&second)));
    let triad = gigabytes(3, seconds_of_fastest(|| add_scaled(&mut third, &first, &second, 0.25)));

    let masses = vec![1.0 / SIZE as f64; SIZE];
    let mut scaling = vec![1.0; SIZE];
    let mut sums = vec![0.0; SIZE];
    let pass = seconds_of_fastest(|| sinkhorn_pass(&second, &masses, &mut scaling, &mut sums));
    let sinkhorn = gigabytes(1, pass);

    let flops = (2 * cells * WIDTH) as f64;
    let samples = |shift: f64| {
        Array2::from_shape_fn((SIZE, WIDTH), |(row, column)| {
            (row * 7 + column * 13) as f64 % 17.0 + shift
        })
    };
    let (x, y) = (samples(0.0), samples(1.0));
    let cost = seconds_of_fastest(|| cost_matrix(x.view(), y.view(), Metric::SquaredEuclidean));
    let gemm = seconds_of_fastest(gemm_of_the_same_shape());

    println!(
        "{{\"size\": {SIZE}, \"width\": {WIDTH}, \"read_gb\": {read:.3}, \"copy_gb\": {copy:.3}, \
         \"triad_gb\": {triad:.3}, \"sinkhorn_gb\": {sinkhorn:.3}, \"cost_gflop\": {:.3}, \
         \"gemm_gflop\": {:.3}}}",
        flops / cost / 1e9,
        flops / gemm / 1e9,
    );
}

/// One iteration of Sinkhorn on a kernel K, as `entropic` makes it: b ← b / (Kᵀ(a / K v)) with four rows at a time,
/// each read from memory once and for the second product from cache.
fn sinkhorn_pass(kernel: &[f64], masses: &[f64], scaling: &mut [f64], sums: &mut [f64]) {
    sums.fill(0.0);
    let width = scaling.len();
    for (rows, masses) in kernel.chunks_exact(4 * width).zip(masses.chunks_exact(4)) {
        let mut factors = dot_four(rows, scaling);
        for (factor, mass) in factors.iter_mut().zip(masses) {
            *factor = mass / *factor;
        }
        accumulate_four(rows, &factors, sums);
    }
    for ((scaling, sum), mass) in scaling.iter_mut().zip(sums).zip(masses) {
        *scaling = mass / *sum;
    }
}

/// Reading alone: enough sums at once to keep memory busy.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
fn sum(values: &[f64]) -> f64 {
    let (chunks, _) = values.as_chunks::<32>();
    let mut sums = [0.0; 32];
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value;
        }
    }
    sums.iter().sum()
}

/// STREAM's triad.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
fn add_scaled(output: &mut [f64], first: &[f64], second: &[f64], factor: f64) {
    for ((output, first), second) in output.iter_mut().zip(first).zip(second) {
        *output = first + factor * second;
    }
    black_box(output);
}

fn gemm_of_the_same_shape() -> impl FnMut() {
    let left = Mat::from_fn(SIZE, WIDTH, |row, column| (row + column) as f64 % 5.0);
    let right = Mat::from_fn(WIDTH, SIZE, |row, column| (row + 2 * column) as f64 % 3.0);
    let mut output = Mat::zeros(SIZE, SIZE);
    move || {
        matmul(output.as_mut(), Accum::Replace, left.as_ref(), right.as_ref(), 1.0, Par::Seq);
        black_box(output.as_ref());
    }
}
