"""Results as they might have come out, to see how claims are judged."""

from collections.abc import Mapping

import numpy as np

from corebandit.experiments.curve import Curve
from corebandit.experiments.result import Result
from corebandit.report.claim import LOOKS


def made_up(experiments, mean_regret, runs=30, spread=1.0):
    """Return a result of `experiments` whose curves have these means.

    `mean_regret(experiment, label)` is the mean at the end, or a mapping from rounds to means.
    """
    rng = np.random.default_rng(0)
    curves = []
    for experiment in experiments:
        for label in experiment.policies:
            means = mean_regret(experiment, label)
            means = means if isinstance(means, Mapping) else {experiment.horizon: means}
            noise = spread * rng.normal(size=runs)
            noise -= noise.mean()
            regret = np.stack([mean + noise for mean in means.values()], axis=1)
            names = experiment.name, experiment.problem.label, label, experiment.title
            curves.append(Curve(*names, np.array(list(means)), regret, cpu_seconds=1.0, part=experiment.part))
    return Result([experiment.to_dict() for experiment in experiments], curves)


def verdicts_of(claims):
    """Return the verdict of each claim by id and warm-up, as it would be if there were runs enough for one.

    Under another reading than that of the figure, the reading's name comes third.
    """
    meant = {look: verdict for verdict, look in LOOKS.items()}
    found = {}
    for claim in claims:
        key = (claim.id, claim.warm_up, claim.reading) if claim.reading else (claim.id, claim.warm_up)
        assert key not in found, "a claim is judged once"
        found[key] = meant.get(claim.verdict, claim.verdict)
    return found
