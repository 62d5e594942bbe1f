"""One ranking at a time."""

import gc
import json
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.options import Named
from corebandit.agents.ranking_agent import RankingAgent
from corebandit.contracts.state import arrays_of
from corebandit.ranking.policies import BatchRank, CascadeUCB1, Ranked, RankedBandits, TopRank
from often import often
from resealed import reseal
from same_agents import number_of

ITEMS = ["news", "sport", "maps", "mail", "shop"]


def make_agent(policy=None, **options):
    return RankingAgent(policy or CascadeUCB1(), ITEMS, 3, **{"seed": 7, **options})


def snapshot(agent):
    return [array.copy() for array in arrays_of(agent._desk.state)] + [agent._desk.rng.words.copy()]


def play(agent, n_rounds, seed=3):
    """Let users click the first item that attracts them: the longer its name, the less it does."""
    rng, shown = np.random.default_rng(seed), []
    for _ in range(n_rounds):
        ranking = agent.ask()
        attracted = [item for item in ranking.items if rng.random() < 2.0 / len(str(item)) ** 2]
        agent.tell(ranking, attracted[:1])
        shown.append(ranking.items)
    return shown


def test_the_agent_learns_what_is_clicked_most():
    items = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"]
    agent = RankingAgent(Ranked(cb.CORe(warm_up=1.0)), items, 2, seed=0, horizon=2000)
    shown = play(agent, 2000)
    assert sum(set(ranking) == {"a", "bb"} for ranking in shown[-500:]) > 450
    assert agent.n_rankings == 2000


def test_a_ranking_shows_different_items_and_has_an_id():
    agent = make_agent()
    rankings = [agent.ask() for _ in range(5)]
    assert [number_of(ranking) for ranking in rankings] == [0, 1, 2, 3, 4]
    for ranking in rankings:
        assert len(set(ranking.items)) == 3
        assert set(ranking.items) <= set(ITEMS)
    assert agent.pending == {ranking.id: ranking.items for ranking in rankings}


def test_clicks_are_names_of_items_in_any_order_and_count_once():
    agent = make_agent()
    agent.observe(["maps", "news", "shop"], clicks=["news", "maps", "news"])
    assert agent._desk.state.sums.tolist() == [1, 0, 1, 0, 0]
    assert agent._desk.state.counts.tolist() == [1, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("clicks", "sentence"),
    [
        ("news", "clicks must be a list of items, not the string 'news'"),
        (None, "clicks must be a list of items, not None"),
        (["shoes"], r"clicks must be on items that were shown, \['maps', 'news', 'shop'\], not 'shoes'"),
        ([["news"]], r"clicks must be on items that were shown, .* not \['news'\]"),
        ([0, 1, 0], r"clicks must list the items that were clicked, such as \['maps'\], not 0 or 1 for each position"),
        ([True, False, False], "clicks must list the items that were clicked"),
        (["mail"], r"clicks must be on items that were shown, \['maps', 'news', 'shop'\], not 'mail'"),
        (["news", "mail"], "clicks must be on items that were shown"),
    ],
)
def test_bad_clicks_are_named_and_change_nothing(clicks, sentence):
    agent = make_agent()
    ranking = agent.ask()
    hidden = next(item for item in ITEMS if item not in ranking.items)
    before = snapshot(agent)
    with pytest.raises(ValueError, match=sentence):
        agent.observe(["maps", "news", "shop"], clicks)
    with pytest.raises(ValueError, match="clicks must be on items that were shown"):
        agent.tell(ranking, [ranking.items[0], hidden])
    assert all(map(np.array_equal, before, snapshot(agent)))
    assert agent.n_rankings == 0
    agent.tell(ranking, [])  # it still waits


@pytest.mark.parametrize("items", [["news"], ["news", "news", "maps"], [*ITEMS], []])
def test_observed_rankings_must_be_complete(items):
    agent = make_agent()
    with pytest.raises(ValueError, match="items must be 3 different ones"):
        agent.observe(items, [])
    with pytest.raises(ValueError, match="items must be a list"):
        agent.observe("news", [])
    assert agent.n_rankings == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: RankingAgent(cb.CORe(), ITEMS, 3), r"policy must be a ranking policy .* say Ranked\(CORe\)"),
        (lambda: RankingAgent("TopRank", ITEMS, 3), "policy must be a ranking policy"),
        (lambda: RankingAgent(TopRank(), ITEMS, 6), "n_positions must be at most the number of items, 5, not 6"),
        (lambda: RankingAgent(TopRank(), ITEMS, 0), "n_positions must be a whole number of at least 1"),
        (lambda: RankingAgent(TopRank(), ["a", "a"], 1), "items must all be different, but 'a' is there twice"),
        (lambda: RankingAgent(TopRank(), "abc", 1), "items must be a list of options, not the string"),
        (lambda: RankingAgent(BatchRank(), ITEMS, 2), "horizon must be given"),
    ],
)
def test_bad_agents_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize(
    "policy", [Ranked(cb.CORe(warm_up=0.1)), TopRank(), CascadeUCB1()], ids=lambda policy: policy.label
)
def test_items_come_and_go(policy):
    agent = make_agent(policy, horizon=400)
    play(agent, 50)
    agent.retire_item("news")
    agent.retire_item("maps")
    assert agent.items == ["sport", "mail", "shop"]
    assert all(set(items) == {"sport", "mail", "shop"} for items in play(agent, 20))
    agent.add_item("a")
    assert any("a" in items for items in play(agent, 50))
    agent.add_item("news")
    assert agent.items == ["news", "sport", "mail", "shop", "a"]
    with pytest.raises(ValueError, match="item 'news' is on offer already"):
        agent.add_item("news")
    with pytest.raises(ValueError, match="item 'maps' is retired already"):
        agent.retire_item("maps")


def test_the_last_items_that_fill_the_positions_cannot_be_retired():
    agent = RankingAgent(TopRank(), ["a", "b", "c"], 2)
    ranking = agent.ask()
    agent.retire_item(ranking.items[0])
    with pytest.raises(ValueError, match=r"cannot be retired: 2 items are on offer, and as many positions .* add_item"):
        agent.retire_item(ranking.items[1])
    assert len(agent.items) == len(agent.ask().items) == 2
    agent.tell(ranking, [ranking.items[0]])  # shown before it was retired
    assert agent.n_rankings == 1


def test_items_are_called_items():
    items = Named(["a"], "item")
    items.retire([0])
    with pytest.raises(ValueError, match="there is no item to choose: all are retired; add one with add_item"):
        items.offered(None)


@pytest.mark.parametrize("policy", [BatchRank(), RankedBandits()], ids=lambda policy: policy.label)
def test_policies_that_cannot_be_told_what_is_on_offer_keep_their_items(policy):
    agent = make_agent(policy, horizon=100)
    for change in (agent.add_item, agent.retire_item):
        with pytest.raises(ValueError, match=f"{policy.label} needs the same ones all the time; choose another policy"):
            change("news")


def test_flags_for_positions_are_not_taken_for_items_that_are_numbers():
    agent = RankingAgent(CascadeUCB1(), range(4), 4)
    ranking = agent.ask()
    with pytest.raises(ValueError, match="not 0 or 1 for each position"):
        agent.tell(ranking, clicks=[1, 0, 0, 0])
    agent.tell(ranking, clicks=[1, 0])
    assert agent._desk.state.sums.tolist() == [1, 1, 0, 0]


def test_clicks_on_ranked_bandits_are_not_lost_when_they_come_late():
    agent = RankingAgent(RankedBandits(), range(6), 3, seed=5)
    rng, waiting, n_clicks = np.random.default_rng(2), [], 0
    for _ in range(500):
        waiting.append(agent.ask())
        if len(waiting) > 3:
            ranking = waiting.pop(0)
            is_last = any(ranking.items == later.items for later in waiting[-1:])
            clicked = [] if is_last else [item for item in ranking.items if rng.random() < 0.4]
            agent.tell(ranking, clicked)
            n_clicks += len(clicked)
    assert sum(bandit.sums.sum() for bandit in agent._desk.state.bandits) == n_clicks > 400


@pytest.mark.parametrize(
    "policy",
    often(
        [Ranked(cb.CORe(warm_up=1.0))],
        [Ranked(cb.CORe(warm_up=1.0)), Ranked(cb.Giro()), RankedBandits("CORe")],
        pytest.mark.thorough,
    ),
    ids=lambda policy: policy.label,
)
def test_a_saved_agent_continues_bit_for_bit(policy, tmp_path):
    agent = make_agent(policy)
    play(agent, 150)
    waiting = agent.ask()
    if policy.items_may_change:
        agent.retire_item("shop")
    agent.save(tmp_path / "agent.json")
    twin = RankingAgent.load(tmp_path / "agent.json")
    assert twin.policy == policy
    assert twin.pending == {waiting.id: waiting.items}
    assert twin.items == agent.items
    assert play(agent, 200) == play(twin, 200)  # past the point where buffers grow
    assert all(map(np.array_equal, snapshot(agent), snapshot(twin)))


@pytest.mark.parametrize(
    "damage",
    [
        {"pending": [[0, [0, 1], 0.0]]},
        {"pending": [[0, [0, 1, 1], 0.0]]},
        {"pending": [[0, [0, 1, 9], 0.0]]},
        {"pending": [[7, [0, 1, 2], 0.0]]},
        {"pending": [[0, [0, 1, 2]]]},
        {"retired": [9]},
        {"retired": [0, 1, 2]},
        {"n_positions": 9},
        {"n_observations": 10},
        {"items": ITEMS[:4]},
        {"state": []},
    ],
)
def test_a_damaged_file_is_refused(damage, tmp_path):
    agent = make_agent()
    agent.ask()
    agent.save(tmp_path / "agent.json")
    content = json.loads((tmp_path / "agent.json").read_text())
    content["ids"]["n_numbers"] = 1
    reseal(tmp_path / "agent.json", {**content, **damage})
    with pytest.raises(ValueError, match="is not a saved ranking agent, or damaged"):
        RankingAgent.load(tmp_path / "agent.json")


class Toned(NamedTuple):
    """A user's state that holds a string; the state around it is marked as allocating nothing."""

    sums: np.ndarray
    mode: str

    def score(self, rng, scores):
        scores[:] = self.sums + len(self.mode)

    def update(self, arm, reward, rng):
        self.sums[arm] += reward


@dataclass(frozen=True)
class Tone(cb.Policy):
    mode: str = "warm"

    def start(self, n_arms, horizon, capacity):
        return Toned(np.zeros(n_arms), self.mode)


@pytest.mark.heavy
def test_a_string_in_a_users_state_is_not_held_more_often_with_each_ranking():
    mode = "-".join(["lower", "upper"])  # a new one, which nobody else holds
    agent, held = make_agent(Ranked(Tone(mode))), []
    for _ in range(3):
        play(agent, 200)
        gc.collect()  # states that were given up for roomier ones
        held.append(sys.getrefcount(mode))
    assert len(set(held)) == 1


def test_an_agent_says_what_it_is():
    assert repr(make_agent()).startswith("RankingAgent(CascadeUCB1, items=['news', 'sport'")
