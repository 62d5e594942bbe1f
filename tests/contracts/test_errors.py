"""Errors by kind."""

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts import errors

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type)]


def test_every_kind_is_public_and_bad_input():
    for kind in KINDS:
        assert issubclass(kind, cb.BadInput)
        assert issubclass(kind, ValueError)
        assert getattr(cb, kind.__name__) is kind


def agent():
    return cb.Agent(cb.CORe(), arms=["red", "green"])


def ranker():
    return cb.RankingAgent(cb.Ranked(), items=["a", "b", "c"], n_positions=2)


def by_features():
    return cb.Agent(cb.LinCORe())


def told(agent, *what):
    decision = agent.ask()
    agent.tell(decision, *what)
    agent.tell(decision, *what)


def lost(agent, *what):
    agent.ask()
    saved = agent.to_dict()
    agent.from_dict(saved).tell(agent.ask(), *what)


def late(agent, *what):
    decision = agent.ask()
    agent.expire(older_than=0)
    agent.tell(decision, *what)


@pytest.mark.parametrize(
    ("kind", "mistake"),
    [
        (cb.UnknownDecision, lambda: agent().tell(3, 1.0)),
        (cb.UnknownDecision, lambda: agent().forget("x")),
        (cb.UnknownDecision, lambda: ranker().tell(3, [])),
        (cb.AlreadyTold, lambda: told(agent(), 1.0)),
        (cb.AlreadyTold, lambda: told(ranker(), [])),
        (cb.LostDecision, lambda: lost(agent(), 1.0)),
        (cb.LostDecision, lambda: lost(ranker(), [])),
        (cb.TooLate, lambda: late(agent(), 1.0)),
        (cb.TooLate, lambda: late(ranker(), [])),
        (cb.UnknownArm, lambda: agent().observe("blue", 1.0)),
        (cb.UnknownArm, lambda: agent().ask(arms=["blue"])),
        (cb.UnknownArm, lambda: ranker().retire_item("z")),
        (cb.BadReward, lambda: agent().observe("red", np.nan)),
        (cb.BadReward, lambda: agent().observe("red", "much")),
        (cb.BadReward, lambda: cb.Agent(cb.BernoulliTS(), arms=["red"]).observe("red", 7.0)),
        (cb.BadReward, lambda: ranker().observe(["a", "b"], ["z"])),
        (cb.BadFeatures, lambda: by_features().ask()),
        (cb.BadFeatures, lambda: by_features().ask([[1.0, np.nan]])),
        (cb.BadFeatures, lambda: by_features().ask([["a", "b"]])),
        (cb.BadFeatures, lambda: by_features().observe(0, 1.0)),
        (cb.BadFeatures, lambda: agent().ask([[1.0]])),
        (cb.CannotWrite, lambda: agent().save("/no/such/folder/agent.json")),
        (cb.DamagedFile, lambda: cb.Agent.load(__file__)),
        (cb.BadInput, lambda: cb.CORe(alpha=-1.0)),
        (cb.BadInput, lambda: cb.Experiment(cb.BernoulliBandit(), [])),
    ],
)
def test_callers_can_tell_mistakes_apart(kind, mistake):
    with pytest.raises(kind) as refused:
        mistake()
    assert type(refused.value) is kind
    assert len(str(refused.value)) > 20
