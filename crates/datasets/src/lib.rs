//! The data of "Optimal Transport for Domain Adaptation": domains loaded from files or generated, the
//! catalogue of the paper's sets with their public sources, preprocessing, and seeded draws.
//!
//! ```
//! use datasets::{DrawKey, DrawSizes, draw, synthetic_benchmark};
//!
//! let domains = synthetic_benchmark(1)?;
//! let (source, target) = (&domains[0], &domains[1]);
//! let sizes = DrawSizes { source_per_class: 20, labelled_target_per_class: 0 };
//! let key = DrawKey { seed: 1, source: source.name(), target: target.name(), trial: 0 };
//! let trial = draw(source, target, sizes, key)?;
//! assert_eq!(trial.source.len(), 10 * 20);
//! assert_eq!(trial.validation.len() + trial.test.len(), target.samples());
//! # Ok::<(), datasets::Error>(())
//! ```

mod blob;
mod catalogue;
mod domain;
mod draw;
mod error;
mod fetch;
pub mod format;
mod library;
mod locate;
mod preprocess;
mod recognise;
mod resize;
mod synthetic;
mod two_moons;

pub use blob::blob_id;
pub use catalogue::{Classes, DataSet, DomainEntry, SETS, Source};
pub use domain::{Domain, align_classes};
pub use draw::{Draw, DrawKey, DrawSizes, draw};
pub use error::{DownloadError, Error, MissingFile, Result};
pub use fetch::{Fetcher, Progress};
pub use library::{Library, OwnDomain, read_features, read_labelled, read_labels, read_samples};
pub use locate::{DataRoots, Environment};
pub use preprocess::{Step, preprocess};
pub use recognise::Selection;
pub use resize::resize_images;
pub use synthetic::{SYNTHETIC_DOMAINS, synthetic_benchmark};
pub use two_moons::{Moons, PAIR_CENTRE, TwoMoons};
