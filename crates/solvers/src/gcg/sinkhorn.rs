//! Sinkhorn's iteration for the direction problems: a few cheap sweeps from good potentials, in one fused
//! pass over a stabilized kernel each. It gives up where they do not suffice; `entropic` then takes over.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;

use crate::elementary::exp_shifted;
use crate::entropic::Potentials;
use crate::loops::{accumulate_four, dot, dot_four, scale_and_accumulate, scale_by, slack_and_max};
use crate::parts::{add_all, rows_of_a_part};
use crate::rows::entries;

/// A sweep costs about a thirtieth of a Newton step, and a solve takes several of those.
const SWEEPS: usize = 30;
/// Sweeps between two looks at how fast the error falls.
const PATIENCE: usize = 8;

/// Sweeps that a lower bound is worth.
const BOUND_SWEEPS: usize = 16;

/// Of a column, in a bound: entries below exp(−708) of the largest of a row are zeros.
const LARGEST_SCALING: f64 = 1e100;

/// What a success says.
pub(super) struct Balanced {
    /// Of the column sums, before they were moved onto the marginal.
    pub(super) error: f64,
    /// A lower bound of ⟨γ, C⟩ + w Σ γ ln γ over the plans.
    pub(super) lower_bound: f64,
}

/// Balances exp((f ⊕ g − C)/w) from the target potentials given, until the column sums are off by the
/// tolerance, and moves the result onto the marginals. On success `plan` holds it, and the potentials are
/// those of it; otherwise they are what the sweeps came to.
pub(super) fn balance(
    cost: ArrayView2<'_, f64>,
    (source_mass, target_mass): (&[f64], &[f64]),
    weight: f64,
    potentials: &mut Potentials,
    tolerance: f64,
    plan: &mut Array2<f64>,
) -> Option<Balanced> {
    let masses = (source_mass, target_mass);
    let mut kernel = Kernel::at(cost, source_mass, weight, potentials, plan)?;
    let mut reference = f64::INFINITY;
    let first_error = kernel.column_error(target_mass);
    for sweep in 0..SWEEPS {
        let error = kernel.column_error(target_mass);
        if error <= tolerance {
            let lower_bound = kernel.dual_value(weight, masses, potentials);
            kernel.write_potentials(weight, potentials);
            kernel.into_plan(source_mass, target_mass);
            return Some(Balanced { error, lower_bound });
        }
        if sweep % PATIENCE == 0 {
            let rate = (error / reference).powf((PATIENCE as f64).recip());
            let forecast = error * rate.powf((SWEEPS - sweep) as f64);
            let is_reachable = forecast <= tolerance;
            // A NaN is not.
            if !is_reachable {
                break;
            }
            reference = error;
        }
        kernel.sweep(masses);
    }
    // What was gained is a start for others.
    if kernel.column_error(target_mass) < first_error {
        kernel.write_potentials(weight, potentials);
    }
    None
}

/// A lower bound of ⟨γ, C⟩ + w Σ γ ln γ over the plans: the dual value at the target potentials given, and
/// after a few sweeps. `entries` is scratch.
pub(super) fn lower_bound(
    cost: ArrayView2<'_, f64>,
    masses: (&[f64], &[f64]),
    weight: f64,
    potentials: &Potentials,
    entries: &mut Array2<f64>,
) -> f64 {
    let Some(mut kernel) = Kernel::at(cost, masses.0, weight, potentials, entries) else {
        return f64::NEG_INFINITY;
    };
    let first = kernel.dual_value(weight, masses, potentials);
    for _ in 0..BOUND_SWEEPS {
        kernel.sweep(masses);
    }
    // An overflow in the sweeps is a NaN, which `max` passes over.
    first.max(kernel.dual_value(weight, masses, potentials)).max(f64::NEG_INFINITY)
}

/// exp((f ⊕ g − C)/w) with row sums equal to the masses: entries, a factor for each row and one for each column.
struct Kernel<'a> {
    /// The largest of a row is 1 at first.
    entries: &'a mut Array2<f64>,
    /// The source potentials that the entries contain.
    source: Vec<f64>,
    row_scaling: Vec<f64>,
    scaling: Vec<f64>,
    /// The column sums of the entries with their row scalings.
    sums: Vec<f64>,
    rows_of_a_part: usize,
}

impl<'a> Kernel<'a> {
    fn at(
        cost: ArrayView2<'_, f64>,
        source_mass: &[f64],
        weight: f64,
        potentials: &Potentials,
        kernel: &'a mut Array2<f64>,
    ) -> Option<Self> {
        let target = entries(potentials.target.view());
        let width = target.len();
        let rows_of_a_part = rows_of_a_part(source_mass.len(), width, 4);
        let (mut source, mut row_scaling) = (vec![0.0; source_mass.len()], source_mass.to_vec());
        let parts: Option<Vec<Vec<f64>>> = kernel
            .as_slice_mut()?
            .par_chunks_mut(rows_of_a_part * width)
            .zip(source.par_chunks_mut(rows_of_a_part))
            .zip(row_scaling.par_chunks_mut(rows_of_a_part))
            .enumerate()
            .map(|(part, ((values, source), row_scaling))| {
                let mut sums = vec![0.0; width];
                let rows = values.chunks_exact_mut(width).zip(source).zip(row_scaling);
                for (offset, ((row, source), scaling)) in rows.enumerate() {
                    let place = part * rows_of_a_part + offset;
                    if *scaling == 0.0 {
                        // No mass, and perhaps no allowed pair.
                        row.fill(0.0);
                        continue;
                    }
                    let costs = cost.index_axis(Axis(0), place);
                    let largest = slack_and_max(&entries(costs), &target, row);
                    if !largest.is_finite() {
                        return None;
                    }
                    *source = -largest;
                    // It held the mass.
                    *scaling /= exp_shifted(row, largest, weight.recip());
                    scale_and_accumulate(row, *scaling, &mut sums);
                }
                Some(sums)
            })
            .collect();
        let mut sums = vec![0.0; width];
        add_all(parts?, &mut sums);
        let scaling = vec![1.0; width];
        Some(Self { entries: kernel, source, row_scaling, scaling, sums, rows_of_a_part })
    }

    fn column_error(&self, mass: &[f64]) -> f64 {
        let columns = self.sums.iter().zip(&self.scaling).zip(mass);
        columns.map(|((sum, scaling), mass)| (sum * scaling - mass).abs()).sum()
    }

    /// Rescales the columns to their masses by their sums, then the rows, and sums the columns again,
    /// reading each row once from memory.
    fn sweep(&mut self, (source_mass, target_mass): (&[f64], &[f64])) {
        let Self { entries, row_scaling, scaling, sums, rows_of_a_part, .. } = self;
        for ((scaling, sum), &mass) in scaling.iter_mut().zip(&*sums).zip(target_mass) {
            *scaling = if mass > 0.0 { mass / sum } else { 0.0 };
        }
        let width = scaling.len();
        let Some(entries) = entries.as_slice() else { return };
        let parts: Vec<Vec<f64>> = entries
            .par_chunks(*rows_of_a_part * width)
            .zip(source_mass.par_chunks(*rows_of_a_part))
            .zip(row_scaling.par_chunks_mut(*rows_of_a_part))
            .map(|((rows, masses), row_scaling)| {
                let mut sums = vec![0.0; width];
                sweep_rows(rows, masses, scaling, row_scaling, &mut sums);
                sums
            })
            .collect();
        sums.fill(0.0);
        add_all(parts, sums);
    }

    /// ⟨f, a⟩ + ⟨g, b⟩, which is the dual value because the rows have their masses. No bound where a column is scaled by so much
    /// that entries which vanished count.
    fn dual_value(
        &self,
        weight: f64,
        (source_mass, target_mass): (&[f64], &[f64]),
        potentials: &Potentials,
    ) -> f64 {
        if self.scaling.iter().any(|scaling| *scaling > LARGEST_SCALING) {
            return f64::NEG_INFINITY;
        }
        let side = |potential: ArrayView1<'_, f64>, scaling: &[f64], masses: &[f64]| -> f64 {
            let terms = potential.into_iter().zip(scaling).zip(masses);
            let massive = terms.filter(|(_, mass)| **mass > 0.0);
            massive
                .map(|((potential, scaling), mass)| mass * (potential + weight * scaling.ln()))
                .sum()
        };
        side(ArrayView1::from(&self.source), &self.row_scaling, source_mass)
            + side(potentials.target.view(), &self.scaling, target_mass)
    }

    fn write_potentials(&self, weight: f64, potentials: &mut Potentials) {
        let sources = self.source.iter().zip(&self.row_scaling);
        for (potential, (source, scaling)) in potentials.source.iter_mut().zip(sources) {
            *potential = source + weight * scaling.ln();
        }
        for (potential, scaling) in potentials.target.iter_mut().zip(&self.scaling) {
            *potential += weight * scaling.ln();
        }
    }

    /// The scaled kernel, moved onto the marginals: columns with too much are scaled down, and what then
    /// is missing on both sides is spread as a product (Altschuler, Weed, Rigollet 2017, algorithm 2).
    fn into_plan(mut self, source_mass: &[f64], target_mass: &[f64]) {
        let columns = self.scaling.iter_mut().zip(&self.sums).zip(target_mass);
        let lacks: Vec<f64> = columns
            .map(|((scaling, sum), mass)| {
                let total = sum * *scaling;
                if total > *mass {
                    *scaling *= mass / total;
                }
                (mass - total).max(0.0)
            })
            .collect();
        let lack: f64 = lacks.iter().sum();
        let rows = self.entries.rows_mut().into_iter().zip(&self.row_scaling).zip(source_mass);
        for ((mut row, &row_scaling), mass) in rows {
            let Some(row) = row.as_slice_mut() else { continue };
            let row_lack = (mass - row_scaling * dot(row, &self.scaling)).max(0.0);
            scale_by(row, row_scaling, &self.scaling);
            if lack > 0.0 && row_lack > 0.0 {
                scale_and_accumulate(&lacks, row_lack / lack, row);
            }
        }
    }
}

/// Rescales some rows to their masses and sums their columns.
fn sweep_rows(
    entries: &[f64],
    masses: &[f64],
    scaling: &[f64],
    row_scaling: &mut [f64],
    sums: &mut [f64],
) {
    let width = scaling.len();
    let ratio = |mass: f64, sum: f64| if mass > 0.0 { mass / sum } else { 0.0 };
    let (rows, masses) = (entries.chunks_exact(4 * width), masses.chunks_exact(4));
    let (last_rows, last_masses) = (rows.remainder(), masses.remainder());
    let (four_scalings, last_scalings) = row_scaling.as_chunks_mut::<4>();
    for ((rows, masses), scalings) in rows.zip(masses).zip(four_scalings) {
        *scalings = dot_four(rows, scaling);
        scalings.iter_mut().zip(masses).for_each(|(sum, &mass)| *sum = ratio(mass, *sum));
        accumulate_four(rows, scalings, sums);
    }
    let last = last_rows.chunks_exact(width).zip(last_masses).zip(last_scalings);
    for ((row, &mass), row_scaling) in last {
        *row_scaling = ratio(mass, dot(row, scaling));
        scale_and_accumulate(row, *row_scaling, sums);
    }
}
