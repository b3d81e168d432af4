//! What can be wrong with the input of a baseline, as sentences.

/// The result of a baseline.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a baseline cannot run on its input.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant's message says what its fields are")]
pub enum Error {
    #[error("{what} is empty: at least one sample is needed.")]
    Empty { what: &'static str },

    #[error(
        "the training samples have {training} features and the queries {queries}; they need the same."
    )]
    WidthMismatch { training: usize, queries: usize },

    #[error("there are {samples} training samples and {labels} labels; each sample needs one.")]
    LabelCount { samples: usize, labels: usize },

    #[error(
        "{what}, row {row}, column {column} is not a finite number; distances to it mean nothing."
    )]
    NotFinite { what: &'static str, row: usize, column: usize },

    #[error(
        "the features are so large that squared distances leave the range of numbers; \
         divide them by a constant or standardise them first."
    )]
    Overflow,
}
