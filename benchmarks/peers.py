"""The same two algorithms as other libraries have them: choose an arm, learn its reward."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from measure import CpuSeconds, cpu_seconds

Select = Callable[[], int]
Update = Callable[[int, float], None]


@dataclass(frozen=True)
class Peer:
    """A policy of another library, and the name of ours that runs the same algorithm."""

    label: str
    ours: str
    start: Callable[[int], tuple[Select, Update]]  # from the number of arms

    def simulate(self, means: Sequence[float], rounds: int) -> CpuSeconds:
        """Play on Bernoulli arms of these means in a plain loop and return the CPU time it took."""
        select, update = self.start(len(means))
        uniform = random.Random(0).random

        def play() -> None:
            for _ in range(rounds):
                arm = select()
                update(arm, 1.0 if uniform() < means[arm] else 0.0)

        return cpu_seconds(play)


def installed_peers() -> list[Peer]:
    """Return the policies of the libraries that are installed (the dependency group `peers`)."""
    peers = []
    if find_spec("river"):
        peers += [Peer("river UCB", "UCB1", _river_ucb1), Peer("river TS", "BernoulliTS", _river_thompson)]
    if find_spec("mabwiser"):
        peers += [Peer("MABWiser UCB1", "UCB1", _mabwiser_ucb1), Peer("MABWiser TS", "BernoulliTS", _mabwiser_thompson)]
    return peers


def peer_versions(names: Sequence[str] = ("river", "mabwiser")) -> list[str]:
    """Return name and version of the libraries that are installed."""
    return [f"{name} {version(name)}" for name in names if find_spec(name)]


def _river_ucb1(n_arms: int) -> tuple[Select, Update]:
    from river import bandit

    return _river(bandit.UCB(delta=1, seed=1), n_arms)


def _river_thompson(n_arms: int) -> tuple[Select, Update]:
    from river import bandit, proba

    return _river(bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=1), n_arms)


def _river(policy: Any, n_arms: int) -> tuple[Select, Update]:
    arms = list(range(n_arms))
    return lambda: policy.pull(arms), policy.update


def _mabwiser_ucb1(n_arms: int) -> tuple[Select, Update]:
    from mabwiser.mab import LearningPolicy

    return _mabwiser(LearningPolicy.UCB1(alpha=1), n_arms)


def _mabwiser_thompson(n_arms: int) -> tuple[Select, Update]:
    from mabwiser.mab import LearningPolicy

    return _mabwiser(LearningPolicy.ThompsonSampling(), n_arms)


def _mabwiser(learning_policy: Any, n_arms: int) -> tuple[Select, Update]:
    from mabwiser.mab import MAB

    policy = MAB(list(range(n_arms)), learning_policy, seed=1)
    policy.fit(list(range(n_arms)), [i % 2 for i in range(n_arms)])  # it does not choose before it has seen something
    return policy.predict, lambda arm, reward: policy.partial_fit([arm], [reward])
