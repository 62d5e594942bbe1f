"""One ranking at a time: ask, tell which items were clicked, observe, save, load."""

import os
import threading
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np

from corebandit.agents.codec import DAMAGED, arm_from_json, arm_to_json, policy_from_json, read_content, write_content
from corebandit.agents.options import Named
from corebandit.agents.ranking_desk import RankingDesk
from corebandit.contracts.errors import AlreadyTold, BadInput, BadReward, DamagedFile, UnknownDecision
from corebandit.contracts.recipe import Policy, RankingPolicy
from corebandit.contracts.state import IntArray
from corebandit.contracts.validate import check_count, shortened


@dataclass(frozen=True, slots=True)
class Ranking:
    """Items to show, best first, and the id to report the clicks under."""

    items: tuple[Hashable, ...]
    id: int


class RankingAgent:
    """A policy that ranks your items, one ranking at a time, and learns from clicks.

    Parameters
    ----------
    policy
        A recipe: `Ranked(CORe())`, `TopRank()`, ...
    items
        What there is to show: any hashables, all different.
    n_positions
        How many items are shown.
    seed
        Where its randomness starts; the same seed and the same clicks give the same rankings.
    horizon
        How many rankings to expect, if you know.

    Several threads may share an agent. Load files only from people you trust not to forge them.

    >>> from corebandit.ranking.policies import Ranked
    >>> agent = RankingAgent(Ranked(), items=["news", "sport", "maps", "mail"], n_positions=2, seed=7)
    >>> ranking = agent.ask()
    >>> agent.tell(ranking, clicks=[ranking.items[0]])
    >>> agent.observe(["maps", "mail"], clicks=[])
    >>> agent.n_rankings
    2
    """

    def __init__(
        self,
        policy: RankingPolicy,
        items: Iterable[Hashable],
        n_positions: int,
        *,
        seed: int = 0,
        horizon: int | None = None,
    ) -> None:
        if not isinstance(policy, RankingPolicy):
            hint = f"; say Ranked({policy.label})" if isinstance(policy, Policy) else ""
            raise BadInput(f"policy must be a ranking policy such as Ranked(CORe()), not {shortened(policy)}{hint}")
        self.policy = policy
        self.horizon = None if horizon is None else check_count("horizon", horizon, at_least=2)
        self.seed = check_count("seed", seed, at_least=0)
        self._options = Named(items, "item")
        self.n_positions = check_count("n_positions", n_positions)
        if self.n_positions > len(self._options.names):
            raise BadInput(
                f"n_positions must be at most the number of items, {len(self._options.names)}, not {n_positions}"
            )
        self._lock, self._saving = threading.RLock(), threading.Lock()  # compiled code lets other threads run
        self._pending: dict[int, IntArray] = {}  # ranking id: indices of the items shown
        self._next_id = 0
        self._desk = RankingDesk(policy, self._options, self.n_positions, self.horizon, self.seed)

    # Ranking and learning -----------------------------------------------------------------------------------------

    @property
    def items(self) -> list[Hashable]:
        """Return the items on offer."""
        with self._lock:
            return list(self._options.on_offer)

    @property
    def pending(self) -> dict[int, tuple[Hashable, ...]]:
        """Return the rankings whose clicks have not been told: id and items."""
        with self._lock:
            return {ranking_id: self._names(shown) for ranking_id, shown in self._pending.items()}

    @property
    def n_rankings(self) -> int:
        """Return how many rankings were learnt from."""
        with self._lock:
            return self._desk.n_observations // self.n_positions

    def ask(self) -> Ranking:
        """Rank the items on offer and return the first `n_positions`."""
        with self._lock:
            shown = self._desk.choose()
            ranking = Ranking(self._names(shown), self._next_id)
            self._pending[self._next_id] = shown
            self._next_id += 1
            return ranking

    def tell(self, ranking: Ranking | int, clicks: Iterable[Hashable]) -> None:
        """Report which items of a ranking (or of its id) were clicked, at any delay and in any order, once.

        `clicks` lists the items, in any order; none for no click. Clicking an item twice counts once.
        """
        with self._lock:
            ranking_id = self._pending_id(ranking)
            shown = self._pending[ranking_id]
            self._desk.learn(shown, self._clicks(shown, clicks))
            del self._pending[ranking_id]

    def observe(self, items: Iterable[Hashable], clicks: Iterable[Hashable]) -> None:
        """Learn from a ranking that someone else made: `items` that were shown, best first, and those clicked."""
        with self._lock:
            shown = np.array([self._options.index_of(item) for item in _listed("items", items)], dtype=np.int64)
            if shown.size != self.n_positions or np.unique(shown).size < shown.size:
                raise BadInput(
                    f"items must be {self.n_positions} different ones, not {shortened(list(self._names(shown)))}"
                )
            self._desk.learn(shown, self._clicks(shown, clicks))

    def forget(self, ranking: Ranking | int) -> None:
        """Drop a ranking whose clicks will never come."""
        with self._lock:
            del self._pending[self._pending_id(ranking)]

    def _names(self, shown: IntArray) -> tuple[Hashable, ...]:
        return tuple(self._options.name(int(index)) for index in shown)

    def _clicks(self, shown: IntArray, clicks: Iterable[Hashable]) -> IntArray:
        """Return 1 for each position that was clicked, else 0."""
        flags, listed = np.zeros(self.n_positions, np.int64), _listed("clicks", clicks)
        names = self._names(shown)
        if len(listed) == self.n_positions and _are_flags(listed):
            raise BadReward(
                f"clicks must list the items that were clicked, such as [{names[0]!r}], not 0 or 1 for each position, "
                f"as {shortened(listed)} seems to"
            )
        positions = {name: position for position, name in enumerate(names)}
        for item in listed:
            try:
                flags[positions[item]] = 1
            except (KeyError, TypeError):
                raise BadReward(
                    f"clicks must be on items that were shown, {shortened(list(names))}, not {shortened(item)}"
                ) from None
        return flags

    def _pending_id(self, ranking: Ranking | int) -> int:
        """Return the id of a ranking that waits for its clicks, or say why there is none."""
        ranking_id = ranking.id if isinstance(ranking, Ranking) else ranking
        if isinstance(ranking_id, bool) or not isinstance(ranking_id, Integral) or not 0 <= ranking_id < self._next_id:
            raise UnknownDecision(f"ranking must be one that ask() returned, or its id, not {shortened(ranking)}")
        if int(ranking_id) not in self._pending:
            raise AlreadyTold(f"ranking {ranking_id} was told or forgotten already; clicks are learned only once")
        items = self._names(self._pending[int(ranking_id)])
        if isinstance(ranking, Ranking) and ranking.items != items:
            raise UnknownDecision(
                f"ranking must be one of this agent's, which showed {shortened(list(items))}, not {shortened(ranking)}"
            )
        return int(ranking_id)

    # Items that come and go ---------------------------------------------------------------------------------------

    def add_item(self, item: Hashable) -> None:
        """Put a new item on offer, or a retired one back with what was learnt about it."""
        if not isinstance(item, Hashable):
            raise BadInput(f"item must be hashable, such as a string, a number or a tuple, not {shortened(item)}")
        with self._lock:
            self._check_items_may_change("added")
            items = self._options
            if not items.knows(item):
                self._desk.make_room(len(items.names) + 1, self._desk.capacity)
                items.add(item)
            elif (index := items.index_of(item)) in items.retired:
                items.retire(items.retired - {index})
            else:
                raise BadInput(f"item {shortened(item)} is on offer already")

    def retire_item(self, item: Hashable) -> None:
        """Take an item off offer, unless too few would be left; clicks on rankings already made can still be told."""
        with self._lock:
            self._check_items_may_change("retired")
            index = self._options.index_of(item)
            if index in self._options.retired:
                raise BadInput(f"item {shortened(item)} is retired already")
            if len(self._options.on_offer) == self.n_positions:
                raise BadInput(
                    f"item {shortened(item)} cannot be retired: {self.n_positions} items are on offer, and as many "
                    "positions to fill; add another with add_item first"
                )
            self._options.retire(self._options.retired | {index})

    def _check_items_may_change(self, what: str) -> None:
        if not self.policy.items_may_change:
            raise BadInput(
                f"items cannot be {what}: {self.policy.label} needs the same ones all the time; choose another policy, "
                "such as Ranked(CORe())"
            )

    # Saving -------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a JSON file; `RankingAgent.load` continues bit for bit."""
        with self._saving:  # of two that save at once, the later state is written last
            with self._lock:
                content = self._content()
            write_content(path, content)

    def _content(self) -> dict[str, Any]:
        return {
            "policy": self.policy.describe(),
            "items": [arm_to_json(item) for item in self._options.names],
            "n_positions": self.n_positions,
            "seed": self.seed,
            "horizon": self.horizon,
            "retired": sorted(self._options.retired),
            "pending": [[ranking_id, shown.tolist()] for ranking_id, shown in self._pending.items()],
            "next_id": self._next_id,
            **self._desk.content(),
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: RankingPolicy | None = None) -> "RankingAgent":
        """Read an agent that `save` wrote; give the policy if it is not one of this package's."""
        content = read_content(path)
        if "arms" in content:
            raise BadInput(f"{os.fspath(path)} holds an agent that does not rank: read it with Agent.load")
        found = policy_from_json(content["policy"], policy)
        if not isinstance(found, RankingPolicy):
            raise BadInput(f"policy must be a ranking policy such as Ranked(CORe()), not {found.label}")
        try:
            return cls._restored(content, found)
        except DAMAGED as error:
            raise DamagedFile(f"{os.fspath(path)} is not a saved ranking agent, or damaged: {error}") from error

    @classmethod
    def _restored(cls, content: dict[str, Any], policy: RankingPolicy) -> "RankingAgent":
        items = [arm_from_json(item) for item in content["items"]]
        agent = cls(policy, items, content["n_positions"], seed=content["seed"], horizon=content["horizon"])
        agent._desk.restore(content)
        agent._next_id = check_count("next_id", content["next_id"], at_least=0)
        retired = [check_count("retired", index, at_least=0) for index in content["retired"]]
        pending = {check_count("pending", key, at_least=0): shown for key, shown in content["pending"]}
        indices = [[check_count("pending", index, at_least=0) for index in shown] for shown in pending.values()]
        # Compiled code trusts these numbers with memory.
        if (
            any(index >= len(items) for index in chain(retired, *indices))
            or len(items) - len(set(retired)) < agent.n_positions
            or any(len(set(shown)) < len(shown) or len(shown) != agent.n_positions for shown in indices)
            or any(ranking_id >= agent._next_id for ranking_id in pending)
            or len(pending) < len(content["pending"])
            or agent._desk.n_observations % agent.n_positions
        ):
            raise DamagedFile("its numbers contradict each other")
        agent._pending = {key: np.array(shown, np.int64) for key, shown in zip(pending, indices, strict=True)}
        agent._options.retire(retired)
        return agent

    def __repr__(self) -> str:
        return f"RankingAgent({self.policy.label}, items={self.items!r}, n_rankings={self.n_rankings})"


def _are_flags(clicks: Sequence[Any]) -> bool:
    """Tell whether these are 0 and 1, one of them more than once: a flag for each position and no items."""
    flags = [bool(click) for click in clicks if isinstance(click, Real | np.bool_) and click in (0, 1)]
    return len(flags) == len(clicks) and len(set(flags)) < len(flags)


def _listed(name: str, items: Any) -> list[Hashable]:
    if isinstance(items, str):
        raise BadInput(f"{name} must be a list of items, not the string {shortened(items)}")
    try:
        return list(items)
    except TypeError as error:
        raise BadInput(f"{name} must be a list of items, not {shortened(items)}") from error
