"""Users who click, as problems."""

import re
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.catalogue import known_problems
from corebandit.clicks.models import CM, PBM
from corebandit.clicks.stored_models import write_models
from corebandit.contracts.recipe import Recipe
from corebandit.randomness.stream import stream
from corebandit.ranking.policies import Ranked
from corebandit.ranking.ranking_problems import RankingBandit, StoredQuery, YandexLike, yandex_like_queries
from corebandit.ranking.users import users_of

MODELS = [CM((0.5, 0.1, 0.3, 0.2)), PBM((0.5, 0.1, 0.3, 0.2), examination=(1.0, 0.6, 0.3))]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


@every_model
def test_items_are_renamed_in_every_run_and_keep_their_parameters(model):
    problem = RankingBandit(model, n_positions=3)
    instances = [problem.draw(stream(run, "instance")) for run in range(200)]
    names = np.array([instance.originals for instance in instances])
    assert (np.sort(names, axis=1) == np.arange(4)).all()
    for item in range(4):
        assert (np.bincount(names[:, item], minlength=4) > 25).all()  # each name stands for each item equally often
    for instance in instances[:10]:
        ranking = np.array([2, 0, 3])
        assert instance.value(ranking) == model.value(instance.originals[ranking])
        values = [instance.value(np.array(ranking)) for ranking in permutations(range(4), 3)]
        assert instance.best_value() == pytest.approx(max(values), rel=1e-12)


@every_model
def test_clicks_have_the_probabilities_of_the_model(model):
    instance = RankingBandit(model, n_positions=3).draw(stream(1, "instance"))
    users, ranking, n_users = stream(2, "users"), np.array([3, 1, 0]), 4000
    chance, clicks, total = np.zeros((2, 4)), np.zeros(3, np.int64), np.zeros(3)
    for _ in range(n_users):
        instance.draw_user(users, chance)
        instance.click(ranking, chance, clicks)
        total += clicks
    expected = model.click_probabilities(instance.originals[ranking])
    assert (np.abs(total / n_users - expected) < 4.5 * np.sqrt(expected * (1 - expected) / n_users)).all()
    assert instance.value(ranking) == pytest.approx(expected.sum())


def test_a_user_is_the_same_for_every_ranking():
    instance = RankingBandit(CM((0.5,) * 4), n_positions=4).draw(stream(1, "instance"))
    chance, clicks, clicked = np.zeros((2, 4)), np.zeros(4, np.int64), []
    instance.draw_user(stream(8, "users"), chance)
    attracted = {item for item in range(4) if chance[0, instance.originals[item]] < 0.5}
    assert 0 < len(attracted) < 4
    for ranking in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        instance.click(np.array(ranking), chance, clicks)
        clicked.append(ranking[int(clicks.argmax())])
        assert clicked[-1] == next(item for item in ranking if item in attracted)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: RankingBandit(CM((0.1, 0.2)), n_positions=3), "n_positions must be at most 2, .* not 3"),
        (lambda: RankingBandit(MODELS[1], n_positions=4), "n_positions must be at most 3, .* not 4"),
        (lambda: RankingBandit(CM((0.1, 0.2)), n_positions=0), "n_positions must be a whole number of at least 1"),
        (lambda: RankingBandit((0.1, 0.2)), "model must be a click model such as CM"),
        (lambda: YandexLike(60), "query must be below 60, not 60"),
        (lambda: YandexLike(-1), "query must be a whole number of at least 0"),
        (lambda: YandexLike(n_positions=11), "n_positions must be at most 10"),
    ],
)
def test_what_cannot_be_shown_is_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


class PickyUser(NamedTuple):
    attraction: np.ndarray

    def click(self, ranking, chance, clicks):
        for position in range(ranking.size):
            clicks[position] = 0
        clicks[0] = 1 if chance[0, ranking[0]] < self.attraction[ranking[0]] else 0

    def value(self, ranking):
        return self.attraction[ranking[0]]


@dataclass(frozen=True)
class Picky(Recipe):
    """Users who look at the first item only."""

    attraction: tuple[float, ...]

    def user(self):
        return PickyUser(np.array(self.attraction))

    def optimal(self, n_positions):
        return np.argsort(self.attraction)[::-1][:n_positions]


def test_a_click_model_of_your_own_will_do():
    problem = RankingBandit(Picky((0.1, 0.9, 0.2)), n_positions=2)
    result = cb.run(cb.Experiment(problem, [Ranked(cb.UCB1(), observes="all")], horizon=2000, runs=2))
    regret = result.frame.filter(round=2000)["regret"]
    assert 0.0 < regret.mean() < 0.1 * 2000 * 0.7


@pytest.mark.heavy
@pytest.mark.parametrize("problem", [YandexLike(5), RankingBandit(MODELS[0], 3), RankingBandit(MODELS[1], 2)])
def test_problems_with_rankings_keep_the_contract(problem):
    cb.check_problem(problem)


class BoastfulUser(PickyUser):
    def value(self, ranking):
        return 0.2 + self.attraction[ranking[0]]


class MuteUser(PickyUser):
    def click(self, ranking, chance, clicks):
        clicks[0] = 0


@dataclass(frozen=True)
class Boastful(Picky):
    def user(self):
        return BoastfulUser(np.array(self.attraction))


@dataclass(frozen=True)
class Mute(Picky):
    def user(self):
        return MuteUser(np.array(self.attraction))


@dataclass(frozen=True)
class Modest(Picky):
    def optimal(self, n_positions):
        return np.argsort(self.attraction)[:n_positions]


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Boastful, "was clicked .* times on average, but says its value is"),
        (Mute, "click must fill clicks with 0 and 1, not "),
        (Modest, r"best_value\(\) is 0.1, but .* is worth"),
    ],
)
def test_a_click_model_that_breaks_the_contract_is_told_how(model, sentence):
    with pytest.raises(cb.CheckFailed, match=sentence):
        cb.check_problem(RankingBandit(model((0.1, 0.9, 0.2)), n_positions=2))


# Labels and stored queries ----------------------------------------------------------------------------------------


def test_labels_are_short_and_differ_where_numbers_do():
    first, second = (RankingBandit(PBM((p,) * 10, (1.0,) * 10)) for p in (0.1, 0.2))
    assert re.fullmatch(r"PBM, 10 documents, 5 shown \([0-9a-f]{6}\)", first.label)
    assert first.label != second.label
    named = RankingBandit(first.model, title="rain coat")
    assert named.label == "rain coat"
    assert named.describe() == first.describe()  # so that the same users come
    assert named.changed(n_positions=2).label == "rain coat"


def test_errors_do_not_spell_out_models():
    queries = {"CM": CM((0.1,) * 200)}
    with pytest.raises(ValueError, match="model must be a click model") as caught:
        RankingBandit(queries)
    assert len(str(caught.value)) < 250
    with pytest.raises(ValueError, match="attraction must be a list") as caught:
        CM([[0.1] * 200] * 3)
    assert len(str(caught.value)) < 250


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "models.json"
    write_models(path, {"9982_0": {model.name: model for model in MODELS}, "7": {"CM": MODELS[0]}})
    return path


@pytest.mark.heavy
def test_a_stored_query_shows_what_the_file_holds(stored):
    problem = StoredQuery(str(stored), "9982_0", "PBM", n_positions=3)
    assert problem.label == "query 9982_0, PBM, 3 shown"
    assert problem.stored == MODELS[1]
    assert problem.observes == "all"
    assert problem.draw(stream(1)).best_value() == RankingBandit(MODELS[1], 3).draw(stream(1)).best_value()
    cb.check_problem(problem)


def test_a_stored_query_is_known_by_the_content_of_its_file_and_not_by_its_place(stored, tmp_path):
    described = StoredQuery(str(stored), "7", n_positions=2).describe()
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / "models.json"
    copy.write_bytes(stored.read_bytes())
    assert StoredQuery(str(copy), "7", n_positions=2).describe() == described
    write_models(copy, {"7": {"CM": CM((0.5, 0.1, 0.3, 0.25))}})
    changed = StoredQuery(str(copy), "7", n_positions=2).describe()
    assert changed["digest"] != described["digest"]
    assert {**changed, "digest": ""} == {**described, "digest": ""}


@pytest.mark.parametrize(
    ("query", "model", "n_positions", "sentence"),
    [
        ("9982", "CM", 3, "unknown query of .*models.json '9982': did you mean '9982_0'?"),
        ("7", "PBM", 3, "unknown click model of query 7 in .*models.json 'PBM': there is CM"),
        ("9982_0", "PBM", 5, "n_positions must be at most 3, as many as the model has, not 5"),
    ],
)
def test_what_a_file_does_not_hold_is_named(stored, query, model, n_positions, sentence):
    with pytest.raises(ValueError, match=sentence):
        StoredQuery(str(stored), query, model, n_positions)


def test_a_missing_file_of_models_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*none.json: No such file"):
        StoredQuery(str(tmp_path / "none.json"), "7")


def test_every_ranking_problem_can_be_named():
    assert list(known_problems())[-3:] == ["ranking", "yandex_like", "stored_query"]


# The built-in queries ---------------------------------------------------------------------------------------------


def statistics_of(queries):
    """Return mean attraction, and by query: the best P(click) at 5 positions, the gap between 5th and 6th item."""
    best_first = np.sort(np.array(queries), axis=1)[:, ::-1]
    return best_first.mean(), 1.0 - np.prod(1.0 - best_first[:, :5], axis=1), best_first[:, 4] - best_first[:, 5]


@pytest.mark.heavy
def test_built_in_queries_are_as_hard_as_real_ones():
    found = [statistics_of(yandex_like_queries(60, seed)) for seed in range(100)]
    attraction, clicks, gap = (np.array(values) for values in zip(*found, strict=True))
    assert attraction.mean() == pytest.approx(0.113, abs=0.005)
    assert clicks.mean() == pytest.approx(0.67, abs=0.03)
    quantiles = np.quantile(clicks, [0.1, 0.5, 0.9], axis=1).mean(axis=1)
    np.testing.assert_allclose(quantiles, [0.37, 0.72, 0.87], atol=0.06)
    np.testing.assert_allclose(
        np.quantile(gap, [0.25, 0.5, 0.75], axis=1).mean(axis=1), [0.005, 0.013, 0.024], atol=0.003
    )


def test_the_sixty_queries_never_change():
    queries = yandex_like_queries()
    assert len(queries) == 60
    assert {len(attractions) for attractions in queries} == {10}
    assert queries[0][:2] == pytest.approx(yandex_like_queries(n=1)[0][:2])
    assert queries != yandex_like_queries(seed=1)
    attraction, clicks, _ = statistics_of(queries)
    assert attraction == pytest.approx(0.113, abs=0.015)
    assert clicks.mean() == pytest.approx(0.67, abs=0.06)
    assert np.mean(np.argmax(queries, axis=1) == 0) > 0.6  # the first result is often the best: names must be shuffled


def test_a_query_is_a_cascade():
    problem = YandexLike(query=3, n_positions=2)
    instance = problem.draw(stream(1))
    attraction = np.array(yandex_like_queries()[3])
    assert instance.n_items == 10
    assert instance.best_value() == pytest.approx(1.0 - np.prod(1.0 - np.sort(attraction)[-2:]))
    ranking = np.array([5, 7])
    assert instance.value(ranking) == pytest.approx(1.0 - np.prod(1.0 - attraction[instance.originals[ranking]]))
    assert users_of(problem.model, 2, stream(1)).originals.tolist() == instance.originals.tolist()
