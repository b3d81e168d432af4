//! The last step of moving a plan onto its marginals: what its rows and columns still lack is spread as a product, so
//! that both are filled at once (Altschuler, Weed and Rigollet 2017, arXiv:1705.09634), except on forbidden pairs.

use crate::loops::accumulate_where_allowed;

/// Missing mass below this is rounding; spreading it would fill the zeros of a sparse plan.
const NEGLIGIBLE: f64 = 1e-14;

/// What the target samples lack.
pub(crate) struct Remainder {
    target: Vec<f64>,
    total: f64,
}

impl Remainder {
    pub(crate) fn new(target: Vec<f64>) -> Self {
        let total = target.iter().sum();
        Self { target, total }
    }

    /// Whether it is rounding.
    pub(crate) fn is_negligible(&self) -> bool {
        self.total <= NEGLIGIBLE
    }

    /// In sum.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// What each target lacks.
    pub(crate) fn lacks(&self) -> &[f64] {
        &self.target
    }

    /// What a source sample that lacks so much adds of each target's lack.
    pub(crate) fn share(&self, lack: f64) -> f64 {
        if self.is_negligible() { 0.0 } else { lack / self.total }
    }

    /// Adds its share to the row of a source sample that lacks so much.
    pub(crate) fn add_to(&self, lack: f64, row: &mut [f64], costs: &[f64]) {
        if self.is_negligible() || lack <= 0.0 {
            return;
        }
        let share = self.share(lack);
        accumulate_where_allowed(&self.target, share, costs, row);
    }
}
