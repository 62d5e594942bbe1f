"""What agents tell a policy of rounds: decisions made, left and pending, whatever was observed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.rounds import Rounds
from corebandit.contracts.state import FloatArray, IntScratch
from corebandit.parts.rounds import UNKNOWN

ARMS = ["red", "green", "blue"]
ROWS = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]


class NotingState(NamedTuple):
    counts: FloatArray
    last: IntScratch  # decided, left, and pending of each arm

    def begin_round(self, decided, left, pending):
        self.last[0], self.last[1] = decided, left
        for arm in range(pending.size):
            self.last[2 + arm] = pending[arm]

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = -self.counts[arm] - self.last[2 + arm]

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0


class NotingRowsState(NamedTuple):
    counts: FloatArray
    last: IntScratch

    def begin_round(self, decided, left, pending):
        self.last[0], self.last[1] = decided, left
        for arm in range(pending.size):
            self.last[2 + arm] = pending[arm]

    def score(self, features, rng, scores):
        for arm in range(scores.size):
            scores[arm] = -self.counts[arm] - self.last[2 + arm]

    def update(self, arm, x, reward, rng):
        self.counts[arm] += 1.0


@dataclass(frozen=True)
class Noting(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return NotingState(np.zeros(n_arms), np.zeros(2 + n_arms, np.int64))


@dataclass(frozen=True)
class NotingRows(cb.FeaturePolicy):
    def start(self, n_arms, n_features, horizon, capacity):
        return NotingRowsState(np.zeros(n_arms), np.zeros(2 + n_arms, np.int64))


def told(agent):
    """Return what the policy was told last: decided, left, pending of each arm."""
    state = agent._desk.state
    last = getattr(state, "inner", state).last
    return int(last[0]), int(last[1]), last[2:].tolist()


def test_what_was_observed_is_no_decision():
    agent = cb.Agent(Noting(), ARMS, seed=1, horizon=1000)
    agent.observe_many(ARMS * 166 + ["red", "red"], [0.0] * 500)
    for _ in range(50):
        agent.tell(agent.ask(), 0.0)
    assert told(agent) == (49, 951, [0, 0, 0])
    assert agent._desk.rounds.decided == 50
    agent.ask()
    assert told(agent)[0] == 50


def test_rankings_are_rounds_however_many_items_they_show():
    agent = cb.RankingAgent(cb.Ranked(Noting(), observes="all"), list("abcdefg"), 5, seed=1, horizon=301)
    for _ in range(300):
        agent.tell(agent.ask(), [])
    agent.ask()
    assert told(agent) == (300, 1, [0] * 7)
    agent.ask()
    decided, left, pending = told(agent)
    assert (decided, left, sum(pending), max(pending)) == (301, UNKNOWN, 5, 1)


@pytest.mark.parametrize("policy", [Noting(), NotingRows()])
def test_pending_decisions_are_told_by_arm_and_spread_the_choices(policy):
    agent = cb.Agent(policy, ARMS, seed=1, patience=1000)
    ask = agent.ask if isinstance(policy, Noting) else lambda: agent.ask(ROWS)
    waiting = [ask() for _ in range(100)]
    assert sorted(agent._desk.rounds.pending_of(3).tolist()) == [33, 33, 34]
    ask()
    decided, left, pending = told(agent)
    assert (decided, left, sum(pending)) == (100, UNKNOWN, 100)
    agent.tell(waiting[0], 1.0)
    agent.forget(waiting[1])
    assert agent.expire(older_than=0.0, reward=None) == 99
    ask()
    assert told(agent) == (101, UNKNOWN, [0, 0, 0])


def test_rows_without_names_are_pending_by_their_index():
    agent = cb.Agent(NotingRows(), seed=1, patience=1000)
    for n_rows in (2, 3, 3, 2):
        agent.ask(ROWS[:n_rows])
    agent.ask(ROWS)
    assert told(agent)[0] == 4
    assert sum(told(agent)[2]) == 4


def test_many_decisions_at_once_are_told_as_one_after_the_other():
    one, many = (cb.Agent(NotingRows(), ARMS, seed=1, horizon=50, patience=1000) for _ in range(2))
    for agent in (one, many):
        agent.tell(agent.ask(ROWS), 1.0)
    chosen = [one.ask(ROWS).arm for _ in range(7)]
    assert [decision.arm for decision in many.ask_many([ROWS] * 7)] == chosen
    assert told(many) == told(one) == (7, 43, told(one)[2])
    assert many._desk.rounds.pending_of(3).tolist() == one._desk.rounds.pending_of(3).tolist()


def test_a_batch_that_fails_half_way_made_no_decision():
    agent = cb.Agent(NotingRows(), ARMS, seed=1, propensity_draws=3, min_propensity=0.3)
    agent.ask(ROWS)
    bad = [ROWS, [[1.0, 0.0], [0.0, 1.0], [0.5, np.inf]]]
    with pytest.raises(cb.BadFeatures):
        agent.ask_many(bad)
    agent.ask(ROWS)
    assert told(agent)[0] == 1


def test_counts_are_saved_copied_and_kept_on_disk(tmp_path):
    agent = cb.Agent(Noting(), ARMS, seed=1, horizon=20)
    with cb.open_agent(f"sqlite:///{tmp_path}/shop.db", "it", Noting(), ARMS, seed=1, horizon=20) as durable:
        for each in (agent, durable):
            for number in range(9):
                decision = each.ask()
                if number % 3:
                    each.tell(decision, 0.0)
    twins = [cb.Agent.from_dict(agent.to_dict(), Noting())]
    with cb.open_agent(f"sqlite:///{tmp_path}/shop.db", "it", Noting()) as again:
        for twin in (*twins, again, agent):
            twin.ask()
            assert told(twin) == (9, 11, told(agent)[2])
            assert sum(told(twin)[2]) == 3


def test_a_look_is_told_the_coming_round_and_changes_nothing():
    agent = cb.Agent(Noting(), ARMS, seed=1, patience=1000)
    waiting = agent.ask()
    before = told(agent)
    likely = agent.probabilities()
    assert likely[waiting.arm] == 0.0  # it is pending
    assert told(agent) == before


def test_nothing_is_counted_by_arm_for_a_policy_that_is_not_told():
    agent = cb.Agent(cb.UCB1(), ARMS, seed=1)
    agent.ask()
    assert not agent._desk.rounds.wants_pending
    assert agent._desk.rounds.pending_of(3).tolist() == [0, 0, 0]
    assert agent._desk.rounds.decided == 1
    assert Rounds().decided == 0


class CoinState(NamedTuple):
    coin: FloatArray
    counts: FloatArray

    def prepare(self, rng):
        self.coin[0] = rng.random()
        return True

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = 1.0 if (arm == 0) == (self.coin[0] < 0.5) else 0.0

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0


@dataclass(frozen=True)
class Coin(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return CoinState(np.zeros(1), np.zeros(n_arms))


def test_propensities_are_those_of_decisions_that_are_prepared_anew():
    agent = cb.Agent(Coin(), ["a", "b"], seed=1, propensity_draws=1000, patience=10_000)
    decisions = []
    for _ in range(50):
        decisions.append(agent.ask())
        agent.tell(decisions[-1], 0.0)
    assert all(abs(decision.propensities["a"] - 0.5) < 0.08 for decision in decisions)
    assert 10 < sum(decision.arm == "a" for decision in decisions) < 40
    assert abs(agent.probabilities()["a"] - 0.5) < 0.08
    state = agent._desk.state  # what was prepared is what was decided
    assert (state.coin[0] < 0.5) == (decisions[-1].arm == "a")


class BrittleState(NamedTuple):
    fits: FloatArray
    counts: FloatArray

    def prepare(self, rng):
        self.fits[0] += 1.0
        if self.fits[0] == 5.0:
            raise ValueError("no memory")
        return True

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = -self.counts[arm]

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0


@dataclass(frozen=True)
class Brittle(cb.Policy):
    runs_compiled = False

    def start(self, n_arms, horizon, capacity):
        return BrittleState(np.zeros(1), np.zeros(n_arms))


def test_an_agent_whose_policy_failed_while_it_prepared_is_opened_again(tmp_path):
    url = f"sqlite:///{tmp_path}/shop.db"
    agent = cb.open_agent(url, "it", Brittle(), ARMS, seed=3)
    for _ in range(4):
        agent.tell(agent.ask(), 0.0)
    with pytest.raises(ValueError, match="no memory"):
        agent.ask()
    with pytest.raises(cb.CannotWrite, match="must be opened again: it was interrupted"):
        agent.ask()
    agent.close()
    with cb.open_agent(url, "it", Brittle()) as again:
        assert again._desk.state.fits[0] == 4.0


def test_looks_at_more_rows_than_ever_are_told_of_as_many_arms():
    agent = cb.Agent(NotingRows(), seed=1)
    assert len(agent.probabilities(ROWS)) == 3
    agent.ask(ROWS[:2])
    assert len(agent.probabilities([*ROWS, *ROWS])) == 6


def test_a_batch_of_decisions_that_are_prepared_is_done_again(tmp_path):
    policy, rng = cb.EstimatorCORe(warm_up=0.0), np.random.default_rng(3)
    url, twin = f"sqlite:///{tmp_path}/shop.db", cb.Agent(policy, ARMS, seed=3)

    def play(agent, n_batches):
        chosen = []
        for _ in range(n_batches):
            decisions = agent.ask_many(tables)
            chosen += [decision.arm for decision in decisions]
            for decision in decisions[:3]:
                agent.tell(decision, 1.0)
        return chosen

    tables = rng.normal(size=(5, 3, 2))
    with cb.open_agent(url, "it", policy, ARMS, seed=3) as agent:
        before = play(agent, 6)
        kinds = [event.split('"')[1] for _, event in agent._store.events("it")]
        assert kinds.count("ask") == 30
        assert 20 < kinds.count("prepare") < 30  # a model is fitted for each decision, but for those of the warm-up
        agent._keep_snapshot = lambda *snapshot: None  # as if it had been killed
    assert before == play(twin, 6)
    with cb.open_agent(url, "it", policy) as agent:
        assert play(agent, 4) == play(twin, 4)


PREPARING = {
    "GLMTSL": lambda agent, step: agent.ask([[1.0, step / 50], [0.0, 1.0], [0.5, -step / 50]]),
    "RankedBandits": lambda agent, step: agent.ask(),
}


@pytest.mark.parametrize("has_snapshot", [True, False])
@pytest.mark.parametrize("name", PREPARING)
def test_what_was_prepared_is_an_event_that_is_done_again(name, has_snapshot, tmp_path):
    url, ask = f"sqlite:///{tmp_path}/shop.db", PREPARING[name]
    policy = getattr(cb, name)()
    ranks = isinstance(policy, cb.RankingPolicy)
    sizes = {"items": list("abcd"), "n_positions": 2} if ranks else {"arms": ARMS}
    kind, opened = (cb.RankingAgent, cb.open_ranking_agent) if ranks else (cb.Agent, cb.open_agent)
    twin = kind(policy, *sizes.values(), seed=3)

    def play(agent, steps):
        chosen = []
        for step in steps:
            decision = ask(agent, step)
            chosen.append(decision.items if ranks else decision.arm)
            if step % 3:
                agent.tell(decision, [decision.items[0]] if ranks else float(step % 2))
        return chosen

    with opened(url, "it", policy, *sizes.values(), seed=3, snapshot_every=10_000) as agent:
        before = play(agent, range(20))
        kinds = [event.split('"')[1] for _, event in agent._store.events("it")]
        assert kinds[:2] == ["prepare", "ask"] or name == "GLMTSL"
        assert kinds.count("prepare") == (20 if ranks else 12)  # of the others nothing was new
        if has_snapshot:
            agent.snapshot()
        agent._keep_snapshot = lambda *snapshot: None  # as if it had been killed
    assert before == play(twin, range(20))
    with opened(url, "it") as agent:
        assert play(agent, range(20, 40)) == play(twin, range(20, 40))
