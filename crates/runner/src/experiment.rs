//! The protocol's tasks: what a method sees in one trial of one pair.

use anyhow::{Context as _, Result};
use datasets::{
    DataSet, Domain, DomainEntry, DrawKey, DrawSizes, Library, Progress, Step, TwoMoons,
    align_classes, draw, preprocess, synthetic_benchmark,
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
            let domains = domains
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
            Data::TwoMoons(moons) => {
                moons.check()?;
                Ok(Self::TwoMoons { seed, moons: *moons })
            }
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
            Data::Catalogued { set, preprocessing, draw, .. } => {
                let wanted = used_entries(experiment, set);
                library.fetch_missing(&wanted, progress)?;
                let domains = wanted
                    .iter()
                    .map(|(set, entry)| Ok(library.load(set, entry)?))
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
                // A pair is a matter of its two domains: what classes others have changes nothing.
                let (source, target) = align_classes(&source.domain, &target.domain);
                let drawn = draw(&source, &target, sizes, key(*seed))?;
                Ok(Task { source: rows(&source, &drawn.source), test: rows(&target, &drawn.test) })
            }
        }
    }
}

/// The catalogue's entries that some pair uses.
fn used_entries<'a>(
    experiment: &Experiment,
    set: &'a DataSet,
) -> Vec<(&'a DataSet, &'a DomainEntry)> {
    let is_used = |entry: &&DomainEntry| {
        experiment
            .pairs
            .iter()
            .any(|pair| [&pair.source, &pair.target].iter().any(|name| *name == entry.abbreviation))
    };
    set.domains.iter().filter(is_used).map(|entry| (set, entry)).collect()
}

/// Where the config allows it, removes the pairs whose files cannot be had, and names them on stderr.
/// If no pair would be left, the error says what is missing.
pub fn leave_out_missing(
    experiment: &mut Experiment,
    library: &Library,
    progress: &dyn Progress,
) -> Result<()> {
    let Data::Catalogued { set, skip_missing: true, .. } = experiment.data else { return Ok(()) };
    let problem = match library.fetch_missing(&used_entries(experiment, set), progress) {
        Err(problem @ datasets::Error::Missing(_)) => problem,
        result => return Ok(result?),
    };
    let is_there =
        |name: &str| set.domain(name).is_ok_and(|entry| library.find(set, entry).is_some());
    let (present, missing): (Vec<Pair>, Vec<Pair>) = experiment
        .pairs
        .iter()
        .cloned()
        .partition(|pair| is_there(&pair.source) && is_there(&pair.target));
    if present.is_empty() {
        return Err(problem.into());
    }
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    eprintln!("{problem}\nPairs left out (skip_missing = true): {}.", missing.join(", "));
    experiment.pairs = present;
    Ok(())
}

fn rows(domain: &Domain, indices: &[usize]) -> Labelled {
    Labelled {
        features: domain.features().select(Axis(0), indices),
        labels: indices.iter().map(|&index| domain.labels()[index]).collect(),
    }
}
