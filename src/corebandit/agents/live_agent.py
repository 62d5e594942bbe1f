"""What all agents share: a policy at its desk, options that come and go, a ledger, one lock over these, and JSON."""

import math
import secrets
import threading
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import islice
from types import EllipsisType
from typing import Any, Generic, Self

from corebandit.agents import settings as settings_module
from corebandit.agents.codec import arm_to_json
from corebandit.agents.control import Control
from corebandit.agents.desk import Desk
from corebandit.agents.events import ADD, EXPIRE, FORGET, LATE, PREPARE, RETIRE, TURN_BACK
from corebandit.agents.forks import in_forks
from corebandit.agents.gain import Gain, gain_of
from corebandit.agents.ids import DecisionId
from corebandit.agents.ledger import Choice, Chosen, Ledger
from corebandit.agents.looking import ShowsItself
from corebandit.agents.options import Named, Unnamed, plain_option
from corebandit.agents.rewards import Reward
from corebandit.agents.saving import SavesItself
from corebandit.agents.settings import Clock, Settings, checked_clock
from corebandit.agents.traffic import Traffic
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.validate import check_count, check_number, shortened
from corebandit.parts.warm_up import warn_if_endless


class LiveAgent(ShowsItself, SavesItself, ABC, Generic[Chosen, Choice]):
    """A policy that decides now and learns later, in any number of threads.

    Each kind of agent adds what its decisions are (`ask`, `tell`, `observe`) and sets its options and its desk.
    """

    _options: Named | Unnamed
    _desk: Desk
    _ledger: Ledger[Chosen, Choice]
    _control: Control
    _chooses_one = False  # and not a ranking of several

    def __init__(
        self, policy: Any, seed: int | None, horizon: int | None, settings: Settings, clock: Clock | None
    ) -> None:
        self._check_policy(policy)
        if settings.propensity_draws is not None and not policy.runs_compiled:
            raise BadInput(
                f"propensity_draws must be None for {policy.label}: its model is fitted now and then, so that draws of "
                "one decision are not independent"
            )
        self.policy = policy
        self.horizon = None if horizon is None else check_count("horizon", horizon, at_least=2)
        self.seed = secrets.randbits(63) if seed is None else check_count("seed", seed, at_least=0)
        self.settings = settings
        self._clock = settings_module.clock if clock is None else checked_clock(clock)
        self._latest = -math.inf  # when somebody looked at the clock
        self._has_warned = False
        self._journal: Callable[[list[Any]], None] | None = None  # is told all that happens, in its order
        self._ends_decisions = settings.window is not None or settings.max_open is not None
        self._renew_locks()

    def _keep_books(self, noun: str, lesson: str, in_words: Callable[[Chosen], str]) -> None:
        """Begin the ledger, once options and desk are there."""
        n_options = len(self._options.names or ())
        traffic = Traffic(n_options, self.settings.patience, self.settings.max_share)
        is_of_one = self._chooses_one and n_options > 0
        self._ledger = Ledger(noun, lesson, in_words, self._desk.options_of, traffic, is_of_one, self._desk.rounds)
        self._desk.on_prepared = partial(type(self)._note_prepared, weakref.proxy(self))  # no cycle keeps it alive
        self._control, share, desk = Control(n_options), self.settings.holdout, self._desk
        by_lot = None if self.settings.propensity_draws is None else desk.draw_lot
        self._by_lot = partial(desk.hold_out, share, by_lot or desk.pick) if share > 0 else by_lot
        is_of_arms = (
            self._chooses_one and self._options.names is not None and not isinstance(self.policy, FeaturePolicy)
        )
        self._is_watched = is_of_arms and self.settings.window is None  # for changes of what arms pay
        in_forks(self)

    def gain(self) -> Gain:
        """Return what the policy gained over uniform choices so far, by the share of decisions that is held out.

        Its interval may be looked at at any time; there is none before `holds_from` decisions. Decisions count that
        have ended with a reward, told or by default; so rewards that get lost must get lost alike, whoever decided. Of
        rankings it is clicks that are counted.

        >>> from corebandit import Agent, UCB1
        >>> agent = Agent(UCB1(), arms=["red", "green"], seed=7, holdout=0.1)
        >>> for _ in range(2_000):
        ...     decision = agent.ask()
        ...     agent.tell(decision, reward=1.0 if decision.arm == "red" else 0.25)
        >>> agent.gain()
        gain over uniform choices, from 1,768 decisions by the policy, 232 held out
          per decision  0.3175  (0.2314 to 0.4036)
          in total      561.3  (409.2 to 713.5)
          better than uniform choices: it is safe to stop holding out
        """
        share = self.settings.holdout
        if share == 0:
            raise BadInput(
                "there is nothing to compare with: this agent was made without holdout; with holdout=0.05 a twentieth "
                "of the decisions is uniform, and gain() compares with these"
            )
        with self._lock:
            return gain_of(self._control, share, self._options)

    # Processes ----------------------------------------------------------------------------------------------------

    def _renew_locks(self) -> None:
        """Have locks that nobody holds."""
        self._lock, self._saving = threading.RLock(), threading.Lock()  # compiled code lets other threads run

    def _become_another(self) -> None:
        """Go on in a forked process: nobody holds its locks there, and what it decides is its own."""
        self._renew_locks()
        self._ledger.ids.leave_session()
        self._desk.reseed(secrets.randbits(63))

    def __copy__(self) -> Self:
        """Return a twin that knows as much and shares nothing; its decisions have ids of their own."""
        return self.from_dict(self.to_dict(), self.policy, clock=self._clock)

    def __deepcopy__(self, memo: Any) -> Self:
        """Return a twin, as `copy` does."""
        return self.__copy__()

    def __reduce__(self) -> Any:
        """Refuse: several processes with the same agent would be replicas that never hear of each other."""
        raise TypeError(
            f"{type(self).__name__} cannot be pickled: processes do not share an agent; to_dict() says all that makes "
            "one, and from_dict() makes another of it"
        )

    def _warn_of_endless_warm_up(self) -> None:
        """Warn whoever makes an agent, from its constructor, if its horizon is all warm-up."""
        if self.horizon is not None and hasattr(self.policy, "warm_up_rounds"):
            n_rounds = self.policy.warm_up_rounds(*self._desk.sizes, self.horizon)
            warn_if_endless(self.policy.label, n_rounds, self.horizon, stacklevel=4)

    @property
    def pending(self) -> dict[DecisionId, Chosen]:
        """Return the decisions whose reward, or clicks, have not been told: id and arm, or items."""
        with self._lock:
            return {decision_id: chosen for decision_id, (chosen, _, _) in self._ledger.waiting.items()}

    def _now(self) -> float:
        """Return the time; decisions are never of the future, even if the clock goes backwards."""
        now = self._clock()
        if now < self._latest:
            self._turn_back(now)
        self._latest = now
        return now

    def _turn_back(self, now: float) -> None:
        """Let no decision be of the future: the clock went backwards."""
        if self._ledger.turn_back(now) and self._journal is not None:
            self._journal([TURN_BACK, now])

    def _note_prepared(self) -> None:
        """Tell the journal that the policy has prepared a decision, and what it had room for."""
        if self._journal is not None:
            sizes = [] if self._desk.n_features is None else [self._desk.n_arms, self._desk.n_features]
            self._journal([PREPARE, *sizes])

    # Decisions that wait too long ---------------------------------------------------------------------------------

    @abstractmethod
    def _learn(self, choice: Choice, lesson: Any, now: float) -> None:
        """Learn what came of a choice, and count it."""

    @abstractmethod
    def _lesson(self, default_reward: float) -> Any:
        """Return what is learned of a decision that nothing was told of."""

    def _close(self, decision_id: DecisionId) -> None:
        """Drop a decision that waits."""
        self._ledger.close(decision_id)
        if self._journal is not None:
            self._journal([FORGET, decision_id])

    def _count_late(self, decision_id: DecisionId, now: float, told: Any) -> None:
        """Count what came after the end of a decision's window."""
        self._ledger.count_late(decision_id)
        if self._journal is not None:
            self._journal([LATE, decision_id, now, shortened(told)])

    def expire(self, older_than: float, reward: Reward | EllipsisType | None = ...) -> int:
        """End all decisions that have waited for so many seconds or more, and return how many these were.

        Each is learned from with this `reward`; with None it is dropped, and nothing learned. What is not said is what
        the agent was made with, `default_reward`. Rewards that come later are counted and not learned.

        "No click" is a reward of 0 and no reason to drop a decision: dropped ones teach nothing, so a policy that hears
        of clicks alone takes every option for a good one.
        """
        check_number("older_than", older_than, at_least=0)
        given = self.settings.default_reward if isinstance(reward, EllipsisType) else reward
        with self._lock:
            now = self._now()
            return self._expire(self._ledger.older_than(now - older_than), self._checked_default(given), now)

    @abstractmethod
    def _checked_default(self, reward: Reward | None) -> float | None:
        """Return the reward of decisions that nothing was told of, or raise a BadReward."""

    def _expire(self, decision_ids: Sequence[DecisionId], reward: float | None, now: float) -> int:
        for decision_id in decision_ids:
            if reward is not None:
                self._learn(self._ledger.waiting[decision_id][1], self._lesson(reward), now)
            self._ledger.expire(decision_id)
        if self._journal is not None and decision_ids:
            self._journal([EXPIRE, now, reward, list(decision_ids)])
        return len(decision_ids)

    def _end_what_is_due(self, now: float) -> None:
        """End decisions whose window is over."""
        if self.settings.window is not None:
            due = self._ledger.older_than(now - self.settings.window)
            if due:
                self._expire(due, self.settings.default_reward, now)

    def _end_what_is_too_much(self, now: float) -> None:
        """End the oldest decisions if there are too many."""
        settings, waiting = self.settings, self._ledger.waiting
        if settings.max_open is not None and len(waiting) > settings.max_open:
            oldest = list(islice(waiting, len(waiting) - settings.max_open))
            self._expire(oldest, settings.default_reward, now)

    def _warn_of_many(self) -> None:
        """Warn, once, that more decisions wait than anyone is likely to tell of."""
        self._has_warned = True
        warnings.warn(
            f"{len(self._ledger.waiting):,} decisions wait for their rewards, and each takes memory: tell them, "
            "expire(...) old ones, or make the agent with a window or max_open",
            stacklevel=3,
        )

    # Options that come and go -------------------------------------------------------------------------------------

    def _on_offer(self) -> list[Any]:
        with self._lock:
            return list(self._options.on_offer)

    def _named(self, what: str) -> Named:
        """Return the options if they can be added or retired, or say why not."""
        if isinstance(self._options, Unnamed):
            raise BadInput(f"arms cannot be {what}: this agent was made without arms, so its options are rows")
        return self._options

    def _add(self, option: Hashable) -> None:
        """Put a new option on offer, or a retired one back."""
        option = plain_option(self._options.noun, option)
        with self._lock:
            options = self._named("added")
            if self._journal is not None:
                arm_to_json(option)  # what cannot be written down is refused before anything changes
            if not options.knows(option):
                self._desk.make_room(len(options.names) + 1, self._desk.capacity)
                options.add(option)
                self._ledger.traffic.make_room(len(options.names))
                self._control.make_room(len(options.names))
            elif (index := options.index_of(option)) in options.retired:
                options.retire(options.retired - {index})
            else:
                raise BadInput(f"{options.noun} {shortened(option)} is on offer already")
            if self._journal is not None:
                self._journal([ADD, arm_to_json(option)])

    def _retire(self, option: Hashable) -> None:
        """Take an option off offer."""
        with self._lock:
            options = self._named("retired")
            index, noun = options.index_of(option), options.noun
            if index in options.retired:
                raise BadInput(f"{noun} {shortened(option)} is retired already")
            if len(options.on_offer) == self._n_needed:
                raise BadInput(
                    f"{noun} {shortened(option)} cannot be retired: {self._n_needed} {noun}s are on offer, and as many "
                    f"positions to fill; add another with add_{noun} first"
                )
            options.retire(options.retired | {index})
            if self._journal is not None:
                self._journal([RETIRE, arm_to_json(options.names[index])])

    # What happened, again -----------------------------------------------------------------------------------------

    @abstractmethod
    def _choose(self, *given: Any) -> Choice:
        """Choose, from what `ask` was given."""

    @abstractmethod
    def _recorded(self, chosen: Any, chances: Any, *given: Any) -> Choice:
        """Return a choice that another policy made, as a journal has it."""

    @abstractmethod
    def _check_lesson(self, lesson: Any) -> None:
        """Raise BadReward if the policy cannot learn from what a journal tells."""

    @abstractmethod
    def _chosen_by_others(self, chosen: Any, *given: Any) -> Choice:
        """Return a choice that `observe` was told of, as a journal has it."""

    @staticmethod
    @abstractmethod
    def _from_journal(chosen: Any) -> Any:
        """Return what was chosen, as users call it, from what a journal says."""

    def _described(self, **learnt: int) -> str:
        """Return what `repr` says: the policy, the options, and how much was learnt."""
        options = {} if self._options.names is None else {self._listed_as: self._on_offer()}
        facts = [f"{name}={value!r}" for name, value in {**options, **learnt}.items()]
        return f"{type(self).__name__}({', '.join([self.policy.label, *facts])})"
