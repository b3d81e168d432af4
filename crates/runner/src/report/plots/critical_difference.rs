//! The critical-difference diagram of mean ranks (Demšar 2006).

use super::Plot;
use super::frame::room_for;
use crate::report::Subject;
use crate::report::ranks::Ranking;
use crate::report::scale::Scale;
use crate::report::svg::Drawing;
use crate::scores::Cell;

/// The length of the axis.
const LENGTH: f64 = 420.0;
const AXIS: f64 = 62.0;
const ROW: f64 = 22.0;

/// A diagram for each group of columns that compete, over all pairs that have all of them.
pub fn critical_difference(subject: &Subject<'_>) -> Vec<Plot> {
    let columns = &subject.scores.columns;
    let mut prefixes: Vec<&str> = columns.iter().map(|column| column.prefix).collect();
    prefixes.dedup();
    let diagram = |prefix: &&str| {
        let rivals: Vec<usize> =
            (0..columns.len()).filter(|&place| columns[place].prefix == *prefix).collect();
        let rows: Vec<Vec<f64>> = subject
            .scores
            .sections
            .iter()
            .flat_map(|section| &section.cells)
            .filter_map(|cells| {
                rivals.iter().map(|&place| cells[place].as_ref().map(Cell::mean)).collect()
            })
            .collect();
        let ranking = Ranking::of(&rows)?;
        let names: Vec<String> = rivals.iter().map(|&place| columns[place].name()).collect();
        let verdict = if ranking.p_value < 0.05 {
            "the methods are not all the same"
        } else {
            "that the methods are all the same cannot be excluded"
        };
        Some(Plot {
            title: "Critical difference of mean ranks".into(),
            svg: drawn(&ranking, &names),
            note: format!(
                "Ranks over {} pairs, 1 is best. Friedman’s test: p = {}, {verdict}. Methods under one bar differ \
                 by less than Nemenyi’s critical difference of {:.2} at 5 %.",
                ranking.rows,
                probability(ranking.p_value),
                ranking.critical_difference
            ),
        })
    };
    prefixes.iter().filter_map(diagram).collect()
}

fn probability(p: f64) -> String {
    if p >= 0.001 { format!("{p:.3}") } else { format!("{p:.0e}") }
}

fn drawn(ranking: &Ranking, names: &[String]) -> String {
    let count = names.len();
    // A name and a rank stand on either side.
    let side = room_for(names.iter().map(String::as_str)) + 70.0;
    let (left, right) = (side, side + LENGTH);
    let scale = Scale::linear((1.0, count as f64), (left, right));
    let cliques = ranking.cliques();
    let first = AXIS + 22.0 + 9.0 * cliques.len() as f64;
    let half = count.div_ceil(2);
    let mut drawing = Drawing::new(right + side, first + ROW * half as f64 + 4.0);

    drawing.line((left, AXIS), (right, AXIS), "axis");
    for rank in 1..=count {
        let x = scale.at(rank as f64);
        drawing.line((x, AXIS - 6.0), (x, AXIS), "axis");
        drawing.text((x, AXIS - 11.0), "tick middle", &rank.to_string());
    }
    let width =
        (ranking.critical_difference * (right - left) / (count as f64 - 1.0)).min(right - left);
    drawing.line((left, 22.0), (left + width, 22.0), "interval");
    for x in [left, left + width] {
        drawing.line((x, 17.0), (x, 27.0), "interval");
    }
    let text = format!("critical difference {:.2}", ranking.critical_difference);
    drawing.text((left + width + 8.0, 26.0), "legend", &text);

    for (place, method) in ranking.order().into_iter().enumerate() {
        let rank = ranking.mean_ranks[method];
        let x = scale.at(rank);
        let is_left = place < half;
        // The outermost labels are highest, so that no line crosses another.
        let row = if is_left { place } else { count - 1 - place };
        let y = first + ROW * row as f64 + 6.0;
        let end = if is_left { left - 18.0 } else { right + 18.0 };
        drawing.curve(&[(x, AXIS), (x, y), (end, y)], "leader");
        let text = format!("{rank:.2}");
        if is_left {
            drawing.text((end - 44.0, y + 4.0), "name end", &names[method]);
            drawing.text((end - 6.0, y + 4.0), "value end", &text);
        } else {
            drawing.text((end + 46.0, y + 4.0), "name", &names[method]);
            drawing.text((end + 6.0, y + 4.0), "value", &text);
        }
    }
    for (place, clique) in cliques.iter().enumerate() {
        let y = AXIS + 12.0 + 9.0 * place as f64;
        let ends = [clique.first(), clique.last()]
            .map(|method| method.map_or(left, |&method| scale.at(ranking.mean_ranks[method])));
        drawing.line((ends[0] - 3.0, y), (ends[1] + 3.0, y), "clique");
    }
    drawing.into_inline("Critical-difference diagram")
}
