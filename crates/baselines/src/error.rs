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

    #[error(
        "the source samples have {in_source} features and the target samples {in_target}; they need the same."
    )]
    DomainWidths { in_source: usize, in_target: usize },

    #[error("{name} = {value} is not allowed: {rule}.")]
    Parameter { name: &'static str, value: String, rule: &'static str },

    #[error(
        "k = {asked} is not possible: {what} were decomposed into {most} components; ask for 1 to {most} \
         dimensions."
    )]
    Dimensions { asked: usize, what: &'static str, most: usize },

    #[error("all {what} are the same point: there is no direction to project on.")]
    Constant { what: &'static str },

    #[error(
        "the eigenvalues of {what} did not converge; look for features of wildly different size \
         and standardise them."
    )]
    Decomposition { what: &'static str },

    #[error("{argument} is {value}; it has to be a finite number above 0.")]
    NotPositive { argument: &'static str, value: String },

    #[error("{argument} is {value}; it has to be at least {least}.")]
    TooFew { argument: &'static str, value: usize, least: usize },

    #[error("{argument} is an empty list; give at least one value to choose from.")]
    NothingToChoose { argument: &'static str },

    #[error(
        "all labels of {what} are the same: a classifier needs samples of at least two classes."
    )]
    OneClass { what: &'static str, class: usize },

    #[error("{what} has {found} classes; this method separates two, so give it two at a time.")]
    NotTwoClasses { what: &'static str, found: usize },

    #[error("{what} has a class of which the source has no sample; give it source samples.")]
    UnknownClass { what: &'static str, class: usize },

    #[error(
        "{what} has {rows} rows and {columns} columns where {needed_rows} and {needed_columns} are needed, \
         one for each sample."
    )]
    MatrixShape {
        what: &'static str,
        rows: usize,
        columns: usize,
        needed_rows: usize,
        needed_columns: usize,
    },

    #[error(
        "no direction separates the means of the classes; look for labels that were shuffled or features \
         that are constant in the source."
    )]
    NoSeparation,
}
