//! `runner compare A B`: two runs, or two methods, over the same draws.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::config::{Data, MethodConfig, Pair};
use crate::manifest::Manifest;
use crate::nearest_name::suggestion;
use crate::results_folder::Results;
use crate::say_line;
use crate::statistics::Comparison;
use crate::table::Table;
use crate::unit::{Ending, Record};

/// One side of a comparison: a folder of results, or one method of it.
struct Side {
    results: Results,
    method: Option<MethodConfig>,
}

impl Side {
    /// Reads `FOLDER` or `FOLDER:METHOD`.
    fn read(text: &str) -> Result<Self> {
        let folder = Path::new(text);
        if folder.is_dir() {
            return Ok(Self { results: Results::read(folder)?, method: None });
        }
        let (folder, method) = text.rsplit_once(':').with_context(|| {
            format!("there is no folder {text}: write a folder of results, or FOLDER:METHOD")
        })?;
        let results = Results::read(&PathBuf::from(folder))?;
        let methods = &results.manifest.experiment.methods;
        let found = methods.iter().find(|own| own.id == method).cloned();
        let method = found.with_context(|| {
            let known = || methods.iter().map(|method| method.id.as_str());
            let list = known().collect::<Vec<_>>().join(", ");
            format!(
                "{folder} has no method {method:?}.{} It has {list}",
                suggestion(method, known())
            )
        })?;
        Ok(Self { results, method: Some(method) })
    }

    /// Whether a pair's draws come of the same samples; two moons are generated anew for each.
    fn shares_samples(&self) -> bool {
        let blocks = &self.results.manifest.experiment.blocks;
        blocks.iter().any(|block| block.data.generator().is_none())
    }

    /// The test accuracies of a method by draw.
    fn accuracies(&self, method: &str) -> BTreeMap<(&str, &str, u64), f64> {
        let scored = |record: &'_ Record| match &record.ending {
            Ending::Scored(scores) if record.method == method => Some(scores.test.accuracy),
            _ => None,
        };
        self.results
            .records
            .iter()
            .filter_map(|record| {
                let draw = (record.prefix.as_str(), record.pair.as_str(), record.trial);
                Some((draw, scored(record)?))
            })
            .collect()
    }
}

/// Prints the comparison of two sides, given as `FOLDER` or `FOLDER:METHOD`.
pub fn run(first: &str, second: &str) -> Result<()> {
    let sides = (Side::read(first)?, Side::read(second)?);
    check_same_draws(&sides.0, &sides.1)?;
    let methods = match (&sides.0.method, &sides.1.method) {
        (Some(first), Some(second)) => vec![(first.clone(), second.clone())],
        (None, None) => common_methods(&sides.0, &sides.1),
        _ => bail!("name a method on both sides, or on neither"),
    };
    ensure!(!methods.is_empty(), "{first} and {second} have no method in common");
    let rows = methods
        .iter()
        .map(|(first, second)| row(&sides, first, second))
        .collect::<Result<Vec<_>>>()?;
    let header = ["method", "draws", "difference", "95 % interval", "Wilcoxon p", "won/tied/lost"];
    say_line!("Accuracy in %, {first} minus {second}, on the same draws:")?;
    say_line!("{}", Table::new(&header, rows).to_screen())?;
    if sides.0.shares_samples() {
        say_line!(
            "Draws of one pair share samples: interval and p-value speak of these domains, not of others."
        )?;
    }
    Ok(())
}

/// Different seeds, programs, data or sizes make no pairs.
fn check_same_draws(first: &Side, second: &Side) -> Result<()> {
    let (first, second) = (&first.results.manifest, &second.results.manifest);
    let seeds = (first.experiment.seed, second.experiment.seed);
    ensure!(
        seeds.0 == seeds.1,
        "the draws differ: the seeds are {} and {}. Run both with the same --seed",
        seeds.0,
        seeds.1
    );
    ensure!(
        first.origin.program.draws == second.origin.program.draws,
        "the programs that made the two runs may draw in different ways: the sources of what they draw differ. Run both \
         with the same program"
    );
    let blocks = |manifest: &'_ Manifest| {
        manifest.experiment.blocks.clone().into_iter().zip(manifest.checksums.clone())
    };
    for (first, first_sums) in blocks(first) {
        for (second, second_sums) in blocks(second).filter(|(own, _)| own.prefix == first.prefix) {
            for pair in first.pairs.iter().filter(|pair| second.pairs.contains(pair)) {
                check_same_sizes(pair, &first.data, &second.data)?;
                for name in [&pair.source, &pair.target] {
                    let sum_in = |sums: &[(String, String)]| {
                        sums.iter().find(|(own, _)| own == name).map(|(_, sum)| sum.clone())
                    };
                    ensure!(
                        sum_in(&first_sums) == sum_in(&second_sums),
                        "the data differ: domain {name} has other samples in the second run"
                    );
                }
            }
        }
    }
    Ok(())
}

fn check_same_sizes(pair: &Pair, first: &Data, second: &Data) -> Result<()> {
    ensure!(
        first.generator() == second.generator(),
        "the draws of {pair} differ: the two moons are generated with other settings in the second run"
    );
    let sizes = |data: &Data| data.draw_sizes(&pair.source).unwrap_or_default();
    let (first, second) = (sizes(first), sizes(second));
    ensure!(
        first == second,
        "the draws of {pair} differ: {} source samples a class and {} labelled target samples a class in the first \
         run, {} and {} in the second",
        first.0,
        first.1,
        second.0,
        second.1
    );
    Ok(())
}

fn common_methods(first: &Side, second: &Side) -> Vec<(MethodConfig, MethodConfig)> {
    let others = &second.results.manifest.experiment.methods;
    let methods = first.results.manifest.experiment.methods.iter();
    methods
        .filter_map(|method| {
            Some((method.clone(), others.iter().find(|other| other.id == method.id)?.clone()))
        })
        .collect()
}

fn row(
    (first, second): &(Side, Side),
    first_method: &MethodConfig,
    second_method: &MethodConfig,
) -> Result<Vec<String>> {
    let (ours, theirs) = (first.accuracies(&first_method.id), second.accuracies(&second_method.id));
    let differences: Vec<f64> = ours
        .iter()
        .filter_map(|(draw, accuracy)| Some(100.0 * (accuracy - theirs.get(draw)?)))
        .collect();
    let name = if first_method.title == second_method.title {
        first_method.title.clone()
    } else {
        format!("{} − {}", first_method.title, second_method.title)
    };
    ensure!(!differences.is_empty(), "{name}: the two have no draw in common");
    let Comparison { count, mean, half_width, wins, ties, losses, wilcoxon } =
        Comparison::of(&differences);
    let interval = half_width
        .map(|half| format!("{:+.2} … {:+.2}", mean - half, mean + half))
        .unwrap_or_default();
    let p_value = wilcoxon.map(|p| format!("{p:.2e}")).unwrap_or_default();
    Ok(vec![
        name,
        count.to_string(),
        format!("{mean:+.2}"),
        interval,
        p_value,
        format!("{wins}/{ties}/{losses}"),
    ])
}
