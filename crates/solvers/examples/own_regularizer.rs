//! A regularizer beside the entropy, solved and certified: what CONTRIBUTING walks through.
//!
//! `cargo run -p solvers --example own_regularizer`

use ndarray::array;
use solvers::cost::{Metric, cost_matrix};
use solvers::entropic::Workspace;
use solvers::gcg::{GcgOptions, GcgProblem, GcgSolution, solve_gcg};
use solvers::marginals::uniform_mass;
use solvers::regularizers::Quadratic;

/// Four source samples, three target samples, and Ω of `crates/solvers/src/regularizers/quadratic.rs` with weight η.
fn plan(regularization_weight: f64) -> solvers::Result<GcgSolution> {
    let source = array![[0.0, 0.0], [0.2, 0.1], [3.0, 3.0], [3.1, 2.8]];
    let target = array![[0.4, 0.5], [2.6, 2.4], [1.5, 1.6]];
    let cost = cost_matrix(source.view(), target.view(), Metric::SquaredEuclidean)?;
    let (source_mass, target_mass) = (uniform_mass(4), uniform_mass(3));
    let problem = GcgProblem {
        cost: cost.view(),
        source_mass: &source_mass,
        target_mass: &target_mass,
        entropy_weight: 0.1,
        regularizer: &Quadratic::new(&source_mass, &target_mass),
        regularization_weight,
    };
    solve_gcg(&problem, None, &mut Workspace::default(), &GcgOptions::default())
}

fn main() -> solvers::Result<()> {
    for regularization_weight in [0.0, 10.0, 1000.0] {
        let solution = plan(regularization_weight)?;
        println!(
            "η = {regularization_weight}: {:.3} of the first sample's 0.250 stays near; duality gap {:.1e}, {}",
            solution.plan[[0, 0]],
            solution.duality_gap,
            solution.stop
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_certified_and_spreads_as_the_weight_grows() {
        let share_that_stays = |weight| {
            let solution = plan(weight).unwrap();
            assert!(solution.duality_gap <= 1e-6 * solution.objective.total().abs());
            solution.plan[[0, 0]]
        };
        let (sharp, smooth) = (share_that_stays(0.0), share_that_stays(1000.0));
        assert!(sharp > 0.16 && (smooth - 1.0 / 12.0).abs() < 0.01, "{sharp}, {smooth}");
    }
}
