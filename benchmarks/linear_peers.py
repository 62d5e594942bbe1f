"""Choosing by features as other libraries have it: choose a row, learn its reward.

What is compared with what:

* Vowpal Wabbit has one linear model for all rows, like ours, but learns it by gradient steps, O(d) each, where ours
  solves a ridge regression, O(d^2). Its other ways to explore cost about the same as the one here.
* MABWiser and river choose by a context that all arms share, with a model for each arm: another problem than ours,
  with K times as much to learn and a Kth of the features to read. That is the rows "a model per arm".
* To play our problem with them there are the rows "one model": their regression, asked about every row.

What a library is given, text for Vowpal Wabbit, dictionaries for river, is made beforehand and not measured.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measure import CpuSeconds, cpu_seconds

FloatArray = NDArray[np.float64]
Select = Callable[[Any], int]  # from the features as the library takes them to a row
Update = Callable[[Any, int, float], None]  # these features, the row, its reward
LIBRARIES = ("vowpalwabbit", "river", "mabwiser")


@dataclass(frozen=True)
class FeaturePeer:
    """A policy of another library, and the name of ours to compare it with."""

    label: str
    ours: str
    start: Callable[[int, int], tuple[Select, Update]]  # from the numbers of rows and of features
    prepare: Callable[[FloatArray], Any] = lambda features: features  # bring features into the form the library takes
    has_features: bool = True  # for each row; else all arms share a context

    def simulate(self, features: FloatArray, theta: FloatArray, rounds: int) -> CpuSeconds:
        """Play on Bernoulli arms of these features `(n_arms, d)` in a plain loop and return the CPU time it took."""
        select, update = self.start(*features.shape)
        means, prepared, uniform = (features @ theta).tolist(), self.prepare(features), random.Random(0).random

        def play() -> None:
            for _ in range(rounds):
                arm = select(prepared)
                update(prepared, arm, 1.0 if uniform() < means[arm] else 0.0)

        return cpu_seconds(play)


def installed_feature_peers() -> list[FeaturePeer]:
    """Return the policies of the libraries that are installed (the dependency group `peers`)."""
    peers = []
    if find_spec("vowpalwabbit"):
        peers += [FeaturePeer("Vowpal Wabbit SquareCB", "LinCORe", _vowpal_wabbit, _as_text)]
    if find_spec("river"):
        peers += [
            FeaturePeer("river LinUCB, one model", "LinUCB", _river_one_model, _as_dictionaries),
            FeaturePeer("river LinUCB, a model per arm", "LinUCB", _river_disjoint, _as_dictionaries, False),
        ]
    if find_spec("mabwiser"):
        for name in ("LinUCB", "LinTS"):
            peers += [
                FeaturePeer(f"MABWiser {name}, one model", name, _mabwiser_one_model(name)),
                FeaturePeer(f"MABWiser {name}, a model per arm", name, _mabwiser_disjoint(name), has_features=False),
            ]
    return peers


def _as_text(features: FloatArray) -> str:
    line = "| " + " ".join(f"{j}:%.9g" for j in range(features.shape[1]))
    return "\n".join(line % tuple(row) for row in features.tolist())


def _vowpal_wabbit(n_rows: int, n_features: int) -> tuple[Select, Update]:
    from vowpalwabbit import Workspace

    workspace = Workspace("--cb_explore_adf --squarecb --quiet")
    choose = random.Random(1).choices
    rows, examples, chances = range(n_rows), [], []

    def select(text: str) -> int:
        examples[:] = workspace.parse(text)
        chances[:] = workspace.predict(examples)
        return choose(rows, chances)[0]

    def update(text: str, row: int, reward: float) -> None:
        examples[row].set_label_string(f"0:{-reward}:{chances[row]}")  # parsed once: twice as fast as parsing again
        workspace.learn(examples)
        workspace.finish_example(examples)

    return select, update


def _as_dictionaries(features: FloatArray) -> list[dict[int, float]]:
    return [dict(enumerate(row)) for row in features.tolist()]


def _river_one_model(n_rows: int, n_features: int) -> tuple[Select, Update]:
    from river.linear_model import BayesianLinearRegression

    model = BayesianLinearRegression()

    def select(rows: Sequence[dict[int, float]]) -> int:
        beliefs = [model.predict_one(row, with_dist=True) for row in rows]
        bounds = [belief.mu + belief.sigma for belief in beliefs]
        return bounds.index(max(bounds))

    return select, lambda rows, row, reward: model.learn_one(rows[row], reward)


def _river_disjoint(n_rows: int, n_features: int) -> tuple[Select, Update]:
    from river.bandit import LinUCBDisjoint

    policy, arms = LinUCBDisjoint(seed=1), list(range(n_rows))

    def select(rows: Sequence[dict[int, float]]) -> int:
        return int(policy.pull(arms, context=rows[0]))

    return select, lambda rows, arm, reward: policy.update(arm, rows[0], reward)


def _mabwiser_one_model(name: str) -> Callable[[int, int], tuple[Select, Update]]:
    def start(n_rows: int, n_features: int) -> tuple[Select, Update]:
        policy = _mabwiser(name, 1, n_features)

        def select(features: FloatArray) -> int:
            expectations = [expectation[0] for expectation in policy.predict_expectations(features)]
            return expectations.index(max(expectations))

        return select, lambda features, row, reward: policy.partial_fit([0], [reward], features[row : row + 1])

    return start


def _mabwiser_disjoint(name: str) -> Callable[[int, int], tuple[Select, Update]]:
    def start(n_rows: int, n_features: int) -> tuple[Select, Update]:
        policy = _mabwiser(name, n_rows, n_features)

        def select(features: FloatArray) -> int:
            return int(policy.predict(features[:1]))

        return select, lambda features, arm, reward: policy.partial_fit([arm], [reward], features[:1])

    return start


def _mabwiser(name: str, n_arms: int, n_features: int) -> Any:
    from mabwiser.mab import MAB, LearningPolicy

    policy = MAB(list(range(n_arms)), getattr(LearningPolicy, name)(), seed=1)
    policy.fit([0], [0.0], np.zeros((1, n_features)))  # it does not choose before it has seen something
    return policy
