//! The protocol's tasks: what a method sees in one trial of one pair.

use anyhow::{Context as _, Result};
use datasets::{
    DataSet, Domain, DomainEntry, DrawKey, DrawSizes, Library, Moons, Progress, Step, TwoMoons,
    align_classes, draw, preprocess, synthetic_benchmark,
};
use ndarray::{Array2, Axis};
use sha1::{Digest as _, Sha1};

use crate::config::{Block, Classifier, Data, Pair, Selection};
use crate::methods::{Problem, Queries};

/// The relative duality gap to which transport problems are solved while a grid point is chosen, and when the
/// chosen one is scored: a grid of 49 points is searched coarsely.
const SELECTION_GAP: f64 = 1e-3;
const TEST_GAP: f64 = 1e-6;

/// Samples with their labels.
#[derive(Debug)]
pub struct Labelled {
    pub features: Array2<f64>,
    pub labels: Vec<usize>,
}

/// One trial of one pair: learn from `source`, choose a grid point on `selection`, score on `test`.
#[derive(Debug)]
pub struct Task {
    source: Labelled,
    labelled_target: Labelled,
    /// None if the choice is made on the test's own samples.
    selection: Option<Stage>,
    test: Stage,
}

/// A target to adapt to, and samples of it to label.
#[derive(Debug)]
struct Stage {
    /// The labelled target samples, then all others that a method may look at.
    target: Array2<f64>,
    queries: StageQueries,
    /// The queries' labels.
    truth: Vec<usize>,
}

#[derive(Debug)]
enum StageQueries {
    OfTarget(std::ops::Range<usize>),
    Other(Array2<f64>),
}

impl Task {
    /// What a method sees while a grid point is chosen, and the labels that decide.
    pub fn selection(&self, classifier: Classifier) -> (Problem<'_>, &[usize]) {
        let stage = self.selection.as_ref().unwrap_or(&self.test);
        (self.problem(stage, classifier, SELECTION_GAP), &stage.truth)
    }

    /// What it sees when the chosen point is scored, and the labels to find.
    pub fn test(&self, classifier: Classifier) -> (Problem<'_>, &[usize]) {
        (self.problem(&self.test, classifier, TEST_GAP), &self.test.truth)
    }

    fn problem<'a>(
        &'a self,
        stage: &'a Stage,
        classifier: Classifier,
        relative_gap: f64,
    ) -> Problem<'a> {
        Problem {
            source: &self.source,
            target: stage.target.view(),
            labelled_target: &self.labelled_target,
            queries: match &stage.queries {
                StageQueries::OfTarget(range) => Queries::OfTarget(range.clone()),
                StageQueries::Other(samples) => Queries::Other(samples.view()),
            },
            classifier,
            relative_gap,
        }
    }
}

/// Makes the tasks of a block, its files read once.
pub struct Tasks {
    seed: u64,
    selection: Selection,
    data: Data,
    samples: Samples,
}

enum Samples {
    Drawn(Vec<DrawnDomain>),
    TwoMoons(TwoMoons),
}

/// A domain that is drawn from.
struct DrawnDomain {
    domain: Domain,
    checksum: String,
}

impl Tasks {
    /// Loads (and downloads, if need be) the domains that the block's pairs use.
    pub fn prepare(
        block: &Block,
        seed: u64,
        library: &Library,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let is_used =
            |name: &str| block.pairs.iter().any(|pair| pair.source == name || pair.target == name);
        let drawn = |domains: Vec<Domain>, steps: &[Step]| {
            let domains = domains
                .into_iter()
                .map(|domain| {
                    let domain = preprocess(domain, steps)?;
                    let checksum = checksum(&domain);
                    Ok(DrawnDomain { domain, checksum })
                })
                .collect::<Result<_>>()?;
            anyhow::Ok(Samples::Drawn(domains))
        };
        let samples = match &block.data {
            Data::TwoMoons(moons) => {
                moons.check()?;
                Samples::TwoMoons(*moons)
            }
            Data::Synthetic { preprocessing, .. } => {
                drawn(synthetic_benchmark(seed)?, preprocessing)?
            }
            Data::Own { domains, config_folder, preprocessing, .. } => {
                let domains = domains
                    .iter()
                    .filter(|(name, _)| is_used(name))
                    .map(|(name, own)| Ok(library.load_own(name, own, config_folder)?))
                    .collect::<Result<_>>()?;
                drawn(domains, preprocessing)?
            }
            Data::Catalogued { set, preprocessing, .. } => {
                let set = DataSet::find(set)?;
                let wanted = used_entries(&block.pairs, set);
                library.fetch_missing(&wanted, progress)?;
                let domains = wanted
                    .iter()
                    .map(|(set, entry)| Ok(library.load(set, entry)?))
                    .collect::<Result<_>>()?;
                drawn(domains, preprocessing)?
            }
        };
        Ok(Self { seed, selection: block.selection, data: block.data.clone(), samples })
    }

    /// A checksum of each domain's samples after preprocessing; none where samples are generated.
    pub fn checksums(&self) -> impl Iterator<Item = (&str, &str)> {
        let domains = match &self.samples {
            Samples::Drawn(domains) => domains.as_slice(),
            Samples::TwoMoons(_) => &[],
        };
        domains.iter().map(|drawn| (drawn.domain.name(), drawn.checksum.as_str()))
    }

    /// How large the problems of a pair are: source samples times target samples.
    pub fn size(&self, pair: &Pair) -> usize {
        match &self.samples {
            Samples::TwoMoons(moons) => 4 * moons.source_per_class * moons.target_per_class,
            Samples::Drawn(domains) => {
                let find = |name: &str| domains.iter().find(|drawn| drawn.domain.name() == name);
                let (per_class, _) = self.data.draw_sizes(&pair.source).unwrap_or_default();
                find(&pair.source).zip(find(&pair.target)).map_or(0, |(source, target)| {
                    per_class * source.domain.class_names().len() * target.domain.samples() / 2
                })
            }
        }
    }

    /// The task of one trial of one pair.
    pub fn task(&self, pair: &Pair, trial: u64) -> Result<Task> {
        let key = DrawKey { seed: self.seed, source: &pair.source, target: &pair.target, trial };
        match &self.samples {
            Samples::TwoMoons(moons) => {
                let angle = pair.target.parse().context("a pair of two moons is an angle")?;
                let realization = TwoMoons { angle, ..*moons }.generate(key)?;
                Ok(moons_task(&realization))
            }
            Samples::Drawn(domains) => {
                let find = |name: &str| {
                    domains
                        .iter()
                        .find(|candidate| candidate.domain.name() == name)
                        .with_context(|| format!("domain {name} was not loaded"))
                };
                let (source, target) = (find(&pair.source)?, find(&pair.target)?);
                let (source_per_class, labelled_target_per_class) =
                    self.data.draw_sizes(&pair.source).unwrap_or_default();
                let sizes = DrawSizes { source_per_class, labelled_target_per_class };
                // A pair is a matter of its two domains: what classes others have changes nothing.
                let (source, target) = align_classes(&source.domain, &target.domain);
                let drawn = draw(&source, &target, sizes, key)?;
                let of_target = |indices: &[usize]| rows(&target, indices);
                Ok(drawn_task(
                    rows(&source, &drawn.source),
                    of_target(&drawn.labelled_target),
                    [of_target(&drawn.validation), of_target(&drawn.test)],
                    self.selection,
                ))
            }
        }
    }
}

/// The paper's protocol: each half of the target is a problem of its own. With labelled target samples
/// (Table 5) the plan is computed to the whole target instead, and each half is labelled.
fn drawn_task(
    source: Labelled,
    labelled_target: Labelled,
    halves: [Labelled; 2],
    selection: Selection,
) -> Task {
    let known = labelled_target.labels.len();
    let [validation, test] = if known == 0 {
        halves.map(|half| Stage {
            queries: StageQueries::OfTarget(0..half.labels.len()),
            target: half.features,
            truth: half.labels,
        })
    } else {
        let target = ndarray::concatenate![
            Axis(0),
            labelled_target.features,
            halves[0].features,
            halves[1].features
        ];
        let mut start = known;
        halves.map(|half| {
            let range = start..start + half.labels.len();
            start = range.end;
            Stage {
                target: target.clone(),
                queries: StageQueries::OfTarget(range),
                truth: half.labels,
            }
        })
    };
    let selection = match selection {
        Selection::Validation => Some(validation),
        Selection::Target => None,
    };
    Task { source, labelled_target, selection, test }
}

/// Chosen on the labels of the samples that are adapted to, scored on new samples.
fn moons_task(moons: &Moons) -> Task {
    let all = |domain: &Domain| rows(domain, &(0..domain.samples()).collect::<Vec<_>>());
    let (target, test) = (all(&moons.target), all(&moons.test));
    let labelled_target =
        Labelled { features: Array2::zeros((0, target.features.ncols())), labels: Vec::new() };
    let selection = Stage {
        target: target.features.clone(),
        queries: StageQueries::OfTarget(0..target.labels.len()),
        truth: target.labels,
    };
    let test = Stage {
        target: target.features,
        queries: StageQueries::Other(test.features),
        truth: test.labels,
    };
    Task { source: all(&moons.source), labelled_target, selection: Some(selection), test }
}

/// The catalogue's entries that some pair uses.
pub fn used_entries<'a>(pairs: &[Pair], set: &'a DataSet) -> Vec<(&'a DataSet, &'a DomainEntry)> {
    let is_used = |entry: &&DomainEntry| {
        pairs
            .iter()
            .any(|pair| [&pair.source, &pair.target].iter().any(|name| *name == entry.abbreviation))
    };
    set.domains.iter().filter(is_used).map(|entry| (set, entry)).collect()
}

fn rows(domain: &Domain, indices: &[usize]) -> Labelled {
    Labelled {
        features: domain.features().select(Axis(0), indices),
        labels: indices.iter().map(|&index| domain.labels()[index]).collect(),
    }
}

/// SHA-1 of the samples and their labels.
fn checksum(domain: &Domain) -> String {
    let mut hash = Sha1::new();
    let (samples, width) = domain.features().dim();
    hash.update(format!("{samples} {width}"));
    for value in domain.features() {
        hash.update(value.to_le_bytes());
    }
    for &label in domain.labels() {
        hash.update(domain.class_names()[label].as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
