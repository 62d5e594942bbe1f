r"""LinCORe, watched: it plays as it is, and what the paper's lemmas say of its history is looked at in every round.

Whatever the lemmas speak of is read off the policy's own state (its pool, its regression, its draws of noise), so a
policy that does it otherwise is seen to. The truth, which no policy may know, comes with the problem.

* Of the pool's variance, of its largest value and of the distance |θ^ - θ| in the norm of G, the *room* is kept: the
  factor by which the lemma's bound could be tightened and still hold in all rounds of the run. Below 1 it is broken.
* In some rounds after the warm-up the noise is drawn afresh, many times, from a stream of the watcher's own, to count
  how far θ~ is from θ^ given the past: for a random arm in units of a |x|, a the largest value in the pool, and for the
  best arm in units of c1 |x|; both |x| in the norm of G⁻¹.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.contracts.validate import check_count, check_number, shortened
from corebandit.parts.moments import MEAN
from corebandit.parts.pool import SEEN
from corebandit.parts.ridge import predict, solve_lower, squared_length
from corebandit.policies.linear.lincore import LinCORe
from corebandit.randomness.stream import Stream

N_LOOKS = 5  # rounds in which noise is drawn afresh
EDGES = 2.0 ** (np.arange(-4, 9) / 4.0)  # 1/2 to 4 in quarters of a doubling: distances that are counted
AT_ONE = 4  # where the edge of 1 is
VARIANCE, SIZE, DISTANCE = range(3)  # places in `room`
LOW, HIGH = range(2)  # places in `extremes`
NEXT, DRAWS, HOPEFUL, FEWEST = range(4)  # places in `counts`


@allocating_nothing
class WatchedLinCOReState(NamedTuple):
    """A state of LinCORe and what was seen of it.

    `counts` are the looks so far, the draws in them, those that put the best arm above its true mean, and the fewest of
    one look that lift it by c1 |x| or more.
    """

    state: Any
    truth: FloatArray  # (d,) theta
    looks: IntArray  # (n_looks,) rounds
    room: FloatArray  # (3,) in the run so far
    extremes: FloatArray  # (2,) of the rewards in the pool
    counts: IntArray  # (4,)
    spreads: IntArray  # (edges,) draws that move a random arm by at least so many a |x|
    lifts: IntArray  # (edges,) draws that lift the best arm by more than so many c1 |x|
    widths: Scratch  # (n_arms,) |x|
    means: Scratch  # (n_arms,) true means, less the estimates
    shift: Scratch  # (d,) θ~ - θ^
    own: Stream
    floor: float
    ceiling: float
    radius: float
    n_draws: int

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Look at the past, then fill the scores as if nobody had."""
        n_seen = self.state.pool.tally[SEEN]
        if n_seen == 0:
            for word in range(4):  # a stream for each run, and nothing drawn from the policy's
                self.own.words[word] = ~rng.words[word]
        else:
            self.look(n_seen)
        look = self.counts[NEXT]
        if look < self.looks.size and n_seen + 1 == self.looks[look]:
            self.draw(features)
            self.counts[NEXT] += 1
        self.state.score(features, rng, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.state.update(arm, x, reward, rng)

    def look(self, n_seen: int) -> None:
        """Keep the least room that the bounds had so far."""
        pool, alpha = self.state.pool, self.state.alpha
        newest = pool.values[n_seen - 1]
        self.extremes[LOW], self.extremes[HIGH] = min(self.extremes[LOW], newest), max(self.extremes[HIGH], newest)
        if n_seen + 1 >= self.looks[0]:
            self.keep(VARIANCE, (alpha * pool.deviation()) ** 2 / self.floor)
        self.keep(SIZE, self.ceiling / max(self.largest(), 1e-300))
        self.keep(DISTANCE, self.radius / max(self.distance(), 1e-300))

    def keep(self, which: int, room: float) -> None:
        """Keep the least."""
        self.room[which] = min(self.room[which], room)

    def largest(self) -> float:
        """Return the largest value in the pool: the mean moves, so it is the lowest or the highest reward's."""
        mean = self.state.pool.moments[MEAN]
        return float(self.state.alpha * max(self.extremes[HIGH] - mean, mean - self.extremes[LOW]))

    def distance(self) -> float:
        """Return |θ^ - θ| in the norm of G = R'R, which is the length of R (θ^ - θ)."""
        ridge, total = self.state.ridge, 0.0
        for k in range(self.truth.size):
            entry = 0.0
            for j in range(k, self.truth.size):
                entry += ridge.factor[k, j] * (ridge.theta[j] - self.truth[j])
            total += entry * entry
        return math.sqrt(total)

    def draw(self, features: FloatArray) -> None:
        """Draw the noise afresh, many times, and count how far it moves the estimates."""
        ridge, counts = self.state.ridge, self.counts
        for arm in range(self.widths.size):
            solve_lower(ridge.factor, features[arm], self.shift)
            self.widths[arm] = math.sqrt(squared_length(self.shift))
        predict(features, self.truth, self.means)
        best, largest = int(np.argmax(self.means)), self.largest()
        for j in range(self.shift.size):
            self.shift[j] = self.truth[j] - ridge.theta[j]
        missing, lifted_before = self.move(features[best]), self.lifts[AT_ONE]
        for _ in range(self.n_draws):
            self.state.perturb(self.own, self.shift)
            ridge.respond(self.shift)
            arm, lift = self.own.integers(self.widths.size), self.move(features[best])
            spread = abs(self.move(features[arm])) / (largest * self.widths[arm])
            for place in range(EDGES.size):
                self.spreads[place] += spread >= EDGES[place]
                self.lifts[place] += lift > EDGES[place] * self.radius * self.widths[best]
            counts[HOPEFUL] += lift > missing
        counts[DRAWS] += self.n_draws
        counts[FEWEST] = min(counts[FEWEST], self.lifts[AT_ONE] - lifted_before)

    def move(self, x: FloatArray) -> float:
        """Return by how much the shift moves the estimate of a row."""
        total = 0.0
        for j in range(x.size):
            total += x[j] * self.shift[j]
        return total


@dataclass(frozen=True)
class WatchedLinCORe(FeaturePolicy):
    """LinCORe as it is, watched.

    `floor` is what the variance of its pool should keep above after the warm-up, `ceiling` what the values in it should
    keep below, `radius` c1. In each of a few rounds after the warm-up `n_draws` of the noise are drawn afresh.
    """

    policy: LinCORe
    floor: float
    ceiling: float
    radius: float
    n_draws: int = 0

    def __post_init__(self) -> None:
        if self.policy.sampler != "exact":
            raise BadInput(
                f"policy must keep its rewards, sampler='exact', to be watched, not {shortened(self.policy.sampler)}"
            )
        for name in ("floor", "ceiling", "radius"):
            check_number(name, getattr(self, name), above=0)
        check_count("n_draws", self.n_draws, at_least=0)

    def start_on(self, problem: Any, horizon: int | None, capacity: int) -> WatchedLinCOReState:
        """Return a state that has seen nothing, for an instance of a problem whose theta is the truth."""
        n_arms, d = problem.n_arms, problem.n_features
        if horizon is None or (warm_up := self.policy.warm_up_rounds(d, horizon)) >= horizon:
            raise BadInput(f"horizon must be above the warm-up, or nothing is seen: {shortened(horizon)}")
        return WatchedLinCOReState(
            state=self.policy.start(n_arms, d, horizon, capacity),
            truth=problem.theta,
            looks=np.unique(np.linspace(warm_up + 1, horizon, N_LOOKS).astype(np.int64)),
            room=np.full(3, np.inf),
            extremes=np.array([np.inf, -np.inf]),
            counts=np.array([0, 0, 0, self.n_draws]),
            spreads=np.zeros(EDGES.size, np.int64),
            lifts=np.zeros(EDGES.size, np.int64),
            widths=np.zeros(n_arms),
            means=np.zeros(n_arms),
            shift=np.zeros(d),
            own=Stream(np.zeros(4, np.uint64)),
            floor=float(self.floor),
            ceiling=float(self.ceiling),
            radius=float(self.radius),
            n_draws=self.n_draws,
        )

    def measures(self, state: WatchedLinCOReState) -> dict[str, float]:
        """Return the least room of each bound in all rounds, and what was counted of the draws."""
        _, draws, hopeful, fewest = state.counts.tolist()
        return {
            **dict(zip(("variance room", "size room", "distance room"), state.room.tolist(), strict=True)),
            **{"draws": float(draws), "hopeful": float(hopeful), "fewest": float(fewest)},
            **{f"spread {edge:.3g}": float(count) for edge, count in zip(EDGES, state.spreads, strict=True)},
            **{f"lift {edge:.3g}": float(count) for edge, count in zip(EDGES, state.lifts, strict=True)},
        }
