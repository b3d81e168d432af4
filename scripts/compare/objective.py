"""One function that evaluates the plans of both sides, whatever the solver minimized:
⟨γ,C⟩ + λ Σ γ ln γ + η Ω(γ)."""

import numpy as np
from scipy.special import xlogy

TRADE_OFF = 0.5  # α of eq. reglaps2
TOLERANCE = 1e-6  # of objectives that count as equal, relative
LP_POWER, LP_OFFSET = 0.5, 1e-3  # p and epsilon in the source of ot.da.sinkhorn_lpl1_mm


def objective(problem, method, entropy_weight, weight, plan):
    total = np.sum(plan * problem.cost)
    if entropy_weight is not None:
        total += entropy_weight * np.sum(xlogy(plan, plan))
    if weight is not None:
        total += weight * REGULARIZERS[method](problem, plan)
    return float(total)


def marginal_error(problem, plan):
    return max(np.abs(plan.sum(axis=1) - problem.masses[0]).sum(), np.abs(plan.sum(axis=0) - problem.masses[1]).sum())


def rounded(problem, plan):
    """The plan moved onto the marginals (Altschuler, Weed, Rigollet 2017, algorithm 2). A plan off the polytope is
    cheap, not good: only on it can objectives be compared."""
    a, b = problem.masses
    plan = np.maximum(plan, 0)
    plan = plan * shrink(a, plan.sum(axis=1))[:, None]
    plan *= shrink(b, plan.sum(axis=0))
    # Rounding may leave sums above their masses by an ulp.
    lack_a, lack_b = np.maximum(a - plan.sum(axis=1), 0), np.maximum(b - plan.sum(axis=0), 0)
    lack = lack_a.sum()
    return plan + np.outer(lack_a, lack_b) / lack if lack > 0 else plan


def shrink(masses, sums):
    return masses / np.maximum(masses, sums)


def group_lasso(problem, plan):
    return sum(np.linalg.norm(plan[rows], axis=0).sum() for rows in problem.classes)


def lp_l1(problem, plan):
    masses = (plan[rows].sum(axis=0) for rows in problem.classes)
    return sum(((mass + LP_OFFSET) ** LP_POWER - LP_OFFSET**LP_POWER).sum() for mass in masses)


def laplace(problem, plan):
    """Eq. reglaps2; the factors n_s and n_t of the transported samples cancel with 1/n_s² and 1/n_t²."""
    moved_source, moved_target = plan @ problem.target, plan.T @ problem.source
    of_source, of_target = problem.laplacians
    return ((1 - TRADE_OFF) * np.sum(moved_source * (of_source @ moved_source))
            + TRADE_OFF * np.sum(moved_target * (of_target @ moved_target)))


def laplace_gradient(problem, plan):
    of_source, of_target = problem.laplacians
    return (2 * (1 - TRADE_OFF) * (of_source @ plan @ problem.target) @ problem.target.T
            + 2 * TRADE_OFF * problem.source @ (problem.source.T @ plan @ of_target))


REGULARIZERS = {"ot-gl": group_lasso, "ot-lpl1": lp_l1, "ot-laplace": laplace}
