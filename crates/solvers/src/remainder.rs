//! The last step of moving a plan onto its marginals: what its rows and columns still lack is spread as a product, so
//! that both are filled at once (Altschuler, Weed and Rigollet 2017, arXiv:1705.09634), except on forbidden pairs.

/// Missing mass below this is rounding; spreading it would fill the zeros of a sparse plan.
const NEGLIGIBLE: f64 = 1e-14;

/// What each source and each target sample lacks.
pub(crate) struct Remainder {
    source: Vec<f64>,
    target: Vec<f64>,
    total: f64,
}

impl Remainder {
    pub(crate) fn new(source: Vec<f64>, target: Vec<f64>) -> Self {
        let total = source.iter().sum::<f64>().max(target.iter().sum());
        Self { source, target, total }
    }

    /// Adds the share of a source sample to its row of the plan.
    pub(crate) fn add_to(&self, source: usize, row: &mut [f64], costs: &[f64]) {
        let share = self.source[source] / self.total;
        if !(share > 0.0 && self.total > NEGLIGIBLE) {
            return;
        }
        for ((mass, &cost), target) in row.iter_mut().zip(costs).zip(&self.target) {
            if cost < f64::INFINITY {
                *mass += share * target;
            }
        }
    }
}
