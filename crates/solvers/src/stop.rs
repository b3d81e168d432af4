//! Why an iterative solve ended.

/// The reason, the same for every solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The tolerance is reached.
    Converged,
    /// The limit came first; the duality gap says how far the plan is from optimal. It is feasible, unless pairs are forbidden:
    /// then mass may be missing.
    IterationLimit,
    /// Rounding left no step that improves; the duality gap says how far it got.
    Stalled,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration_limit",
            Self::Stalled => "stalled",
        })
    }
}
