"""What policies are told of rounds in games: of arms, by features, and of rankings."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.games.kinds import game_of
from corebandit.parts.rounds import UNKNOWN, horizon_or_unknown, rounds_left
from corebandit.randomness.stream import stream

N_ROUNDS = 300


class ToldState(NamedTuple):
    told: np.ndarray  # (capacity, 3) decided, left, pending in all: a row for each round
    n_updates: np.ndarray

    def begin_round(self, decided, left, pending):
        row = self.told[decided]
        row[0], row[1], row[2] = decided, left, pending.sum()

    def score(self, rng, scores):
        scores[:] = 0.0

    def update(self, arm, reward, rng):
        self.n_updates[0] += 1


class ToldByFeaturesState(NamedTuple):
    told: np.ndarray
    n_updates: np.ndarray

    def begin_round(self, decided, left, pending):
        row = self.told[decided]
        row[0], row[1], row[2] = decided, left, pending.sum()

    def score(self, features, rng, scores):
        scores[:] = 0.0

    def update(self, arm, x, reward, rng):
        self.n_updates[0] += 1


@dataclass(frozen=True)
class Told(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return ToldState(np.full((capacity + 1, 3), -7), np.zeros(1, np.int64))


@dataclass(frozen=True)
class ToldByFeatures(cb.FeaturePolicy):
    def start(self, n_arms, n_features, horizon, capacity):
        return ToldByFeaturesState(np.full((capacity + 1, 3), -7), np.zeros(1, np.int64))


KINDS = {
    "arms": (Told(), cb.BernoulliBandit(3)),
    "features": (ToldByFeatures(), cb.ContextualBandit(3, 2)),
    "rankings": (cb.Ranked(Told(), observes="all"), cb.YandexLike(query=0)),
    "ranked bandits": (cb.RankedBandits(Told()), cb.YandexLike(query=0)),
}


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("horizon", [N_ROUNDS, 1000, None])
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_is_told_of_rounds_and_not_of_observations(kind, horizon, is_compiled):
    policy, problem = KINDS[kind]
    instance = problem.draw(stream(0))
    game = game_of(instance)
    state = policy.start_on(instance, horizon, game.n_observations(instance, N_ROUNDS))
    needs, notes = game.needs(instance, (1, "", 1)), game.notes(instance, 1)
    rounds, told = np.array([N_ROUNDS]), horizon_or_unknown(horizon)
    game.loop.prepared(compiled=is_compiled)(state, instance, *needs, rounds, told, False, np.zeros(1), notes)
    inner = state.bandits[-1] if kind == "ranked bandits" else getattr(state, "inner", state)
    assert inner.n_updates[0] == N_ROUNDS * (5 if kind == "rankings" else 1)
    assert inner.told[:N_ROUNDS, 0].tolist() == list(range(N_ROUNDS))
    left = [UNKNOWN] * N_ROUNDS if horizon is None else [horizon - decided for decided in range(N_ROUNDS)]
    assert inner.told[:N_ROUNDS, 1].tolist() == left
    assert set(inner.told[:N_ROUNDS, 2].tolist()) == {0}
    assert (inner.told[N_ROUNDS:] == -7).all()


def test_nobody_knows_how_many_rounds_are_left_past_the_horizon():
    assert [rounds_left(10, decided) for decided in (0, 9, 10, 11)] == [10, 1, UNKNOWN, UNKNOWN]
    assert rounds_left(UNKNOWN, 0) == UNKNOWN


class EagerState(NamedTuple):
    prepared: np.ndarray
    scored: np.ndarray
    learnt: np.ndarray

    def prepare(self, rng):
        self.prepared[0] += rng.random() >= 0.0
        return True

    def score(self, rng, scores):
        self.scored[0] += self.prepared[0] == self.learnt[0] + 1
        scores[:] = 0.0

    def update(self, arm, reward, rng):
        self.learnt[0] += 1


@dataclass(frozen=True)
class Eager(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return EagerState(*np.zeros((3, 1), np.int64))


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("wrapper", [cb.Ranked, cb.RankedBandits, None])
def test_a_state_prepares_once_before_each_score(wrapper, is_compiled):
    policy, problem = (wrapper(Eager()), cb.YandexLike(query=0)) if wrapper else (Eager(), cb.BernoulliBandit(3))
    instance = problem.draw(stream(0))
    game = game_of(instance)
    state = policy.start_on(instance, 40, game.n_observations(instance, 40))
    play, notes = game.loop.prepared(compiled=is_compiled), game.notes(instance, 1)
    play(state, instance, *game.needs(instance, (1, "", 1)), np.array([40]), 40, False, np.zeros(1), notes)
    for inner in getattr(state, "bandits", [getattr(state, "inner", state)]):
        assert inner.prepared.tolist() == [40]
    if wrapper is None:
        assert state.scored.tolist() == [40]


def test_an_experiment_may_leave_the_horizon_untold(tmp_path):
    plain, untold = (
        cb.Experiment(cb.LinearBandit(5, 2), {"it": cb.LinCORe()}, 400, 3, horizon_known=known)
        for known in (True, False)
    )
    assert cb.Experiment.from_dict(untold.to_dict()) == untold != plain
    assert "horizon_known" not in plain.describe()
    results = [cb.run(each, folder=tmp_path) for each in (plain, untold)]
    again = cb.run(untold, folder=tmp_path)
    assert not np.array_equal(results[0].regret("it"), results[1].regret("it"))
    assert np.array_equal(again.regret("it"), results[1].regret("it"))
    with pytest.raises(cb.BadInput, match="needs a horizon"):
        cb.Experiment(cb.BernoulliBandit(), [cb.UCBV()], horizon_known=False)
    with pytest.raises(cb.BadInput, match="horizon_known must be True or False, not 3"):
        cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon_known=3)
