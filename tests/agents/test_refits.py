"""Estimators are fitted again beside the decisions: the old model answers until the new one takes over."""

import json
import threading
import warnings

import numpy as np
import pytest

import corebandit as cb
from same_agents import in_common

POLICY = cb.EstimatorCORe(cb.RidgeRegression(), refit=10, warm_up=0.1)
GATE = threading.Event()


class Slow(cb.RidgeRegression):
    """Fits when the gate is open."""

    def fit(self, X, y, sample_weight=None):
        assert GATE.wait(20)
        return super().fit(X, y, sample_weight)


class Moody(cb.RidgeRegression):
    """Cannot be fitted to many rows."""

    def fit(self, X, y, sample_weight=None):
        if len(X) > 30:
            raise RuntimeError("too much")
        return super().fit(X, y, sample_weight)


class ByWidth(cb.RidgeRegression):
    """Says something else if it is fitted with other columns, be they of zeros."""

    def predict(self, X):
        return super().predict(X) * np.cos(X.shape[1]) + np.sin(7.0 * np.arange(len(X)) * X.shape[1])


def play(agent, n, seed=1, waits=True):
    """Let an agent decide and learn, and wait for each fit that begins, so that all is decided."""
    rng, arms = np.random.default_rng(seed), []
    for _ in range(n):
        rows = rng.normal(size=(3, 2))
        decision = agent.ask(rows)
        agent.tell(decision, float(rows[decision.arm, 0] + 0.1 * rng.normal()))
        arms.append(decision.arm)
        if waits and agent._refits is not None:
            agent._refits.wait()
    return arms


def n_fitted(agent):
    return int(agent._desk.state.last_fit[0])


@pytest.mark.heavy
def test_no_decision_waits_for_a_fit_and_the_old_model_answers():
    GATE.set()
    agent = cb.Agent(cb.EstimatorCORe(Slow(), refit=10, warm_up=0.1), seed=7, refit_later=True)
    play(agent, 40)
    GATE.clear()
    model, before = agent._desk.state.model, n_fitted(agent)
    play(agent, 30, waits=False)  # each would wait for ever
    answering = model.current
    assert agent._refits.pending is not None
    assert n_fitted(agent) == before
    GATE.set()
    agent._refits.wait()
    agent.ask(np.eye(3, 2))
    assert n_fitted(agent) > before
    assert agent._desk.state.model.current is not answering


def test_it_learns_as_well_as_with_fits_at_once():
    agent = cb.Agent(POLICY, seed=7, refit_later=True)
    play(agent, 600)  # past the point where buffers grow
    rng, n_best = np.random.default_rng(5), 0
    for _ in range(100):
        rows = rng.normal(size=(3, 2))
        n_best += agent.ask(rows).arm == rows[:, 0].argmax()
    assert n_best > 85


def test_a_twin_goes_on_with_the_fit_that_is_pending():
    agent = cb.Agent(POLICY, seed=7, refit_later=True)
    play(agent, 45)
    while agent._refits.pending is None:
        play(agent, 1)
    twin = cb.Agent.from_dict(json.loads(json.dumps(agent.to_dict())), POLICY)
    assert twin._refits.pending.seed == agent._refits.pending.seed
    agent._refits.leave_thread()  # so that both begin it with their next decision
    assert play(agent, 60, seed=2) == play(twin, 60, seed=2)
    assert in_common(agent) == in_common(twin)
    content = agent.to_dict()
    content["refit"] = {"targets": content["rng"], "seed": 1}
    with pytest.raises(cb.DamagedFile):
        cb.Agent.from_dict(content, POLICY)


def test_the_journal_says_when_a_model_took_over(tmp_path):
    url = f"sqlite:///{tmp_path}/shop.db"
    agent = cb.open_agent(url, "shop", POLICY, seed=7, refit_later=True, synchronous="normal")
    play(agent, 80)
    events = [json.loads(text)[0] for _, text in agent._store.events("shop")]
    assert events.count("refit") >= events.count("refit done") > 2
    content = agent.to_dict()
    agent._keep_snapshot = lambda *snapshot: None  # so that everything is done again
    agent.close()
    with cb.open_agent(url, "shop", POLICY, synchronous="normal") as agent:
        assert agent.to_dict() == content
        play(agent, 20, seed=2)
    with cb.open_agent(url, "shop", POLICY, synchronous="normal", change=True, refit_later=False) as agent:
        assert agent.n_observations == 100


def test_probabilities_are_of_the_model_that_answers_next():
    agent = cb.Agent(POLICY, seed=7, refit_later=True)
    play(agent, 50)
    while agent._refits.pending is None:
        play(agent, 1, waits=False)
    rows = np.random.default_rng(9).normal(size=(3, 2))
    before = agent.to_dict()
    likely = agent.probabilities(rows, draws=20)
    assert agent.to_dict() == before
    assert sorted(likely.values()) == [0.0, 0.0, 1.0]
    assert likely[agent.ask(rows).arm] == 1.0


def test_a_fit_that_fails_leaves_the_old_model():
    policy = cb.EstimatorCORe(Moody(), refit=10, warm_up=0.1)
    agent = cb.Agent(policy, seed=7, refit_later=True)
    with pytest.warns(UserWarning, match=r"^the model stays as it was, since it could not be fitted again: .*too much"):
        play(agent, 60)
    assert n_fitted(agent) <= 30


def test_a_fit_that_failed_is_tried_again_when_enough_is_new():
    policy = cb.EstimatorCORe(Moody(), refit=10, warm_up=0.1)
    agent = cb.Agent(policy, seed=7, refit_later=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play(agent, 130)
        n_warned = len(caught)
        for _ in range(100):  # nothing is told
            agent.ask(np.eye(3, 2))
            agent._refits.wait()
    assert 5 <= n_warned <= 10
    assert len(caught) <= n_warned + 1
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.filterwarnings("ignore:the model stays as it was")
def test_a_twin_knows_when_a_fit_failed_and_so_does_what_a_journal_tells(tmp_path):
    url, policy = f"sqlite:///{tmp_path}/shop.db", cb.EstimatorCORe(Moody(), refit=10, warm_up=0.1)
    agent = cb.open_agent(url, "shop", policy, seed=7, refit_later=True, synchronous="normal")
    play(agent, 40)
    while agent._refits.pending is not None:  # until it has failed
        agent.ask(np.eye(3, 2))
        agent._refits.wait()
    content = agent.to_dict()
    assert 30 < content["refit_failed_at"] <= agent.n_observations
    twin = cb.Agent.from_dict(content, policy)
    assert twin.to_dict()["refit_failed_at"] == content["refit_failed_at"]
    for _ in range(20):  # nothing is new
        twin.ask(np.eye(3, 2))
        assert twin._refits.pending is None
    agent._keep_snapshot = lambda *snapshot: None  # so that everything is done again
    agent.close()
    with cb.open_agent(url, "shop", policy, synchronous="normal") as again:
        assert again.to_dict() == content
    with pytest.raises(cb.DamagedFile, match="refit_failed_at must not be after all that was learnt"):
        cb.Agent.from_dict({**content, "refit_failed_at": 1000}, policy)


def test_words_that_come_while_a_model_is_fitted_are_fitted_too():
    context = cb.Context(arm=["brand"])
    agent = cb.Agent(POLICY, ["a", "b"], seed=7, context=context, refit_later=True)
    for number in range(80):
        brands = {"a": {"brand": f"brand {number // 8}"}, "b": {"brand": "other one"}}
        decision = agent.ask(arms=brands)
        agent.tell(decision, float(decision.arm == "a"))
        if number % 3 == 0:
            agent._refits.wait()
    assert agent._desk.n_features == len(agent._encoder) > 10


def offer(agent, number, waits=False):
    """Offer something with a word that was never seen."""
    decision = agent.ask(arms={"a": {"brand": f"brand {number}"}, "b": {"brand": "other one"}})
    agent.tell(decision, float(decision.arm == "a"))
    if waits:
        agent._refits.wait()
    return decision.arm


def test_the_old_model_answers_for_new_words_too():
    GATE.set()
    policy, context = cb.EstimatorCORe(Slow(), refit=10, warm_up=0.1), cb.Context(arm=["brand"], max_words=500)
    agent = cb.Agent(policy, ["a", "b"], seed=7, context=context, refit_later=True)
    for number in range(40):
        offer(agent, number, waits=True)
    GATE.clear()
    before = n_fitted(agent)
    for number in range(40, 70):
        offer(agent, number)  # each would wait for ever
    assert n_fitted(agent) == before
    GATE.set()
    agent._refits.wait()
    offer(agent, 70)
    assert n_fitted(agent) > before


@pytest.mark.parametrize("estimator", [cb.RidgeRegression(), ByWidth()], ids=["ridge", "by width"])
def test_a_model_of_fewer_columns_is_saved_and_done_again(tmp_path, estimator):
    policy, context = cb.EstimatorCORe(estimator, refit=10, warm_up=0.1), cb.Context(arm=["brand"], max_words=500)
    url, given = f"sqlite:///{tmp_path}/shop.db", {"context": context, "refit_later": True}
    agent = cb.open_agent(url, "shop", policy, ["a", "b"], seed=7, synchronous="normal", **given)
    for number in range(47):
        offer(agent, number, waits=True)
    while agent._refits.pending is None:
        offer(agent, number := number + 1, waits=True)
    offer(agent, number + 1)
    content = agent.to_dict()
    assert content["model_columns"] < content["n_features"]
    twins = [cb.Agent.from_dict(json.loads(json.dumps(content)), policy) for _ in range(2)]
    assert {agent.context for agent in twins} == {context}
    first, second = ([offer(twin, number, waits=True) for number in range(200, 260)] for twin in twins)
    assert first == second == [offer(agent, number, waits=True) for number in range(200, 260)]
    content = agent.to_dict()
    agent._keep_snapshot = lambda *snapshot: None  # so that everything is done again
    agent.close()
    with cb.open_agent(url, "shop", policy, synchronous="normal") as agent:
        assert agent.to_dict() == content
    content["model_columns"] = 10_000
    with pytest.raises(cb.DamagedFile):
        cb.Agent.from_dict({**content}, policy)


@pytest.mark.parametrize("policy", [cb.LinTS(), cb.CORe()])
def test_only_models_that_are_fitted_anew_are_fitted_later(policy):
    with pytest.raises(cb.BadInput, match=r"^refit_later is for EstimatorCORe, whose model"):
        cb.Agent(policy, ["a", "b"], refit_later=True)
    with pytest.raises(cb.BadInput, match=r"^refit_later must be True or False, not 1$"):
        cb.Agent(POLICY, refit_later=1)
