"""Where an agent's rankings are made: a ranking policy's state, its random numbers, and room that grows with both."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from corebandit.agents.desk import Desk
from corebandit.agents.options import Named
from corebandit.agents.steps import learn_clicks, select_ranking
from corebandit.agents.traffic import Traffic
from corebandit.contracts.audit import audit, demand
from corebandit.contracts.recipe import RankingPolicy
from corebandit.contracts.state import IntArray
from corebandit.randomness.stream import Stream


class RankingDesk(Desk):
    """Rankings of named items; an observation is a position that was shown."""

    def __init__(self, policy: RankingPolicy, options: Named, n_positions: int, horizon: int | None, seed: int) -> None:
        super().__init__(len(options.names), horizon, seed)
        self.policy, self.options, self.n_positions = policy, options, n_positions
        self.capacity = max(self.capacity, n_positions)
        self.set_state(self.fresh_state(self.n_arms, self.capacity), self.n_arms, self.capacity)

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` items, which is used up."""
        ranking = np.arange(self.n_positions)
        self._select = self.function(select_ranking, state, rng, ranking, np.arange(n_arms), ranking.copy())
        self._learn = self.function(learn_clicks, state, rng, ranking, np.zeros_like(ranking))

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(n_arms, self.n_positions, self.horizon, capacity)

    def audit(self, state: Any, fresh: Any, n_observations: int) -> None:
        """Raise a DamagedFile unless the numbers of a state fit together."""
        n_rounds, n_left = divmod(n_observations, self.n_positions)
        demand(n_left == 0, "observations must be of whole rankings")
        audit(state, fresh, n_rounds, self.n_positions)

    def choose(self, traffic: Traffic) -> IntArray:
        """Return the items to show, best first."""
        offered = self.options.offered(None)  # never fewer than positions
        if traffic.is_limiting:
            offered = self.limited(offered, traffic)
        # However many of them are off offer, enough of this ranking are not.
        ranking = np.zeros(self.n_positions + self.n_arms - offered.size, np.int64)
        shown = np.zeros(self.n_positions, np.int64)
        self._select(self.state, self.rng, ranking, offered, shown)
        return shown

    def limited(self, offered: IntArray, traffic: Traffic) -> IntArray:
        """Return who of those on offer may be shown: all, where a policy ranks no more than there are places."""
        return traffic.within_limits(offered, self.n_positions) if self.policy.items_may_change else offered

    def learn(self, shown: IntArray, clicks: IntArray) -> None:
        """Learn from the clicks on a ranking."""
        while self.n_observations + self.n_positions > self.capacity:
            self.make_room(self.n_arms, 2 * self.capacity)
        self._learn(self.state, self.rng, shown, clicks)
        self.n_observations += self.n_positions

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return what a policy's `warm_up_rounds` takes besides the horizon."""
        return self.n_arms, self.n_positions

    def plain(self, choice: IntArray) -> list[int]:
        """Return the indices of the items shown."""
        shown: list[int] = choice.tolist()
        return shown

    def choices(self, content: dict[str, Any]) -> list[IntArray]:
        """Return the rankings that were saved, in their order."""
        rankings = [[self.checked_index("pending", index) for index in shown] for _, shown, _ in content["pending"]]
        for shown in rankings:
            are_whole = len(shown) == self.n_positions == len(set(shown))
            demand(are_whole, f"pending must be rankings of {self.n_positions} different items")
        return [np.array(shown, np.int64) for shown in rankings]

    def options_of(self, choice: IntArray) -> list[int]:
        """Return the items that were shown."""
        return self.plain(choice)

    def content(self, waiting: Sequence[IntArray]) -> dict[str, Any]:
        """Return what was learnt, ready for JSON."""
        return {**super().content(waiting), "n_positions": self.n_positions}
