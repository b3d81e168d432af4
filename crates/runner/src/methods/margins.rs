//! Support-vector machines and their relatives: they learn a classifier for the target, not an adaptation.

use std::time::Instant;

use anyhow::{Context as _, Result};
use baselines::{
    BinaryClassifier, DasvmOptions, Kernel, KernelPairs, LabelledSamples, MmdtOptions, PbdaOptions,
    Pca, PcaOptions, train_dasvm, train_mmdt, train_pbda,
};
use ndarray::{Array2, Axis, concatenate, s};
use solvers::Stop;

use super::{Convergence, Outcome, Problem};
use crate::config::{MethodConfig, Point};

/// DASVM with a Gaussian kernel, for two classes.
pub fn dasvm(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let options = |point: &Point| DasvmOptions::new(point.get("c"), problem.target.nrows());
    with_gaussian_kernel(problem, points, |gram, labels, point| {
        let trained = train_dasvm(gram.view(), labels, &options(point))?;
        Ok((trained.classifier, ending(trained.is_converged, trained.rounds)))
    })
}

/// PBDA with a Gaussian kernel, for two classes.
pub fn pbda(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    with_gaussian_kernel(problem, points, |gram, labels, point| {
        let options = PbdaOptions::new(point.get("c"), point.get("a"));
        let trained = train_pbda(gram.view(), labels, &options)?;
        Ok((trained.classifier, ending(trained.is_converged, trained.iterations)))
    })
}

/// Trains a binary classifier at each grid point on the kernel matrix of both domains, which points with the
/// same γ share.
fn with_gaussian_kernel(
    problem: &Problem<'_>,
    points: &[Point],
    train: impl Fn(&Array2<f64>, &[Option<usize>], &Point) -> Result<(BinaryClassifier, Convergence)>,
) -> Result<Vec<Outcome>> {
    let samples = concatenate![Axis(0), problem.source.features, problem.target];
    let known = problem.source.labels.iter().chain(&problem.labelled_target.labels);
    let mut labels: Vec<Option<usize>> = known.copied().map(Some).collect();
    labels.resize(samples.nrows(), None);
    let within = KernelPairs::within(samples.view())?;
    let to_queries = KernelPairs::new(problem.query_samples(), samples.view())?;
    let mut kernels: Option<(f64, Array2<f64>, Array2<f64>)> = None;
    let mut outcomes = Vec::with_capacity(points.len());
    for point in points {
        let clock = Instant::now();
        let gamma = point.get("gamma");
        let (_, gram, query_gram) = match kernels.take() {
            Some(kernels) if kernels.0 == gamma => kernels,
            _ => {
                let kernel = Kernel::Gaussian { gamma };
                (gamma, within.matrix(kernel)?, to_queries.matrix(kernel)?)
            }
        };
        let (classifier, convergence) = train(&gram, &labels, point)?;
        outcomes.push(Outcome {
            predicted: classifier.classify(query_gram.view())?,
            convergence: Some(convergence),
            seconds: clock.elapsed().as_secs_f64(),
        });
        kernels = Some((gamma, gram, query_gram));
    }
    Ok(outcomes)
}

/// MMDT: hyperplanes and a transform of the target, learned from a few labelled target samples in the first
/// principal components of both domains, as its authors' program does.
pub fn mmdt(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let queries = problem.queries_of_target()?;
    let known = problem.labelled_target.labels.len();
    let most = points.iter().map(|point| point.count("components")).max().unwrap_or(0);
    let source = problem.source.features.view();
    let pca = Pca::fit(source, problem.target, most, PcaOptions { whiten: false })?;
    let label = |point: &Point| {
        let clock = Instant::now();
        let embedding = pca.embed(point.count("components")).context("components")?;
        let options = MmdtOptions {
            source_cost: point.get("source_cost"),
            target_cost: point.get("target_cost"),
            ..MmdtOptions::default()
        };
        let source =
            LabelledSamples { features: embedding.source.view(), labels: &problem.source.labels };
        let target = LabelledSamples {
            features: embedding.target.slice(s![..known, ..]),
            labels: &problem.labelled_target.labels,
        };
        let trained = train_mmdt(source, target, &options)?;
        let predicted = trained.classify(embedding.target.slice(s![queries.clone(), ..]))?;
        let rounds = trained.objectives.len();
        Ok(Outcome {
            predicted,
            convergence: Some(ending(trained.is_converged, rounds)),
            seconds: clock.elapsed().as_secs_f64(),
        })
    };
    points.iter().map(label).collect()
}

fn ending(is_converged: bool, iterations: usize) -> Convergence {
    let stop = if is_converged { Stop::Converged } else { Stop::IterationLimit };
    Convergence { stop: stop.to_string(), iterations, relative_gap: None, marginal_error: None }
}
