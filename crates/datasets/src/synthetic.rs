//! A small benchmark that needs no file: ten Gaussian classes seen by four domains, each of which turns
//! and shifts the features a little more.

use std::f64::consts::PI;

use ndarray::Array2;
use rand::Rng;

use crate::domain::Domain;
use crate::draw::{DrawKey, Purpose};
use crate::error::Result;
use crate::two_moons::gaussian_pair;

/// The abbreviations of the four domains.
pub const SYNTHETIC_DOMAINS: [&str; 4] = ["S1", "S2", "S3", "S4"];

const CLASSES: usize = 10;
/// Even: features turn in pairs.
const WIDTH: usize = 32;
const SAMPLES_PER_CLASS: usize = 40;
/// Between neighbouring domains. At a quarter turn nothing of the source is left.
const TURN: f64 = PI / 9.0;
const SHIFT: f64 = 0.6;
/// Of the class centres, around which the samples have unit deviation.
const SPREAD: f64 = 1.1;

/// Generates the four domains of one seed.
pub fn synthetic_benchmark(seed: u64) -> Result<Vec<Domain>> {
    let stream = |name: &str| {
        DrawKey { seed, source: "synthetic", target: name, trial: 0 }.stream(Purpose::Generate)
    };
    let centres = gaussian_matrix(CLASSES, SPREAD, &mut stream("centres"));
    let direction = gaussian_matrix(1, SHIFT, &mut stream("direction"));
    SYNTHETIC_DOMAINS
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let samples = CLASSES * SAMPLES_PER_CLASS;
            let labels: Vec<usize> =
                (0..samples).map(|sample| sample / SAMPLES_PER_CLASS).collect();
            let mut features = gaussian_matrix(samples, 1.0, &mut stream(name));
            let (sine, cosine) = (place as f64 * TURN).sin_cos();
            for (mut row, &label) in features.rows_mut().into_iter().zip(&labels) {
                row += &centres.row(label);
                for pair in 0..WIDTH / 2 {
                    let (x, y) = (row[2 * pair], row[2 * pair + 1]);
                    row[2 * pair] = cosine * x - sine * y;
                    row[2 * pair + 1] = sine * x + cosine * y;
                }
                row.scaled_add(place as f64, &direction.row(0));
            }
            let class_names = (0..CLASSES).map(|class| class.to_string()).collect();
            Domain::new(*name, features, labels, class_names)
        })
        .collect()
}

fn gaussian_matrix(rows: usize, deviation: f64, random: &mut impl Rng) -> Array2<f64> {
    let mut matrix = Array2::zeros((rows, WIDTH));
    for mut row in matrix.rows_mut() {
        for pair in 0..WIDTH / 2 {
            let [first, second] = gaussian_pair(random);
            row[2 * pair] = deviation * first;
            row[2 * pair + 1] = deviation * second;
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmark_is_four_balanced_domains_of_one_width() {
        let domains = synthetic_benchmark(1).unwrap();
        assert_eq!(domains.len(), 4);
        for domain in &domains {
            assert_eq!(domain.class_counts(), [SAMPLES_PER_CLASS; CLASSES]);
            assert_eq!(domain.width(), WIDTH);
        }
        assert_ne!(domains[0].features(), domains[1].features());
        assert_eq!(domains, synthetic_benchmark(1).unwrap());
        assert_ne!(domains, synthetic_benchmark(2).unwrap());
    }
}
