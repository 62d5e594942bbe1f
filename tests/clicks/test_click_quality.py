"""Log-likelihood and perplexity of click models."""

import math

import numpy as np
import pytest

from click_models_made_up import NAMES, made_up, probability, random_log, simulated_log
from corebandit.clicks import CM, PBM, UBM, fit
from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.quality import evaluate


def log_of(clicks):
    """Return a log of one query whose documents 0, 1, ... were always shown in this order."""
    return ClickLog.from_arrays([0] * len(clicks), [list(range(len(clicks[0])))] * len(clicks), clicks)


def test_a_coin_has_perplexity_two():
    quality = evaluate(PBM([0.5, 0.5], [1, 1]).user(), log_of([[0, 1], [1, 1], [0, 0]]))
    assert quality.log_likelihood == pytest.approx(math.log(0.5))
    assert [quality.perplexity, quality.conditional_perplexity] == pytest.approx([2, 2])
    assert quality.perplexity_by_rank == pytest.approx([2, 2])
    assert quality.n_sessions == 3


def test_quality_is_that_worked_out_by_hand():
    # two sessions, one click at rank 1, and none: full 0.3, 0.35; given no click above 0.3, 0.5
    quality = evaluate(CM([0.3, 0.5]).user(), log_of([[0, 1], [0, 0]]))
    at_0, at_1, at_1_given = 2 * math.log(0.7), math.log(0.35) + math.log(0.65), 2 * math.log(0.5)
    assert quality.log_likelihood == pytest.approx((at_0 + at_1_given) / 4)
    assert quality.log_likelihood_by_rank == pytest.approx([at_0 / 2, at_1_given / 2])
    assert quality.perplexity_by_rank == pytest.approx([math.exp(-at_0 / 2), math.exp(-at_1 / 2)])
    assert quality.conditional_perplexity_by_rank == pytest.approx([math.exp(-at_0 / 2), 2])
    assert quality.perplexity == pytest.approx((math.exp(-at_0 / 2) + math.exp(-at_1 / 2)) / 2)
    assert quality.conditional_perplexity == pytest.approx((math.exp(-at_0 / 2) + 2) / 2)


def test_a_second_click_surprises_the_cascade_model_but_not_beyond_measure():
    quality = evaluate(CM([0.5, 0.5]).user(), log_of([[1, 1]]))
    assert quality.log_likelihood_by_rank == pytest.approx([math.log(0.5), math.log(1e-6)])


@pytest.mark.parametrize("name", NAMES)
def test_the_log_likelihood_is_that_of_whole_sessions(name):
    log = simulated_log(name, 90, n_documents=4)
    (batch,) = log.batches()
    rows = log.pairs.rows_by_key("pair", unique=True)
    total = 0.0
    for pairs, clicks in zip(batch.pairs, batch.clicks, strict=True):
        query, ranking = rows[pairs[0]][0], [rows[pair][1] for pair in pairs]
        total += math.log(probability(made_up(name, 4, query), ranking, clicks))
    models = [made_up(name, 4, query) for query in range(3)]
    fields = [
        np.concatenate([getattr(model, field) for model in models])
        if "document" in axes
        else np.array(getattr(models[0], field), ndmin=1)
        for field, axes in models[0].shapes.items()
    ]
    assert evaluate(models[0].user_class(*fields), log).log_likelihood * 90 * 4 == pytest.approx(total)


def test_pairs_that_the_model_does_not_know_have_even_odds():
    fitted = fit("CM", ClickLog.from_arrays(["q"] * 8, [["a"]] * 8, [[0]] * 8))["CM"]  # attraction of a: 1 / 10
    quality = fitted.evaluate(ClickLog.from_arrays(["q", "q", "other"], [["new"], ["a"], ["a"]], [[1], [1], [1]]))
    assert quality.log_likelihood == pytest.approx((math.log(0.5) + math.log(0.1) + math.log(0.5)) / 3)


def test_a_fitted_model_explains_its_log_better_than_another_order_of_the_same_documents():
    log = simulated_log("PBM", 3_000, n_documents=5)
    (batch,) = log.batches()
    fitted = fit(["PBM", "CM"], log)
    shuffled = ClickLog(batch._replace(clicks=batch.clicks[:, ::-1].copy()), log.pairs, log.n_queries)
    table = fitted.evaluate(log)
    assert table["model"].to_list() == ["PBM", "CM"]
    assert table["perplexity"][0] < fitted.evaluate(shuffled)["perplexity"][0]
    assert table["log_likelihood"][0] > table["log_likelihood"][1]


def test_another_number_of_positions_is_refused():
    fitted = fit(["UBM"], random_log())
    with pytest.raises(ValueError, match="log must have 5 positions as the fitted one, not 2"):
        fitted.evaluate(log_of([[0, 1]]))


def test_batches_change_nothing():
    log = random_log(300)
    (batch,) = log.batches()
    user = UBM([0.5] * log.n_pairs, np.full((5, 5), 0.4)).user()
    in_parts = evaluate(user, ClickLog(batch, log.pairs, log.n_queries, batch_size=7))
    assert in_parts.perplexity == pytest.approx(evaluate(user, log).perplexity, rel=1e-12)
