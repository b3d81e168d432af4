//! Sinkhorn's iteration for the direction problems: a few cheap sweeps from good potentials, in one fused
//! pass over a stabilized kernel each. It gives up where they do not suffice; `entropic` then takes over.

use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::elementary::{dot, exp_shifted, scale_and_accumulate};
use crate::entropic::Potentials;

/// A sweep costs about a thirtieth of a Newton step, and a solve takes several of those.
const SWEEPS: usize = 60;
/// Sweeps between two looks at how fast the error falls.
const PATIENCE: usize = 8;

/// Sweeps that a lower bound is worth.
const BOUND_SWEEPS: usize = 16;

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
    let mut scaling = vec![1.0; target_mass.len()];
    let mut sums = kernel.column_sums();
    let mut reference = f64::INFINITY;
    let first_error = column_error(&sums, &scaling, target_mass);
    for sweep in 0..SWEEPS {
        let error = column_error(&sums, &scaling, target_mass);
        if error <= tolerance {
            let lower_bound = kernel.dual_value(weight, masses, potentials, &scaling);
            kernel.write_potentials(weight, &scaling, potentials);
            kernel.into_plan(&scaling, source_mass, target_mass);
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
        kernel.sweep(masses, &mut scaling, &mut sums);
    }
    // What was gained is a start for others.
    if column_error(&sums, &scaling, target_mass) < first_error {
        kernel.write_potentials(weight, &scaling, potentials);
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
    let mut scaling = vec![1.0; masses.1.len()];
    let first = kernel.dual_value(weight, masses, potentials, &scaling);
    let mut sums = kernel.column_sums();
    for _ in 0..BOUND_SWEEPS {
        kernel.sweep(masses, &mut scaling, &mut sums);
    }
    // An overflow in the sweeps is a NaN, which `max` passes over.
    first.max(kernel.dual_value(weight, masses, potentials, &scaling)).max(f64::NEG_INFINITY)
}

fn column_error(sums: &[f64], scaling: &[f64], mass: &[f64]) -> f64 {
    sums.iter()
        .zip(scaling)
        .zip(mass)
        .map(|((sum, scaling), mass)| (sum * scaling - mass).abs())
        .sum()
}

/// exp((f ⊕ g − C)/w) with row sums equal to the masses, and the row scalings since.
struct Kernel<'a> {
    entries: &'a mut Array2<f64>,
    row_scaling: Vec<f64>,
    /// The potentials that the entries contain.
    source: Vec<f64>,
}

impl<'a> Kernel<'a> {
    fn at(
        cost: ArrayView2<'_, f64>,
        source_mass: &[f64],
        weight: f64,
        potentials: &Potentials,
        entries: &'a mut Array2<f64>,
    ) -> Option<Self> {
        let mut source = vec![0.0; source_mass.len()];
        for (row, costs) in cost.rows().into_iter().enumerate() {
            let mut entries = entries.row_mut(row);
            let entries = entries.as_slice_mut()?;
            let mut largest = f64::NEG_INFINITY;
            for ((entry, &cost), &potential) in
                entries.iter_mut().zip(costs).zip(&potentials.target)
            {
                *entry = potential - cost;
                largest = largest.max(*entry);
            }
            if !largest.is_finite() {
                return None;
            }
            let sum = exp_shifted(entries, largest, weight.recip());
            let scale = source_mass[row] / sum;
            for entry in entries {
                *entry *= scale;
            }
            source[row] = weight * scale.ln() - largest;
        }
        Some(Self { entries, row_scaling: vec![1.0; source_mass.len()], source })
    }

    fn column_sums(&self) -> Vec<f64> {
        self.entries.sum_axis(ndarray::Axis(0)).to_vec()
    }

    /// Rescales the columns to their masses by their sums, then the rows, and sums the columns again,
    /// reading each row once from memory.
    fn sweep(
        &mut self,
        (source_mass, target_mass): (&[f64], &[f64]),
        scaling: &mut [f64],
        sums: &mut [f64],
    ) {
        for ((scaling, sum), &mass) in scaling.iter_mut().zip(&*sums).zip(target_mass) {
            *scaling = if mass > 0.0 { mass / sum } else { 0.0 };
        }
        sums.fill(0.0);
        for ((row, row_scaling), &mass) in
            self.entries.rows().into_iter().zip(&mut self.row_scaling).zip(source_mass)
        {
            let Some(row) = row.as_slice() else { continue };
            *row_scaling = if mass > 0.0 { mass / dot(row, scaling) } else { 0.0 };
            scale_and_accumulate(row, *row_scaling, sums);
        }
    }

    /// ⟨f, a⟩ + ⟨g, b⟩, which is the dual value because the rows have their masses.
    fn dual_value(
        &self,
        weight: f64,
        (source_mass, target_mass): (&[f64], &[f64]),
        potentials: &Potentials,
        scaling: &[f64],
    ) -> f64 {
        let side = |potential: ArrayView1<'_, f64>, scaling: &[f64], masses: &[f64]| -> f64 {
            let terms = potential.into_iter().zip(scaling).zip(masses);
            let massive = terms.filter(|(_, mass)| **mass > 0.0);
            massive
                .map(|((potential, scaling), mass)| mass * (potential + weight * scaling.ln()))
                .sum()
        };
        side(ArrayView1::from(&self.source), &self.row_scaling, source_mass)
            + side(potentials.target.view(), scaling, target_mass)
    }

    fn write_potentials(&self, weight: f64, scaling: &[f64], potentials: &mut Potentials) {
        let sources = self.source.iter().zip(&self.row_scaling);
        for (potential, (source, scaling)) in potentials.source.iter_mut().zip(sources) {
            *potential = source + weight * scaling.ln();
        }
        for (potential, scaling) in potentials.target.iter_mut().zip(scaling) {
            *potential += weight * scaling.ln();
        }
    }

    /// The scaled kernel, moved onto the marginals: columns with too much are scaled down, and what then
    /// is missing on both sides is spread as a product (Altschuler, Weed, Rigollet 2017, algorithm 2).
    fn into_plan(self, scaling: &[f64], source_mass: &[f64], target_mass: &[f64]) {
        let plan = self.entries;
        let mut sums = vec![0.0; scaling.len()];
        for (mut row, row_scaling) in plan.rows_mut().into_iter().zip(&self.row_scaling) {
            for ((entry, scaling), sum) in row.iter_mut().zip(scaling).zip(&mut sums) {
                *entry *= row_scaling * scaling;
                *sum += *entry;
            }
        }
        let shrink: Vec<f64> = (sums.iter().zip(target_mass))
            .map(|(sum, mass)| if *sum > *mass { mass / sum } else { 1.0 })
            .collect();
        let column_lack: Vec<f64> = (sums.iter().zip(target_mass).zip(&shrink))
            .map(|((sum, mass), shrink)| (mass - sum * shrink).max(0.0))
            .collect();
        let lack: f64 = column_lack.iter().sum();
        for (mut row, mass) in plan.rows_mut().into_iter().zip(source_mass) {
            let mut sum = 0.0;
            for (entry, shrink) in row.iter_mut().zip(&shrink) {
                *entry *= shrink;
                sum += *entry;
            }
            let row_lack = (mass - sum).max(0.0);
            if lack > 0.0 && row_lack > 0.0 {
                for (entry, column_lack) in row.iter_mut().zip(&column_lack) {
                    *entry += row_lack * column_lack / lack;
                }
            }
        }
    }
}
