//! Tables as text: for the screen, as Markdown, as CSV and as LaTeX.

use comfy_table::{Attribute, CellAlignment, ContentArrangement, presets};

/// A table of texts, its first column naming the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub header: Vec<String>,
    pub rows: Vec<Vec<Field>>,
}

/// One text of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field {
    pub text: String,
    /// Shown in bold.
    pub is_best: bool,
}

impl From<String> for Field {
    fn from(text: String) -> Self {
        Self { text, is_best: false }
    }
}

impl Table {
    /// A table in which nothing is best.
    pub fn new(header: &[&str], rows: Vec<Vec<String>>) -> Self {
        let plain = |row: Vec<String>| row.into_iter().map(Field::from).collect();
        Self {
            header: header.iter().copied().map(str::to_owned).collect(),
            rows: rows.into_iter().map(plain).collect(),
        }
    }

    /// For a terminal.
    pub fn to_screen(&self) -> String {
        self.drawn(presets::UTF8_FULL_CONDENSED, |field| {
            let cell = comfy_table::Cell::new(&field.text);
            if field.is_best { cell.add_attribute(Attribute::Bold) } else { cell }
        })
    }

    /// For a Markdown file.
    pub fn to_markdown(&self) -> String {
        self.drawn(presets::ASCII_MARKDOWN, |field| {
            let text = field.text.replace('|', "\\|");
            comfy_table::Cell::new(if field.is_best { format!("**{text}**") } else { text })
        })
    }

    /// For machines.
    pub fn to_csv(&self) -> String {
        let line =
            |fields: Vec<&str>| fields.into_iter().map(quote).collect::<Vec<_>>().join(",") + "\n";
        let header = line(self.header.iter().map(String::as_str).collect());
        let rows =
            self.rows.iter().map(|row| line(row.iter().map(|field| field.text.as_str()).collect()));
        std::iter::once(header).chain(rows).collect()
    }

    /// For a paper; needs `\usepackage{booktabs}`.
    pub fn to_latex(&self) -> String {
        let line = |fields: Vec<String>| fields.join(" & ") + " \\\\\n";
        let header =
            line(self.header.iter().map(|text| format!("\\textbf{{{}}}", latex(text))).collect());
        let mut text = format!(
            "\\begin{{tabular}}{{l{}}}\n\\toprule\n{header}\\midrule\n",
            "r".repeat(self.header.len().saturating_sub(1))
        );
        for (place, row) in self.rows.iter().enumerate() {
            let is_mean = row.first().is_some_and(|field| field.text == MEAN);
            let field = |field: &Field| {
                let text = latex(&field.text);
                if field.is_best { format!("\\textbf{{{text}}}") } else { text }
            };
            text += &line(row.iter().map(field).collect());
            if is_mean && place + 1 < self.rows.len() {
                text += "\\midrule\n";
            }
        }
        text + "\\bottomrule\n\\end{tabular}\n"
    }

    fn drawn(&self, preset: &str, cell: impl Fn(&Field) -> comfy_table::Cell) -> String {
        let header: Vec<Field> = self.header.iter().cloned().map(Field::from).collect();
        let mut table = comfy_table::Table::new();
        table
            .load_preset(preset)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(header.iter().map(&cell))
            .add_rows(self.rows.iter().map(|row| row.iter().map(&cell)));
        for (place, column) in table.column_iter_mut().enumerate() {
            if self.rows.iter().all(|row| is_number_or_empty(&row[place].text)) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string()
    }
}

/// Names the rows that are means of those above.
pub const MEAN: &str = "mean";

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

fn latex(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '\\' => escaped += "\\textbackslash{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '±' => escaped += "$\\pm$",
            '−' => escaped += "$-$",
            '→' => escaped += "$\\rightarrow$",
            other => escaped.push(other),
        }
    }
    escaped.replace("->", "$\\rightarrow$")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(header: &str, fields: &[&str]) -> Table {
        let row = fields.iter().copied().map(str::to_owned).collect();
        Table::new(&header.split(' ').collect::<Vec<_>>(), vec![row])
    }

    #[test]
    fn bars_in_markdown_do_not_cut_a_cell() {
        assert_eq!(table("a|b", &["c|d"]).to_markdown(), "| a\\|b |\n|------|\n| c\\|d |");
    }

    #[test]
    fn fields_with_commas_are_quoted() {
        assert_eq!(table("a,b", &["say \"c\""]).to_csv(), "\"a,b\"\n\"say \"\"c\"\"\"\n");
    }

    #[test]
    fn latex_is_escaped_and_the_best_is_bold() {
        let mut table = table("pair 1_NN", &["C->A", "20.5 ± 0.1"]);
        table.rows[0][1].is_best = true;
        let latex = table.to_latex();
        assert!(latex.contains("\\textbf{1\\_NN}"), "{latex}");
        assert!(latex.contains("C$\\rightarrow$A & \\textbf{20.5 $\\pm$ 0.1} \\\\"), "{latex}");
    }
}
