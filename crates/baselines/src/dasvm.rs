//! DASVM: a support vector machine that moves from the source to the target by exchanging samples.
//!
//! Bruzzone and Marconcini, "Domain Adaptation Problems: A DASVM Classification Technique and a Circular
//! Validation Strategy", IEEE TPAMI 32(5), 2010. In each round
//! * the machine minimises ½‖w‖² + C⁽ⁱ⁾ Σ ξ (source samples left) + Σ C*ₖ ξ* (semi-labelled target samples);
//! * semi-labelled samples whose class changed lose their label;
//! * on either side the ρ unlabelled target samples inside the margin that are closest to its border get
//!   the label of their side;
//! * as many source samples, those farthest from the hyperplane on that side, are removed; ρ if there was
//!   nothing to label.
//!
//! Over G rounds a source sample's cost falls quadratically from C to C*, and that of a semi-labelled sample
//! rises from C* to C with the rounds since it was labelled. It ends when no source sample is left and at
//! most βn target samples are newly labelled or change.
//!
//! None of this was compared with the publication's text. The exchange of samples, ρ and β are those of a public
//! re-implementation (twanvl/domain-adaptation), in which the cost stays the same; the costs' way over the rounds, and C*
//! and G, are a reading chosen here.

use ndarray::ArrayView2;

use crate::binary::{BinaryClassifier, TwoDomains};
use crate::error::{Error, Result};
use crate::kernel::{check_gram, check_positive};
use crate::svm::smo::{Dual, Machine, TOLERANCE};

/// DASVM's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DasvmOptions {
    /// C: what a source sample costs at first, and a semi-labelled one at last.
    pub cost: f64,
    /// C*: what a semi-labelled sample costs at first, and a source sample at last.
    pub start_cost: f64,
    /// ρ: samples that change hands on either side in a round.
    pub exchanged: usize,
    /// G: rounds from the first cost to the last.
    pub growth: usize,
    /// β: the fraction of target samples that may still move at the end.
    pub tolerance: f64,
}

impl DasvmOptions {
    /// C* = C/10, G = 10 rounds and β = 3%, with ρ a twentieth of the target samples.
    #[must_use]
    pub fn new(cost: f64, target_samples: usize) -> Self {
        Self {
            cost,
            start_cost: cost / 10.0,
            exchanged: target_samples.div_ceil(20),
            growth: 10,
            tolerance: 0.03,
        }
    }

    fn check(&self) -> Result<()> {
        check_positive("the cost C", self.cost)?;
        check_positive("the start cost C*", self.start_cost)?;
        for (argument, value) in [("exchanged", self.exchanged), ("growth", self.growth)] {
            if value == 0 {
                return Err(Error::TooFew { argument, value, least: 1 });
            }
        }
        check_positive("the tolerance", self.tolerance)
    }

    /// A quadratic way from one cost to another.
    fn scheduled(&self, from: f64, to: f64, round: usize) -> f64 {
        let progress = (round as f64 / self.growth as f64).min(1.0);
        from + (to - from) * progress * progress
    }
}

/// What came of the exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct Dasvm {
    /// The last machine.
    pub classifier: BinaryClassifier,
    /// Machines that were trained.
    pub rounds: usize,
    /// The end was reached: neither did the rounds run out nor was one class all that was left.
    pub is_converged: bool,
}

/// A sample on its way.
#[derive(Clone, Copy)]
enum Role {
    Source { sign: f64 },
    Removed,
    Unlabelled,
    SemiLabelled { sign: f64, since: usize },
}

/// Trains on samples of both domains, whose labels are `None` in the target; `gram` is their kernel matrix.
pub fn train_dasvm(
    gram: ArrayView2<'_, f64>,
    labels: &[Option<usize>],
    options: &DasvmOptions,
) -> Result<Dasvm> {
    check_gram(gram, labels.len())?;
    options.check()?;
    let domains = TwoDomains::new(labels)?;
    let still = (options.tolerance * domains.unlabelled.len() as f64).ceil();
    let mut roles = vec![Role::Unlabelled; labels.len()];
    for (&sample, &sign) in domains.labelled.iter().zip(&domains.signs) {
        roles[sample] = Role::Source { sign };
    }
    // Each round can take one source sample away and give one label.
    let limit = labels.len() + options.growth;
    let mut round = 0;
    let mut last: Option<Machine> = None;
    loop {
        let (machine, decisions) = train(gram, &roles, options, round, last.as_ref());
        let has_source = roles.iter().any(|role| matches!(role, Role::Source { .. }));
        let moved = exchange(&mut roles, &decisions, options.exchanged, round);
        round += 1;
        let is_converged =
            !has_source && moved.labelled as f64 <= still && moved.changed as f64 <= still;
        if is_converged || round == limit || !has_both_signs(&roles) {
            let classifier = BinaryClassifier {
                classes: domains.classes,
                coefficients: machine.coefficients,
                bias: machine.bias,
            };
            return Ok(Dasvm { classifier, rounds: round, is_converged });
        }
        last = Some(machine);
    }
}

/// The machine of the samples that have a label now, and its decisions on all; it starts at the one before, from
/// which a round changes few samples.
fn train(
    gram: ArrayView2<'_, f64>,
    roles: &[Role],
    options: &DasvmOptions,
    round: usize,
    last: Option<&Machine>,
) -> (Machine, Vec<f64>) {
    let (high, low) = (options.cost, options.start_cost);
    let sign_and_cost = |role: &Role| match *role {
        Role::Source { sign } => (sign, options.scheduled(high, low, round)),
        Role::SemiLabelled { sign, since } => (sign, options.scheduled(low, high, round - since)),
        Role::Removed | Role::Unlabelled => (0.0, 0.0),
    };
    let (signs, costs): (Vec<f64>, Vec<f64>) = roles.iter().map(sign_and_cost).unzip();
    let dual = Dual::new(gram.view(), &signs, &costs);
    let start = last.map(|machine| dual.start_near(&machine.coefficients));
    let machine = dual.solve(start, TOLERANCE);
    let decisions = (0..roles.len()).map(|sample| dual.decision(&machine, sample)).collect();
    (machine, decisions)
}

/// Target samples that got a label, and that lost theirs.
struct Moved {
    labelled: usize,
    changed: usize,
}

fn exchange(roles: &mut [Role], decisions: &[f64], most: usize, round: usize) -> Moved {
    // Toward the hyperplane on the side of this sign, of those samples that qualify.
    let farthest_first = |sign: f64, qualifies: &dyn Fn(usize) -> bool| {
        let mut samples: Vec<usize> = (0..decisions.len()).filter(|&i| qualifies(i)).collect();
        samples.sort_by(|&i, &j| (sign * decisions[j]).total_cmp(&(sign * decisions[i])));
        samples
    };
    let sides = [1.0, -1.0];
    let candidates = sides.map(|sign| {
        let mut samples = farthest_first(sign, &|i| {
            let depth = sign * decisions[i];
            let is_on_side = if sign > 0.0 { depth >= 0.0 } else { depth > 0.0 };
            matches!(roles[i], Role::Unlabelled) && is_on_side && depth < 1.0
        });
        samples.truncate(most);
        samples
    });
    let labelled = candidates.iter().map(Vec::len).sum();
    let removed = [0, 1].map(|side| {
        let mut samples = farthest_first(sides[side], &|i| matches!(roles[i], Role::Source { .. }));
        samples.truncate(if labelled == 0 { most } else { candidates[side].len() });
        samples
    });
    let mut changed = 0;
    for (role, decision) in roles.iter_mut().zip(decisions) {
        if let Role::SemiLabelled { sign, .. } = *role
            && (*decision >= 0.0) != (sign > 0.0)
        {
            *role = Role::Unlabelled;
            changed += 1;
        }
    }
    for (side, sign) in sides.into_iter().enumerate() {
        for &sample in &candidates[side] {
            roles[sample] = Role::SemiLabelled { sign, since: round + 1 };
        }
        for &sample in &removed[side] {
            roles[sample] = Role::Removed;
        }
    }
    Moved { labelled, changed }
}

fn has_both_signs(roles: &[Role]) -> bool {
    let has = |wanted: f64| {
        roles.iter().any(|role| {
            matches!(role, Role::Source { sign } | Role::SemiLabelled { sign, .. } if *sign == wanted)
        })
    };
    has(1.0) && has(-1.0)
}
