"""Two forms of LinCORe without a warm-up compared: needs numpy, numba and, for a GPU, numba-cuda alone.

    python benchmarks/linear_forms.py --engine cuda --runs 2000 linear_forms.json

On one-hot features both have the noise that CORe's extra draws have. `LinCORe` counts the observations that first span
the space more often; the other widens the noise of every row by how uncertain it is now. The noise scales and extra
draws are those of the study of exploration, on its linear problems that a setting is chosen on and on its noisiest one.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np

import corebandit as cb
from corebandit.contracts.recipe import AnyPolicy
from corebandit.experiments.engines.named import engine_of
from corebandit.experiments.playing import play
from corebandit.reproduction.trials import WidenedLinCORe

SEED = 1_000_003
PROBLEMS = {
    "Bernoulli": cb.LinearBandit(rewards="bernoulli"),
    "Gaussian 0.5": cb.LinearBandit(rewards="gaussian", sigma=0.5),
    "Gaussian 1": cb.LinearBandit(rewards="gaussian", sigma=1.0),
}


def forms() -> dict[str, AnyPolicy]:
    """Return both forms at the settings that they are compared at."""
    found: dict[str, AnyPolicy] = {}
    for alpha, extra in product((0.6, 0.7), (4, 16)):
        setting = f"alpha {alpha:g}, extra {extra}"
        found[f"spanning, {setting}"] = cb.LinCORe(alpha=alpha, warm_up=0.0, extra=extra)
        found[f"widened, {setting}"] = WidenedLinCORe(alpha=alpha, extra=extra)
    return found


def main() -> None:
    """Play, print a table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="where the table is kept")
    parser.add_argument("--engine", choices=("threads", "cuda"), default="threads")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--horizons", type=int, nargs="*", default=(1000, 10_000, 100_000))
    arguments = parser.parse_args()
    experiments = [
        cb.Experiment(problem, forms(), horizon, arguments.runs, SEED, name=f"{horizon} rounds of {title}", title=title)
        for horizon, (title, problem) in product(arguments.horizons, PROBLEMS.items())
    ]
    rows = []
    for curve in play(experiments, engine_of(arguments.engine, None), progress=True, percents=[100]):
        regret, horizon = curve.finals, int(curve.rounds[-1])
        row = {
            **{"problem": curve.title, "horizon": horizon, "form": curve.policy, "runs": int(regret.size)},
            **{"mean": float(regret.mean()), "error": float(regret.std(ddof=1) / np.sqrt(regret.size))},
            "gone_bad": float(np.mean(regret > 5.0 * np.median(regret))),
        }
        rows.append(row)
        print("{problem:14} {horizon:7,} {form:32} {mean:9.2f} ± {error:.2f}, {gone_bad:.3f} bad".format(**row))
    arguments.out.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
