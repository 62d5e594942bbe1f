"""A durable agent that changes its mind learns again all that its journal tells; nothing that waits is lost."""

from decimal import Decimal

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.durable import Durable
from corebandit.agents.stores import sqlite

ARMS = ["red", "green", "blue"]


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/shop.db"


def opened(url, *given, **options):
    return cb.open_agent(url, "banner", *given, **{"synchronous": "normal", **options})


def played(url, policy, n=60, **options):
    """Return what is left of an agent that has done all there is to do, with some decisions that wait."""
    rng = np.random.default_rng(1)
    with opened(url, policy, ARMS, seed=7, **options) as agent:
        agent.observe_many(["red", "blue"], [0.5, 0.25])
        for number in range(n):
            decision = agent.ask(arms=["red", "blue"]) if number % 7 == 0 else agent.ask()
            if number % 5 == 0:
                agent.forget(decision)
            elif number % 11:
                agent.tell(decision, float(rng.random() < 0.5))
        agent.expire(0, reward=0)
        agent.add_arm("new")
        agent.retire_arm("green")
        agent.observe("new", 1.0)
        agent.ask()
        return agent.to_dict()


def lessons(url):
    """Return arms and rewards in the order in which they were learnt, as the log has them."""
    log = cb.read_log(url, "banner").filter(cb.read_log(url, "banner")["reward"].is_not_null())
    return log.sort("answered").select("chosen", "reward").rows()


def test_another_policy_learns_all_that_was_learnt(url):
    before = played(url, cb.BernoulliTS())
    with opened(url, cb.UCB1(), change=True) as agent:
        after = agent.to_dict()
        assert agent.policy == cb.UCB1()
        assert agent.arms == ["red", "blue", "new"]
    for same in ("pending", "expired", "ids", "tallies", "arms", "retired", "n_observations", "seed", "began_with"):
        assert after[same] == before[same], same
    fresh = cb.Agent(cb.UCB1(), [*ARMS, "new"], seed=7)
    for arm, reward in lessons(url):
        fresh.observe(arm, reward)
    assert sorted(map(str, fresh.to_dict()["state"])) == sorted(map(str, after["state"]))


def test_a_changed_agent_goes_on_and_is_opened_as_it_was(url):
    waiting = played(url, cb.BernoulliTS())["pending"]
    with opened(url, cb.UCB1(), change=True, holdout=0.5, patience=7) as agent:
        assert (agent.settings.holdout, agent.settings.patience) == (0.5, 7)
        agent.tell(waiting[0][0], 1.0)
        for _ in range(30):
            agent.tell(agent.ask(), 1.0)
        assert agent.gain().n_held_out > 0
        content = agent.to_dict()
        agent._keep_snapshot = lambda *snapshot: None  # so that all since the change is done again
    with opened(url) as agent:
        assert agent.to_dict() == content
    with opened(url, cb.CORe(), change=True) as agent:  # and once more
        assert agent.n_observations == content["n_observations"]
        assert agent.gain().n_chosen == 0
        assert agent.settings.patience == 7


def test_a_parameter_or_a_setting_alone_may_change(url):
    before = played(url, cb.CORe())
    with opened(url, change=True, window=60.0, default_reward=0.0, horizon=5_000) as agent:
        assert (agent.policy, agent.horizon, agent.settings.window) == (cb.CORe(), 5_000, 60.0)
        assert agent.to_dict()["pending"] == before["pending"]
    with opened(url, cb.CORe(alpha=0.4), change=True) as agent:
        assert agent.policy.alpha == 0.4
        assert agent.horizon == 5_000


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        ([cb.UCB1()], {}, r"^policy must be the one that was saved, but .* open the agent with change=True: it then"),
        ([], {"patience": 3}, r"^patience must be 100, as the agent was made with, not 3; .* with change=True"),
        ([cb.LinTS()], {"change": True}, r"cannot be changed to LinTS, by event 1: LinTS learns from features"),
        ([cb.TopRank()], {"change": True}, "^policy must be a recipe such as CORe"),
        ([cb.UCB1()], {"change": True, "colour": 1}, "^Agent has no option 'colour'"),
        ([cb.UCB1()], {"change": True, "window": -1}, "^window must be a number above 0, not -1$"),
        ([cb.UCB1(), ["x", "y"]], {"change": True}, "^arms must be those that the agent began with, or has on offer"),
        ([cb.UCB1()], {"change": "no"}, "^change must be True or False, not 'no'$"),
        ([], {"change": True, "default_reward": 5.0}, "cannot be changed to BernoulliTS, by its default reward: "),
        ([], {"change": True, "default_reward": Decimal("sNaN")}, r"^default_reward must be a number, not nan$"),
        ([], {"context": cb.Context()}, r"^context must be None, as the agent was made with, not Context\(.*\)$"),
    ],
)
def test_what_cannot_be_changed_is_said_and_nothing_is_changed(url, given, options, sentence):
    before = played(url, cb.BernoulliTS())
    with pytest.raises(cb.BadInput, match=sentence):
        opened(url, *given, **options)
    with opened(url) as agent:
        assert agent.to_dict() == before


def test_rewards_that_the_new_policy_cannot_learn_are_named(url):
    with opened(url, cb.CORe(), ARMS, seed=7) as agent:
        agent.tell(agent.ask(), 3.5)
    with pytest.raises(cb.BadInput, match=r"cannot be changed to BernoulliTS, by event 2: reward must be in \[0, 1\]"):
        opened(url, cb.BernoulliTS(), change=True)
    with opened(url) as agent:
        assert agent.n_observations == 1


def test_a_journal_that_was_trimmed_is_not_enough(url, monkeypatch):
    monkeypatch.setattr(sqlite, "PAUSE", 0)
    with opened(url, cb.CORe(), ARMS, seed=7, keep_log=False, snapshot_every=10) as agent:
        for _ in range(40):
            agent.tell(agent.ask(), 1.0)
            if agent._snapshots is not None:
                agent._snapshots.join()
        agent.snapshot()
    with pytest.raises(
        cb.BadInput, match=r"its journal begins at event [\d,]+, since it was opened with keep_log=False"
    ):
        opened(url, cb.UCB1(), change=True)


def test_features_and_their_columns_are_learnt_again(url):
    context = cb.Context(user=["country"], arm=["price"])
    options = {"seed": 7, "context": context}
    with opened(url, cb.LinTS(), ARMS, **options) as agent:
        for number, country in enumerate(["de", "fr", "it", "de"] * 5):
            decision = agent.ask({"country": country}, arms={arm: {"price": number % 3} for arm in ARMS[number % 2 :]})
            agent.tell(decision, float(number % 2))
        agent.ask_many([{"country": "es"}, {}], arms={"red": None, "blue": {"price": 1}})
        agent.observe("red", 1.0, {"country": "pt", "price": 3})
        before = agent.to_dict()
    with opened(url, cb.LinTS(), change=True) as agent:
        after = agent.to_dict()
    for same in ("pending", "pending_rows", "context", "largest_seen", "n_features", "tallies"):
        assert after[same] == before[same], same
    assert after["state"][:4] == before["state"][:4]  # but for the last draw
    with opened(url, cb.LinGreedy(), change=True) as agent:
        assert agent.n_observations == before["n_observations"]
    with pytest.raises(cb.BadInput, match=r"^context cannot be changed: "):
        opened(url, change=True, context=cb.Context())
    with pytest.raises(cb.BadInput, match=r"^context is for policies that choose by features"):
        opened(url, cb.CORe(), change=True)


def test_features_may_be_left_alone(url):
    with opened(url, cb.LinTS(), ["red", "green"], seed=7) as agent:
        for reward in (1.0, 0.0, 0.5):
            agent.tell(agent.ask(np.eye(2)), reward)
        counts = agent.to_dict()["tallies"]
    with opened(url, cb.CORe(), change=True) as agent:
        assert agent.n_observations == 3
        assert agent.to_dict()["tallies"] == counts


def test_rankings_are_learnt_again(tmp_path):
    url = f"sqlite:///{tmp_path}/pages.db"
    options = {"synchronous": "normal", "seed": 7}
    with cb.open_ranking_agent(url, "page", cb.Ranked(cb.BernoulliTS()), range(5), 2, **options) as agent:
        for number in range(40):
            ranking = agent.ask()
            if number % 3:
                agent.tell(ranking, ranking.items[: number % 2])
        before = agent.to_dict()
    with cb.open_ranking_agent(url, "page", cb.TopRank(), change=True, **options) as agent:
        assert agent.n_rankings == 26
        after = agent.to_dict()
    for same in ("pending", "tallies", "ids", "n_observations"):
        assert after[same] == before[same], same
    with pytest.raises(cb.BadInput, match=r"^n_positions cannot be changed: "):
        cb.open_ranking_agent(url, "page", change=True, n_positions=3, **options)


def test_rewards_of_decisions_that_ended_by_themselves_are_checked_too(url):
    with opened(url, cb.CORe(), ARMS, seed=1, default_reward=5.0) as agent:
        agent.ask()
        agent.expire(0)
        agent.ask()
        agent.expire(0, None)
    with pytest.raises(cb.BadInput, match=r"cannot be changed to KLUCB, by its default reward: reward must be in"):
        opened(url, cb.KLUCB(), change=True)
    with pytest.raises(cb.BadInput, match=r"cannot be changed to KLUCB, by event 2: reward must be in \[0, 1\]"):
        opened(url, cb.KLUCB(), change=True, default_reward=None)
    with opened(url) as agent:
        assert (agent.policy, agent.n_observations) == (cb.CORe(), 1)


def test_money_may_be_the_default_reward(url):
    for change in (False, False, True):
        with opened(url, cb.CORe(), ARMS, default_reward=Decimal("0.1"), change=change) as agent:
            assert agent.settings.default_reward == 0.1
    with pytest.raises(cb.BadInput, match=r"^default_reward must be 0\.1, as the agent was made with"):
        opened(url, default_reward=Decimal("0.2"))


def test_a_change_to_the_same_changes_nothing(url):
    before = played(url, cb.BernoulliTS(), holdout=0.5)
    gain = cb.Agent.from_dict(before).gain()
    with opened(url, cb.BernoulliTS(), ARMS, change=True, holdout=0.5, patience=100, context=None) as agent:
        assert agent.to_dict() == before
        assert agent.gain() == gain


def test_random_numbers_do_not_begin_again(url):
    with opened(url, cb.BernoulliTS(), ARMS, seed=7) as agent:
        first = [agent.ask().arm for _ in range(30)]
    with opened(url, change=True, patience=1_000) as agent:
        second = [agent.ask().arm for _ in range(30)]
        content = agent.to_dict()
        agent._keep_snapshot = lambda *snapshot: None
    assert second != first
    with opened(url) as agent:  # the same come out again
        assert agent.to_dict() == content


def test_features_of_what_others_chose_are_left_alone_too(url):
    with opened(url, cb.LinTS(), ["red", "green"], seed=7) as agent:
        agent.observe("red", 1.0, [1.0, 0.0])
        agent.observe_many(["red", "green"], [0.5, 0.0], np.eye(2))
        agent.tell(agent.ask(np.eye(2)), 1.0)
    with opened(url, cb.CORe(), change=True) as agent:
        assert agent.n_observations == 4


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_what_was_held_out_is_known_after_a_change_and_counts_for_no_gain(url, share):
    with opened(url, cb.CORe(), ARMS, seed=7, holdout=0.5) as agent:
        waiting = [agent.ask() for _ in range(20)]
    assert len({decision.is_held_out for decision in waiting}) == 2
    with opened(url, cb.UCB1(), change=True, holdout=share) as agent:
        assert [agent.recall(decision.id) for decision in waiting] == waiting
    with opened(url) as agent:
        assert [agent.recall(decision.id) for decision in waiting] == waiting
        for decision in waiting:
            agent.tell(decision, 1.0)
        assert share == 0 or agent.gain().n_held_out + agent.gain().n_chosen == 0
        content = agent.to_dict()
        agent._keep_snapshot = lambda *snapshot: None
    with opened(url) as agent:
        assert agent.to_dict() == content


def test_an_agent_that_ranks_is_not_changed_to_one_that_does_not(tmp_path):
    url = f"sqlite:///{tmp_path}/pages.db"
    with cb.open_ranking_agent(url, "page", cb.TopRank(), range(5), 2, synchronous="normal", seed=7) as agent:
        agent.ask()
    with pytest.raises(cb.BadInput, match="holds an agent that ranks: read it with open_ranking_agent"):
        cb.open_agent(url, "page", cb.UCB1(), change=True)
    with pytest.raises(cb.BadInput, match=r"^n_positions must be 2, as the agent was made with, not 3$"):
        cb.open_ranking_agent(url, "page", n_positions=3)


def test_a_change_is_kept_with_its_event_or_not_at_all(url, monkeypatch):
    before = played(url, cb.BernoulliTS())
    execute = sqlite.SqliteStore._execute

    def killed(self, *statements):
        if any("INTO snapshots" in statement for statement, _ in statements):
            statements = (*statements, ("INSERT INTO nowhere VALUES (?)", (1,)))
        execute(self, *statements)

    with monkeypatch.context() as patch:
        patch.setattr(sqlite.SqliteStore, "_execute", killed)
        with pytest.raises(cb.CannotWrite):
            opened(url, cb.UCB1(), change=True)
    with opened(url) as agent:
        assert agent.to_dict() == before


def test_a_change_that_the_journal_does_not_tell_of_is_no_obstacle(url):
    played(url, cb.BernoulliTS())
    with opened(url, cb.UCB1(), change=True) as agent:
        agent._store._execute(("DELETE FROM events WHERE agent = ? AND number = ?", ("banner", agent._n_events)))
    with opened(url, cb.KLUCB(), change=True) as agent:  # nothing came after it
        n = agent.n_observations
        agent.ask()
    with opened(url, cb.UCB1(), change=True) as agent:
        agent._store._execute(("DELETE FROM events WHERE agent = ? AND number = ?", ("banner", agent._n_events)))
        agent.tell(agent.ask(), 1.0)
    with opened(url, cb.CORe(), change=True) as agent:
        assert agent.n_observations == n + 1
        agent.ask()
    with opened(url) as agent:
        assert agent.policy == cb.CORe()


def test_a_clock_that_was_set_back_does_not_disturb_a_change(url):
    now = 100.0
    with opened(url, cb.CORe(), ARMS, seed=7, clock=lambda: now) as agent:
        waiting = agent.ask()
    now = 50.0
    with opened(url, cb.UCB1(), change=True, clock=lambda: now) as agent:
        agent.tell(waiting.id, 1.0)
        content = agent.to_dict()
        agent._keep_snapshot = lambda *snapshot: None
    with opened(url, clock=lambda: now) as agent:
        assert agent.to_dict() == content


def test_a_crash_before_the_change_is_kept_leaves_the_old_agent(url, monkeypatch):
    before = played(url, cb.BernoulliTS())

    def fail(self):
        raise cb.CannotWrite("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Durable, "_keep_changed", fail)
        with pytest.raises(cb.CannotWrite):
            opened(url, cb.UCB1(), change=True)
    with opened(url) as agent:
        assert agent.to_dict() == before


def test_a_snapshot_from_before_a_change_is_not_taken_for_the_agent(url):
    played(url, cb.BernoulliTS())
    agent = opened(url, cb.UCB1(), change=True)
    n_events = agent._n_events
    agent._store._execute(("DELETE FROM pieces WHERE agent = ? AND n_events = ?", ("banner", n_events)))
    agent._keep_snapshot = lambda *snapshot: None
    agent.close()
    with pytest.raises(cb.DamagedFile, match="its policy was changed here"):
        opened(url)


def test_an_agent_in_memory_says_how_to_change_it(tmp_path):
    cb.Agent(cb.CORe(), ARMS).save(tmp_path / "agent.json")
    with pytest.raises(cb.BadInput, match=r"an agent without a journal .* make another, and let it observe_many"):
        cb.Agent.load(tmp_path / "agent.json", cb.UCB1())
