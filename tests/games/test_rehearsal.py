"""Mistakes people make in policies and problems of their own: each is told in a sentence, and nothing is reported."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

import corebandit as cb
from corebandit.catalogue import policy_from, problem_from
from corebandit.cli import app
from corebandit.games.rehearsal import rehearse
from corebandit.randomness.stream import Stream

MISTAKES = """
from dataclasses import dataclass, field
from typing import NamedTuple
import numpy as np
import scipy.stats
import corebandit as cb

class Good(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        scores[:] = -self.counts
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0

class OutState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        scores[:] = -self.counts
    def update(self, arm, reward, rng):
        self.counts[5000] += 1.0
@dataclass(frozen=True)
class Out(cb.Policy):
    def start(self, n_arms, horizon, capacity): return OutState(np.zeros(n_arms))

class BeyondState(NamedTuple):
    seen: np.ndarray
    n: np.ndarray
    def score(self, rng, scores):
        scores[:] = 0.0
    def update(self, arm, reward, rng):
        self.seen[self.n[0]] = reward
        self.n[0] += 1
@dataclass(frozen=True)
class Beyond(cb.Policy):
    def start(self, n_arms, horizon, capacity): return BeyondState(np.zeros(600), np.zeros(1, np.int64))

class ShapeState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        scores[:] = self.counts[:3]
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Shape(cb.Policy):
    def start(self, n_arms, horizon, capacity): return ShapeState(np.zeros(n_arms))

class LateState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        scores[:] = -self.counts
        if self.counts.sum() >= 1000:
            scores[2] = np.nan
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Late(cb.Policy):
    def start(self, n_arms, horizon, capacity): return LateState(np.zeros(n_arms))

class GlobalState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        scores[:] = np.random.random(scores.size)
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Global(cb.Policy):
    def start(self, n_arms, horizon, capacity): return GlobalState(np.zeros(n_arms))

class ListState(NamedTuple):
    counts: list
    def score(self, rng, scores):
        for arm in range(scores.size): scores[arm] = -self.counts[arm]
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class List(cb.Policy):
    def start(self, n_arms, horizon, capacity): return ListState([0.0] * n_arms)

class KeywordState(NamedTuple):
    counts: np.ndarray
    def score(self, *, rng, scores):
        scores[:] = -self.counts
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Keyword(cb.Policy):
    def start(self, n_arms, horizon, capacity): return KeywordState(np.zeros(n_arms))

class ScipyState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = scipy.stats.norm.ppf(rng.random()) - self.counts[arm]
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Scipy(cb.Policy):
    def start(self, n_arms, horizon, capacity): return ScipyState(np.zeros(n_arms))

@dataclass(frozen=True)
class Signature(cb.Policy):
    def start(self, arms): return Good(np.zeros(arms))

class ForgetsState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        scores[0] = 1.0
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Forgets(cb.Policy):
    def start(self, n_arms, horizon, capacity): return ForgetsState(np.zeros(n_arms))

class MutState(NamedTuple):
    counts: np.ndarray
    weights: np.ndarray
    def score(self, rng, scores):
        scores[:] = -self.counts
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
        self.weights[0] += 1.0
@dataclass(frozen=True)
class Mutates(cb.Policy):
    weights: object = None
    def start(self, n_arms, horizon, capacity):
        if self.weights is None: object.__setattr__(self, "weights", [1.0])
        self.weights.append(2.0)
        return MutState(np.zeros(n_arms), np.array(self.weights))


@dataclass(frozen=True)
class MutatesArray(cb.Policy):
    weights: np.ndarray = field(default_factory=lambda: np.ones(3))
    def start(self, n_arms, horizon, capacity): return MutState(np.zeros(n_arms), self.weights)

@dataclass(frozen=True)
class Unstarted(cb.Policy):
    pass

class Changing(NamedTuple):
    means: np.ndarray
    @property
    def n_arms(self): return self.means.size
    def pull(self, arm, rng):
        self.means[arm] *= 0.999
        return self.means[arm]
    def mean(self, arm): return self.means[arm]
    def best_mean(self): return self.means.max()
@dataclass(frozen=True)
class Drift(cb.Problem):
    def draw(self, rng): return Changing(np.array([0.2, 0.5, 0.8]))

class ImportState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        import math as other
        scores[:] = -self.counts
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Import(cb.Policy):
    def start(self, n_arms, horizon, capacity): return ImportState(np.zeros(n_arms))

def bonus(count): return -count

class HelpState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = bonus(self.counts[arm])
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Help(cb.Policy):
    def start(self, n_arms, horizon, capacity): return HelpState(np.zeros(n_arms))

class DeleteState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        some = [1, 2]
        del some[0]
        scores[:] = -self.counts
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Delete(cb.Policy):
    def start(self, n_arms, horizon, capacity): return DeleteState(np.zeros(n_arms))

class PaysNaN(NamedTuple):
    means: np.ndarray
    @property
    def n_arms(self): return self.means.size
    def pull(self, arm, rng): return np.nan if rng.random() < 0.5 else 1.0
    def mean(self, arm): return self.means[arm]
    def best_mean(self): return self.means.max()
@dataclass(frozen=True)
class NoNumber(cb.Problem):
    def draw(self, rng): return PaysNaN(np.array([0.2, 0.5]))

class FallingLate(NamedTuple):
    means: np.ndarray
    @property
    def n_arms(self): return self.means.size
    def begin_round(self, current_round):
        if current_round == 300:
            self.means[0] = 0.1
        return False
    def pull(self, arm, rng): return self.means[arm]
    def mean(self, arm): return self.means[arm]
    def best_mean(self): return self.means.max()
@dataclass(frozen=True)
class Falls(cb.Problem):
    def draw(self, rng): return FallingLate(np.array([0.9, 0.5]))

class LaterChanging(NamedTuple):
    means: np.ndarray
    pulls: np.ndarray
    @property
    def n_arms(self): return self.means.size
    def pull(self, arm, rng):
        self.pulls[0] += 1
        if self.pulls[0] == 700:
            self.means[0] = 0.9
        return self.means[arm]
    def mean(self, arm): return self.means[arm]
    def best_mean(self): return self.means.max()
@dataclass(frozen=True)
class LaterDrift(cb.Problem):
    def draw(self, rng): return LaterChanging(np.array([0.2, 0.5, 0.8]), np.zeros(1))
"""

SENTENCES = {
    "Out": r"Out fails in .*mistakes\.py, line \d+, update: IndexError: index 5000 is out of bounds",
    "Beyond": r"Beyond fails in round 601 of run 0: index is out of bounds",
    "Shape": r"Shape fails in .*mistakes\.py, line \d+, score: ValueError: could not broadcast",
    "Late": r"Late fails in round 1,001 of run 0: a policy scored an arm NaN",
    "Global": r"Global plays the same rounds differently the second time: all chance must come from the stream rng",
    "List": r"List: counts of its state is a list, but compiled code knows .* or say runs_compiled = False",
    "Keyword": r"Keyword: its state must have score\(rng, scores\) .* not score\(\*, rng, scores\)",
    "Scipy": r"Scipy cannot be compiled: .*scipy.*\(.*mistakes\.py, line \d+\); .* runs_compiled = False",
    "Import": r"Import cannot be compiled: Use of unsupported opcode \(IMPORT_NAME\) found \(.*mistakes\.py",
    "Help": r"Help cannot be compiled: Untyped global name 'bonus'.*mark bonus with @numba\.njit, or make it a method",
    "Delete": r"Delete cannot be compiled: AssertionError",  # which is all that numba says
    "Signature": r"Signature fails: TypeError: .*; it is called as start\(n_arms, horizon, capacity\)",
    "Forgets": r"Forgets: in round 1 score gave no number to the arms \[1, 2, .*: it must fill all of scores",
    "Mutates": r"Mutates changes its own parameters while it plays: keep what changes in the state",
    "MutatesArray": r"MutatesArray changes its own parameters while it plays: keep what changes in the state",
    "Unstarted": r"Unstarted fails: NotImplementedError: Unstarted has no start\(n_arms, horizon, capacity\)",
}


@pytest.fixture
def mistakes(tmp_path):
    path = tmp_path / "mistakes.py"
    path.write_text(MISTAKES)
    return path


@pytest.mark.heavy
@pytest.mark.parametrize("name", SENTENCES)
def test_a_mistake_is_one_sentence_and_nothing_is_reported(name, mistakes, tmp_path):
    arguments = ["--policies", f"UCB1,{mistakes}:{name}", "--runs", "3", "--horizon", "2000", "--out", tmp_path / "out"]
    done = CliRunner().invoke(app, ["compare", "--problem", "bernoulli", *map(str, arguments)])
    assert done.exit_code == 2, done.output
    sentence = done.stderr.strip().splitlines()[-1]
    assert re.search(f"^Error: {SENTENCES[name]}", sentence), sentence
    assert not (tmp_path / "out" / "report.html").exists()


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["Drift", "LaterDrift", "Falls"])
def test_a_problem_that_changes_without_saying_so_is_refused(name, mistakes):
    experiment = cb.Experiment(problem_from(f"{mistakes}:{name}"), [cb.UCB1()], horizon=1000, runs=1)
    with pytest.raises(cb.BadInput, match=r"the means of .* change while it is played.*begin_round\(current_round\)"):
        cb.run(experiment)


def test_a_reward_that_is_no_number_is_the_problems_fault(mistakes):
    experiment = cb.Experiment(problem_from(f"{mistakes}:NoNumber"), [cb.UCB1()], horizon=1000, runs=1)
    with pytest.raises(cb.BadInput, match=r"NoNumber paid nan in round \d: rewards must be finite numbers"):
        cb.run(experiment)


@pytest.mark.heavy
def test_what_numba_cannot_compile_is_a_sentence_for_agents_and_checks_too(mistakes):
    policy = policy_from(f"{mistakes}:Import")
    with pytest.raises(cb.BadInput, match="Import cannot be compiled: Use of unsupported opcode"):
        cb.Agent(policy, arms=["a", "b"]).ask()
    with pytest.raises(cb.CheckFailed, match="Import: it cannot be compiled: Use of unsupported opcode"):
        cb.check_policy(policy)


@pytest.mark.heavy
def test_a_sound_policy_is_played_and_ours_are_not_rehearsed(mistakes, monkeypatch):
    source = mistakes.read_text()
    mistakes.write_text(
        source.replace(
            "class Signature(cb.Policy):\n    def start(self, arms): return Good(np.zeros(arms))",
            "class Signature(cb.Policy):\n    def start(self, n_arms, *_): return Good(np.zeros(n_arms))",
        )
    )
    good = policy_from(f"{mistakes}:Signature")
    assert cb.run(cb.Experiment(cb.BernoulliBandit(), [good], horizon=300, runs=2)).regret("Signature").shape == (
        2,
        100,
    )

    def forbidden(*arguments):
        raise AssertionError("ours is rehearsed")

    monkeypatch.setattr("corebandit.games.rehearsal._played", forbidden)
    cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=300, runs=2))


class CountsByMethod(NamedTuple):
    """An instance whose number of arms must be called for; and it wants chance where there is none."""

    means: np.ndarray

    def n_arms(self) -> int:
        return self.means.size

    def begin_round(self, current_round: int, rng: Stream) -> bool:
        return False

    def pull(self, arm: int, rng: Stream) -> float:
        return self.means[arm]

    def mean(self, arm: int) -> float:
        return self.means[arm]

    def best_mean(self) -> float:
        return self.means.max()


class Counts(CountsByMethod):
    n_arms = 2


@dataclass(frozen=True)
class Draws(cb.Problem):
    what: Any = None

    def draw(self, rng):
        return self.what


@pytest.mark.parametrize(
    ("drawn", "sentence"),
    [
        (
            [0.2, 0.5],
            r"Draws: draw must return a NamedTuple with n_arms, .*, not \[0.2, 0.5\]; it lacks n_arms, pull, ",
        ),
        (CountsByMethod(np.ones(2)), "n_arms must be a field or a property, not a method"),
        (Counts(np.ones(2)), r"begin_round\(\) missing 1 required positional argument: 'rng'$"),
    ],
)
def test_what_a_problem_draws_is_looked_at(drawn, sentence):
    with pytest.raises(cb.BadInput, match=sentence):
        cb.run(cb.Experiment(Draws(drawn), [cb.UCB1()], horizon=20, runs=1))


def test_a_problem_that_does_not_say_what_it_pays_is_told_how_to():
    with pytest.raises(cb.BadInput, match=r"; or let Draws say what it pays: a property support that returns"):
        cb.Experiment(Draws(Counts(np.ones(2))), [cb.NPTS()], horizon=20, runs=1)


class MeddlesState(NamedTuple):
    """A state that changes the features it is offered, or the row it learns from."""

    counts: np.ndarray
    in_score: bool

    def score(self, features, rng, scores):
        scores[:] = 0.0
        if self.in_score:
            features[0] = 9.0

    def update(self, arm, x, reward, rng):
        x *= 2.0


@dataclass(frozen=True)
class Meddles(cb.FeaturePolicy):
    in_score: bool = True

    def start(self, n_arms, n_features, horizon, capacity):
        return MeddlesState(np.zeros(n_arms), self.in_score)


@pytest.mark.parametrize(("in_score", "method"), [(True, "score"), (False, "update")])
def test_what_is_given_to_be_read_must_not_be_changed(in_score, method):
    with pytest.raises(cb.BadInput, match=f"Meddles: {method} changes an array that it was given only to read"):
        rehearse(Meddles(in_score), cb.LinearBandit(n_arms=4, n_features=3), 50)


class RepeatsState(NamedTuple):
    """A state that shows one item twice from the third round on."""

    rounds: np.ndarray

    def rank(self, rng, ranking):
        ranking[:] = np.arange(ranking.size)
        if self.rounds[0] >= 2:
            ranking[1] = 0

    def learn(self, ranking, clicks, rng):
        self.rounds[0] += 1


@dataclass(frozen=True)
class Repeats(cb.RankingPolicy):
    def start(self, n_items, n_positions, horizon, capacity):
        return RepeatsState(np.zeros(1))


def test_a_ranking_with_an_item_twice_is_refused_in_its_round():
    with pytest.raises(cb.BadInput, match=r"Repeats: in round 3 rank filled ranking with \[0, 0, 2.*different items"):
        rehearse(Repeats(), cb.YandexLike(query=0), 50)


class NoField(NamedTuple):
    """A problem of one arm that needs nothing to know."""

    n_arms = 1

    def pull(self, arm: int, rng: Stream) -> float:
        return rng.random()

    def mean(self, arm: int) -> float:
        return 0.5

    def best_mean(self) -> float:
        return 0.5


def test_a_problem_without_fields_is_a_sentence():
    with pytest.raises(cb.BadInput, match="has no fields, and compiled code takes no empty tuples"):
        cb.run(cb.Experiment(NoField(), [cb.UCB1()], horizon=20, runs=1))


class Moves(NamedTuple):
    """Two arms whose means are set in the first round and in the third; not always as they should be."""

    means: np.ndarray
    unsaid: int  # a round in which it does not say so
    creep: float  # what both means grow by in every round
    too_high: float  # what is told to be the best mean

    @property
    def n_arms(self) -> int:
        return self.means.size

    def begin_round(self, current_round: int) -> bool:
        if current_round == 1:
            self.means[:] = 0.2, 0.7
        if current_round == 3:
            self.means[:] = 0.3, 0.4
        self.means[:] += self.creep
        return current_round in (1, 3) and current_round != self.unsaid

    def pull(self, arm: int, rng: Stream) -> float:
        return self.means[arm]

    def mean(self, arm: int) -> float:
        return self.means[arm]

    def best_mean(self) -> float:
        return self.means.max() + self.too_high


@dataclass(frozen=True)
class Moving(cb.Problem):
    unsaid: int = 0
    creep: float = 0.0
    too_high: float = 0.0

    def draw(self, rng):
        return Moves(np.full(2, np.nan), self.unsaid, self.creep, self.too_high)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"unsaid": 1}, r"in round 1 the best mean of Moving is 0\.7 and was nan, but begin_round did not return"),
        ({"unsaid": 3}, r"in round 3 the best mean of Moving is 0\.4 and was 0\.7, but begin_round did not return"),
        ({"creep": 1e-6}, r"in round \d+ the best mean of Moving is 0\.40000\d+ and was 0\.4"),
        ({"too_high": -0.1}, r"best_mean\(\) of Moving is 0\.\d*, but the highest mean of its arms is 0\.7, so that"),
    ],
)
def test_a_problem_that_tells_the_truth_wrongly_is_refused(wrong, sentence):
    rehearse(cb.UCB1(), Moving(), 50)
    with pytest.raises(cb.BadInput, match=sentence):
        rehearse(cb.UCB1(), Moving(**wrong), 50)


def test_a_best_mean_that_no_arm_has_is_doubted_and_of_rewards_alone_it_is_all_that_counts():
    with pytest.warns(
        UserWarning, match=r"the highest mean of its arms is 0\.4: what no arm can earn counts as regret"
    ):
        rehearse(cb.UCB1(), Moving(too_high=0.1), 50)
    for too_high in (0.1, -0.1):
        rehearse(cb.UCB1(), Moving(too_high=too_high), 50, realised=True)


class Estimates(NamedTuple):
    """Arms whose means nobody knows: what they have paid, on average."""

    paid: np.ndarray

    @property
    def n_arms(self) -> int:
        return self.paid.shape[1]

    def pull(self, arm: int, rng: Stream) -> float:
        reward = rng.random()
        self.paid[0, arm] += 1.0
        self.paid[1, arm] += reward
        return reward

    def mean(self, arm: int) -> float:
        return self.paid[1, arm] / self.paid[0, arm] if self.paid[0, arm] else np.nan

    def best_mean(self) -> float:
        return 0.5


@dataclass(frozen=True)
class Estimated(cb.Problem):
    def draw(self, rng):
        return Estimates(np.zeros((2, 2)))


def test_realised_regret_is_played_whatever_means_of_arms_are():
    played = cb.run(cb.Experiment(Estimated(), [cb.UCB1()], horizon=200, runs=3, regret="realised"))
    assert played.summary()["mean"].is_finite().all()
    with pytest.raises(cb.BadInput, match="the means of Estimated change while it is played"):
        cb.run(cb.Experiment(Estimated(), [cb.UCB1()], horizon=200, runs=3))


class Cancels(NamedTuple):
    """Arms whose means are 0, but for what rounding leaves."""

    means: np.ndarray
    told: np.ndarray

    @property
    def n_arms(self) -> int:
        return self.means.size

    def begin_round(self, current_round: int) -> bool:
        self.told[0] = 1e-17 * (current_round % 2)
        return False

    def pull(self, arm: int, rng: Stream) -> float:
        return rng.random() - 0.5

    def mean(self, arm: int) -> float:
        return self.means[arm]

    def best_mean(self) -> float:
        return self.told[0]


class Wears(NamedTuple):
    """Arms that pay less the oftener they are pulled, which is told in the round after."""

    means: np.ndarray

    @property
    def n_arms(self) -> int:
        return self.means.size

    def begin_round(self, current_round: int) -> bool:
        return True

    def pull(self, arm: int, rng: Stream) -> float:
        self.means[arm] *= 0.99
        return self.means[arm]

    def mean(self, arm: int) -> float:
        return self.means[arm]

    def best_mean(self) -> float:
        return self.means.max()


@pytest.mark.heavy
@pytest.mark.parametrize("instance", [Cancels(np.full(2, 5.6e-17), np.zeros(1)), Wears(np.array([0.9, 0.8]))])
def test_means_that_round_to_nothing_or_that_pulls_wear_out_are_played(instance):
    result = cb.run(cb.Experiment(instance, [cb.UCB1()], horizon=300, runs=2))
    assert np.isfinite(result.regret("UCB1")).all()
