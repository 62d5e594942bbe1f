r"""The lemmas tried on LinCORe's own histories: which experiments, and how to read what was seen.

A lemma is broken in a run if some bound had less than no `room` (`watched.py`); its *margin* is how much tighter the
bound could be until it is broken more often than the lemma says. Of noise that is drawn afresh, shares of draws are
counted. That a lemma fails is told by a binomial test: given all before it, every draw has the chance that the lemma
bounds. That it holds is said of the share among pasts, of which there are fewer: `clustering` says by how much.

The perturbation's bound is tried with the a of each past, the largest value in its pool. That is less than Lemma 2's
ceiling, so more is asked than the paper does, but no more than its proof gives. The chance of optimism must be at least
the largest p3 that any λ could promise, as if λ took nothing away.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from corebandit.contracts.state import FloatArray
from corebandit.experiments.curve import Curve
from corebandit.experiments.experiment import Experiment
from corebandit.policies.linear.lincore import LinCORe
from corebandit.problems.linear import LinearBandit
from corebandit.reproduction.theory import (
    concentration_tail,
    confidence_radius,
    optimism_probability,
    pool_value_ceiling,
    pool_variance_floor,
    theoretical_alpha,
)
from corebandit.reproduction.watched import AT_ONE, EDGES, WatchedLinCORe
from corebandit.statistics.shares import design_effect

SIGMA = 0.5
PROBLEM = LinearBandit(n_arms=20, n_features=5, rewards="gaussian", sigma=SIGMA)
LONGEST_ROW, LONGEST_THETA = math.sqrt(2.0), math.sqrt(0.5)  # of every such problem
TRIED = (8, 10, 12)  # places of 2, 2.8 and 4 in EDGES: at a smaller c the bound on concentration says too little
STEPS = range(9)  # quarters of a doubling by which it can be tightened


# Experiments ------------------------------------------------------------------------------------------------------


def radius(policy: LinCORe, horizon: int) -> float:
    """Return c1."""
    return confidence_radius(horizon, PROBLEM.n_features, SIGMA, LONGEST_ROW, policy.lam, LONGEST_THETA)


def with_theorem_alpha(policy: LinCORe, horizon: int) -> LinCORe:
    """Return the policy with the α of the theorem."""
    return policy.changed(alpha=theoretical_alpha(radius(policy, horizon), policy.z, SIGMA))


def watched(policy: LinCORe, horizon: int, n_draws: int) -> WatchedLinCORe:
    """Return the policy, watched for what the lemmas say."""
    floor = pool_variance_floor(policy.alpha, policy.z, SIGMA)
    ceiling = pool_value_ceiling(policy.alpha, SIGMA, horizon)
    return WatchedLinCORe(policy, floor, ceiling, radius(policy, horizon), n_draws)


def history_trials(
    policies: Mapping[str, LinCORe], horizon: int, runs: int, n_draws: int, rewards: str = "gaussian", **more: Any
) -> Experiment:
    """Return an experiment of watched policies; `more` are further arguments of `Experiment`: seed, name, part."""
    return Experiment(
        PROBLEM.changed(rewards=rewards),
        {label: watched(policy, horizon, n_draws) for label, policy in policies.items()},
        horizon=horizon,
        runs=runs,
        **more,
    )


def promised_optimism(policy: LinCORe, horizon: int, tightening: float = 1.0) -> float:
    """Return p3, for a lift by `tightening` c1 |x|; nothing is promised where it is not positive."""
    seen = watched(policy, horizon, 0)
    return optimism_probability(horizon, seen.floor, seen.ceiling, tightening * seen.radius, shrinkage=0.0)


# Reading ----------------------------------------------------------------------------------------------------------


def rooms(curve: Curve, bound: str) -> FloatArray:
    """Return the room that a bound ("variance", "size", "distance") had in each run; below 1 it was broken."""
    return curve.measures[f"{bound} room"]


def n_broken(curve: Curve, bound: str) -> int:
    """Return in how many runs a bound was broken."""
    return int((rooms(curve, bound) < 1.0).sum())


def margin(curve: Curve, bound: str, promise: float) -> float:
    """Return how much tighter a bound could be and be broken in no more than a share `promise` of the runs."""
    ordered = np.sort(rooms(curve, bound))
    return float(ordered[int(promise * ordered.size)])


def n_draws(curve: Curve) -> int:
    """Return how often noise was drawn afresh."""
    return int(curve.measures["draws"].sum())


def counts(curve: Curve, what: str) -> list[int]:
    """Return how many draws went beyond each of the edges; `what` is "spread" or "lift"."""
    return [int(curve.measures[f"{what} {edge:.3g}"].sum()) for edge in EDGES]


def clustering(curve: Curve, what: str, place: int) -> float:
    """Return how many draws are worth an independent one, as those of one run share its problem and its past."""
    return design_effect(curve.measures[f"{what} {EDGES[place]:.3g}"], curve.measures["draws"])


def spread_margin(curve: Curve) -> float:
    """Return how many times larger the noise could be until its concentration fails, in quarters of a doubling."""
    shares = np.array(counts(curve, "spread")) / n_draws(curve)
    kept = [step for step in STEPS if all(shares[place - step] <= spread_bound(place) for place in TRIED)]
    return float(2.0 ** (max(kept) / 4.0)) if kept else 0.0


def spread_bound(place: int) -> float:
    """Return the most that the chance of a spread beyond an edge may be."""
    return min(1.0, concentration_tail(float(EDGES[place]), ceiling=1.0))


def n_optimistic(curve: Curve) -> int:
    """Return how many draws lifted the best arm by more than c1 |x|."""
    return counts(curve, "lift")[AT_ONE]
