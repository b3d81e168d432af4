"""POT's functions, with the numbers of iterations and tolerances that it comes with."""

import ot

from compare.objective import TRADE_OFF, laplace, laplace_gradient
from compare.problems import NEIGHBOURS

# What users call for each method; where there are several, the first one that is right is measured.
CANDIDATES = {
    "ot-exact": ["emd"],
    "ot-it": ["sinkhorn", "sinkhorn_stabilized", "sinkhorn_log"],
    "ot-gl": ["sinkhorn_l1l2_gl"],
    "ot-lpl1": ["sinkhorn_lpl1_mm"],
    "ot-laplace": ["emd_laplace"],
}
# POT's generic solver, given our Ω and its gradient: the function that we minimize, which emd_laplace does not.
GENERIC_LAPLACE = "optim.gcg"


def solve(call, problem, entropy_weight, weight, threads):
    """The plan. The costs are there before; graphs are made here, as they are made in our time."""
    (a, b), cost, labels = problem.masses, problem.cost, problem.labels
    if call == "emd":
        return ot.emd(a, b, cost, numItermax=10**8, numThreads="max" if threads is None else threads)
    if call.startswith("sinkhorn_l1l2"):
        return ot.da.sinkhorn_l1l2_gl(a, labels, b, cost, entropy_weight, weight)
    if call.startswith("sinkhorn_lpl1"):
        return ot.da.sinkhorn_lpl1_mm(a, labels, b, cost, entropy_weight, weight)
    if call.startswith("sinkhorn"):
        return ot.sinkhorn(a, b, cost, entropy_weight, method=call)
    if call == "emd_laplace":
        return ot.da.emd_laplace(a, b, problem.source, problem.target, cost, sim_param=NEIGHBOURS, eta=weight,
                                 alpha=1 - TRADE_OFF)
    if call == GENERIC_LAPLACE:
        return ot.optim.gcg(a, b, cost, entropy_weight, weight, lambda plan: laplace(problem, plan),
                            lambda plan: laplace_gradient(problem, plan), numItermax=50, numInnerItermax=2000)
    raise ValueError(f"no function of POT is called {call}")
