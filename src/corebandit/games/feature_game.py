"""Choosing by features."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint, begin_round
from corebandit.contracts.recipe import AnyPolicy, FeaturePolicy, Problem, RankingPolicy, offers_features
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.game import Game, Identity, no_rankings
from corebandit.parts.choose import best_arm
from corebandit.randomness.bits import Words
from corebandit.randomness.stream import Stream, stream, streams


@EntryPoint
def play_features(
    state: Any,
    problem: Any,
    rng: Stream,
    contexts: Stream,
    rewards: Words,
    features: FloatArray,
    rounds: IntArray,
    realised: bool,
    regret: FloatArray,
) -> None:
    """Play `rounds[-1]` rounds of choosing by features and fill `regret` with the total up to each of `rounds`.

    Whatever is new in a round comes from the stream `contexts`, so every policy is offered the same. `features`
    `(n_arms, d)` is room for what is offered.
    """
    n_arms = features.shape[0]
    scores, offered = np.empty(n_arms), np.arange(n_arms)
    means, best_mean = np.empty(n_arms), 0.0
    total, checkpoint = 0.0, 0
    for current_round in range(1, rounds[-1] + 1):
        is_changed = begin_round(problem, current_round)
        if problem.offer(current_round, contexts, features) or is_changed:
            for arm in range(n_arms):
                means[arm] = problem.mean(arm, features[arm])
            best_mean = means.max()
        state.score(features, rng, scores)
        arm = best_arm(scores, offered, rng)
        reward = problem.pull(arm, features[arm], Stream(rewards[arm]))
        state.update(arm, features[arm], reward, rng)
        total += best_mean - (reward if realised else means[arm])
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            checkpoint += 1


class FeatureGame(Game):
    """A problem that offers features to choose by."""

    loop = play_features

    def suits(self, instance: Any) -> bool:
        """Tell whether an instance offers features."""
        return offers_features(instance)

    def refusal(self, policy: AnyPolicy, problem: Problem) -> str:
        """Say why a policy cannot play, or nothing."""
        if isinstance(policy, FeaturePolicy):
            return ""
        if isinstance(policy, RankingPolicy):
            return no_rankings(policy, problem)
        return (
            f"{policy.label} takes no features, but {problem.label} offers them: choose a policy that does, such as "
            "LinCORe"
        )

    def needs(self, instance: Any, identity: Identity) -> tuple[Any, ...]:
        """Return the streams of the policy, the contexts and each arm, and room for features."""
        rng, contexts = stream(*identity, "policy"), stream(*identity, "contexts")
        rewards = streams(instance.n_arms, *identity, "rewards")
        return rng, contexts, rewards, np.empty((instance.n_arms, instance.n_features))

    def sizes(self, instance: Any) -> tuple[int, ...]:
        """Return the number of features."""
        return (instance.n_features,)
