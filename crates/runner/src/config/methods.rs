//! The methods of a config: `[methods.NAME]`, each with its grid and options.
//!
//! NAME is a method of the registry, or any name if `method` says which method it is: the same method may
//! then stand in a table several times, with different settings.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use clap::ValueEnum;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};

use super::place::ConfigText;
use super::{Block, Grid};
use crate::costs::{Cost, Normalize};
use crate::methods::{Axis, METHODS, Method};
use crate::nearest_name::suggestion;

/// A method with its settings, complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodConfig {
    /// The name in the config.
    pub id: String,
    /// The column's title.
    pub title: String,
    /// The method of the registry.
    pub method: String,
    pub grid: Grid,
    /// The cost of moving a sample, for methods that transport.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<Cost>,
    /// What the costs are divided by.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub normalize: Option<Normalize>,
    /// What known target labels are for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_labels: Option<TargetLabels>,
}

/// What the labelled target samples of Table 5 are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TargetLabels {
    /// Training the classifier: "unsupervised + labels".
    #[default]
    Classifier,
    /// That and forbidding pairs of different labels in the plan (eq. `ssl`): "semi-supervised".
    Plan,
}

/// `[methods]` as written, with places.
pub(super) type RawMethods = IndexMap<Spanned<String>, Spanned<RawSettings>>;
type RawSettings = IndexMap<Spanned<String>, Spanned<Value>>;

/// More grid points than anybody waits for; what comes of a slip must not fill the memory.
const MAX_POINTS: usize = 10_000;
/// Settings that every method takes.
const COMMON_SETTINGS: [&str; 2] = ["method", "title"];

impl MethodConfig {
    /// A method as the paper runs it.
    pub fn of_paper(method: &Method) -> Self {
        let has = |option: &str| method.options.contains(&option);
        Self {
            id: method.id.to_owned(),
            title: method.title.to_owned(),
            method: method.id.to_owned(),
            grid: Grid(
                method
                    .axes
                    .iter()
                    .map(|axis| (axis.name.to_owned(), axis.paper.to_vec()))
                    .collect(),
            ),
            cost: has("cost").then_some(Cost::Sqeuclidean),
            normalize: has("normalize").then_some(Normalize::None),
            target_labels: has("target_labels").then(TargetLabels::default),
        }
    }

    /// The method's entry in the registry.
    pub fn entry(&self) -> Result<&'static Method> {
        find_method(&self.method)
    }

    /// Roughly how long a problem of one size takes beside other methods.
    pub fn effort(&self) -> Result<f64> {
        let entry = self.entry()?;
        let of_paper: usize = entry.axes.iter().map(|axis| axis.paper.len()).product();
        Ok(entry.effort * self.grid.points().len() as f64 / of_paper as f64)
    }

    /// Fails if the method makes no sense on a block's data.
    pub(super) fn check_block(&self, block: &Block) -> Result<()> {
        ensure!(
            self.entry()?.labels_other_samples || !block.data.has_other_test_samples(),
            "it labels the target samples that it adapts to and no others, and two moons are scored on others. \
             Those that label them are {}",
            able_to_label_others().join(", ")
        );
        let labelled = block.data.draw().map_or(0, |draw| draw.labelled_target_per_class);
        let needs_labels =
            self.entry()?.needs_target_labels || self.target_labels == Some(TargetLabels::Plan);
        ensure!(
            labelled > 0 || !needs_labels,
            "it needs labelled target samples: add labelled_target_per_class = 3 to [draw]"
        );
        Ok(())
    }
}

fn able_to_label_others() -> Vec<&'static str> {
    METHODS.iter().filter(|method| method.labels_other_samples).map(|method| method.id).collect()
}

/// The config's methods.
pub(super) fn check_methods(raw: RawMethods, text: &ConfigText<'_>) -> Result<Vec<MethodConfig>> {
    let mut methods: Vec<MethodConfig> = Vec::new();
    for (id, settings) in raw {
        methods.push(check_method(&id, settings.into_inner(), text)?);
        check_titles(&methods).with_context(|| text.place(&id.span()))?;
    }
    Ok(methods)
}

/// Those that the command line asks for: the config's, and others as the paper runs them.
pub(super) fn choose_methods(
    configured: &[MethodConfig],
    asked: &[String],
) -> Result<Vec<MethodConfig>> {
    let mut chosen: Vec<MethodConfig> = Vec::new();
    for id in asked.iter().map(|id| id.trim()) {
        let method = match configured.iter().find(|method| method.id == id) {
            Some(method) => method.clone(),
            None => MethodConfig::of_paper(find_method_among(id, configured)?),
        };
        ensure!(!chosen.contains(&method), "{id} is named twice: remove one of them");
        chosen.push(method);
        check_titles(&chosen)?;
    }
    Ok(chosen)
}

/// Columns of one name could not be told apart.
fn check_titles(methods: &[MethodConfig]) -> Result<()> {
    let Some((last, others)) = methods.split_last() else { return Ok(()) };
    if let Some(earlier) = others.iter().find(|earlier| earlier.title == last.title) {
        bail!(
            "[methods.{}] and [methods.{}] have the same title {:?}: add title = \"…\" to one of them",
            earlier.id,
            last.id,
            last.title
        );
    }
    Ok(())
}

fn find_method(id: &str) -> Result<&'static Method> {
    find_method_among(id, &[])
}

/// The complaint names those of the config, too.
fn find_method_among(id: &str, configured: &[MethodConfig]) -> Result<&'static Method> {
    METHODS.iter().find(|method| method.id == id).with_context(|| {
        let mut known: Vec<&str> = configured.iter().map(|method| method.id.as_str()).collect();
        let others = METHODS.iter().map(|method| method.id);
        known.extend(others.filter(|other| configured.iter().all(|method| method.id != *other)));
        let nearest = suggestion(id, known.iter().copied());
        format!("there is no method {id:?}.{nearest} Known are {}", known.join(", "))
    })
}

fn check_method(
    id: &Spanned<String>,
    mut settings: RawSettings,
    text: &ConfigText<'_>,
) -> Result<MethodConfig> {
    let place_of = |span: &Spanned<Value>| text.place(&span.span());
    let name = id.get_ref();
    let method = match settings.shift_remove("method") {
        None => find_method(name).map_err(|problem| {
            anyhow!(
                "{}: {problem}; a name of your own needs method = \"ot-it\", for example",
                text.place(&id.span())
            )
        })?,
        Some(value) => {
            let text = text_of(&value).and_then(find_method);
            text.with_context(|| format!("{}: [methods.{name}] method", place_of(&value)))?
        }
    };
    let mut config = MethodConfig { id: name.clone(), ..MethodConfig::of_paper(method) };
    for (key, value) in &settings {
        let place = || format!("{}: [methods.{name}] {}", place_of(value), key.get_ref());
        apply(&mut config, method, key.get_ref(), value)
            .with_context(place)?
            .then_some(())
            .with_context(|| no_such_setting(name, method, key.get_ref()))
            .with_context(|| text.place(&key.span()))?;
    }
    let sizes = config.grid.0.iter().map(|(_, values)| values.len());
    let points = sizes.fold(1_usize, usize::saturating_mul);
    ensure!(
        points <= MAX_POINTS,
        "{}: [methods.{name}] has a grid of {points} points, and {MAX_POINTS} are possible: try fewer values",
        text.place(&id.span())
    );
    Ok(config)
}

/// Sets what a key asks for; false if the method has no such setting.
fn apply(
    config: &mut MethodConfig,
    method: &Method,
    key: &str,
    value: &Spanned<Value>,
) -> Result<bool> {
    if let Some(place) = method.axes.iter().position(|axis| axis.name == key) {
        config.grid.0[place].1 = axis_values(&method.axes[place], value.get_ref())?;
        return Ok(true);
    }
    if key == "title" {
        text_of(value)?.clone_into(&mut config.title);
        ensure!(
            !config.title.trim().is_empty(),
            "a column needs a name: write one, or leave it out"
        );
        return Ok(true);
    }
    if !method.options.contains(&key) {
        return Ok(false);
    }
    match key {
        "cost" => config.cost = Some(choice(value)?),
        "normalize" => config.normalize = Some(choice(value)?),
        "target_labels" => config.target_labels = Some(choice(value)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn no_such_setting(name: &str, method: &Method, key: &str) -> String {
    let known: Vec<&str> = method
        .axes
        .iter()
        .map(|axis| axis.name)
        .chain(method.options.iter().copied())
        .chain(COMMON_SETTINGS)
        .collect();
    let nearest = suggestion(key, known.iter().copied());
    format!("[methods.{name}] has no setting {key:?}.{nearest} It takes {}", known.join(", "))
}

/// A number is a grid of one.
fn axis_values(axis: &Axis, value: &Value) -> Result<Vec<f64>> {
    let written = match value {
        Value::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    ensure!(!written.is_empty(), "the grid is empty: write at least one value");
    let mut values = Vec::with_capacity(written.len());
    for value in written {
        let number = match value {
            Value::Float(number) => *number,
            #[expect(clippy::cast_precision_loss, reason = "2^53 is beyond every axis")]
            Value::Integer(number) => *number as f64,
            other => bail!("{other} is not a number"),
        };
        axis.range.check(number)?;
        ensure!(!values.contains(&number), "{number} is there twice: remove one of them");
        values.push(number);
    }
    Ok(values)
}

fn text_of(value: &Spanned<Value>) -> Result<&str> {
    value.get_ref().as_str().with_context(|| format!("{} is not a text", value.get_ref()))
}

fn choice<T: ValueEnum>(value: &Spanned<Value>) -> Result<T> {
    let text = text_of(value)?;
    T::from_str(text, false).map_err(|_| {
        let known: Vec<String> = T::value_variants()
            .iter()
            .filter_map(T::to_possible_value)
            .map(|value| value.get_name().to_owned())
            .collect();
        let nearest = suggestion(text, known.iter().map(String::as_str));
        anyhow!("{text:?} is not known.{nearest} Known are {}", known.join(", "))
    })
}
