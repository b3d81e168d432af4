//! Where the solution is, in single precision: Newton's method on the semi-dual of the targets with continuation in λ.
//! A pass over the kernel takes half the time of one in double precision, and nearly all passes are for directions, which
//! need no more digits; to double precision an evaluation and a few passes are left (`Ascent::refine`). Where conjugate
//! gradients take long (sparse plans, classes that are kept apart) it gives up, and the caller goes on from as far as it
//! came. It certifies nothing.

mod directions;
mod kernel;
mod loops;

use super::continuation::FIRST_SHARE;
use super::problem::Problem;
use directions::Directions;
use kernel::RoughKernel;

/// Marginal error up to which an intermediate λ is solved,
const INTERMEDIATE_ERROR: f64 = 1e-2;
/// and the last one: not far from what rounding leaves.
const LAST_ERROR: f64 = 1e-5;
/// Relative accuracy of a direction: rough far away, then finer, but not finer than rounding lets it be.
const DIRECTION_ACCURACY: std::ops::RangeInclusive<f64> = 1e-3..=0.1;
const TANGENT_ACCURACY: f64 = 0.02;
/// Sinkhorn's updates go on while one shrinks the error at least to this share,
const SWEEP_SHRINKAGE: f64 = 0.1;
/// and Newton's steps to this one.
const STEP_SHRINKAGE: f64 = 0.9;
/// No potential moves further than this many λ in one step.
const RADIUS: f64 = 3.0;
/// Changes up to this many λ, in sum, are made by rescaling.
const RESCALING_RADIUS: f64 = 1.0;
/// A start with a larger marginal error is not near.
const TRUSTED_ERROR: f64 = 0.5;
/// After an extrapolation with a smaller marginal error λ falls faster, after a larger one slower.
const EASY_ERROR: f64 = 3e-2;
const HARD_ERROR: f64 = 0.25;
const FIRST_FACTOR: f64 = 0.35;
const SMALLEST_FACTOR: f64 = 0.15;
const LARGEST_FACTOR: f64 = 0.8;
const EXTRAPOLATIONS: usize = 3;
/// A last step that is hardly one would cost as much as the others.
const LAST_STEP: f64 = 1.3;

/// The memory of the search and where it stands.
#[derive(Default)]
pub(super) struct Rough {
    kernel: RoughKernel,
    directions: Directions,
    entropy_weight: f64,
    /// Of the targets.
    potential: Vec<f64>,
    /// Its change since the kernel was computed, in units of λ.
    log_scaling: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// ℓ₁ error of the targets' marginal; that of the sources is exact.
    error: f64,
    steps: usize,
    step_limit: usize,
}

/// Potentials near the solution of a λ.
pub(super) struct Found {
    pub(super) entropy_weight: f64,
    pub(super) source_potential: Vec<f64>,
    pub(super) target_potential: Vec<f64>,
    pub(super) steps: usize,
}

impl Rough {
    /// Goes from the limit λ → ∞ down to `target`, or as far as that is easy. None if it is not even at the start.
    pub(super) fn approach(
        &mut self,
        problem: &Problem<'_>,
        target: f64,
        (tolerance, step_limit): (f64, usize),
    ) -> Option<Found> {
        self.resize(problem, step_limit);
        problem.mean_costs(&mut self.potential);
        self.entropy_weight = target.max(FIRST_SHARE * problem.cost_spread);
        self.evaluate(problem);
        let mut factor = FIRST_FACTOR;
        let mut found = None;
        loop {
            let is_last = self.entropy_weight <= target;
            let goal = if is_last { LAST_ERROR.max(tolerance) } else { INTERMEDIATE_ERROR };
            if !self.climb(problem, goal) {
                return found;
            }
            found = Some(self.found(problem));
            if is_last || !self.lower(problem, target, &mut factor) {
                return found;
            }
        }
    }

    /// Looks for the solution at a λ from a potential of the targets. None if that is not near.
    pub(super) fn approach_from(
        &mut self,
        problem: &Problem<'_>,
        entropy_weight: f64,
        potential: &[f64],
        (tolerance, step_limit): (f64, usize),
    ) -> Option<Found> {
        self.resize(problem, step_limit);
        self.potential.copy_from_slice(potential);
        self.entropy_weight = entropy_weight;
        self.evaluate(problem);
        let is_near = self.error <= TRUSTED_ERROR;
        (is_near && self.climb(problem, LAST_ERROR.max(tolerance))).then(|| self.found(problem))
    }

    /// Newton's direction for a gradient near the potentials that were found last; false when that takes too long.
    pub(super) fn find_direction(
        &mut self,
        gradient: &[f64],
        direction: &mut [f64],
        accuracy: f64,
    ) -> bool {
        let accuracy = accuracy.clamp(*DIRECTION_ACCURACY.start(), *DIRECTION_ACCURACY.end());
        self.directions.solve(&mut self.kernel, gradient, direction, accuracy)
    }

    fn resize(&mut self, problem: &Problem<'_>, step_limit: usize) {
        let targets = problem.inner_len();
        self.kernel.resize(problem);
        self.directions.resize(self.kernel.padded_columns());
        for vector in
            [&mut self.potential, &mut self.log_scaling, &mut self.gradient, &mut self.direction]
        {
            vector.resize(targets, 0.0);
        }
        (self.steps, self.step_limit) = (0, step_limit);
    }

    fn found(&mut self, problem: &Problem<'_>) -> Found {
        self.move_scaling_to_potential();
        Found {
            entropy_weight: self.entropy_weight,
            source_potential: self.kernel.source_potential(problem, self.entropy_weight),
            target_potential: self.potential.clone(),
            steps: self.steps,
        }
    }

    fn evaluate(&mut self, problem: &Problem<'_>) {
        self.log_scaling.fill(0.0);
        self.kernel.evaluate(problem, &self.potential, self.entropy_weight);
        self.update_gradient(problem);
    }

    fn update_gradient(&mut self, problem: &Problem<'_>) {
        self.error = 0.0;
        for ((gradient, mass), marginal) in
            self.gradient.iter_mut().zip(&problem.inner_mass).zip(&self.kernel.marginal)
        {
            *gradient = mass - marginal;
            self.error += gradient.abs();
        }
    }

    fn move_scaling_to_potential(&mut self) {
        for (potential, scaling) in self.potential.iter_mut().zip(&mut self.log_scaling) {
            *potential += self.entropy_weight * std::mem::take(scaling);
        }
    }

    /// Steps until the marginal error is within the tolerance; false when they do not lead there.
    fn climb(&mut self, problem: &Problem<'_>, tolerance: f64) -> bool {
        let mut is_sweeping = problem.is_smooth_at(self.entropy_weight);
        loop {
            // Not a number is not within the tolerance.
            if self.error <= tolerance {
                return true;
            }
            if self.steps == self.step_limit {
                return false;
            }
            self.steps += 1;
            let before = self.error;
            if is_sweeping {
                let pairs = problem.inner_mass.iter().zip(&self.kernel.marginal);
                for (step, (mass, marginal)) in self.direction.iter_mut().zip(pairs) {
                    *step = (mass / marginal).ln();
                }
            } else {
                let gradient = std::mem::take(&mut self.gradient);
                let mut direction = std::mem::take(&mut self.direction);
                let is_found = self.find_direction(&gradient, &mut direction, before);
                (self.gradient, self.direction) = (gradient, direction);
                if !is_found {
                    return false;
                }
            }
            self.advance(problem);
            let shrinks = self.error <= STEP_SHRINKAGE * before;
            if !is_sweeping && !shrinks {
                return false;
            }
            is_sweeping &= self.error <= SWEEP_SHRINKAGE * before;
        }
    }

    /// Moves along the direction, as far as the radius.
    fn advance(&mut self, problem: &Problem<'_>) {
        let mut steps = self.direction.iter().zip(&self.log_scaling);
        if steps.all(|(step, scaling)| (step + scaling).abs() <= RESCALING_RADIUS) {
            for (scaling, step) in self.log_scaling.iter_mut().zip(&self.direction) {
                *scaling += step;
            }
            self.kernel.rescale(&self.log_scaling);
            self.update_gradient(problem);
            return;
        }
        self.move_scaling_to_potential();
        for (potential, step) in self.potential.iter_mut().zip(&self.direction) {
            *potential += self.entropy_weight * step.clamp(-RADIUS, RADIUS);
        }
        self.evaluate(problem);
    }

    /// Extrapolates along the tangent df/dλ to a smaller λ; false when that does not lead near its solution.
    fn lower(&mut self, problem: &Problem<'_>, target: f64, factor: &mut f64) -> bool {
        let weight = self.entropy_weight;
        self.kernel.spread(problem, (&self.potential, weight), &mut self.gradient);
        let Self { kernel, directions, gradient, direction, .. } = self;
        if !directions.solve(kernel, gradient, direction, TANGENT_ACCURACY) {
            return false;
        }
        let start = self.potential.clone();
        for _ in 0..EXTRAPOLATIONS {
            let next = weight * *factor;
            self.entropy_weight = if next < LAST_STEP * target { target } else { next };
            let change = self.entropy_weight - weight;
            for ((potential, start), tangent) in
                self.potential.iter_mut().zip(&start).zip(&self.direction)
            {
                *potential = start + change * tangent;
            }
            self.evaluate(problem);
            let slower = factor.sqrt().min(LARGEST_FACTOR);
            if self.error <= TRUSTED_ERROR {
                if self.error < EASY_ERROR {
                    *factor = (*factor * *factor).max(SMALLEST_FACTOR);
                } else if self.error > HARD_ERROR {
                    *factor = slower;
                }
                return true;
            }
            *factor = slower;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::{LAST_ERROR, Problem, Rough};

    /// Squared distances between points of two curves.
    fn cost(scale: f64) -> Array2<f64> {
        let point = |t: f64| [t.sin(), (1.7 * t).cos(), (0.3 * t).sin()];
        Array2::from_shape_fn((37, 53), |(i, j)| {
            let (x, y) = (point(i as f64), point(0.5 + j as f64));
            scale * x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()
        })
    }

    /// ℓ₁ error of the targets' marginal of exp((f ⊕ g - C)/λ), and of the sources'.
    fn errors(cost: &Array2<f64>, source: &[f64], target: &[f64], weight: f64) -> (f64, f64) {
        let plan = Array2::from_shape_fn(cost.dim(), |(i, j)| {
            ((source[i] + target[j] - cost[(i, j)]) / weight).exp()
        });
        let error = |sums: ndarray::Array1<f64>| {
            let mass = 1.0 / sums.len() as f64;
            sums.iter().map(|sum| (sum - mass).abs()).sum()
        };
        (
            error(plan.rows().into_iter().map(|row| row.sum()).collect()),
            error(plan.sum_axis(ndarray::Axis(0))),
        )
    }

    /// At costs of any scale, where those have more digits than single precision, too.
    #[test]
    fn what_it_finds_is_near_the_solution_in_double_precision() {
        for scale in [1e-6, 1.0, 1e6] {
            let cost = cost(scale) + 1e4 * scale;
            let mut problem =
                Problem::new(cost.view(), &[1.0 / 37.0; 37], &[1.0 / 53.0; 53]).unwrap();
            assert!(problem.turn_to_targets());
            for share in [1.0, 0.2, 0.05] {
                let weight = share * problem.cost_spread;
                let found = Rough::default().approach(&problem, weight, (0.0, 100)).unwrap();
                assert_eq!(found.entropy_weight, weight);
                let (source, target) = (&found.source_potential, &found.target_potential);
                let (of_sources, of_targets) = errors(&cost, source, target, weight);
                assert!(of_sources <= 2.0 * LAST_ERROR, "{scale}, {share}: {of_sources:e}");
                assert!(of_targets <= 2.0 * LAST_ERROR, "{scale}, {share}: {of_targets:e}");
            }
        }
    }

    #[test]
    fn it_goes_as_far_as_its_steps_and_no_start_that_is_far_away_serves() {
        let cost = cost(1.0);
        let mut problem = Problem::new(cost.view(), &[1.0 / 37.0; 37], &[1.0 / 53.0; 53]).unwrap();
        assert!(problem.turn_to_targets());
        let mut rough = Rough::default();
        let weight = 0.02 * problem.cost_spread;
        assert!(rough.approach(&problem, weight, (0.0, 0)).is_none());
        let found = rough.approach(&problem, weight, (0.0, 3)).unwrap();
        assert!(found.entropy_weight > weight && found.steps <= 3);
        let far: Vec<f64> = (0..53).map(|target| 100.0 * f64::from(target % 2)).collect();
        assert!(rough.approach_from(&problem, weight, &far, (0.0, 100)).is_none());
    }
}
