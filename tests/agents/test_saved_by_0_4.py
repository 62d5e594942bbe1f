"""Agents that version 0.4 saved, one of every policy it had, go on here exactly as they went on there."""

import json
from pathlib import Path

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.codec import array_to_json, fill_from_json
from corebandit.agents.migrations import PAGE, in_todays_layout
from corebandit.catalogue import policy_named
from corebandit.parts.history import History, new_history
from often import often
from saved_play import continuation

FOLDER = Path(__file__).with_name("saved_by_0_4")
EXPECTED = json.loads((FOLDER / "continuations.json").read_text())
NEEDS = {"EstimatorCORe": cb.EstimatorCORe(cb.RidgeRegression())}  # what no file holds
N_POLICIES = 43  # of 0.4, without those that need PyTorch


SOME = ["CORe", "UCB1", "SSMC", "LinCORe", "LinTS", "GLMCORe", "TopRank"]


@pytest.mark.parametrize("name", often(SOME, EXPECTED, pytest.mark.thorough))
def test_an_agent_saved_by_0_4_goes_on_as_it_did_there(name, tmp_path):
    expected = dict(EXPECTED[name])
    first, how = expected.pop("first"), {key: expected.pop(key) for key in ("ranks", "by_features") if key in expected}
    kind = cb.RankingAgent if how.get("ranks") else cb.Agent
    agent = kind.load(FOLDER / f"{name}.json", NEEDS.get(name))
    agent.save(tmp_path / "again.json")
    again = kind.load(tmp_path / "again.json", NEEDS.get(name))
    from_dict = kind.from_dict(json.loads((FOLDER / f"{name}.json").read_text()), NEEDS.get(name))
    for loaded in (agent, again, from_dict):
        assert continuation(loaded, first, **how) == expected


def test_every_policy_of_0_4_is_here():
    saved = {json.loads((FOLDER / f"{name}.json").read_text())["policy"]["name"] for name in EXPECTED}
    assert len(saved) == N_POLICIES
    assert all(policy_named(name) is not None for name in saved)


# Lists of observations in pages, as 0.4 had them ------------------------------------------------------------------


def paged(lists, capacity):
    """Return lists as 0.4 saved them: pages, table, counts, n_used."""
    n_arms = len(lists)
    pages, table = np.zeros((capacity // PAGE + n_arms, PAGE)), np.zeros((n_arms, capacity // PAGE + 1), np.int64)
    n_used = 0
    for start in range(0, capacity, PAGE):  # pages of arms take turns
        for arm, values in enumerate(lists):
            part = values[start : start + PAGE]
            if part:
                pages[n_used, : len(part)] = part
                table[arm, start // PAGE] = n_used
                n_used += 1
    return [pages, table, np.array([len(values) for values in lists]), np.array([n_used])]


def read(arrays, n_arms, capacity):
    fresh = new_history(n_arms, capacity)
    saved = in_todays_layout((fresh,), [array_to_json(array) for array in arrays])
    history = new_history(n_arms, capacity)
    for array, part in zip(history, saved, strict=True):
        fill_from_json(array, part)
    return history


@pytest.mark.parametrize("lengths", [[0], [1, 0, 64], [65, 300, 1, 63], [500]])
def test_lists_in_pages_are_read_and_can_grow_to_the_capacity(lengths):
    capacity = 512
    lists = [[arm + index / 1000 for index in range(n)] for arm, n in enumerate(lengths)]
    history = read(paged(lists, capacity), len(lists), capacity)
    for index in range(capacity - sum(lengths)):
        arm = (index * index) % len(lists)
        history.append(arm, index)
        lists[arm].append(index)
    assert [[history.value(arm, index) for index in range(n)] for arm, n in enumerate(history.counts)] == lists
    assert history.n_used[0] <= history.values.size


def test_lists_in_todays_layout_are_left_alone():
    history = new_history(2, 8)
    history.append(1, 5.0)
    saved = [array_to_json(array) for array in history]
    assert in_todays_layout((new_history(2, 8),), saved) == saved


def damaged(change):
    arrays = paged([[1.0] * 70, [2.0] * 3], 256)
    change(History(*arrays))
    return arrays


@pytest.mark.parametrize(
    "change",
    [
        lambda old: old.starts.__setitem__((0, 0), 99),  # no such page
        lambda old: old.starts.__setitem__((0, 0), -1),
        lambda old: old.starts.__setitem__((0, 1), 0),  # the same page twice
        lambda old: old.counts.__setitem__(0, -1),
        lambda old: old.counts.__setitem__(0, 10**9),
        lambda old: old.n_used.__setitem__(0, 7),
    ],
)
def test_pages_that_contradict_each_other_are_refused(change):
    with pytest.raises(ValueError, match="contradict each other"):
        read(damaged(change), 2, 256)


def test_pages_of_another_size_are_refused():
    with pytest.raises(ValueError, match="should be"):
        read(paged([[1.0]], 128), 1, 256)


def test_a_missing_array_is_refused():
    with pytest.raises(ValueError, match="3 arrays, not 4"):
        read(paged([[1.0]], 128)[:3], 1, 128)
