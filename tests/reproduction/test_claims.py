"""Verdicts on made-up data whose truth is known."""

import numpy as np
import pytest
from scipy import stats

from corebandit.experiments.curve import Curve
from corebandit.experiments.result import Result
from corebandit.experiments.statistics import log_ratio, mean_estimate
from corebandit.report.claim import FAILS, HOLDS, LEVEL, LOOKS, UNDECIDED, holm
from corebandit.reproduction.claims import (
    ENOUGH_RUNS,
    SIMILAR,
    SIMILAR_LEVEL,
    Finals,
    Subject,
    below,
    exactly,
    judged,
    often,
    rarely,
    ratio_above,
    ratio_below,
    similar,
)

IT = Subject("p", "a", "a - b")
N = ENOUGH_RUNS


def normal(mean, n_runs=N, seed=0, spread=1.0):
    """Return a sample of exactly this mean."""
    noise = np.random.default_rng(seed).normal(size=n_runs)
    return mean + spread * (noise - noise.mean())


def gap(mean, n_runs=N, seed=0):
    return below(0.0, mean_estimate(normal(mean, n_runs, seed)), n_runs, IT)


@pytest.mark.parametrize(("mean", "verdict"), [(-0.2, HOLDS), (0.2, FAILS), (-0.03, UNDECIDED), (0.0, UNDECIDED)])
def test_a_comparison_is_judged_by_how_far_it_is_from_the_bound(mean, verdict):
    assert gap(mean).verdict == verdict
    assert gap(mean, N - 1).verdict == LOOKS[verdict]


def test_a_policy_is_not_below_itself():
    same = below(0.0, mean_estimate(np.zeros(N)), N, IT)
    assert same.verdict == FAILS
    assert (same.p_holds, same.p_fails) == (1.0, 0.0)


@pytest.mark.heavy
def test_false_verdicts_are_as_rare_as_the_level_says():
    rng = np.random.default_rng(1)
    found = [below(0.0, mean_estimate(rng.normal(size=100)), N, IT) for _ in range(400)]
    assert 8 <= sum(each.p_holds <= 0.05 for each in found) <= 34  # 5 % of 400 is 20
    assert 8 <= sum(each.p_fails <= 0.05 for each in found) <= 34
    assert [each for each in found if each.verdict == HOLDS] == [each for each in found if each.p_holds <= LEVEL]
    assert sum(each.verdict != UNDECIDED for each in found) <= 8  # 0.5 % of 400 is 2


def ratio(value, n_runs=N, spread=0.1):
    return log_ratio(normal(value, n_runs, seed=1, spread=spread), normal(1.0, n_runs, seed=2, spread=spread))


@pytest.mark.parametrize(("value", "verdict"), [(1.2, HOLDS), (1.3, FAILS), (1.25, UNDECIDED)])
def test_ratios_are_judged_against_their_bound(value, verdict):
    found = ratio_below(1.25, ratio(value), N, IT)
    assert found.verdict == verdict
    assert found.value == pytest.approx(value)
    assert found.ci_low < value < found.ci_high
    assert found.bound == 1.25
    opposite = {HOLDS: FAILS, FAILS: HOLDS, UNDECIDED: UNDECIDED}
    above = ratio_above(1.25, ratio(value), N, IT)
    assert above.verdict == opposite[verdict]
    assert (above.value, above.ci_low, above.ci_high) == pytest.approx((found.value, found.ci_low, found.ci_high))
    assert above.bound == 1.25


@pytest.mark.parametrize(
    ("value", "spread", "verdict"),
    [
        (1.0, 0.1, HOLDS),
        (1.03, 0.1, HOLDS),  # different, but similar: precision does not refute
        (1.0, 2.0, UNDECIDED),  # noise does not confirm
        (1.1, 0.1, FAILS),
        (0.9, 0.1, FAILS),
        (0.97, 0.1, HOLDS),
        (1.05, 0.1, UNDECIDED),
    ],
)
def test_similar_means_within_a_margin_and_known_to_be(value, spread, verdict):
    assert similar(ratio(value, spread=spread), N, IT).verdict == verdict


def test_that_two_margins_are_tried_is_allowed_for():
    estimate, (low, high) = ratio(1.055), np.log(SIMILAR)
    beyond = estimate.chance_below(high)
    assert beyond < estimate.chance_above(low)
    assert similar(estimate, N, IT).p_fails == pytest.approx(2.0 * beyond)


def test_the_interval_beside_similar_is_within_the_margin_where_it_holds():
    found = {value: similar(ratio(value), N, IT) for value in (1.04, 1.0415, 1.043)}
    is_within = {value: SIMILAR[0] <= each.ci_low and each.ci_high <= SIMILAR[1] for value, each in found.items()}
    assert is_within == {value: each.verdict == HOLDS for value, each in found.items()}
    assert set(is_within.values()) == {True, False}


@pytest.mark.parametrize(
    ("failures", "trials", "verdict"),
    [(0, 10_000, HOLDS), (10, 10_000, UNDECIDED), (30, 10_000, FAILS), (0, 100, UNDECIDED)],
)
def test_what_happens_rarely_is_judged_exactly(failures, trials, verdict):
    assert rarely(0.001, failures, trials, IT).verdict == verdict


@pytest.mark.parametrize(
    ("successes", "trials", "verdict"),
    [(0, 10_000, FAILS), (0, 5_000, UNDECIDED), (10, 10_000, UNDECIDED), (30, 10_000, HOLDS)],
)
def test_what_happens_often_is_judged_exactly(successes, trials, verdict):
    assert often(0.001, successes, trials, IT).verdict == verdict


@pytest.mark.parametrize("count", [0, 3, 10, 30])
def test_shares_are_judged_by_exact_binomial_tests(count):
    few, many = (stats.binomtest(count, 500, 0.02, side).pvalue for side in ("less", "greater"))
    seldom, frequent = rarely(0.02, count, 500, IT), often(0.02, count, 500, IT)
    assert (seldom.p_holds, seldom.p_fails) == pytest.approx((few, many))
    assert (frequent.p_holds, frequent.p_fails) == pytest.approx((many, few))


def test_trials_that_hang_together_hold_less_and_fail_as_much():
    alone, together = rarely(0.02, 2, 500, IT), rarely(0.02, 2, 500, IT, clustering=5.0)
    assert together.p_holds == pytest.approx(stats.beta.sf(0.02, 1.4, 99.6))
    assert together.p_holds > 20.0 * alone.p_holds
    assert together.p_fails == alone.p_fails
    assert together.ci_high > 2.0 * alone.ci_high
    frequent, clustered = often(0.02, 30, 500, IT), often(0.02, 30, 500, IT, clustering=5.0)
    assert clustered.p_holds > 20.0 * frequent.p_holds
    assert clustered.p_fails == frequent.p_fails
    assert clustered.ci_low < frequent.ci_low < 0.06 < frequent.ci_high < clustered.ci_high


def test_what_happens_always_does_not_happen_rarely():
    assert rarely(0.02, 500, 500, IT).p_holds == 1.0
    assert often(0.02, 0, 500, IT).p_holds == 1.0


def test_of_nothing_nothing_is_said():
    claim = judged("A", "that it is so", None, [])
    assert claim.verdict == claim.uncorrected == UNDECIDED
    assert claim.evidence == "nothing was measured"


def test_what_is_no_estimate_is_so_or_not():
    assert exactly(0.0, 0, 20, IT).verdict == HOLDS
    assert exactly(0.0, 1, 20, IT).verdict == FAILS


# Claims of several comparisons ------------------------------------------------------------------------------------


def claim(*findings):
    return judged("x", "claim", 4.0, findings)


def test_a_claim_holds_if_all_comparisons_do_and_fails_if_any_does():
    good, bad, open_ = gap(-0.2), gap(0.2), gap(-0.03)
    assert claim(good, good).verdict == HOLDS
    assert claim(good, open_).verdict == claim(good, open_).uncorrected == UNDECIDED
    assert claim(good, open_, bad).verdict == FAILS


@pytest.mark.heavy
def test_one_surprise_among_many_comparisons_is_none():
    barely = next(found for mean in np.arange(0.06, 0.12, 0.0005) if (found := gap(mean)).p_fails < 0.9 * LEVEL)
    assert barely.verdict == FAILS
    good = [gap(-0.2, seed=seed) for seed in range(9)]
    many = claim(barely, *good)
    assert (many.verdict, many.uncorrected) == (UNDECIDED, FAILS)
    assert claim(barely).verdict == FAILS
    surely = gap(0.2)
    assert claim(surely, *good).verdict == FAILS


def test_holm_steps_down():
    assert holm([0.04, 0.01, 0.03], 0.05) == [False, True, False]
    assert holm([0.01, 0.02, 0.049], 0.05) == [True, True, True]
    assert holm([0.025, 0.05], 0.05) == [True, True]  # as small as the level is small enough, as for one alone
    assert holm([], 0.05) == []


@pytest.mark.heavy
def test_few_runs_get_a_first_look_that_says_how_many_would_do():
    few = claim(gap(-0.2, 100), gap(-0.5, 100))
    assert few.verdict == LOOKS[HOLDS] or few.verdict == LOOKS[UNDECIDED]
    assert "a first look: verdicts are given from 1,000 runs on, not 100" in few.evidence
    assert claim(gap(0.5, 100)).verdict == LOOKS[FAILS]
    open_ = claim(gap(-0.06))
    assert open_.verdict == UNDECIDED
    wanted = open_.details[0].runs_to_tell
    assert f"about {wanted:,} runs would tell" in open_.evidence
    assert gap(-0.06, wanted).verdict == HOLDS


def test_one_comparison_of_few_runs_makes_a_claim_a_first_look():
    mixed = claim(gap(-0.2), gap(-0.5, 100))
    assert mixed.verdict == LOOKS[HOLDS]
    assert "from 1,000 runs on, not 100" in mixed.evidence


def test_half_the_gap_takes_four_times_the_runs():
    assert gap(-0.005).runs_to_tell == pytest.approx(4 * gap(-0.01).runs_to_tell, rel=1e-3)


def test_similar_keeps_its_level_in_a_claim():
    found = similar(ratio(1.0395), N, IT)
    assert LEVEL < found.p_holds < SIMILAR_LEVEL / 2
    assert claim(found, found).verdict == HOLDS


def test_the_evidence_names_the_tightest_comparison():
    sure, tight = gap(-0.9), gap(-0.1)
    assert "2 of 2 comparisons hold one by one; tightest: a - b (p) is -0.1 [" in claim(sure, tight).evidence
    assert "tightest: a - b (p) is 0.2 [" in claim(sure, tight, gap(0.2)).evidence
    described = claim(sure).describe()["details"][0]
    assert described["verdict"] == HOLDS
    assert described["ci_high"] < 0


# Paired runs ------------------------------------------------------------------------------------------------------


def finals(**regrets):
    curves = [
        Curve("f", "p", policy, "", np.array([10]), values[:, None], cpu_seconds=0.0)
        for policy, values in regrets.items()
    ]
    return Finals(Result([], curves), "f")


def test_regrets_are_compared_run_by_run():
    hardness = 100.0 * np.random.default_rng(3).lognormal(size=N)
    found = finals(own=hardness, rival=hardness + normal(1.0, spread=2.0), twin=hardness)
    assert found.less("p", "own", "rival").verdict == HOLDS  # though the spread of each is a hundred times the gap
    assert found.less("p", "rival", "own").verdict == FAILS
    assert found.less("p", "own", "twin").verdict == FAILS


@pytest.mark.heavy
def test_the_best_rival_is_chosen_in_each_resample():
    rng = np.random.default_rng(4)
    own = rng.normal(11.0, 3.0, size=N)
    rivals = {f"rival {place}": rng.normal(10.0, 3.0, size=N) for place in range(8)}
    found = finals(own=own, **rivals)
    together = found.comparable("p", "own", list(rivals), 1.12)
    alone = min((found.comparable("p", "own", [rival], 1.12) for rival in rivals), key=lambda each: each.p_fails)
    assert together.value == max(found.comparable("p", "own", [rival], 1.12).value for rival in rivals)
    assert together.measure == f"own / {min(rivals, key=lambda rival: rivals[rival].mean())}"
    # The luckiest of eight equal rivals is lower than the truth: choosing again in each resample allows for it.
    assert together.p_fails > alone.p_fails


@pytest.mark.heavy
def test_a_rival_lucky_in_the_sample_does_not_refute():
    rng = np.random.default_rng(5)
    n_false = {"anew": 0, "once": 0}
    for _ in range(40):
        own = rng.normal(12.5, 8.0, size=150)
        rivals = {f"r{place}": rng.normal(10.0, 8.0, size=150) for place in range(8)}
        found = finals(own=own, **rivals)
        best = min(rivals, key=lambda rival: rivals[rival].mean())
        n_false["anew"] += found.comparable("p", "own", list(rivals), 1.25).p_fails <= 0.025
        n_false["once"] += found.comparable("p", "own", [best], 1.25).p_fails <= 0.025
    assert n_false["anew"] <= 3 < n_false["once"]
