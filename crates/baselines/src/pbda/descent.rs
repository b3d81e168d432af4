//! L-BFGS in the space of the kernel's features.
//!
//! Nocedal, "Updating Quasi-Newton Matrices with Limited Storage", Math. Comp. 35, 1980, with the inner
//! product ⟨v, w⟩ = aᵀKb of v = Σ aᵢφ(xᵢ) and w = Σ bᵢφ(xᵢ). A step needs one product with K: scores are
//! linear, so the line search costs none. In coefficients alone the problem would be as ill-conditioned as K;
//! here ‖w‖²/2 keeps its curvature at 1 or above.

use std::collections::VecDeque;

use multiversion::multiversion;
use ndarray::{Array1, ArrayView2};

use super::objective::Objective;

/// Past steps that shape the next.
const MEMORY: usize = 10;
/// Sufficient decrease and curvature of the weak Wolfe conditions.
const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
/// Halvings and doublings before a line search gives up.
const TRIALS: usize = 60;

/// w = Σ aᵢφ(xᵢ), with its scores ⟨w, φ(xᵢ)⟩.
#[derive(Clone)]
struct Element {
    coefficients: Array1<f64>,
    scores: Array1<f64>,
}

impl Element {
    fn new(coefficients: Array1<f64>, gram: ArrayView2<'_, f64>) -> Self {
        let scores = match coefficients.as_slice() {
            Some(own) => gram
                .rows()
                .into_iter()
                .map(|row| {
                    row.to_slice().map_or_else(|| row.dot(&coefficients), |row| dot(row, own))
                })
                .collect(),
            None => gram.dot(&coefficients),
        };
        Self { coefficients, scores }
    }

    fn dot(&self, other: &Self) -> f64 {
        self.coefficients.dot(&other.scores)
    }

    fn add(&mut self, factor: f64, other: &Self) {
        self.coefficients.scaled_add(factor, &other.coefficients);
        self.scores.scaled_add(factor, &other.scores);
    }

    fn scale(&mut self, factor: f64) {
        self.coefficients *= factor;
        self.scores *= factor;
    }

    fn norm(&self) -> f64 {
        // Rounding may leave the square of a tiny one below 0.
        self.dot(self).max(0.0).sqrt()
    }
}

/// Σ aᵢbᵢ in eight sums at once. A product with K is most of a step, and ndarray's is not vectorised as widely;
/// multiplications and additions are not fused, so that every instruction set gives the same bits.
#[multiversion(targets("x86_64+avx2"))]
fn dot(first: &[f64], second: &[f64]) -> f64 {
    let (first, first_rest) = first.as_chunks::<8>();
    let (second, second_rest) = second.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (first, second) in first.iter().zip(second) {
        for lane in 0..8 {
            sums[lane] += first[lane] * second[lane];
        }
    }
    let rest: f64 = first_rest.iter().zip(second_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// Where the descent ended.
pub struct Minimum {
    pub coefficients: Array1<f64>,
    pub value: f64,
    pub gradient_norm: f64,
    pub iterations: usize,
    pub is_converged: bool,
}

/// A point with its value and gradient.
struct Point {
    position: Element,
    value: f64,
    gradient: Element,
}

impl Point {
    fn at(position: Element, objective: &Objective, gram: ArrayView2<'_, f64>) -> Self {
        let (loss, slopes) = objective.evaluate(position.scores.view());
        let value = loss + 0.5 * position.dot(&position);
        let gradient = Element::new(&position.coefficients + &slopes, gram);
        Self { position, value, gradient }
    }
}

/// Descends from the coefficients until a step gains less than `tolerance` of the objective's value.
pub fn descend(
    objective: &Objective,
    gram: ArrayView2<'_, f64>,
    start: Array1<f64>,
    tolerance: f64,
    most_iterations: usize,
) -> Minimum {
    let mut point = Point::at(Element::new(start, gram), objective, gram);
    let mut history = VecDeque::new();
    let mut iterations = 0;
    let mut is_converged = false;
    while !is_converged && iterations < most_iterations {
        let Some(step) = next_step(objective, &point, &mut history) else {
            // Not even the gradient leads down: the minimum, to rounding.
            is_converged = true;
            break;
        };
        let mut position = point.position.clone();
        position.add(1.0, &step);
        let next = Point::at(position, objective, gram);
        let mut change = next.gradient.clone();
        change.add(-1.0, &point.gradient);
        if history.len() == MEMORY {
            history.pop_front();
        }
        // Wolfe's curvature condition makes this positive; at the limit of rounding it need not be.
        if step.dot(&change) > 0.0 {
            history.push_back((step, change));
        }
        is_converged = point.value - next.value <= tolerance * next.value.abs();
        point = next;
        iterations += 1;
    }
    Minimum {
        gradient_norm: point.gradient.norm(),
        coefficients: point.position.coefficients,
        value: point.value,
        iterations,
        is_converged,
    }
}

/// The step of the line search along the quasi-Newton direction, or else along the gradient.
fn next_step(
    objective: &Objective,
    point: &Point,
    history: &mut VecDeque<(Element, Element)>,
) -> Option<Element> {
    loop {
        let mut direction = quasi_newton(&point.gradient, history);
        if let Some(length) = line_search(objective, point, &direction) {
            direction.scale(length);
            return Some(direction);
        }
        if history.is_empty() {
            return None;
        }
        history.clear();
    }
}

/// −H∇ by the two loops.
fn quasi_newton(gradient: &Element, history: &VecDeque<(Element, Element)>) -> Element {
    let mut direction = gradient.clone();
    direction.scale(-1.0);
    let mut shares = Vec::with_capacity(history.len());
    for (step, change) in history.iter().rev() {
        let share = step.dot(&direction) / step.dot(change);
        direction.add(-share, change);
        shares.push(share);
    }
    if let Some((step, change)) = history.back() {
        direction.scale(step.dot(change) / change.dot(change));
    }
    for ((step, change), share) in history.iter().zip(shares.into_iter().rev()) {
        let correction = share - change.dot(&direction) / step.dot(change);
        direction.add(correction, step);
    }
    direction
}

/// A length at which both weak Wolfe conditions hold, by doubling and bisection.
fn line_search(objective: &Objective, point: &Point, direction: &Element) -> Option<f64> {
    let initial_slope = point.gradient.dot(direction);
    if initial_slope >= 0.0 {
        return None;
    }
    let along = point.position.dot(direction);
    let square = direction.dot(direction);
    let base = 0.5 * point.position.dot(&point.position);
    let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..TRIALS {
        let mut scores = point.position.scores.clone();
        scores.scaled_add(length, &direction.scores);
        let (loss, slopes) = objective.evaluate(scores.view());
        let value = loss + base + length * along + 0.5 * length * length * square;
        let slope = slopes.dot(&direction.scores) + along + length * square;
        if value > point.value + DECREASE * length * initial_slope {
            high = length;
        } else if slope < CURVATURE * initial_slope {
            low = length;
        } else {
            return Some(length);
        }
        length = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * length };
    }
    None
}
