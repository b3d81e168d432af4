//! Optimal transport for domain adaptation: exact, entropic and class-regularized plans between two sets of
//! samples, each with a certificate, and the maps that plans induce.
//!
//! Large matrices are shared among the threads of the rayon pool that a solve is called in; their number does not change
//! a digit. A call from outside the pool pays for changing threads: `rayon::scope(|_| …)` around it does so once.

mod checks;
mod cholesky;
pub mod cost;
mod elementary;
pub mod entropic;
mod error;
pub mod exact;
pub mod gcg;
pub mod graph;
pub mod group_lasso;
mod loops;
pub mod lp_l1;
pub mod mapping;
pub mod marginals;
mod parts;
mod product;
mod real;
mod regularizer;
pub mod regularizers;
mod remainder;
mod rows;
pub mod semi_supervised;
mod single;
mod stop;

pub use error::{Error, Result};
pub use regularizer::{MovedSamples, Regularizer, SegmentSlope, WeightedSum};
pub use stop::Stop;
