//! How an entropic plan γ of weight λ responds to its costs: with V added to them it moves by −P V/λ to first order, with
//! P V = γ∘(V − u ⊕ v) and such u and v that the marginals stay.

use faer::{Accum, MatRef};
use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;

use super::sides::{Destinations, Sides, moved_by, write_gradient};
use crate::cholesky::{cholesky, cholesky_solve, complete_laplacian};
use crate::entropic::Potentials;
use crate::loops::{dot, multiply_and_sum, scale_and_accumulate, subtract_products};
use crate::parts::{add_all, rows_of_a_part};
use crate::product::write_upper_gram;
use crate::rows::entries;

/// Of the target masses, added to the system, which is singular on constants, and on more where a plan falls apart.
const DAMPING: f64 = 1e-10;

/// The response at one plan.
pub(super) struct Response<'a> {
    plan: ArrayView2<'a, f64>,
    source_mass: &'a [f64],
    /// The Cholesky factor of diag(b) − γᵀ diag(1/a) γ, column by column.
    factor: Vec<f64>,
    scratch: Array2<f64>,
}

impl<'a> Response<'a> {
    /// `None` where the system is numerically singular.
    pub(super) fn at(
        plan: ArrayView2<'a, f64>,
        (source_mass, target_mass): (&'a [f64], &[f64]),
    ) -> Option<Self> {
        let (rows, columns) = plan.dim();
        let mut scratch = plan.to_owned();
        for (mut row, mass) in scratch.rows_mut().into_iter().zip(source_mass) {
            row *= if *mass > 0.0 { mass.sqrt().recip() } else { 0.0 };
        }
        let weights = MatRef::from_column_major_slice(scratch.as_slice()?, columns, rows);
        let mut factor = vec![0.0; columns * columns];
        write_upper_gram(-1.0, weights, &mut factor);
        // Targets without mass are joined to nothing: the system of each is its own.
        let damped: Vec<f64> =
            target_mass.iter().map(|&mass| if mass > 0.0 { mass } else { 1.0 }).collect();
        complete_laplacian(&mut factor, &damped, DAMPING);
        cholesky(&mut factor, columns).then_some(Self { plan, source_mass, factor, scratch })
    }

    /// The moved samples of P V, and u and v, for V = S₁ X_tᵀ + X_s S₂ᵀ.
    pub(super) fn to(
        &mut self,
        slopes: &Sides,
        destinations: &Destinations<'_>,
    ) -> (Sides, Potentials) {
        write_gradient(1.0, slopes, destinations, Accum::Replace, &mut self.scratch);
        let (rows, columns) = self.plan.dim();
        let of_a_part = rows_of_a_part(rows, columns, 1);
        let (plan, source_mass) = (self.plan, self.source_mass);
        let (mut by_source, mut by_target) = (vec![0.0; rows], vec![0.0; columns]);
        // A matrix of ours is contiguous.
        let values = self.scratch.as_slice_mut().unwrap_or_default();
        let parts: Vec<Vec<f64>> = values
            .par_chunks_mut(of_a_part * columns)
            .zip(by_source.par_chunks_mut(of_a_part))
            .enumerate()
            .map(|(part, (values, by_source))| {
                let mut sums = vec![0.0; columns];
                for (offset, (values, mean)) in
                    values.chunks_exact_mut(columns).zip(by_source).enumerate()
                {
                    let row = part * of_a_part + offset;
                    if source_mass[row] > 0.0 {
                        let masses = entries(plan.row(row));
                        *mean = multiply_and_sum(values, &masses) / source_mass[row];
                        scale_and_accumulate(values, 1.0, &mut sums);
                        scale_and_accumulate(&masses, -*mean, &mut sums);
                    } else {
                        values.fill(0.0);
                    }
                }
                sums
            })
            .collect();
        add_all(parts, &mut by_target);
        cholesky_solve(&self.factor, &mut by_target);
        values
            .par_chunks_mut(of_a_part * columns)
            .zip(by_source.par_chunks_mut(of_a_part))
            .enumerate()
            .for_each(|(part, (values, by_source))| {
                for (offset, (values, own)) in
                    values.chunks_exact_mut(columns).zip(by_source).enumerate()
                {
                    let row = part * of_a_part + offset;
                    if source_mass[row] > 0.0 {
                        let masses = entries(plan.row(row));
                        *own -= dot(&masses, &by_target) / source_mass[row];
                        subtract_products(values, &masses, *own, &by_target);
                    }
                }
            });
        let moved = moved_by(self.scratch.view(), destinations);
        (moved, Potentials { source: Array1::from(by_source), target: Array1::from(by_target) })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::Response;
    use crate::entropic::{self, Workspace};
    use crate::gcg::sides::{add_scaled, moved_by, write_gradient};
    use crate::marginals::uniform_mass;

    #[test]
    fn it_is_the_derivative_of_the_moved_samples() {
        let spread = |rows: usize, columns: usize, shift: f64| {
            Array2::from_shape_fn((rows, columns), |(i, j)| ((i * i + 3 * j) as f64 + shift).sin())
        };
        let (source, target) = (spread(9, 2, 0.0), spread(7, 2, 0.5));
        let slopes = [spread(9, 2, 1.0), spread(7, 2, 2.0)];
        let destinations = [target.view(), source.view()];
        let (mut a, mut b) = (uniform_mass(9), uniform_mass(7));
        // Samples without mass have no response.
        (a[3], a[4]) = (a[3] + a[4], 0.0);
        (b[1], b[2]) = (b[1] + b[2], 0.0);
        let (cost, weight) = (spread(9, 7, 0.2), 0.3);
        let options = entropic::Options { tolerance: 1e-13, ..entropic::Options::default() };
        let solve = |step: f64| {
            let mut costs = cost.clone();
            write_gradient(step, &slopes, &destinations, faer::Accum::Add, &mut costs);
            let workspace = &mut Workspace::default();
            entropic::solve(costs.view(), &a, &b, weight, None, workspace, &options).unwrap()
        };
        let here = solve(0.0);
        let mut response = Response::at(here.plan.view(), (&a, &b)).unwrap();
        let (moved, potentials) = response.to(&slopes, &destinations);
        let step = 1e-4;
        let [before, after] = [solve(-step), solve(step)];
        let mut difference = moved_by(after.plan.view(), &destinations);
        add_scaled(&mut difference, -1.0, &moved_by(before.plan.view(), &destinations));
        for (expected, found) in difference.iter().zip(&moved) {
            let error = (&(expected * (-weight / (2.0 * step))) - found).mapv(f64::abs).sum();
            assert!(error <= 1e-6, "{error}");
        }
        // Potentials are known up to a constant that goes from one side to the other.
        let slope = |after: f64, before: f64| (after - before) / (2.0 * step);
        let sums = |row: usize, column: usize| {
            let expected = slope(after.potentials.source[row], before.potentials.source[row])
                + slope(after.potentials.target[column], before.potentials.target[column]);
            let found = potentials.source[row] + potentials.target[column];
            (expected, found)
        };
        for (row, column) in [(0, 0), (3, 6), (8, 5)] {
            let (expected, found) = sums(row, column);
            assert!((expected - found).abs() <= 1e-5, "{expected} {found}");
        }
    }
}
