"""What an agent's policy knows comes from what it was told alone: asking changes nothing."""

import json
import subprocess
import sys

import numpy as np
import pytest

import corebandit as cb
import rebuilt_states
from corebandit.catalogue import known_policies, neural_policies, policy_from
from often import often
from rebuilt_states import agent_of, ask, learnt, next_choices, rows_of

N_DECISIONS = 300  # past the room that an agent begins with
BINARY = ("CORe(pool_size=50)", "Ranked(Giro)", "GLMCORe(link='poisson')", "RankedBandits(CORe)")
SOME = ("CORe", "GLMCORe", "GLMTSL", "LogPHE", "LinUCB", "EstimatorCORe", "RankedBandits", "SSMC")
EVERY = [name for name in known_policies() if name not in neural_policies()] + list(BINARY)


class Recorder:
    """Notes what an agent's policy is told: what to learn, when to prepare, and where random numbers were then."""

    def __init__(self, desk):
        self.log, self._words = [], desk.rng.words
        desk._learn = self.noting("learn", desk._learn)
        beginning = desk.beginning
        beginning._tell = self.noting("begin", beginning._tell)
        beginning._prepare = self.noting("prepare", beginning._prepare)

    def noting(self, what, step):
        def call(state, *given):
            told = [value for value in given if not hasattr(value, "words")]
            plain = [value.tolist() if isinstance(value, np.ndarray) else value for value in told]
            self.log.append([what, self._words.tolist(), *plain])
            return step(state, *given)

        return call


def lived(spec):
    """Return what became of an agent that was asked, looked at and told, and the log of that."""
    policy = policy_from(spec)
    agent = agent_of(policy)
    desk, rng = agent._desk, np.random.default_rng(1)
    ranks, by_features = isinstance(policy, cb.RankingPolicy), isinstance(policy, cb.FeaturePolicy)
    recorder = Recorder(desk)
    for step in range(N_DECISIONS):
        if step % 50 == 20:  # looks between decisions
            agent.probabilities(*[rows_of(step)] if by_features else [], draws=3)
        decision = ask(agent, step)
        if step % 7 == 6 and not ranks:  # decisions that wait are asked for in a row, and told later
            agent.tell(ask(agent, step), float(rng.random() < 0.5))
        if by_features and step % 50 == 30 and spec in ("LinUCB", "GLMTSL", "GLMCORe"):
            agent.explain(decision)
        if ranks:
            agent.tell(decision, [item for item in decision.items if rng.random() < 0.4])
        else:
            agent.tell(decision, float(rng.random() < 0.2 + 0.2 * ("abcd".index(decision.arm))))
    told = {"log": list(recorder.log), "words": desk.rng.words.tolist(), "decided": desk.rounds.decided}
    state = learnt(desk.state)
    return told, {"state": state, "next": next_choices(agent, told["decided"])}


@pytest.mark.heavy
@pytest.mark.parametrize("specs", often([SOME], [SOME, tuple(EVERY)], pytest.mark.thorough), ids=["some", "every"])
def test_a_state_is_made_again_from_a_log_by_learning_alone_in_another_process(specs):
    lives = {spec: lived(spec) for spec in specs}
    told = json.dumps({spec: life[0] for spec, life in lives.items()})
    program = [sys.executable, rebuilt_states.__file__]
    finished = subprocess.run(program, input=told, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    again = json.loads(finished.stdout)
    for spec, (_, life) in lives.items():
        assert again[spec]["state"] == life["state"], spec
        assert again[spec]["next"] == life["next"], spec
