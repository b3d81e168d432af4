//! Colours that do not depend on the theme: cividis, which readers with and without colour blindness see alike
//! (J. R. Nuñez, C. R. Anderton, R. S. Renslow, PLOS ONE 13(7), 2018).

/// Cividis at equal steps.
const CIVIDIS: [[f64; 3]; 9] = [
    [0.0, 34.0, 78.0],
    [18.0, 53.0, 112.0],
    [59.0, 73.0, 108.0],
    [87.0, 93.0, 109.0],
    [112.0, 113.0, 115.0],
    [138.0, 134.0, 120.0],
    [165.0, 156.0, 116.0],
    [195.0, 179.0, 105.0],
    [254.0, 232.0, 56.0],
];

/// The colour of a share between 0 and 1, and the class of a text that can be read on it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 7")]
pub fn cividis(share: f64) -> (String, &'static str) {
    let place = share.clamp(0.0, 1.0) * (CIVIDIS.len() - 1) as f64;
    let lower = (place.floor() as usize).min(CIVIDIS.len() - 2);
    let rest = place - lower as f64;
    let part = |channel: usize| {
        (1.0 - rest) * CIVIDIS[lower][channel] + rest * CIVIDIS[lower + 1][channel]
    };
    let text = if share < 0.55 { "on-dark" } else { "on-light" };
    (format!("#{:02x}{:02x}{:02x}", part(0) as u8, part(1) as u8, part(2) as u8), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_dark_blue_and_yellow() {
        assert_eq!(cividis(0.0), ("#00224e".into(), "on-dark"));
        assert_eq!(cividis(1.0), ("#fee838".into(), "on-light"));
        assert_eq!(cividis(f64::NAN.max(0.5)).1, "on-dark");
    }
}
