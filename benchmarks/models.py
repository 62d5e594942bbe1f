"""What a decision costs if a model is fitted to all rewards before it: EstimatorCORe around several models."""

import time

import numpy as np
from rich.console import Console
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import corebandit as cb
from measure import CpuSeconds, best_in_turns
from printing import new_console, new_table, print_heading, read_arguments

N_ROWS, N_FEATURES = 20, 5
SECTIONS = ("decision",)
MODELS: dict[str, cb.EstimatorCORe] = {
    "RidgeRegression (ours, the default)": cb.EstimatorCORe(warm_up=0),
    "Ridge": cb.EstimatorCORe(Ridge(alpha=1e-3), warm_up=0),
    "Ridge, fixed rows, aggregate=True": cb.EstimatorCORe(Ridge(alpha=1e-3), warm_up=0, aggregate=True),
    "cubic pipeline": cb.EstimatorCORe(make_pipeline(PolynomialFeatures(3), Ridge(alpha=1e-3)), warm_up=0),
    "gradient boosting, 30 trees": cb.EstimatorCORe(GradientBoostingRegressor(n_estimators=30), warm_up=0),
}


class Decision:
    """A decision among 20 rows of 5 features, after so many rewards."""

    def __init__(self, policy: cb.EstimatorCORe, n_rewards: int) -> None:
        rng = np.random.default_rng(0)
        self.rows = rng.random((N_ROWS, N_FEATURES))
        self.agent = cb.Agent(policy, seed=0)
        for reward in range(n_rewards):
            # Where equal rows are to be handed over once, the rows that were met must be few.
            met = self.rows[reward % N_ROWS] if policy.aggregate else rng.random(N_FEATURES)
            self.agent.observe(0, met.sum() + rng.normal(), x=met)

    def __call__(self) -> CpuSeconds:
        """Make it, and return the CPU time that it took; nothing is learned from it."""
        started = time.process_time()
        decision = self.agent.ask(self.rows)
        taken = time.process_time() - started
        self.agent.forget(decision)
        return taken


def report(sizes: tuple[int, ...], repetitions: int, console: Console) -> None:
    """Measure and print."""
    print_heading(console, repetitions, [])
    decisions = {
        (label, kind): Decision(policy.changed(refit=1_000_000) if kind == "between two fits" else policy, n_rewards)
        for label, policy in MODELS.items()
        for kind, n_rewards in [*((f"{size:,} rewards", size) for size in sizes), ("between two fits", sizes[-1])]
    }
    best = best_in_turns(decisions, repetitions)
    kinds = list(dict.fromkeys(kind for _, kind in decisions))
    table = new_table("One decision, CPU ms", "policy", *kinds)
    for label in MODELS:
        table.add_row(label, *(f"{1e3 * best[label, kind]:,.2f}" for kind in kinds))
    console.print(table)


def main() -> None:
    """Read the command line and report."""
    is_quick, _ = read_arguments("What does a decision around a model cost?", SECTIONS)
    report((100, 1_000) if is_quick else (100, 1_000, 10_000), 3 if is_quick else 7, new_console())


if __name__ == "__main__":
    main()
