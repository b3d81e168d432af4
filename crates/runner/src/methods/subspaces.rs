//! Methods that embed both domains in a common space and classify there.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Instant;

use anyhow::{Context as _, Result};
use baselines::{
    CoralOptions, Embedding, Gfk, Jda, JdaOptions, MmdOptions, Pca, PcaOptions, SubspaceAlignment,
    Tca, Tsl, TslOptions,
};
use ndarray::{Axis, concatenate, s};

use super::unadapted::classify;
use super::{Outcome, Problem};
use crate::config::{MethodConfig, Point};

/// Classifies in the embedding of each grid point.
fn in_embeddings(
    problem: &Problem<'_>,
    points: &[Point],
    mut embed: impl FnMut(&Point) -> Result<Embedding>,
) -> Result<Vec<Outcome>> {
    let queries = problem.queries_of_target()?;
    let known = problem.labelled_target.labels.len();
    let labels = [problem.source.labels.as_slice(), &problem.labelled_target.labels].concat();
    let label = |point: &Point| {
        let clock = Instant::now();
        let Embedding { source, target } = embed(point)?;
        let training = concatenate![Axis(0), source, target.slice(s![..known, ..])];
        let asked = target.slice(s![queries.clone(), ..]);
        let predicted = classify(problem.classifier, training.view(), &labels, asked)?;
        Ok(Outcome { predicted, convergence: None, seconds: clock.elapsed().as_secs_f64() })
    };
    points.iter().map(label).collect()
}

fn largest_k(points: &[Point]) -> usize {
    points.iter().map(|point| point.count("k")).max().unwrap_or(0)
}

/// PCA of both domains together.
pub fn pca(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let source = problem.source.features.view();
    let pca = Pca::fit(source, problem.target, largest_k(points), PcaOptions::default())?;
    in_embeddings(problem, points, |point| Ok(pca.embed(point.count("k"))?))
}

/// The geodesic flow kernel.
pub fn gfk(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let gfk = Gfk::fit(problem.source.features.view(), problem.target, largest_k(points))?;
    in_embeddings(problem, points, |point| Ok(gfk.embed(point.count("k"))?))
}

/// Subspace alignment.
pub fn sa(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let source = problem.source.features.view();
    let alignment = SubspaceAlignment::fit(source, problem.target, largest_k(points))?;
    in_embeddings(problem, points, |point| Ok(alignment.embed(point.count("k"))?))
}

/// Correlation alignment.
pub fn coral(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let source = problem.source.features.view();
    in_embeddings(problem, points, |point| {
        let options = CoralOptions { regularization: point.get("regularization") };
        Ok(baselines::coral(source, problem.target, options)?)
    })
}

/// Transfer component analysis.
pub fn tca(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let source = problem.source.features.view();
    let tca = Tca::new(source, problem.target, MmdOptions::default())?;
    in_embeddings(problem, points, |point| Ok(tca.embed(point.get("lambda"), point.count("k"))?))
}

/// Joint distribution adaptation.
pub fn jda(problem: &Problem<'_>, _: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let source = problem.source;
    let jda =
        Jda::new(source.features.view(), &source.labels, problem.target, JdaOptions::default())?;
    // The points of one λ share their first projection.
    let mut found: HashMap<(u64, usize), Embedding> = HashMap::new();
    in_embeddings(problem, points, |point| {
        let lambda = point.get("lambda");
        let place = |k| (lambda.to_bits(), k);
        if let Some(embedding) = found.remove(&place(point.count("k"))) {
            return Ok(embedding);
        }
        let of_lambda = points.iter().filter(|other| other.get("lambda") == lambda);
        let mut dimensions: Vec<usize> = of_lambda.map(|other| other.count("k")).collect();
        dimensions.sort_unstable();
        dimensions.dedup();
        let outcomes = jda.adapt_each(lambda, &dimensions)?;
        found.extend(
            dimensions.iter().zip(outcomes).map(|(&k, outcome)| (place(k), outcome.embedding)),
        );
        found.remove(&place(point.count("k"))).context("a grid point is asked for twice")
    })
}

/// Transfer subspace learning. Its objective has local minima, and the search for one λ starts where that of
/// the next smaller λ of the whole grid ended, also if fewer points are asked for.
pub fn tsl(problem: &Problem<'_>, config: &MethodConfig, points: &[Point]) -> Result<Vec<Outcome>> {
    let source = problem.source;
    let tsl =
        Tsl::new(source.features.view(), &source.labels, problem.target, TslOptions::default())?;
    let mut weights: Vec<f64> =
        config.grid.points().iter().map(|point| point.get("lambda")).collect();
    weights.sort_by(f64::total_cmp);
    weights.dedup();
    let mut found: HashMap<usize, Vec<Embedding>> = HashMap::new();
    in_embeddings(problem, points, |point| {
        let k = point.count("k");
        let largest =
            points.iter().filter(|other| other.count("k") == k).map(|other| other.get("lambda"));
        let largest = largest.fold(f64::NEG_INFINITY, f64::max);
        let path = weights.partition_point(|weight| *weight <= largest);
        let embeddings = match found.entry(k) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let outcomes = tsl.fit_path(&weights[..path], k)?;
                place.insert(outcomes.into_iter().map(|outcome| outcome.embedding).collect())
            }
        };
        let weight = weights.partition_point(|weight| *weight < point.get("lambda"));
        Ok(embeddings[weight].clone())
    })
}
