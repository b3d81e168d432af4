//! What can be wrong with the arguments of a solver: each sentence names the argument, the place and the
//! remedy. A solve that merely does not converge is not an error: its result says so.

/// The result of a solver.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a problem was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "each variant's message says what its fields are")]
#[non_exhaustive]
pub enum Error {
    #[error("cost is {rows} × {columns}: give at least one source and one target sample.")]
    Empty { rows: usize, columns: usize },

    #[error("{name} has {found} entries and {other} {expected}; they must be the same.")]
    Length { name: &'static str, found: usize, other: &'static str, expected: usize },

    #[error("{name} is {value} at row {row}, column {column}; it must be finite.")]
    NotFinite { name: &'static str, row: usize, column: usize, value: f64 },

    #[error(
        "cost is {value:e} at row {row}, column {column}; costs are numbers up to 1e100 in size, or +∞ to forbid the pair."
    )]
    Cost { row: usize, column: usize, value: f64 },

    #[error("{name} is {value} at sample {index}; masses are finite and not negative.")]
    Mass { name: &'static str, index: usize, value: f64 },

    #[error("{name} sums to {sum}, not to one; divide it by its sum.")]
    MassSum { name: &'static str, sum: f64 },

    #[error(
        "a mass of {unmatched} cannot be sent along allowed pairs: allow more pairs (costs below +∞), or \
         change the masses."
    )]
    Infeasible { unmatched: f64 },

    #[error("{name} = {value} is not allowed: {rule}.")]
    Argument { name: &'static str, value: String, rule: &'static str },

    #[error(
        "the labelled target samples of class {class} need a mass of {needed}, and the source samples of \
         that class have {available}: no plan respects the labels. Give fewer labels, or other masses \
         (class-reweighted source masses, for example)."
    )]
    LabelMass { class: usize, needed: f64, available: f64 },
}
