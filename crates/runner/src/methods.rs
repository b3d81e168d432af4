//! The registry of methods: one entry drives the config's names and settings, the tables' columns and `--help`.

mod margins;
mod problem;
mod subspaces;
#[cfg(test)]
mod tests;
mod transport;
mod transport_problem;
mod unadapted;

use anyhow::{Result, ensure};

use crate::config::{MethodConfig, Point};
use crate::version;
pub use problem::{Convergence, Outcome, Problem, Queries};
pub use transport_problem::{TransportProblem, laplacian};

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
    /// Whether it tells two classes apart and no more.
    pub needs_two_classes: bool,
    /// Whether it can label samples that it did not adapt to, as two moons ask for.
    pub labels_other_samples: bool,
    /// Roughly how long it takes beside the others: what is long is started first.
    pub effort: f64,
    /// Labels the queries of a problem at each of some grid points, sharing work among them.
    pub sweep: Sweep,
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
    /// Above 0 and at most 1.
    PositiveShare,
    /// 1, 2, 3, …
    Count,
}

impl ValueRange {
    /// Fails with a sentence if a value is outside.
    pub fn check(self, value: f64) -> Result<()> {
        let (is_inside, rule) = match self {
            Self::Positive => (value > 0.0, "it is positive, and at most 1e15"),
            Self::NonNegative => (value >= 0.0, "it is not negative, and at most 1e15"),
            Self::Share => ((0.0..=1.0).contains(&value), "it lies between 0 and 1"),
            Self::PositiveShare => (value > 0.0 && value <= 1.0, "it is above 0 and at most 1"),
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
/// PBDA's weight of the domains' disagreement.
const DISAGREEMENT: Axis =
    Axis { name: "a", paper: &[1.0, 10.0, 100.0], range: ValueRange::Positive };
/// What CORAL adds to the diagonals of the covariances.
const REGULARIZATION: Axis =
    Axis { name: "regularization", paper: &[1.0], range: ValueRange::Positive };
/// MMDT as its authors run it.
const COMPONENTS: Axis = Axis { name: "components", paper: &[20.0], range: ValueRange::Count };
const SOURCE_COST: Axis = Axis { name: "source_cost", paper: &[0.05], range: ValueRange::Positive };
const TARGET_COST: Axis = Axis { name: "target_cost", paper: &[1.0], range: ValueRange::Positive };
/// OT-Laplace: the target graph's share of Ω, and the neighbours that graphs join.
const ALPHA: Axis = Axis { name: "alpha", paper: &[0.5], range: ValueRange::Share };
const NEIGHBOURS: Axis = Axis { name: "neighbours", paper: &[8.0], range: ValueRange::Count };
/// OT-LpL1's p, and how often the groups are weighted anew: its authors' program does so ten times, which stops
/// early where more would go on to lower the objective.
const POWER: Axis = Axis { name: "p", paper: &[0.5], range: ValueRange::PositiveShare };
const REWEIGHTINGS: Axis = Axis { name: "reweightings", paper: &[10.0], range: ValueRange::Count };

/// Every method, in the paper's order.
pub static METHODS: &[Method] = &[
    baseline("1nn", "1NN", &[], 0.01, unadapted::nearest),
    baseline("svm", "SVM", &[], 0.2, unadapted::svm),
    subspace("pca", "PCA", &[DIMENSIONS], 0.1, subspaces::pca),
    subspace("gfk", "GFK", &[DIMENSIONS], 0.1, subspaces::gfk),
    subspace("tsl", "TSL", &[LAMBDA, DIMENSIONS], 0.3, subspaces::tsl),
    subspace("jda", "JDA", &[LAMBDA, DIMENSIONS], 2.0, subspaces::jda),
    subspace("tca", "TCA", &[LAMBDA, DIMENSIONS], 0.5, subspaces::tca),
    subspace("sa", "SA", &[DIMENSIONS], 0.3, subspaces::sa),
    subspace("coral", "CORAL", &[REGULARIZATION], 0.3, subspaces::coral),
    binary("dasvm", "DASVM", &[GAMMA, COST], 1.0, margins::dasvm),
    binary("pbda", "PBDA", &[GAMMA, COST, DISAGREEMENT], 0.5, margins::pbda),
    Method {
        needs_target_labels: true,
        labels_other_samples: false,
        ..baseline("mmdt", "MMDT", &[COMPONENTS, SOURCE_COST, TARGET_COST], 0.2, margins::mmdt)
    },
    transport("ot-exact", "OT-exact", &[], 0.05, transport::exact),
    transport("ot-it", "OT-IT", &[LAMBDA], 0.1, transport::entropic),
    transport(
        "ot-laplace",
        "OT-Laplace",
        &[LAMBDA, ETA, ALPHA, NEIGHBOURS],
        5.0,
        transport::laplace,
    ),
    transport("ot-lpl1", "OT-LpL1", &[LAMBDA, ETA, POWER, REWEIGHTINGS], 2.0, transport::lp_l1),
    transport("ot-gl", "OT-GL", &[LAMBDA, ETA], 1.5, transport::group_lasso),
    transport("ot-quadratic", "OT-quadratic", &[LAMBDA, ETA], 4.0, transport::quadratic),
];

type Sweep = fn(&Problem<'_>, &MethodConfig, &[Point]) -> Result<Vec<Outcome>>;

const fn baseline(
    id: &'static str,
    title: &'static str,
    axes: &'static [Axis],
    effort: f64,
    sweep: Sweep,
) -> Method {
    Method {
        id,
        title,
        axes,
        options: &[],
        code: version::BASELINES,
        needs_target_labels: false,
        needs_two_classes: false,
        labels_other_samples: true,
        effort,
        sweep,
    }
}

/// A baseline for two classes.
const fn binary(
    id: &'static str,
    title: &'static str,
    axes: &'static [Axis],
    effort: f64,
    sweep: Sweep,
) -> Method {
    Method { needs_two_classes: true, ..baseline(id, title, axes, effort, sweep) }
}

/// A baseline that embeds the samples of both domains, and no others.
const fn subspace(
    id: &'static str,
    title: &'static str,
    axes: &'static [Axis],
    effort: f64,
    sweep: Sweep,
) -> Method {
    Method { labels_other_samples: false, ..baseline(id, title, axes, effort, sweep) }
}

const fn transport(
    id: &'static str,
    title: &'static str,
    axes: &'static [Axis],
    effort: f64,
    sweep: Sweep,
) -> Method {
    let options = &["cost", "normalize", "target_labels"];
    Method { options, code: version::SOLVERS, ..baseline(id, title, axes, effort, sweep) }
}
