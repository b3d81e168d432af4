//! Mean ranks of methods over pairs: Friedman's test and Nemenyi's critical difference, as in J. Demšar,
//! "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
//!
//! χ²_F = 12N/(k(k+1)) (Σ R_j² − k(k+1)²/4) for k methods on N pairs, divided by 1 − Σ(t³−t)/(N(k³−k)) where
//! ranks are tied, and CD = q √(k(k+1)/(6N)), with q the 95 % quantile of the studentized range over √2.

use std::f64::consts::{PI, SQRT_2};

use crate::scores::is_same;
use crate::statistics::erfc;

/// What the ranks say.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// N.
    pub rows: usize,
    /// R_j, the mean rank of each method; 1 is best.
    pub mean_ranks: Vec<f64>,
    /// Of Friedman's test: how likely such ranks are if all methods are the same.
    pub p_value: f64,
    /// Methods whose mean ranks differ by less cannot be told apart at 5 %.
    pub critical_difference: f64,
}

impl Ranking {
    /// Of rows with a value for each method, larger being better. None without two methods and two rows.
    pub fn of(rows: &[Vec<f64>]) -> Option<Self> {
        let methods = rows.first()?.len();
        if methods < 2 || rows.len() < 2 {
            return None;
        }
        let (n, k) = (rows.len() as f64, methods as f64);
        let ranked: Vec<Vec<f64>> = rows.iter().map(|row| ranks(row)).collect();
        let mean_ranks: Vec<f64> = (0..methods)
            .map(|method| ranked.iter().map(|row| row[method]).sum::<f64>() / n)
            .collect();
        let squares: f64 = mean_ranks.iter().map(|rank| rank * rank).sum();
        let statistic = 12.0 * n / (k * (k + 1.0)) * (squares - k * (k + 1.0).powi(2) / 4.0);
        let ties: f64 = rows.iter().map(|row| tie_term(row)).sum();
        let correction = 1.0 - ties / (n * (k.powi(3) - k));
        let p_value = if correction > 0.0 {
            chi_squared_tail(statistic / correction, methods - 1)
        } else {
            1.0
        };
        let critical_difference =
            studentized_range_quantile(methods) / SQRT_2 * (k * (k + 1.0) / (6.0 * n)).sqrt();
        Some(Self { rows: rows.len(), mean_ranks, p_value, critical_difference })
    }

    /// The groups of methods, by their places from best to worst, within which no two differ by the critical
    /// difference; only the largest ones, and none of a single method.
    pub fn cliques(&self) -> Vec<Vec<usize>> {
        let order = self.order();
        let mut cliques: Vec<Vec<usize>> = Vec::new();
        let mut last_end = 0;
        for start in 0..order.len() {
            let first = self.mean_ranks[order[start]];
            let count = order[start..]
                .iter()
                .take_while(|&&method| self.mean_ranks[method] - first < self.critical_difference)
                .count();
            if count > 1 && start + count > last_end {
                cliques.push(order[start..start + count].to_vec());
                last_end = start + count;
            }
        }
        cliques
    }

    /// The methods from best to worst.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.mean_ranks.len()).collect();
        order.sort_by(|&a, &b| self.mean_ranks[a].total_cmp(&self.mean_ranks[b]));
        order
    }
}

/// The rank of each value, the largest being 1; equal ones share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let above = values.iter().filter(|other| *other > value && !is_same(**other, *value));
        let (above, same) = (above.count() as f64, same_as(*value, values));
        above + f64::midpoint(same, 1.0)
    };
    values.iter().map(rank).collect()
}

/// Σ (t³ − t) over the groups of t equal values.
fn tie_term(values: &[f64]) -> f64 {
    // Each member of a group of t adds t² − 1.
    values.iter().map(|value| same_as(*value, values).powi(2) - 1.0).sum()
}

fn same_as(value: f64, values: &[f64]) -> f64 {
    values.iter().filter(|other| is_same(**other, value)).count() as f64
}

/// P(χ² > x) with some degrees of freedom, by the recurrence from one or two degrees up:
/// Q(ν + 2) = Q(ν) + (x/2)^{ν/2} e^{−x/2} / Γ(ν/2 + 1).
fn chi_squared_tail(x: f64, freedom: usize) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let half = x / 2.0;
    let is_odd = freedom % 2 == 1;
    let (mut tail, mut degrees, mut term) = if is_odd {
        (erfc(half.sqrt()), 1, 2.0 * (half / PI).sqrt() * (-half).exp())
    } else {
        ((-half).exp(), 2, half * (-half).exp())
    };
    while degrees < freedom {
        tail += term;
        degrees += 2;
        term *= half / (degrees as f64 / 2.0);
    }
    tail.clamp(0.0, 1.0)
}

/// The 95 % quantile of the range of k independent standard normal values.
fn studentized_range_quantile(count: usize) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if range_probability(middle, count) < 0.95 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// P(range ≤ q) = k ∫ φ(z) [Φ(z) − Φ(z − q)]^{k−1} dz, by the trapezoidal rule, which converges at once for
/// such integrands.
fn range_probability(q: f64, count: usize) -> f64 {
    const STEPS: u32 = 800;
    const REACH: f64 = 9.0;
    let normal = |z: f64| {
        let tail = 0.5 * erfc(z.abs() / SQRT_2);
        if z < 0.0 { tail } else { 1.0 - tail }
    };
    let width = 2.0 * REACH / f64::from(STEPS);
    let power = i32::try_from(count - 1).unwrap_or(i32::MAX);
    let value = |step: u32| {
        let z = -REACH + f64::from(step) * width;
        (-z * z / 2.0).exp() / (2.0 * PI).sqrt() * (normal(z) - normal(z - q)).powi(power)
    };
    count as f64 * width * (0..=STEPS).map(value).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_demsars_table() {
        for (methods, quantile) in [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)] {
            let ours = studentized_range_quantile(methods) / SQRT_2;
            assert!((ours - quantile).abs() < 2e-3, "{methods}: {ours}");
        }
    }

    #[test]
    fn the_chi_squared_tail_is_that_of_the_tables() {
        for (x, freedom) in [(3.841_459, 1), (5.991_465, 2), (7.814_728, 3), (16.918_98, 9)] {
            assert!((chi_squared_tail(x, freedom) - 0.05).abs() < 1e-6, "{freedom}");
        }
    }

    #[test]
    fn ties_share_their_ranks_and_the_best_is_first() {
        // The mean of 0.1, 0.2 and 0.3 in two orders.
        let (first, second) = ((0.1 + 0.2 + 0.3) / 3.0, (0.3 + 0.2 + 0.1) / 3.0);
        assert_ne!(first, second);
        assert_eq!(ranks(&[first, second, 0.1]), [1.5, 1.5, 3.0]);
        assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(tie_term(&[0.5, 0.9, 0.5, 0.1]), 6.0);
    }

    #[test]
    fn friedmans_test_tells_a_constant_order_from_none() {
        let ordered = vec![vec![3.0, 2.0, 1.0]; 10];
        let ranking = Ranking::of(&ordered).unwrap();
        assert_eq!(ranking.mean_ranks, [1.0, 2.0, 3.0]);
        // χ²_F = N(k − 1) = 20 with two degrees of freedom.
        assert!((ranking.p_value - (-10.0_f64).exp()).abs() < 1e-12);
        // CD = 2.343 √(12/60): neighbours cannot be told apart, the ends can.
        assert_eq!(ranking.cliques(), [vec![0, 1], vec![1, 2]]);
        let same = Ranking::of(&vec![vec![1.0; 3]; 4]).unwrap();
        assert_eq!((same.p_value, same.cliques()), (1.0, vec![vec![0, 1, 2]]));
        assert_eq!(Ranking::of(&[vec![1.0, 2.0]]), None);
    }
}
