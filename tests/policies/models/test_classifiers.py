"""EstimatorCORe around a classifier predicts the probability of a reward of 1."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import corebandit as cb
from corebandit.policies.models.fits import ClassifierModel
from often import often
from same_agents import in_common

CLASSIFIERS = [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression()), GaussianNB()]


def who_buys(agent, n, seed=3):
    """Let an agent choose between two offers, of which each user likes one, and return how often it was right."""
    rng, n_right = np.random.default_rng(seed), 0
    for _ in range(n):
        taste = rng.choice([-1.0, 1.0])
        decision = agent.ask([[taste, 0.0], [0.0, taste]])
        is_right = (taste > 0) == (decision.arm == 0)
        agent.tell(decision, float(rng.random() < (0.8 if is_right else 0.2)))
        n_right += is_right
    return n_right / n


@pytest.mark.parametrize(
    "classifier", often(CLASSIFIERS[:1], CLASSIFIERS, pytest.mark.heavy), ids=lambda each: type(each).__name__
)
def test_a_classifier_learns_who_buys(classifier):
    agent = cb.Agent(cb.EstimatorCORe(classifier, refit="geometric", warm_up=0.5), seed=7)
    who_buys(agent, 150)
    assert who_buys(agent, 100, seed=4) > 0.8


@pytest.mark.heavy
def test_labels_are_drawn_from_perturbed_rewards():
    """What is expected of a label is the perturbed reward, cut to what lies between 0 and 1."""

    class Noting(GaussianNB):
        def fit(self, X, y):
            noted.append(y)
            return super().fit(X, y)

    noted, rows, targets = [], np.arange(4.0).reshape(4, 1), np.array([-0.5, 0.25, 0.75, 1.5])
    model = ClassifierModel(Noting())
    for seed in range(400):
        model.learn(rows, targets, seed)
    np.testing.assert_allclose(np.mean(noted, axis=0), [0.0, 0.25, 0.75, 1.0], atol=0.1)
    assert model.predict(rows).shape == (4,)
    assert ((model.predict(rows) >= 0) & (model.predict(rows) <= 1)).all()


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_rewards_that_are_all_alike_are_no_error(reward):
    agent = cb.Agent(cb.EstimatorCORe(LogisticRegression(), warm_up=0, alpha=0), seed=7)
    for _ in range(20):
        agent.tell(agent.ask(np.eye(2)), reward)
    state = agent._desk.state
    assert state.model.predict(np.eye(2)).tolist() == [reward, reward]


def test_an_agent_around_a_classifier_is_saved_and_goes_on_bit_for_bit(tmp_path):
    policy = cb.EstimatorCORe(LogisticRegression(), refit=5, warm_up=0.1)
    agent = cb.Agent(policy, seed=7)
    who_buys(agent, 60)
    agent.save(tmp_path / "agent.json")
    twin = cb.Agent.load(tmp_path / "agent.json", policy)
    assert who_buys(agent, 30) == who_buys(twin, 30)
    assert in_common(agent) == in_common(twin)


def test_what_a_classifier_cannot_do_is_refused():
    agent = cb.Agent(cb.EstimatorCORe(LogisticRegression()), seed=7)
    with pytest.raises(cb.BadReward, match=r"^reward must be in \[0, 1\] for EstimatorCORe\(LogisticRegression"):
        agent.tell(agent.ask(np.eye(2)), 3.0)
    for way in ("aggregate", "incremental"):
        with pytest.raises(cb.BadInput, match=r"^aggregate and incremental are for regressors|^incremental needs"):
            cb.EstimatorCORe(LogisticRegression(), **{way: True})
