"""What durable agents are used beside: forks, garbage, full disks, interrupts, names that no file can hold."""

import datetime
import gc
import json
import math
import sqlite3
import subprocess
import sys
import threading
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import corebandit as cb
from corebandit import UCB1
from corebandit.agents import patient_json
from corebandit.agents.codec import in_json
from corebandit.agents.stores import checkpoints, opening
from corebandit.contracts.atomic_files import fits_its_digest

ARMS = ["red", "green", "blue"]


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/shop.db"


def said_by(program: str, *arguments: object) -> str:
    """Return what a program prints; one that waits for ever fails."""
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Forks and garbage ----------------------------------------------------------------------------------------------------

FORKING = """
import os, sys, threading, time
import corebandit as cb
agent = cb.open_agent(sys.argv[1], "banner", cb.UCB1(), ["red", "green"], synchronous="normal", snapshot_every=100)
def work():
    while True:
        agent.tell(agent.ask(), 1.0)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
for _ in range(30):
    if (child := os.fork()) == 0:
        other = cb.open_agent(f"{sys.argv[1]}.{os.getpid()}", "banner", cb.UCB1(), ["red"], synchronous="normal")
        other.ask()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("forked", flush=True)
os._exit(0)
"""


@pytest.mark.heavy
def test_a_process_may_fork_while_its_threads_use_a_durable_agent(url):
    assert said_by(FORKING, url) == "forked\n"
    with cb.open_agent(url, "banner") as agent:
        assert agent.n_observations > 0


def test_an_agent_that_nobody_holds_may_vanish_in_the_middle_of_anything(url):
    with cb.open_agent(url, "banner", UCB1(), ARMS) as agent:
        store = agent._store

        def drop_one():
            other = cb.open_agent(url, "other", UCB1(), ARMS)
            other.ask()
            del other
            with opening._opening, store._queueing:
                gc.collect()

        thread = threading.Thread(target=drop_one, daemon=True)
        thread.start()
        thread.join(20.0)
        assert not thread.is_alive()
        with cb.open_agent(url, "other") as other:
            assert len(other.pending) == 1
    assert not opening._stores


# The log of SQLite ----------------------------------------------------------------------------------------------------


def test_no_commit_copies_the_log(url):
    with cb.open_agent(url, "banner", UCB1(), ARMS) as agent:
        assert agent._store._connection.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)


def test_the_log_is_copied_by_a_thread_and_begins_anew(url, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "PAGES", 20)
    with cb.open_agent(url, "banner", UCB1(), ARMS, synchronous="normal") as agent:
        for _ in range(300):
            decision = agent.ask()
            agent._store._checkpoints.wait()
            agent.tell(decision, 1.0)
            agent._store._checkpoints.wait()
        assert (tmp_path / "shop.db").stat().st_size > 30_000
        assert (tmp_path / "shop.db-wal").stat().st_size < 300_000  # of 3 MB that were written


def test_writers_wait_for_the_end_of_a_log_that_is_written_faster_than_copied(url, monkeypatch):
    copied = []

    def copy_while_others_write(connection):
        _, n_pages, n_copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        copied.append((n_pages, n_copied))
        if len(copied) == 1:
            for _ in range(5):
                agent.ask()
        return n_pages

    with cb.open_agent(url, "banner", UCB1(), ARMS) as agent:
        monkeypatch.setattr(checkpoints, "_pages_after_copying", copy_while_others_write)
        monkeypatch.setattr(checkpoints, "MOST_PAGES", 0)
        monkeypatch.setattr(checkpoints, "PAGES", 20)
        while not copied:
            agent.ask()
        agent._store._checkpoints.wait()
        n_pages, n_copied = copied[1]
        assert n_pages == n_copied > 0
        n_asked = len(agent.pending)
    with cb.open_agent(url, "banner") as agent:
        assert len(agent.pending) == n_asked


def test_a_log_that_cannot_be_copied_loses_nothing(url, monkeypatch):
    monkeypatch.setattr(checkpoints, "PAGES", 1)

    def full(connection):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(checkpoints, "_pages_after_copying", full)
    with cb.open_agent(url, "banner", UCB1(), ARMS) as agent:
        agent.tell(agent.ask(), 1.0)
        agent._store._checkpoints.wait()
        agent.ask()
    assert cb.read_log(url, "banner")["outcome"].to_list() == ["rewarded", "open"]


# Full disks -----------------------------------------------------------------------------------------------------------

FILLING = """
import resource, signal, sys
import corebandit as cb
agent = cb.open_agent(sys.argv[1], "banner", cb.UCB1(), ["red", "green"], synchronous="normal")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
try:
    while True:
        decision = agent.ask()
        print("ask", decision.id, flush=True)
        agent.tell(decision, 1.0)
        print("tell", decision.id, flush=True)
except cb.BadInput as error:
    print("refused", error)
try:
    agent.ask()
except cb.BadInput as error:
    print("refused", error)
agent.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with cb.open_agent(sys.argv[1], "banner") as again:
    print("again", again.n_observations, len(again.pending))
"""


@pytest.mark.heavy
def test_a_full_disk_is_said_and_loses_nothing_that_was_returned(url):
    *lines, first, second, last = said_by(FILLING, url).splitlines()
    assert first.startswith("refused cannot write")
    assert "so open its agents again" in first
    assert second.startswith("refused agent 'banner' must be opened again: cannot write")
    told = [line.split()[1] for line in lines if line.startswith("tell")]
    asked = [line.split()[1] for line in lines if line.startswith("ask")]
    assert len(told) > 10
    _, n_observations, n_open = last.split()
    assert len(told) <= int(n_observations) <= len(told) + 1
    assert len(asked) <= int(n_observations) + int(n_open) <= len(asked) + 1
    log = cb.read_log(url, "banner")
    assert set(asked) <= set(log["id"])


# Interrupts -----------------------------------------------------------------------------------------------------------

INTERRUPTED = """
import os, random, signal, sys, threading, time
import corebandit as cb
url, rng, asked, told, is_armed = sys.argv[1], random.Random(3), set(), set(), False
def interrupt(number, frame):
    global is_armed
    if is_armed:
        is_armed = False
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
def soon():
    time.sleep(rng.uniform(0.0, 0.003))
    os.kill(os.getpid(), signal.SIGINT)
agent, n_opened = cb.open_agent(url, "banner", cb.UCB1(), ["red", "green"], synchronous="normal", snapshot_every=50), 0
for _ in range(int(sys.argv[2])):
    thread = threading.Thread(target=soon)
    thread.start()
    try:
        is_armed = True
        for _ in range(100):
            decision = agent.ask()
            asked.add(decision.id)
            agent.tell(decision, 1.0)
            told.add(decision.id)
        is_armed = False
    except KeyboardInterrupt:
        pass
    thread.join()
    try:
        agent.ask()
    except cb.CannotWrite:
        agent.close()
        agent, n_opened = cb.open_agent(url, "banner", synchronous="normal", snapshot_every=50), n_opened + 1
        log = agent.log()
        kept = dict(zip(log["id"], log["outcome"]))
        assert asked <= kept.keys() and all(kept[each] == "rewarded" for each in told)
        assert agent.n_observations == sum(outcome == "rewarded" for outcome in kept.values())
agent.close()
print("opened again:", n_opened > 0)
"""


@pytest.mark.heavy
@pytest.mark.parametrize("n_interrupts", [20, pytest.param(2_000, marks=pytest.mark.endurance)])
def test_interrupts_at_any_moment_lose_nothing_and_hang_nothing(url, n_interrupts):
    assert said_by(INTERRUPTED, url, n_interrupts) == "opened again: True\n"


# Snapshots are made while others decide -------------------------------------------------------------------------------

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    max_leaves=50,
)


@settings(max_examples=50, deadline=None)
@given(content=st.dictionaries(st.text(), PLAIN), longest=st.integers(1, 5))
@pytest.mark.heavy
def test_json_in_pieces_is_the_json_of_all(content, longest):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patient_json, "LONGEST_LIST", longest)
        patch.setattr(patient_json, "LONGEST_TEXT", longest)
        assert "".join(patient_json.pieces(content)) == json.dumps(content, sort_keys=True)


def test_what_is_made_later_is_in_the_json_too():
    content = {"rows": np.arange(6.0).reshape(2, 3), "later": lambda: iter([[1, 2], [3, 4]]), "state": [np.arange(3)]}
    again = json.loads(patient_json.patient_json_with_digest(content))
    assert fits_its_digest(again)
    del again["digest"]
    assert again == in_json(content)
    assert again["later"] == [[1, 2], [3, 4]]


def test_what_decides_meanwhile_changes_no_copy():
    agent = cb.Agent(cb.LinTS(), ARMS, seed=3, propensity_draws=5)
    waiting = [agent.ask(np.eye(3)) for _ in range(3)]
    agent.expire(0.0)
    waiting = [agent.ask(np.eye(3)) for _ in range(3)]
    before, copied = agent.to_dict(), agent._content()
    agent.tell(waiting[0], 1.0)
    agent.forget(waiting[1])
    agent.add_arm("grey")
    agent.ask(np.eye(4)[:, :3])
    assert in_json(copied) == before


# What cannot be kept --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": "\ud800"}, r"name must be text that can be written, of at most 200 characters, not '\\ud800'"),
        ({"name": "a\0b"}, "name must be text that can be written"),
        ({"name": "n" * 10**6}, r"name must be text that can be written, .*\.\.\.'$"),
        (
            {"url": "sqlite:///:memory:"},
            r"url must name a file, .*; an agent that lives in memory is Agent\(\.\.\.\)",
        ),
        ({"url": "sqlite:///shop.db?mode=ro"}, "url must name a file, without options"),
        ({"url": "sqlite:///\ud800.db"}, "url must be such as 'sqlite:///shop.db'"),
        ({"url": "sqlite:///a\0b.db"}, "url must be such as 'sqlite:///shop.db'"),
        ({"url": "sqlite:///" + "a" * 10**6}, "url must name a file in at most 4000 characters"),
        ({"arms": [10**5000, 1]}, "cannot save arm a value of type int: numbers must have at most 4096 bits"),
        ({"arms": [datetime.date(2026, 11, 16)]}, "cannot save arm"),
        ({"arms": [b"a" * 10**6]}, r"cannot save arm b'a{50,}\.\.\."),
        ({"clock": 5}, "clock must be a function that returns seconds, not 5"),
    ],
)
def test_what_no_file_can_hold_is_refused_in_a_short_sentence(url, changes, sentence):
    with pytest.raises(cb.BadInput, match=sentence) as refused:
        cb.open_agent(**{"url": url, "name": "banner", "policy": UCB1(), "arms": ARMS, **changes})
    assert len(str(refused.value)) < 400
    assert not opening._stores


@pytest.mark.parametrize(
    "arms", [["é", "日本", "🙂", "\ud800"], [math.inf, -math.inf], [None, True, "t"], [10**30, -0.5], [10**30, 2]]
)
def test_arms_of_all_kinds_come_back(url, arms):
    with cb.open_agent(url, "banner", UCB1(), arms) as agent:
        decisions = [agent.ask() for _ in range(6)]
    with cb.open_agent(url, "banner") as agent:
        assert agent.arms == arms
        assert list(agent.pending.values()) == [decision.arm for decision in decisions]
        assert len(agent.log()) == len(cb.read_log(url, "banner")) == 6
        assert len(agent.table()) == len(arms)


@pytest.mark.parametrize("now", [5, np.float32(5.0), np.int64(5)])
def test_a_clock_may_return_any_number(url, now):
    with cb.open_agent(url, "banner", UCB1(), ARMS, clock=lambda: now) as agent:
        agent.tell(agent.ask(), 1.0)
    with cb.open_agent(url, "banner") as again:
        assert again.n_observations == 1


@pytest.mark.parametrize("now", [Decimal(5), math.nan, math.inf, None, datetime.datetime(2026, 11, 16)])
def test_a_clock_that_returns_no_number_changes_nothing(url, now):
    with cb.open_agent(url, "banner", UCB1(), ARMS, clock=lambda: now) as agent:
        content = agent.to_dict()
        with pytest.raises(cb.BadInput, match=r"the time that clock\(\) returns must be a number, not"):
            agent.ask()
        assert agent.to_dict() == content


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize("told", [Unspeakable(), "much" * 10**6, math.nan])
def test_what_comes_late_is_counted_whatever_it_is(url, told):
    times = [0.0]
    with cb.open_agent(url, "banner", UCB1(), ARMS, window=10.0, clock=lambda: times[0]) as agent:
        decision = agent.ask()
        times[0] = 11.0
        with pytest.raises(cb.TooLate):
            agent.tell(decision, told)
        assert agent.log()["late"].to_list() == [1]
        longest = agent._store._connection.execute("SELECT max(length(event)) FROM events").fetchone()[0]
        assert longest < 1_000
        content = agent.to_dict()
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content


def test_an_agent_whose_policy_failed_while_it_learned_is_not_trusted(url, monkeypatch):
    agent = cb.open_agent(url, "banner", UCB1(), ARMS)
    decision, content = agent.ask(), agent.to_dict()
    learn = agent._desk._learn

    def fail_on_its_way(state, rng, arm, reward):
        learn(state, rng, arm, reward)
        raise ZeroDivisionError

    monkeypatch.setattr(agent._desk, "_learn", fail_on_its_way)
    with pytest.raises(ZeroDivisionError):
        agent.tell(decision, 1.0)
    with pytest.raises(cb.BadInput, match="must be opened again"):
        agent.ask()
    agent.close()
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content
        again.tell(decision, 1.0)


# What people do at first ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("baner",), r"policy must be given: there is no agent 'baner' at .* yet; there are 'banner'$"),
        (("page", ["red", "green"], UCB1()), "arms must be a list of options, not UCB1"),
        (("page", cb.CascadeUCB1(), ARMS), "it ranks, so say RankingAgent, or open_ranking_agent"),
        (("page", UCB1, ARMS), "policy must be a recipe such as"),
    ],
)
def test_common_slips_are_answered_by_what_would_be_right(url, arguments, sentence):
    with cb.open_agent(url, "banner", UCB1(), ARMS):
        pass
    with pytest.raises(cb.BadInput, match=sentence):
        cb.open_agent(url, *arguments)


def test_a_file_that_is_not_there_is_not_made_without_a_policy(tmp_path):
    with pytest.raises(cb.BadInput, match=r"policy must be given: there is no file .*shp\.db yet"):
        cb.open_agent(f"sqlite:///{tmp_path}/shp.db", "banner")
    assert not list(tmp_path.iterdir())


def test_a_service_can_tell_an_agent_to_be_opened_again_from_a_bad_request(url):
    with cb.open_agent(url, "banner", UCB1(), ARMS) as agent:
        pass
    with pytest.raises(cb.CannotWrite, match="must be opened again: it was closed"):
        agent.ask()


def test_twins_of_a_durable_agent_are_made_by_the_class_that_lives_in_memory(url, tmp_path):
    with cb.open_agent(url, "banner", UCB1(), ARMS) as agent:
        waiting = agent.ask()
        agent.save(tmp_path / "agent.json")
        for make in (lambda: agent.from_dict(agent.to_dict()), lambda: agent.load(tmp_path / "agent.json")):
            with pytest.raises(cb.BadInput, match=r"a durable agent is opened.* lives in memory"):
                make()
        for twin in (cb.Agent.from_dict(agent.to_dict()), cb.Agent.load(tmp_path / "agent.json")):
            twin.tell(waiting.id, 1.0)
