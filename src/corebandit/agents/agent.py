"""One decision at a time: ask, tell, observe, save, load."""

from collections.abc import Hashable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from corebandit.agents.arm_desk import ArmDesk
from corebandit.agents.codec import arm_from_json, arm_to_json, array_from_json, array_to_json
from corebandit.agents.decision import Decision
from corebandit.agents.events import OBSERVE, TELL, as_given, asked
from corebandit.agents.explanation import Explanation, explained
from corebandit.agents.feature_desk import FeatureDesk
from corebandit.agents.ids import DecisionId
from corebandit.agents.live_agent import LiveAgent
from corebandit.agents.options import Named, Unnamed
from corebandit.agents.propensities import Chances, chances
from corebandit.agents.rewards import checked_reward
from corebandit.agents.settings import MANY_OPEN, Clock, Settings
from corebandit.agents.traffic import PATIENCE
from corebandit.contracts.errors import BadInput, TooLate
from corebandit.contracts.recipe import LARGEST_REWARD, AnyPolicy, FeaturePolicy, Policy, RankingPolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, shortened

if TYPE_CHECKING:
    import polars as pl

Choice = tuple[int, FloatArray | None, Chances | None]  # the index of an option, its features, and propensities


class Agent(LiveAgent[Hashable, Choice]):
    """A policy that chooses among your options, one decision at a time.

    Parameters
    ----------
    policy
        A recipe: `CORe()` chooses among arms, `LinCORe()` by their features.
    arms
        The options: any hashables, all different. A policy that chooses by features can do without: its options are
        then the rows of features, as many as you like in every decision, and `decision.arm` is the index of a row.
    seed
        Where its randomness starts; the same seed and the same rewards give the same choices. Without one the operating
        system is asked, so that replicas of a program differ.
    horizon
        How many rewards to expect, if you know. Without it CORe runs in its anytime form.
    window
        Seconds after which a decision that nothing was told of ends by itself; None: never.
    default_reward
        What is then learned of it, such as 0 for "no click"; None: nothing, it is dropped.
    max_open
        How many decisions may wait; of more, the oldest end as if their window were over.
    patience
        An arm is *not heard of* once so many decisions for it in a row had no reward (or as many as it has had rewards,
        if those are fewer). It then gets at most an equal part of the decisions that wait: ceil(open / arms on offer).
        Raise it if rewards come in large batches.
    max_share
        The most that an arm may get of any 100 decisions in a row.
    propensity_draws
        Say how many to know the probability of every choice: each decision then draws so many vectors of scores, of
        which one, picked at random, decides. So the choice is the policy's as ever, and the share of the draws that an
        arm wins is its probability, exactly, given the draws: `decision.propensities`. None: the policy is asked once,
        and propensities are not known.
    min_propensity
        The least probability of every arm that may be chosen, at most 1 / (arms on offer). Above 0 it changes the
        policy: a share of the decisions is made uniformly. It is what estimates of other policies from a log need: an
        arm of probability 0 has no support there, and they are biased; the guide says how much, measured.
    clock
        Returns the time in seconds; `time.time` unless you say otherwise.

    Several threads may share an agent. Load files only from people you trust not to forge them.

    >>> from corebandit.policies import CORe, LinCORe
    >>> agent = Agent(CORe(), arms=["red", "green", "blue"], seed=7)
    >>> decision = agent.ask()
    >>> agent.tell(decision, reward=3.2)
    >>> agent.observe("green", 1.0)
    >>> agent.n_observations
    2

    By features, here of two items with a price and an age:

    >>> agent = Agent(LinCORe(), seed=7)
    >>> decision = agent.ask([[9.5, 1.0], [8.0, 3.0]])
    >>> agent.tell(decision, reward=3.2)
    """

    _kind: ClassVar[str] = "agent"
    _listed_as: ClassVar[str] = "arms"
    _chooses_one = True
    _desk: Any  # an ArmDesk or a FeatureDesk

    def __init__(
        self,
        policy: AnyPolicy,
        arms: Iterable[Hashable] | None = None,
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
        clock: Clock | None = None,
    ) -> None:
        settings = Settings(window, default_reward, max_open, patience, max_share, propensity_draws, min_propensity)
        super().__init__(policy, seed, horizon, settings, clock)
        self._low, self._high = policy.reward_range
        self._options = Unnamed() if arms is None else Named(arms)
        own = self.horizon, self.seed, propensity_draws, min_propensity
        if isinstance(policy, FeaturePolicy):
            self._desk = FeatureDesk(policy, self._options, *own)
        elif isinstance(policy, Policy) and isinstance(self._options, Named):
            self._desk = ArmDesk(policy, self._options, *own)
        else:
            raise BadInput(f"arms must be given: {policy.label} knows its options by their names, not by features")
        self._checked_default(default_reward)
        self._keep_books("decision", "a reward is", lambda arm: f"chose {shortened(arm)}")
        self._warn_of_endless_warm_up()

    @staticmethod
    def _check_policy(policy: Any) -> None:
        if not isinstance(policy, Policy | FeaturePolicy):
            hint = "; it ranks, so say RankingAgent, or open_ranking_agent" if isinstance(policy, RankingPolicy) else ""
            raise BadInput(f"policy must be a recipe such as CORe() or LinCORe(), not {shortened(policy)}{hint}")

    @classmethod
    def _made_from(cls, content: dict[str, Any], policy: AnyPolicy, names: list[Hashable] | None) -> Self:
        settings = asdict(Settings.from_json(content["settings"]))
        return cls(policy, names, seed=content["seed"], horizon=content["horizon"], **settings)

    def _chosen(self, choice: Choice) -> Hashable:
        return self._options.name(choice[0])

    # Deciding and learning ----------------------------------------------------------------------------------------

    @property
    def arms(self) -> list[Hashable]:
        """Return the arms on offer; none if the options have no names."""
        return self._on_offer()

    @property
    def n_observations(self) -> int:
        """Return how many rewards were learnt."""
        return int(self._desk.n_observations)

    _n_learnt = n_observations

    def ask(self, features: Any = None, *, arms: Iterable[Hashable] | None = None) -> Decision:
        """Choose an arm, among all or among `arms`.

        A policy that chooses by features takes them as an array `(rows, d)` (or a list, or a data frame) with one row
        for each arm on offer, in the order of `agent.arms`, or in that of `arms`; or as a mapping from arms to rows.

        >>> from corebandit.policies import LinCORe
        >>> agent = Agent(LinCORe(), arms=["red", "green", "blue"])
        >>> agent.ask([[1, 0], [0, 1]], arms=["blue", "red"]).arm in ("blue", "red")
        True
        >>> agent.ask({"green": [1, 1]}).arm
        'green'
        """
        with self._lock:
            now, ledger, journal = self._clock(), self._ledger, self._journal
            if now < self._latest:
                self._turn_back(now)
            self._latest = now
            if self._ends_decisions:
                self._end_what_is_due(now)
            if len(ledger.waiting) >= MANY_OPEN and not self._has_warned:
                self._warn_of_many()
            if journal is not None:
                features, arms = as_given(features, arms)
            choice = self._desk.choose(features, arms, ledger.traffic, self._by_lot)
            arm = self._options.name(choice[0])
            decision_id = ledger.enter(arm, choice, now)
            decision = Decision(arm, decision_id) if choice[2] is None else self._receipt(decision_id, choice)
            if journal is not None:
                journal(asked(decision, now, features, arms))
            if self._ends_decisions:
                self._end_what_is_too_much(now)
            return decision

    def recall(self, decision_id: DecisionId) -> Decision:
        """Return the decision that waits under an id, as `ask` returned it, propensities and all."""
        with self._lock:
            return self._receipt(decision_id, self._ledger.find(decision_id))

    def _receipt(self, decision_id: DecisionId, choice: Choice) -> Decision:
        index, _, known = choice
        name = self._options.name
        named = None if known is None else {name(option): chance for option, chance in known.items()}
        return Decision(name(index), decision_id, named)

    def tell(self, decision: Decision | DecisionId, reward: float) -> None:
        """Report the reward of a decision (or of its id), at any delay and in any order, once."""
        with self._lock:
            now = self._clock()
            if now < self._latest:
                self._turn_back(now)
            self._latest = now
            if self._ends_decisions:
                self._end_what_is_due(now)
            decision_id = decision.id if isinstance(decision, Decision) else decision
            try:
                choice = self._found(decision, decision_id)
            except TooLate:
                self._count_late(decision_id, now, reward)
                raise
            checked = self._checked(reward)
            self._learn(choice, checked, now)
            self._ledger.close(decision_id)
            if self._journal is not None:
                self._journal([TELL, decision_id, now, checked])

    def observe(self, arm: Hashable, reward: float, x: Any = None) -> None:
        """Learn from a choice that someone else made; `x` `(d,)` are its features, if the policy chooses by them."""
        with self._lock:
            now, index, checked = self._now(), self._options.index_of(arm), self._checked(reward)
            row = self._desk.row(index, x)
            self._learn((index, row, None), checked, now)
            if self._journal is not None:
                given = [] if row is None else [array_to_json(row)]
                self._journal([OBSERVE, now, arm_to_json(self._options.name(index)), checked, *given])

    def forget(self, decision: Decision | DecisionId) -> None:
        """Drop a decision that was not carried out. One that was and paid nothing has a reward: tell(decision, 0)."""
        with self._lock:
            decision_id = decision.id if isinstance(decision, Decision) else decision
            self._found(decision, decision_id)
            self._close(decision_id)

    def _found(self, decision: Decision | DecisionId, decision_id: DecisionId) -> Choice:
        if isinstance(decision, Decision):
            return self._ledger.find(decision_id, decision, decision.arm)
        return self._ledger.find(decision_id)

    def _learn(self, choice: Choice, lesson: float, now: float) -> None:
        index, row, _ = choice
        self._desk.learn(index, row, lesson)
        if self._options.names is not None:
            self._hear(index, lesson, now)

    def _lesson(self, default_reward: float) -> float:
        return default_reward

    def _choose(self, features: Any = None, arms: Any = None) -> Choice:
        choice: Choice = self._desk.choose(features, arms, self._ledger.traffic, self._by_lot)
        return choice

    def _chosen_by_others(self, chosen: Any, x: Any = None) -> Choice:
        index = self._options.index_of(arm_from_json(chosen))
        return index, self._desk.row(index, None if x is None else array_from_json(x)), None

    @staticmethod
    def _from_journal(chosen: Any) -> Hashable:
        return arm_from_json(chosen)

    def _checked_default(self, reward: float | None) -> float | None:
        return None if reward is None else self._checked(reward)

    def _checked(self, reward: float) -> float:
        if type(reward) is float and self._low <= reward <= self._high and -LARGEST_REWARD <= reward <= LARGEST_REWARD:
            return reward  # as most are
        return checked_reward(reward, self._low, self._high, self.policy.label)

    # Looking inside -----------------------------------------------------------------------------------------------

    def probabilities(
        self, features: Any = None, *, arms: Iterable[Hashable] | None = None, draws: int = 1_000
    ) -> dict[Hashable, float]:
        """Return how likely each arm on offer is to be chosen by the next `ask` with these arguments.

        The shares are of so many draws on a copy of what was learnt, with random numbers of their own: nothing changes,
        and whoever asks again before anything happens gets the same answer. An arm that may not be chosen now, as too
        many decisions for it wait, has 0. Decisions that the next `ask` will end first count as waiting still.

        >>> from corebandit.policies import UCB1
        >>> agent = Agent(UCB1(), arms=["red", "green", "blue"])
        >>> agent.observe("red", 1.0)
        >>> agent.observe("green", 0.0)
        >>> agent.probabilities()
        {'red': 0.0, 'green': 0.0, 'blue': 1.0}
        """
        n_draws = check_count("draws", draws)
        with self._lock:
            desk, rng = self._desk, self._spare_stream()
            look = desk.choose(features, arms, self._ledger.traffic, desk.look)
        shares = chances(desk.draw_on(look, rng, np.empty(n_draws, np.int64)), look.allowed, desk.floor)
        return {self._options.name(index): shares.get(index, 0.0) for index in look.offered.tolist()}

    def table(self, features: Any = None, *, draws: int = 1_000) -> "pl.DataFrame":
        """Return what is known of each arm, a row for each, as a data frame.

        Columns: `arm` (strings and whole numbers as they are, else the repr), `on_offer`, rewards `told`, decisions
        `open`, rewards that came too `late`, the `mean` of the rewards and its 95 % interval by the t distribution,
        `ci_low` to `ci_high` (from 2 rewards on), means `before` and `after` where rewards seem to have changed, the
        `probability` to be chosen next, and when it was `last_told`. A policy that chooses by features must be given
        them, as `ask` is, to know a probability.

        The interval takes rewards for independent. What a policy chose by its rewards is not quite: means of arms
        that were given up early are biased downwards.
        """
        if isinstance(self._options, Unnamed) or (features is None and isinstance(self.policy, FeaturePolicy)):
            return self._frame(None)
        likely = self.probabilities(features, draws=draws) if self.arms else {}
        return self._frame({self._options.index_of(arm): chance for arm, chance in likely.items()})

    def explain(self, decision: Decision | DecisionId, feature_names: Iterable[str] | None = None) -> Explanation:
        """Return what each feature of the row was worth that a decision chose, as the model has it now.

        For policies with a linear model and decisions that wait. What is told changes the weights, so ask before; a
        model of perturbed rewards (GLMCORe, GLMFPL, LogPHE) has those of its last draw.

        >>> from corebandit.policies import LinGreedy
        >>> agent = Agent(LinGreedy(), arms=["gift", "news"])
        >>> agent.observe("news", 1.0, x=[1.0, 0.0])
        >>> decision = agent.ask([[0.0, 1.0], [1.0, 0.5]])
        >>> agent.explain(decision, feature_names=["opened", "age"])
        what 'news' is worth: 0.5
          opened    1 x 0.5 = 0.5
          age     0.5 x   0 =   0
        """
        label = self.policy.label
        if not isinstance(self.policy, FeaturePolicy):
            raise BadInput(
                f"there is nothing to explain by features: {label} chooses without; table() shows what it saw"
            )
        with self._lock:
            decision_id = decision.id if isinstance(decision, Decision) else decision
            index, row, _ = self._found(decision, decision_id)
            assert row is not None
            return explained(label, self._options.name(index), row, self._desk.state, feature_names)

    # Arms that come and go ----------------------------------------------------------------------------------------

    def add_arm(self, arm: Hashable) -> None:
        """Put a new arm on offer, or a retired one back with what was learnt about it."""
        self._add(arm)

    def retire_arm(self, arm: Hashable) -> None:
        """Take an arm off offer; rewards of decisions already made can still be told."""
        self._retire(arm)

    def __repr__(self) -> str:
        return self._described(n_observations=self.n_observations)
