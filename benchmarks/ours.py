"""Our policies, prepared to be measured: a simulation that can be played in parts, and problems to play on."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from corebandit import BernoulliBandit, Given, Problem
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.state import FloatArray
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import Stream, stream
from measure import CpuSeconds, cpu_seconds

N_ARMS = 10


@allocating_nothing
class RatedArms(NamedTuple):
    """Arms that pay one of five ratings: 0, 1/4, 1/2, 3/4 or 1."""

    means: FloatArray  # (n_arms,)
    highest: float

    @property
    def n_arms(self) -> int:
        """Return the number of arms."""
        return self.means.size

    def pull(self, arm: int, rng: Stream) -> float:
        """Draw a rating of the arm."""
        return rng.binomial(4, self.means[arm]) / 4.0

    def mean(self, arm: int) -> float:
        """Return the arm's mean rating."""
        return self.means[arm]

    def best_mean(self) -> float:
        """Return the highest mean."""
        return self.highest


def rated_bandit() -> Problem:
    """Return ten arms with ratings, the means of a random Bernoulli bandit."""
    means = BernoulliBandit(N_ARMS).draw(stream(0, "instance")).means
    return Given(RatedArms(means, means.max()))


class Simulation:
    """One run, played in as many parts as you like, each of them measured."""

    def __init__(self, policy: AnyPolicy, problem: Problem, horizon: int, run: int = 0) -> None:
        self.problem: Any = problem.draw(stream(run, "instance"))
        game = game_of(self.problem)
        state = policy.start_on(self.problem, horizon, horizon)
        self._play = partial(game.loop.compiled, state, self.problem, *game.needs(self.problem, (run, "", run)))
        self._notes = game.notes(self.problem, 1)
        self.round, self.regret = 0, 0.0
        self.play(0)  # compiles, where nobody measures

    def play(self, rounds: int) -> CpuSeconds:
        """Play on for so many rounds and return the CPU time they took."""
        last, regret = np.array([rounds]), np.zeros(1)
        seconds = cpu_seconds(lambda: self._play(last, -1, False, regret, self._notes))
        self.round += rounds
        self.regret += regret[0]
        return seconds
