//! The accuracies of an experiment and what the tables show of them.

/// A fraction for each trial of one pair and one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell(pub Vec<f64>);

impl Cell {
    /// The mean over the trials.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// One minus each: error rates from accuracies.
    pub fn complement(&self) -> Self {
        Self(self.0.iter().map(|value| 1.0 - value).collect())
    }

    /// The standard error of the mean; none with a single trial.
    pub fn standard_error(&self) -> Option<f64> {
        let count = self.0.len() as f64;
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean).powi(2)).sum();
        (count > 1.0).then(|| (squares / (count - 1.0) / count).sqrt())
    }
}

/// Accuracies as fractions: a row a pair, a column a method.
#[derive(Debug)]
pub struct Scores {
    pub pairs: Vec<String>,
    pub methods: Vec<&'static str>,
    pub cells: Vec<Vec<Cell>>,
}

impl Scores {
    /// The mean of a method over the pairs.
    pub fn mean_over_pairs(&self, method: usize) -> f64 {
        self.cells.iter().map(|row| row[method].mean()).sum::<f64>() / self.cells.len() as f64
    }
}

/// The share of labels that are right.
pub fn accuracy(predicted: &[usize], truth: &[usize]) -> f64 {
    let right = predicted.iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count();
    right as f64 / truth.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_mean_and_the_standard_error_of_its_trials() {
        let cell = Cell(vec![0.2, 0.4, 0.6]);
        assert!((cell.mean() - 0.4).abs() < 1e-15);
        assert!((cell.standard_error().unwrap() - 0.2 / 3_f64.sqrt()).abs() < 1e-15);
        assert_eq!(Cell(vec![0.5]).standard_error(), None);
    }

    #[test]
    fn accuracy_counts_equal_labels() {
        assert!((accuracy(&[0, 1, 2, 2], &[0, 1, 1, 2]) - 0.75).abs() < 1e-15);
    }
}
