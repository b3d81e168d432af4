//! What `runner adapt` reads: samples, their labels, and what is known of the target's.

use anyhow::{Result, anyhow, bail, ensure};
use datasets::{Domain, read_features, read_labels, read_samples};
use ndarray::Array2;

use crate::cli::{AdaptArguments, AdaptMethod};

/// Spelled in a file of target labels where the label is not known.
const UNKNOWN_LABEL: &str = "-1";

/// Samples, and what is known of their labels.
pub struct Input {
    pub source: Domain,
    pub target: Array2<f64>,
    pub known_labels: KnownLabels,
}

/// What is known of the target's labels.
pub enum KnownLabels {
    None,
    /// They constrain the plan.
    Some(Vec<Option<usize>>),
    /// With nothing left to adapt to, they only score the prediction.
    All(Vec<usize>),
}

impl Input {
    /// Reads the files that are named.
    pub fn read(arguments: &AdaptArguments) -> Result<Self> {
        let (features, labels) = read_samples(&arguments.source, arguments.labels.as_deref())?;
        let labels = match (labels, needs_labels(arguments)) {
            (Some(labels), _) => labels,
            // One class: nobody looks at it.
            (None, None) => vec!["unknown".to_owned(); features.nrows()],
            (None, Some(what)) => bail!(
                "{} has no labels, and {what} needs them: give them with --labels FILE",
                arguments.source.display()
            ),
        };
        let source = Domain::from_label_names("source", features, &labels)?;
        let target_labels = arguments.target_labels.as_deref().map(read_labels).transpose()?;
        let target = read_features(
            &arguments.target,
            target_labels.as_ref().map(Vec::len),
            Some(source.width()),
        )?;
        let classes = source.class_names();
        let known_labels = match target_labels {
            None => KnownLabels::None,
            Some(labels) => known_labels(&labels, classes)?,
        };
        Ok(Self { source, target, known_labels })
    }
}

/// What cannot do without the source's labels.
fn needs_labels(arguments: &AdaptArguments) -> Option<String> {
    match arguments.method {
        AdaptMethod::OtGl | AdaptMethod::OtLaplace | AdaptMethod::OtLpl1 => {
            Some(arguments.method.to_string())
        }
        AdaptMethod::OtExact | AdaptMethod::OtIt if arguments.predict.is_some() => {
            Some("--predict".to_owned())
        }
        AdaptMethod::OtExact | AdaptMethod::OtIt => {
            arguments.target_labels.as_ref().map(|_| "--target-labels".to_owned())
        }
    }
}

fn known_labels(labels: &[String], classes: &[String]) -> Result<KnownLabels> {
    let known: Vec<Option<usize>> = labels
        .iter()
        .enumerate()
        .map(|(row, label)| {
            if label == UNKNOWN_LABEL {
                ensure!(
                    !classes.iter().any(|class| class == UNKNOWN_LABEL),
                    "--target-labels, row {}: {UNKNOWN_LABEL} stands for a label that is not known, and is a class of \
                     the source; give that class another name in both files",
                    row + 1
                );
                return Ok(None);
            }
            let class = classes.iter().position(|class| class == label);
            ensure!(
                class.is_some(),
                "--target-labels, row {}: no source sample has the label {label:?}; write \
                 {UNKNOWN_LABEL} where it is not known",
                row + 1
            );
            Ok(class)
        })
        .collect::<Result<_>>()?;
    let all: Option<Vec<usize>> = known.iter().copied().collect();
    Ok(all.map_or(KnownLabels::Some(known), KnownLabels::All))
}

/// Says it with the labels as the user spells them.
pub fn too_many_labels(error: solvers::Error, classes: &[String]) -> anyhow::Error {
    match error {
        solvers::Error::LabelMass { class, needed, available } => anyhow!(
            "--target-labels: the samples with the label {:?} need a mass of {needed:.3}, and the source samples with it \
             have {available:.3}, so that no plan respects the labels; replace some of them by {UNKNOWN_LABEL}",
            classes[class]
        ),
        other => anyhow::Error::from(other).context("--target-labels"),
    }
}
