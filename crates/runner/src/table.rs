//! Tables as text: for the screen, as Markdown and as CSV.

use comfy_table::{CellAlignment, ContentArrangement, presets};

use crate::paper::PaperTable;
use crate::scores::{Cell, Scores};

/// A table of strings, its first column naming the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// For a terminal.
    pub fn to_screen(&self) -> String {
        self.drawn(presets::UTF8_FULL_CONDENSED)
    }

    /// For a Markdown file.
    pub fn to_markdown(&self) -> String {
        let escaped = |fields: &Vec<String>| -> Vec<String> {
            fields.iter().map(|field| field.replace('|', "\\|")).collect()
        };
        let rows = self.rows.iter().map(escaped).collect();
        Self { header: escaped(&self.header), rows }.drawn(presets::ASCII_MARKDOWN)
    }

    /// For machines.
    pub fn to_csv(&self) -> String {
        let line = |fields: &Vec<String>| {
            let quoted: Vec<String> = fields.iter().map(|field| quote(field)).collect();
            quoted.join(",") + "\n"
        };
        std::iter::once(&self.header).chain(&self.rows).map(line).collect()
    }

    fn drawn(&self, preset: &str) -> String {
        let mut table = comfy_table::Table::new();
        table
            .load_preset(preset)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(&self.header)
            .add_rows(&self.rows);
        for (place, column) in table.column_iter_mut().enumerate() {
            if self.rows.iter().all(|row| is_number_or_empty(&row[place])) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string()
    }
}

/// Whether a cell reads as a number, be it with an error or in a unit.
fn is_number_or_empty(cell: &str) -> bool {
    cell.trim_start_matches(['+', '-', '−'])
        .chars()
        .next()
        .is_none_or(|first| first.is_ascii_digit())
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// The paper's layout of accuracies in percent: pairs and their mean down, methods across.
pub fn accuracies(scores: &Scores, show: impl Fn(&Cell) -> String) -> Table {
    let mut rows: Vec<Vec<String>> = scores
        .pairs
        .iter()
        .zip(&scores.cells)
        .map(|(pair, cells)| std::iter::once(pair.clone()).chain(cells.iter().map(&show)).collect())
        .collect();
    if scores.pairs.len() > 1 {
        let means = (0..scores.methods.len())
            .map(|method| show(&Cell(vec![scores.mean_over_pairs(method)])));
        rows.push(std::iter::once("mean".to_owned()).chain(means).collect());
    }
    Table { header: header("pair", &scores.methods), rows }
}

/// The layout of the paper's Table 1: methods down, angles across, error rates.
pub fn error_rates(scores: &Scores, show: impl Fn(&Cell) -> String) -> Table {
    let angles: Vec<&str> =
        scores.pairs.iter().map(|pair| pair.trim_start_matches("0->")).collect();
    let rows = scores
        .methods
        .iter()
        .enumerate()
        .map(|(method, title)| {
            let cells = scores.cells.iter().map(|row| show(&row[method].complement()));
            std::iter::once((*title).to_owned()).chain(cells).collect()
        })
        .collect();
    Table { header: header("method", &angles), rows }
}

/// Ours minus the paper's, with the paper's value in brackets. None if the paper has no such cell.
pub fn differences(scores: &Scores, paper: &PaperTable) -> Option<Table> {
    let mut sums = vec![(0.0, 0); scores.methods.len()];
    let mut rows = Vec::new();
    for (pair, cells) in scores.pairs.iter().zip(&scores.cells) {
        let mut row = vec![pair.clone()];
        for ((method, cell), sum) in scores.methods.iter().zip(cells).zip(&mut sums) {
            row.push(match paper.accuracy(pair, method) {
                Some(printed) => {
                    let difference = 100.0 * cell.mean() - printed;
                    *sum = (sum.0 + difference, sum.1 + 1);
                    format!("{difference:+.1} [{printed:.2}]")
                }
                None => String::new(),
            });
        }
        rows.push(row);
    }
    if sums.iter().all(|&(_, count)| count == 0) {
        return None;
    }
    let means = sums.iter().map(|&(sum, count)| match count {
        0 => String::new(),
        count => format!("{:+.1}", sum / f64::from(count)),
    });
    rows.push(std::iter::once("mean".to_owned()).chain(means).collect());
    Some(Table { header: header("ours − paper [paper]", &scores.methods), rows })
}

fn header(first: &str, rest: &[&str]) -> Vec<String> {
    std::iter::once(first).chain(rest.iter().copied()).map(str::to_owned).collect()
}

/// `21.2 ± 0.5`, in percent.
pub fn percent_with_error(cell: &Cell) -> String {
    match cell.standard_error() {
        Some(error) => format!("{:.1} ± {:.1}", 100.0 * cell.mean(), 100.0 * error),
        None => format!("{:.1}", 100.0 * cell.mean()),
    }
}

/// `21.23`, in percent.
pub fn percent(cell: &Cell) -> String {
    format!("{:.2}", 100.0 * cell.mean())
}

/// `0.212 ± 0.005`.
pub fn rate_with_error(cell: &Cell) -> String {
    match cell.standard_error() {
        Some(error) => format!("{:.3} ± {error:.3}", cell.mean()),
        None => rate(cell),
    }
}

/// `0.212`.
pub fn rate(cell: &Cell) -> String {
    format!("{:.3}", cell.mean())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores() -> Scores {
        Scores {
            pairs: vec!["C->A".into(), "D->W".into()],
            methods: vec!["1NN"],
            cells: vec![vec![Cell(vec![0.2, 0.22])], vec![Cell(vec![0.5, 0.5])]],
        }
    }

    #[test]
    fn the_csv_has_the_papers_header_and_plain_numbers() {
        let csv = accuracies(&scores(), percent).to_csv();
        assert_eq!(csv, "pair,1NN\nC->A,21.00\nD->W,50.00\nmean,35.50\n");
    }

    #[test]
    fn differences_show_the_papers_value() {
        let paper = PaperTable::of_set("office-surf").unwrap();
        let table = differences(&scores(), &paper).unwrap();
        assert_eq!(table.rows[0], ["C->A", "+0.5 [20.54]"]);
        assert_eq!(table.rows[1], ["D->W", "-1.3 [51.26]"]);
        assert_eq!(table.rows[2], ["mean", "-0.4"]);
    }

    #[test]
    fn bars_in_markdown_do_not_cut_a_cell() {
        let table = Table { header: vec!["a|b".into()], rows: vec![vec!["c|d".into()]] };
        assert_eq!(table.to_markdown(), "| a\\|b |\n|------|\n| c\\|d |");
    }

    #[test]
    fn fields_with_commas_are_quoted() {
        let table = Table { header: vec!["a,b".into()], rows: vec![vec!["say \"c\"".into()]] };
        assert_eq!(table.to_csv(), "\"a,b\"\n\"say \"\"c\"\"\"\n");
    }
}
