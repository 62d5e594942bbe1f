"""Whatever is done with an agent in whatever order, each decision ends once, and what is learned is what was told.

A machine does things at random to an agent, and beside it to a model that fits on a page; they must never differ.
"""

import copy
import os
import tempfile
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import corebandit as cb
from corebandit.agents.stores import opening

ARMS = ["red", "green", "blue"]
WINDOW = 100.0
OPEN, REWARDED, DEFAULTED, DROPPED, LOST = "open", "rewarded", "defaulted", "dropped", "lost"
REFUSALS = {REWARDED: cb.AlreadyTold, DROPPED: cb.AlreadyTold, DEFAULTED: cb.TooLate, LOST: cb.LostDecision}


@dataclass
class Model:
    """What should be known of all decisions."""

    states: dict = field(default_factory=dict)  # by id, in the order they were made
    arms: dict = field(default_factory=dict)
    asked: dict = field(default_factory=dict)
    told: dict = field(default_factory=dict)  # rewards learned, by arm

    def learn(self, arm, reward):
        self.told.setdefault(arm, []).append(reward)

    def expire(self, now, older_than, reward):
        for key in [key for key, state in self.states.items() if state == OPEN]:
            if self.asked[key] > now - older_than:
                break
            self.states[key] = DEFAULTED
            if reward is not None:
                self.learn(self.arms[key], reward)


class AgentMachine(RuleBasedStateMachine):
    """An agent in memory, which is saved now and then, and loses what came after when it crashes."""

    decisions = Bundle("decisions")
    window = None

    @initialize(seed=st.integers(0, 5), has_window=st.booleans())
    def begin(self, seed, has_window):
        self.now, self.folder = 1_000.0, tempfile.TemporaryDirectory()
        self.options = {"seed": seed, "clock": lambda: self.now}
        if has_window:
            self.window = WINDOW
            self.options |= {"window": WINDOW, "default_reward": 0.0}
        self.agent, self.model = self.make(), Model()
        self.save()

    def make(self):
        return cb.Agent(cb.UCB1(), ARMS, **self.options)

    def save(self):
        self.saved = self.agent.to_dict(), copy.deepcopy(self.model)

    def end_what_is_due(self):
        if self.window is not None:
            self.model.expire(self.now, self.window, 0.0)

    # What users do ------------------------------------------------------------------------------------------------

    @rule(target=decisions)
    def ask(self):
        self.end_what_is_due()
        decision = self.agent.ask()
        assert decision.id not in self.model.states
        self.model.states[decision.id], self.model.asked[decision.id] = OPEN, self.now
        self.model.arms[decision.id] = decision.arm
        return decision

    @rule(decision=decisions, reward=st.floats(-2.0, 2.0), by_id=st.booleans())
    def tell(self, decision, reward, by_id):
        self.end_what_is_due()
        state = self.model.states[decision.id]
        receipt = decision.id if by_id else decision
        if state == OPEN:
            self.agent.tell(receipt, reward)
            self.model.states[decision.id] = REWARDED
            self.model.learn(decision.arm, reward)
        else:
            with pytest.raises(REFUSALS[state]):
                self.agent.tell(receipt, reward)

    @rule(decision=decisions)
    def forget(self, decision):
        state = self.model.states[decision.id]
        if state == OPEN:
            self.agent.forget(decision)
            self.model.states[decision.id] = DROPPED
        else:
            with pytest.raises(REFUSALS[state]):
                self.agent.forget(decision)

    @rule(decision=decisions, reward=st.sampled_from([float("nan"), "1", None, 1e200]))
    def tell_nonsense(self, decision, reward):
        self.end_what_is_due()
        with pytest.raises(cb.BadInput):
            self.agent.tell(decision, reward)

    @rule(unknown=st.sampled_from(["elsewhere-0", "", -1, 10**30, None, 0.5, ("red", "x")]))
    def tell_of_what_was_never_asked(self, unknown):
        self.end_what_is_due()
        with pytest.raises(cb.UnknownDecision):
            self.agent.tell(unknown, 1.0)

    @rule(arm=st.sampled_from(ARMS), reward=st.floats(-2.0, 2.0))
    def observe(self, arm, reward):
        self.agent.observe(arm, reward)
        self.model.learn(arm, reward)

    @rule(older_than=st.sampled_from([0.0, 10.0, 50.0]), reward=st.sampled_from([0.0, 0.5, None]))
    def expire(self, older_than, reward):
        self.agent.expire(older_than, reward)
        self.model.expire(self.now, older_than, reward)

    @rule(seconds=st.sampled_from([1.0, 30.0, 150.0]))
    def wait(self, seconds):
        self.now += seconds

    # What happens to them -----------------------------------------------------------------------------------------

    @rule()
    def keep(self):
        self.save()

    @rule()
    def crash(self):
        content, model = self.saved
        self.agent = cb.Agent.from_dict(content)
        self.agent._clock = lambda: self.now
        lost = self.model.states.keys() - model.states.keys()
        arms, asked = self.model.arms, self.model.asked
        self.model = copy.deepcopy(model)
        self.model.states |= dict.fromkeys(lost, LOST)
        self.model.arms, self.model.asked = arms, asked
        self.save()

    @rule()
    def fork(self):
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            try:
                os.write(write, str(self.agent.ask().id).encode())
            except cb.BadInput:
                os.write(write, b"refused-0")
            finally:
                os._exit(0)
        os.close(write)
        theirs = os.read(read, 1000).decode()
        os.close(read)
        os.waitpid(child, 0)
        assert theirs
        assert theirs not in self.model.states
        with pytest.raises(cb.UnknownDecision):
            self.agent.forget(theirs)

    @rule()
    def copy(self):
        twin = copy.copy(self.agent)
        twin._clock = lambda: self.now
        assert twin.pending == self.agent.pending
        assert twin.ask().id not in self.agent.pending

    # What must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def agent_and_model_agree(self):
        if not hasattr(self, "agent"):
            return
        waiting = {key: self.model.arms[key] for key, state in self.model.states.items() if state == OPEN}
        assert self.agent.pending == waiting
        assert self.agent.n_observations == sum(map(len, self.model.told.values()))
        counts, sums = (getattr(self.agent._desk.state, name) for name in ("counts", "sums"))
        for index, arm in enumerate(ARMS):
            rewards, tally = self.model.told.get(arm, []), self.agent._ledger.traffic.tallies[index]
            assert counts[index] == tally.told == len(rewards)
            assert sums[index] == pytest.approx(sum(rewards), abs=1e-9)
            assert tally.open == list(waiting.values()).count(arm)

    def teardown(self):
        if hasattr(self, "agent"):
            self.close()
            self.folder.cleanup()

    def close(self):
        """Leave nothing open."""


class DurableMachine(AgentMachine):
    """An agent in a file, which loses nothing when it crashes."""

    def make(self):
        return cb.open_agent(
            f"sqlite:///{self.folder.name}/shop.db", "banner", cb.UCB1(), ARMS, snapshot_every=7, **self.options
        )

    @rule()
    def crash(self):
        if self.agent._snapshots is not None:
            self.agent._snapshots.join()
        store = self.agent._store
        self.agent._let_go.detach()
        opening._stores.pop(store.path)
        store._connection.close()
        store._lock.release()
        before = self.agent.to_dict()
        self.agent = self.make()
        assert self.agent.to_dict() == before

    @rule()
    def copy(self):
        with pytest.raises(cb.BadInput, match="not copied"):
            copy.copy(self.agent)

    @rule()
    def keep(self):
        self.agent.snapshot()

    def close(self):
        self.agent.close()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("machine", "n_sequences"),
    [
        (AgentMachine, 60),
        (DurableMachine, 40),
        pytest.param(AgentMachine, 1_200, marks=pytest.mark.endurance),
        pytest.param(DurableMachine, 800, marks=pytest.mark.endurance),
    ],
)
def test_no_sequence_of_events_tells_agent_and_model_apart(machine, n_sequences):
    checked = list(HealthCheck)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=n_sequences,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=checked,
        ),
    )
