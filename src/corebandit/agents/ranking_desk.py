"""Where an agent's rankings are made: a ranking policy's state, its random numbers, and room that grows with both."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from corebandit.agents.desk import Desk, Look
from corebandit.agents.options import Named
from corebandit.agents.propensities import (
    Chances,
    chances,
    chances_from_json,
    chances_to_json,
    is_uniform,
    shuffled,
)
from corebandit.agents.steps import draw_rankings, learn_clicks, select_ranking
from corebandit.agents.traffic import Traffic, fill_in
from corebandit.contracts.errors import demand
from corebandit.contracts.recipe import RankingPolicy
from corebandit.contracts.state import IntArray
from corebandit.randomness.stream import Stream

# Items shown, of each place who could have been there, and whether it is a uniform ranking that was held out.
RankingChoice = tuple[IntArray, tuple[Chances, ...] | None, bool | None]


class RankingDesk(Desk):
    """Rankings of named items; an observation is a position that was shown."""

    draws = draw_rankings

    def __init__(
        self,
        policy: RankingPolicy,
        options: Named,
        n_positions: int,
        horizon: int | None,
        seed: int,
        n_draws: int | None = None,
        floor: float = 0.0,
    ) -> None:
        super().__init__(len(options.names), horizon, seed, n_draws, floor)
        self.policy, self.options, self.n_positions = policy, options, n_positions
        self.capacity = max(self.capacity, n_positions)
        self.set_state(self.fresh_state(self.n_arms, self.capacity), self.n_arms, self.capacity)

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` items, which is used up."""
        ranking = np.arange(self.n_positions)
        self._select = self.function(select_ranking, state, rng, ranking, np.arange(n_arms), ranking.copy())
        self._learn = self.function(learn_clicks, state, rng, ranking, np.zeros_like(ranking))
        if self.n_draws is not None:
            self._draw = self.function(draw_rankings, state, rng, ranking, np.arange(n_arms), ranking.reshape(1, -1))

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(n_arms, self.n_positions, self.horizon, capacity)

    def choose(self, traffic: Traffic, answer: Any = None) -> Any:
        """Return the choice of items to show, best first; or what `answer`, `draw_lot` or `look`, makes of them."""
        offered = self.options.offered(None)  # never fewer than positions
        return self.pick(offered, traffic) if answer is None else answer(offered, traffic)

    def pick(self, offered: IntArray, traffic: Traffic) -> RankingChoice:
        """Return the policy's own ranking."""
        if self.asks_first:
            self.begin_choice()
        allowed = offered
        if traffic.is_limiting:
            allowed = traffic.within_limits(offered, self.n_positions)
            if self.policy.items_may_change:
                offered = allowed
        shown = np.zeros(self.n_positions, np.int64)
        self._select(self.state, self.rng, self.room_to_rank(offered), offered, shown)
        if allowed.size < offered.size:
            traffic.replace(shown, allowed)
        return shown, None, None

    def limited(self, offered: IntArray, traffic: Traffic) -> IntArray:
        """Return who of those on offer may be ranked: all, where a policy must rank the same items all the time."""
        return traffic.within_limits(offered, self.n_positions) if self.policy.items_may_change else offered

    def room_to_rank(self, offered: IntArray) -> IntArray:
        """Return room for a ranking of which, however many items are off offer, enough are not."""
        return np.zeros(self.n_positions + self.n_arms - offered.size, np.int64)

    def draw_lot(self, offered: IntArray, traffic: Traffic) -> RankingChoice:
        """Return the choice of one of many draws, the first, and the probabilities it was made with.

        Where a policy prepares what it ranks, the other draws prepare too, in a copy.
        """
        self.check_floor(offered.size)
        self.begin_choice()
        allowed = self.limited(offered, traffic)
        rng, ranking, state = self.rng, self.room_to_rank(allowed), self.state
        if self.beginning.prepares:
            state = self.copied(partial(self.fresh_state, self.n_arms, self.capacity), state)
        winners = np.zeros((self.n_draws or 0, self.n_positions), np.int64)
        self._select(self.state, rng, ranking, allowed, winners[0])
        self._draw(state, rng, ranking, allowed, winners[1:])
        may_be_shown = traffic.within_limits(offered, self.n_positions)
        if may_be_shown.size < allowed.size:
            replace_in_all(winners, traffic.by_burden(may_be_shown))
        chosen: IntArray = winners[0].copy()
        if is_uniform(rng, may_be_shown.size, self.floor):
            chosen = shuffled(rng, may_be_shown, self.n_positions)
        return chosen, self.chances(winners, may_be_shown), None

    def uniform(self, offered: IntArray) -> RankingChoice:
        """Return a ranking of those on offer, all alike."""
        shown = shuffled(self.rng, offered, self.n_positions)
        return shown, (dict.fromkeys(offered.tolist(), 1.0 / offered.size),) * self.n_positions, True

    def look(self, offered: IntArray, traffic: Traffic) -> Look:
        """Return what can be asked which of the items on offer would be shown."""
        allowed, may_be_shown = self.limited(offered, traffic), traffic.within_limits(offered, self.n_positions)
        start = partial(self.fresh_state, self.n_arms, self.capacity)
        look = self.looked_at(start, offered, allowed, self.room_to_rank(allowed), allowed)
        return look._replace(allowed=may_be_shown, stand_ins=traffic.by_burden(may_be_shown))

    def draw_on(self, look: Look, rng: Stream, winners: IntArray) -> IntArray:
        """Fill `winners` with what would be shown, draw by draw; the desk itself may go on meanwhile."""
        return replace_in_all(super().draw_on(look, rng, winners), look.stand_ins)

    def chances(self, winners: IntArray, allowed: IntArray) -> tuple[Chances, ...]:
        """Return, of each place, the probability of each item to be there, from who was there in each draw."""
        return tuple(chances(winners[:, place], allowed, self.floor) for place in range(self.n_positions))

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

    def plain(self, choice: RankingChoice) -> list[int]:
        """Return the indices of the items shown."""
        shown: list[int] = choice[0].tolist()
        return shown

    def choices(self, content: dict[str, Any]) -> list[RankingChoice]:
        """Return the rankings that were saved, in their order."""
        rankings = [[self.checked_index("pending", index) for index in shown] for _, shown, _ in content["pending"]]
        for shown in rankings:
            are_whole = len(shown) == self.n_positions == len(set(shown))
            demand(are_whole, f"pending must be rankings of {self.n_positions} different items")
        return [
            (np.array(shown, np.int64), None if saved is None else self.checked_chances(shown, saved), None)
            for shown, saved in zip(rankings, self.saved_chances(content), strict=True)
        ]

    def plain_chances(self, known: Any) -> Any:
        """Return the probabilities of a ranking, place by place, ready for JSON."""
        return [chances_to_json(place) for place in known]

    def checked_chances(self, shown: list[int], saved: Any) -> tuple[Chances, ...]:
        """Return the probabilities that were saved of a ranking."""
        demand(isinstance(saved, list) and len(saved) == len(shown), "pending_propensities must be of every place")
        return tuple(
            chances_from_json(place, item, self.checked_index) for place, item in zip(saved, shown, strict=True)
        )

    def restore(self, content: dict[str, Any]) -> None:
        """Go on with what was saved."""
        super().restore(content)
        demand(self.n_observations % self.n_positions == 0, "observations must be of whole rankings")

    def options_of(self, choice: RankingChoice) -> list[int]:
        """Return the items that were shown."""
        return self.plain(choice)

    def content(self, waiting: Callable[[], Iterable[RankingChoice]]) -> dict[str, Any]:
        """Return a copy of what was learnt, for `in_json`."""
        return {**super().content(waiting), "n_positions": self.n_positions}


def replace_in_all(rankings: IntArray, stand_ins: Sequence[int]) -> IntArray:
    """Return rankings in which others have taken the place of what is not among `stand_ins`."""
    for row in np.flatnonzero(~np.isin(rankings, stand_ins).all(axis=1)):
        fill_in(rankings[row], stand_ins)
    return rankings
