//! A domain: samples, their labels and the names of the classes, checked once when it is made.

use ndarray::{ArcArray2, Array2, ArrayView2};

use crate::error::{Error, Result};

/// Labelled samples of one distribution. Always non-empty, finite and consistent. A clone shares the features.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain {
    name: String,
    features: ArcArray2<f64>,
    labels: Vec<usize>,
    class_names: Vec<String>,
}

impl Domain {
    /// Checks and keeps the samples: one row of `features` and one entry of `labels` a sample,
    /// a label being an index into `class_names`.
    pub fn new(
        name: impl Into<String>,
        features: Array2<f64>,
        labels: Vec<usize>,
        class_names: Vec<String>,
    ) -> Result<Self> {
        let name = name.into();
        let fail = |problem| Err(Error::Domain { domain: name.clone(), problem });
        let (samples, width) = features.dim();
        if samples == 0 || width == 0 {
            return fail(format!("it is empty ({samples} samples × {width} features)."));
        }
        if labels.len() != samples {
            return fail(format!(
                "{samples} samples but {} labels. Each sample needs one label.",
                labels.len()
            ));
        }
        if let Some(row) = labels.iter().position(|&label| label >= class_names.len()) {
            return fail(format!(
                "the label of row {} is class {} of {}.",
                row + 1,
                labels[row] + 1,
                class_names.len()
            ));
        }
        check_finite(&name, features.view())?;
        // Rows are what every algorithm walks over, whatever order the file had.
        let features = if features.is_standard_layout() {
            features
        } else {
            features.as_standard_layout().into_owned()
        };
        Ok(Self { name, features: features.into_shared(), labels, class_names })
    }

    /// Makes a domain from the labels as a file spells them. The classes are the distinct spellings,
    /// in numeric order if all are whole numbers and in alphabetical order otherwise.
    pub fn from_label_names(
        name: impl Into<String>,
        features: Array2<f64>,
        labels: &[String],
    ) -> Result<Self> {
        let class_names = distinct_classes(labels.iter());
        let labels = labels.iter().map(|label| position(&class_names, label)).collect();
        Self::new(name, features, labels, class_names)
    }

    /// The short name, as used in pairs: `C`, `P1`, …
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One row a sample.
    #[must_use]
    pub fn features(&self) -> ArrayView2<'_, f64> {
        self.features.view()
    }

    /// For each sample the index of its class in [`Self::class_names`].
    #[must_use]
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The names of the classes, in the order of their indices.
    #[must_use]
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// The number of samples.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.features.nrows()
    }

    /// The number of features.
    #[must_use]
    pub fn width(&self) -> usize {
        self.features.ncols()
    }

    /// The number of samples in each class.
    #[must_use]
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.class_names.len()];
        for &label in &self.labels {
            counts[label] += 1;
        }
        counts
    }

    /// The same samples with other feature values: what preprocessing makes.
    pub fn with_features(self, features: Array2<f64>) -> Result<Self> {
        Self::new(self.name, features, self.labels, self.class_names)
    }
}

/// Gives both domains of a pair one list of classes, so that equal indices mean equal classes.
/// A class that a domain lacks stays in its list, with no samples.
#[must_use]
pub fn align_classes(first: &Domain, second: &Domain) -> (Domain, Domain) {
    // Catalogued classes come in an order of their own (named objects, 68 subjects): keep it.
    if first.class_names == second.class_names {
        return (first.clone(), second.clone());
    }
    let union = distinct_classes(first.class_names.iter().chain(&second.class_names));
    let aligned = |domain: &Domain| {
        let to_union: Vec<usize> =
            domain.class_names.iter().map(|class| position(&union, class)).collect();
        let labels = domain.labels.iter().map(|&label| to_union[label]).collect();
        Domain { labels, class_names: union.clone(), ..domain.clone() }
    };
    (aligned(first), aligned(second))
}

/// Fails unless both domains have the same number of features.
pub fn check_same_width(first: &Domain, second: &Domain) -> Result<()> {
    if first.width() == second.width() {
        return Ok(());
    }
    Err(Error::WidthMismatch {
        first: first.name.clone(),
        first_width: first.width(),
        second: second.name.clone(),
        second_width: second.width(),
    })
}

fn check_finite(name: &str, features: ArrayView2<'_, f64>) -> Result<()> {
    match features.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some(((row, column), value)) => Err(Error::Domain {
            domain: name.to_owned(),
            problem: format!(
                "the value in row {}, column {} is {value}. Every feature must be a finite number; \
                 remove the sample or fill the value in.",
                row + 1,
                column + 1
            ),
        }),
    }
}

fn distinct_classes<'a>(labels: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut classes: Vec<String> = labels.cloned().collect();
    classes.sort_unstable();
    classes.dedup();
    let numbers: Option<Vec<i64>> = classes.iter().map(|class| class.parse().ok()).collect();
    if numbers.is_some() {
        classes.sort_by_key(|class| class.parse::<i64>().ok());
    }
    classes
}

fn position(classes: &[String], wanted: &str) -> usize {
    classes
        .iter()
        .position(|class| class == wanted)
        .expect("the list was made from the same labels")
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn names(labels: &[&str]) -> Vec<String> {
        labels.iter().map(ToString::to_string).collect()
    }

    fn message(result: Result<Domain>) -> String {
        result.expect_err("the input is bad").to_string()
    }

    #[test]
    fn numeric_labels_are_ordered_as_numbers() {
        let domain =
            Domain::from_label_names("X", array![[0.], [1.], [2.]], &names(&["10", "9", "10"]))
                .unwrap();
        assert_eq!(domain.class_names(), ["9", "10"]);
        assert_eq!(domain.labels(), [1, 0, 1]);
        assert_eq!(domain.class_counts(), [1, 2]);
    }

    #[test]
    fn an_empty_domain_is_refused() {
        let text = message(Domain::new("X", Array2::zeros((0, 3)), vec![], vec![]));
        assert_eq!(text, "domain X: it is empty (0 samples × 3 features).");
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused_with_its_place() {
        for (bad, spelled) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf")] {
            let text = message(Domain::from_label_names(
                "X",
                array![[0., 1.], [2., bad]],
                &names(&["a", "b"]),
            ));
            assert!(text.contains(&format!("row 2, column 2 is {spelled}")), "{text}");
        }
    }

    #[test]
    fn each_sample_needs_one_label() {
        let text = message(Domain::from_label_names("X", array![[0.], [1.]], &names(&["a"])));
        assert!(text.contains("2 samples but 1 labels"), "{text}");
    }

    #[test]
    fn aligned_domains_share_their_classes() {
        let first = Domain::from_label_names("X", array![[0.], [1.]], &names(&["a", "c"])).unwrap();
        let second =
            Domain::from_label_names("Y", array![[0.], [1.]], &names(&["b", "c"])).unwrap();
        let (first, second) = align_classes(&first, &second);
        for domain in [&first, &second] {
            assert_eq!(domain.class_names(), ["a", "b", "c"]);
        }
        assert_eq!(first.labels(), [0, 2]);
        assert_eq!(second.labels(), [1, 2]);
    }

    #[test]
    fn domains_of_different_width_do_not_make_a_pair() {
        let first = Domain::from_label_names("X", array![[0.]], &names(&["a"])).unwrap();
        let second = Domain::from_label_names("Y", array![[0., 1.]], &names(&["a"])).unwrap();
        let text = check_same_width(&first, &second).unwrap_err().to_string();
        assert!(text.starts_with("domains X and Y differ in width: 1 and 2 features"), "{text}");
    }
}
