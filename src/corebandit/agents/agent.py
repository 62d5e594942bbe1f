"""One decision at a time: ask, tell, observe, save, load."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, ClassVar, Self, Unpack, overload

from corebandit.agents.arm_desk import ArmDesk
from corebandit.agents.batches import BatchAgent
from corebandit.agents.codec import arm_to_json, array_to_json
from corebandit.agents.context_agent import Choice
from corebandit.agents.contexts import Context
from corebandit.agents.control import is_of_all
from corebandit.agents.decision import Arm, Decision, made_of
from corebandit.agents.events import OBSERVE, TELL, as_given, asked
from corebandit.agents.feature_desk import FeatureDesk
from corebandit.agents.ids import DecisionId
from corebandit.agents.noticing import notice
from corebandit.agents.options import Named, Unnamed
from corebandit.agents.rewards import Reward, checked_reward, without_decimals
from corebandit.agents.settings import FEATURE_LIMIT, MANY_OPEN, Clock, Options, Settings
from corebandit.agents.traffic import PATIENCE
from corebandit.contracts.errors import BadInput, TooLate, demand
from corebandit.contracts.recipe import LARGEST_REWARD, AnyPolicy, FeaturePolicy, Policy, RankingPolicy
from corebandit.contracts.validate import shortened


class Agent(BatchAgent[Arm]):
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
    holdout
        The share of decisions that are made uniformly among all arms on offer, whatever the policy and limits of
        traffic say: `gain()` compares with them. Their probabilities are known, and the policy learns from them too.
    feature_limit
        Features of more than so many times the largest ones seen in their column are refused, once 100 decisions were
        made: one row of a wrong unit would ruin a linear model. None: anything finite is taken.
    refit_later
        Whether an estimator is fitted again beside the decisions: until it is done the old one answers, asked without
        the columns that came since, and no `ask` waits for a fit but the first, also after loading. If a fit fails, the
        next waits for as many new rewards as ever. For `EstimatorCORe`.
    context
        Which fields describe users and arms. Then `ask` is given dictionaries of numbers and words: the user's fields,
        and in `arms` those of each arm. Words that were never seen become columns of their own.
    clock
        Returns the time in seconds; `time.time` unless you say otherwise.

    Several threads may share an agent. Load files only from people you trust.

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

    In numbers and words:

    >>> from corebandit import Context
    >>> agent = Agent(LinCORe(), arms=["gift", "news"], context=Context(user=["age", "country"], arm=["price"]))
    >>> decision = agent.ask({"age": 34, "country": "de"}, arms={"gift": {"price": 9.5}, "news": {"price": 0}})
    >>> agent.tell(decision, reward=1.0)
    """

    _kind: ClassVar[str] = "agent"
    _listed_as: ClassVar[str] = "arms"
    _chooses_one = True

    @overload
    def __init__(self: "Agent[int]", policy: AnyPolicy, arms: None = None, **options: Unpack[Options]) -> None: ...
    @overload
    def __init__(self, policy: AnyPolicy, arms: Iterable[Arm] | None, **options: Unpack[Options]) -> None: ...
    def __init__(
        self,
        policy: AnyPolicy,
        arms: Iterable[Arm] | None = None,
        *,
        seed: int | None = None,
        horizon: int | None = None,
        window: float | None = None,
        default_reward: Reward | None = None,
        max_open: int | None = None,
        patience: int = PATIENCE,
        max_share: float = 1.0,
        propensity_draws: int | None = None,
        min_propensity: float = 0.0,
        holdout: float = 0.0,
        feature_limit: float | None = FEATURE_LIMIT,
        refit_later: bool = False,
        context: Context | None = None,
        clock: Clock | None = None,
    ) -> None:
        default = without_decimals(default_reward)
        settings = Settings(
            *(window, default, max_open, patience, max_share, propensity_draws, min_propensity, holdout),
            *(feature_limit, refit_later),
        )
        super().__init__(policy, seed, horizon, settings, clock)
        self._low, self._high = policy.reward_range
        self._options = Unnamed() if arms is None else Named(arms)
        own = self.horizon, self.seed, propensity_draws, min_propensity
        if isinstance(policy, FeaturePolicy):
            self._desk = FeatureDesk(policy, self._options, *own, settings.feature_limit)
        elif isinstance(policy, Policy) and isinstance(self._options, Named):
            self._desk = ArmDesk(policy, self._options, *own)
        else:
            raise BadInput(f"arms must be given: {policy.label} knows its options by their names, not by features")
        self._speak_of(context)
        if settings.refit_later:
            self._refit_later()
        self._checked_default(default)
        self._keep_books("decision", "a reward is", lambda arm: f"chose {shortened(arm)}")
        self._warn_of_endless_warm_up()

    @staticmethod
    def _check_policy(policy: Any) -> None:
        if not isinstance(policy, Policy | FeaturePolicy):
            hint = "; it ranks, so say RankingAgent, or open_ranking_agent" if isinstance(policy, RankingPolicy) else ""
            raise BadInput(f"policy must be a recipe such as CORe() or LinCORe(), not {shortened(policy)}{hint}")

    @classmethod
    def _made_from(cls, content: dict[str, Any], policy: AnyPolicy, names: list[Any] | None) -> Self:
        settings, saved = asdict(Settings.from_json(content["settings"])), content.get("context")
        agent = cls._made_anew(content, policy, names, {**settings, "horizon": content["horizon"]})
        if agent._encoder is not None and saved is not None:
            agent._encoder.restore(saved)
            n_features = content["n_features"]
            demand(n_features in (None, len(agent._encoder)), f"columns must be {n_features}, as many as features")
        return agent

    @classmethod
    def _made_anew(
        cls, content: dict[str, Any], policy: AnyPolicy, names: list[Any] | None, options: dict[str, Any]
    ) -> Self:
        saved = content.get("context")
        context = None if saved is None else Context.described_by(saved)
        return cls(policy, names, context=context, **{"seed": content["seed"], **options})

    def _content(self) -> dict[str, Any]:
        with self._lock:
            columns = {} if self._encoder is None else {"context": self._encoder.content()}
            refits = {} if self._refits is None else self._refits.content()
            return {**super()._content(), **columns, **refits}

    def _chosen(self, choice: Choice) -> Arm:
        arm: Arm = self._options.name(choice[0])
        return arm

    # Deciding and learning ----------------------------------------------------------------------------------------

    @property
    def arms(self) -> list[Arm]:
        """Return the arms on offer; none if the options have no names."""
        return self._on_offer()

    @property
    def n_observations(self) -> int:
        """Return how many rewards were learnt."""
        return int(self._desk.n_observations)

    _n_learnt = n_observations

    def ask(self, features: Any = None, *, arms: Iterable[Arm] | None = None) -> Decision[Arm]:
        """Choose an arm, among all or among `arms`.

        A policy that chooses by features takes them as an array `(rows, d)`, or a list, with one row for each arm on
        offer, in the order of `agent.arms`, or in that of `arms`; as a mapping from arms to rows; or as a data frame
        whose index, or whose column "arm", names the arms. With a `context` it takes the fields of the user, and in
        `arms` a mapping from arms to their fields.

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
            if self._encoder is not None:
                tables, arms = self._in_columns([features], arms)
                features = tables[0]
            if journal is not None:
                features, arms = as_given(features, arms, self._options)
            choice = self._desk.choose(features, arms, ledger.traffic, self._by_lot)
            arm = self._options.name(choice[0])
            decision_id = ledger.enter(arm, choice, now)
            is_plain = choice[2] is None
            decision = made_of((arm, decision_id, None, False)) if is_plain else self._receipt(decision_id, choice)
            if journal is not None:
                journal(asked(decision, now, features, arms))
            if self._refits is not None:
                self._refits.step(journal)
            if self._ends_decisions:
                self._end_what_is_too_much(now)
            return decision

    def recall(self, decision_id: DecisionId) -> Decision[Arm]:
        """Return the decision that waits under an id, as `ask` returned it, propensities and all."""
        with self._lock:
            return self._receipt(decision_id, self._ledger.find(decision_id))

    def _receipt(self, decision_id: DecisionId, choice: Choice) -> Decision[Arm]:
        index, _, known, is_held_out = choice
        name = self._options.name
        named = None if known is None else {name(option): chance for option, chance in known.items()}
        return Decision(name(index), decision_id, named, bool(is_held_out))

    def tell(self, decision: Decision[Arm] | DecisionId, reward: Reward) -> None:
        """Report the reward of a decision (or of its id), at any delay and in any order, once."""
        with self._lock:
            now = self._clock()
            if now < self._latest:
                self._turn_back(now)
            self._latest = now
            if self._ends_decisions:
                self._end_what_is_due(now)
            decision_id: DecisionId
            try:
                if isinstance(decision, Decision):
                    decision_id = decision.id
                    choice = self._ledger.find(decision_id, decision, decision.arm)
                else:
                    decision_id = decision
                    choice = self._ledger.find(decision_id)
            except TooLate:
                self._count_late(decision_id, now, reward)
                raise
            checked = self._checked(reward)
            self._learn(choice, checked, now)
            self._ledger.close(decision_id)
            if self._journal is not None:
                self._journal([TELL, decision_id, now, checked])
            if self._is_watched:
                notice(self._options, self._ledger.traffic, choice[0], checked)

    def observe(self, arm: Arm, reward: Reward, x: Any = None) -> None:
        """Learn from a choice that someone else made; `x` `(d,)` are its features, if the policy chooses by them."""
        with self._lock:
            now, index, checked = self._now(), self._options.index_of(arm), self._checked(reward)
            row = self._desk.row(index, x if self._encoder is None else self._rows_in_columns([arm], [x])[0])
            self._learn((index, row, None, None), checked, now)
            if self._journal is not None:
                given = [] if row is None else [array_to_json(row)]
                self._journal([OBSERVE, now, arm_to_json(self._options.name(index)), checked, *given])
            if self._is_watched:
                notice(self._options, self._ledger.traffic, index, checked)

    def forget(self, decision: Decision[Arm] | DecisionId) -> None:
        """Drop a decision that was not carried out. One that was and paid nothing has a reward: tell(decision, 0)."""
        with self._lock:
            decision_id = decision.id if isinstance(decision, Decision) else decision
            self._found(decision, decision_id)
            self._close(decision_id)

    def _learn(self, choice: Choice, lesson: float, now: float) -> None:
        index, row, _, is_held_out = choice
        self._desk.learn(index, row, lesson)
        if self._options.names is not None:
            self._ledger.traffic.hear(index, lesson, now)
        if is_held_out is not None:
            compares = is_held_out and is_of_all(choice, self._options)
            self._control.hear(is_held_out, lesson, [(index, lesson)] if compares else ())

    def _lesson(self, default_reward: float) -> float:
        return default_reward

    def _choose(self, features: Any = None, arms: Any = None) -> Choice:
        choice: Choice = self._desk.choose(features, arms, self._ledger.traffic, self._by_lot)
        return choice

    def _check_lesson(self, lesson: float) -> None:
        self._checked(lesson)

    def _checked_default(self, reward: Reward | None) -> float | None:
        return None if reward is None else self._checked(reward)

    def _checked(self, reward: Reward) -> float:
        if type(reward) is float and self._low <= reward <= self._high and -LARGEST_REWARD <= reward <= LARGEST_REWARD:
            return reward  # as most are
        return checked_reward(reward, self._low, self._high, self.policy.label)

    # Arms that come and go ----------------------------------------------------------------------------------------

    def add_arm(self, arm: Arm) -> None:
        """Put a new arm on offer, or a retired one back with what was learnt about it."""
        self._add(arm)

    def retire_arm(self, arm: Arm) -> None:
        """Take an arm off offer; rewards of decisions already made can still be told."""
        self._retire(arm)

    def __repr__(self) -> str:
        return self._described(n_observations=self.n_observations)
