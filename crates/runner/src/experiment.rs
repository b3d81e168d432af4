//! The protocol's tasks: what a method sees in one trial of one pair.

use anyhow::{Context as _, Result};
use datasets::{
    Domain, DrawKey, DrawSizes, Library, Progress, Step, TwoMoons, align_classes, draw, preprocess,
    synthetic_benchmark,
};
use ndarray::{Array2, Axis};

use crate::config::{Data, DrawConfig, Experiment, Pair};

/// Samples with their labels.
#[derive(Debug)]
pub struct Labelled {
    pub features: Array2<f64>,
    pub labels: Vec<usize>,
}

/// One trial of one pair: learn from `source`, label `test`.
#[derive(Debug)]
pub struct Task {
    pub source: Labelled,
    pub test: Labelled,
}

/// Makes the tasks of an experiment, its files read once.
pub enum Tasks {
    Drawn { seed: u64, domains: Vec<DrawnDomain> },
    TwoMoons { seed: u64, moons: TwoMoons },
}

/// A domain with the number of samples a class that are drawn from it as source.
pub struct DrawnDomain {
    domain: Domain,
    source_per_class: usize,
}

impl Tasks {
    /// Loads (and downloads, if need be) the domains that the experiment's pairs use.
    pub fn prepare(
        experiment: &Experiment,
        library: &Library,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let seed = experiment.seed;
        let is_used = |name: &str| {
            experiment.pairs.iter().any(|pair| pair.source == name || pair.target == name)
        };
        let drawn = |domains: Vec<Domain>, steps: &[Step], per_class: &dyn Fn(&str) -> usize| {
            let domains = align_classes(domains)
                .into_iter()
                .map(|domain| {
                    let source_per_class = per_class(domain.name());
                    Ok(DrawnDomain { domain: preprocess(domain, steps)?, source_per_class })
                })
                .collect::<Result<_>>()?;
            Ok(Self::Drawn { seed, domains })
        };
        let usual = |draw: &DrawConfig, name: &str| draw.source_per_class(name, None);
        match &experiment.data {
            Data::TwoMoons(moons) => Ok(Self::TwoMoons { seed, moons: *moons }),
            Data::Synthetic { preprocessing, draw } => {
                drawn(synthetic_benchmark(seed)?, preprocessing, &|name| usual(draw, name))
            }
            Data::Own { domains, config_folder, preprocessing, draw } => {
                let domains = domains
                    .iter()
                    .filter(|(name, _)| is_used(name))
                    .map(|(name, own)| Ok(library.load_own(name, own, config_folder)?))
                    .collect::<Result<_>>()?;
                drawn(domains, preprocessing, &|name| usual(draw, name))
            }
            Data::Catalogued { set, preprocessing, draw } => {
                let entries: Vec<_> =
                    set.domains.iter().filter(|entry| is_used(entry.abbreviation)).collect();
                let wanted: Vec<_> = entries.iter().map(|&entry| (*set, entry)).collect();
                library.fetch_missing(&wanted, progress)?;
                let domains = entries
                    .iter()
                    .map(|entry| Ok(library.load(set, entry)?))
                    .collect::<Result<_>>()?;
                drawn(domains, preprocessing, &|name| {
                    let catalogued = set.domain(name).ok().map(|entry| entry.source_per_class);
                    draw.source_per_class(name, catalogued)
                })
            }
        }
    }

    /// The task of one trial of one pair.
    pub fn task(&self, pair: &Pair, trial: u64) -> Result<Task> {
        let key = |seed| DrawKey { seed, source: &pair.source, target: &pair.target, trial };
        match self {
            Self::TwoMoons { seed, moons } => {
                let angle = pair.target.parse().context("a pair of two moons is an angle")?;
                let realization = TwoMoons { angle, ..*moons }.generate(key(*seed))?;
                let all =
                    |domain: &Domain| rows(domain, &(0..domain.samples()).collect::<Vec<_>>());
                Ok(Task { source: all(&realization.source), test: all(&realization.test) })
            }
            Self::Drawn { seed, domains } => {
                let find = |name: &str| {
                    domains
                        .iter()
                        .find(|candidate| candidate.domain.name() == name)
                        .with_context(|| format!("domain {name} was not loaded"))
                };
                let (source, target) = (find(&pair.source)?, find(&pair.target)?);
                let sizes = DrawSizes {
                    source_per_class: source.source_per_class,
                    labelled_target_per_class: 0,
                };
                let drawn = draw(&source.domain, &target.domain, sizes, key(*seed))?;
                Ok(Task {
                    source: rows(&source.domain, &drawn.source),
                    test: rows(&target.domain, &drawn.test),
                })
            }
        }
    }
}

fn rows(domain: &Domain, indices: &[usize]) -> Labelled {
    Labelled {
        features: domain.features().select(Axis(0), indices),
        labels: indices.iter().map(|&index| domain.labels()[index]).collect(),
    }
}
