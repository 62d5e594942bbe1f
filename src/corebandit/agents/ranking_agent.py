"""One ranking at a time: ask, tell which items were clicked, observe, save, load."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from corebandit.agents.codec import arm_from_json, arm_to_json
from corebandit.agents.events import OBSERVE, TELL, ranked
from corebandit.agents.ids import DecisionId
from corebandit.agents.live_agent import LiveAgent
from corebandit.agents.options import Named
from corebandit.agents.propensities import mixed_evenly
from corebandit.agents.ranking_desk import RankingChoice, RankingDesk
from corebandit.agents.rewards import Reward, without_decimals
from corebandit.agents.settings import MANY_OPEN, NOT_OF_RANKINGS, Clock, Settings
from corebandit.agents.traffic import PATIENCE
from corebandit.contracts.errors import BadInput, BadReward, TooLate
from corebandit.contracts.recipe import Policy, RankingPolicy
from corebandit.contracts.state import IntArray
from corebandit.contracts.validate import check_count, shortened

if TYPE_CHECKING:
    import polars as pl

Items = tuple[Hashable, ...]


class Ranking(NamedTuple):
    """Items to show, best first, and the id to report the clicks under: no other ranking of any agent has it."""

    items: Items
    id: DecisionId
    propensities: tuple[dict[Hashable, float], ...] | None = None  # of each place, of all items; None: not known
    is_held_out: bool = False  # a uniform ranking, to compare with


class RankingAgent(LiveAgent[Items, RankingChoice]):
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
        Where its randomness starts; the same seed and the same clicks give the same rankings. Without one the operating
        system is asked.
    horizon
        How many rankings to expect, if you know.
    window, default_reward, max_open, patience, max_share, propensity_draws, min_propensity, holdout, clock
        As for `Agent`. The default reward can only be 0, no click; shares are of places shown; propensities are, for
        each place, those of all items to be there; what is held out is in any order alike.

    Several threads may share an agent. Load files only from people you trust.

    >>> from corebandit.ranking.policies import Ranked
    >>> agent = RankingAgent(Ranked(), items=["news", "sport", "maps", "mail"], n_positions=2, seed=7)
    >>> ranking = agent.ask()
    >>> agent.tell(ranking, clicks=[ranking.items[0]])
    >>> agent.observe(["maps", "mail"], clicks=[])
    >>> agent.n_rankings
    2
    """

    policy: RankingPolicy
    _kind: ClassVar[str] = "ranking agent"
    _listed_as: ClassVar[str] = "items"
    _options: Named
    _desk: RankingDesk

    def __init__(
        self,
        policy: RankingPolicy,
        items: Iterable[Hashable],
        n_positions: int,
        *,
        seed: int | None = None,
        horizon: int | None = None,
        window: float | None = None,
        default_reward: float | None = None,
        max_open: int | None = None,
        patience: int = PATIENCE,
        max_share: float = 1.0,
        propensity_draws: int | None = None,
        min_propensity: float = 0.0,
        holdout: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        settings = Settings(
            window, default_reward, max_open, patience, max_share, propensity_draws, min_propensity, holdout
        )
        super().__init__(policy, seed, horizon, settings, clock)
        self._options = Named(items, "item")
        self.n_positions = self._n_needed = check_count("n_positions", n_positions)
        if self.n_positions > len(self._options.names):
            raise BadInput(
                f"n_positions must be at most the number of items, {len(self._options.names)}, not {n_positions}"
            )
        self._desk = RankingDesk(
            policy, self._options, self.n_positions, self.horizon, self.seed, propensity_draws, min_propensity
        )
        self._checked_default(default_reward)
        self._keep_books("ranking", "clicks are", lambda items: f"showed {shortened(list(items))}")
        self._warn_of_endless_warm_up()

    @staticmethod
    def _check_policy(policy: Any) -> None:
        if not isinstance(policy, RankingPolicy):
            hint = f"; say Ranked({policy.label})" if isinstance(policy, Policy) else ""
            raise BadInput(f"policy must be a ranking policy such as Ranked(CORe()), not {shortened(policy)}{hint}")

    @classmethod
    def _made_from(cls, content: dict[str, Any], policy: RankingPolicy, names: list[Hashable] | None) -> Self:
        if names is None:
            raise BadInput("items must be a list, not None")
        settings = asdict(Settings.from_json(content["settings"]))
        for name in NOT_OF_RANKINGS:
            del settings[name]
        return cls._made_anew(content, policy, names, {**settings, "horizon": content["horizon"]})

    @classmethod
    def _made_anew(
        cls, content: dict[str, Any], policy: RankingPolicy, names: list[Hashable] | None, options: dict[str, Any]
    ) -> Self:
        return cls(policy, names or [], content["n_positions"], **{"seed": content["seed"], **options})

    def _chosen(self, choice: RankingChoice) -> Items:
        return self._named_items(choice[0])

    def _named_items(self, shown: IntArray) -> Items:
        return tuple(self._options.name(int(index)) for index in shown)

    # Ranking and learning -----------------------------------------------------------------------------------------

    @property
    def items(self) -> list[Hashable]:
        """Return the items on offer."""
        return self._on_offer()

    @property
    def n_rankings(self) -> int:
        """Return how many rankings were learnt from."""
        return self._desk.n_observations // self.n_positions

    _n_learnt = n_rankings

    def ask(self) -> Ranking:
        """Rank the items on offer and return the first `n_positions`."""
        with self._lock:
            now, ledger = self._now(), self._ledger
            if self._ends_decisions:
                self._end_what_is_due(now)
            if len(ledger.waiting) >= MANY_OPEN and not self._has_warned:
                self._warn_of_many()
            choice = self._desk.choose(ledger.traffic, self._by_lot)
            items = self._named_items(choice[0])
            ranking_id = ledger.enter(items, choice, now)
            ranking = Ranking(items, ranking_id) if choice[1] is None else self._receipt(ranking_id, choice)
            if self._journal is not None:
                self._journal(ranked(ranking, now))
            if self._ends_decisions:
                self._end_what_is_too_much(now)
            return ranking

    def recall(self, ranking_id: DecisionId) -> Ranking:
        """Return the ranking that waits under an id, as `ask` returned it, propensities and all."""
        with self._lock:
            return self._receipt(ranking_id, self._ledger.find(ranking_id))

    def _receipt(self, ranking_id: DecisionId, choice: RankingChoice) -> Ranking:
        shown, known, is_held_out = choice
        name = self._options.name
        named = None if known is None else tuple({name(item): p for item, p in place.items()} for place in known)
        return Ranking(self._named_items(shown), ranking_id, named, bool(is_held_out))

    def tell(self, ranking: Ranking | DecisionId, clicks: Iterable[Hashable]) -> None:
        """Report which items of a ranking (or of its id) were clicked, at any delay and in any order, once.

        `clicks` lists the items, in any order; none for no click. Clicking an item twice counts once.
        """
        with self._lock:
            now = self._now()
            if self._ends_decisions:
                self._end_what_is_due(now)
            ranking_id = ranking.id if isinstance(ranking, Ranking) else ranking
            try:
                choice = self._found(ranking, ranking_id)
            except TooLate:
                self._count_late(ranking_id, now, _listed("clicks", clicks))
                raise
            flags = self._clicks(choice[0], clicks)
            self._learn(choice, flags, now)
            self._ledger.close(ranking_id)
            if self._journal is not None:
                self._journal([TELL, ranking_id, now, flags.tolist()])

    def observe(self, items: Iterable[Hashable], clicks: Iterable[Hashable]) -> None:
        """Learn from a ranking that someone else made: `items` that were shown, best first, and those clicked."""
        with self._lock:
            now = self._now()
            shown = np.array([self._options.index_of(item) for item in _listed("items", items)], dtype=np.int64)
            if shown.size != self.n_positions or np.unique(shown).size < shown.size:
                raise BadInput(
                    f"items must be {self.n_positions} different ones, not {shortened(list(self._named_items(shown)))}"
                )
            flags = self._clicks(shown, clicks)
            self._learn((shown, None, None), flags, now)
            if self._journal is not None:
                self._journal([OBSERVE, now, [arm_to_json(item) for item in self._named_items(shown)], flags.tolist()])

    def forget(self, ranking: Ranking | DecisionId) -> None:
        """Drop a ranking that was never shown. One that was and not clicked has clicks: tell(ranking, [])."""
        with self._lock:
            ranking_id = ranking.id if isinstance(ranking, Ranking) else ranking
            self._found(ranking, ranking_id)
            self._close(ranking_id)

    def _found(self, ranking: Ranking | DecisionId, ranking_id: DecisionId) -> RankingChoice:
        if isinstance(ranking, Ranking):
            return self._ledger.find(ranking_id, ranking, ranking.items)
        return self._ledger.find(ranking_id)

    def _learn(self, choice: RankingChoice, lesson: Any, now: float) -> None:
        shown, flags, is_held_out = choice[0], np.asarray(lesson, np.int64), choice[-1]
        self._desk.learn(shown, flags)
        clicks = [(item, float(flag)) for item, flag in zip(shown.tolist(), flags.tolist(), strict=True)]
        for item, click in clicks:
            self._ledger.traffic.hear(item, click, now)
        if is_held_out is not None:
            self._control.hear(is_held_out, sum(click for _, click in clicks), clicks)

    def _lesson(self, default_reward: float) -> list[int]:
        return [0] * self.n_positions

    def _choose(self) -> RankingChoice:
        choice: RankingChoice = self._desk.choose(self._ledger.traffic, self._by_lot)
        return choice

    def _recorded(self, chosen: Any, chances: Any) -> RankingChoice:
        index_of = self._options.index_of
        known = None
        if chances is not None:
            known = tuple({index_of(arm_from_json(item)): chance for item, chance in place} for place in chances)
        return self._chosen_by_others(chosen)[0], known, None

    def _check_lesson(self, lesson: Any) -> None:
        """Take any clicks: every policy that ranks can learn from them."""

    def _chosen_by_others(self, chosen: Any) -> RankingChoice:
        return np.array([self._options.index_of(item) for item in self._from_journal(chosen)], np.int64), None, None

    @staticmethod
    def _from_journal(chosen: Any) -> Items:
        return tuple(arm_from_json(item) for item in chosen)

    def _checked_default(self, reward: Reward | None) -> float | None:
        if reward is not None and without_decimals(reward) != 0:
            raise BadReward(f"the default reward of a ranking must be 0, no click, or None, not {shortened(reward)}")
        return None if reward is None else 0.0

    def _clicks(self, shown: IntArray, clicks: Iterable[Hashable]) -> IntArray:
        """Return 1 for each position that was clicked, else 0."""
        flags, listed = np.zeros(self.n_positions, np.int64), _listed("clicks", clicks)
        names = self._named_items(shown)
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

    # Looking inside -----------------------------------------------------------------------------------------------

    def probabilities(self, draws: int = 1_000) -> dict[Hashable, list[float]]:
        """Return how likely each item on offer is to be at each place, from the top, of the next ranking.

        The shares are of so many draws on a copy of what was learnt, with random numbers of their own: nothing changes,
        and whoever asks again before anything happens gets the same answer. An item that may not be shown now, as too
        many rankings with it wait, has 0.
        """
        n_draws = check_count("draws", draws)
        with self._lock:
            desk, rng = self._desk, self._spare_stream()
            look = desk.choose(self._ledger.traffic, desk.look)
        places = desk.chances(desk.draw_on(look, rng, np.empty((n_draws, self.n_positions), np.int64)), look.allowed)
        likely = [mixed_evenly(place, look.offered, self.settings.holdout) for place in places]
        return {self._options.name(i): [place[i] for place in likely] for i in look.offered.tolist()}

    def table(self, *, draws: int = 1_000) -> "pl.DataFrame":
        """Return what is known of each item, a row for each, as a data frame.

        Its columns are those of `Agent.table`, with `item` for `arm`; the mean is that of clicks, and `probability` is
        that to be shown at all in the next ranking.
        """
        likely = self.probabilities(draws)
        return self._frame({self._options.index_of(item): min(1.0, sum(places)) for item, places in likely.items()})

    # Items that come and go ---------------------------------------------------------------------------------------

    def add_item(self, item: Hashable) -> None:
        """Put a new item on offer, or a retired one back with what was learnt about it."""
        self._add(item)

    def retire_item(self, item: Hashable) -> None:
        """Take an item off offer, unless too few would be left; clicks on rankings already made can still be told."""
        self._retire(item)

    def _named(self, what: str) -> Named:
        if not self.policy.items_may_change:
            raise BadInput(
                f"items cannot be {what}: {self.policy.label} needs the same ones all the time; choose another policy, "
                "such as Ranked(CORe())"
            )
        return self._options

    def __repr__(self) -> str:
        return self._described(n_rankings=self.n_rankings)


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
