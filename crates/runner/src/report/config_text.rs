//! An experiment as the config that runs it, every default written out.

use anyhow::Result;
use toml::{Table, Value};

use crate::config::{Block, Data, Experiment, MethodConfig};

/// The config. Domains of one's own keep their paths: it belongs where the first config was.
pub fn config_text(experiment: &Experiment) -> Result<String> {
    let mut config = Table::new();
    config.insert("seed".into(), Value::try_from(experiment.seed)?);
    config.insert("trials".into(), Value::try_from(experiment.trials)?);
    config.insert("classifier".into(), Value::try_from(experiment.classifier)?);
    if let Some(first) = experiment.blocks.first()
        && experiment.blocks.iter().all(|block| block.selection == first.selection)
    {
        config.insert("selection".into(), Value::try_from(first.selection)?);
    }
    let blocks = experiment.blocks.iter().map(data).collect::<Result<Vec<_>>>()?;
    config.insert("data".into(), Value::Array(blocks));
    // One [draw] is for all blocks.
    if let Some(draw) = experiment.blocks.iter().find_map(|block| block.data.draw()) {
        config.insert("draw".into(), Value::try_from(draw)?);
    }
    let mut methods = Table::new();
    for method in &experiment.methods {
        methods.insert(method.id.clone(), settings(method)?);
    }
    config.insert("methods".into(), Value::Table(methods));
    Ok(toml::to_string(&config)?)
}

fn data(block: &Block) -> Result<Value> {
    let mut table = Table::new();
    if !block.prefix.is_empty() {
        table.insert("prefix".into(), block.prefix.as_str().into());
    }
    let pairs: Vec<Value> = block.pairs.iter().map(|pair| pair.to_string().into()).collect();
    let mut set = |name: &str| table.insert("set".into(), name.into());
    match &block.data {
        Data::Catalogued { set: name, preprocessing, skip_missing, .. } => {
            set(name);
            table.insert("preprocessing".into(), Value::try_from(preprocessing)?);
            if *skip_missing {
                table.insert("skip_missing".into(), true.into());
            }
        }
        Data::Synthetic { preprocessing, .. } => {
            set("synthetic");
            table.insert("preprocessing".into(), Value::try_from(preprocessing)?);
        }
        Data::Own { domains, preprocessing, .. } => {
            table.insert("preprocessing".into(), Value::try_from(preprocessing)?);
            table.insert("domains".into(), Value::try_from(domains)?);
        }
        Data::TwoMoons(moons) => {
            set("two-moons");
            let angles: Result<Vec<f64>, _> =
                block.pairs.iter().map(|pair| pair.target.parse()).collect();
            let mut settings = Table::new();
            settings.insert("angles".into(), Value::try_from(angles?)?);
            if let Value::Table(own) = Value::try_from(moons)? {
                settings.extend(own.into_iter().filter(|(name, _)| name != "angle"));
            }
            table.insert("two_moons".into(), Value::Table(settings));
            return Ok(Value::Table(table));
        }
    }
    table.insert("pairs".into(), Value::Array(pairs));
    Ok(Value::Table(table))
}

fn settings(method: &MethodConfig) -> Result<Value> {
    let mut table = Table::new();
    table.insert("method".into(), method.method.as_str().into());
    table.insert("title".into(), method.title.as_str().into());
    for (name, values) in &method.grid.0 {
        table.insert(name.clone(), Value::try_from(values)?);
    }
    let Value::Table(own) = Value::try_from(method)? else { return Ok(Value::Table(table)) };
    let options = ["cost", "normalize", "target_labels"];
    table.extend(own.into_iter().filter(|(name, _)| options.contains(&name.as_str())));
    Ok(Value::Table(table))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::RunArguments;

    #[test]
    fn the_resolved_config_is_the_same_experiment() {
        let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
        for name in ["office", "decaf", "semi_supervised", "two_moons", "quick", "costs"] {
            let arguments = RunArguments::default();
            let first =
                Experiment::load(&configs.join(format!("{name}.toml")), &arguments).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(format!("{name}.toml"));
            std::fs::write(&path, config_text(&first).unwrap()).unwrap();
            assert_eq!(Experiment::load(&path, &arguments).unwrap(), first, "{name}");
        }
    }
}
