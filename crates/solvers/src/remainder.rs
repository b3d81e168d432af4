//! The last step of moving a plan onto its marginals: what its rows and columns still lack is spread as a product, so
//! that both are filled at once (Altschuler, Weed and Rigollet 2017, arXiv:1705.09634), except on forbidden pairs.

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

    /// Adds its share to the row of a source sample that lacks so much.
    pub(crate) fn add_to(&self, lack: f64, row: &mut [f64], costs: &[f64]) {
        if self.is_negligible() || lack <= 0.0 {
            return;
        }
        let share = lack / self.total;
        for ((mass, &cost), target) in row.iter_mut().zip(costs).zip(&self.target) {
            if cost < f64::INFINITY {
                *mass += share * target;
            }
        }
    }
}
