//! The dual of the support vector machine, by sequential minimal optimisation.
//!
//! Fan, Chen and Lin, "Working Set Selection Using Second Order Information for Training Support Vector
//! Machines", JMLR 6, 2005 (their WSS 2, LIBSVM's).
//!
//! In signed variables βᵢ = yᵢαᵢ the dual is: maximise yᵀβ − ½βᵀKβ subject to Σβ = 0 and
//! 0 ≤ yᵢβᵢ ≤ Cᵢ. Its gradient gᵢ = yᵢ − (Kβ)ᵢ equals the bias b at every free sample, so that the
//! largest g that may still rise against the smallest that may still fall measures what is left to do.
//!
//! A sample of cost 0 stands aside; (Kβ)ᵢ + b is its decision all the same. So the folds of a cross-validation
//! share one kernel matrix, and the decisions on what was held out come with the solution.
//!
//! linfa-svm knows neither a cost for each sample, which DASVM needs, nor a given kernel matrix or
//! start, which make a grid cheap. One Gaussian machine of it, the kernel matrix included, needs 2.2 times as long on
//! 300 moons and 8 times on 400 samples of 100 features (C = 1, the same tolerance).

use std::borrow::Cow;

use ndarray::ArrayView2;

use super::working_set::{Best, LEAST_CURVATURE, Riser, descend_and_find_steepest, find_partner};

/// A violation of the optimality conditions that is left; LIBSVM's default.
pub const TOLERANCE: f64 = 1e-3;

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

/// Where a solution starts: feasible coefficients β, and their gradient y − Kβ.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub coefficients: Vec<f64>,
    pub gradient: Vec<f64>,
}

/// f(x) = Σ βᵢ k(x, xᵢ) + b.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// βᵢ of each sample.
    pub coefficients: Vec<f64>,
    /// yᵢ − (Kβ)ᵢ of each sample.
    pub gradient: Vec<f64>,
    /// b.
    pub bias: f64,
    /// The dual's objective.
    pub objective: f64,
    /// How good it is.
    pub certificate: Certificate,
}

impl<'a> Dual<'a> {
    /// The dual with kernel K, signs yᵢ and costs Cᵢ, all of one size. A sample stands aside if its cost is 0
    /// or its sign neither +1 nor −1; of those that do not, both signs occur.
    pub fn new(gram: ArrayView2<'a, f64>, signs: &'a [f64], costs: &'a [f64]) -> Self {
        let gram = gram.to_slice().map_or_else(|| gram.iter().copied().collect(), Cow::Borrowed);
        Self { gram, signs, costs }
    }

    fn row(&self, sample: usize) -> &[f64] {
        let samples = self.signs.len();
        &self.gram[sample * samples..(sample + 1) * samples]
    }

    /// Solves to the tolerance, from zero or from a feasible start.
    pub fn solve(&self, start: Option<Start>, tolerance: f64) -> Machine {
        let samples = self.signs.len();
        let start = start.unwrap_or_else(|| Start {
            coefficients: vec![0.0; samples],
            gradient: self.signs.to_vec(),
        });
        let mut state = State::new(self, start);
        let limit = 10_000_000_usize.max(100 * samples);
        let mut iterations = 0;
        let mut violation = 0.0;
        let mut steepest = state.steepest(self);
        while let Some(pair) = steepest.and_then(|rise| state.pair(self, rise)) {
            violation = pair.violation;
            if violation <= tolerance || iterations == limit {
                break;
            }
            steepest = state.update(self, &pair);
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
            gradient: state.gradient,
        }
    }

    /// f at one of the samples.
    pub fn decision(&self, machine: &Machine, sample: usize) -> f64 {
        self.signs[sample] - machine.gradient[sample] + machine.bias
    }

    /// A start from the solution of the same problem with other costs, of which these are `ratio` times: its best
    /// multiple.
    pub fn start_from(&self, machine: &Machine, ratio: f64) -> Start {
        let linear: f64 = self.signs.iter().zip(&machine.coefficients).map(|(y, b)| y * b).sum();
        // The objective is linear − ½ quadratic.
        let quadratic = 2.0 * (linear - machine.objective);
        let scale = if quadratic > 0.0 { ratio.min(linear / quadratic) } else { ratio };
        let scaled = |(&beta, &cost): (&f64, &f64)| {
            let scaled = scale * beta;
            // Rounding must not leave a sample free that is at its bound.
            if scaled.abs() > cost * (1.0 - 1e-12) { cost.copysign(scaled) } else { scaled }
        };
        let gradients = machine.gradient.iter().zip(self.signs);
        Start {
            coefficients: machine.coefficients.iter().zip(self.costs).map(scaled).collect(),
            gradient: gradients.map(|(g, y)| y - scale * (y - g)).collect(),
        }
    }

    /// A start near coefficients that need not be feasible: each is cut to its bounds, then the heavier sign is
    /// scaled down until their sum is 0.
    pub fn start_near(&self, coefficients: &[f64]) -> Start {
        let bounds = self.signs.iter().zip(self.costs);
        let mut coefficients: Vec<f64> = coefficients
            .iter()
            .zip(bounds)
            .map(|(&beta, (&sign, &cost))| sign * (sign * beta).clamp(0.0, cost))
            .collect();
        let weight =
            |sign: f64| -> f64 { coefficients.iter().map(|beta| (sign * beta).max(0.0)).sum() };
        let (above, below) = (weight(1.0), weight(-1.0));
        let (heavier, scale) =
            if above > below { (1.0, below / above) } else { (-1.0, above / below) };
        let mut gradient = self.signs.to_vec();
        for (sample, beta) in coefficients.iter_mut().enumerate() {
            if heavier * *beta > 0.0 {
                *beta *= scale;
            }
            if *beta != 0.0 {
                gradient.iter_mut().zip(self.row(sample)).for_each(|(g, k)| *g -= *beta * k);
            }
        }
        Start { coefficients, gradient }
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
    /// 0 where β may rise, else −∞.
    rise_gate: Vec<f64>,
    /// 0 where β may fall, else ∞.
    fall_gate: Vec<f64>,
    diagonal: Vec<f64>,
}

impl State {
    fn new(dual: &Dual<'_>, start: Start) -> Self {
        let bound =
            |sign: f64| move |(&y, &cost): (&f64, &f64)| if y == sign { sign * cost } else { 0.0 };
        let samples = dual.signs.len();
        let mut state = Self {
            beta: start.coefficients,
            gradient: start.gradient,
            lowest: dual.signs.iter().zip(dual.costs).map(bound(-1.0)).collect(),
            highest: dual.signs.iter().zip(dual.costs).map(bound(1.0)).collect(),
            rise_gate: vec![0.0; samples],
            fall_gate: vec![0.0; samples],
            diagonal: (0..samples).map(|sample| dual.row(sample)[sample]).collect(),
        };
        for sample in 0..samples {
            state.set_gates(sample);
        }
        state
    }

    fn may_rise(&self, sample: usize) -> bool {
        self.beta[sample] < self.highest[sample]
    }

    fn may_fall(&self, sample: usize) -> bool {
        self.beta[sample] > self.lowest[sample]
    }

    fn set_gates(&mut self, sample: usize) {
        self.rise_gate[sample] = if self.may_rise(sample) { 0.0 } else { f64::NEG_INFINITY };
        self.fall_gate[sample] = if self.may_fall(sample) { 0.0 } else { f64::INFINITY };
    }

    /// The sample that rises most steeply, if one may rise.
    fn steepest(&mut self, dual: &Dual<'_>) -> Option<Best> {
        let any = dual.row(0);
        descend_and_find_steepest(&mut self.gradient, &self.rise_gate, (any, any), 0.0)
    }

    /// The sample against it that gains most. `None` if nothing may fall.
    fn pair(&self, dual: &Dual<'_>, rise: Best) -> Option<Pair> {
        let riser = Riser {
            slope: rise.value,
            diagonal: self.diagonal[rise.sample],
            similarities: dual.row(rise.sample),
        };
        let (partner, bottom) =
            find_partner(riser, &self.gradient, &self.fall_gate, &self.diagonal);
        // Without a sample that could gain, the violation is not positive and `fall` is not used.
        (bottom < f64::INFINITY).then(|| Pair {
            rise: rise.sample,
            fall: partner.map_or(rise.sample, |partner| partner.sample),
            violation: rise.value - bottom,
        })
    }

    /// Changes a pair as far as it gains, and returns the sample that rises most steeply then.
    fn update(&mut self, dual: &Dual<'_>, pair: &Pair) -> Option<Best> {
        let &Pair { rise, fall, .. } = pair;
        let (rising, falling) = (dual.row(rise), dual.row(fall));
        let slope = self.gradient[rise] - self.gradient[fall];
        let curvature = self.diagonal[rise] + self.diagonal[fall] - 2.0 * rising[fall];
        let wanted = slope / curvature.max(LEAST_CURVATURE);
        let room_above = self.highest[rise] - self.beta[rise];
        let room_below = self.beta[fall] - self.lowest[fall];
        let step = wanted.min(room_above).min(room_below);
        // At a bound exactly: rounding must not leave a sample free that is not.
        self.beta[rise] =
            if step == room_above { self.highest[rise] } else { self.beta[rise] + step };
        self.beta[fall] =
            if step == room_below { self.lowest[fall] } else { self.beta[fall] - step };
        self.set_gates(rise);
        self.set_gates(fall);
        descend_and_find_steepest(&mut self.gradient, &self.rise_gate, (rising, falling), step)
    }

    /// The mean of g over free samples; without any, the middle of the range that is optimal.
    fn bias(&self) -> f64 {
        let (mut sum, mut free) = (0.0, 0);
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in 0..self.beta.len() {
            match (self.may_rise(i), self.may_fall(i)) {
                (true, true) => {
                    sum += self.gradient[i];
                    free += 1;
                }
                (true, false) => top = f64::max(top, self.gradient[i]),
                (false, true) => bottom = f64::min(bottom, self.gradient[i]),
                (false, false) => {}
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
        let second = Dual::new(gram.view(), &signs, &many);
        let start = second.start_from(&first.solve(None, 1e-6), 8.0);
        let (cold, warm) = (second.solve(None, 1e-6), second.solve(Some(start), 1e-6));
        assert!((cold.objective - warm.objective).abs() < 1e-5 * cold.objective);
        assert!(warm.certificate.is_converged);
        assert!(warm.certificate.iterations < cold.certificate.iterations);
    }

    #[test]
    fn a_start_near_other_coefficients_is_feasible_and_ends_the_same() {
        let (gram, signs) = overlapping(60);
        let other: Vec<f64> = (0..60).map(|i| (f64::from(i) * 0.9).sin()).collect();
        let costs: Vec<f64> = (0..60).map(|i| if i < 30 { 0.3 } else { 2.0 }).collect();
        let dual = Dual::new(gram.view(), &signs, &costs);
        let start = dual.start_near(&other);
        assert!(start.coefficients.iter().sum::<f64>().abs() < 1e-12);
        for (i, beta) in start.coefficients.iter().enumerate() {
            assert!((0.0..=costs[i]).contains(&(signs[i] * beta)));
        }
        let (cold, warm) = (dual.solve(None, 1e-6), dual.solve(Some(start), 1e-6));
        assert!((cold.objective - warm.objective).abs() < 1e-5 * cold.objective);
    }

    #[test]
    fn a_sample_that_stands_aside_gets_a_decision_and_has_no_say() {
        let (gram, signs) = overlapping(60);
        let costs: Vec<f64> = (0..60).map(|i| if i % 5 == 0 { 0.0 } else { 2.0 }).collect();
        let dual = Dual::new(gram.view(), &signs, &costs);
        let machine = dual.solve(None, 1e-7);
        let kept: Vec<usize> = (0..60).filter(|i| i % 5 != 0).collect();
        let kept_gram = Array2::from_shape_fn((48, 48), |(i, j)| gram[[kept[i], kept[j]]]);
        let kept_signs: Vec<f64> = kept.iter().map(|&i| signs[i]).collect();
        let alone = Dual::new(kept_gram.view(), &kept_signs, &[2.0; 48]).solve(None, 1e-7);
        assert!((machine.objective - alone.objective).abs() < 1e-6 * alone.objective);
        for aside in (0..60).step_by(5) {
            assert_eq!(machine.coefficients[aside], 0.0);
            let products = kept.iter().zip(&alone.coefficients).map(|(&i, b)| b * gram[[aside, i]]);
            let expected = products.sum::<f64>() + alone.bias;
            assert!((dual.decision(&machine, aside) - expected).abs() < 1e-4);
        }
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
