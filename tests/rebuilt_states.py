"""A program: states made again from logs, by learning alone, and what they choose next; see test_rebuilt.py.

It reads JSON, a log of each policy, from the standard input, and writes JSON.
"""

import base64
import json
import sys

import numpy as np

import corebandit as cb
from corebandit.agents.steps import begin_decision, learn, learn_clicks, learn_row, prepare_decision
from corebandit.catalogue import policy_from
from corebandit.contracts.state import learnt_in
from corebandit.randomness.stream import Stream

ARMS, N_POSITIONS, N_FEATURES, N_NEXT = ["a", "b", "c", "d"], 2, 3, 50


def agent_of(policy):
    """Return an agent of a policy of any kind."""
    if isinstance(policy, cb.RankingPolicy):
        return cb.RankingAgent(policy, ARMS, N_POSITIONS, seed=7, horizon=600)
    return cb.Agent(policy, ARMS, seed=7, horizon=600)


def rows_of(step):
    """Return the features that are offered in some step."""
    return np.random.default_rng(step).normal(size=(len(ARMS), N_FEATURES)).round(3)


def ask(agent, step):
    """Let an agent of any kind decide."""
    return agent.ask(rows_of(step)) if isinstance(agent.policy, cb.FeaturePolicy) else agent.ask()


def next_choices(agent, first):
    """Return what the policy chooses next, with nothing told in between, whatever limits of traffic say."""
    desk, everyone = agent._desk, np.arange(len(ARMS))
    chosen = []
    for step in range(first, first + N_NEXT):
        desk.begin_choice()
        if isinstance(agent.policy, cb.RankingPolicy):
            shown = np.zeros(N_POSITIONS, np.int64)
            desk._select(desk.state, desk.rng, np.zeros(N_POSITIONS, np.int64), everyone, shown)
            chosen.append(shown.tolist())
        elif isinstance(agent.policy, cb.FeaturePolicy):
            seen = np.full((2, N_FEATURES), np.inf)
            chosen.append(int(desk._select(desk.state, desk.rng, rows_of(step), desk.scores, everyone, seen, 0.0)))
        else:
            chosen.append(int(desk._select(desk.state, desk.rng, desk.scores, everyone)))
        desk.rounds.decided += 1
    return chosen


def in_text(array):
    """Return the bytes of an array, as text."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def learnt(state):
    """Return what a state has learnt, array by array."""
    return {name: in_text(array) for name, array in learnt_in(state)}


def refuse(*arguments):
    """Fail: nobody is to be asked."""
    raise AssertionError("a score was asked for")


def made_again(agent, log):
    """Bring a fresh agent to where the log ends, with a policy that must not be asked."""
    desk = agent._desk
    if isinstance(agent.policy, cb.FeaturePolicy):
        desk.make_room_for("features", len(ARMS), N_FEATURES)
    learn_step = learn_row if isinstance(agent.policy, cb.FeaturePolicy) else learn
    learn_step = learn_clicks if isinstance(agent.policy, cb.RankingPolicy) else learn_step
    cls, name = type(desk.state), "rank" if isinstance(agent.policy, cb.RankingPolicy) else "score"
    method = getattr(cls, name)
    setattr(cls, name, refuse)
    for what, words, *told in log:
        rng = Stream(np.array(words, np.uint64))
        given = [np.array(value) if isinstance(value, list) else value for value in told]
        if what == "learn" and desk.n_observations + N_POSITIONS > desk.capacity:
            desk.make_room(desk.n_arms, 2 * desk.capacity)
        step = {"begin": begin_decision, "prepare": prepare_decision, "learn": learn_step}[what]
        call = step.compiled if agent.policy.runs_compiled else step.in_python
        call(desk.state, *([] if what == "begin" else [rng]), *given)
        desk.n_observations += {"learn": N_POSITIONS if name == "rank" else 1}.get(what, 0)
    setattr(cls, name, method)


def main():
    """Make every state again."""
    answers = {}
    for spec, told in json.load(sys.stdin).items():
        agent = agent_of(policy_from(spec))
        made_again(agent, told["log"])
        state = learnt(agent._desk.state)
        agent._desk.rng.words[:] = told["words"]
        agent._desk.rounds.decided = told["decided"]
        answers[spec] = {"state": state, "next": next_choices(agent, told["decided"])}
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
