"""Decisions that wait too long end by themselves: on time, once, and with what nobody told being learned or not."""

import json
import warnings

import numpy as np
import pytest

import corebandit as cb

ARMS = ["red", "green", "blue"]
YEAR = 365.0 * 24 * 3600


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def new_agent(clock):
    return lambda **options: cb.Agent(cb.UCB1(), ARMS, **{"seed": 7, "clock": clock, **options})


def asked_at(agent, clock, *times):
    """Return decisions made at these times."""
    decisions = []
    for clock.now in times:
        decisions.append(agent.ask())
    return decisions


def late_counts(agent):
    return sum(agent.to_dict()["tallies"]["late"])


def test_old_decisions_are_dropped_when_asked_to(new_agent, clock):
    agent = new_agent()
    old, older, young = asked_at(agent, clock, 1000.0, 1010.0, 1030.0)
    clock.now = 1040.0
    assert agent.expire(older_than=100.0) == 0
    assert agent.expire(older_than=30.0) == 2
    assert list(agent.pending) == [young.id]
    assert agent.n_observations == 0
    for decision in (old, older):
        with pytest.raises(cb.TooLate, match=f"^decision {decision.id} has expired: what is told now comes too late"):
            agent.tell(decision, 1.0)
    assert late_counts(agent) == 2
    assert agent.n_observations == 0
    assert agent.expire(older_than=0) == 1


def test_what_nobody_told_can_be_learned_as_a_reward(new_agent, clock):
    agent = new_agent(default_reward=0.5)
    asked_at(agent, clock, 1000.0, 1010.0, 1020.0)
    assert agent.expire(20.0) == 1  # as the agent was made
    assert agent._desk.state.sums.sum() == 0.5
    assert agent.expire(10.0, reward=None) == 1
    assert agent.n_observations == 1
    assert agent.expire(0.0, reward=3) == 1
    assert agent._desk.state.sums.sum() == 3.5
    assert agent.n_observations == sum(agent.to_dict()["tallies"]["told"]) == 2


@pytest.mark.parametrize("call", ["ask", "tell"])
def test_a_window_ends_decisions_by_itself(new_agent, clock, call):
    agent = new_agent(window=60.0, default_reward=0.0)
    first, second = asked_at(agent, clock, 1000.0, 1030.0)
    clock.now = 1059.9
    other = agent.ask()
    assert list(agent.pending) == [first.id, second.id, other.id]
    clock.now = 1060.0
    agent.ask() if call == "ask" else agent.tell(other, 1.0)
    assert first.id not in agent.pending
    assert second.id in agent.pending
    assert agent.n_observations == (1 if call == "ask" else 2)
    with pytest.raises(cb.TooLate):
        agent.tell(first, 1.0)
    agent.tell(second, 1.0)


def test_an_answer_after_the_window_is_late_even_if_it_is_the_first_to_say_so(new_agent, clock):
    agent = new_agent(window=60.0)
    (decision,) = asked_at(agent, clock, 1000.0)
    clock.now = 1060.0
    for n_late in (1, 2):
        with pytest.raises(cb.TooLate):
            agent.tell(decision, 1.0)
        assert late_counts(agent) == n_late
    with pytest.raises(cb.TooLate):
        agent.forget(decision)
    assert late_counts(agent) == 2
    assert agent.n_observations == 0


def test_a_bad_answer_ends_only_what_is_due(new_agent, clock):
    agent = new_agent(window=60.0, default_reward=0.0)
    due, waiting = asked_at(agent, clock, 1000.0, 1030.0)
    clock.now = 1070.0
    with pytest.raises(cb.BadReward):
        agent.tell(waiting, np.nan)
    assert list(agent.pending) == [waiting.id]
    assert agent.n_observations == 1
    agent.tell(waiting, 1.0)
    with pytest.raises(cb.TooLate):
        agent.tell(due, 1.0)


def test_when_learning_fails_in_the_middle_nothing_is_lost_or_learned_twice(new_agent, clock, monkeypatch):
    agent = new_agent()
    decisions = asked_at(agent, clock, *range(1000, 1005))
    learn, n_calls = agent._desk.learn, []

    def fail_once(*what):
        n_calls.append(what)
        if len(n_calls) == 3:
            raise MemoryError
        learn(*what)

    monkeypatch.setattr(agent._desk, "learn", fail_once)
    with pytest.raises(MemoryError):
        agent.expire(0.0, reward=1.0)
    assert list(agent.pending) == [decision.id for decision in decisions[2:]]
    assert agent.n_observations == sum(agent.to_dict()["tallies"]["told"]) == 2
    assert agent._ledger.traffic.n_open == 3
    cb.Agent.from_dict(agent.to_dict())
    assert agent.expire(0.0, reward=1.0) == 3
    assert agent.n_observations == agent._desk.state.sums.sum() == 5


@pytest.mark.parametrize("reward", [np.nan, np.inf, "1", [1.0], 1e200])
def test_a_bad_default_is_refused_and_ends_nothing(new_agent, clock, reward):
    agent = new_agent()
    asked_at(agent, clock, 1000.0, 1001.0)
    before = json.dumps(agent.to_dict())
    with pytest.raises(cb.BadInput, match="must be a"):
        agent.expire(0.0, reward=reward)
    with pytest.raises(cb.BadInput, match="must be a"):
        new_agent(default_reward=reward)
    assert json.dumps(agent.to_dict()) == before


@pytest.mark.parametrize("older_than", [-1.0, np.nan, None, "1"])
def test_a_bad_age_is_refused(new_agent, older_than):
    with pytest.raises(cb.BadInput, match="older_than must be a number of at least 0"):
        new_agent().expire(older_than)


def test_a_default_outside_the_range_of_the_policy_is_refused_where_the_agent_is_made():
    with pytest.raises(cb.BadReward, match=r"reward must be in \[0, 1\] for BernoulliTS, not 1.5"):
        cb.Agent(cb.BernoulliTS(), ARMS, default_reward=1.5)
    agent = cb.Agent(cb.BernoulliTS(), ARMS, default_reward=1)
    with pytest.raises(cb.BadReward, match=r"reward must be in \[0, 1\]"):
        agent.expire(0.0, reward=-0.5)
    with pytest.raises(cb.DamagedFile, match=r"or damaged: reward must be in \[0, 1\]"):
        cb.Agent.from_dict({**agent.to_dict(), "settings": {"default_reward": 2.0}})
    with pytest.raises(cb.BadReward, match="the default reward of a ranking must be 0, no click, or None, not 1"):
        cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, default_reward=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"window": 0}, "window must be a number above 0, not 0"),
        ({"window": np.inf}, "window must be a number above 0, not inf"),
        ({"window": "day"}, "window must be a number above 0, not 'day'"),
        ({"max_open": 0}, "max_open must be a whole number of at least 1, not 0"),
        ({"max_open": 1.5}, "max_open must be a whole number of at least 1, not 1.5"),
        ({"default_reward": True}, "default_reward must be a number, not True"),
        ({"clock": 12.0}, r"clock must be a function that returns seconds, not 12\.0"),
    ],
)
def test_bad_settings_are_refused(options, sentence):
    with pytest.raises(cb.BadInput, match=sentence):
        cb.Agent(cb.UCB1(), ARMS, **options)
    with pytest.raises(cb.BadInput, match=sentence):
        cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, **options)


# Clocks -----------------------------------------------------------------------------------------------------------


def test_a_clock_that_goes_backwards_ends_nothing_early_and_nothing_much_later(new_agent, clock):
    agent = new_agent(window=60.0)
    of_the_future = asked_at(agent, clock, 1000.0 + YEAR, 1010.0 + YEAR)
    (after,) = asked_at(agent, clock, 1000.0)
    assert len(agent.pending) == 3
    clock.now = 1059.0
    agent.ask()
    assert [decision.id in agent.pending for decision in (*of_the_future, after)] == [True] * 3
    clock.now = 1060.0
    agent.ask()
    assert [decision.id in agent.pending for decision in (*of_the_future, after)] == [False] * 3


def test_a_clock_that_trembles_ends_all_on_time(new_agent, clock):
    agent, rng, asked = new_agent(window=60.0), np.random.default_rng(2), {}
    for step in range(500):
        clock.now = 1000.0 + step + rng.uniform(-5.0, 5.0)
        asked[agent.ask().id] = step
        young = [decision_id for decision_id, then in asked.items() if step - then < 40]
        old = [decision_id for decision_id, then in asked.items() if step - then > 80]
        assert agent.pending.keys() >= set(young)
        assert agent.pending.keys().isdisjoint(old)
        times = [time for _, _, time in agent._ledger.waiting.values()]
        assert times == sorted(times)


def test_a_clock_that_jumps_ahead_ends_all_that_waits(new_agent, clock):
    agent = new_agent(window=60.0, default_reward=0.0)
    asked_at(agent, clock, 1000.0, 1001.0)
    (decision,) = asked_at(agent, clock, 1000.0 + YEAR)
    assert list(agent.pending) == [decision.id]
    assert agent.n_observations == 2


def test_what_was_saved_by_a_clock_ahead_of_ours_waits_no_longer_than_its_window(new_agent, clock):
    agent = new_agent(window=60.0)
    (decision,) = asked_at(agent, clock, 1000.0 + YEAR)
    ours = Clock(2000.0)
    loaded = cb.Agent.from_dict(agent.to_dict(), clock=ours)
    ours.now = 2059.0
    loaded.ask()
    assert decision.id in loaded.pending
    ours.now = 2060.0
    with pytest.raises(cb.TooLate):
        loaded.tell(decision, 1.0)


# Too many ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_open", [1, 3])
def test_no_more_decisions_wait_than_may(new_agent, max_open):
    agent = new_agent(max_open=max_open, default_reward=0.25)
    decisions = [agent.ask() for _ in range(10)]
    for n_asked in range(11, 20):
        decisions.append(agent.ask())
        assert list(agent.pending) == [decision.id for decision in decisions[-max_open:]]
        assert agent.n_observations == n_asked - max_open
    agent.tell(decisions[-max_open], 1.0)
    with pytest.raises(cb.TooLate):
        agent.tell(decisions[-max_open - 1], 1.0)
    assert len(agent.pending) == max_open - 1


def test_a_bad_question_ends_nothing(new_agent, clock):
    agent = new_agent(max_open=1)
    (decision,) = asked_at(agent, clock, 1000.0)
    with pytest.raises(cb.UnknownArm):
        agent.ask(arms=["pink"])
    assert list(agent.pending) == [decision.id]


def test_very_many_that_wait_are_warned_of_once_and_nothing_is_changed_by_that(new_agent, monkeypatch):
    for module in ("agent", "ranking_agent"):
        monkeypatch.setattr(f"corebandit.agents.{module}.MANY_OPEN", 3)
    for agent in (new_agent(), cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, seed=1)):
        for _ in range(3):
            agent.ask()
        before = json.dumps(agent.to_dict())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match=r"^3 decisions wait for their rewards, and each takes memory: tell"):
                agent.ask()
            assert json.dumps(agent.to_dict()) == before
            agent.ask()
    agent = new_agent()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for _ in range(6):
            agent.ask()
    assert [warning.filename for warning in warned] == [__file__]


def test_of_very_many_that_expired_the_last_are_known(new_agent, monkeypatch):
    monkeypatch.setattr("corebandit.agents.ledger.MOST_EXPIRED", 2)
    agent = new_agent()
    decisions = [agent.ask() for _ in range(3)]
    agent.expire(0.0)
    kinds = []
    for decision in decisions:
        with pytest.raises(cb.AlreadyTold) as refused:
            agent.tell(decision, 1.0)
        kinds.append(type(refused.value))
    assert kinds == [cb.AlreadyTold, cb.TooLate, cb.TooLate]


# Rankings, rows and files -----------------------------------------------------------------------------------------


def test_a_ranking_that_expires_was_not_clicked(clock):
    agent = cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, seed=1, window=60.0, default_reward=0, clock=clock)
    decisions = asked_at(agent, clock, 1000.0, 1030.0)
    clock.now = 1060.0
    with pytest.raises(cb.TooLate, match=f"^ranking {decisions[0].id} has expired"):
        agent.tell(decisions[0], [decisions[0].items[0]])
    assert agent.n_rankings == 1
    assert agent._desk.state.sums.sum() == 0
    assert late_counts(agent) == 2  # one for each item shown
    assert agent.expire(0.0, reward=None) == 1
    assert agent.n_rankings == 1
    for reward in (1, 0.5, np.nan, "0"):
        with pytest.raises(cb.BadReward, match="must be 0, no click, or None"):
            agent.expire(0.0, reward=reward)


def test_rows_without_names_expire_too(clock):
    agent = cb.Agent(cb.LinTS(), seed=1, window=60.0, default_reward=0.0, clock=clock)
    decision = agent.ask([[1.0, 2.0], [2.0, 1.0]])
    clock.now = 1060.0
    for _ in range(2):
        with pytest.raises(cb.TooLate):
            agent.tell(decision, 1.0)
    assert agent.n_observations == 1
    assert cb.Agent.from_dict(agent.to_dict(), clock=clock).to_dict() == agent.to_dict()


def test_times_settings_and_what_expired_are_saved(new_agent, clock, tmp_path):
    options = {"window": np.float32(60.0), "default_reward": np.int64(0), "max_open": np.int16(5)}
    agent = new_agent(**options, patience=np.uint8(9), max_share=np.float64(0.5))
    expired, waiting = asked_at(agent, clock, 1000.0, 1050.0)
    clock.now = 1060.0
    agent.ask()
    agent.save(tmp_path / "agent.json")
    loaded = cb.Agent.load(tmp_path / "agent.json", clock=clock)
    assert loaded.to_dict() == agent.to_dict()
    assert loaded.settings == agent.settings
    assert agent.to_dict()["settings"] == {
        **{"window": 60.0, "default_reward": 0.0, "max_open": 5, "patience": 9, "max_share": 0.5}
    }
    with pytest.raises(cb.TooLate):
        loaded.tell(expired, 1.0)
    clock.now = 1110.0
    with pytest.raises(cb.TooLate):
        loaded.tell(waiting, 1.0)
    assert loaded.n_observations == 2
    assert late_counts(loaded) == 2
