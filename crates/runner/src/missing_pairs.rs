//! The pairs of a catalogued set whose files cannot be had.

use anyhow::{Result, ensure};
use datasets::{DataSet, Library, Progress};

use crate::config::{Block, Data, Pair};
use crate::experiment::used_entries;

/// Where the config allows it, removes the pairs whose files cannot be had, says on stderr what is missing, and returns
/// their names. It is an error if no pair is left at all.
pub fn leave_out_missing(
    blocks: &mut Vec<Block>,
    library: &Library,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    for block in &mut *blocks {
        let Data::Catalogued { set, skip_missing: true, .. } = &block.data else { continue };
        let set = DataSet::find(set)?;
        let problem = match library.fetch_missing(&used_entries(&block.pairs, set), progress) {
            Err(problem @ datasets::Error::Missing(_)) => problem,
            result => {
                result?;
                continue;
            }
        };
        let is_there =
            |name: &str| set.domain(name).is_ok_and(|entry| library.find(set, entry).is_some());
        let (present, missing): (Vec<Pair>, Vec<Pair>) = std::mem::take(&mut block.pairs)
            .into_iter()
            .partition(|pair| is_there(&pair.source) && is_there(&pair.target));
        block.pairs = present;
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        eprintln!(
            "{problem}\nPairs of {} left out (skip_missing = true): {}.",
            set.id,
            missing.join(", ")
        );
        left_out.extend(missing.iter().map(|pair| format!("{}{pair}", block.prefix)));
    }
    blocks.retain(|block| !block.pairs.is_empty());
    ensure!(
        !blocks.is_empty(),
        "no pair is left to run, because files of all of them are missing ({}): bring these files, or choose other pairs",
        left_out.join(", ")
    );
    Ok(left_out)
}
