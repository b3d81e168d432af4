//! What the methods for two classes share: samples of which one domain's have labels, and the classifier that
//! comes of them.
//!
//! Both domains stand in one list with one kernel matrix, so that a change of roles (see
//! [`crate::reverse_accuracy`]) is a change of labels only.

use ndarray::{ArrayView1, ArrayView2};

use crate::classes::distinct_classes;
use crate::error::{Error, Result};
use crate::kernel::check_shape;

/// Samples of which one domain's have labels and the other's have none.
pub(crate) struct TwoDomains {
    /// Samples with a label.
    pub labelled: Vec<usize>,
    /// Their labels as +1 (the higher class) and −1 (the lower).
    pub signs: Vec<f64>,
    /// Samples without.
    pub unlabelled: Vec<usize>,
    /// The lower and the higher class.
    pub classes: [usize; 2],
}

impl TwoDomains {
    /// Fails unless there are labels of two classes, and samples without.
    pub fn new(labels: &[Option<usize>]) -> Result<Self> {
        let labelled: Vec<usize> = (0..labels.len()).filter(|&i| labels[i].is_some()).collect();
        let unlabelled: Vec<usize> = (0..labels.len()).filter(|&i| labels[i].is_none()).collect();
        let given: Vec<usize> = labels.iter().flatten().copied().collect();
        let classes = distinct_classes("the labelled domain", &given)?;
        if unlabelled.is_empty() {
            return Err(Error::Empty { what: "the domain without labels" });
        }
        let [low, high] = classes[..] else {
            return Err(Error::NotTwoClasses { what: "the labelled domain", found: classes.len() });
        };
        let signs = given.iter().map(|&label| if label == high { 1.0 } else { -1.0 }).collect();
        Ok(Self { labelled, signs, unlabelled, classes: [low, high] })
    }
}

/// f(x) = Σ aᵢ k(x, xᵢ) + b over the samples of both domains; its sign tells the class.
#[derive(Debug, Clone, PartialEq)]
pub struct BinaryClassifier {
    /// The class of negative values, and that of the others.
    pub classes: [usize; 2],
    /// aᵢ.
    pub coefficients: Vec<f64>,
    /// b.
    pub bias: f64,
}

impl BinaryClassifier {
    /// f at each query; `gram` has a row for each query and a column for each sample of both domains.
    pub fn decisions(&self, gram: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
        let needed = (gram.nrows(), self.coefficients.len());
        check_shape("the queries' kernel matrix", gram, needed)?;
        let decisions = gram.dot(&ArrayView1::from(&self.coefficients)) + self.bias;
        Ok(decisions.to_vec())
    }

    /// The class of each query.
    pub fn classify(&self, gram: ArrayView2<'_, f64>) -> Result<Vec<usize>> {
        let decisions = self.decisions(gram)?;
        Ok(decisions.into_iter().map(|f| self.classes[usize::from(f >= 0.0)]).collect())
    }
}
