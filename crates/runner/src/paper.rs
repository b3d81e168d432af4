//! The paper's printed numbers, from `results/paper/`.

use crate::config::{Block, Classifier, Data};

/// One table of the paper.
#[derive(Debug, Clone, Copy)]
pub struct PaperTable {
    csv: &'static str,
    layout: Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Pairs down, methods across.
    Pairs,
    /// As before, and 1NN on the features without adaptation is called DeCAF.
    Decaf,
    /// Methods down, angles across; error rates.
    Angles,
}

const TABLE_1: &str = include_str!("../../../results/paper/table1_two_moons_error.csv");
const TABLE_3: &str = include_str!("../../../results/paper/table3_unsupervised_accuracy.csv");
const TABLE_4: &str = include_str!("../../../results/paper/table4_decaf_accuracy.csv");
const TABLE_5: &str = include_str!("../../../results/paper/table5_semi_supervised_accuracy.csv");

impl PaperTable {
    /// The table that reports on such data under such a classifier, if there is one.
    pub fn of_block(block: &Block, classifier: Classifier) -> Option<Self> {
        let is_semi_supervised =
            block.data.draw().is_some_and(|draw| draw.labelled_target_per_class > 0);
        // Table 1 has support-vector machines, all others the nearest neighbour.
        let is_papers_classifier =
            matches!(block.data, Data::TwoMoons(_)) == (classifier == Classifier::Svm);
        if !is_papers_classifier {
            return None;
        }
        let (csv, layout) = match &block.data {
            Data::TwoMoons(_) => (TABLE_1, Layout::Angles),
            Data::Catalogued { set, .. } => match (set.as_str(), is_semi_supervised) {
                ("digits" | "pie" | "office-surf", false) => (TABLE_3, Layout::Pairs),
                ("office-surf", true) => (TABLE_5, Layout::Pairs),
                ("office-decaf6" | "office-decaf7", false) => (TABLE_4, Layout::Decaf),
                _ => return None,
            },
            Data::Own { .. } | Data::Synthetic { .. } => return None,
        };
        Some(Self { csv, layout })
    }

    /// The accuracy of a column, as a fraction, on a pair.
    pub fn accuracy(&self, pair: &str, prefix: &str, title: &str) -> Option<f64> {
        match self.layout {
            Layout::Pairs | Layout::Decaf => {
                Some(self.cell(pair, &self.name_of(prefix, title))? / 100.0)
            }
            Layout::Angles => Some(1.0 - self.cell(title, pair.strip_prefix("0->")?)?),
        }
    }

    /// The mean that is printed below the rows of a pair's block, and the mean of these rows, as fractions.
    pub fn means(&self, pair: &str, prefix: &str, title: &str) -> Option<(f64, f64)> {
        let rows = self.block_of(pair)?;
        let lines = || self.csv.lines();
        let last =
            lines().position(|line| line.split(',').next() == rows.last().map(String::as_str))?;
        let name = self.name_of(prefix, title);
        let column = lines().next()?.split(',').position(|own| own == name)?;
        let below = lines().nth(last + 1).filter(|line| line.starts_with("mean,"))?;
        let printed: f64 = below.split(',').nth(column)?.parse().ok()?;
        let of_rows: Option<Vec<f64>> =
            rows.iter().map(|row| self.accuracy(row, prefix, title)).collect();
        let of_rows = of_rows?;
        Some((printed / 100.0, of_rows.iter().sum::<f64>() / of_rows.len() as f64))
    }

    /// The pairs that the paper reports together with a pair.
    pub fn block_of(&self, pair: &str) -> Option<Vec<String>> {
        if self.layout == Layout::Angles {
            let angles = self.csv.lines().next()?.split(',').skip(1);
            return Some(angles.map(|angle| format!("0->{angle}")).collect());
        }
        let names: Vec<&str> =
            self.csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        let mut blocks = names.split(|name| *name == "mean");
        let block = blocks.find(|block| block.contains(&pair))?;
        Some(block.iter().copied().map(str::to_owned).collect())
    }

    /// The paper's name of a column.
    pub fn name_of(&self, prefix: &str, title: &str) -> String {
        match (self.layout, title) {
            (Layout::Decaf, "1NN") => format!("{prefix}DeCAF"),
            _ => format!("{prefix}{title}"),
        }
    }

    /// The paper's names of its columns; of Table 1, which has methods down, of its rows.
    pub fn titles(&self) -> Vec<&'static str> {
        match self.layout {
            Layout::Angles => {
                self.csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect()
            }
            Layout::Pairs | Layout::Decaf => self
                .csv
                .lines()
                .next()
                .into_iter()
                .flat_map(|line| line.split(',').skip(1))
                .collect(),
        }
    }

    fn cell(&self, row: &str, column: &str) -> Option<f64> {
        let mut lines = self.csv.lines();
        let column = lines.next()?.split(',').position(|name| name == column)?;
        let line = lines.find(|line| line.split(',').next() == Some(row))?;
        // Table 5 prints standard errors, too.
        line.split(',').nth(column)?.split('±').next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(csv: &'static str, layout: Layout, names: [&str; 3]) -> Option<f64> {
        let [pair, prefix, title] = names;
        let accuracy = PaperTable { csv, layout }.accuracy(pair, prefix, title)?;
        Some((1e4 * accuracy).round() / 100.0)
    }

    #[test]
    fn the_printed_means_of_objects_are_not_those_of_the_rows() {
        let table = PaperTable { csv: TABLE_3, layout: Layout::Pairs };
        let (printed, of_rows) = table.means("D->W", "", "OT-GL").unwrap();
        assert!((printed - 0.4770).abs() < 1e-12 && (of_rows - 0.456_683).abs() < 1e-5);
        let (printed, of_rows) = table.means("U->M", "", "OT-GL").unwrap();
        assert!((printed - of_rows).abs() < 1e-4);
        assert_eq!(table.block_of("M->U").unwrap(), ["U->M", "M->U"]);
        assert_eq!(table.block_of("P2->P1").unwrap().len(), 12);
        assert_eq!(table.titles().len(), 10);
    }

    #[test]
    fn cells_are_found_by_pair_and_method() {
        assert_eq!(percent(TABLE_3, Layout::Pairs, ["C->A", "", "1NN"]), Some(20.54));
        assert_eq!(percent(TABLE_3, Layout::Pairs, ["D->W", "", "OT-GL"]), Some(81.06));
        assert_eq!(percent(TABLE_3, Layout::Pairs, ["D->W", "", "unheard of"]), None);
        assert_eq!(percent(TABLE_4, Layout::Decaf, ["C->A", "L7-", "1NN"]), Some(85.27));
        assert_eq!(percent(TABLE_4, Layout::Decaf, ["D->W", "L7-", "JDA"]), Some(97.02));
        assert_eq!(percent(TABLE_5, Layout::Pairs, ["C->A", "", "semi-OT-GL"]), Some(47.9));
        assert_eq!(percent(TABLE_1, Layout::Angles, ["0->40", "", "OT-GL"]), Some(98.7));
    }
}
