"""Where an agent's decisions among arms are made."""

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from corebandit.agents.desk import Desk, Look, tame_reward
from corebandit.agents.options import Named
from corebandit.agents.propensities import Chances
from corebandit.agents.steps import draw_arms, learn, select
from corebandit.agents.traffic import Traffic
from corebandit.contracts.errors import BadFeatures
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.randomness.stream import Stream

ArmChoice = tuple[int, None, Chances | None, bool | None]


class ArmDesk(Desk):
    """Decisions among arms."""

    draws = draw_arms

    def __init__(
        self,
        policy: Policy,
        options: Named,
        horizon: int | None,
        seed: int,
        n_draws: int | None = None,
        floor: float = 0.0,
    ) -> None:
        super().__init__(len(options.names), horizon, seed, n_draws, floor)
        self.policy, self.options = policy, options
        self.set_state(self.fresh_state(self.n_arms, self.capacity), self.n_arms, self.capacity)

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` arms, which is used up."""
        self._select = self.function(select, state, rng, np.zeros(n_arms), np.arange(n_arms))
        self._learn = self.function(learn, state, rng, 0, tame_reward(self.policy))
        if self.n_draws is not None:
            everyone = np.arange(n_arms)
            self._draw = self.function(draw_arms, state, rng, np.zeros(n_arms), everyone, True, everyone.copy())

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(n_arms, self.horizon, capacity)

    def choose(self, features: Any, arms: Iterable[Hashable] | None, traffic: Traffic, answer: Any = None) -> Any:
        """Return the choice of an arm to play; or what `answer`, `draw_lot` or `look`, makes of those on offer."""
        if features is not None:
            raise BadFeatures(
                f"{self.policy.label} takes no features; to choose by them take a policy such as LinCORe, to choose "
                "among some arms say ask(arms=[...])"
            )
        offered = self.options.offered(arms)
        if arms is not None:
            offered = np.unique(offered)
        if answer is not None:
            return answer(offered, traffic)
        if self.asks_first:
            self.begin_choice()
        if traffic.is_limiting:  # from here on as in `pick`, without another call
            offered = self.limited(offered, traffic)
        return self._select(self.state, self.rng, self.scores, offered), None, None, None

    def pick(self, offered: IntArray, traffic: Traffic) -> ArmChoice:
        """Return the policy's own choice."""
        if self.asks_first:
            self.begin_choice()
        if traffic.is_limiting:
            offered = self.limited(offered, traffic)
        return self._select(self.state, self.rng, self.scores, offered), None, None, None

    def draw_lot(self, offered: IntArray, traffic: Traffic) -> ArmChoice:
        """Return the choice of one of many draws, and the probabilities it was made with."""
        self.check_floor(offered.size)
        self.begin_choice()
        index, known = self.lot(self.limited(offered, traffic), (), self.scores)
        return index, None, known, None

    def uniform(self, offered: IntArray) -> ArmChoice:
        """Return a uniform choice of those on offer."""
        index, known = self.drawn_evenly(offered)
        return index, None, known, True

    def look(self, offered: IntArray, traffic: Traffic) -> Look:
        """Return what can be asked who of those on offer would be chosen."""
        start, allowed = partial(self.fresh_state, self.n_arms, self.capacity), self.limited(offered, traffic)
        return self.looked_at(start, offered, allowed, np.zeros(self.n_arms), allowed, True)

    def row(self, index: int, x: Any) -> None:
        """Refuse features."""
        if x is not None:
            raise BadFeatures(f"{self.policy.label} takes no features; say observe(arm, reward), without x")

    def recorded(self, index: int, features: FloatArray | None, place: int) -> None:
        """Do without the features of a choice that another policy made."""

    def rows(self, indices: Sequence[int], x: Any) -> Sequence[None]:
        """Refuse features."""
        if x is not None:
            raise BadFeatures(f"{self.policy.label} takes no features; say observe_many(arms, rewards), without x")
        return [None] * len(indices)

    def learn(self, index: int, x: None, reward: float) -> None:
        """Learn from the reward of an arm."""
        if self.n_observations == self.capacity:
            self.make_room(self.n_arms, 2 * self.capacity)
        self._learn(self.state, self.rng, index, reward)
        self.n_observations += 1

    def plain(self, choice: ArmChoice) -> int:
        """Return the index of the arm."""
        return choice[0]

    def choices(self, content: dict[str, Any]) -> list[ArmChoice]:
        """Return the choices that were saved, in their order."""
        return [(index, None, known, None) for index, known in self.saved_choices(content)]

    def options_of(self, choice: ArmChoice) -> tuple[int]:
        """Return the arm that a choice is of."""
        return (choice[0],)
