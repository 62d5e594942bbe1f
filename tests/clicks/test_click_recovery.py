"""Every click model finds the parameters that made a log, to within standard errors that shrink as 1 / sqrt(sessions).

Standard errors come from the information of a session about the parameters, the mean product of its scores. The scores
are differences of log-likelihoods, so nothing of how models are fitted is used.
"""

import math

import numpy as np
import pytest

from click_models_made_up import NAMES, made_up, simulated_log
from corebandit.clicks import CLICK_MODELS, Sessions, fit
from corebandit.clicks.click_log import ClickLog
from corebandit.compiled.bridge import EntryPoint
from often import often

N_SESSIONS, N_QUERIES, N_DOCUMENTS = 200_000, 3, 5


@EntryPoint
def fill_log_likelihoods(user, pairs, clicks, probabilities, log_likelihoods):
    """Fill the log probability of the clicks of each session."""
    for session in range(pairs.shape[0]):
        user.fill_conditional_probabilities(pairs[session], clicks[session], probabilities)
        log_likelihoods[session] = 0.0
        for rank in range(probabilities.size):
            happened = probabilities[rank] if clicks[session, rank] else 1.0 - probabilities[rank]
            log_likelihoods[session] += math.log(happened)


def true_user(name):
    """Return the user whose documents are the pairs of `simulated_log`."""
    users = [made_up(name, N_DOCUMENTS, query).user() for query in range(N_QUERIES)]
    return CLICK_MODELS[name].user_class(
        *(
            np.concatenate([getattr(user, field) for user in users]) if "document" in axes else getattr(users[0], field)
            for field, axes in CLICK_MODELS[name].shapes.items()
        )
    )


def is_told_by_clicks(name, user):
    """Return for each parameter whether a log tells about it."""
    told = type(user)(*(np.ones(values.shape, dtype=bool) for values in user))
    if name == "DCM":
        told.stop_after_click_by_rank[-1] = False  # nothing is left to stop for
    if name == "UBM":
        told.examination_rank_prevclick[:] = np.tri(N_DOCUMENTS, k=-1, dtype=bool)  # the previous click is above
        told.examination_rank_prevclick[:, -1] = True
    if name in ("PBM", "UBM"):
        told[1].flat[first_examination(name)] = False  # only products are seen, so this one is known: see `scaled`
    return flat(told)


def first_examination(name):
    """Return the flat index of the examination parameter of the first rank."""
    return {"PBM": 0, "UBM": N_DOCUMENTS - 1}[name]


def scaled(name, user, truth):
    """Return a user of PBM or UBM with the true examination of the first rank, and the same clicks; others as is."""
    if name not in ("PBM", "UBM"):
        return user
    factor = user[1].flat[first_examination(name)] / truth[1].flat[first_examination(name)]
    return type(user)(user[0] * factor, user[1] / factor)


def flat(user):
    return np.concatenate([values.reshape(-1) for values in user])


def unflat(user, values):
    """Return a user of the shape of `user` with these parameters."""
    ends = np.cumsum([field.size for field in user])[:-1]
    return type(user)(*(part.reshape(field.shape) for part, field in zip(np.split(values, ends), user, strict=True)))


def standard_errors(truth, told, sessions, n_sessions):
    """Return the standard errors of the parameters that clicks tell about, estimated from `n_sessions`."""
    fill, probabilities = fill_log_likelihoods.compiled, np.empty(N_DOCUMENTS)
    step, (where,) = 1e-4, np.nonzero(told)
    scores = np.zeros((where.size, len(sessions.queries)))
    for i, parameter in enumerate(where):
        for sign in (-1, 1):
            moved, log_likelihoods = flat(truth), np.empty(len(sessions.queries))
            moved[parameter] += sign * step
            fill(unflat(truth, moved), sessions.pairs, sessions.clicks, probabilities, log_likelihoods)
            scores[i] += sign * log_likelihoods / (2 * step)
    information = scores @ scores.T / len(sessions.queries)
    return np.sqrt(np.diag(np.linalg.inv(information)) / n_sessions)


def every(log, n, start=0):
    """Return every n-th session of a log."""
    batches = list(log.batches())
    return Sessions(*(np.ascontiguousarray(np.concatenate(parts)[start::n]) for parts in zip(*batches, strict=True)))


@pytest.mark.heavy
@pytest.mark.parametrize("name", often(["CM", "PBM", "DBN"], NAMES))
def test_the_truth_is_recovered_to_standard_errors_that_shrink_with_the_root_of_sessions(name):
    truth, log = true_user(name), simulated_log(name, N_SESSIONS, N_DOCUMENTS, N_QUERIES)
    told = is_told_by_clicks(name, truth)
    error = standard_errors(truth, told, every(log, 10), N_SESSIONS)
    assert error.max() < 0.05  # so that being off by a few of them is being close

    def off(sessions):
        """Return how far estimates are from the truth, in standard errors of the whole log: of each, and on average."""
        fitted = fit(name, ClickLog(sessions, log.pairs, log.n_queries), iterations=1000, tolerance=1e-6)[name]
        assert fitted.converged
        z = (flat(scaled(name, fitted.user, truth)) - flat(truth))[told] / error
        return z, np.sqrt(np.mean(z**2))

    z, whole = off(every(log, 1))
    assert np.abs(z).max() < 4
    assert 0.6 < whole < 1.4
    quarters = [off(every(log, 4, start))[1] for start in range(2)]
    assert 1.6 < np.mean(quarters) < 2.4  # standard errors of a quarter of the sessions are twice as large
