import json
import math
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import arrays_of
from resealed import reseal


def make_agent(policy=None, **options):
    return cb.Agent(policy or cb.CORe(), arms=["red", "green", "blue"], **{"seed": 7, **options})


def snapshot(agent):
    return [array.copy() for array in arrays_of(agent._desk.state)] + [agent._desk.rng.words.copy()]


def play(agent, n_rounds, seed=3):
    rng = np.random.default_rng(seed)
    chosen = []
    for _ in range(n_rounds):
        decision = agent.ask()
        chosen.append(decision.arm)
        agent.tell(decision, float(rng.normal(len(str(decision.arm)))))
    return chosen


def test_the_agent_learns_which_arm_pays_most():
    agent = make_agent(cb.CORe(warm_up=1.0), horizon=600)
    chosen = play(agent, 600)
    assert chosen[-200:].count("green") > 150  # the longest name pays most


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf, 1e200, 10**400, "1.0", None, [1.0], 1j])
def test_a_bad_reward_is_named_and_changes_nothing(reward):
    agent = make_agent()
    decision = agent.ask()
    before = snapshot(agent)
    for call in (lambda: agent.tell(decision, reward), lambda: agent.observe("red", reward)):
        with pytest.raises(ValueError, match="reward must be a finite number"):
            call()
    assert all(map(np.array_equal, before, snapshot(agent)))
    agent.tell(decision, 1.0)  # the decision still waits for its reward


def test_rewards_outside_the_range_of_the_policy_are_refused():
    agent = make_agent(cb.BernoulliTS())
    with pytest.raises(ValueError, match=r"reward must be in \[0, 1\] for BernoulliTS, not 1.5"):
        agent.observe("red", 1.5)
    assert agent.n_observations == 0


def test_whole_numbers_and_booleans_are_rewards():
    agent = make_agent()
    for reward in (1, True, np.float32(0.5), np.int64(2), np.bool_(True)):
        agent.observe("red", reward)
    assert agent._desk.state.sums[0] == 5.5


def test_a_decision_can_be_restricted_to_some_arms():
    agent = make_agent(cb.UniformRandom())
    chosen = {agent.ask(arms=["red", "blue"]).arm for _ in range(50)}
    assert chosen == {"red", "blue"}
    with pytest.raises(ValueError, match="arm must be one of 'red', 'green', 'blue', not 'pink'"):
        agent.ask(arms=["pink"])
    with pytest.raises(ValueError, match="at least one arm"):
        agent.ask(arms=[])


def test_arms_come_and_go():
    agent = make_agent(cb.CORe(warm_up=0.1), horizon=400)
    play(agent, 100)
    agent.retire_arm("green")
    assert agent.arms == ["red", "blue"]
    assert "green" not in play(agent, 100)
    with pytest.raises(ValueError, match="'green' is retired"):
        agent.ask(arms=["green"])
    agent.add_arm("magnificent")
    assert "magnificent" in play(agent, 20)
    agent.add_arm("green")
    learnt = agent._desk.state.counts[1]
    assert learnt > 0  # what was learnt about it is still there
    assert agent.arms == ["red", "green", "blue", "magnificent"]
    with pytest.raises(ValueError, match="on offer already"):
        agent.add_arm("green")


def test_with_all_arms_retired_there_is_nothing_to_choose():
    agent = cb.Agent(cb.UCB1(), arms=["only"])
    agent.retire_arm("only")
    with pytest.raises(ValueError, match="there is no arm to choose"):
        agent.ask()


def test_arms_may_be_anything_hashable():
    arms = [1, 2.5, "x", None, ("a", 1), frozenset({3})]
    agent = cb.Agent(cb.UniformRandom(), arms=arms)
    assert {agent.ask().arm for _ in range(200)} == set(arms)


@pytest.mark.parametrize(
    ("arms", "sentence"),
    [([], "at least one"), (["a", "a"], "'a' is there twice"), ("abc", "not the string"), ([[1]], "hashable")],
)
def test_bad_arms_are_refused(arms, sentence):
    with pytest.raises(ValueError, match=sentence):
        cb.Agent(cb.CORe(), arms=arms)


@pytest.mark.parametrize("policy", [None, cb.CORe, "CORe"])
def test_a_policy_that_is_not_a_recipe_is_refused(policy):
    with pytest.raises(ValueError, match="policy must be a recipe such as CORe"):
        cb.Agent(policy, arms=["a"])


def test_a_saved_agent_continues_bit_for_bit(tmp_path):
    agent = make_agent(cb.CORe(warm_up=1.0))
    told = agent.ask()
    agent.tell(told, 1.0)
    play(agent, 300)
    waiting = agent.ask()
    agent.retire_arm("blue")
    agent.save(tmp_path / "agent.json")
    twin = cb.Agent.load(tmp_path / "agent.json")
    assert twin.pending == {waiting.id: waiting.arm}
    assert twin.arms == ["red", "green"]
    assert all(map(np.array_equal, snapshot(agent), snapshot(twin)))
    assert play(agent, 400) == play(twin, 400)  # past the point where buffers grow
    assert all(map(np.array_equal, snapshot(agent), snapshot(twin)))
    with pytest.raises(ValueError, match="told or forgotten"):
        twin.tell(told, 1.0)


def test_what_is_saved_changes_only_together_with_its_format(tmp_path):
    make_agent().save(tmp_path / "agent.json")
    content = json.loads((tmp_path / "agent.json").read_text())
    assert content["format"] == 5
    assert set(content) - {"format", "digest"} == {
        *("policy", "arms", "seed", "horizon", "settings", "n_observations", "capacity"),
        *(
            "retired",
            "pending",
            "pending_propensities",
            "expired",
            "ids",
            "decided",
            "tallies",
            "recent",
            "rng",
            "state",
        ),
    }
    assert set(content["tallies"]) == {"told", "mean", "spread", "unanswered", "patience", "last_told", "late"}


def test_a_saved_agent_keeps_tuples_as_arms(tmp_path):
    agent = cb.Agent(cb.UCB1(), arms=[("a", 1), None, 2])
    agent.save(tmp_path / "agent.json")
    assert cb.Agent.load(tmp_path / "agent.json").arms == [("a", 1), None, 2]


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot write .*missing.agent\.json: No such file"):
        make_agent().save(tmp_path / "missing" / "agent.json")


def test_an_arm_that_cannot_be_saved_is_named_and_nothing_is_written(tmp_path):
    agent = cb.Agent(cb.UCB1(), arms=[frozenset({1})])
    with pytest.raises(ValueError, match="cannot save arm frozenset"):
        agent.save(tmp_path / "agent.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("not json", "is not a saved agent"),
        ("[1]", "is not a saved agent"),
        ('{"format": 99, "policy": {}}', "has format 99"),
    ],
)
def test_a_file_that_is_no_agent_is_refused(tmp_path, content, sentence):
    (tmp_path / "agent.json").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        cb.Agent.load(tmp_path / "agent.json")


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content["state"].pop(),
        lambda content: content.update(pending=[[0, 77, 0.0]], ids={"n_numbers": 1, "sessions": {}}),
        lambda content: content.update(pending=[[5, 0, 0.0]]),
        lambda content: content.update(pending=[[0, 0]], ids={"n_numbers": 1, "sessions": {}}),
        lambda content: content.update(retired=[99]),
        lambda content: content.update(n_observations=10**6),
        lambda content: content["state"][0].update(shape=[1]),
        lambda content: content.pop("rng"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage):
    agent = make_agent()
    agent.save(tmp_path / "agent.json")
    content = json.loads((tmp_path / "agent.json").read_text())
    damage(content)
    reseal(tmp_path / "agent.json", content)
    with pytest.raises(ValueError, match="is not a saved agent"):
        cb.Agent.load(tmp_path / "agent.json")


def test_a_pool_of_limited_size_does_not_grow():
    agent = make_agent(cb.CORe(pool_size=50))
    play(agent, 2000)
    assert agent._desk.state.pool.values.size == 50
    assert agent.n_observations == 2000


def test_the_seed_decides_the_choices():
    assert play(make_agent(seed=1), 100) == play(make_agent(seed=1), 100)
    assert play(make_agent(cb.UniformRandom(), seed=1), 100) != play(make_agent(cb.UniformRandom(), seed=2), 100)


def test_a_policy_that_needs_a_horizon_says_so():
    with pytest.raises(ValueError, match="horizon"):
        make_agent(cb.UCBV())
    make_agent(cb.UCBV(exploration="anytime"))
    with pytest.raises(ValueError, match="horizon must be a whole number of at least 2, not 0"):
        make_agent(horizon=0)


class SumState(NamedTuple):
    sums: np.ndarray
    scale: float

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = self.sums[arm]

    def update(self, arm, reward, rng):
        self.sums[arm] += self.scale * reward


@dataclass(frozen=True)
class Stars(cb.Policy):
    """Its bounds are whole numbers, and with one arm so is its scale: an int where later there is a float."""

    def start(self, n_arms, horizon, capacity):
        return SumState(np.zeros(n_arms), max(1, n_arms / 2))

    @property
    def reward_range(self):
        return 1, 5


def test_machine_code_fits_whatever_the_state_becomes():
    agent = cb.Agent(Stars(), arms=["a"])
    agent.observe("a", 3.7)
    assert agent._desk.state.sums.tolist() == [3.7]
    for arm in ("b", "c"):
        agent.add_arm(arm)
    agent.observe("c", 3.0)
    assert agent._desk.state.sums.tolist() == [3.7, 0.0, 4.5]


def test_a_policy_that_is_none_or_another_than_was_saved_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "agent.json"
    cb.Agent(cb.CORe(alpha=0.4), ["red", "green"]).save(path)
    with pytest.raises(ValueError, match="policy must be a recipe such as CORe"):
        cb.Agent.load(path, "CORe")
    with pytest.raises(ValueError, match=r"must be the one that was saved, but alpha was 0\.4, is 0\.5; an agent"):
        cb.Agent.load(path, cb.CORe(alpha=0.5))


def test_the_first_of_many_that_come_twice_is_named_at_once():
    arms = [*range(30_000), "x", *range(30_000), "x"]
    started = time.process_time()
    with pytest.raises(BadInput, match="but 0 is there twice"):
        cb.Agent(cb.UCB1(), arms)
    with pytest.raises(BadInput, match="but 'x' is there twice"):
        cb.Agent(cb.UCB1(), ["y", "x", *range(30_000), "x"])
    assert time.process_time() - started < 1.0


def test_a_huge_name_is_not_quoted_in_full():
    for call in (
        lambda: cb.Agent(cb.UCB1(), "x" * 1_000_000),
        lambda: cb.Agent(cb.UCB1(), ["x" * 1_000_000] * 2),
        lambda: make_agent().observe("x" * 1_000_000, 1.0),
        lambda: cb.Agent(cb.UCB1(), ["x" * 1_000_000, "y"]).observe("z", 1.0),
        lambda: make_agent().observe("red", "x" * 1_000_000),
        lambda: make_agent().retire_arm("x" * 1_000_000),
        lambda: make_agent().add_arm(["x" * 1_000_000]),
        lambda: make_agent().tell("x" * 1_000_000, 1.0),
        lambda: cb.Agent("x" * 1_000_000, ["a"]),
        lambda: cb.CORe(alpha="x" * 1_000_000),
        lambda: cb.SSMC(window="x" * 1_000_000),
        lambda: cb.Agent(cb.UCB1(), ["a"], seed="x" * 1_000_000),
    ):
        with pytest.raises(ValueError, match=r"\.\.\.") as caught:
            call()
        assert len(str(caught.value)) < 1000


def test_money_may_be_a_decimal_and_is_checked_like_any_reward():
    agent = cb.Agent(cb.BernoulliTS(), ["a"], seed=1)
    agent.tell(agent.ask(), Decimal("0.25"))
    assert agent._ledger.traffic.tallies[0].mean == 0.25
    for reward in (Decimal("1.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")):
        decision = agent.ask()
        with pytest.raises(cb.BadReward, match="reward must be"):
            agent.tell(decision, reward)
        with pytest.raises(cb.BadReward, match="reward must be"):
            agent.observe("a", reward)
        with pytest.raises(cb.BadReward, match="reward must be"):
            agent.observe_many(["a", "a"], [0.5, reward])
        with pytest.raises(cb.BadReward, match="reward must be"):
            agent.expire(0, reward)
        assert agent.n_observations == 1
    for reward in (Decimal("NaN"), Decimal("sNaN")):
        with pytest.raises(cb.BadInput, match=r"^default_reward must be a number, not nan$"):
            cb.Agent(cb.BernoulliTS(), ["a"], default_reward=reward)
        with pytest.raises(cb.BadInput, match=r"^the default reward of a ranking must be 0, no click, or None, not"):
            cb.RankingAgent(cb.TopRank(), ["a", "b"], 1).expire(0, reward)
    shop = cb.Agent(cb.BernoulliTS(), ["a"], seed=1, window=60, default_reward=Decimal("0.5"))
    assert shop.settings.default_reward == 0.5
    shop.ask()
    assert shop.expire(0, Decimal("0.75")) == 1


def test_a_string_is_no_list_of_arms():
    agent = cb.Agent(cb.UCB1(), ["red", "green"], seed=1)
    with pytest.raises(cb.BadInput, match=r"arms must be a list of arms, such as \['red'\], not the string 'red'"):
        agent.ask(arms="red")


class TableState(NamedTuple):
    table: dict
    totals: np.ndarray

    def score(self, rng, scores):
        scores[:] = [self.table.get(arm, self.table["first"]) - self.totals[arm] for arm in range(scores.size)]

    def update(self, arm, reward, rng):
        self.totals[arm] += 0.01
        if "learns" in self.table:
            self.table[arm] = reward


@dataclass(frozen=True)
class Tabled(cb.Policy):
    learns: bool = True
    runs_compiled = False

    def start(self, n_arms, horizon, capacity):
        return TableState({"first": 1.0, **({"learns": True} if self.learns else {})}, np.zeros(n_arms))


def test_an_agent_says_that_it_would_lose_what_is_learnt_elsewhere_than_in_arrays(tmp_path, caplog):
    agent = cb.Agent(Tabled(), arms=["a", "b"])
    for _ in range(300):
        agent.tell(agent.ask(), 1.0)
    agent.save(tmp_path / "agent.json")
    sentence = "Tabled has table (a dict) in its state, but agents copy, grow and save arrays alone: anything it learns"
    assert [record.getMessage()[: len(sentence)] for record in caplog.records] == [sentence]


def test_a_policy_whose_memory_an_agent_would_lose_is_refused_by_checks():
    cb.run(cb.Experiment(cb.BernoulliBandit(n_arms=2), [Tabled()], horizon=20, runs=1))
    with pytest.raises(cb.CheckFailed, match=r"Tabled: one decision at a time .* in its state is table \(a dict\)"):
        cb.check_policy(Tabled())
    cb.check_policy(Tabled(learns=False))
