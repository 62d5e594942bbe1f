"""Measure how often intervals contain the truth, and how often verdicts are false, on regrets of real policies.

Seven policies play each class of Figure 1 many times. These regrets are the population, whose mean is known. Samples of
20 to 3,000 runs are drawn from it, and judged as an experiment of so many runs would be: the interval of each policy's
mean; and for every pair with CORe in it the paired difference, moved so that its true mean is 0, about which any
verdict is false.

    uv run python benchmarks/coverage.py

writes src/corebandit/report/coverage.json, which reports and docs/coverage.md quote. The level of verdicts and the
number of runs they need were chosen on the regrets of seed 77; what is written comes from another seed.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import corebandit as cb
from corebandit.experiments.statistics import mean_estimates
from corebandit.report.claim import LEVEL
from corebandit.reproduction.paper import figure1

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


def rates(population: np.ndarray, n_runs: int, n_samples: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often the interval contains the truth, and how often a verdict about it is given, which is false."""
    samples = population[rng.integers(population.size, size=(n_runs, n_samples))] - population.mean()
    estimates = mean_estimates(samples)
    # Chances of all samples at once, as `Estimate` has them one by one; an interval ends where the chance is 2.5 %.
    own = np.array([each.value / each.error for each in estimates])
    distances = np.stack([each.distances for each in estimates])
    above = (1.0 + (distances <= own[:, None]).sum(axis=1)) / (1.0 + distances.shape[1])
    below = (1.0 + (distances >= own[:, None]).sum(axis=1)) / (1.0 + distances.shape[1])
    smaller = np.minimum(above, below)
    return float((smaller > 0.025).mean()), float((smaller <= LEVEL).mean())


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
    rows = []
    for n_runs in SIZES:
        means = {cell: rates(values, n_runs, given.samples, rng) for cell, values in found.items()}
        pairs = {
            (title, f"{one} - {other}"): rates(found[title, one] - found[title, other], n_runs, given.samples, rng)
            for title, one in found
            for same, other in found
            if same == title and other != one and one.startswith("CORe")
        }
        worst = max(pairs, key=lambda pair: pairs[pair][1])
        row = {
            "runs": n_runs,
            "means": [min(each[0] for each in means.values()), max(each[0] for each in means.values())],
            "differences": [min(each[0] for each in pairs.values()), max(each[0] for each in pairs.values())],
            "false verdicts": pairs[worst][1],
            "worst": ": ".join(worst),
            "below 93 %": [": ".join(cell) for cell, each in {**means, **pairs}.items() if each[0] < 0.93],
        }
        rows.append(row)
        print(json.dumps({**row, "below 93 %": len(row["below 93 %"])}), flush=True)
    content = {"population": given.runs, "samples": given.samples, "seed": given.seed, "level": LEVEL, "sizes": rows}
    given.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
