//! How far the inner loops are from what the machine can do: the pass of Sinkhorn's iteration beside the bandwidth
//! of memory, and squared Euclidean costs beside faer's matrix product. One thread.
//!
//! ```text
//! cargo run -p solvers --example machine_limits
//! cargo run -p solvers --example machine_limits -- 200x479 1360x814
//! ```
//!
//! prints one JSON object: GB/s and GFLOP/s. Matrices have `SIZE` rows and columns, far more than a cache holds.
//!
//! Each shape that is named gets its floor, the seconds of what an entropic solver must do at least: a pass that reads each
//! cost, because every entry of the plan depends on all of them, and one that reads them again and writes
//! exp((f_i + g_j - c_ij) / λ), which is positive for every pair. Not even the page faults of new memory are counted. `one`
//! is on one thread, `all` on as many as help, up to `threads`.

use std::hint::black_box;
use std::process::ExitCode;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use multiversion::multiversion;
use multiversion::target::target_cfg_f;
use ndarray::Array2;
use rayon::prelude::*;
use solvers::cost::{Metric, cost_matrix};

use elementary::exp_one;
use loops::{accumulate_four, dot_four};
use timing::seconds_of_fastest;

// The loops are private to the library. Their own file is compiled here, so that what is measured is what runs.
#[path = "../src/elementary.rs"]
#[allow(dead_code, reason = "of its functions only exp is measured")]
mod elementary;
#[path = "../src/loops.rs"]
mod loops;
#[path = "machine_limits/timing.rs"]
mod timing;

const SIZE: usize = 4000;
/// That of the faces.
const WIDTH: usize = 1024;
const F64: usize = std::mem::size_of::<f64>();
fn main() -> ExitCode {
    let shapes: Vec<Shape> = match std::env::args_os()
        .skip(1)
        .map(|text| Shape::parse(&text.to_string_lossy()))
        .collect()
    {
        Ok(shapes) => shapes,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::from(2);
        }
    };
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
    let costs = || cost_matrix(x.view(), y.view(), Metric::SquaredEuclidean);
    let one_thread = match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool,
        Err(problem) => {
            eprintln!("cannot start a thread: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let cost = one_thread.install(|| seconds_of_fastest(costs));
    let gemm = seconds_of_fastest(gemm_of_the_same_shape());

    // Floors are last: by then the large arrays have been freed.
    drop((first, second, third, x, y));
    let floors: Vec<String> = shapes.iter().map(Shape::floor).collect();

    println!(
        "{{\"size\": {SIZE}, \"width\": {WIDTH}, \"read_gb\": {read:.3}, \"copy_gb\": {copy:.3}, \
         \"triad_gb\": {triad:.3}, \"sinkhorn_gb\": {sinkhorn:.3}, \"cost_gflop\": {:.3}, \
         \"gemm_gflop\": {:.3}, \"threads\": {}, \"floors\": [{}]}}",
        flops / cost / 1e9,
        flops / gemm / 1e9,
        rayon::current_num_threads(),
        floors.join(", "),
    );
    ExitCode::SUCCESS
}

/// Of a cost matrix.
struct Shape {
    rows: usize,
    columns: usize,
}

impl Shape {
    fn parse(text: &str) -> Result<Self, String> {
        text.split_once('x')
            .and_then(|(rows, columns)| Some((rows.parse().ok()?, columns.parse().ok()?)))
            .map(|(rows, columns)| Self { rows, columns })
            .filter(|shape| shape.rows.checked_mul(shape.columns).is_some_and(|pairs| pairs > 0))
            .ok_or_else(|| {
                format!("{text:?} is not a shape: write the rows and columns of a cost matrix as in 200x479")
            })
    }

    /// As JSON.
    fn floor(&self) -> String {
        let &Self { rows, columns } = self;
        let costs: Vec<f64> = (0..rows * columns).map(|pair| (pair % 17) as f64).collect();
        let row_potentials: Vec<f64> = (0..rows).map(|row| (row % 5) as f64).collect();
        let column_potentials: Vec<f64> = (0..columns).map(|column| (column % 3) as f64).collect();

        let mut plan = vec![0.0; costs.len()];
        let one = seconds_of_fastest(|| {
            black_box(sum(&costs));
            let rows = plan.chunks_exact_mut(columns).zip(costs.chunks_exact(columns));
            for ((plan, costs), &potential) in rows.zip(&row_potentials) {
                write_plan(plan, costs, potential, &column_potentials);
            }
            black_box(&plan);
        });
        let all = seconds_of_fastest(|| {
            black_box(costs.par_chunks_exact(columns).map(sum).sum::<f64>());
            let rows = plan.par_chunks_exact_mut(columns).zip(costs.par_chunks_exact(columns));
            rows.zip(&row_potentials).for_each(|((plan, costs), &potential)| {
                write_plan(plan, costs, potential, &column_potentials);
            });
            black_box(&plan);
        });
        // Who may use all threads may also use one, which is faster where the shape is small.
        let all = all.min(one);
        format!(
            "{{\"rows\": {rows}, \"columns\": {columns}, \"one\": {one:.9}, \"all\": {all:.9}}}"
        )
    }
}

/// One row of the plan at potentials f and g, and λ = 1.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn write_plan(plan: &mut [f64], costs: &[f64], row_potential: f64, column_potentials: &[f64]) {
    const FUSED: bool = target_cfg_f!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    for ((entry, cost), potential) in plan.iter_mut().zip(costs).zip(column_potentials) {
        *entry = exp_one::<FUSED>(row_potential + potential - cost);
    }
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
