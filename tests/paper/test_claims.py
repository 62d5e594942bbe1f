import numpy as np
import pytest

from corebandit.paper.claims import FAILS, HOLDS, UNDECIDED, below, judged
from corebandit.statistics import Interval


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
