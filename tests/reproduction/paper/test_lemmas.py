"""The lemmas hold for LinCORe, and each is seen to fail for one that does what it forbids."""

from dataclasses import replace

import numpy as np
import pytest

from corebandit.experiments.curve import Curve
from corebandit.experiments.result import Result
from corebandit.experiments.run import run
from corebandit.report.claim import FAILS, HOLDS, UNDECIDED
from corebandit.reproduction import own_histories as own
from corebandit.reproduction.figure import Size
from corebandit.reproduction.paper import lemma_drawing, lemmas
from corebandit.reproduction.watched import EDGES
from faulty_lincore import DOUBLED, FIXED, HALVED, MISSING, NONE, OUTLIER, SHIFTED, SILENT, FaultyLinCORe
from made_up import verdicts_of

N = min(lemmas.OWN_HORIZONS)
OWN = {lemmas.PRACTICE, lemmas.THEOREM, lemmas.COINS}
SIZE = Size(horizon=N, runs=1)


def seen(monkeypatch, fault, names, most_runs=None):
    """Return what is seen of a faulty LinCORe's own histories."""

    def faulty(factor, horizon):
        return FaultyLinCORe(z=lemmas.OWN_HORIZONS[horizon], warm_up=factor, sampler="exact", fault=fault)

    monkeypatch.setattr(lemmas, "lincore", faulty)
    played = [each for each in lemmas.checks(SIZE) if each.part in names]
    return run([replace(each, runs=min(each.runs, most_runs or each.runs)) for each in played])


@pytest.fixture(scope="module")
def sound():
    with pytest.MonkeyPatch.context() as patch:
        return seen(patch, NONE, OWN)


@pytest.mark.thorough
def test_all_hold_for_lincore(sound):
    found = verdicts_of(lemmas.claims(sound))
    assert set(found) == {("T1", 4.0), ("T1", 2.0), ("T2", None), ("T6", None), ("T7", None), ("T8", 4.0), ("T8", 2.0)}
    assert set(found.values()) == {HOLDS}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("fault", "name", "claim"),
    [
        (HALVED, lemmas.PRACTICE, ("T1", 4.0)),
        (HALVED, lemmas.PRACTICE, ("T1", 2.0)),
        (OUTLIER, lemmas.PRACTICE, ("T2", None)),
        (SHIFTED, lemmas.PRACTICE, ("T6", None)),
        (MISSING, lemmas.PRACTICE, ("T6", None)),
        (DOUBLED, lemmas.COINS, ("T7", None)),
        (SILENT, lemmas.THEOREM, ("T8", 4.0)),
        (FIXED, lemmas.THEOREM, ("T8", 2.0)),
    ],
)
def test_what_a_lemma_forbids_is_caught(monkeypatch, fault, name, claim):
    found = verdicts_of(lemmas.claims(seen(monkeypatch, fault, {name}, most_runs=100)))
    assert found[claim] == FAILS


@pytest.mark.thorough
def test_margins_stand_beside_the_evidence(sound):
    claims = {claim.id: claim for claim in lemmas.claims(sound) if claim.warm_up != 2.0}
    for name, bound, allowed in (("T1", "variance", 1.0), ("T2", "size", 2.0), ("T6", "distance", 1.0)):
        (_, _, curve), *_ = lemmas.seen_of(sound, lemmas.PRACTICE)
        margin = own.margin(curve, bound, allowed / N)
        assert margin > 1.5
        assert f"tighter by a factor of {margin:.2f} (warm-up 4, n = {N})" in claims[name].evidence
    assert "(0/1 rewards)" in claims["T7"].evidence
    assert "times the bound" in claims["T8"].evidence
    assert "put the best arm above its true mean" in claims["T8"].evidence


@pytest.mark.thorough
def test_a_picture_shows_how_often_each_would_fail(sound):
    (drawing,) = lemma_drawing.drawings(sound)
    titles = [axes.get_title(loc="left") for axes in drawing.figure.axes]
    assert titles == [
        "Lemma 1: the pool's variance",
        "Lemma 2: the largest value",
        "Least squares: the distance",
        "Noise concentrates",
        "Noise is optimistic",
    ]
    (_, _, curve), *_ = lemmas.seen_of(sound, lemmas.PRACTICE)
    x, y = drawing.figure.axes[0].lines[0].get_data()
    rooms = own.rooms(curve, "variance")
    assert y == pytest.approx([np.mean(rooms < tightening) for tightening in x])


def made_up_histories(part, runs, **measures):
    """Return own histories of a kind in which 50 draws of each run were looked at, 10 at a time."""
    counted = [f"{what} {edge:.3g}" for what in ("spread", "lift") for edge in EDGES]
    rooms = [f"{bound} room" for bound in ("variance", "size", "distance")]
    usual = {key: np.zeros(runs) for key in (*counted, "hopeful", "fewest")} | {
        key: np.full(runs, 2.0) for key in rooms
    }
    seen = {**usual, "draws": np.full(runs, 50.0), **{key.replace("_", " "): each for key, each in measures.items()}}
    curve = Curve(
        lemmas.NAME,
        "linear",
        lemmas.label("warm-up 4", N),
        "",
        np.array([N]),
        np.zeros((runs, 1)),
        cpu_seconds=0.0,
        measures=seen,
        part=part,
    )
    return {claim.id: claim for claim in lemmas.claims(Result([], [curve])) if claim.warm_up != 2.0}


def test_own_histories_are_judged_by_the_bound_and_the_chance_of_each_lemma():
    runs = 1050
    broken = {"variance_room": 1, "size_room": 2, "distance_room": 3}
    rooms = {bound: np.where(np.arange(runs) < n, 0.9, 2.0) for bound, n in broken.items()}
    found = made_up_histories(lemmas.PRACTICE, runs, **rooms)
    assert [(each.value, each.bound) for each in found["T1"].details] == [(1 / runs, 1 / N)]
    assert [(each.value, each.bound) for each in found["T2"].details] == [(2 / runs, 2 / N)]
    assert [(each.value, each.bound) for each in found["T6"].details] == [(3 / runs, 1 / N)]


def test_draws_that_share_a_past_do_not_make_a_lemma_hold():
    one_past = np.where(np.arange(3_000) == 7, 50.0, 0.0)  # a third of what is allowed, but all in one run
    found = made_up_histories(lemmas.PRACTICE, 3_000, spread_4=one_past)["T7"]
    assert [each.verdict for each in found.details] == [HOLDS, HOLDS, UNDECIDED]
    few = made_up_histories(lemmas.THEOREM, 20, lift_1=np.where(np.arange(20) == 7, 50.0, 0.0))["T8"]
    assert few.details[0].p_holds > 1e-4  # as of 1 past in 20, not of 50 draws in 1,000


def test_the_past_with_the_fewest_optimistic_draws_is_told_by_their_share():
    found = made_up_histories(lemmas.THEOREM, 4, fewest=np.array([5.0, 3.0, 9.0, 4.0]), lift_1=np.full(4, 40.0))
    assert "in no past fewer than 0.3 of its draws" in found["T8"].evidence
    assert [each.value for each in found["T8"].details] == [0.8]


def test_what_was_not_watched_is_neither_judged_nor_drawn():
    nothing = run([next(lemmas.checks(SIZE))])
    found = verdicts_of(lemmas.claims(nothing))
    assert found["T6", None] == found["T7", None] == found["T8", 4.0] == UNDECIDED
    assert lemma_drawing.drawings(nothing) == []


def test_horizons_are_tried_that_so_many_runs_can_decide():
    few, many = (
        {each.horizon for each in lemmas.checks(Size(horizon=N, runs=runs)) if each.part in OWN} for runs in (1, 1000)
    )
    assert (few, many) == ({150}, {150, 1000})
    for each in lemmas.checks(Size(horizon=N, runs=1000)):
        if each.part == lemmas.PRACTICE:
            two = 2 * sum(np.exp(-each.runs / horizon) > 1e-9 for horizon in lemmas.OWN_HORIZONS)
            assert (1.0 - 1.0 / each.horizon) ** each.runs < 0.0025 / two  # Holm: n = 150 is beyond doubt
    for each in lemmas.checks(Size(horizon=N, runs=1)):
        if each.part == lemmas.THEOREM:
            (policy, *_) = each.policies.values()
            n_draws = policy.n_draws * each.runs * lemmas.N_LOOKS
            assert (1.0 - own.promised_optimism(policy.policy, N)) ** n_draws < 0.0025
