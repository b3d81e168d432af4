"""One cell of the comparison: both sides on one problem, in turns."""

from dataclasses import dataclass

import numpy as np

from compare.objective import TOLERANCE, marginal_error, objective, rounded
from compare.pot_calls import CANDIDATES

RIGHT_MARGINAL_ERROR = 1e-6  # ℓ₁, of a plan that counts as an answer
SLOW, TEDIOUS = 1.0, 30.0  # seconds of POT from which on it is repeated three times at most, and not at all
TOO_SLOW_FOR_ONE_THREAD = 10.0  # what takes POT this long on all cores is not measured again on one
OUR_SLOW = 5.0
OUR_REPETITIONS = 5
MOST_REPETITIONS = 9
EXACT_LIMIT = 600.0  # emd is one call of a library, which a time limit cannot interrupt, only discard
WARM_UP = 1.0  # a first call shorter than this is not counted
OUR_CALLS = 4  # of ours in each process then, of which the last counts: its memory is there by then, as POT's is
LAMBDA_GRID = [1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3]
BELOW_THE_GRID = [1e-5, 1e-4]  # for functions without an entropy
GAPS = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6]
GAPS_OF_OT_IT = [1e-5, 1e-6, 1e-7, None]  # the last is the solver's own


@dataclass
class Cell:
    part: str
    problem: str
    method: str
    entropy_weight: float | None  # None: the function to minimize has no entropy
    weight: float | None
    threads: int | None  # None: all cores
    calls: list | None = None  # of POT, if not the method's usual ones; none at all if it is known to take too long
    setting: dict | None = None  # of ours, if there is no answer of POT that says which

    def key(self, program):
        return {"part": self.part, "problem": self.problem, "method": self.method, "lambda": self.entropy_weight,
                "eta": self.weight, "threads": self.threads, "program": program,
                "wanted": self.calls if self.calls is not None else CANDIDATES[self.method]}

    def settings(self):
        """How we may be asked, from the quickest to the most accurate. Without an entropy in the function λ is ours to
        choose, as small as POT's objective asks for."""
        if self.method == "ot-exact":
            return [{"lambda": None, "gap": None}]
        if self.method == "ot-it":
            return [{"lambda": self.entropy_weight, "gap": gap} for gap in GAPS_OF_OT_IT]
        if self.entropy_weight is not None:
            return [{"lambda": self.entropy_weight, "gap": gap} for gap in GAPS]
        weights = reversed(BELOW_THE_GRID + LAMBDA_GRID)
        return [{"lambda": entropy_weight, "gap": gap} for entropy_weight in weights for gap in GAPS[::2]]


class Laboratory:
    """The two sides, the arrays between them and the journal."""

    def __init__(self, ours, pot, journal, work, limit, budget):
        self.ours, self.pot, self.journal, self.work = ours, pot, journal, work
        self.limit, self.budget = limit, budget

    def measure(self, cell, problem):
        """The journal's entry of the cell, now measured if it was not."""
        key = cell.key(self.ours.identity)
        known = self.journal.find(**key)
        if known and not (is_late(known["pot"]) and known["limit"] < self.limit):
            return known
        files = save(problem, self.work / "arrays")
        n_s, n_t = problem.cost.shape
        entry = {**key, "n_s": n_s, "n_t": n_t, "width": problem.source.shape[1], "limit": self.limit,
                 **self._both(cell, problem, files, key["wanted"])}
        return self.journal.add(entry)

    def _both(self, cell, problem, files, calls):
        plan_file = self.work / "plan.npy"

        def solve_ours(setting, repeat=1, plan=None):
            return self.ours.solve(files, cell.method, setting, cell.weight, cell.threads, repeat, plan)

        def solve_pot(call, plan=None):
            limit = EXACT_LIMIT if cell.method == "ot-exact" else self.limit
            return self.pot.solve(files["folder"], call, cell.entropy_weight, cell.weight, cell.threads, limit, plan)

        def answer(setting):
            report = solve_ours(setting, plan=plan_file)
            return {**evaluate(cell, problem, plan_file), "failure": None, "setting": setting, "stop": report["stop"],
                    "peak_bytes": report["peak_bytes"], "iterations": report["iterations"], "seconds": [report["seconds"]]}

        pot = self._choose(cell, problem, calls, solve_pot, plan_file) if calls else None
        settings = [cell.setting] if cell.setting else cell.settings()
        if pot and pot["objective"] is not None:
            ours = first_as_good(map(answer, settings), pot["objective"])
        else:
            ours = answer(settings[-1])
        accurate = None
        if len(settings) > 1 and ours["setting"] != settings[-1]:
            accurate = answer(settings[-1])
        repeat = OUR_CALLS if ours["seconds"][0] < WARM_UP else 1
        self._repeat(ours, lambda: solve_ours(ours["setting"], repeat), pot, solve_pot)
        return {"ours": ours, "accurate": accurate, "pot": pot}

    def _choose(self, cell, problem, calls, solve, plan_file):
        """The first function with a right answer; without one, that whose plan is nearest to the polytope."""
        best = None
        for call in calls:
            answer = solve(call, plan_file)
            found = {"call": call, "failure": answer["failure"], "peak_bytes": answer["peak_bytes"],
                     "seconds": [answer["seconds"]], "objective": None, "marginal_error": None}
            if answer["failure"] is None:
                found |= evaluate(cell, problem, plan_file)
                if found["marginal_error"] <= RIGHT_MARGINAL_ERROR:
                    return found
            if best is None or badness(found) < badness(best):
                best = found
        return best

    def _repeat(self, ours, solve_ours, pot, solve_pot):
        our_turns = OUR_REPETITIONS if ours["seconds"][0] < OUR_SLOW else 1
        pot_turns = repetitions(pot, self.budget) if pot else 0
        our_turns = max(our_turns, pot_turns)
        for side, turns in ((ours, our_turns), (pot, pot_turns)):
            if side and turns > 1 and side["seconds"][0] < WARM_UP:
                side["seconds"].clear()
        for _ in range(our_turns):
            if len(ours["seconds"]) < our_turns:
                ours["seconds"].append(solve_ours()["seconds"])
            if pot and len(pot["seconds"]) < pot_turns:
                pot["seconds"].append(solve_pot(pot["call"])["seconds"])


def first_as_good(answers, objective):
    """The first with an objective that is not worse; without one, the last."""
    for answer in answers:
        if answer["objective"] <= objective + TOLERANCE * abs(objective):
            break
    return answer


def is_late(pot):
    return bool(pot and pot["failure"] and pot["failure"].startswith("no answer"))


def repetitions(pot, budget):
    """How often POT is measured, after a first call."""
    seconds = pot["seconds"][0]
    if pot["failure"] or seconds >= TEDIOUS:
        return 1
    if seconds >= SLOW:
        return int(np.clip(budget / seconds, 1, 3))
    return int(np.clip(budget / seconds, OUR_REPETITIONS, MOST_REPETITIONS))


def badness(found):
    return np.inf if found["marginal_error"] is None else found["marginal_error"]


def save(problem, folder):
    """The arrays as .npy files that both sides read."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder / problem.name.replace(" ", "_")
    files = {name: folder / f"{name}.npy" for name in ["source", "labels", "target"]}
    if not all(file.exists() for file in files.values()):
        folder.mkdir(exist_ok=True)
        for name, file in files.items():
            np.save(file, getattr(problem, name))
    return {**files, "folder": folder}


def evaluate(cell, problem, plan_file):
    """The marginal error of a plan, and its objective once it is moved onto the marginals."""
    plan = np.load(plan_file)
    plan_file.unlink()
    error = float(marginal_error(problem, plan))
    total = objective(problem, cell.method, cell.entropy_weight, cell.weight, rounded(problem, plan))
    return {"marginal_error": error, "objective": total}
