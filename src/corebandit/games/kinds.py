"""Which game a policy plays on a problem: the loop, the streams of a run, and the room it needs."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.recipe import AnyPolicy, offers_features, shows_rankings
from corebandit.games.arm_game import play_arms
from corebandit.games.feature_game import play_features
from corebandit.games.ranking_game import play_rankings
from corebandit.randomness.stream import stream, streams

NO_ROUNDS = np.zeros(1, np.int64)


def n_observations(problem: Any, horizon: int) -> int:
    """Return how many rewards a state must have room for."""
    return int(horizon * problem.n_positions) if shows_rankings(problem) else horizon


def game_on(problem: Any, identity: tuple[int, str, int]) -> tuple[EntryPoint, tuple[Any, ...]]:
    """Return the loop that plays the problem, and what it needs: the streams of this run, and room."""
    rng = stream(*identity, "policy")
    if shows_rankings(problem):
        chance, ranking = np.empty((2, problem.n_items)), np.zeros(problem.n_positions, np.int64)
        return play_rankings, (rng, stream(*identity, "users"), chance, ranking)
    rewards = streams(problem.n_arms, *identity, "rewards")
    if offers_features(problem):
        contexts, features = stream(*identity, "contexts"), np.empty((problem.n_arms, problem.n_features))
        return play_features, (rng, contexts, rewards, features)
    return play_arms, (rng, rewards)


def game_of_no_rounds(problem: Any, policy: AnyPolicy, horizon: int) -> tuple[EntryPoint, tuple[Any, ...]]:
    """Return the loop for a policy on a drawn problem and arguments to play no round: calling it only compiles."""
    state = policy.start_on(problem, horizon, 2)
    entry, streams_and_room = game_on(problem, (0, "", 0))
    return entry, (state, problem, *streams_and_room, NO_ROUNDS, False, np.zeros(1))
