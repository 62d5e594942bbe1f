from functools import cache

import pytest

from corebandit.policies import LinCORe, LinPHE, LinTS
from corebandit.report.claim import FAILS, HOLDS
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.paper.figure3 import BAD, GOOD, MAP, OWN_NOISE, READINGS, judge_rivals
from made_up import made_up, verdicts_of

FIGURE = FIGURES["figure3"]
OWN = READINGS[0].name


@cache
def quick_experiments():
    return FIGURE.experiments(FIGURE.quick_size, None)


def test_the_experiments_are_the_papers():
    easy, hard, *maps = FIGURE.experiments(FIGURE.paper_size, None)
    assert (easy.problem.sigma, hard.problem.sigma) == (0.2, 1.0)
    for experiment in (easy, hard):
        assert experiment.runs == 100
        assert experiment.policies["LinTS for easy"] == LinTS(sigma=0.2)
        assert experiment.policies["LinTS for hard"] == LinTS(sigma=1.0)
        assert experiment.policies["LinPHE for easy"] == LinPHE(a=0.2, pseudo="gaussian")
        assert experiment.policies["LinPHE for hard"] == LinPHE(a=1.0, pseudo="gaussian")
        for label, other in OWN_NOISE.items():
            own_noise = experiment.policies[label].changed(sigma=experiment.problem.sigma)
            assert experiment.policies[other] == own_noise != experiment.policies[label]
    for experiment, factor in zip(maps, (4.0, 2.0), strict=True):
        assert len(experiment.policies) == 49
        assert experiment.runs == 100
        assert LinCORe(alpha=1.4, z=0.8, warm_up=factor) in experiment.policies.values()


EASY = {
    "LinCORe": 100,
    "LinCORe (warm-up 2)": 80,
    "LinTS for easy": 95,
    "LinPHE for easy": 97,
    "LinTS for hard": 300,
    "LinPHE for hard": 280,
    "LinPHE for easy (problem's noise)": 96,
    "LinPHE for hard (problem's noise)": 285,
}
HARD = {
    "LinCORe": 300,
    "LinCORe (warm-up 2)": 280,
    "LinTS for easy": 900,
    "LinPHE for easy": 800,
    "LinTS for hard": 290,
    "LinPHE for hard": 310,
    "LinPHE for easy (problem's noise)": 810,
    "LinPHE for hard (problem's noise)": 305,
}


def verdicts(easy=None, hard=None, half=0.5, cells=None, early=200.0, judge=FIGURE.claims):
    easy, hard, cells = {**EASY, **(easy or {})}, {**HARD, **(hard or {})}, cells or {}

    def mean_regret(experiment, label):
        if experiment.part == MAP:
            cell = tuple(experiment.points[label].at.values())
            usual = 900 if cell in BAD.values() else 300 if cell in GOOD else 400
            return {experiment.horizon // 10: early * cell[1], experiment.horizon: cells.get(cell, usual)}
        end = (easy if experiment.problem.sigma == 0.2 else hard)[label]
        shares = {8: half / 4, 4: half / 2, 2: half, 1: 1.0}  # more checkpoints before half time than after it
        return {experiment.horizon // part: share * end for part, share in shares.items()}

    result = made_up(quick_experiments(), mean_regret)
    return verdicts_of(judge(result))


@pytest.mark.heavy
def test_all_claims_hold_when_it_is_as_the_paper_says():
    found = verdicts()
    assert set(found) == {
        *((f"F3.{letter}", factor) for letter in "abcde" for factor in (2.0, 4.0)),
        *((f"F3.{letter}", factor, OWN) for letter in "abc" for factor in (2.0, 4.0)),
    }
    assert set(found.values()) == {HOLDS}


def test_a_large_z_may_cost_nothing_early():
    assert {verdicts(early=-200.0)["F3.e", factor] for factor in (4.0, 2.0)} == {FAILS}


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"easy": {"LinTS for easy": 60}}, ("F3.a", 4.0)),
        ({"hard": {"LinPHE for hard": 200}}, ("F3.a", 4.0)),
        ({"half": 0.7}, ("F3.b", 4.0)),
        ({"hard": {"LinTS for easy": 250}}, ("F3.b", 2.0)),
        ({"easy": {"LinPHE for hard": 70}}, ("F3.c", 4.0)),
    ],
)
def test_claims_about_rivals_fail_when_it_is_otherwise(change, claim):
    assert verdicts(**change, judge=judge_rivals)[claim] == FAILS


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"cells": {(0.4, 0.5): 500}}, ("F3.d", 4.0)),
        ({"cells": {(1.2, 0.2): 190}}, ("F3.d", 2.0)),
        ({"cells": {(0.2, 0.2): 280}}, ("F3.d", 4.0)),
        ({"cells": {(1.4, 0.8): 280}}, ("F3.d", 4.0)),
    ],
)
def test_the_claim_about_the_map_fails_when_it_is_otherwise(change, claim):
    assert verdicts(**change)[claim] == FAILS


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"hard": {"LinPHE for hard (problem's noise)": 200}}, "F3.a"),
        ({"hard": {"LinPHE for easy (problem's noise)": 250}}, "F3.b"),
        ({"easy": {"LinPHE for hard (problem's noise)": 43}}, "F3.c"),  # as it is, with a = 1
    ],
)
def test_the_noise_of_pseudo_rewards_changes_its_own_verdicts_only(change, claim):
    found = verdicts(**change, judge=judge_rivals)
    assert {key[2] for key, verdict in found.items() if verdict == FAILS and len(key) == 3} == {OWN}
    assert found[claim, 4.0, OWN] == FAILS
    assert all(verdict == HOLDS for key, verdict in found.items() if len(key) == 2)


def test_the_map_is_a_part_of_its_own():
    assert {experiment.part for experiment in quick_experiments()} == {"", MAP}
