from functools import cache

import pytest

from corebandit.policies import LinCORe, LinPHE, LinTS
from corebandit.report.claim import FAILS, HOLDS
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.paper.figure3 import BAD, GOOD, MAP, NAME
from made_up import made_up, verdicts_of

FIGURE = FIGURES["figure3"]


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
}
HARD = {
    "LinCORe": 300,
    "LinCORe (warm-up 2)": 280,
    "LinTS for easy": 900,
    "LinPHE for easy": 800,
    "LinTS for hard": 290,
    "LinPHE for hard": 310,
}


def verdicts(easy=None, hard=None, half=0.5, cells=None):
    easy, hard, cells = {**EASY, **(easy or {})}, {**HARD, **(hard or {})}, cells or {}

    def mean_regret(experiment, label):
        if experiment.name == MAP:
            cell = tuple(experiment.points[label].at.values())
            usual = 900 if cell in BAD.values() else 300 if cell in GOOD else 400
            return cells.get(cell, usual)
        end = (easy if experiment.problem.sigma == 0.2 else hard)[label]
        return {experiment.horizon // 2: half * end, experiment.horizon: end}

    result = made_up(quick_experiments(), mean_regret)
    return verdicts_of(FIGURE.claims(result))


def test_all_claims_hold_when_it_is_as_the_paper_says():
    found = verdicts()
    assert set(found) == {(f"F3.{letter}", factor) for letter in "abcd" for factor in (2.0, 4.0)}
    assert set(found.values()) == {HOLDS}


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"easy": {"LinTS for easy": 60}}, ("F3.a", 4.0)),
        ({"hard": {"LinPHE for hard": 200}}, ("F3.a", 4.0)),
        ({"half": 0.7}, ("F3.b", 4.0)),
        ({"hard": {"LinTS for easy": 250}}, ("F3.b", 2.0)),
        ({"easy": {"LinPHE for hard": 70}}, ("F3.c", 4.0)),
        ({"cells": {(0.4, 0.5): 500}}, ("F3.d", 4.0)),
        ({"cells": {(1.2, 0.2): 190}}, ("F3.d", 2.0)),
        ({"cells": {(0.2, 0.2): 280}}, ("F3.d", 4.0)),
        ({"cells": {(1.4, 0.8): 280}}, ("F3.d", 4.0)),
    ],
)
def test_claims_fail_when_it_is_otherwise(change, claim):
    assert verdicts(**change)[claim] == FAILS


def test_the_map_is_a_figure_of_its_own():
    assert {experiment.name for experiment in quick_experiments()} == {NAME, MAP}
