//! The derivatives that the solver uses, against finite differences of what they are derivatives of.

use ndarray::Array2;

use super::GroupLassoProblem;
use super::columns::Precision;
use super::curvature::Curvature;
use super::kernel::Kernel;
use super::problem::Problem;

const LAMBDA: f64 = 0.3;
const SHAPES: [(usize, usize); 2] = [(6, 9), (9, 6)];

/// Calls `check` with problems of both shapes, and with a light and a heavy group term.
fn for_all_problems(check: impl Fn(&Problem<'_>, &[f64])) {
    for (sources, targets) in SHAPES {
        for eta in [0.01, 0.5, 20.0] {
            let cost = Array2::from_shape_fn((sources, targets), |(row, column)| {
                ((row * 7 + column * 5) % 11) as f64 / 4.0
            });
            let labels: Vec<usize> = (0..sources).map(|row| row % 3).collect();
            let problem = GroupLassoProblem {
                cost: cost.view(),
                source_mass: &vec![1.0 / sources as f64; sources],
                target_mass: &vec![1.0 / targets as f64; targets],
                source_labels: &labels,
                regularization_weight: eta,
            };
            let potential: Vec<f64> =
                (0..sources).map(|row| (row * row % 5) as f64 / 3.0).collect();
            check(&Problem::new(&problem).unwrap(), &potential);
        }
    }
}

/// The kernel at `potential + step · direction` and λ, and the dual value there.
fn at(
    problem: &Problem<'_>,
    (potential, direction): (&[f64], &[f64]),
    step: f64,
    lambda: f64,
) -> (Kernel, f64) {
    let mut kernel = Kernel::default();
    kernel.resize(problem);
    for ((value, start), direction) in kernel.potential.iter_mut().zip(potential).zip(direction) {
        *value = start + step * direction;
    }
    let value = kernel.evaluate(problem, lambda, Precision::Double).value;
    (kernel, value)
}

/// Any direction that sums to zero.
fn direction(length: usize) -> Vec<f64> {
    let middle = (length - 1) as f64 / 2.0;
    (0..length).map(|position| ((position * 5 % length) as f64 - middle) / 7.0).collect()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    let scale = expected.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-6 * scale, "{found}, not {expected}");
    }
}

fn marginal_slope(ahead: &Kernel, behind: &Kernel, step: f64) -> Vec<f64> {
    let pairs = ahead.marginal.iter().zip(&behind.marginal);
    pairs.map(|(ahead, behind)| (ahead - behind) / (2.0 * step)).collect()
}

#[test]
fn the_gradient_of_the_dual_is_what_the_marginal_lacks() {
    for_all_problems(|problem, potential| {
        for source in 0..potential.len() {
            let mut unit = vec![0.0; potential.len()];
            unit[source] = 1.0;
            let step = 1e-5;
            let (_, ahead) = at(problem, (potential, &unit), step, LAMBDA);
            let (_, behind) = at(problem, (potential, &unit), -step, LAMBDA);
            let (kernel, _) = at(problem, (potential, &unit), 0.0, LAMBDA);
            let gradient = problem.source_mass[source] - kernel.marginal[source];
            assert!(((ahead - behind) / (2.0 * step) - gradient).abs() <= 1e-8);
        }
    });
}

#[test]
fn newtons_direction_moves_the_marginal_as_asked() {
    for_all_problems(|problem, potential| {
        let rhs = direction(potential.len());
        let (kernel, _) = at(problem, (potential, &rhs), 0.0, LAMBDA);
        let mut curvature = Curvature::default();
        curvature.resize(problem);
        assert!(curvature.assemble_blocks(problem, &kernel, 1e-12));
        let mut iterative = vec![0.0; rhs.len()];
        assert!(curvature.solve_iteratively(problem, &kernel, &rhs, &mut iterative, 1e-10, 100));
        assert!(curvature.factor(problem, &kernel));
        let mut direct = vec![0.0; rhs.len()];
        curvature.solve_directly(problem, &kernel, &rhs, &mut direct);
        for solution in [&iterative, &direct] {
            let size = solution.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
            let step = 1e-5 / size;
            let (ahead, _) = at(problem, (potential, solution), step, LAMBDA);
            let (behind, _) = at(problem, (potential, solution), -step, LAMBDA);
            let moved = marginal_slope(&ahead, &behind, step);
            assert_close(&moved.iter().map(|slope| slope * LAMBDA).collect::<Vec<_>>(), &rhs);
        }
    });
}

#[test]
fn the_spread_is_the_derivative_of_the_marginal_by_the_entropy_weight() {
    for_all_problems(|problem, potential| {
        let still = vec![0.0; potential.len()];
        let step = 1e-6;
        let (ahead, _) = at(problem, (potential, &still), 0.0, LAMBDA + step);
        let (behind, _) = at(problem, (potential, &still), 0.0, LAMBDA - step);
        let (kernel, _) = at(problem, (potential, &still), 0.0, LAMBDA);
        let mut spread = still;
        kernel.spread(problem, &mut spread);
        let slope = marginal_slope(&ahead, &behind, step);
        assert_close(&slope.iter().map(|slope| -slope * LAMBDA).collect::<Vec<_>>(), &spread);
    });
}

#[test]
fn each_group_fulfils_its_optimality_condition() {
    for_all_problems(|problem, potential| {
        let still = vec![0.0; potential.len()];
        let (kernel, _) = at(problem, (potential, &still), 0.0, LAMBDA);
        for target in 0..problem.targets.len() {
            for class in 0..problem.classes() {
                let norm = kernel.norms[target * problem.classes() + class];
                let mut squares = 0.0;
                for source in problem.class(class) {
                    let value = kernel.values[target * potential.len() + source];
                    let mass = value * problem.target_mass[target].sqrt();
                    squares += mass * mass;
                    let pair = (problem.sources[source], problem.targets[target]);
                    let slack =
                        potential[source] + kernel.target_potential[target] - problem.cost[pair];
                    let found = LAMBDA * mass.ln() + problem.regularization_weight * mass / norm;
                    assert!((found - slack).abs() <= 1e-10, "{found}, not {slack}");
                }
                assert!((squares.sqrt() - norm).abs() <= 1e-12 * norm);
            }
        }
    });
}
