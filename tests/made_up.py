"""Results as they might have come out, to see how claims are judged."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from corebandit.experiments.result import CPU_SECONDS, Result


def made_up(experiments, mean_regret, runs=30, spread=1.0):
    """Return a result of `experiments` whose curves have these means.

    `mean_regret(experiment, label)` is the mean at the end, or a mapping from rounds to means.
    """
    rng = np.random.default_rng(0)
    parts = []
    for experiment in experiments:
        for label in experiment.policies:
            means = mean_regret(experiment, label)
            means = means if isinstance(means, Mapping) else {experiment.horizon: means}
            noise = spread * rng.normal(size=runs)
            noise -= noise.mean()
            regret = np.stack([mean + noise for mean in means.values()], axis=1)
            columns = {
                "run": np.repeat(np.arange(runs), len(means)),
                "round": np.tile(list(means), runs),
                "regret": regret.ravel(),
            }
            names = {"figure": experiment.name, "problem": experiment.problem.label, "policy": label}
            constants = [pl.lit(value).alias(name) for name, value in names.items()]
            parts.append(pl.DataFrame(columns).select(*constants, *columns))
    seconds = [(*key, 1.0) for part in parts for key in part.select("figure", "problem", "policy").unique().iter_rows()]
    described = [experiment.describe() for experiment in experiments]
    return Result(pl.concat(parts), described, pl.DataFrame(seconds, schema=CPU_SECONDS, orient="row"))
