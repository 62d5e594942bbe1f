"""Games: each kind of problem is told apart in one place, and changing ones are told the round."""

from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.kinds import ARMS, FEATURES, GAMES, RANKINGS, game_of
from corebandit.randomness.stream import stream

KINDS = {
    cb.BernoulliBandit(): (ARMS, cb.UCB1()),
    cb.LinearBandit(n_arms=5, n_features=3): (FEATURES, cb.LinTS()),
    cb.YandexLike(query=0): (RANKINGS, cb.Ranked(cb.UCB1())),
}


class Seesaw(NamedTuple):
    """Two arms that take turns at being the better one, for so many rounds each."""

    means: FloatArray  # (2,)
    period: int
    seen: IntArray  # (1,) the last round that it was told

    @property
    def n_arms(self) -> int:
        return self.means.size

    def begin_round(self, current_round):
        self.seen[0] = current_round
        if current_round > 1 and (current_round - 1) % self.period == 0:
            self.means[0], self.means[1] = self.means[1], self.means[0]
            return True
        return False

    def pull(self, arm, rng):
        return self.means[arm]

    def mean(self, arm):
        return self.means[arm]

    def best_mean(self):
        return self.means.max()


class Stubborn(NamedTuple):
    """Always the first arm."""

    counts: FloatArray

    def score(self, rng, scores):
        scores[0], scores[1] = 1.0, 0.0

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0


def test_every_problem_is_of_one_kind():
    for problem, (game, policy) in KINDS.items():
        assert game_of(problem.draw(stream(0))) is game
        for other in GAMES:
            assert (other.refusal(policy, problem) == "") == (other is game)


def test_a_game_says_what_it_needs_and_how_much_room():
    for problem, (game, policy) in KINDS.items():
        instance = problem.draw(stream(0))
        n_observations = game.n_observations(instance, 20)
        assert n_observations == 20 * getattr(instance, "n_positions", 1)
        state, regret = policy.start_on(instance, 20, n_observations), np.zeros(2)
        needs, notes = game.needs(instance, (1, "", 1)), game.notes(instance, 2)
        game.loop.compiled(state, instance, *needs, np.array([10, 20]), 20, False, regret, notes)
        assert 0.0 <= regret[0] <= regret[1]
        assert regret[1] > 0.0


@pytest.mark.parametrize("is_compiled", [True, False])
def test_the_round_reaches_a_problem_that_asks_for_it(is_compiled):
    problem = Seesaw(np.array([1.0, 0.0]), 10, np.zeros(1, np.int64))
    rounds, regret = np.arange(1, 41), np.zeros(40)
    play = ARMS.loop.prepared(compiled=is_compiled)
    play(
        Stubborn(np.zeros(2)),
        problem,
        *ARMS.needs(problem, (1, "", 1)),
        rounds,
        -1,
        False,
        regret,
        ARMS.notes(problem, 40),
    )
    # Whoever stays loses 1 in each round in which the other arm is the better one.
    assert regret.tolist() == [*[0] * 10, *range(1, 11), *[10] * 10, *range(11, 21)]
    assert problem.seen[0] == 40


class Fading(NamedTuple):
    """Two arms, of which the better one stays the better, but pays less from the fourth round on."""

    means: FloatArray  # (2,)

    @property
    def n_arms(self) -> int:
        return self.means.size

    def begin_round(self, current_round):
        if current_round == 4:
            self.means[0] = 0.5
        return current_round == 4

    def pull(self, arm, rng):
        return self.means[arm]

    def mean(self, arm):
        return self.means[arm]

    def best_mean(self):
        return self.means.max()


def test_regret_is_against_the_best_mean_of_its_own_round():
    problem, regret = Fading(np.array([1.0, 0.0])), np.zeros(6)
    needs, notes = ARMS.needs(problem, (1, "", 1)), ARMS.notes(problem, 6)
    ARMS.loop.in_python(Stubborn(np.zeros(2)), problem, *needs, np.arange(1, 7), 6, False, regret, notes)
    assert regret.tolist() == [0.0] * 6
    assert notes.best_rounds.tolist() == [1, 2, 3, 4, 5, 6]


class FeatureSeesaw(NamedTuple):
    """Rows that stay, and pay by turns: offered once, but their means change."""

    sign: FloatArray  # (1,)
    period: int

    @property
    def n_arms(self) -> int:
        return 2

    @property
    def n_features(self) -> int:
        return 2

    def begin_round(self, current_round):
        if current_round > 1 and (current_round - 1) % self.period == 0:
            self.sign[0] = -self.sign[0]
            return True
        return False

    def offer(self, current_round, rng, features):
        features[0, 0], features[0, 1], features[1, 0], features[1, 1] = 1.0, 0.0, 0.0, 1.0
        return current_round == 1

    def mean(self, arm, x):
        return 0.5 + 0.5 * self.sign[0] * (x[0] - x[1])

    def pull(self, arm, x, rng):
        return self.mean(arm, x)


class StubbornRow(NamedTuple):
    counts: FloatArray

    def score(self, features, rng, scores):
        scores[0], scores[1] = 1.0, 0.0

    def update(self, arm, x, reward, rng):
        self.counts[arm] += 1.0


class RankingSeesaw(NamedTuple):
    """Two items, of which one is shown; which of them is worth a click changes."""

    good: IntArray  # (1,)
    period: int

    @property
    def n_items(self) -> int:
        return 2

    @property
    def n_positions(self) -> int:
        return 1

    def begin_round(self, current_round):
        if current_round > 1 and (current_round - 1) % self.period == 0:
            self.good[0] = 1 - self.good[0]
            return True
        return False

    def draw_user(self, rng, chance):
        chance[:] = 0.0

    def click(self, ranking, chance, clicks):
        clicks[0] = 1 if ranking[0] == self.good[0] else 0

    def value(self, ranking):
        return 1.0 if ranking[0] == self.good[0] else 0.0

    def best_value(self):
        return 1.0 if self.good[0] == 0 else 3.0  # so that a best value of another round is seen


class StubbornRanker(NamedTuple):
    shown: FloatArray

    def rank(self, rng, ranking):
        ranking[0] = 0

    def learn(self, ranking, clicks, rng):
        self.shown[0] += 1.0


@pytest.mark.parametrize("is_compiled", [True, False])
def test_the_round_reaches_problems_of_every_kind(is_compiled):
    rounds, regret = np.arange(1, 41), np.zeros(40)
    rows = FeatureSeesaw(np.ones(1), 10)
    play = FEATURES.loop.prepared(compiled=is_compiled)
    play(
        StubbornRow(np.zeros(2)),
        rows,
        *FEATURES.needs(rows, (1, "", 1)),
        rounds,
        -1,
        False,
        regret,
        FEATURES.notes(rows, 40),
    )
    assert regret.tolist() == [*[0] * 10, *range(1, 11), *[10] * 10, *range(11, 21)]
    ranked = RankingSeesaw(np.zeros(1, np.int64), 10)
    play = RANKINGS.loop.prepared(compiled=is_compiled)
    play(
        StubbornRanker(np.zeros(1)),
        ranked,
        *RANKINGS.needs(ranked, (1, "", 1)),
        rounds,
        -1,
        False,
        regret,
        RANKINGS.notes(ranked, 40),
    )
    assert regret.tolist() == [*[0] * 10, *range(3, 33, 3), *[30] * 10, *range(33, 63, 3)]


def test_an_instance_that_changes_begins_anew_in_every_run_and_thread():
    problem = Seesaw(np.array([0.9, 0.1]), 50, np.zeros(1, np.int64))
    experiment = cb.Experiment(problem, [cb.UCB1(), cb.EpsilonGreedy()], horizon=325, runs=30)
    before = experiment.to_dict()
    frames = [cb.run(experiment, jobs=jobs).frame for jobs in (1, 3, 3)]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])
    assert experiment.to_dict() == before
    assert problem.means.tolist() == [0.9, 0.1]
