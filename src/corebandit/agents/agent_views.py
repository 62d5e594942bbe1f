"""What an agent shows of itself: probabilities of the next decision, a table of its arms, what features were worth."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from corebandit.agents.context_agent import Choice, ContextAgent
from corebandit.agents.decision import Arm, Decision
from corebandit.agents.explanation import Explanation, explained
from corebandit.agents.ids import DecisionId
from corebandit.agents.options import Unnamed
from corebandit.agents.propensities import chances, mixed_evenly
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.validate import check_count

if TYPE_CHECKING:
    import polars as pl


class AgentViews(ContextAgent[Arm]):
    """An agent that chooses one of its options, as one looks at it."""

    def _found(self, decision: Decision[Arm] | DecisionId, decision_id: DecisionId) -> Choice:
        if isinstance(decision, Decision):
            return self._ledger.find(decision_id, decision, decision.arm)
        return self._ledger.find(decision_id)

    def probabilities(
        self, features: Any = None, *, arms: Iterable[Arm] | None = None, draws: int = 1_000
    ) -> dict[Arm, float]:
        """Return how likely each arm on offer is to be chosen by the next `ask` with these arguments.

        The shares are of so many draws on a copy of what was learnt, with random numbers of their own: nothing changes,
        and whoever asks again before anything happens gets the same answer. An arm that may not be chosen now, as too
        many decisions for it wait, has 0. Decisions that the next `ask` will end first count as waiting still.

        >>> from corebandit import Agent, UCB1
        >>> agent = Agent(UCB1(), arms=["red", "green", "blue"])
        >>> agent.observe("red", 1.0)
        >>> agent.observe("green", 0.0)
        >>> agent.probabilities()
        {'red': 0.0, 'green': 0.0, 'blue': 1.0}
        """
        n_draws = check_count("draws", draws)
        with self._lock:
            desk, rng = self._desk, self._spare_stream()
            if self._encoder is not None:
                tables, arms = self._in_columns([features], arms, is_look=True)
                features = tables[0]
            look = desk.choose(features, arms, self._ledger.traffic, desk.look)
        shares = chances(desk.draw_on(look, rng, np.empty(n_draws, np.int64)), look.allowed, desk.floor)
        likely = mixed_evenly(shares, look.offered, self.settings.holdout)
        return {self._options.name(index): chance for index, chance in likely.items()}

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
        if isinstance(self._options, Unnamed) or (
            features is None and self._encoder is None and isinstance(self.policy, FeaturePolicy)
        ):
            return self._frame(None)
        likely = self.probabilities(features, draws=draws) if self._on_offer() else {}
        return self._frame({self._options.index_of(arm): chance for arm, chance in likely.items()})

    def explain(self, decision: Decision[Arm] | DecisionId, feature_names: Iterable[str] | None = None) -> Explanation:
        """Return what each feature of the row was worth that a decision chose, as the model has it now.

        For policies with a linear model and decisions that wait. What is told changes the weights, so ask before; a
        model of perturbed rewards (GLMCORe, GLMFPL, LogPHE) has those of its estimate, which follows from time to time.

        >>> from corebandit import Agent, LinGreedy
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
            index, row, _, _ = self._found(decision, decision_id)
            if self._encoder is not None and feature_names is None:
                feature_names = self._encoder.names()
            return explained(label, self._options.name(index), self._desk.widened(row), self._desk.state, feature_names)
