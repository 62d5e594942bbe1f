"""Fitting click models: counts by hand, EM against enumeration, what never decreases, what counting tends to."""

from itertools import permutations
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from click_models_made_up import BY_EM, NAMES, made_up, patterns, probability, random_log, simulated_log
from corebandit.clicks import CLICK_MODELS, fit
from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Stopping, climb, expect_sessions, log_prior, prior_counts

# Counting ---------------------------------------------------------------------------------------------------------

# Three sessions of one query: clicks at ranks 0 and 2, none, and at rank 1.
SHOWN = [["a", "b", "c"], ["b", "a", "c"], ["c", "b", "a"]]
CLICKS = [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


def by_hand(name, **options):
    log = ClickLog.from_arrays(["q"] * 3, SHOWN, CLICKS)
    return fit(name, log, **options)[name].per_query("q", ["a", "b", "c"])


def test_the_cascade_model_counts_down_to_the_first_click():
    # examined: a in sessions 0, 1 (a click and none); b in 1, 2 (none and a click); c in 1, 2 (none)
    assert by_hand("CM").attraction == (2 / 4, 2 / 4, 1 / 4)


def test_the_dependent_click_model_counts_down_to_the_last_click():
    # examined: a in 0, 1; b in 0, 1, 2; c in 0, 1, 2
    model = by_hand("DCM", method="counts")
    assert model.attraction == pytest.approx((2 / 4, 2 / 5, 2 / 5))
    # rank 0: one click, not the last; rank 1: one, the last; rank 2: one, the last
    assert model.stop_after_click_by_rank == pytest.approx((1 / 3, 2 / 3, 2 / 3))


def test_the_simplified_network_takes_the_last_click_for_the_satisfying_one():
    model = by_hand("SDBN", method="counts")
    assert model.attraction == pytest.approx((2 / 4, 2 / 5, 2 / 5))
    assert model.satisfaction == pytest.approx((1 / 3, 2 / 3, 2 / 3))


def test_counting_takes_no_iterations_and_is_the_maximum_for_the_cascade_model():
    log = random_log()
    counted = fit(["CM", "DCM", "SDBN"], log, method="counts")
    assert all(model.converged for model in counted.values())
    assert counted.history.is_empty()
    assert (counted["CM"].user.attraction == fit("CM", log)["CM"].user.attraction).all()


# EM ---------------------------------------------------------------------------------------------------------------


def test_the_first_iteration_of_the_dependent_click_model_is_that_by_hand():
    # It starts from the counts, a 1/2, b 2/5, c 2/5, stops 1/3, 2/3. Only session 2 may have ended in two ways: after
    # the click on b at rank 1 the user stopped, or went on and skipped a.
    went_on = (1 / 3 * 1 / 2) / (2 / 3 + 1 / 3 * 1 / 2)
    model = by_hand("DCM", iterations=1)
    assert model.attraction == pytest.approx((2 / (4 + went_on), 2 / 5, 2 / 5))
    # rank 0: one click, and the user went on; rank 1: one; a stop at rank 2 would change nothing
    assert model.stop_after_click_by_rank == pytest.approx((1 / 3, (2 - went_on) / 3, 1 / 2))


def test_the_first_iteration_of_the_simplified_network_is_that_by_hand():
    went_on = (1 / 3 * 1 / 2) / (2 / 3 + 1 / 3 * 1 / 2)  # as above: the satisfaction of b was counted 2/3
    model = by_hand("SDBN", iterations=1)
    assert model.attraction == pytest.approx((2 / (4 + went_on), 2 / 5, 2 / 5))
    # a was clicked and the user went on; the click on c was at the last rank and tells nothing
    assert model.satisfaction == pytest.approx((1 / 3, (2 - went_on) / 3, 1 / 2))


def test_stopping_at_the_last_rank_changes_nothing_and_stays_at_its_prior():
    log = simulated_log("DCM", 3_000, n_documents=4)
    fitted = fit("DCM", log)["DCM"]
    stops = fitted.user.stop_after_click_by_rank
    assert stops[-1] == 0.5
    before = fitted.evaluate(log)
    stops[-1] = 0.9
    assert fitted.evaluate(log).log_likelihood == before.log_likelihood
    assert fitted.evaluate(log).perplexity == before.perplexity


@pytest.mark.parametrize("name", ["DCM", "SDBN"])
def test_climbing_starts_from_the_counts_and_explains_the_log_better(name):
    log = simulated_log(name, 3_000, n_documents=5)
    counted, climbed = fit(name, log, method="counts")[name], fit(name, log)[name]
    share = log.n_sessions * log.n_positions
    assert climbed.history[0].log_likelihood == pytest.approx(counted.evaluate(log).log_likelihood * share)
    assert climbed.converged
    assert climbed.history[-1].log_likelihood > climbed.history[0].log_likelihood + 10
    assert climbed.evaluate(log).perplexity < counted.evaluate(log).perplexity


def test_the_first_iteration_of_the_position_based_model_is_that_by_hand():
    # all at 1/2: without a click, a document is attractive with probability (1/2 * 1/2) / (3/4) = 1/3, as is a rank
    model = by_hand("PBM", iterations=1)
    assert model.attraction == pytest.approx([(1 + 1 + 2 / 3) / 5] * 3)
    assert model.examination == pytest.approx([(1 + 1 + 2 / 3) / 5] * 3)


def test_the_first_iteration_of_the_browsing_model_is_that_by_hand():
    model = by_hand("UBM", iterations=1)
    assert model.attraction == pytest.approx([(1 + 1 + 2 / 3) / 5] * 3)
    expected = np.full((3, 3), 1 / 2)
    expected[0, 2] = (1 + 1 + 2 / 3) / 5  # rank 0, three times: a click, two skips
    expected[1, 0] = (1 + 1 / 3) / 3  # after a click at rank 0: a skip
    expected[1, 2] = (1 + 1 + 1 / 3) / 4  # no click before: a skip and a click
    expected[2, 0] = (1 + 1) / 3  # a click
    expected[2, 1] = (1 + 1 / 3) / 3  # a skip
    expected[2, 2] = (1 + 1 / 3) / 3
    assert np.array(model.examination_rank_prevclick) == pytest.approx(expected)


def decisions(name, user, rank, clicked):
    """Return what a user may decide after a document: probability, whether he goes on, (parameter, index, success)s."""
    if name in ("DCM", "SDBN"):
        if not clicked:
            return [(1.0, True, [])]
        stop = user[1][rank]
        return [(stop, False, [(1, rank, 1)]), (1 - stop, True, [(1, rank, 0)])]
    if name == "DBN":
        abandon, unsatisfied = user.abandon[0], 1 - user.satisfaction[rank]
        if not clicked:
            return [(abandon, False, [(2, 0, 1)]), (1 - abandon, True, [(2, 0, 0)])]
        return [
            (1 - unsatisfied, False, [(1, rank, 1)]),
            (unsatisfied * abandon, False, [(1, rank, 0), (2, 0, 1)]),
            (unsatisfied * (1 - abandon), True, [(1, rank, 0), (2, 0, 0)]),
        ]
    kinds = [(3, user.attraction[rank], [(0, rank, 1)]), (2, 1 - user.attraction[rank], [(0, rank, 0)])]
    found = []
    for kind, p, counted in kinds if clicked else [(1, 1.0, [])]:
        goes_on = user[kind][0]
        found.append((p * goes_on, True, [*counted, (kind, 0, 1)]))
        found.append((p * (1 - goes_on), False, [*counted, (kind, 0, 0)]))
    return found


def stories(name, user, clicks, rank=0):
    """Yield all that may have happened from a rank on that shows these clicks: probability, what was decided."""
    if rank == len(clicks):
        yield 1.0, []
        return
    attraction = user.attraction[rank]
    read = attraction if clicks[rank] else 1 - attraction
    is_last = rank == len(clicks) - 1
    for p, goes_on, decided in [(1.0, True, [])] if is_last else decisions(name, user, rank, clicks[rank]):
        seen = [(0, rank, clicks[rank]), *decided]
        if goes_on:
            for q, later in stories(name, user, clicks, rank + 1):
                yield read * p * q, seen + later
        elif not any(clicks[rank + 1 :]):
            yield read * p, seen


@pytest.mark.parametrize("name", ["DCM", "SDBN", "DBN", "CCM"])
def test_expected_counts_are_those_of_enumerating_all_that_may_have_happened(name):
    user = made_up(name, 4).user()
    expect = expect_sessions.compiled
    total = 0.0
    for clicks in patterns(4):
        counted = prior_counts(user)
        session = np.arange(4, dtype=np.int32)[None], clicks.astype(np.uint8)[None]
        log_likelihood = expect(user, *session, *counted, np.zeros(5))
        told = list(stories(name, user, clicks))
        likelihood = sum(p for p, _ in told)
        expected = prior_counts(user)
        for p, decided in told:
            for parameter, index, success in decided:
                expected[0][parameter][index] += success * p / likelihood
                expected[1][parameter][index] += p / likelihood
        assert np.concatenate(sum(counted, ())) == pytest.approx(np.concatenate(sum(expected, ())), abs=1e-12)
        assert log_likelihood == pytest.approx(np.log(likelihood))
        total += likelihood
    assert total == pytest.approx(1)


def expected_of(user, clicks):
    """Return log-likelihood, numerators and denominators of one session, without the prior."""
    numerators, denominators = (type(user)(*(np.zeros(values.shape) for values in user)) for _ in range(2))
    pairs, scratch = np.arange(clicks.size), np.zeros(clicks.size + 1)
    total = expect_sessions.compiled(user, pairs[np.newaxis], clicks[np.newaxis], numerators, denominators, scratch)
    return total, numerators, denominators


@pytest.mark.parametrize("n", [10, 1000, 1060, 1200, 5000])
@pytest.mark.parametrize("name", ["DCM", "SDBN"])
def test_long_pages_are_read_to_the_end(name, n):
    # After a skip everyone reads on, so the chance of no click at all is 0.5^n: no float from 1,075 on.
    user = CLICK_MODELS[name].user_class(np.full(n, 0.5), np.full(n, 0.25))
    nothing, once = np.zeros(n, np.int64), np.zeros(n, np.int64)
    once[n // 2] = 1
    total, numerators, denominators = expected_of(user, nothing)
    assert total == pytest.approx(n * np.log(0.5), rel=1e-12)
    np.testing.assert_allclose(denominators.attraction, 1.0, rtol=1e-12)
    np.testing.assert_array_equal(numerators.attraction, 0.0)
    # Whoever clicked in the middle left then, or went on and saw the rest in vain.
    total, numerators, denominators = expected_of(user, once)
    in_vain = 0.75 * 0.5 ** (n - n // 2 - 1)
    assert total == pytest.approx((n // 2 + 1) * np.log(0.5) + np.log(0.25 + in_vain), rel=1e-12)
    np.testing.assert_allclose(denominators.attraction[: n // 2 + 1], 1.0, rtol=1e-12)
    np.testing.assert_allclose(
        denominators.attraction[n // 2 + 1 :], in_vain / (0.25 + in_vain), rtol=1e-9, atol=1e-100
    )
    assert numerators[1].sum() == pytest.approx(0.25 / (0.25 + in_vain))


@pytest.mark.parametrize("n", [1000, 1200, 5000])
@pytest.mark.parametrize("name", ["DCM", "SDBN", "DBN", "CCM"])
def test_long_pages_can_be_fitted(name, n):
    clicks = np.zeros((4, n), np.int64)
    clicks[1, 0] = clicks[2, n // 3] = clicks[3, -1] = 1
    log = ClickLog.from_arrays(["q"] * 4, [[f"{page} {rank}" for rank in range(n)] for page in range(4)], clicks)
    fitted = fit(name, log, iterations=20)[name]
    penalised = [step.penalised for step in fitted.history]
    assert np.isfinite(penalised).all()
    assert np.diff(penalised).min() >= -1e-9 * abs(penalised[0])
    assert all(np.isfinite(values).all() for values in fitted.user)


@pytest.mark.parametrize("name", BY_EM)
@pytest.mark.parametrize("seed", range(3))
def test_likelihood_times_prior_never_decreases(name, seed):
    for log in (random_log(seed=seed), simulated_log(NAMES[seed], 300, n_documents=5, seed=seed)):
        history = fit(name, log, iterations=60, tolerance=0).history
        penalised = history["penalised"].to_numpy()
        assert len(penalised) > 10  # or nothing changes any more, to the last digit
        assert (np.diff(penalised) >= -1e-9 * np.abs(penalised[1:])).all()
        assert penalised[-1] > penalised[0] + 0.5


@pytest.mark.parametrize("name", BY_EM)
def test_the_likelihood_shown_is_that_of_the_parameters_returned(name):
    log = random_log()
    fitted = fit(name, log, iterations=7, tolerance=0)[name]
    mean = fitted.evaluate(log).log_likelihood
    assert fitted.history[-1].log_likelihood == pytest.approx(mean * log.n_sessions * log.n_positions)
    assert len(fitted.history) == 8


@pytest.mark.parametrize("name", BY_EM)
def test_iterating_stops_near_the_maximum(name):
    log, told = random_log(), []
    fitted = fit(name, log, progress=lambda *step: told.append(step))[name]
    assert fitted.converged
    assert told == [(name, i, step) for i, step in enumerate(fitted.history)]
    tight = fit(name, log, iterations=5_000, tolerance=1e-9)[name]
    assert tight.converged
    assert len(fitted.history) < len(tight.history)
    assert fitted.history[-1].penalised == pytest.approx(tight.history[-1].penalised, abs=1e-3)
    for found, maximum in zip(fitted.user, tight.user, strict=True):
        assert np.abs(found - maximum).max() < 2e-3
    assert not fit(name, log, iterations=2, tolerance=0)[name].converged


class OneParameter(NamedTuple):
    """All that a made-up model has."""

    p: np.ndarray


def climb_to(target, rate, log_likelihood, **limits):
    """Run EM whose steps leave `rate` of the way to `target`; return the estimate and all points where it has been."""
    seen = []

    def expect(user, numerators, denominators):
        seen.append(float(user.p[0]))
        numerators.p[0], denominators.p[0] = target + rate * (seen[-1] - target), 1.0
        return log_likelihood(seen[-1]) - log_prior(user)

    return climb(OneParameter(np.array([0.5])), expect, Stopping(**limits)), seen


def test_a_jump_goes_where_steadily_shrinking_steps_lead():
    estimate, seen = climb_to(0.3, 0.9, lambda p: -((p - 0.3) ** 2))
    assert seen[:3] == pytest.approx([0.5, 0.48, 0.3])
    assert estimate.converged
    assert len(estimate.history) == 3


def test_a_jump_that_explains_the_log_worse_is_not_taken():
    estimate, seen = climb_to(0.3, 0.9, lambda p: -abs(p - 0.3) if p > 0.31 else -9.0, iterations=4, tolerance=0)
    assert seen == pytest.approx([0.5, 0.48, 0.3, 0.462, 0.4458, 0.3, 0.43122])
    assert [step.penalised for step in estimate.history] == pytest.approx([-0.2, -0.18, -0.162, -0.1458, -0.13122])
    assert estimate.user.p[0] == pytest.approx(0.43122)


def test_the_largest_change_of_a_step_decides_when_to_stop():
    for tolerance in (1e-2, 1e-3):
        # Jumps are never taken: they lead to where nothing is explained.
        estimate, _ = climb_to(0.3, 0.9, lambda p: 0.0 if p > 0.3001 else -9.0, tolerance=tolerance)
        left = estimate.user.p[0] - 0.3
        assert estimate.converged
        assert 0.1 * left <= tolerance < 0.1 * left / 0.9


@pytest.mark.parametrize("name", NAMES)
def test_batches_change_nothing(name):
    log = random_log(500)
    (batch,) = log.batches()
    whole = fit(name, log, iterations=5, tolerance=0)[name]
    in_parts = fit(name, ClickLog(batch, log.pairs, log.n_queries, batch_size=17), iterations=5, tolerance=0)[name]
    for one, other in zip(whole.user, in_parts.user, strict=True):
        assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.heavy
@pytest.mark.parametrize("name", BY_EM)
def test_parameters_stay_clear_of_zero_and_one(name):
    n = 1_500_000
    shown, clicks = np.zeros((n, 1), np.int32), np.ones((n, 1), np.uint8)
    log = ClickLog.from_arrays(np.zeros(n, np.int32), shown, clicks, batch_size=n)
    user = fit(name, log, iterations=3, tolerance=0)[name].user
    assert user.attraction.tolist() == [1 - 1e-6]  # as many clicks in a row would say 1 - 7e-7


# What counting tends to -------------------------------------------------------------------------------------------


def limit_of_counts(model):
    """Return what counting tends to when all documents are shown in random order, by enumerating everything."""
    n, user = model.n_documents, model.user()
    numerators, denominators = (type(user)(*(np.zeros_like(values) for values in user)) for _ in range(2))
    for ranking in map(np.array, permutations(range(n))):
        for clicks in patterns(n):
            p = probability(model, ranking, clicks)
            up, down = (type(user)(*(np.zeros_like(values) for values in user)) for _ in range(2))
            user.count_session(ranking, clicks, up, down)
            for field in range(len(user)):
                numerators[field][:] += p * up[field]
                denominators[field][:] += p * down[field]
    return type(user)(*(up / down for up, down in zip(numerators, denominators, strict=True)))


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["DCM", "SDBN"])
def test_counts_tend_to_their_limit_which_is_not_the_truth(name):
    limits = [limit_of_counts(made_up(name, 4, query)) for query in range(3)]
    errors = []
    for n_sessions in (10_000, 160_000):
        fitted = fit(name, simulated_log(name, n_sessions, n_documents=4), method="counts")[name]
        gaps = []
        for query, limit in enumerate(limits):
            of_query = fitted.per_query(query, range(4))
            gaps.append(of_query.attraction - limit.attraction)
            if name == "SDBN":
                gaps.append(of_query.satisfaction - limit.satisfaction)
        errors.append(np.sqrt(np.mean(np.concatenate(gaps) ** 2)))
    assert errors[1] < 0.01
    assert 0.15 < errors[1] / errors[0] < 0.5
    # a user who reads on in vain is taken for one who stopped
    truth = made_up(name, 4, 0).user()
    assert (limits[0][1] > truth[1] + 0.02).all()
    assert (limits[0].attraction > truth.attraction).all()


# What comes back --------------------------------------------------------------------------------------------------


def test_the_model_of_a_query_has_its_documents_in_the_order_asked_for():
    fitted = fit(NAMES, random_log())
    models = fitted.per_query(1, [4, 2, 99], unknown="prior")
    assert list(models) == NAMES
    row = fitted["CM"].pairs.filter((pl.col("query") == 1) & (pl.col("document") == 2))["pair"][0]
    assert models["CM"].attraction[1] == fitted["CM"].user.attraction[row]
    assert models["CM"].attraction[2] == 0.5
    assert models["UBM"].examination_rank_prevclick == tuple(map(tuple, fitted["UBM"].user[1].tolist()))
    assert models["DBN"].abandon == fitted["DBN"].user.abandon[0]


@pytest.mark.parametrize("dtype", [pl.Int16, pl.UInt64])
def test_names_are_found_whatever_integers_hold_them(dtype):
    log = random_log()
    (batch,) = log.batches()
    narrow = ClickLog(batch, log.pairs.with_columns(pl.col("query", "document").cast(dtype)), log.n_queries)
    fitted, expected = fit("CM", narrow)["CM"], fit("CM", log)["CM"]
    asked = {"query": 1, "documents": [4, 70_000, 2], "unknown": "prior"}
    assert fitted.per_query(**asked) == expected.per_query(**asked)
    assert fitted.evaluate(log).perplexity == expected.evaluate(log).perplexity


def test_history_is_a_table_with_the_likelihood_after_every_iteration():
    fitted = fit(["CM", "PBM"], random_log(), iterations=3, tolerance=0)
    assert fitted.history.columns == ["model", "iteration", "log_likelihood", "penalised"]
    assert fitted.history["model"].to_list() == ["PBM"] * 4  # counting has none
    assert fitted["CM"].converged


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda log: fit("CCN", log), "unknown click model 'CCN': did you mean 'CCM'"),
        (lambda log: fit("CM", log, method="EM"), "method must be 'likelihood' or 'counts', not 'EM'"),
        (lambda log: fit(["DCM", "PBM"], log, method="counts"), "only CM, DCM, SDBN can be fitted by counts, not PBM"),
        (lambda log: fit("CM", log, iterations=0), "iterations must be a whole number of at least 1, not 0"),
        (lambda log: fit("CM", log, tolerance=-1), "tolerance must be a number of at least 0, not -1"),
        (lambda log: fit("CM", log)["CM"].per_query(1, []), "documents must name at least one document, not none"),
        (lambda log: fit("CM", log)["CM"].per_query("one", [1]), "query must be of type Int64 as in the fitted log"),
        (lambda log: fit("CM", log).per_query(1, [4, 99]), "the fitted log never showed document 99 for query 1"),
        (lambda log: fit("CM", log).per_query(9, [4]), "the fitted log never showed document 4 for query 9"),
        (lambda log: fit("CM", log).per_query(1, [4], unknown="no"), "unknown must be 'error' or 'prior', not 'no'"),
        (
            lambda log: fit(["CM"], "log.csv"),
            r"log must be a ClickLog, such as read_log\(path\) returns, not",
        ),
        (lambda log: fit("CM", log).evaluate("log.csv"), "log must be a ClickLog, such as"),
    ],
)
def test_mistakes_are_named(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(random_log())


def test_a_model_that_was_not_fitted_is_named():
    with pytest.raises(KeyError, match="PBM was not fitted, only CM"):
        fit("CM", random_log(20))["PBM"]


def test_an_empty_log_is_refused():
    log = random_log(2)
    (batch,) = log.batches()
    empty = ClickLog(type(batch)(*(values[:0] for values in batch)), log.pairs, log.n_queries)
    with pytest.raises(ValueError, match="log must hold at least one session, not none"):
        fit("CM", empty)
    with pytest.raises(ValueError, match="log must hold at least one session, not none"):
        fit("CM", log)["CM"].evaluate(empty)


def test_every_model_can_be_fitted():
    assert set(fit(list(CLICK_MODELS), random_log(50), iterations=1)) == set(CLICK_MODELS)
