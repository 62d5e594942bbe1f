"""A horizon that no memory is enough for is refused before anything is allocated."""

import pytest

import corebandit as cb
from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import arrays_of
from corebandit.experiments import memory_need
from corebandit.experiments.memory_need import machine_memory
from corebandit.randomness.stream import stream


def test_a_policy_that_remembers_every_reward_cannot_do_so_for_ever():
    with pytest.raises(BadInput, match=r"8,000,000,000,\d+ bytes \(8 TB\) of memory, and this machine has [\d,]+ \("):
        cb.Experiment(cb.BernoulliBandit(), [cb.CORe()], horizon=10**12)


def test_rankings_need_room_for_every_position():
    with pytest.raises(BadInput, match="bytes"):
        cb.Experiment(cb.YandexLike(3), [cb.Ranked(cb.CORe())], horizon=10**12)


@pytest.mark.parametrize("policy", [cb.UCB1(), cb.CORe(pool_size=1000), cb.CORe(pool_size=10**6)], ids=str)
def test_a_policy_whose_memory_does_not_grow_may_run_as_long_as_it_likes(policy):
    assert cb.Experiment(cb.BernoulliBandit(), [policy], horizon=10**12).horizon == 10**12


@pytest.mark.parametrize("horizon", [10**15 + 1, 10**30, 10**400])
def test_rounds_that_cannot_be_counted_are_refused(horizon):
    with pytest.raises(BadInput, match="horizon must be a whole number of at most") as caught:
        cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=horizon)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("policy", [cb.CORe(), cb.SSMC(), cb.NPTS(), cb.RewardExchange()], ids=str)
def test_what_is_foretold_is_what_is_taken(policy, monkeypatch):
    horizon = 50_000
    problem = cb.BernoulliBandit().draw(stream(0))
    taken = sum(array.nbytes for array in arrays_of(policy.start_on(problem, horizon, horizon)))
    monkeypatch.setattr(memory_need, "machine_memory", lambda: taken)
    cb.Experiment(cb.BernoulliBandit(), [policy], horizon=horizon)
    monkeypatch.setattr(memory_need, "machine_memory", lambda: taken - 1)
    with pytest.raises(BadInput, match=f"{taken:,} bytes"):
        cb.Experiment(cb.BernoulliBandit(), [policy], horizon=horizon)


def test_nothing_is_refused_where_the_memory_cannot_be_told(monkeypatch):
    monkeypatch.setattr(memory_need, "machine_memory", lambda: None)
    assert cb.Experiment(cb.BernoulliBandit(), [cb.CORe()], horizon=10**12).horizon == 10**12


def test_the_memory_is_that_of_the_machine_or_of_its_container(monkeypatch, tmp_path):
    assert machine_memory() is None or machine_memory() > 10**8
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory_need, "LIMITS", (str(limit), str(tmp_path / "none")))
    limit.write_text("123456\n")
    assert machine_memory() == 123456
    limit.write_text("max\n")
    assert machine_memory() != 123456
