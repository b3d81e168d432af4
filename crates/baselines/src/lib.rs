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

mod error;
mod nearest;

pub use error::{Error, Result};
pub use nearest::{classify_by_nearest, nearest_neighbours};
