import numpy as np
import pytest

from corebandit.experiments.statistics import Interval
from corebandit.report.claim import FAILS, HOLDS, UNDECIDED
from corebandit.reproduction.claims import above, below, covering, judged


def finding(low, high, bound=0.0, n_runs=100):
    return below(bound, Interval((low + high) / 2, low, high), n_runs, problem="p", policy="a", measure="a - b")


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(-2.0, -1.0, HOLDS), (1.0, 2.0, FAILS), (-1.0, 1.0, UNDECIDED), (-1.0, 0.0, HOLDS)]
)
def test_a_comparison_is_judged_by_where_its_interval_lies(low, high, verdict):
    assert finding(low, high).verdict == verdict


def test_few_runs_decide_nothing():
    assert finding(-2, -1, n_runs=9).verdict == UNDECIDED
    assert finding(1, 2, n_runs=1).verdict == UNDECIDED


def test_a_claim_holds_if_all_comparisons_do_and_fails_if_any_does():
    good, bad, open_ = finding(-2, -1), finding(1, 2), finding(-1, 1)
    assert judged("x", "claim", 4.0, [good, good]).verdict == HOLDS
    assert judged("x", "claim", 4.0, [good, open_]).verdict == UNDECIDED
    assert judged("x", "claim", 4.0, [good, open_, bad]).verdict == FAILS


def test_the_evidence_names_the_tightest_comparison():
    claim = judged("x", "claim", 4.0, [finding(-9, -8), finding(-2, -1)])
    assert claim.evidence == "2 of 2 comparisons hold; tightest: a - b (p) is -1.5 [-2, -1], bound 0"
    assert claim.describe()["details"][1]["ci_high"] == -1
    assert np.isfinite(claim.details[0].value)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(1.0, 2.0, HOLDS), (-2.0, -1.0, FAILS), (-1.0, 1.0, UNDECIDED), (0.0, 1.0, HOLDS)]
)
def test_what_should_be_above_is_judged_the_other_way_round(low, high, verdict):
    found = above(0.0, Interval(0.0, low, high), 100, problem="", policy="a", measure="a")
    assert found.verdict == verdict
    assert above(0.0, Interval(0.0, low, high), 9, problem="", policy="a", measure="a").verdict == UNDECIDED


@pytest.mark.parametrize(
    ("low", "high", "runs", "verdict"),
    [(-1.0, 1.0, 30, HOLDS), (0.5, 1.0, 30, FAILS), (-1.0, -0.5, 30, FAILS), (0.5, 1.0, 29, UNDECIDED)],
)
def test_an_interval_covers_a_value_or_does_not(low, high, runs, verdict):
    found = covering(0.0, Interval(0.0, low, high), runs, problem="", policy="a", measure="a")
    assert found.verdict == verdict


def test_the_tightest_comparison_is_found_among_all_kinds():
    wide = above(1.0, Interval(5.0, 4.0, 6.0), 100, problem="", policy="a", measure="wide")
    narrow = above(1.0, Interval(1.5, 1.2, 2.0), 100, problem="", policy="a", measure="narrow")
    assert "tightest: narrow is 1.5 [1.2, 2], bound 1" in judged("x", "claim", None, [wide, narrow]).evidence
