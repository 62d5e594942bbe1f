"""Shared ways to give a policy a past and to ask it for scores."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.randomness.stream import stream

ScoresAfter = Callable[..., FloatArray]
DrawsAfter = Callable[..., FloatArray]


@pytest.fixture
def scores_after() -> ScoresAfter:
    """Return a function that shows a policy some (arm, reward) pairs and returns the scores it then gives."""

    def scores_after(
        policy: Policy, history: Sequence[tuple[int, float]], n_arms: int = 2, horizon: int | None = 100
    ) -> FloatArray:
        state, rng, scores = policy.start(n_arms, horizon, len(history)), stream(1, "scores"), np.empty(n_arms)
        for arm, reward in history:
            state.update(arm, reward, rng)
        state.score(rng, scores)
        return scores

    return scores_after


@pytest.fixture
def draws_after() -> DrawsAfter:
    """Return a function that gives many arms the same past, so that their scores are independent draws of one law."""

    def draws_after(policy: Policy, rewards: Sequence[float], n_draws: int = 4000) -> FloatArray:
        state, rng, draws = policy.start(n_draws, 100, n_draws * len(rewards)), stream(2, "draws"), np.empty(n_draws)
        for reward in rewards:
            for arm in range(n_draws):
                state.update(arm, reward, rng)
        state.score(rng, draws)
        return draws

    return draws_after
