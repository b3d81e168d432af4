//! The methods that the paper compares optimal transport with, each usable alone.
//!
//! ```
//! use ndarray::array;
//!
//! let train = array![[0.0, 0.0], [4.0, 4.0]];
//! let queries = array![[3.0, 3.5], [0.5, 0.0]];
//! let labels = baselines::classify_by_nearest(train.view(), &[7, 9], queries.view())?;
//! assert_eq!(labels, [9, 7]);
//! # Ok::<(), baselines::Error>(())
//! ```

mod binary;
mod block_lanczos;
mod checks;
mod classes;
mod coral;
mod dasvm;
mod discrepancy;
mod embedding;
mod error;
mod gfk;
mod jda;
mod kernel;
mod leading_eigenpairs;
mod mmd;
mod mmdt;
mod nearest;
mod pbda;
mod pca;
mod principal;
mod product;
mod rational_subspace;
mod reverse_validation;
mod subspace_alignment;
mod svm;
mod symmetric_eigen;
mod tca;
mod tsl;
mod updated_diagonal;

pub use binary::BinaryClassifier;
pub use coral::{CoralOptions, coral};
pub use dasvm::{Dasvm, DasvmOptions, train_dasvm};
pub use embedding::Embedding;
pub use error::{Error, Result};
pub use gfk::Gfk;
pub use jda::{Jda, JdaOptions, JdaOutcome};
pub use kernel::{Kernel, KernelPairs};
pub use mmd::{Formulation, MmdOptions, ProjectionScale};
pub use mmdt::{LabelledSamples, MarginLoss, Mmdt, MmdtOptions, train_mmdt};
pub use nearest::{classify_by_nearest, nearest_neighbours};
pub use pbda::{Pbda, PbdaOptions, train_pbda};
pub use pca::{Pca, PcaOptions};
pub use reverse_validation::{Adaptation, reverse_accuracy};
pub use subspace_alignment::SubspaceAlignment;
pub use svm::smo::Certificate;
pub use svm::{Svm, SvmChoice, SvmGrid, classify_by_svm};
pub use tca::Tca;
pub use tsl::{Criterion, Stop, Tsl, TslOptions, TslOutcome};
