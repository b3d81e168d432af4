//! The costs of moving a sample that configs and the command line can name.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use solvers::cost::{Metric, Normalization};
use solvers::mapping::Barycenter;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    Sqeuclidean,
    Euclidean,
    Cityblock,
    Cosine,
}

impl From<Cost> for Metric {
    fn from(cost: Cost) -> Self {
        match cost {
            Cost::Sqeuclidean => Self::SquaredEuclidean,
            Cost::Euclidean => Self::Euclidean,
            Cost::Cityblock => Self::Cityblock,
            Cost::Cosine => Self::Cosine,
        }
    }
}

impl From<Cost> for Barycenter {
    fn from(cost: Cost) -> Self {
        match cost {
            Cost::Cityblock => Self::Median,
            Cost::Sqeuclidean | Cost::Euclidean | Cost::Cosine => Self::Mean,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Normalize {
    None,
    Max,
    Median,
    Mean,
}

impl From<Normalize> for Normalization {
    fn from(normalize: Normalize) -> Self {
        match normalize {
            Normalize::None => Self::None,
            Normalize::Max => Self::Max,
            Normalize::Median => Self::Median,
            Normalize::Mean => Self::Mean,
        }
    }
}
