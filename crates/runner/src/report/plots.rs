//! The page's plots, one file each. Each is an SVG, or nothing where the store has nothing to plot.

mod accuracy;
mod convergence;
mod critical_difference;
mod frame;
mod gaps;
mod grid;
mod heat_map;
mod history;
mod times;

pub use accuracy::accuracy;
pub use convergence::{Solves, convergence, solves};
pub use critical_difference::critical_difference;
pub use gaps::gaps;
pub use grid::grids;
pub use history::history;
pub use times::times;

/// A plot with the name that stands above it.
pub struct Plot {
    pub title: String,
    pub svg: String,
    /// What there is to say below it.
    pub note: String,
}
