//! The dual of the support vector machine, by sequential minimal optimisation.
//!
//! Fan, Chen and Lin, "Working Set Selection Using Second Order Information for Training Support Vector
//! Machines", JMLR 6, 2005 (their WSS 2, LIBSVM's).
//!
//! In signed variables βᵢ = yᵢαᵢ the dual is: maximise yᵀβ − ½βᵀKβ subject to Σβ = 0 and
//! 0 ≤ yᵢβᵢ ≤ Cᵢ. Its gradient gᵢ = yᵢ − (Kβ)ᵢ equals the bias b at every free sample, so that the
//! largest g that may still rise against the smallest that may still fall measures what is left to do.
//!
//! linfa-svm knows neither a cost for each sample, which DASVM needs, nor a given kernel matrix or
//! start, which make a grid cheap.

use std::borrow::Cow;

use ndarray::ArrayView2;

/// A violation of the optimality conditions that is left; LIBSVM's default.
pub const TOLERANCE: f64 = 1e-3;
/// Kernels that are not positive definite to rounding get this curvature instead of none.
const LEAST_CURVATURE: f64 = 1e-12;

/// The dual problem of a machine that separates samples of sign +1 from those of sign −1.
pub struct Dual<'a> {
    /// K, row after row.
    gram: Cow<'a, [f64]>,
    signs: &'a [f64],
    costs: &'a [f64],
}

/// How good a solution of the dual is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Pairs of samples that were changed.
    pub iterations: usize,
    /// The largest violation of the optimality conditions, in units of the decision function.
    pub violation: f64,
    /// The primal objective less the dual one: how far the machine is from the best at most.
    pub duality_gap: f64,
    /// The violation is within the tolerance.
    pub is_converged: bool,
}

/// f(x) = Σ βᵢ k(x, xᵢ) + b.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// βᵢ of each training sample.
    pub coefficients: Vec<f64>,
    /// b.
    pub bias: f64,
    /// The dual's objective.
    pub objective: f64,
    /// How good it is.
    pub certificate: Certificate,
}

impl<'a> Dual<'a> {
    /// The dual with kernel K, signs yᵢ (both occur) and costs Cᵢ above 0, all of one size.
    pub fn new(gram: ArrayView2<'a, f64>, signs: &'a [f64], costs: &'a [f64]) -> Self {
        let gram = gram.to_slice().map_or_else(|| gram.iter().copied().collect(), Cow::Borrowed);
        Self { gram, signs, costs }
    }

    fn row(&self, sample: usize) -> &[f64] {
        let samples = self.signs.len();
        &self.gram[sample * samples..(sample + 1) * samples]
    }

    /// Solves to the tolerance, from zero or from a feasible start.
    pub fn solve(&self, start: Option<Vec<f64>>, tolerance: f64) -> Machine {
        let samples = self.signs.len();
        let mut state = State::new(self, start);
        let limit = 10_000_000_usize.max(100 * samples);
        let mut iterations = 0;
        let mut violation = 0.0;
        while let Some(pair) = state.select(self) {
            violation = pair.violation;
            if violation <= tolerance || iterations == limit {
                break;
            }
            state.update(self, &pair);
            iterations += 1;
        }
        let bias = state.bias();
        let (objective, duality_gap) = self.certify(&state, bias);
        Machine {
            bias,
            objective,
            certificate: Certificate {
                iterations,
                violation,
                duality_gap,
                is_converged: violation <= tolerance,
            },
            coefficients: state.beta,
        }
    }

    /// The best multiple of the solution for other costs, which are `ratio` times these: a start for them.
    pub fn rescale(&self, machine: &Machine, ratio: f64) -> Vec<f64> {
        let linear: f64 = self.signs.iter().zip(&machine.coefficients).map(|(y, b)| y * b).sum();
        // The objective is linear − ½ quadratic.
        let quadratic = 2.0 * (linear - machine.objective);
        let scale = if quadratic > 0.0 { ratio.min(linear / quadratic) } else { ratio };
        machine.coefficients.iter().map(|beta| scale * beta).collect()
    }

    /// The dual's objective, and the primal's less it.
    fn certify(&self, state: &State, bias: f64) -> (f64, f64) {
        let (mut linear, mut quadratic, mut losses) = (0.0, 0.0, 0.0);
        for (i, (&sign, &beta)) in self.signs.iter().zip(&state.beta).enumerate() {
            let image = sign - state.gradient[i];
            linear += sign * beta;
            quadratic += beta * image;
            losses += self.costs[i] * (1.0 - sign * (image + bias)).max(0.0);
        }
        (linear - 0.5 * quadratic, quadratic + losses - linear)
    }
}

/// The samples to change: β of `rise` goes up and that of `fall` goes down.
struct Pair {
    rise: usize,
    fall: usize,
    violation: f64,
}

struct State {
    beta: Vec<f64>,
    gradient: Vec<f64>,
    lowest: Vec<f64>,
    highest: Vec<f64>,
    diagonal: Vec<f64>,
}

impl State {
    fn new(dual: &Dual<'_>, start: Option<Vec<f64>>) -> Self {
        let bound =
            |sign: f64| move |(&y, &cost): (&f64, &f64)| if y == sign { sign * cost } else { 0.0 };
        let lowest: Vec<f64> = dual.signs.iter().zip(dual.costs).map(bound(-1.0)).collect();
        let highest: Vec<f64> = dual.signs.iter().zip(dual.costs).map(bound(1.0)).collect();
        let mut gradient = dual.signs.to_vec();
        let beta = start.unwrap_or_else(|| vec![0.0; gradient.len()]);
        for (sample, &beta) in beta.iter().enumerate() {
            if beta != 0.0 {
                gradient.iter_mut().zip(dual.row(sample)).for_each(|(g, k)| *g -= beta * k);
            }
        }
        let diagonal = (0..beta.len()).map(|sample| dual.row(sample)[sample]).collect();
        Self { beta, gradient, lowest, highest, diagonal }
    }

    /// The sample that rises most steeply, and the one against it that gains most. `None` if nothing can
    /// rise or nothing can fall.
    fn select(&self, dual: &Dual<'_>) -> Option<Pair> {
        let samples = self.beta.len();
        let (mut rise, mut top) = (None, f64::NEG_INFINITY);
        for i in 0..samples {
            if self.beta[i] < self.highest[i] && self.gradient[i] > top {
                (rise, top) = (Some(i), self.gradient[i]);
            }
        }
        let rise = rise?;
        let (mut fall, mut bottom, mut best_gain) = (None, f64::INFINITY, -1.0);
        for (j, &similarity) in dual.row(rise).iter().enumerate() {
            if self.beta[j] > self.lowest[j] {
                let gradient = self.gradient[j];
                bottom = f64::min(bottom, gradient);
                let slope = top - gradient;
                let gain = slope * slope / self.curvature(rise, j, similarity);
                if slope > 0.0 && gain > best_gain {
                    (fall, best_gain) = (Some(j), gain);
                }
            }
        }
        // Without a sample that could gain, the violation is not positive and `fall` is not used.
        (bottom < f64::INFINITY).then(|| Pair {
            rise,
            fall: fall.unwrap_or(rise),
            violation: top - bottom,
        })
    }

    fn curvature(&self, i: usize, j: usize, similarity: f64) -> f64 {
        (self.diagonal[i] + self.diagonal[j] - 2.0 * similarity).max(LEAST_CURVATURE)
    }

    fn update(&mut self, dual: &Dual<'_>, pair: &Pair) {
        let &Pair { rise, fall, .. } = pair;
        let slope = self.gradient[rise] - self.gradient[fall];
        let wanted = slope / self.curvature(rise, fall, dual.row(rise)[fall]);
        let room_above = self.highest[rise] - self.beta[rise];
        let room_below = self.beta[fall] - self.lowest[fall];
        let step = wanted.min(room_above).min(room_below);
        // At a bound exactly: rounding must not leave a sample free that is not.
        self.beta[rise] =
            if step == room_above { self.highest[rise] } else { self.beta[rise] + step };
        self.beta[fall] =
            if step == room_below { self.lowest[fall] } else { self.beta[fall] - step };
        let rows = dual.row(rise).iter().zip(dual.row(fall));
        for (gradient, (&rising, &falling)) in self.gradient.iter_mut().zip(rows) {
            *gradient -= step * (rising - falling);
        }
    }

    /// The mean of g over free samples; without any, the middle of the range that is optimal.
    fn bias(&self) -> f64 {
        let (mut sum, mut free) = (0.0, 0);
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in 0..self.beta.len() {
            let (can_rise, can_fall) =
                (self.beta[i] < self.highest[i], self.beta[i] > self.lowest[i]);
            if can_rise && can_fall {
                sum += self.gradient[i];
                free += 1;
            } else if can_rise {
                top = f64::max(top, self.gradient[i]);
            } else {
                bottom = f64::min(bottom, self.gradient[i]);
            }
        }
        if free > 0 { sum / f64::from(free) } else { f64::midpoint(top, bottom) }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    /// Deterministic scatter of two overlapping clouds in the plane.
    fn overlapping(samples: usize) -> (Array2<f64>, Vec<f64>) {
        let points = Array2::from_shape_fn((samples, 2), |(row, column)| {
            let shift = if row % 2 == 0 && column == 0 { 0.4 } else { 0.0 };
            ((2 * row + column) as f64 * std::f64::consts::SQRT_2 * 7.3).fract() + shift
        });
        let signs = (0..samples).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect();
        (points.dot(&points.t()).mapv(|product| (1.0 + product).powi(2)), signs)
    }

    #[test]
    fn two_points_have_the_hyperplane_halfway() {
        // x = 1 and x = 3: w = 1 and b = −2, with β = ±1/2.
        let gram = array![[1.0, 3.0], [3.0, 9.0]];
        let machine = Dual::new(gram.view(), &[-1.0, 1.0], &[10.0, 10.0]).solve(None, 1e-9);
        assert!((machine.coefficients[1] - 0.5).abs() < 1e-9);
        assert!((machine.coefficients[0] + 0.5).abs() < 1e-9);
        assert!((machine.bias + 2.0).abs() < 1e-9);
        assert!((machine.objective - 0.5).abs() < 1e-9);
        assert!(machine.certificate.duality_gap.abs() < 1e-8);
    }

    #[test]
    fn a_cost_below_the_multiplier_caps_it() {
        let gram = array![[1.0, 3.0], [3.0, 9.0]];
        let machine = Dual::new(gram.view(), &[-1.0, 1.0], &[0.25, 0.1]).solve(None, 1e-9);
        // Σβ = 0: the smaller cost bounds both.
        assert_eq!(machine.coefficients[1], 0.1);
        assert!((machine.coefficients[0] + 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_optimality_conditions_hold_sample_by_sample() {
        let (gram, signs) = overlapping(80);
        let costs: Vec<f64> = (0..80).map(|i| if i < 40 { 1.0 } else { 5.0 }).collect();
        let tolerance = 1e-6;
        let machine = Dual::new(gram.view(), &signs, &costs).solve(None, tolerance);
        let beta = ndarray::ArrayView1::from(&machine.coefficients);
        assert!(beta.sum().abs() < 1e-9);
        let decisions = gram.dot(&beta) + machine.bias;
        for i in 0..80 {
            let (multiplier, margin) = (signs[i] * beta[i], signs[i] * decisions[i]);
            assert!((0.0..=costs[i]).contains(&multiplier));
            if multiplier < costs[i] {
                assert!(margin >= 1.0 - 2.0 * tolerance, "sample {i}: {margin}");
            }
            if multiplier > 0.0 {
                assert!(margin <= 1.0 + 2.0 * tolerance, "sample {i}: {margin}");
            }
        }
        let gap = machine.certificate.duality_gap;
        assert!((0.0..1e-3 * machine.objective).contains(&gap), "{gap}");
    }

    #[test]
    fn a_start_changes_the_way_and_not_the_end() {
        let (gram, signs) = overlapping(60);
        let (few, many) = (vec![0.5; 60], vec![4.0; 60]);
        let first = Dual::new(gram.view(), &signs, &few);
        let start = first.rescale(&first.solve(None, 1e-6), 8.0);
        let second = Dual::new(gram.view(), &signs, &many);
        let (cold, warm) = (second.solve(None, 1e-6), second.solve(Some(start), 1e-6));
        assert!((cold.objective - warm.objective).abs() < 1e-5 * cold.objective);
        assert!(warm.certificate.is_converged);
    }

    #[test]
    fn the_order_of_samples_does_not_matter() {
        let (gram, signs) = overlapping(50);
        let costs = vec![2.0; 50];
        let machine = Dual::new(gram.view(), &signs, &costs).solve(None, 1e-7);
        let turned: Vec<usize> = (0..50).rev().collect();
        let turned_gram = Array2::from_shape_fn((50, 50), |(i, j)| gram[[turned[i], turned[j]]]);
        let turned_signs: Vec<f64> = turned.iter().map(|&i| signs[i]).collect();
        let other = Dual::new(turned_gram.view(), &turned_signs, &costs).solve(None, 1e-7);
        assert!((machine.objective - other.objective).abs() < 1e-6 * machine.objective);
        assert!((machine.bias - other.bias).abs() < 1e-4);
    }
}
