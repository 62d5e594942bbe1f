"""What policies that choose by features must keep to besides: rows come in any order and in any number."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from corebandit.agents.agent import Agent
from corebandit.agents.steps import select_row
from corebandit.checks.game_checks import N_ARMS, N_FEATURES, N_ROUNDS, FeatureGame, begin, require_no_nan, some_rows
from corebandit.checks.sentences import SEED, CheckFailed, require
from corebandit.contracts.state import arrays_of
from corebandit.parts.choose import best_arm
from corebandit.randomness.stream import Stream, stream

NUMBERS_OF_ROWS = (3, 1, 7, 2, 7, 4)


def check_rows_are_alike(game: FeatureGame) -> None:
    """Check that a row's place does not matter: shuffle the rows, and the choices are shuffled with them."""
    order = np.array([2, 0, 3, 1])
    n_draws = 1000
    final = some_rows(N_ARMS, -1)
    frequencies = []
    for places in (np.arange(N_ARMS), order):
        state, paying = game.state(N_ROUNDS), game.rewards.copy()
        contexts, features = stream(SEED, "contexts"), np.zeros((N_ARMS, N_FEATURES))
        learning, rng = stream(SEED, "learning"), stream(SEED, "choosing", str(places))
        for index in range(N_ROUNDS // 2):
            arm = index % N_ARMS
            game.problem.offer(index + 1, contexts, features)
            reward = game.problem.pull(arm, features[arm], Stream(paying[arm]))
            state.update(int(places[arm]), features[arm], reward, learning)
        offered, scores, counts = np.zeros_like(final), np.zeros(N_ARMS), np.zeros(N_ARMS)
        offered[places] = final
        select, seen = select_row.prepared(compiled=game.policy.runs_compiled), np.full((2, N_FEATURES), np.inf)
        begin(game, state, N_ROUNDS // 2, rng)
        for _ in range(n_draws):
            counts[select(state, rng, offered, scores, np.arange(N_ARMS), seen, 0.0)] += 1
        frequencies.append(counts[places] / n_draws)
    gap = float(np.abs(frequencies[0] - frequencies[1]).max())
    sentence = f"its choices depend on the order of the rows: frequencies differ by {gap:.2f}"
    require(gap < 0.15, game.policy.name, sentence)


def check_numbers_of_rows(game: FeatureGame) -> None:
    """Check that rows may be more and fewer from round to round, in plain Python."""
    policy = game.policy
    state, rng = policy.start(max(NUMBERS_OF_ROWS), N_FEATURES, game.horizon, 100), stream(SEED, "agent")
    for index in range(100):
        n_rows = NUMBERS_OF_ROWS[index % len(NUMBERS_OF_ROWS)]
        features, scores = some_rows(n_rows, index), np.full(n_rows, math.nan)
        try:
            begin(game, state, index, rng, max(NUMBERS_OF_ROWS))
            state.score(features, rng, scores)
            require_no_nan(policy.name, index, scores)
            arm = int(best_arm(scores, np.arange(n_rows), rng))
            state.update(arm, features[arm], game.problem.pull(0, some_x(game), stream(SEED, index)), rng)
        except (IndexError, ValueError) as error:
            sentence = f"offered {n_rows} rows where there are up to {max(NUMBERS_OF_ROWS)}, it fails: {error}"
            raise CheckFailed(f"{policy.name}: {sentence}") from error


def some_x(game: FeatureGame) -> Any:
    """Return features that the game's problem can pay for."""
    features = np.zeros((N_ARMS, N_FEATURES))
    game.problem.offer(1, stream(SEED, "contexts"), features)
    return features[0]


def check_growing_rows(game: FeatureGame) -> None:
    """Check that an agent offered more rows than ever before loses nothing, and chooses among them."""
    policy = game.policy
    agent = Agent(policy, seed=SEED, horizon=game.horizon)
    x = some_x(game)
    for index in range(60):
        n_rows = NUMBERS_OF_ROWS[index % 2]
        decision = agent.ask(some_rows(n_rows, index))
        agent.tell(decision, game.problem.pull(0, x, stream(SEED, index)))
    before = [array.copy() for array in arrays_of(agent._desk.state)]
    agent._desk.make_room(50, agent._desk.capacity)
    for old, new in zip(before, arrays_of(agent._desk.state), strict=True):
        kept = new[tuple(slice(length) for length in old.shape)]
        require(np.array_equal(kept, old), policy.name, "room for more rows changed what was learnt")
    chosen: list[Any] = [agent.ask(some_rows(50, index)).arm for index in range(100)]
    require(max(chosen) >= N_ARMS, policy.name, f"of 50 rows it never chose one after the first {N_ARMS}")


def check_refused_features(game: FeatureGame) -> None:
    """Check that bad features are refused and leave no trace."""
    agent = game.agent()
    game.ask(agent, 0)
    before = [array.copy() for array in arrays_of(agent._desk.state)] + [agent._desk.rng.words.copy()]
    good = some_rows(N_ARMS, 1)
    for bad in (np.full_like(good, math.nan), good * math.inf, good[:, :-1], good[:-1], good[0], None):
        try:
            agent.ask(bad)
        except ValueError:
            after = [*arrays_of(agent._desk.state), agent._desk.rng.words]
            require(all(map(np.array_equal, before, after)), game.policy.name, "refused features changed its state")
        else:
            raise CheckFailed(f"{game.policy.name}: the features {bad} were accepted")


FEATURE_CHECKS: tuple[Callable[[FeatureGame], None], ...] = (
    check_rows_are_alike,
    check_numbers_of_rows,
    check_growing_rows,
    check_refused_features,
)
