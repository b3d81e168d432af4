//! Example images of one class from each domain, from the pixels that the files hold.

use anyhow::{Context as _, Result};
use datasets::{DataSet, Domain, Library};

use super::png::png;
use super::scene::STYLE;
use crate::progress::DownloadBars;
use crate::report::base64;
use crate::report::svg::Drawing;

const SAMPLES: usize = 5;
const SIZE: f64 = 64.0;
const LEFT: f64 = 90.0;

/// How a set's pictures are to be read.
struct Pictures {
    set: &'static str,
    /// The class that is shown.
    class: usize,
    /// Whether a sample's features are the picture's columns, one after the other, as MATLAB writes them.
    by_columns: bool,
}

/// Digits of one class, as they are classified: 16 × 16 pixels.
pub fn digits(library: &Library) -> Result<String> {
    draw(library, &Pictures { set: "digits", class: 3, by_columns: false })
}

/// Faces of one person.
pub fn faces(library: &Library) -> Result<String> {
    draw(library, &Pictures { set: "pie", class: 0, by_columns: true })
}

fn draw(library: &Library, pictures: &Pictures) -> Result<String> {
    let set = DataSet::find(pictures.set)?;
    let wanted: Vec<_> = set.domains.iter().map(|entry| (set, entry)).collect();
    library.fetch_missing(&wanted, &DownloadBars::new(false))?;
    let height = 10.0 + (SIZE + 6.0) * set.domains.len() as f64;
    let mut drawing = Drawing::new(LEFT + (SIZE + 6.0) * SAMPLES as f64 + 4.0, height);
    for (row, entry) in set.domains.iter().enumerate() {
        let domain = library.load(set, entry)?;
        let y = 10.0 + (SIZE + 6.0) * row as f64;
        drawing.text((10.0, y + SIZE / 2.0 + 5.0), "", entry.name);
        let places = spread(&domain, pictures.class);
        for (column, place) in places.into_iter().enumerate() {
            let file = picture(&domain, place, pictures.by_columns)
                .with_context(|| format!("domain {}", entry.abbreviation))?;
            let address = format!("data:image/png;base64,{}", base64(&file));
            let x = LEFT + (SIZE + 6.0) * column as f64;
            drawing.picture((x, y), (SIZE, SIZE), &address);
        }
    }
    Ok(drawing.into_file(&format!("Examples of {}", set.title), STYLE))
}

/// Some samples of a class, as far from each other in the file as can be.
fn spread(domain: &Domain, class: usize) -> Vec<usize> {
    let labels = domain.labels().iter().enumerate();
    let all: Vec<usize> =
        labels.filter(|(_, label)| **label == class).map(|(place, _)| place).collect();
    let count = SAMPLES.min(all.len());
    (0..count).map(|place| all[place * all.len() / count]).collect()
}

/// A sample as a picture, its darkest pixel black and its brightest white.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
fn picture(domain: &Domain, sample: usize, by_columns: bool) -> Result<Vec<u8>> {
    let features = domain.features();
    let values = features.row(sample);
    let side = (1..=values.len()).find(|side| side * side >= values.len()).unwrap_or(1);
    anyhow::ensure!(
        side * side == values.len(),
        "{} features are not a square picture",
        values.len()
    );
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
    let range = if high > low { high - low } else { 1.0 };
    let pixel = |place: usize| {
        let place = if by_columns { place % side * side + place / side } else { place };
        (255.0 * (values[place] - low) / range).round() as u8
    };
    let pixels: Vec<u8> = (0..values.len()).map(pixel).collect();
    Ok(png(u32::try_from(side)?, &pixels))
}
