//! A map over two hyper-parameters: a colour and a text for each point, and a disc for how often it was chosen.

use crate::report::colours::cividis;
use crate::report::html::pretty;
use crate::report::svg::Drawing;

const CELL: (f64, f64) = (41.0, 33.0);
const LEFT: f64 = 58.0;
const TOP: f64 = 8.0;

/// The two axes of a map: names and values.
pub struct Axes<'a> {
    pub down: (&'a str, &'a [f64]),
    pub across: (&'a str, &'a [f64]),
}

/// One point of a map.
#[derive(Debug, Clone, Default)]
pub struct Tile {
    /// Between 0 and 1, for the colour; none leaves the tile empty.
    pub share: Option<f64>,
    pub text: String,
    /// Between 0 and 1, for the disc.
    pub chosen: f64,
    pub hint: String,
}

/// The map; tiles by row, the first value of `down` at the bottom.
pub fn heat_map(axes: &Axes<'_>, tiles: &[Vec<Tile>], label: &str) -> String {
    let (rows, columns) = (axes.down.1.len() as f64, axes.across.1.len() as f64);
    let bottom = TOP + rows * CELL.1;
    let mut drawing = Drawing::new(LEFT + columns * CELL.0 + 6.0, bottom + 42.0);
    for (row, (value, tiles)) in axes.down.1.iter().zip(tiles).enumerate() {
        let y = bottom - (row as f64 + 1.0) * CELL.1;
        drawing.text((LEFT - 6.0, y + CELL.1 / 2.0 + 4.0), "tick end", &short(*value));
        for (column, tile) in tiles.iter().enumerate() {
            let x = LEFT + column as f64 * CELL.0;
            let size = (CELL.0 - 1.5, CELL.1 - 1.5);
            let Some(share) = tile.share else {
                drawing.rectangle((x, y), size, "tile empty", "", &tile.hint);
                continue;
            };
            let (colour, class) = cividis(share);
            drawing.rectangle((x, y), size, "tile", &colour, &tile.hint);
            let middle = x + size.0 / 2.0;
            drawing.text((middle, y + 12.0), &format!("tile-text middle {class}"), &tile.text);
            if tile.chosen > 0.0 {
                let radius = 1.8 + 5.2 * tile.chosen.sqrt();
                drawing.disc((middle, y + 22.5), radius, &format!("chosen {class}"), &tile.hint);
            }
        }
    }
    for (column, value) in axes.across.1.iter().enumerate() {
        let x = LEFT + (column as f64 + 0.5) * CELL.0;
        drawing.text((x, bottom + 15.0), "tick middle", &short(*value));
    }
    let middle = (LEFT + columns * CELL.0 / 2.0, TOP + rows * CELL.1 / 2.0);
    drawing.text((middle.0, bottom + 34.0), "axis-name middle", &pretty(axes.across.0));
    drawing.upward_text((14.0, middle.1), &pretty(axes.down.0));
    drawing.into_inline(label)
}

/// A value as short as it can be.
pub fn short(value: f64) -> String {
    let plain = format!("{value}");
    if plain.len() <= 5 { plain } else { format!("{value:e}") }
}
