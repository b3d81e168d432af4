//! How far the nearest neighbour is from what the machine can do: its GFLOP/s beside those of faer's matrix product of
//! the same shape. One thread.
//!
//! ```text
//! cargo run -p baselines --example nearest_limits
//! ```
//!
//! prints one JSON object.

use std::hint::black_box;

use baselines::nearest_neighbours;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use ndarray::Array2;

use timing::seconds_of_fastest;

#[path = "../../solvers/examples/machine_limits/timing.rs"]
mod timing;

const TRAINING: usize = 1360;
const QUERIES: usize = 1666;
const WIDTH: usize = 1024;

fn main() {
    // Faces: 20 samples of 68 persons, half of the images of another pose, 32×32 pixels.
    let training = Array2::from_shape_fn((TRAINING, WIDTH), |(row, column)| value(row, column));
    let queries = Array2::from_shape_fn((QUERIES, WIDTH), |(row, column)| value(column, row));
    let nearest = seconds_of_fastest(|| nearest_neighbours(training.view(), queries.view()));

    let left = Mat::from_fn(QUERIES, WIDTH, value);
    let right = Mat::from_fn(WIDTH, TRAINING, value);
    let mut output = Mat::zeros(QUERIES, TRAINING);
    let gemm = seconds_of_fastest(|| {
        matmul(output.as_mut(), Accum::Replace, left.as_ref(), right.as_ref(), 1.0, Par::Seq);
        black_box(output.as_ref());
    });

    let flops = (2 * TRAINING * QUERIES * WIDTH) as f64;
    println!(
        "{{\"training\": {TRAINING}, \"queries\": {QUERIES}, \"width\": {WIDTH}, \
         \"nearest_gflop\": {:.3}, \"gemm_gflop\": {:.3}}}",
        flops / nearest / 1e9,
        flops / gemm / 1e9,
    );
}

/// Values without ties between distances.
fn value(row: usize, column: usize) -> f64 {
    ((row * 31 + column * 17) as f64).sin()
}
