"""No two decisions have the same id, whatever becomes of the agent that makes them; lost ones are known to be lost."""

import pytest

import corebandit as cb
from corebandit.agents.ids import MOST_SESSIONS, Ids

ARMS = ["red", "green", "blue"]


def new_agent(**options):
    return cb.Agent(cb.UCB1(), ARMS, **{"seed": 7, **options})


def ids_of(agent, n=5):
    return [agent.ask().id for _ in range(n)]


def test_agents_with_the_same_seed_choose_alike_under_other_ids():
    one, other = new_agent(), new_agent()
    decisions = [(one.ask(), other.ask()) for _ in range(20)]
    assert all(a.arm == b.arm for a, b in decisions)
    assert len({decision.id for pair in decisions for decision in pair}) == 40
    with pytest.raises(cb.UnknownDecision, match=r"must be one that ask\(\) returned") as refused:
        other.tell(decisions[0][0], 1.0)
    assert not isinstance(refused.value, cb.LostDecision)


def test_replicas_of_what_was_saved_never_give_the_same_id(tmp_path):
    agent = new_agent()
    seen = ids_of(agent)
    agent.save(tmp_path / "agent.json")
    replicas = [agent, *(cb.Agent.load(tmp_path / "agent.json") for _ in range(5)), agent.__copy__()]
    for _ in range(3):
        for replica in replicas:
            seen += ids_of(replica)
    assert len(set(seen)) == len(seen) == 5 + 3 * 7 * 5


def test_what_was_decided_after_the_save_is_lost_and_said_to_be(tmp_path):
    agent = new_agent()
    kept, told = agent.ask(), agent.ask()
    agent.tell(told, 1.0)
    agent.save(tmp_path / "agent.json")
    lost = [agent.ask(), agent.ask()]
    loaded = cb.Agent.load(tmp_path / "agent.json")
    own = loaded.ask()
    before = loaded.to_dict()
    sentence = rf"^decision {lost[0].id} was made after what this agent was loaded from was saved.* observe\(\.\.\.\)"
    for decision in (lost[0], lost[0].id):
        for call in (lambda decision=decision: loaded.tell(decision, 1.0), lambda d=decision: loaded.forget(d)):
            with pytest.raises(cb.LostDecision, match=sentence):
                call()
    with pytest.raises(cb.LostDecision):
        loaded.tell(lost[1], 1.0)
    with pytest.raises(cb.AlreadyTold):
        loaded.tell(told, 1.0)
    assert loaded.to_dict() == before
    loaded.tell(kept, 1.0)
    loaded.tell(own, 1.0)
    with pytest.raises(cb.LostDecision, match="or by a copy of it"):
        agent.tell(own, 1.0)
    with pytest.raises(cb.UnknownDecision) as refused:
        new_agent().tell(own, 1.0)
    assert not isinstance(refused.value, cb.LostDecision)


def test_what_was_lost_stays_lost_in_all_that_is_saved_later():
    agent = new_agent()
    agent.ask()
    saved = agent.to_dict()
    lost = agent.ask()
    for _ in range(3):
        loaded = cb.Agent.from_dict(saved)
        own = loaded.ask()
        with pytest.raises(cb.LostDecision):
            loaded.tell(lost, 1.0)
        saved = loaded.to_dict()
        assert own.id in cb.Agent.from_dict(saved).pending


def test_only_the_last_of_many_sessions_are_saved_and_those_whose_decisions_wait():
    ids = Ids()
    for session in range(MOST_SESSIONS + 50):
        ids.note(f"s{session}", 3)
    ids.new()
    saved = ids.content([f"{ids.family}-s7-0", f"{ids.family}-s9-2", 5])["sessions"]
    assert len(saved) == MOST_SESSIONS
    assert [session in saved for session in ("s6", "s7", "s8", "s9", "s52")] == [False, True, False, True, False]
    assert {f"s{MOST_SESSIONS + 49}", "s53"} <= set(saved)
    waiting = [f"{ids.family}-s{session}-0" for session in range(MOST_SESSIONS + 50)]
    assert len(ids.content(waiting)["sessions"]) == MOST_SESSIONS + 50


def test_who_saves_after_every_decision_can_load_what_waits(monkeypatch):
    monkeypatch.setattr("corebandit.agents.ids.MOST_SESSIONS", 5)
    agent = new_agent()
    first = agent.ask()
    for _ in range(12):
        agent = cb.Agent.from_dict(agent.to_dict())
        agent.forget(agent.ask())
    agent = cb.Agent.from_dict(agent.to_dict())
    assert len(agent.to_dict()["ids"]["sessions"]) == 5
    agent.tell(first, 1.0)
    assert first.id.rpartition("-")[0] not in agent.from_dict(agent.__copy__().to_dict()).pending


def test_a_journal_tells_of_ids_that_were_given():
    ids = Ids()
    session = f"{ids.family}-s"
    ids.note_id(f"{session}-4")
    ids.note_id(f"{session}-2")
    assert [ids.what_became_of(f"{session}-{number}") for number in (0, 4, 5)] == ["given", "given", "lost"]
    assert not ids.new().startswith(f"{session}-")
    with pytest.raises(cb.DamagedFile, match=f"ids must be of the family {ids.family}, not 'other-s-3'"):
        ids.note_id("other-s-3")


def test_a_decision_is_known_by_the_name_that_json_gives_back():
    agent = cb.Agent(cb.UCB1(), ["a"], seed=1)
    decision = agent.ask()
    assert type(decision.id) is str
    assert decision.id == decision.id.lower()
    assert [len(part) for part in decision.id.split("-")] == [8, 16, 1]  # 40 and 80 random bits
    agent.tell(decision.id, 1.0)
