"""Measure how often intervals contain the truth, and how often verdicts are false, on regrets of real policies.

Seven policies play each class of Figure 1 many times. These regrets are the population, whose mean is known. Samples of
20 to 3,000 runs are drawn from it, and judged as an experiment of so many runs would be: the interval of each policy's
mean; and for every pair with CORe in it the paired difference: whether a verdict is given about it, and whether one is
if it is moved so that its true mean is 0, about which any verdict is false.

    uv run python benchmarks/coverage.py

writes src/corebandit/report/coverage.json, which reports and docs/coverage.md quote.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

import corebandit as cb
from corebandit.report.claim import LEVEL
from corebandit.reproduction.paper import figure1
from corebandit.statistics.estimates import mean_estimates
from corebandit.statistics.failures import unseen_cost, usual_cost

SIZES = (20, 50, 100, 200, 500, 1000, 2000, 3000)
RIVALS = ("TS", "PHE", "SSMC", "UCB1")
WRITTEN = Path(__file__).parents[1] / "src" / "corebandit" / "report" / "coverage.json"


def regrets(runs: int, seed: int, folder: str) -> dict[tuple[str, str], np.ndarray]:
    """Return the final regrets of each policy on each class."""
    found = {}
    for title, problem in figure1.CLASSES.items():
        known = figure1._policies(problem, "fast")
        policies = {label: known[label] for label in (*figure1.CORE.values(), *RIVALS)}
        policies["CORe (warm-up 0.5)"] = cb.CORe(warm_up=0.5)
        experiment = cb.Experiment(problem, policies, horizon=10_000, runs=runs, seed=seed, name=title)
        result = cb.run(experiment, folder=folder, progress=True)
        found |= {(title, label): result.regret(label)[:, -1] for label in policies}
    return found


class Rates(NamedTuple):
    """What came of many samples: shares of them."""

    covered: float  # the interval contains the truth
    false: float  # a verdict is given where the truth is the bound
    looks: float  # the same, but for failures that the runs do not show
    told: float  # a verdict is given where the truth is what it is


def rates(population: np.ndarray, usual: float, n_runs: int, n_samples: int, rng: np.random.Generator) -> Rates:
    """Draw many samples, and return what is said of them."""
    samples = population[rng.integers(population.size, size=(n_runs, n_samples))]
    estimates = mean_estimates(samples)
    values, errors = (np.array([getattr(each, name) for each in estimates]) for name in ("value", "error"))
    distances, cost = np.stack([each.distances for each in estimates]), unseen_cost(usual, n_runs)

    def surer_side(bound: float, cost: float) -> np.ndarray:
        """Return the smaller p-value of "below" and "above", of all samples at once, as `below` has them."""
        low, high = (((values - bound + side) / errors)[:, None] for side in (cost, -cost))
        counts = (distances <= low).sum(axis=1), (distances >= high).sum(axis=1)
        return (1.0 + np.minimum(*counts)) / (1.0 + distances.shape[1])

    looks, surely = surer_side(population.mean(), 0.0), surer_side(population.mean(), cost)
    said = (looks > 0.025, surely <= LEVEL, looks <= LEVEL, surer_side(0.0, cost) <= LEVEL)
    return Rates(*(float(each.mean()) for each in said))


def main() -> None:
    """Measure and write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=3000, help="regrets in each population")
    arguments.add_argument("--samples", type=int, default=1000, help="samples of each size")
    arguments.add_argument("--seed", type=int, default=2026)
    arguments.add_argument("--folder", default="results/coverage", help="where finished runs are kept")
    arguments.add_argument("--out", type=Path, default=WRITTEN)
    given = arguments.parse_args()
    found = regrets(given.runs, given.seed, given.folder)
    rng = np.random.default_rng(given.seed)
    usual = {name: usual_cost(regret for (title, _), regret in found.items() if title == name) for name, _ in found}
    rows = []
    for n_runs in SIZES:
        means = {cell: rates(values, 0.0, n_runs, given.samples, rng) for cell, values in found.items()}
        pairs = {
            (title, f"{one} - {other}"): rates(
                found[title, one] - found[title, other], usual[title], n_runs, given.samples, rng
            )
            for title, one in found
            for same, other in found
            if same == title and other != one and one.startswith("CORe")
        }
        worst = max(pairs, key=lambda pair: pairs[pair].looks)
        row = {
            "runs": n_runs,
            "means": [limit(each.covered for each in means.values()) for limit in (min, max)],
            "differences": [limit(each.covered for each in pairs.values()) for limit in (min, max)],
            "false verdicts": max(each.false for each in pairs.values()),
            "false looks": pairs[worst].looks,
            "worst": ": ".join(worst),
            "verdicts": float(np.mean([each.told for each in pairs.values()])),
            "below 93 %": [": ".join(cell) for cell, each in {**means, **pairs}.items() if each.covered < 0.93],
        }
        rows.append(row)
        print(json.dumps({**row, "below 93 %": len(row["below 93 %"])}), flush=True)
    content = {"population": given.runs, "samples": given.samples, "seed": given.seed, "level": LEVEL, "sizes": rows}
    given.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
