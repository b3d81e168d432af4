//! The paper's printed numbers, from `results/paper/`.

/// One table of the paper.
pub struct PaperTable {
    csv: &'static str,
    /// Set before the methods' names in the header, as `L6-`.
    prefix: &'static str,
}

const TABLE_3: &str = include_str!("../../../results/paper/table3_unsupervised_accuracy.csv");
const TABLE_4: &str = include_str!("../../../results/paper/table4_decaf_accuracy.csv");

impl PaperTable {
    /// The table that reports accuracies on a set, if there is one.
    pub fn of_set(set: &str) -> Option<Self> {
        match set {
            "digits" | "pie" | "office-surf" => Some(Self { csv: TABLE_3, prefix: "" }),
            "office-decaf6" => Some(Self { csv: TABLE_4, prefix: "L6-" }),
            "office-decaf7" => Some(Self { csv: TABLE_4, prefix: "L7-" }),
            _ => None,
        }
    }

    /// The accuracy in percent of a method on a pair.
    pub fn accuracy(&self, pair: &str, method: &str) -> Option<f64> {
        let mut lines = self.csv.lines();
        let header = lines.next()?;
        // Table 4 calls 1NN on the features without adaptation DeCAF.
        let title = if method == "1NN" && !self.prefix.is_empty() { "DeCAF" } else { method };
        let column =
            header.split(',').position(|name| name.strip_prefix(self.prefix) == Some(title))?;
        let row = lines.find(|line| line.split(',').next() == Some(pair))?;
        row.split(',').nth(column)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_pair_and_method() {
        let table = PaperTable::of_set("office-surf").unwrap();
        assert_eq!(table.accuracy("C->A", "1NN"), Some(20.54));
        assert_eq!(table.accuracy("D->W", "OT-GL"), Some(81.06));
        assert_eq!(table.accuracy("D->W", "unheard of"), None);
        let decaf = PaperTable::of_set("office-decaf7").unwrap();
        assert_eq!(decaf.accuracy("C->A", "1NN"), Some(85.27));
        assert_eq!(decaf.accuracy("D->W", "JDA"), Some(97.02));
    }
}
