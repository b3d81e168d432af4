//! `[data.two_moons]`: the angles, which make the pairs, and how the moons are generated.

use anyhow::{Result, anyhow, ensure};
use datasets::{Error, PAIR_CENTRE, TwoMoons};
use serde::Deserialize;

use super::data::Data;
use super::pairs::Pair;
use super::place::Place;

/// The paper's rotations, in degrees.
const PAPER_ANGLES: [f64; 7] = [10.0, 20.0, 30.0, 40.0, 50.0, 70.0, 90.0];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTwoMoons {
    angles: Option<Vec<f64>>,
    source_per_class: Option<usize>,
    target_per_class: Option<usize>,
    test_samples: Option<usize>,
    noise: Option<f64>,
    // As an array of two, serde would leave out what more there is.
    centre: Option<Vec<f64>>,
}

/// The data and its pairs, one for each angle.
pub(super) fn check_two_moons(raw: RawTwoMoons, place: &Place<'_>) -> Result<(Data, Vec<Pair>)> {
    let angles = raw.angles.unwrap_or(PAPER_ANGLES.to_vec());
    let at = place.key("angles");
    ensure!(!angles.is_empty(), "{at}: [data.two_moons] angles = []: name at least one angle");
    for (number, angle) in angles.iter().enumerate() {
        let at = at.entry(number);
        ensure!(
            angle.is_finite(),
            "{at}: [data.two_moons] angles has {angle}: an angle is a number of degrees"
        );
        ensure!(
            !angles[..number].contains(angle),
            "{at}: [data.two_moons] angles has {angle} twice: remove one of them"
        );
    }
    let pairs =
        angles.iter().map(|angle| Pair { source: "0".into(), target: angle.to_string() }).collect();
    let centre = raw.centre.unwrap_or(PAIR_CENTRE.to_vec());
    let centre = <[f64; 2]>::try_from(centre).map_err(|centre| {
        anyhow!(
            "{}: [data.two_moons] centre has {} numbers: it is a point of the plane, such as [0.5, 0.25]",
            place.key("centre"),
            centre.len()
        )
    })?;
    let paper = TwoMoons::default();
    let moons = TwoMoons {
        source_per_class: raw.source_per_class.unwrap_or(paper.source_per_class),
        target_per_class: raw.target_per_class.unwrap_or(paper.target_per_class),
        test_samples: raw.test_samples.unwrap_or(paper.test_samples),
        noise: raw.noise.unwrap_or(paper.noise),
        angle: paper.angle,
        centre,
    };
    moons.check().map_err(|problem| match problem {
        Error::Parameter { name, .. } => {
            anyhow!("{}: [data.two_moons] {problem}", place.key(name))
        }
        other => other.into(),
    })?;
    Ok((Data::TwoMoons(moons), pairs))
}
