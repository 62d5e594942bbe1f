"""Fitting click models: counts by hand, EM against enumeration, what never decreases, and recovery of the truth."""

from itertools import permutations, product

import numpy as np
import polars as pl
import pytest
from click_models_made_up import BY_EM, NAMES, made_up, patterns, probability, random_log, simulated_log

from corebandit.ranking import CLICK_MODELS, ClickLog, fit
from corebandit.ranking.em import expect_sessions, prior_counts, tally_sessions

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
    model = by_hand("DCM")
    assert model.attraction == pytest.approx((2 / 4, 2 / 5, 2 / 5))
    # rank 0: one click, not the last; rank 1: one, the last; rank 2: one, the last
    assert model.stop_after_click_by_rank == pytest.approx((1 / 3, 2 / 3, 2 / 3))


def test_the_simplified_network_takes_the_last_click_for_the_satisfying_one():
    model = by_hand("SDBN")
    assert model.attraction == pytest.approx((2 / 4, 2 / 5, 2 / 5))
    assert model.satisfaction == pytest.approx((1 / 3, 2 / 3, 2 / 3))


# EM ---------------------------------------------------------------------------------------------------------------


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


def expected_counts_of_network(user, clicks):
    """Enumerate all that may have happened to a user of DBN: numerators, denominators, probability of the clicks."""
    n, abandon = len(clicks), user.abandon[0]
    numerators, denominators, total = np.zeros(2 * n + 1), np.zeros(2 * n + 1), 0.0
    for attracted, satisfied, tired in product(patterns(n), patterns(n), patterns(n - 1)):
        examined, seen, p = True, [], 1.0
        up, down = np.zeros(2 * n + 1), np.zeros(2 * n + 1)
        for rank in range(n):
            p *= user.attraction[rank] if attracted[rank] else 1 - user.attraction[rank]
            up[rank] += attracted[rank]
            down[rank] += 1
            clicked = examined and attracted[rank]
            seen.append(int(clicked))
            # decisions that do not come up are fixed at 0, so that every story is told once
            if clicked:
                p *= user.satisfaction[rank] if satisfied[rank] else 1 - user.satisfaction[rank]
                up[n + rank] += satisfied[rank]
                down[n + rank] += 1
            elif satisfied[rank]:
                p = 0.0
            if rank < n - 1:
                if examined and not (clicked and satisfied[rank]):
                    p *= abandon if tired[rank] else 1 - abandon
                    up[2 * n] += tired[rank]
                    down[2 * n] += 1
                    examined = not tired[rank]
                else:
                    examined = False
                    p *= not tired[rank]
        if seen == list(clicks):
            total += p
            numerators += p * up
            denominators += p * down
    return numerators / total, denominators / total, total


def expected_counts_of_chain(user, clicks):
    """Enumerate all that may have happened to a user of CCM: numerators, denominators, probability of the clicks."""
    n = len(clicks)
    go_on = [user.continue_no_click[0], user.continue_click_nonrelevant[0], user.continue_click_relevant[0]]
    numerators, denominators, total = np.zeros(n + 3), np.zeros(n + 3), 0.0
    for attracted, relevant, goes in product(patterns(n), patterns(n), patterns(n - 1)):
        examined, seen, p = True, [], 1.0
        up, down = np.zeros(n + 3), np.zeros(n + 3)
        for rank in range(n):
            attraction = user.attraction[rank]
            p *= attraction if attracted[rank] else 1 - attraction
            up[rank] += attracted[rank]
            down[rank] += 1
            clicked = examined and attracted[rank]
            seen.append(int(clicked))
            if clicked and rank < n - 1:
                p *= attraction if relevant[rank] else 1 - attraction
                up[rank] += relevant[rank]
                down[rank] += 1
            elif relevant[rank]:
                p = 0.0
            if rank < n - 1:
                if examined:
                    kind = 1 + relevant[rank] if clicked else 0
                    p *= go_on[kind] if goes[rank] else 1 - go_on[kind]
                    up[n + kind] += goes[rank]
                    down[n + kind] += 1
                    examined = bool(goes[rank])
                else:
                    p *= not goes[rank]
        if seen == list(clicks):
            total += p
            numerators += p * up
            denominators += p * down
    return numerators / total, denominators / total, total


@pytest.mark.parametrize(
    ("name", "enumerate_all"), [("DBN", expected_counts_of_network), ("CCM", expected_counts_of_chain)]
)
def test_expected_counts_are_those_of_enumerating_all_that_may_have_happened(name, enumerate_all):
    user = made_up(name, 3).user()
    expect = expect_sessions.prepared(user)
    for clicks in patterns(3):
        numerators, denominators = prior_counts(user)
        session = np.arange(3, dtype=np.int32)[None], clicks.astype(np.uint8)[None]
        log_likelihood = expect(user, *session, numerators, denominators, np.zeros(4))
        up, down, likelihood = enumerate_all(user, clicks)
        assert np.concatenate(numerators) - 1 == pytest.approx(up, abs=1e-12)
        assert np.concatenate(denominators) - 2 == pytest.approx(down, abs=1e-12)
        assert log_likelihood == pytest.approx(np.log(likelihood))


@pytest.mark.parametrize("name", BY_EM)
@pytest.mark.parametrize("seed", range(3))
def test_likelihood_times_prior_never_decreases(name, seed):
    for log in (random_log(seed=seed), simulated_log(NAMES[seed], 300, n_documents=5, seed=seed)):
        history = fit(name, log, iterations=60, tolerance=0).history
        penalised = history["penalised"].to_numpy()
        assert len(penalised) > 20  # or nothing changes any more, to the last digit
        assert (np.diff(penalised) >= -1e-9 * np.abs(penalised[1:])).all()
        assert penalised[-1] > penalised[0] + 1


@pytest.mark.parametrize("name", BY_EM)
def test_the_likelihood_shown_is_that_of_the_parameters_returned(name):
    log = random_log()
    fitted = fit(name, log, iterations=7, tolerance=0)[name]
    mean = fitted.evaluate(log).log_likelihood
    assert fitted.history[-1].log_likelihood == pytest.approx(mean * log.n_sessions * log.n_positions)
    assert len(fitted.history) == 8


@pytest.mark.parametrize("name", BY_EM)
def test_iterating_stops_when_nothing_changes_any_more(name):
    log, told = random_log(), []
    fitted = fit(name, log, iterations=500, tolerance=1e-6, progress=lambda *step: told.append(step))[name]
    assert fitted.converged
    last, before = fitted.history[-1].penalised, fitted.history[-2].penalised
    assert abs(last - before) <= 1e-6 * abs(last)
    assert [(told_name, i, step) for told_name, i, step in told] == [
        (name, i, step) for i, step in enumerate(fitted.history)
    ]
    assert not fit(name, log, iterations=2, tolerance=0)[name].converged


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
    n = 3_000_000
    shown, clicks = np.zeros((n, 1), np.int32), np.ones((n, 1), np.uint8)
    log = ClickLog.from_arrays(np.zeros(n, np.int32), shown, clicks, batch_size=n)
    user = fit(name, log, iterations=3, tolerance=0)[name].user
    assert user.attraction.tolist() == [1 - 1e-6]  # three million clicks in a row would say 1 - 3e-7


# Recovery ---------------------------------------------------------------------------------------------------------


def differences(name, n_sessions, n_documents):
    """Return estimates minus truth, for all parameters that a log tells something about."""
    fitted = fit(name, simulated_log(name, n_sessions, n_documents), iterations=400, tolerance=1e-8)[name]
    truth, found = {}, {}
    for query in range(3):
        of_query = fitted.per_query(query, range(n_documents))
        for field, axes in fitted.model.shapes.items():
            key = (field, query if "document" in axes else 0)
            truth[key] = np.array(getattr(made_up(name, n_documents, query), field))
            found[key] = np.array(getattr(of_query, field))
    if name in ("PBM", "UBM"):  # the likelihood leaves a common factor open: make the attractions fit best
        pairs = [(truth[key], found[key]) for key in truth if key[0] == "attraction"]
        factor = sum(true @ got for true, got in pairs) / sum(got @ got for _, got in pairs)
        for field, query in found:
            found[field, query] *= factor if field == "attraction" else 1 / factor
    gaps = [np.atleast_1d(found[key] - truth[key]) for key in truth]
    if name == "UBM":
        can_be = np.tri(n_documents, k=-1, dtype=bool)
        can_be[:, -1] = True
        gaps = [gap[can_be] if gap.ndim == 2 else gap for gap in gaps]
    return np.concatenate([gap.ravel() for gap in gaps])


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "bound"), [("CM", 0.02), ("PBM", 0.02), ("UBM", 0.04), ("DBN", 0.02), ("CCM", 0.02)])
def test_the_truth_is_recovered_and_errors_shrink_with_the_root_of_sessions(name, bound):
    few, many = (differences(name, n, n_documents=10) for n in (10_000, 160_000))
    assert np.abs(many).max() < bound
    ratio = np.sqrt(np.mean(many**2) / np.mean(few**2))
    assert 0.15 < ratio < 0.5


@pytest.mark.heavy
def test_estimates_of_the_cascade_model_are_off_by_their_standard_errors():
    log = simulated_log("CM", 160_000, n_documents=10)
    fitted = fit("CM", log)["CM"]
    numerators, denominators = prior_counts(fitted.user)
    (user, count) = fitted.user, tally_sessions.prepared(fitted.user)
    for batch in log.batches():
        count(user, batch.pairs, batch.clicks, numerators, denominators)
    truth = np.concatenate([made_up("CM", 10, query).attraction for query in range(3)])
    z = (user.attraction - truth) / np.sqrt(truth * (1 - truth) / denominators.attraction)
    assert np.abs(z).max() < 4
    assert 0.6 < z.std() < 1.4


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
def test_models_that_only_count_tend_to_their_limit_which_is_not_the_truth(name):
    limits = [limit_of_counts(made_up(name, 4, query)) for query in range(3)]
    errors = []
    for n_sessions in (10_000, 160_000):
        fitted = fit(name, simulated_log(name, n_sessions, n_documents=4))[name]
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
    models = fitted.per_query(1, [4, 2, 99])
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
    assert fitted.per_query(1, [4, 70_000, 2]) == expected.per_query(1, [4, 70_000, 2])
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
        (lambda log: fit("CM", log, iterations=0), "iterations must be a whole number of at least 1, not 0"),
        (lambda log: fit("CM", log, tolerance=-1), "tolerance must be a number of at least 0, not -1"),
        (lambda log: fit("CM", log)["CM"].per_query(1, []), "documents must name at least one document, not none"),
        (lambda log: fit("CM", log)["CM"].per_query("one", [1]), "query must be of type Int64 as in the fitted log"),
    ],
)
def test_mistakes_are_named(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(random_log())


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
