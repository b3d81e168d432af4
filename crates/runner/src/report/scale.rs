//! Scales: from values to places on a drawing, with ticks that people read.

/// A linear or logarithmic scale.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    values: (f64, f64),
    places: (f64, f64),
    is_logarithmic: bool,
}

impl Scale {
    /// Maps the first value to the first place and the last to the last.
    pub fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        // A scale of one value, or of several that only rounding tells apart, has room around it.
        let least = 1e-12 * values.0.abs().max(values.1.abs());
        let room = 0.5_f64.max(least);
        let is_one = (values.1 - values.0).abs() <= least;
        let values = if is_one { (values.0 - room, values.1 + room) } else { values };
        Self { values, places, is_logarithmic: false }
    }

    /// The same by orders of magnitude, of positive values; from and to whole powers of ten.
    pub fn logarithmic(values: (f64, f64), places: (f64, f64)) -> Self {
        let low = values.0.max(f64::MIN_POSITIVE).log10().floor();
        let high = values.1.max(f64::MIN_POSITIVE).log10().ceil();
        let high = if high > low { high } else { low + 1.0 };
        Self { values: (low, high), places, is_logarithmic: true }
    }

    /// Where a value is; what is outside is at the end.
    pub fn at(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = (value - self.values.0) / (self.values.1 - self.values.0);
        self.places.0 + share.clamp(0.0, 1.0) * (self.places.1 - self.places.0)
    }

    /// Values to mark, with their texts: powers of ten, or steps of 1, 2 or 5.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let (low, high) = self.values;
        if self.is_logarithmic {
            let step = ((high - low) / most as f64).ceil().max(1.0);
            return steps(low, high, step)
                .into_iter()
                .map(|power| (10_f64.powf(power), power_of_ten(power)))
                .collect();
        }
        let rough = (high - low) / most as f64;
        let magnitude = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * magnitude)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let decimals = if step >= 1.0 { 0 } else { decimals(step) };
        steps((low / step).ceil() * step, high, step)
            .into_iter()
            .map(|value| (value, format!("{value:.decimals$}")))
            .collect()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn steps(low: f64, high: f64, step: f64) -> Vec<f64> {
    let count = ((high - low) / step + 1e-9).floor().max(-1.0) + 1.0;
    (0..count as u32).map(|place| low + f64::from(place) * step).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn decimals(step: f64) -> usize {
    (-step.log10().floor()).max(0.0) as usize
}

fn power_of_ten(power: f64) -> String {
    match power {
        -2.0 => "0.01".into(),
        -1.0 => "0.1".into(),
        0.0 => "1".into(),
        1.0 => "10".into(),
        2.0 => "100".into(),
        3.0 => "1000".into(),
        power => format!("1e{power:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let texts =
            |scale: Scale| scale.ticks(5).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(Scale::linear((23.0, 48.0), (0.0, 1.0))), ["25", "30", "35", "40", "45"]);
        assert_eq!(
            texts(Scale::linear((0.0, 0.5), (0.0, 1.0))),
            ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]
        );
        assert_eq!(
            texts(Scale::logarithmic((0.02, 300.0), (0.0, 1.0))),
            ["0.01", "0.1", "1", "10", "100", "1000"]
        );
        // Apart by rounding only, and too large for a room of ½.
        for value in [1.0, 1e300] {
            let ticks = Scale::linear((value, value * (1.0 + f64::EPSILON)), (0.0, 1.0)).ticks(5);
            assert!((1..10).contains(&ticks.len()), "{ticks:?}");
        }
        let scale = Scale::logarithmic((1.0, 100.0), (0.0, 10.0));
        assert!((scale.at(10.0) - 5.0).abs() < 1e-12 && scale.at(0.0) == 0.0);
    }
}
