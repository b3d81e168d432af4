//! Paired comparisons: the same draws under two methods or two runs.

/// What paired differences say.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub count: usize,
    pub mean: f64,
    /// Half the width of the 95 % confidence interval of the mean, by Student's t.
    pub half_width: Option<f64>,
    pub wins: usize,
    pub ties: usize,
    pub losses: usize,
    /// Two-sided p-value of the Wilcoxon signed-rank test; none if all differences are zero.
    pub wilcoxon: Option<f64>,
}

/// Accuracies in percent are rounded quotients: two differences that are nearer than this are equal, and one that is
/// smaller is zero.
const ROUNDING: f64 = 1e-9;

impl Comparison {
    /// Of differences, first minus second.
    pub fn of(differences: &[f64]) -> Self {
        let count = differences.len();
        let mean = differences.iter().sum::<f64>() / count as f64;
        let squares: f64 = differences.iter().map(|value| (value - mean).powi(2)).sum();
        let half_width = (count > 1).then(|| {
            let freedom = (count - 1) as f64;
            student_quantile(freedom) * (squares / freedom / count as f64).sqrt()
        });
        let tally = |is_counted: fn(f64) -> bool| {
            differences.iter().filter(|value| is_counted(**value)).count()
        };
        Self {
            count,
            mean,
            half_width,
            wins: tally(|value| value > ROUNDING),
            ties: tally(|value| value.abs() <= ROUNDING),
            losses: tally(|value| value < -ROUNDING),
            wilcoxon: wilcoxon(differences),
        }
    }
}

/// Most differences without zeros for which the signed-rank distribution is summed exactly.
const EXACT_LIMIT: usize = 50;

/// Wilcoxon's signed-rank test (Wilcoxon 1945), zeros left out: exact for few untied differences, by the
/// normal approximation with tie correction otherwise.
fn wilcoxon(differences: &[f64]) -> Option<f64> {
    let mut sizes: Vec<(f64, bool)> = differences
        .iter()
        .filter(|value| value.abs() > ROUNDING)
        .map(|value| (value.abs(), *value > 0.0))
        .collect();
    let count = sizes.len();
    if count == 0 {
        return None;
    }
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut positive, mut tie_term, mut start) = (0.0, 0.0, 0);
    while start < count {
        let limit = sizes[start].0 + ROUNDING;
        let same = sizes[start..].iter().take_while(|(size, _)| *size <= limit).count();
        let rank = start as f64 + f64::midpoint(same as f64, 1.0);
        let above =
            sizes[start..start + same].iter().filter(|(_, is_positive)| *is_positive).count();
        positive += rank * above as f64;
        tie_term += (same.pow(3) - same) as f64;
        start += same;
    }
    let size = count as f64;
    let all = size * (size + 1.0) / 2.0;
    if tie_term == 0.0 && count <= EXACT_LIMIT {
        return Some(exact_p_value(count, positive.min(all - positive)));
    }
    let variance = size * (size + 1.0) * (2.0 * size + 1.0) / 24.0 - tie_term / 48.0;
    // With continuity correction.
    let distance = ((positive - all / 2.0).abs() - 0.5).max(0.0);
    Some(erfc(distance / variance.sqrt() / std::f64::consts::SQRT_2))
}

/// P(W ≤ w or W ≥ its mirror image), each of the 2ⁿ signs being equally likely.
fn exact_p_value(count: usize, smaller: f64) -> f64 {
    let all = count * (count + 1) / 2;
    // ways[w]: the probability that the positive ranks sum to w.
    let mut ways = vec![0.0; all + 1];
    ways[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..=all).rev() {
            let with = if sum >= rank { ways[sum - rank] } else { 0.0 };
            ways[sum] = 0.5 * (ways[sum] + with);
        }
    }
    let tail: f64 =
        ways.iter().enumerate().filter(|(sum, _)| *sum as f64 <= smaller).map(|(_, p)| p).sum();
    (2.0 * tail).min(1.0)
}

/// The complementary error function, by its series near zero and its continued fraction beyond.
pub fn erfc(x: f64) -> f64 {
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.0 {
        // erf(x) = 2/√π e^{−x²} Σ 2ⁿ x^{2n+1} / (1·3·…·(2n+1))
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term > 1e-17 * sum {
            odd += 2.0;
            term *= 2.0 * x * x / odd;
            sum += term;
        }
        return 1.0 - 2.0 * scale * sum;
    }
    // erfc(x) = e^{−x²}/√π · 1/(x + ½/(x + 1/(x + 3/2/(x + …))))
    let fraction = (1..=60).rev().fold(x, |tail, place| x + 0.5 * f64::from(place) / tail);
    scale / fraction
}

/// The 97.5 % quantile of Student's t, by bisection on its distribution function.
fn student_quantile(freedom: f64) -> f64 {
    let (mut low, mut high) = (1.9, 13.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if student_tail(middle, freedom) > 0.025 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// P(T > t): the density integrated by Simpson's rule in the angle θ with t = √ν tan θ, where it is
/// proportional to cos^{ν−1} θ.
fn student_tail(t: f64, freedom: f64) -> f64 {
    const STEPS: u32 = 2000;
    let integral = |from: f64| {
        let width = (std::f64::consts::FRAC_PI_2 - from) / f64::from(STEPS);
        let weighted = |step: u32| {
            let weight = match step {
                0 | STEPS => 1.0,
                step if step % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * (from + f64::from(step) * width).cos().max(0.0).powf(freedom - 1.0)
        };
        (0..=STEPS).map(weighted).sum::<f64>() * width / 3.0
    };
    0.5 * integral((t / freedom.sqrt()).atan()) / integral(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (freedom, quantile) in [(1.0, 12.706), (2.0, 4.303), (9.0, 2.262), (119.0, 1.980)] {
            assert!((student_quantile(freedom) - quantile).abs() < 2e-3, "{freedom}");
        }
    }

    #[test]
    fn the_signed_rank_test_has_its_known_p_values() {
        // Six positive differences: 2/2⁶.
        let p = wilcoxon(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert!((p - 2.0 / 64.0).abs() < 1e-15);
        // Balanced signs say nothing.
        assert!(wilcoxon(&[1.0, -2.0, -3.0, 4.0]).unwrap() > 0.99);
        assert_eq!(wilcoxon(&[0.0, 0.0]), None);
        // Ties: z = (55 − 27.5 − ½)/√(96.25 − (10³ − 10)/48), two-sided.
        let tied = wilcoxon(&[1.0; 10]).unwrap();
        let z = 27.0 / (96.25_f64 - 990.0 / 48.0).sqrt();
        assert!((tied - erfc(z / std::f64::consts::SQRT_2)).abs() < 1e-15);
        // One sample of 79 more is the same whatever it is added to.
        let one_more = |right: i32| 100.0 * (f64::from(right + 1) / 79.0 - f64::from(right) / 79.0);
        let rounded: Vec<f64> = (31..41).map(one_more).collect();
        assert!(rounded.windows(2).any(|pair| pair[0] != pair[1]));
        assert_eq!(wilcoxon(&rounded), Some(tied));
    }

    #[test]
    fn the_error_function_is_right_on_both_sides_of_its_seam() {
        for (x, value) in [
            (0.0, 1.0),
            (0.5, 0.479_500_122_186_953),
            (1.999, 0.004_698_443_348_629),
            (3.0, 2.209_049_699_858_544e-5),
        ] {
            assert!((erfc(x) - value).abs() < 1e-9 * value.max(1e-3), "{x}: {}", erfc(x));
        }
    }

    #[test]
    fn a_comparison_counts_and_averages() {
        let comparison = Comparison::of(&[0.1, -0.1, 0.3, 0.0]);
        assert_eq!((comparison.wins, comparison.ties, comparison.losses), (2, 1, 1));
        assert!((comparison.mean - 0.075).abs() < 1e-15);
        assert_eq!(Comparison::of(&[0.1]).half_width, None);
    }
}
