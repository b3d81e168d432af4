//! The choice of kernel and cost by cross-validation.
//!
//! Settings are tried in the order of preference, so that one is given up as soon as its errors reach the fewest
//! so far: it cannot win any more. The choice is the same as if every setting were tried to the end.

use std::cmp::Reverse;

use ndarray::{Array2, ArrayView2};

use super::smo::{Dual, Machine};
use super::{Rivals, winner};
use crate::classes::{distinct_classes, stratified_folds};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelPairs, check_gram, check_positive};

/// The violation of the optimality conditions that is left while settings are compared: a hundredth of the
/// margin. On five OT-exact mappings of two moons (20° to 90°) LIBSVM's default, a tenth of it, chose the same
/// settings with the same errors.
const COMPARING_TOLERANCE: f64 = 1e-2;

/// A kernel and a cost C.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SvmSetting {
    /// The kernel.
    pub kernel: Kernel,
    /// C.
    pub cost: f64,
}

/// What to choose from by cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmGrid {
    /// The preferred first: of equally good ones the first is taken.
    pub settings: Vec<SvmSetting>,
    /// Parts into which the training set is cut.
    pub folds: usize,
    /// Of the shuffle before the cut.
    pub seed: u64,
}

impl Default for SvmGrid {
    /// C and a Gaussian's γ in 10⁻² … 10², five folds.
    ///
    /// The nearer to the middle of the grid in decades, C = 1 and γ = 1, the more a setting is preferred. Where
    /// classes are apart, as two moons are, most of the grid makes no error in cross-validation: there the edge,
    /// be it a machine that is hardly trained or one that is 1NN in disguise, must not win by its place in a list.
    /// A third decade of costs changed no choice on five OT-exact mappings of two moons, and took more than half
    /// of the time.
    fn default() -> Self {
        const REACH: i32 = 2;
        let mut powers: Vec<(i32, i32)> =
            (-REACH..=REACH).flat_map(|c| (-REACH..=REACH).map(move |gamma| (c, gamma))).collect();
        // Stable: of equally near ones the smaller cost, then the wider kernel.
        powers.sort_by_key(|(cost, gamma)| cost * cost + gamma * gamma);
        let setting = |(cost, gamma): (i32, i32)| SvmSetting {
            kernel: Kernel::Gaussian { gamma: 10.0_f64.powi(gamma) },
            cost: 10.0_f64.powi(cost),
        };
        Self { settings: powers.into_iter().map(setting).collect(), folds: 5, seed: 0 }
    }
}

/// What cross-validation found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SvmChoice {
    /// The best setting.
    pub setting: SvmSetting,
    /// The fraction of samples whose class it finds without them.
    pub accuracy: f64,
    /// Machines that were trained.
    pub machines: usize,
}

impl SvmGrid {
    /// The setting with the fewest errors in cross-validation on the training set.
    pub fn choose(&self, training: ArrayView2<'_, f64>, labels: &[usize]) -> Result<SvmChoice> {
        self.choose_among(&KernelPairs::within(training)?, labels)
    }

    pub(super) fn choose_among(
        &self,
        pairs: &KernelPairs<'_>,
        labels: &[usize],
    ) -> Result<SvmChoice> {
        self.check()?;
        let samples = labels.len();
        let classes = distinct_classes("the training set", labels)?;
        let rivals = Rivals::all(&classes, labels);
        let mut folds: Vec<Fold> = stratified_folds(labels, self.folds, self.seed)
            .into_iter()
            .filter(|fold| !fold.is_empty())
            .enumerate()
            .map(|fold| Fold::new(fold, &rivals))
            .collect();
        let mut matrices: Vec<KernelMatrix> = Vec::new();
        let (mut best, mut fewest) = (self.settings[0], usize::MAX);
        let mut machines = 0;
        for &setting in &self.settings {
            if fewest == 0 {
                break;
            }
            let known = matrices.iter().position(|matrix| matrix.kernel == setting.kernel);
            let place = known.unwrap_or(matrices.len());
            if known.is_none() {
                matrices.push(KernelMatrix::new(setting.kernel, pairs, &rivals, folds.len())?);
            }
            let matrix = &mut matrices[place];
            let mut errors = 0;
            for fold in &mut folds {
                let found = matrix.classify(fold, &rivals, setting.cost);
                let truth = fold.held_out.iter().map(|&sample| labels[sample]);
                fold.errors = found.iter().zip(truth).filter(|&(&c, t)| classes[c] != t).count();
                errors += fold.errors;
                machines += rivals.len();
                if errors >= fewest {
                    break;
                }
            }
            if errors < fewest {
                (best, fewest) = (setting, errors);
                // Where this one errs most, others are most probably found out.
                folds.sort_by_key(|fold| Reverse(fold.errors));
            }
        }
        let accuracy = 1.0 - fewest as f64 / samples as f64;
        Ok(SvmChoice { setting: best, accuracy, machines })
    }

    fn check(&self) -> Result<()> {
        if self.settings.is_empty() {
            return Err(Error::NothingToChoose { argument: "settings" });
        }
        if self.folds < 2 {
            return Err(Error::TooFew { argument: "folds", value: self.folds, least: 2 });
        }
        self.settings.iter().try_for_each(|setting| check_positive("the cost C", setting.cost))
    }
}

/// A part of the training set, and who is left of each pair of classes without it.
struct Fold {
    /// Its place among the folds as they were cut.
    place: usize,
    held_out: Vec<usize>,
    /// Of each pair of classes, 1 for the members that are kept and 0 for the others.
    kept: Vec<Vec<f64>>,
    /// Of the last setting that was tried on it.
    errors: usize,
}

impl Fold {
    fn new((place, held_out): (usize, Vec<usize>), rivals: &[Rivals]) -> Self {
        let is_kept = |sample: &usize| f64::from(u8::from(held_out.binary_search(sample).is_err()));
        let kept = rivals.iter().map(|pair| pair.members.iter().map(is_kept).collect()).collect();
        Self { place, held_out, kept, errors: 0 }
    }
}

/// The matrix of one kernel, with what was learned with it.
struct KernelMatrix {
    kernel: Kernel,
    gram: Array2<f64>,
    /// Of each pair of classes, its members' part of the matrix where that is not the whole.
    parts: Vec<Option<Array2<f64>>>,
    /// Of each fold and pair of classes, the last machine and its cost.
    machines: Vec<Vec<Option<(Machine, f64)>>>,
}

impl KernelMatrix {
    fn new(
        kernel: Kernel,
        pairs: &KernelPairs<'_>,
        rivals: &[Rivals],
        folds: usize,
    ) -> Result<Self> {
        let gram = pairs.matrix(kernel)?;
        let samples = rivals.iter().flat_map(|pair| &pair.members).max().map_or(0, |last| last + 1);
        check_gram(gram.view(), samples)?;
        let parts = rivals.iter().map(|pair| pair.own_part(gram.view())).collect();
        Ok(Self { kernel, gram, parts, machines: vec![vec![None; rivals.len()]; folds] })
    }

    /// The class, as its place, of each sample that the fold holds out.
    fn classify(&mut self, fold: &Fold, rivals: &[Rivals], cost: f64) -> Vec<usize> {
        let classes = rivals.iter().map(|pair| pair.high + 1).max().unwrap_or(0);
        let mut votes = vec![vec![0; classes]; fold.held_out.len()];
        for (number, pair) in rivals.iter().enumerate() {
            let kept = &fold.kept[number];
            let has = |sign: f64| pair.signs.iter().zip(kept).any(|(&s, &k)| s == sign && k > 0.0);
            if !(has(1.0) && has(-1.0)) {
                // All samples of a class were held out: it cannot win.
                let alone = if has(1.0) { pair.high } else { pair.low };
                for votes in &mut votes {
                    votes[alone] += 1;
                }
                continue;
            }
            let costs: Vec<f64> = kept.iter().map(|kept| kept * cost).collect();
            let part = self.parts[number].as_ref().unwrap_or(&self.gram);
            let dual = Dual::new(part.view(), &pair.signs, &costs);
            let last = &mut self.machines[fold.place][number];
            let start = last.as_ref().map(|(machine, last)| dual.start_from(machine, cost / last));
            let machine = dual.solve(start, COMPARING_TOLERANCE);
            for (votes, &sample) in votes.iter_mut().zip(&fold.held_out) {
                let decision = if let Ok(member) = pair.members.binary_search(&sample) {
                    dual.decision(&machine, member)
                } else {
                    let terms = pair.members.iter().zip(&machine.coefficients);
                    terms.map(|(&i, beta)| beta * self.gram[[sample, i]]).sum::<f64>()
                        + machine.bias
                };
                votes[if decision > 0.0 { pair.high } else { pair.low }] += 1;
            }
            *last = Some((machine, cost));
        }
        votes.iter().map(|votes| winner(votes)).collect()
    }
}
