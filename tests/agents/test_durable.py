"""A durable agent loses nothing that it returned, whatever becomes of its process."""

import contextlib
import datetime
import gc
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.durable import Durable
from corebandit.agents.replay import replay
from corebandit.agents.stores import opening, sqlite
from corebandit.contracts.errors import CannotWrite
from durable_program import ARMS, THREADS

PROGRAM = Path(__file__).parents[1] / "durable_program.py"
POLICY = cb.CORe(warm_up=0.1)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/shop.db"


def crash(agent: Durable) -> None:
    """Leave an agent as a killed process would: what was not written is gone, and so is its lock."""
    if agent._snapshots is not None:
        agent._snapshots.join()
    store = agent._store
    store._checkpoints.wait()
    agent._let_go.detach()
    opening._stores.pop(store.path)
    store._connection.close()
    store._lock.release()


def replayed(url: str, name: str) -> dict:
    """Return what makes an agent after its first snapshot and all events, done again in a new one."""
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    events = connection.execute("SELECT event FROM events WHERE agent = ? ORDER BY number", (name,)).fetchall()
    connection.close()
    agent = cb.Agent(POLICY, ARMS, seed=3)
    agent._ledger.ids.family = json.loads(events[0][0])[1].split("-")[0]  # which is drawn, not decided
    for (event,) in events:
        replay(agent, json.loads(event))
    return agent.to_dict()


# Killed -----------------------------------------------------------------------------------------------------------


def killed_program(url: str, acknowledged: Path, rng: random.Random, snapshot_every: int) -> None:
    """Run the program and kill it at a random moment after it has begun."""
    command = [sys.executable, str(PROGRAM), url, str(acknowledged), str(snapshot_every)]
    begun = acknowledged.read_text().count("ready") if acknowledged.exists() else 0
    with subprocess.Popen(command, stderr=subprocess.PIPE) as program:
        while not acknowledged.exists() or acknowledged.read_text().count("ready") == begun:
            assert program.poll() is None, program.stderr.read().decode()
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.3))
        program.send_signal(signal.SIGKILL)
        program.wait()


def check_nothing_is_lost(url: str, acknowledged: Path) -> int:
    """Compare what was acknowledged with what is kept, and return how much that was."""
    asked, told = {}, {}
    for line in acknowledged.read_text().splitlines():
        kind, *words = line.split()
        if kind == "ask":
            assert words[0] not in asked, "an id was given twice"
            asked[words[0]] = words[1]
        elif kind == "tell":
            assert words[0] not in told, "a decision was told twice"
            told[words[0]] = float(words[1])
    with cb.open_agent(url, "banner") as agent:
        log = {row["id"]: row for row in agent.log().iter_rows(named=True)}
        assert {key: log[key]["chosen"] for key in asked} == asked
        assert {key: log[key]["reward"] for key in told} == told
        rewarded = [row for row in log.values() if row["outcome"] == "rewarded"]
        assert agent.n_observations == len(rewarded) >= len(told)
        # What was not acknowledged is of calls that the kill cut off, at most one a thread and kill.
        n_kills = acknowledged.read_text().count("ready")
        assert len(log) - len(asked) <= THREADS * n_kills
        assert len(rewarded) - len(told) <= THREADS * n_kills
        assert set(agent.pending) == {key for key, row in log.items() if row["outcome"] == "open"}
        content = agent.to_dict()
        del content["began_with"]
    assert replayed(url, "banner") == content
    return len(asked) + len(told)


@pytest.mark.heavy
@pytest.mark.parametrize("n_kills", [2, pytest.param(200, marks=pytest.mark.endurance)])
def test_nothing_that_was_returned_is_lost_when_the_process_is_killed(url, tmp_path, n_kills):
    rng, acknowledged = random.Random(5), tmp_path / "acknowledged"
    for _ in range(n_kills):
        # Snapshots of every 20 events are being written all the time, and pieces of them too.
        killed_program(url, acknowledged, rng, snapshot_every=rng.choice([20, 200, 10**6]))
        n_kept = check_nothing_is_lost(url, acknowledged)
    assert n_kept > n_kills


# Opening ----------------------------------------------------------------------------------------------------------


def played(agent, n_rounds: int = 40) -> list[cb.Decision]:
    """Return decisions, of which every third is not told."""
    decisions = []
    for step in range(n_rounds):
        decision = agent.ask()
        decisions.append(decision)
        if step % 3:
            agent.tell(decision, step % 2)
    return decisions


def test_what_was_opened_again_goes_on_as_if_nothing_had_happened(url):
    agent, twin = cb.open_agent(url, "banner", POLICY, ARMS, seed=3), cb.Agent(POLICY, ARMS, seed=3)
    first, second = played(agent), played(twin)
    assert [decision.arm for decision in first] == [decision.arm for decision in second]
    crash(agent)
    with cb.open_agent(url, "banner") as again:
        assert list(again.pending) == [decision.id for decision in first[::3]]
        again.tell(first[0].id, 1.0)
        twin.tell(second[0].id, 1.0)
        assert [d.arm for d in played(again)] == [d.arm for d in played(twin)]


def events_of_all_kinds(agent, clock):
    """Do all that can be done with an agent that decides by features."""
    rows = np.random.default_rng(4).normal(size=(4, 3))
    decisions = [agent.ask(rows[:3]) for _ in range(6)]
    decisions.append(agent.ask({"red": rows[0], "blue": rows[3]}))
    decisions.append(agent.ask(rows[:2].tolist(), arms=iter(["green", "blue"])))
    agent.tell(decisions[0], 0.5)
    agent.observe("green", 1.5, rows[2])
    agent.forget(decisions[1])
    clock.now += 50.0
    agent.add_arm("grey")
    agent.ask(rows)
    agent.expire(older_than=10.0, reward=0.25)
    with pytest.raises(cb.TooLate):
        agent.tell(decisions[2], 1.0)
    agent.retire_arm("red")
    clock.now -= 1000.0  # which a clock may do
    agent.ask(rows[:3])
    clock.now += 5000.0
    agent.tell(agent.ask(rows[:3]), 2.0)


class HandClock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize("snapshot_every", [1, 5, 10**6])
def test_all_that_can_happen_happens_again_without_a_clock(url, snapshot_every):
    clock = HandClock()
    options = {"seed": 3, "window": 100.0, "default_reward": 0.0, "max_share": 0.8}
    agent = cb.open_agent(url, "items", cb.LinTS(), ARMS, clock=clock, snapshot_every=snapshot_every, **options)
    events_of_all_kinds(agent, clock)
    content = agent.to_dict()
    crash(agent)
    with cb.open_agent(url, "items", clock=lambda: pytest.fail("the clock was asked")) as again:
        assert again.to_dict() == content


def test_rankings_are_kept_too(url):
    clock, items = HandClock(), ["news", "sport", "maps", "mail"]
    agent = cb.open_ranking_agent(
        url, "page", cb.CascadeUCB1(), items, 2, seed=3, clock=clock, window=60.0, default_reward=0
    )
    first, second, third = agent.ask(), agent.ask(), agent.ask()
    agent.tell(first, [first.items[1]])
    agent.observe(["maps", "mail"], ["mail"])
    agent.forget(second)
    agent.add_item("weather")
    clock.now += 61.0
    agent.ask()
    content = agent.to_dict()
    crash(agent)
    with cb.open_ranking_agent(url, "page") as again:
        assert again.to_dict() == content
        log = again.log()
        assert log["outcome"].to_list() == ["rewarded", "dropped", "defaulted", "rewarded", "open"]
        assert log["chosen"].to_list()[0] == list(first.items)
        with pytest.raises(cb.TooLate):
            again.tell(third, [])


def test_many_agents_share_a_file_and_others_may_read_it(url):
    with cb.open_agent(url, "one", cb.UCB1(), ["a", "b"]) as one, cb.open_agent(url, "two", cb.UCB1(), [1, 2]) as two:
        for _ in range(3):
            one.tell(one.ask(), 1.0)
            two.ask()
        assert cb.read_log(url, "one")["outcome"].to_list() == ["rewarded"] * 3
        assert cb.read_log(url, "two")["chosen"].to_list()[:2] in ([1, 2], [2, 1])
        with pytest.raises(cb.BadInput, match=r"there is no agent 'three' in .*; there are 'one', 'two'"):
            cb.read_log(url, "three")


def test_a_log_may_be_trimmed(url, monkeypatch):
    monkeypatch.setattr(sqlite, "TRIMMED_AT_ONCE", 7)
    agent = cb.open_agent(url, "banner", POLICY, ARMS, seed=3, keep_log=False, snapshot_every=10**6)
    for _ in range(3):
        played(agent, 20)
        agent.snapshot()
    content = agent.to_dict()
    numbers = [number for number, _ in agent._store.events("banner")]
    assert numbers == list(range(numbers[0], agent._n_events + 1))
    assert 0 < len(numbers) < agent._n_events / 2
    crash(agent)
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content


def test_a_snapshot_in_pieces_counts_when_its_last_one_is_there(url, monkeypatch):
    monkeypatch.setattr(sqlite, "PIECE", 100)
    agent = cb.open_agent(url, "banner", POLICY, ARMS, seed=3, snapshot_every=10**6)
    played(agent)
    execute = agent._store._execute

    def stop_before_the_end(*statements):
        if any(text.startswith("INSERT OR IGNORE INTO snapshots") for text, _ in statements):
            raise KeyboardInterrupt
        execute(*statements)

    monkeypatch.setattr(agent._store, "_execute", stop_before_the_end)
    with pytest.raises(KeyboardInterrupt):
        agent.snapshot()
    content = agent.to_dict()
    crash(agent)
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content
        again.snapshot()
        pieces = again._store._connection.execute("SELECT DISTINCT n_events FROM pieces").fetchall()
        kept = again._store._connection.execute("SELECT n_events FROM snapshots").fetchall()
    assert sorted(pieces) == sorted(kept)


# Threads ----------------------------------------------------------------------------------------------------------


@pytest.mark.heavy
def test_threads_wait_for_the_disk_together(url):
    agent = cb.open_agent(url, "banner", cb.UCB1(), ARMS, synchronous="normal")
    commits = []
    agent._store._connection.set_trace_callback(lambda said: commits.append(said) if said == "COMMIT" else None)

    def work():
        for _ in range(100):
            agent.tell(agent.ask(), 1.0)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agent.n_observations == 800
    assert not agent.pending
    assert len(commits) < 1600
    content = agent.to_dict()
    crash(agent)
    with cb.open_agent(url, "banner", synchronous="normal") as again:
        assert again.to_dict() == content


# Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.heavy
def test_a_second_process_is_told_who_writes(url):
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS):
        script = f"import corebandit as cb\ncb.open_agent({url!r}, 'banner')"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert f"is written by process {os.getpid()} already: one process writes a file of agents" in done.stderr


def test_an_agent_is_open_once(url):
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS):
        with pytest.raises(cb.BadInput, match=r"is open in this process already: share it$"):
            cb.open_agent(url, "banner")
        with pytest.raises(cb.BadInput, match="synchronous must be 'full', as for the other agents"):
            cb.open_agent(url, "other", cb.UCB1(), ARMS, synchronous="normal")
    with cb.open_agent(url, "banner") as again:
        again.ask()
    with pytest.raises(cb.BadInput, match="must be opened again: it was closed"):
        again.ask()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, r"policy must be given: there is no file .* yet"),
        ({"name": ""}, "name must be a string that is not empty"),
        ({"url": "shop.db"}, "url must be such as 'sqlite:///shop.db'"),
        ({"url": "postgresql://shop"}, "url must be such as 'sqlite:///shop.db'"),
        ({"synchronous": "off"}, "synchronous must be"),
        ({"snapshot_every": 0}, "snapshot_every must be a whole number of at least 1, not 0"),
    ],
)
def test_what_cannot_be_opened_is_refused_and_leaves_nothing_open(url, given, sentence):
    with pytest.raises(cb.BadInput, match=sentence):
        cb.open_agent(**{"url": url, "name": "new", **given})
    with cb.open_agent(url, "new", cb.UCB1(), ARMS):
        pass


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"policy": cb.CORe()}, "policy must be the one that was saved, but it was UCB1, not CORe"),
        ({"arms": ["red", "pink"]}, "arms must be those that the agent began with, or has on offer"),
        ({"seed": 4}, "seed must be 3, as the agent was made with, not 4"),
        ({"window": 5.0}, "window must be None, as the agent was made with, not 5.0"),
    ],
)
def test_an_agent_that_exists_is_not_made_anew(url, given, sentence):
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS, seed=3) as agent:
        agent.add_arm("grey")
    with pytest.raises(cb.BadInput, match=sentence):
        cb.open_agent(url, "banner", **given)
    for arms in (ARMS, [*ARMS, "grey"]):
        with cb.open_agent(url, "banner", cb.UCB1(), arms, seed=3) as agent:
            assert agent.arms == [*ARMS, "grey"]


def test_what_cannot_be_written_is_not_acknowledged_and_all_else_refused(url, monkeypatch):
    agent = cb.open_agent(url, "banner", cb.UCB1(), ARMS, seed=3)
    decision = agent.ask()
    content = agent.to_dict()
    agent._store._connection.execute("PRAGMA query_only = ON")  # as a full disk would
    with pytest.raises(CannotWrite, match="what nobody was told of is not kept, so open its agents again"):
        agent.tell(decision, 1.0)
    with pytest.raises(cb.BadInput, match="must be opened again: cannot write"):
        agent.ask()
    agent.close()
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content
        again.tell(decision, 1.0)


def test_an_interrupted_agent_is_not_trusted(url, monkeypatch):
    agent = cb.open_agent(url, "banner", cb.UCB1(), ARMS, seed=3)
    decision, content = agent.ask(), agent.to_dict()

    def interrupt(event):
        raise KeyboardInterrupt

    monkeypatch.setattr(agent, "_journal", interrupt)
    with pytest.raises(KeyboardInterrupt):
        agent.tell(decision, 1.0)
    with pytest.raises(cb.BadInput, match="must be opened again: it was interrupted"):
        agent.tell(decision, 1.0)
    agent.close()
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content


def test_a_damaged_snapshot_leaves_the_one_before(url):
    agent = cb.open_agent(url, "banner", POLICY, ARMS, seed=3, snapshot_every=10**6)
    played(agent)
    agent.snapshot()
    played(agent)
    content = agent.to_dict()
    agent._store._connection.execute("UPDATE pieces SET content = replace(content, '1', '2') WHERE n_events > 0")
    crash(agent)
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content


def test_a_missing_event_is_named(url):
    agent = cb.open_agent(url, "banner", POLICY, ARMS, seed=3, snapshot_every=10**6)
    played(agent)
    agent._store._connection.execute("DELETE FROM events WHERE number = 5")
    crash(agent)
    with pytest.raises(cb.DamagedFile, match="is damaged at event 6: event 5 is missing"):
        cb.open_agent(url, "banner")


def test_what_another_version_decided_otherwise_is_taken_for_granted_if_asked_for(url):
    agent = cb.open_agent(url, "banner", POLICY, ARMS, seed=3, snapshot_every=10**6)
    played(agent)
    arms = agent.log()["chosen"].to_list()
    (number, event), *_ = agent._store._connection.execute(
        "SELECT number, event FROM events WHERE number > 20"
    ).fetchall()
    other = next(arm for arm in ARMS if json.dumps(arm) not in event)
    chosen = next(arm for arm in ARMS if json.dumps(arm) in event)
    agent._store._connection.execute(
        "UPDATE events SET event = replace(event, ?, ?) WHERE number = ?",
        (json.dumps(chosen), json.dumps(other), number),
    )
    crash(agent)
    with pytest.raises(
        cb.DamagedFile, match=rf"at event {number}: {other!r} was chosen, and {chosen!r} is chosen now.* change=True"
    ):
        cb.open_agent(url, "banner")
    with cb.open_agent(url, "banner", change=True) as again:
        assert again.n_observations > 0
        now = again.log()["chosen"].to_list()
        again.tell(again.ask(), 1.0)
        content = again.to_dict()
    assert [arm for arm, before in zip(now, arms, strict=True) if arm != before] == [other]
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content


def test_what_is_no_file_of_agents_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("not a database at all, but long enough to look at" * 10)
    with pytest.raises(cb.DamagedFile, match="is not a file of agents, or damaged"):
        cb.open_agent(f"sqlite:///{tmp_path}/text.db", "banner", cb.UCB1(), ARMS)
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE customers (name)")
    connection.close()
    with pytest.raises(cb.DamagedFile, match="is no file of agents"):
        cb.open_agent(f"sqlite:///{tmp_path}/other.db", "banner", cb.UCB1(), ARMS)
    with pytest.raises(cb.BadInput, match="cannot write"):
        cb.open_agent(f"sqlite:///{tmp_path}/nowhere/shop.db", "banner", cb.UCB1(), ARMS)


def test_a_newer_schema_is_refused(url):
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS) as agent:
        agent._store._connection.execute("UPDATE about SET schema_version = 99")
    with pytest.raises(cb.DamagedFile, match="has schema 99; this version reads schemas up to 1"):
        cb.open_agent(url, "banner")


def test_copies_and_forks_are_refused(url):
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS) as agent:
        with pytest.raises(cb.BadInput, match="a durable agent is not copied"):
            agent.__copy__()
        if (child := os.fork()) == 0:
            try:
                agent.ask()
            except cb.BadInput as error:
                os._exit(0 if "forked from the one that writes it" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        agent.ask()


# What broke it once ---------------------------------------------------------------------------------------------


def test_what_numpy_calls_an_arm_is_written_down_by_the_agents_own_name(url):
    agent = cb.open_agent(url, "banner", POLICY, [0, 1, 2], seed=3)
    agent.observe(np.int64(1), 1.0)
    agent.ask(arms=list(np.arange(2)))
    agent.retire_arm(np.int64(1))
    played(agent)
    content = agent.to_dict()
    crash(agent)
    with cb.open_agent(url, "banner") as again:
        assert again.to_dict() == content


def test_bad_input_of_any_kind_changes_nothing_and_the_agent_goes_on(url):
    agent = cb.open_agent(url, "banner", POLICY, ARMS, seed=3)
    decision, content = agent.ask(), agent.to_dict()
    for call, error in (
        (lambda: agent.tell(decision), TypeError),
        (lambda: agent.ask(arms=5), cb.BadInput),
        (lambda: agent.ask(arms="red"), cb.BadInput),
        (lambda: agent.ask(arms=["pink"]), cb.UnknownArm),
        (lambda: agent.add_arm(datetime.date(2026, 11, 16)), cb.BadInput),
        (lambda: agent.tell(decision, "much"), cb.BadReward),
    ):
        with pytest.raises(error):
            call()
        assert agent.to_dict() == content
    agent.tell(decision, 1.0)
    agent.close()


@pytest.mark.heavy
def test_decisions_returned_while_another_thread_closes_are_kept(url):
    for _ in range(10):
        agent, returned = cb.open_agent(url, "banner", cb.UCB1(), ARMS, synchronous="normal"), []

        def work(agent=agent, returned=returned):
            with contextlib.suppress(cb.BadInput):
                while True:
                    returned.append(agent.ask().id)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        agent.close()
        for thread in threads:
            thread.join()
        assert set(returned) <= set(cb.read_log(url, "banner")["id"])


def test_an_agent_whose_beginning_cannot_be_kept_is_not_opened(url, monkeypatch):
    def full(store, name, snapshot):
        raise CannotWrite("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite.SqliteStore, "keep", full)
        with pytest.raises(CannotWrite, match="the disk is full"):
            cb.open_agent(url, "banner", cb.UCB1(), ARMS)
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS) as agent:
        agent.ask()


def test_events_without_a_beginning_are_no_new_agent(url):
    agent = cb.open_agent(url, "banner", cb.UCB1(), ARMS)
    agent.ask()
    agent._store._connection.execute("DELETE FROM snapshots")
    crash(agent)
    with pytest.raises(cb.DamagedFile, match="it has events and nothing that they began with"):
        cb.open_agent(url, "banner", cb.UCB1(), ARMS)


def test_a_clock_set_back_between_two_runs_lets_windows_end(url):
    clock = HandClock()
    options = {"window": 100.0, "default_reward": 0.0, "clock": clock}
    agent = cb.open_agent(url, "banner", cb.UCB1(), ARMS, **options)
    agent.ask()
    crash(agent)
    clock.now -= 5_000.0
    with cb.open_agent(url, "banner", **options) as again:
        again.ask()
        clock.now += 101.0
        again.ask()
        assert again.n_observations == 2
        assert len(again.pending) == 1


def test_a_smaller_snapshot_of_the_same_moment_replaces_all_of_a_larger_one(url, monkeypatch):
    monkeypatch.setattr(sqlite, "PIECE", 100)
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS) as agent:
        store = agent._store
        store.keep("other", sqlite.Snapshot(3, "a" * 1_000))
        store.keep("other", sqlite.Snapshot(3, "b" * 250))
        assert [snapshot.content for snapshot in store.snapshots("other")] == ["b" * 250]


def test_pieces_of_an_unfinished_snapshot_go_whatever_other_agents_have(url):
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS) as agent:
        store = agent._store
        store.keep("other", sqlite.Snapshot(3, "whole"))
        store._execute(("INSERT INTO pieces VALUES ('banner', 3, 0, 'cut off')", ()))
        store.keep("banner", sqlite.Snapshot(9, "whole"))
        left = store._connection.execute("SELECT agent, n_events FROM pieces ORDER BY 1, 2").fetchall()
    assert left == [("banner", 0), ("banner", 9), ("other", 3)]


def test_an_agent_that_nobody_holds_any_more_can_be_opened_again(url):
    agent = cb.open_agent(url, "banner", cb.UCB1(), ARMS)
    agent.ask()
    del agent
    gc.collect()
    with cb.open_agent(url, "banner") as again:
        assert len(again.pending) == 1


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"arms": ["red"]}, "arms must be those that the agent began with"),
        ({"arms": "red"}, "arms must be a list of options, not the string 'red'"),
        ({"windw": 3}, "Agent has no option 'windw'; it has policy, arms, seed"),
        ({"window": None}, "window must be 10.0, as the agent was made with, not None"),
    ],
)
def test_what_was_meant_otherwise_is_said_when_an_agent_is_opened_again(url, given, sentence):
    with cb.open_agent(url, "banner", cb.UCB1(), ARMS, window=10.0):
        pass
    with pytest.raises(cb.BadInput, match=sentence):
        cb.open_agent(url, "banner", **given)
    with pytest.raises(cb.BadInput, match=r"an agent that does not rank: read it with open_agent$"):
        cb.open_ranking_agent(url, "banner")


# What the system is asked ----------------------------------------------------------------------------------------

TRACED = """
import os, sys
import corebandit as cb
agent = cb.open_agent(sys.argv[1], "banner", cb.UCB1(), ["red", "green"])
for _ in range(3):
    os.write(2, b"asking\\n")
    decision = agent.ask()
    os.write(2, b"returned\\n")
    agent.tell(decision, 1.0)
    os.write(2, b"returned\\n")
"""


@pytest.mark.endurance
def test_the_disk_has_it_before_anyone_is_told(url, tmp_path):
    strace = shutil.which("strace")
    assert strace, "this test needs strace, which shows what the system is asked: install it"
    trace = tmp_path / "trace"
    traced = [strace, "-f", "-e", "trace=fdatasync,fsync,write,pwrite64", "-o", str(trace)]
    subprocess.run([*traced, sys.executable, "-c", TRACED, url], check=True, capture_output=True)
    lines = trace.read_text().splitlines()
    begin = next(place for place, line in enumerate(lines) if "asking" in line)
    told = [place for place, line in enumerate(lines) if '"returned' in line]
    assert len(told) == 6
    for start, end in zip([begin, *told], told, strict=False):
        between = lines[start:end]
        written = max(place for place, line in enumerate(between) if "pwrite64(" in line)
        assert any("sync(" in line and line.endswith("= 0") for line in between[written:])
