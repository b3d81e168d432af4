//! The registry of methods: one entry drives the config's names and settings, the tables' columns and `--help`.

mod margins;
mod problem;
mod subspaces;
mod transport;
mod unadapted;

use anyhow::{Result, ensure};

use crate::config::{MethodConfig, Point};
use crate::version;
pub use problem::{Convergence, Outcome, Problem, Queries};

/// A way to label the target with the source's labels.
pub struct Method {
    /// The name in configs.
    pub id: &'static str,
    /// The paper's name for it, and the column's title.
    pub title: &'static str,
    /// The hyper-parameters with the paper's grids.
    pub axes: &'static [Axis],
    /// Other settings that it takes: `cost`, `normalize`, `target_labels`.
    pub options: &'static [&'static str],
    /// A hash of the sources that it is made of.
    pub code: &'static str,
    /// Whether it cannot do without labelled target samples.
    pub needs_target_labels: bool,
    /// Roughly how long it takes beside the others: what is long is started first.
    pub effort: f64,
    /// Labels the queries of a problem at each of some grid points, sharing work among them.
    pub sweep: fn(&Problem<'_>, &MethodConfig, &[Point]) -> Result<Vec<Outcome>>,
}

/// A hyper-parameter.
pub struct Axis {
    pub name: &'static str,
    /// The paper's grid.
    pub paper: &'static [f64],
    pub range: ValueRange,
}

/// The values that a hyper-parameter may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueRange {
    Positive,
    NonNegative,
    /// Between 0 and 1.
    Share,
    /// 1, 2, 3, …
    Count,
}

impl ValueRange {
    /// Fails with a sentence if a value is outside.
    pub fn check(self, value: f64) -> Result<()> {
        let (is_inside, rule) = match self {
            Self::Positive => (value > 0.0, "it is positive"),
            Self::NonNegative => (value >= 0.0, "it is not negative"),
            Self::Share => ((0.0..=1.0).contains(&value), "it lies between 0 and 1"),
            Self::Count => {
                (value >= 1.0 && value.fract() == 0.0, "it is a whole number, at least 1")
            }
        };
        ensure!(is_inside && value.is_finite() && value <= 1e15, "{value} is not possible: {rule}");
        Ok(())
    }
}

/// λ, η ∈ {10⁻³, …, 10³}.
const PAPER_WEIGHTS: &[f64] = &[0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];

const LAMBDA: Axis = Axis { name: "lambda", paper: PAPER_WEIGHTS, range: ValueRange::Positive };
const ETA: Axis = Axis { name: "eta", paper: PAPER_WEIGHTS, range: ValueRange::NonNegative };

/// k ∈ {10, 20, …, 70}.
const DIMENSIONS: Axis = Axis {
    name: "k",
    paper: &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0],
    range: ValueRange::Count,
};
/// γ of the Gaussian kernel exp(−γ‖x − y‖²), and C: the paper quotes results of others.
const GAMMA: Axis = Axis { name: "gamma", paper: &[0.1, 1.0, 10.0], range: ValueRange::Positive };
const COST: Axis = Axis { name: "c", paper: &[1.0, 10.0, 100.0], range: ValueRange::Positive };

const TRANSPORT_OPTIONS: &[&str] = &["cost", "normalize", "target_labels"];

/// Every method, in the paper's order.
pub static METHODS: &[Method] = &[
    Method {
        id: "1nn",
        title: "1NN",
        axes: &[],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 0.01,
        sweep: unadapted::nearest,
    },
    Method {
        id: "svm",
        title: "SVM",
        axes: &[],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 0.2,
        sweep: unadapted::svm,
    },
    Method {
        id: "pca",
        title: "PCA",
        axes: &[DIMENSIONS],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 0.3,
        sweep: subspaces::pca,
    },
    Method {
        id: "gfk",
        title: "GFK",
        axes: &[DIMENSIONS],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 0.5,
        sweep: subspaces::gfk,
    },
    Method {
        id: "tsl",
        title: "TSL",
        axes: &[LAMBDA, DIMENSIONS],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 0.5,
        sweep: subspaces::tsl,
    },
    Method {
        id: "jda",
        title: "JDA",
        axes: &[LAMBDA, DIMENSIONS],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 3.0,
        sweep: subspaces::jda,
    },
    Method {
        id: "tca",
        title: "TCA",
        axes: &[LAMBDA, DIMENSIONS],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 0.5,
        sweep: subspaces::tca,
    },
    Method {
        id: "sa",
        title: "SA",
        axes: &[DIMENSIONS],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 0.3,
        sweep: subspaces::sa,
    },
    Method {
        id: "coral",
        title: "CORAL",
        axes: &[Axis { name: "regularization", paper: &[1.0], range: ValueRange::Positive }],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 0.3,
        sweep: subspaces::coral,
    },
    Method {
        id: "dasvm",
        title: "DASVM",
        axes: &[GAMMA, COST],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 1.0,
        sweep: margins::dasvm,
    },
    Method {
        id: "pbda",
        title: "PBDA",
        axes: &[
            GAMMA,
            COST,
            Axis { name: "a", paper: &[1.0, 10.0, 100.0], range: ValueRange::Positive },
        ],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        effort: 5.0,
        sweep: margins::pbda,
    },
    Method {
        id: "mmdt",
        title: "MMDT",
        axes: &[
            Axis { name: "components", paper: &[20.0], range: ValueRange::Count },
            Axis { name: "source_cost", paper: &[0.05], range: ValueRange::Positive },
            Axis { name: "target_cost", paper: &[1.0], range: ValueRange::Positive },
        ],
        options: &[],
        code: version::BASELINES,
        needs_target_labels: true,
        effort: 0.2,
        sweep: margins::mmdt,
    },
    Method {
        id: "ot-exact",
        title: "OT-exact",
        axes: &[],
        options: TRANSPORT_OPTIONS,
        code: version::SOLVERS,
        needs_target_labels: false,
        effort: 0.05,
        sweep: transport::exact,
    },
    Method {
        id: "ot-it",
        title: "OT-IT",
        axes: &[LAMBDA],
        options: TRANSPORT_OPTIONS,
        code: version::SOLVERS,
        needs_target_labels: false,
        effort: 0.3,
        sweep: transport::entropic,
    },
    Method {
        id: "ot-laplace",
        title: "OT-Laplace",
        axes: &[
            LAMBDA,
            ETA,
            Axis { name: "alpha", paper: &[0.5], range: ValueRange::Share },
            Axis { name: "neighbours", paper: &[8.0], range: ValueRange::Count },
        ],
        options: TRANSPORT_OPTIONS,
        code: version::SOLVERS,
        needs_target_labels: false,
        effort: 5.0,
        sweep: transport::laplace,
    },
    Method {
        id: "ot-lpl1",
        title: "OT-LpL1",
        axes: &[LAMBDA, ETA, Axis { name: "p", paper: &[0.5], range: ValueRange::Share }],
        options: TRANSPORT_OPTIONS,
        code: version::SOLVERS,
        needs_target_labels: false,
        effort: 3.0,
        sweep: transport::lp_l1,
    },
    Method {
        id: "ot-gl",
        title: "OT-GL",
        axes: &[LAMBDA, ETA],
        options: TRANSPORT_OPTIONS,
        code: version::SOLVERS,
        needs_target_labels: false,
        effort: 4.0,
        sweep: transport::group_lasso,
    },
];
