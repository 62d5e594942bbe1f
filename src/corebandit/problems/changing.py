"""Arms whose means depend on the round. Regret is against the best arm of the round."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import check_count, check_number, shortened
from corebandit.problems.linear import REWARDS, PaidByMean, draw_around
from corebandit.problems.motion import Motion, check_motion, draw_state, new_motion
from corebandit.randomness.stream import Stream

ARM_MOTIONS = ("abrupt", "smooth", "season", "improves", "deaths")


@allocating_nothing
class ChangingArms(NamedTuple):
    """Arms that pay independent rewards, with means that move."""

    means: Motion
    law: int
    spread: float  # sigma of Gaussian rewards, v of beta rewards

    @property
    def n_arms(self) -> int:
        """Return the number of arms."""
        return self.means.values.size

    def begin_round(self, current_round: int) -> bool:
        """Move to a round, counted from 1, and tell whether means may be new."""
        return self.means.begin_round(current_round)

    def pull(self, arm: int, rng: Stream) -> float:
        """Draw a reward of the arm."""
        return draw_around(self.law, self.means.values[arm], self.spread, rng.words)

    def mean(self, arm: int) -> float:
        """Return the arm's mean reward in this round."""
        return float(self.means.values[arm])

    def best_mean(self) -> float:
        """Return the highest mean of this round."""
        best = self.means.values[0]
        for mean in self.means.values:
            best = max(best, mean)
        return float(best)


@dataclass(frozen=True)
class ChangingProblem(PaidByMean):
    """What problems with moving means share."""

    def arms(self, means: Motion) -> ChangingArms:
        """Return arms with these means that pay such rewards."""
        return ChangingArms(means, REWARDS[self.rewards], self.spread)

    def check_mean(self, name: str, mean: float) -> None:
        """Raise BadInput unless such rewards can have this mean."""
        if self.rewards == "gaussian":
            check_number(name, mean)
        else:
            check_number(name, mean, at_least=0, at_most=1)


@dataclass(frozen=True)
class ChangingBandit(ChangingProblem):
    """Arms whose means, uniform on [low, high], change.

    Parameters
    ----------
    motion
        "abrupt": all means are drawn anew at random times. "smooth": they go from one draw to the next on straight
        lines. "season": they go from one draw to another and back, for ever. "improves": a random arm, other than the
        best, becomes better than the best by `gap`, at once and for good. "deaths": at random times a random arm dies
        and pays nothing more (0, or `low` if that is less), never the last one.
    lasts
        For how many rounds it stays the same: between changes or deaths on average, from one draw to the next, half a
        season, or until the arm improves.
    gap
        By how much the improved arm is better than the best. The others have means of at most `high - gap` then.
    rewards, sigma, v
        "bernoulli", "beta" (Beta(v mu, v (1 - mu))) or "gaussian" (N(mu, sigma^2)).

    >>> ChangingBandit("season", lasts=1000).label
    "changing(motion='season', lasts=1000)"
    """

    name = "changing"
    motion: str = "abrupt"
    lasts: int = 5000
    n_arms: int = 10
    low: float = 0.25
    high: float = 0.75
    gap: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_motion(self.motion, self.lasts, ARM_MOTIONS)
        check_count("n_arms", self.n_arms, at_least=2 if self.motion == "improves" else 1)
        self.check_mean("low", self.low)
        self.check_mean("high", self.high)
        check_number("high", self.high, at_least=self.low)
        check_number("gap", self.gap, above=0)
        if self.motion == "improves" and self.low + self.gap > self.high:
            raise BadInput(f"gap must be at most high - low, {self.high - self.low:g}, not {shortened(self.gap)}")

    def draw(self, rng: Stream) -> ChangingArms:
        """Return a random instance."""
        here, there, high = np.empty(self.n_arms), np.empty(self.n_arms), self.high
        if self.motion == "improves":
            high -= self.gap
        draw_state(self.low, high, 0.0, rng.words, here)
        if self.motion == "improves":
            motion, there = "once", here.copy()
            others = np.delete(np.arange(self.n_arms), here.argmax())
            there[others[rng.integers(others.size)]] = here.max() + self.gap
        else:
            motion = self.motion
            draw_state(self.low, self.high, 0.0, rng.words, there)
        return self.arms(new_motion(motion, self.lasts, here, there, (self.low, self.high, 0.0), rng))


@dataclass(frozen=True)
class ChangedArms(ChangingProblem):
    """Arms of given means, which are others after `lasts` rounds.

    >>> ChangedArms([0.5, 0.4], [0.5, 0.6], lasts=1000).draw(Stream(np.ones(4, np.uint64))).best_mean()
    0.5
    """

    name = "changed_arms"
    before: Sequence[float]
    after: Sequence[float]
    lasts: int = 20_000

    def __post_init__(self) -> None:
        """Validate, and freeze the numbers."""
        super().__post_init__()
        check_motion("once", self.lasts, ("once",))
        for name in ("before", "after"):
            means = tuple(getattr(self, name))
            for mean in means:
                self.check_mean(name, mean)
            object.__setattr__(self, name, means)
        if not self.before or len(self.before) != len(self.after):
            raise BadInput(
                "before and after must have a mean for each arm, the same number of both, not "
                f"{len(self.before)} and {len(self.after)}"
            )

    def draw(self, rng: Stream) -> ChangingArms:
        """Return the arms; nothing about them is random."""
        before, after = np.array(self.before, float), np.array(self.after, float)
        return self.arms(new_motion("once", self.lasts, before, after, (0.0, 1.0, 0.0), rng))


@dataclass(frozen=True)
class ChangedBest(ChangedArms):
    """Three arms of which the best becomes the second and the worst the best, after half of 40,000 rounds.

    >>> ChangedBest().label
    'changed_best'
    """

    name = "changed_best"
    before: Sequence[float] = (0.3, 0.2, 0.1)
    after: Sequence[float] = (0.2, 0.1, 0.3)


@dataclass(frozen=True)
class QuietlyBetter(ChangedArms):
    """Five arms of which the worst quietly becomes the best, after half of 40,000 rounds; all others stay as they are.

    Whoever stopped trying it sees nothing of that.

    >>> QuietlyBetter().label
    'quietly_better'
    """

    name = "quietly_better"
    before: Sequence[float] = (0.5, 0.4, 0.3, 0.2, 0.1)
    after: Sequence[float] = (0.5, 0.4, 0.3, 0.2, 0.6)
