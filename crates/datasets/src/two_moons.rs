//! Two moons (section 5.1): interleaved half circles, and the same rotated as target.
//!
//! The paper does not give the generator. These are the classical half circles of radius 1, rotated about
//! the centre of the pair.

use std::f64::consts::PI;

use ndarray::Array2;
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::draw::{DrawKey, Purpose};
use crate::error::{Error, Result};

/// The middle of the upper moon's centre (0, 0) and the lower moon's (1, ½).
pub const PAIR_CENTRE: [f64; 2] = [0.5, 0.25];

/// The most samples that one moon may have.
const MAX_SAMPLES: usize = 1_000_000;

/// The problem's parameters; the default is the paper's, which gives no noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TwoMoons {
    /// Source samples in each moon.
    pub source_per_class: usize,
    /// Target samples in each moon.
    pub target_per_class: usize,
    /// Test samples in both moons together.
    pub test_samples: usize,
    /// Standard deviation of the Gaussian noise on each coordinate.
    pub noise: f64,
    /// The target's rotation, in degrees, counter-clockwise.
    pub angle: f64,
    /// The point that stays where it is.
    pub centre: [f64; 2],
}

impl Default for TwoMoons {
    fn default() -> Self {
        Self {
            source_per_class: 150,
            target_per_class: 150,
            test_samples: 1000,
            noise: 0.0,
            angle: 0.0,
            centre: PAIR_CENTRE,
        }
    }
}

/// One realization of the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Moons {
    /// Not rotated.
    pub source: Domain,
    /// Rotated.
    pub target: Domain,
    /// More samples of the target's distribution.
    pub test: Domain,
}

impl TwoMoons {
    /// Draws one realization.
    pub fn generate(&self, key: DrawKey<'_>) -> Result<Moons> {
        self.check()?;
        let stream = &mut key.stream(Purpose::Generate);
        let lower_test = self.test_samples / 2;
        Ok(Moons {
            source: self.sample("source", [self.source_per_class; 2], 0.0, stream)?,
            target: self.sample("target", [self.target_per_class; 2], self.angle, stream)?,
            test: self.sample(
                "test",
                [self.test_samples - lower_test, lower_test],
                self.angle,
                stream,
            )?,
        })
    }

    /// Fails if a parameter has no meaning.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: String, rule| Err(Error::Parameter { name, value, rule });
        for (name, count, moons) in [
            ("source_per_class", self.source_per_class, 1),
            ("target_per_class", self.target_per_class, 1),
            ("test_samples", self.test_samples, 2),
        ] {
            if count < moons {
                return refuse(name, count.to_string(), "each moon needs at least one sample");
            }
            if count > moons * MAX_SAMPLES {
                return refuse(name, count.to_string(), "a moon has at most 1000000 samples");
            }
        }
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            return refuse(
                "noise",
                self.noise.to_string(),
                "it is a standard deviation, 0 or more",
            );
        }
        if !self.angle.is_finite() {
            return refuse("angle", self.angle.to_string(), "it is a number of degrees");
        }
        if !self.centre.iter().all(|coordinate| coordinate.is_finite()) {
            return refuse("centre", format!("{:?}", self.centre), "it is a point of the plane");
        }
        Ok(())
    }

    fn sample(
        &self,
        name: &str,
        moon_sizes: [usize; 2],
        angle: f64,
        random: &mut impl Rng,
    ) -> Result<Domain> {
        let (sine, cosine) = angle.to_radians().sin_cos();
        let [centre_x, centre_y] = self.centre;
        let mut coordinates = Vec::with_capacity(2 * (moon_sizes[0] + moon_sizes[1]));
        let mut labels = Vec::with_capacity(moon_sizes[0] + moon_sizes[1]);
        for (moon, &size) in moon_sizes.iter().enumerate() {
            for _ in 0..size {
                let turn = random.gen_range(0.0..PI);
                let (x, y) = match moon {
                    0 => (turn.cos(), turn.sin()),
                    _ => (1.0 - turn.cos(), 0.5 - turn.sin()),
                };
                let [noise_x, noise_y] = gaussian_pair(random);
                let x = x + self.noise * noise_x - centre_x;
                let y = y + self.noise * noise_y - centre_y;
                coordinates.push(centre_x + cosine * x - sine * y);
                coordinates.push(centre_y + sine * x + cosine * y);
                labels.push(moon);
            }
        }
        let features = Array2::from_shape_vec((labels.len(), 2), coordinates)
            .expect("two coordinates were pushed for each label");
        Domain::new(name, features, labels, vec!["upper".into(), "lower".into()])
    }
}

/// Two independent standard normal numbers, by Box and Muller.
pub(crate) fn gaussian_pair(random: &mut impl Rng) -> [f64; 2] {
    // 1 − u is never 0, whose logarithm is infinite.
    let radius = (-2.0 * (1.0 - random.r#gen::<f64>()).ln()).sqrt();
    let (sine, cosine) = random.gen_range(0.0..2.0 * PI).sin_cos();
    [radius * cosine, radius * sine]
}
