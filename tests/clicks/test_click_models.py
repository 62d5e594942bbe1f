"""Click models: users against formulas, formulas against each other and against numbers by hand, best rankings."""

from itertools import permutations

import numpy as np
import pytest

from click_models_made_up import NAMES, TOP_DOWN, made_up, patterns, probability
from corebandit.clicks import CCM, CLICK_MODELS, CM, DBN, DCM, PBM, SDBN, UBM, simulate
from corebandit.clicks.models import search
from corebandit.randomness.stream import stream

# By hand ----------------------------------------------------------------------------------------------------------

ATTRACTION = [0.5, 0.4, 0.2]
BY_HAND = [  # the ranking 0, 1, 2: probabilities of clicks, and given a click at rank 0 and none at rank 1
    (CM(ATTRACTION), [0.5, 0.5 * 0.4, 0.5 * 0.6 * 0.2], [0.5, 0.0, 0.0]),
    # examined: 1, then 1 - 0.5 * 0.6, then times 1 - 0.4 * 0.5
    (DCM(ATTRACTION, [0.6, 0.5, 1.0]), [0.5, 0.7 * 0.4, 0.7 * 0.8 * 0.2], [0.5, 0.4 * 0.4, 0.24 / 0.84 * 0.2]),
    (PBM(ATTRACTION, [0.9, 0.5, 0.1]), [0.45, 0.2, 0.02], [0.45, 0.2, 0.02]),
    # a click at 0: 0.45; at 1: 0.45 * 0.4 * 0.5 + 0.55 * 0.4 * 0.8 = 0.266; at 2 by the previous click (1, 0, none)
    (
        UBM(ATTRACTION, [[0.3, 0.3, 0.9], [0.5, 0.3, 0.8], [0.6, 0.7, 0.1]]),
        [0.45, 0.266, 0.2 * (0.266 * 0.7 + 0.45 * 0.8 * 0.6 + 0.55 * 0.68 * 0.1)],
        [0.45, 0.2, 0.12],
    ),
    # examined: 1, then 0.8 (1 - 0.5 * 0.3), then times 0.8 (1 - 0.4 * 0.5)
    (
        DBN(ATTRACTION, [0.3, 0.5, 0.1], 0.2),
        [0.5, 0.68 * 0.4, 0.68 * 0.64 * 0.2],
        [0.5, 0.56 * 0.4, 0.56 * 0.6 / 0.776 * 0.8 * 0.2],
    ),
    (
        SDBN(ATTRACTION, [0.3, 0.5, 0.1]),
        [0.5, 0.85 * 0.4, 0.85 * 0.8 * 0.2],
        [0.5, 0.7 * 0.4, 0.7 * 0.6 / 0.72 * 0.2],
    ),
    # after a click on 0: 0.5 * 0.8 + 0.5 * 0.4 = 0.6; on 1: 0.6 * 0.8 + 0.4 * 0.4 = 0.64; after a skip 0.9
    (
        CCM(ATTRACTION, 0.9, 0.8, 0.4),
        [0.5, 0.75 * 0.4, 0.75 * (0.4 * 0.64 + 0.6 * 0.9) * 0.2],
        [0.5, 0.6 * 0.4, 0.6 * 0.6 / 0.76 * 0.9 * 0.2],
    ),
]


@pytest.mark.parametrize(("model", "full", "conditional"), BY_HAND, ids=lambda value: getattr(value, "name", ""))
def test_probabilities_are_those_worked_out_by_hand(model, full, conditional):
    assert model.click_probabilities([0, 1, 2]) == pytest.approx(full, abs=1e-12)
    assert model.conditional_probabilities([0, 1, 2], [1, 0, 0]) == pytest.approx(conditional, abs=1e-12)
    assert model.value([0, 1, 2]) == pytest.approx(sum(full), abs=1e-12)


def test_every_model_is_worked_out_by_hand():
    assert [model.name for model, *_ in BY_HAND] == list(CLICK_MODELS) == NAMES


# Users and formulas -----------------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("name", NAMES)
def test_users_click_as_the_formulas_say(name):
    model, n_users = made_up(name, n_documents=6), 200_000
    for seed in range(3):
        ranking = np.random.default_rng(seed).permutation(6)[:4]
        clicks = simulate(model, np.tile(ranking, (n_users, 1)), stream(seed, name))
        p = model.click_probabilities(ranking)
        assert np.abs(clicks.mean(axis=0) - p) / np.sqrt(p * (1 - p) / n_users) == pytest.approx(0, abs=4.5)
        codes = np.bincount(clicks @ (8, 4, 2, 1), minlength=16) / n_users
        joint = np.array([probability(model, ranking, pattern) for pattern in patterns(4)])
        assert (codes[joint == 0] == 0).all()
        happens = joint > 0
        z = (codes - joint)[happens] / np.sqrt(joint * (1 - joint) / n_users)[happens]
        assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("name", NAMES)
def test_conditional_probabilities_add_up_to_the_full_ones(name):
    model = made_up(name, n_documents=5)
    ranking = np.array([3, 0, 4, 1])
    joint = np.array([probability(model, ranking, pattern) for pattern in patterns(4)])
    assert joint.sum() == pytest.approx(1, abs=1e-12)
    assert joint @ patterns(4) == pytest.approx(model.click_probabilities(ranking), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_chance_is_the_same_user(name):
    model = made_up(name, n_documents=5)
    user, rng = model.user(), np.random.default_rng(5)
    for _ in range(200):
        chance, ranking = rng.random((2, 5)), rng.permutation(5)[:3]
        clicks, again = np.empty(3, np.int64), np.full(3, 7)
        user.click(ranking, chance, clicks)
        user.click(ranking, chance.copy(), again)
        assert clicks.tolist() == again.tolist()
        is_attracted = chance[0] < model.attraction  # by document, wherever it is shown
        assert not (clicks == 1)[~is_attracted[ranking]].any()
        if name in TOP_DOWN:
            assert clicks[0] == is_attracted[ranking[0]]
        if name == "CM":
            assert clicks.sum() == is_attracted[ranking].any()


@pytest.mark.parametrize("name", NAMES)
def test_compiled_users_click_as_plain_python_says(name):
    model = made_up(name, n_documents=5)
    rankings = np.array([[2, 0, 1], [4, 3, 2], [0, 1, 2]] * 20)
    clicks, rng = simulate(model, rankings, stream(3, name)), stream(3, name)
    for ranking, compiled in zip(rankings, clicks, strict=True):
        chance, plain = np.array([rng.random() for _ in range(10)]).reshape(2, 5), np.empty(3, np.int64)
        model.user().click(ranking, chance, plain)
        assert plain.tolist() == compiled.tolist()


def test_a_certain_click_that_did_not_happen_gives_no_nan():
    for name in NAMES:
        model = made_up(name, 3).changed(attraction=[1.0, 0.5, 0.0])
        assert np.isfinite(model.conditional_probabilities([0, 1, 2], [0, 0, 1])).all()


# The best ranking -------------------------------------------------------------------------------------------------


def random_model(name, rng):
    """Return a model of six documents with rough parameters: zeros, ones and ties happen."""
    shapes = {"document": 6, "rank": 4}
    parameters = {}
    for field, axes in CLICK_MODELS[name].shapes.items():
        values = np.round(rng.random([shapes[axis] for axis in axes]), rng.integers(1, 4))
        parameters[field] = values if axes else float(values)
    return CLICK_MODELS[name](**parameters)


@pytest.mark.parametrize("name", NAMES)
def test_the_optimal_ranking_is_the_best_of_all(name):
    rng = np.random.default_rng(6)
    for _ in range(25):
        model = random_model(name, rng)
        user = model.user()
        best = max(user.value(np.array(ranking)) for ranking in permutations(range(6), 3))
        optimal = model.optimal(3)
        assert optimal.shape == (3,)
        assert model.value(optimal) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(
    "model", [SDBN([1, 1, 0.5], [1, 1, 1]), DBN([0.2, 0.3, 0], [1, 0, 1], 1.0), CCM([0, 1, 0.5], 0, 0, 0)]
)
def test_users_who_certainly_leave_are_no_obstacle_to_the_optimal_ranking(model):
    best = max(model.value(ranking) for ranking in permutations(range(3)))
    assert model.value(model.optimal(3)) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_most_attractive_comes_first_unless_another_order_is_better(name):
    model = made_up(name, 5).changed(attraction=[0.1, 0.3, 0.2, 0.5, 0.4])
    if name in ("PBM", "UBM"):
        model = CLICK_MODELS[name](model.attraction, np.full((5,) * (1 + (name == "UBM")), 0.5))
    if name == "DCM":
        model = DCM(model.attraction, np.full(5, 0.5))
    if name in ("DBN", "SDBN"):
        model = model.changed(satisfaction=[0.5] * 5)
    assert model.optimal(5)[0] == 3


@pytest.mark.parametrize("name", ["DCM", "UBM"])
def test_exchanges_find_a_ranking_that_no_exchange_improves(name, monkeypatch):
    monkeypatch.setattr(search, "FEW_ENOUGH", 0)
    rng, found, best = np.random.default_rng(7), [], []
    for _ in range(25):
        model = random_model(name, rng)
        found.append(model.value(search.best_ranking(model.user(), 3)))
        best.append(max(model.user().value(np.array(ranking)) for ranking in permutations(range(6), 3)))
    assert np.all(np.array(found) <= np.array(best) + 1e-12)
    assert np.mean(np.isclose(found, best)) > 0.8
    assert np.min(np.array(found) / best) > 0.9


@pytest.mark.parametrize("n_positions", [1, 4, 6])
def test_the_optimal_ranking_of_the_dependent_click_model_is_exact(n_positions):
    rng = np.random.default_rng(8)
    for _ in range(15):
        attraction, stop = rng.choice([0.05, 0.3, 0.97, 1.0], 6), rng.choice([0.0, 0.1, 0.95, 1.0], 6)
        model = DCM(attraction, stop)
        user = model.user()
        best = max(user.value(np.array(ranking)) for ranking in permutations(range(6), n_positions))
        assert model.value(model.optimal(n_positions)) == pytest.approx(best, abs=1e-12)


def test_the_dependent_click_model_is_exact_where_there_are_too_many_rankings_to_try():
    attraction = [0.05, 1.0, 0.3, 0.1, 0.5, 1.0, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1]
    model = DCM(attraction, [1.0, 1.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0])
    # Stops are certain in the first two ranks, so these take what attracts least; below, nearly everything is free.
    assert model.value(model.optimal(8)) == pytest.approx(2.83, abs=0.005)
    assert model.value(model.optimal(8)) >= model.value([0, 8, 5, 1, 4, 2, 6, 7]) - 1e-12


def test_more_documents_than_subsets_allow_are_searched():
    rng = np.random.default_rng(9)
    model = DCM(rng.random(21), rng.random(2))
    best = max(model.user().value(np.array(ranking)) for ranking in permutations(range(21), 2))
    assert model.value(model.optimal(2)) == pytest.approx(best, abs=1e-12)


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: CM([0.1, 0.2, 0.3, 1.2]), r"attraction of document 3 must be in \[0, 1\], not 1.2"),
        (lambda: CM([0.1, float("nan")]), r"attraction of document 1 must be in \[0, 1\], not nan"),
        (lambda: CM([]), r"attraction must be a list of numbers, one for each document, not \[\]"),
        (lambda: CM(0.3), "attraction must be a list of numbers, one for each document, not 0.3"),
        (lambda: CM("high"), "attraction must be a list of numbers, one for each document, not 'high'"),
        (lambda: PBM([0.1], [0.5, -0.5]), r"examination of rank 1 must be in \[0, 1\], not -0.5"),
        (lambda: SDBN([0.1, 0.2], [0.5]), "satisfaction has 1 documents, but attraction has 2"),
        (lambda: DBN([0.1], [0.5], 2.0), r"abandon must be in \[0, 1\], not 2"),
        (lambda: DBN([0.1], [0.5], [0.1]), r"abandon must be a number in \[0, 1\], not \[0.1\]"),
        (
            lambda: UBM([0.1, 0.2], [[0.1, 0.2], [0.3, 4.0]]),
            r"examination_rank_prevclick of rank 1, rank 1 must be in \[0, 1\], not 4",
        ),
        (lambda: UBM([0.1], [[0.1, 0.2]]), "examination_rank_prevclick has 2 ranks, but"),
        (lambda: CM([0.1, 0.2]).optimal(3), "n_positions must be at most 2, the number of documents, not 3"),
        (lambda: PBM([0.1] * 3, [0.5]).optimal(2), "n_positions must be at most 1, the number of ranks, not 2"),
        (lambda: CM([0.1, 0.2]).optimal(0), "n_positions must be a whole number of at least 1, not 0"),
        (lambda: CM([0.1, 0.2]).value([0, 2]), "ranking must show documents 0 to 1, not 2"),
        (lambda: CM([0.1, 0.2]).value([1, 1]), r"ranking must show every document at most once, not \[1, 1\]"),
        (lambda: CM([0.1, 0.2]).value([0.5]), r"ranking must be a list of document indices, not \[0.5\]"),
        (lambda: CM([0.1, 0.2]).conditional_probabilities([0], [2]), "clicks must be 1 numbers 0 or 1"),
        (lambda: CM([0.1, 0.2]).conditional_probabilities([0], [0, 1]), "clicks must be 1 numbers 0 or 1"),
        (lambda: simulate(CM([0.1] * 3), [[0, 1], [0, 2], [2, 2]], stream(1)), r"at most once, not \[2, 2\]"),
        (lambda: simulate(CM([0.1] * 3), [[0, 1], [0, 3]], stream(1)), "ranking must show documents 0 to 2, not 3"),
        (lambda: simulate(CM([0.1]), [[0, 1]], stream(1)), "n_positions must be at most 1, the number of documents"),
        (lambda: simulate(CM([0.1]), [0], stream(1)), r"rankings must be sessions x positions, not of shape \(1,\)"),
    ],
)
def test_mistakes_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_parameters_are_frozen_and_describe_themselves():
    model = DBN(np.array([0.1, 0.2]), [0.3, 0.4], 0.5)
    assert model.attraction == (0.1, 0.2)
    assert model.describe() == {"name": "DBN", "attraction": [0.1, 0.2], "satisfaction": [0.3, 0.4], "abandon": 0.5}
    assert hash(model) == hash(model.changed(abandon=0.5))


@pytest.mark.parametrize("name", NAMES)
def test_clicks_reveal_what_the_user_read(name):
    assert CLICK_MODELS[name].observes == ("last_click" if name in TOP_DOWN else "all")
