"""Where an agent's decisions are made: a policy's state, its random numbers, and room that grows with both.

Here is what all desks share; there is one for arms, one for rows of features, and one for rankings.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.agents.codec import fill_from_json
from corebandit.agents.propensities import Chances, chances, chances_from_json, chances_to_json, is_uniform
from corebandit.agents.rounds import Beginning, Round, Rounds
from corebandit.agents.traffic import Traffic
from corebandit.compiled.bridge import CannotBeCompiled, EntryPoint, machine_type
from corebandit.contracts.errors import BadInput, demand
from corebandit.contracts.recipe import MOST_OBSERVATIONS, FeaturePolicy, Policy
from corebandit.contracts.state import FloatArray, IntArray, arrays_of, carry_over, check_named, containers_in
from corebandit.contracts.validate import check_count, shortened
from corebandit.parts.rounds import horizon_or_unknown, rounds_left
from corebandit.randomness.stream import Stream, stream

FIRST_CAPACITY = 256
LOG = logging.getLogger("corebandit")
LEFT_BEHIND = "{} has {} in its state, but agents copy, grow and save arrays alone: anything it learns there gets lost"


class Look(NamedTuple):
    """A copy of what a policy knows, to be asked who would be chosen how often."""

    start: Callable[[], Any]  # makes a fresh state, with room for what is copied
    state: Any
    question: tuple[Any, ...]  # what besides the state and random numbers a draw takes
    round: Round  # what it is told of the round
    offered: IntArray
    allowed: IntArray  # of those, who may be chosen now
    stand_ins: Sequence[int] = ()  # for a policy that chooses others too, who takes their place


class Desk:
    """What all desks share.

    A choice is what a desk needs to know again when it learns what became of it: a tuple, which agents keep meanwhile.
    It ends with the probabilities that it was made with, or None if they are not known, and with whether it is a
    uniform one that was held out, or None where nothing is compared.
    """

    draws: ClassVar[EntryPoint]  # the step that chooses many times
    policy: Any
    state: Any  # None until the number of features is known
    n_features: int | None = None
    _prepared: Any = None  # the kind of states that the functions are for
    _draw: Callable[..., Any]  # `draws`, for those who want `n_draws`
    beginning: Beginning  # of rounds
    asks_first = False  # whether it is told of rounds or prepares
    is_replaying = False  # whether it does again what it did
    is_preparing = False  # whether the policy prepares now, or has failed to
    on_prepared: Callable[[], None] = staticmethod(lambda: None)  # is told when something was prepared

    def __init__(self, n_arms: int, horizon: int | None, seed: int, n_draws: int | None, floor: float) -> None:
        self.n_arms = n_arms  # that the state has room for
        self.horizon = horizon
        self.n_draws = n_draws  # of which one decides; None: the policy is asked once, and no probability is known
        self.floor = floor  # the least probability of whatever may be chosen
        self.capacity = FIRST_CAPACITY  # observations that the state has room for
        self.n_observations = 0
        self.rng = stream(seed, "agent")
        self.rounds = Rounds()

    def reseed(self, seed: int) -> None:
        """Go on with other random numbers."""
        self.rng = stream(seed, "agent")

    @contextmanager
    def replaying(self) -> Iterator[None]:
        """Take what was taken once, whatever would be refused now, and prepare nothing unless told to."""
        self.is_replaying = True
        try:
            yield
        finally:
            self.is_replaying = False

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        raise NotImplementedError

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` arms, which is used up."""
        raise NotImplementedError

    def function(self, entry: EntryPoint, *arguments: Any) -> Callable[..., Any]:
        """Return what to call with such arguments, which are used up: machine code, or Python if the policy asks."""
        return entry.compiled_for(*arguments) if self.policy.runs_compiled else entry.in_python

    def kind(self, state: Any) -> Any:
        """Return what the functions for a state depend on."""
        return machine_type(state) if self.policy.runs_compiled else type(state)

    def get_ready(self, state: Any, n_arms: int) -> None:
        """Have functions for states such as this one, which is used up."""
        check_named(self.policy.name, state)
        if self._prepared is None and (named := ", ".join(containers_in(state))):
            LOG.warning(LEFT_BEHIND.format(self.policy.label, named))
        try:
            self._prepared = self.kind(state)
            self.compile(state, n_arms, stream(0))
            self.beginning = Beginning(self.function, state, n_arms, stream(0))
            self.asks_first = self.beginning.is_told or self.beginning.prepares
            self.rounds.wants_pending = self.beginning.is_told
        except CannotBeCompiled as error:
            raise BadInput(f"{self.policy.label} {error}") from error

    def set_state(self, state: Any, n_arms: int, capacity: int) -> None:
        """Go on with this state, which has room for so much."""
        self.state, self.n_arms, self.capacity = state, n_arms, capacity
        self.scores = np.zeros(n_arms)
        if state is not None and self.kind(state) != self._prepared:
            self.get_ready(self.fresh_state(n_arms, capacity), n_arms)

    def make_room(self, n_arms: int, capacity: int) -> None:
        """Move what was learnt to a state with more room."""
        state = None
        if self.state is not None:
            state = self.fresh_state(n_arms, capacity)
            carry_over(self.state, state)
        self.set_state(state, n_arms, capacity)

    # What comes before a choice ------------------------------------------------------------------------------------

    @property
    def coming_round(self) -> Round:
        """Return what a policy is told of the coming round."""
        left = rounds_left(horizon_or_unknown(self.horizon), self.rounds.decided)
        return self.rounds.decided, left, self.rounds.pending_of(self.n_arms)

    def begin_choice(self) -> None:
        """Tell the policy of the round, and let it prepare: before it is asked, of policies that `asks_first`."""
        if self.is_replaying:
            self.beginning.tell(self.state, self.coming_round)
            return
        self.is_preparing = True
        if self.beginning.begin(self.state, self.coming_round, self.rng):
            self.on_prepared()
        self.is_preparing = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return what a policy's `warm_up_rounds` takes besides the horizon, as far as it is known."""
        return (self.n_arms,)

    @property
    def is_warming_up(self) -> bool:
        """Tell whether the policy tries everything in turn now; without a horizon the round itself takes its place."""
        if not hasattr(self.policy, "warm_up_rounds"):
            return False
        coming = self.n_observations + 1
        return bool(coming <= self.policy.warm_up_rounds(*self.sizes, self.horizon or max(coming, 2)))

    def limited(self, offered: IntArray, traffic: Traffic) -> IntArray:
        """Return who of those on offer may be chosen while decisions wait; forced tries count those made, not told."""
        allowed = traffic.within_limits(offered)
        return traffic.least_tried(allowed) if traffic.n_open > 0 and self.is_warming_up else allowed

    # Probabilities ------------------------------------------------------------------------------------------------

    def pick(self, offered: IntArray, traffic: Traffic, *question: Any) -> Any:
        """Return the policy's own choice."""
        raise NotImplementedError

    def draw_lot(self, offered: IntArray, traffic: Traffic, *question: Any) -> Any:
        """Return the choice of one of `n_draws` draws, and the probabilities it was made with."""
        raise NotImplementedError

    def draw_on(self, look: Look, rng: Stream, winners: IntArray) -> IntArray:
        """Fill `winners` with who would be chosen, draw by draw; the desk itself may go on meanwhile."""
        draw = self.function(self.draws, look.state, rng, *look.question, winners)
        if self.policy.runs_compiled:
            self.beginning.begin(look.state, look.round, rng)
            draw(look.state, rng, *look.question, winners)
            return winners
        for place in range(len(winners)):  # a model that is fitted now and then is another one after a draw
            state = self.copied(look.start, look.state)
            self.beginning.begin(state, look.round, rng)
            draw(state, rng, *look.question, winners[place : place + 1])
        return winners

    def copied(self, start: Callable[[], Any], state: Any) -> Any:
        """Return a copy of a state, made in a fresh one."""
        fresh = start()
        carry_over(state, fresh)
        return fresh

    def looked_at(
        self, start: Callable[[], Any], offered: IntArray, allowed: IntArray, *question: Any, n_arms: int = 0
    ) -> Look:
        """Return a copy of the state to be asked, made in a fresh one, which may have room for more arms."""
        self.check_floor(offered.size)
        state = start() if self.state is None else self.copied(start, self.state)
        decided, left, _ = self.coming_round
        pending = self.rounds.pending_of(max(n_arms, self.n_arms)).copy()
        return Look(start, state, question, (decided, left, pending), offered, allowed)

    def check_floor(self, n_offered: int) -> None:
        """Raise BadInput unless so many options can all have the least probability."""
        if self.floor * n_offered > 1.0:
            raise BadInput(
                f"min_propensity must be at most 1/{n_offered} where {n_offered} are on offer, not {self.floor:g}"
            )

    def lot(self, allowed: IntArray, table: tuple[FloatArray, ...], scores: FloatArray) -> tuple[int, Chances]:
        """Return who is chosen, by one of many draws or by the floor, and with which probabilities.

        Where a policy prepares decisions the first draw decides, and the others prepare too, in a copy.
        """
        winners, state = np.empty(self.n_draws or 0, np.int64), self.state
        if self.beginning.prepares:
            state = self.copied(partial(self.fresh_state, self.n_arms, self.capacity), state)
            self._draw(self.state, self.rng, *table, scores, allowed, False, winners[:1])
        n_drawn = 1 if self.beginning.prepares else 0
        self._draw(state, self.rng, *table, scores, allowed, True, winners[n_drawn:])
        pot = winners[:1] if self.beginning.prepares else winners
        pot = allowed if is_uniform(self.rng, allowed.size, self.floor) else pot
        return int(pot[self.rng.integers(pot.size)]), chances(winners, allowed, self.floor)

    # Uniform choices that are held out ----------------------------------------------------------------------------

    def hold_out(
        self, share: float, choose: Callable[..., Any], offered: IntArray, traffic: Traffic, *question: Any
    ) -> Any:
        """Return a choice that is uniform with this probability, and else what `choose`, `pick` or `draw_lot`, makes.

        The policy chooses anyway: it may note what it chose last.
        """
        choice = choose(offered, traffic, *question)
        return self.uniform(offered, *question) if self.rng.random() < share else (*choice[:-1], False)

    def uniform(self, offered: IntArray, *question: Any) -> Any:
        """Return a uniform choice of those on offer, whatever limits of traffic say, and its probabilities."""
        raise NotImplementedError

    def drawn_evenly(self, offered: IntArray) -> tuple[int, Chances]:
        """Return one of those on offer, and with which probabilities."""
        index = int(offered[self.rng.integers(offered.size)])
        return index, dict.fromkeys(offered.tolist(), 1.0 / offered.size)

    # Saving -------------------------------------------------------------------------------------------------------

    def plain(self, choice: Any) -> Any:
        """Return which options were chosen, ready for JSON."""
        raise NotImplementedError

    def options_of(self, choice: Any) -> Sequence[int]:
        """Return the options that a choice is of; none where they have no names to be known by."""
        raise NotImplementedError

    def choices(self, content: dict[str, Any]) -> list[Any]:
        """Return the choices that were saved, in their order."""
        raise NotImplementedError

    def checked_index(self, name: str, index: Any) -> int:
        """Return the index of an option that was saved, if there is one."""
        checked = check_count(name, index, at_least=0)
        demand(checked < self.n_arms, f"{name} must be indices below {self.n_arms}, not {shortened(index)}")
        return checked

    def plain_chances(self, known: Any) -> Any:
        """Return the probabilities of a choice, ready for JSON."""
        return chances_to_json(known)

    def saved_chances(self, content: dict[str, Any]) -> Sequence[Any]:
        """Return what was saved of the probabilities of each choice that waits; None where they are not known."""
        saved: list[Any] | None = content["pending_propensities"]
        if saved is None:
            return [None] * len(content["pending"])
        demand(
            isinstance(saved, list) and len(saved) == len(content["pending"]), "pending_propensities must be of each"
        )
        return saved

    def saved_choices(self, content: dict[str, Any]) -> list[tuple[int, Chances | None]]:
        """Return the option and the probabilities of each choice of one option that was saved."""
        indices = [self.checked_index("pending", index) for _, index, _ in content["pending"]]
        return [
            (index, None if saved is None else chances_from_json(saved, index, self.checked_index))
            for index, saved in zip(indices, self.saved_chances(content), strict=True)
        ]

    def content(self, waiting: Callable[[], Iterable[Any]]) -> dict[str, Any]:
        """Return a copy of what was learnt, and of what of the choices that wait is not `plain`, for `in_json`."""

        def known() -> Iterator[Any] | None:
            if all(choice[-2] is None for choice in waiting()):
                return None
            return (None if choice[-2] is None else self.plain_chances(choice[-2]) for choice in waiting())

        return {
            "pending_propensities": known,
            "n_observations": self.n_observations,
            "capacity": self.capacity,
            "rng": self.rng.words.copy(),
            "state": [array.copy() for array in arrays_of(self.state or ())],
        }

    def restore(self, content: dict[str, Any]) -> None:
        """Go on with what was saved for `n_arms` arms."""
        n_observations = check_count("n_observations", content["n_observations"], at_least=0)
        demand(n_observations <= MOST_OBSERVATIONS, "there must not be more observations than anyone can make")
        capacity = self.capacity
        while capacity < n_observations:
            capacity *= 2
        # Room is made before anything is learnt in it, which may fail.
        is_doubled = content["capacity"] == 2 * capacity and capacity == n_observations
        demand(
            is_doubled or content["capacity"] == capacity,
            f"capacity must be {capacity} for {n_observations} observations",
        )
        capacity = content["capacity"]
        fill_from_json(self.rng.words, content["rng"])
        demand(self.rng.words.any(), "the random generator must not be all zeros, which it would never leave")
        if self.state is None and self.n_features is None:
            demand(n_observations == 0 and content["state"] == [], "nothing is learnt from before the first features")
        else:
            state = self.fresh_state(self.n_arms, capacity)
            arrays, n_saved = list(arrays_of(state)), len(content["state"])
            demand(n_saved == len(arrays), f"it holds {n_saved} arrays, not {len(arrays)}")
            for array, saved in zip(arrays, content["state"], strict=True):
                fill_from_json(array, saved)
            self.set_state(state, self.n_arms, capacity)
        self.n_observations = n_observations


def tame_reward(policy: Policy | FeaturePolicy) -> float:
    """Return a reward that the policy is made for."""
    low, high = policy.reward_range
    return float(min(max(0.0, low), high))
