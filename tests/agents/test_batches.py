"""Many decisions and observations at once are those of one after the other; features out of reach are refused."""

import copy
import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import corebandit as cb
from often import often
from same_agents import in_common

ARMS = ["red", "green", "blue"]
RNG = np.random.default_rng(3)
USERS = RNG.normal(size=(60, 3, 4))
SCHEMA = ["arm", "x", "y", "z", "w"]


def taught(policy, arms=ARMS, **settings):
    agent = cb.Agent(policy, arms, **{"seed": 7, **settings})
    for table in RNG.normal(size=(30, 3, 4)):
        decision = agent.ask(table)
        agent.tell(decision, float(table[0 if arms is None else ARMS.index(decision.arm), 0]))
    return agent


# Deciding -------------------------------------------------------------------------------------------------------------


CASES = {
    "as it is": {},
    "forced tries": {"policy": cb.LinCORe(warm_up=40)},
    "hardly any patience": {"patience": 2},
    "without names": {"arms": None},
    "a limited share": {"max_share": 0.4},
    "by lot": {"propensity_draws": 5},
    "held out": {"holdout": 0.3},
    "a model": {"policy": cb.EstimatorCORe(cb.RidgeRegression(), refit=10, warm_up=1)},
}


@pytest.mark.parametrize("case", often(set(CASES) - {"a model"}, CASES, pytest.mark.heavy))
def test_many_decisions_are_those_of_one_after_the_other(case):
    agent = taught(**{"policy": cb.LinTS(), **CASES[case]})
    twin = copy.copy(agent)
    for n in (1, 40, 19):
        many = agent.ask_many(USERS[:n])
        loop = [twin.ask(table) for table in USERS[:n]]
        assert [decision[0::2] for decision in many] == [decision[0::2] for decision in loop]
        assert [decision.is_held_out for decision in many] == [decision.is_held_out for decision in loop]
        for one, other in zip(many[::2], loop[::2], strict=True):
            agent.tell(one, 1.0)
            twin.tell(other.id, 1.0)
        assert in_common(agent) == in_common(twin)


def test_some_arms_may_be_on_offer_in_any_order():
    agent = taught(cb.LinTS())
    twin = copy.copy(agent)
    many = agent.ask_many(USERS[:, :2], arms=["blue", "red"])
    assert [decision.arm for decision in many] == [twin.ask(table, arms=["blue", "red"]).arm for table in USERS[:, :2]]
    assert {decision.arm for decision in many} == {"blue", "red"}
    agent.retire_arm("green")
    assert {decision.arm for decision in agent.ask_many(USERS[:, :2])} <= {"blue", "red"}


def test_the_first_decisions_of_an_agent_may_be_many():
    agent = cb.Agent(cb.LinTS(), ARMS, seed=7)
    decisions = agent.ask_many(USERS.tolist())
    assert len({decision.id for decision in decisions}) == len(agent.pending) == 60
    assert len(cb.Agent(cb.LinTS(), seed=7).ask_many(USERS)) == 60


@pytest.mark.parametrize("settings", [{}, {"propensity_draws": 5}])
def test_many_decisions_are_a_sequence_with_their_arms_and_ids(settings):
    decisions = cb.Agent(cb.LinTS(), ARMS, seed=7, **settings).ask_many(USERS[:5])
    assert decisions.arms == tuple(decision.arm for decision in decisions)
    assert decisions.ids == tuple(decision.id for decision in decisions)
    assert len(decisions) == 5
    assert decisions[-1] is list(decisions)[4]
    assert decisions[1:3] == list(decisions)[1:3]
    assert decisions == list(decisions)
    assert decisions != list(decisions)[1:]
    assert decisions != 5
    assert repr(decisions).startswith(f"Decisions([Decision(arm={decisions.arms[0]!r}, ")
    assert (decisions[0].propensities is None) == (not settings)


def test_windows_end_before_and_too_many_after_a_batch():
    now = 0.0
    agent = cb.Agent(cb.LinTS(), ARMS, seed=7, window=60, max_open=10, default_reward=0, clock=lambda: now)
    agent.ask(USERS[0])
    now = 100.0
    decisions = agent.ask_many(USERS[:20])
    assert agent.n_observations == 11
    assert list(agent.pending) == [decision.id for decision in decisions[10:]]


@pytest.mark.parametrize(
    ("features", "arms", "sentence"),
    [
        (USERS[0], None, r"^features must have the shape \(n, rows, d\), at least one of each, not \(3, 4\)$"),
        (np.zeros((0, 3, 4)), None, r"not \(0, 3, 4\)$"),
        ([[[1, 2]], [[1]]], None, r"^features must have the shape \(n, rows, d\)"),
        (None, None, r"^features must have the shape \(n, rows, d\).* not None$"),
        (USERS[:, :2], None, r"^features must have one row for each arm on offer, that is 3"),
        (USERS[:, :, :3], None, r"^features must hold 4 numbers for each option, as before, not 3$"),
        (np.where(np.arange(60)[:, None, None] == 7, np.nan, USERS), None, r"^features\[7\] must be finite .* row 0"),
        (np.where(np.arange(60)[:, None, None] == 7, 1e5, USERS), None, r"^features\[7\]: row 0, column 0 is 100000.0"),
        ([[["a"]]], None, "^features must be numbers"),
        (USERS[:, :2], ["red", "red"], "^arms must all be different"),
        (USERS[:, :2], ["red", "pink"], "^arm must be one of"),
        (USERS[:, :1], "red", r"^arms must be a list of arms, such as \['red'\], not the string 'red'$"),
        (USERS[:, :1], 7, "^arms must be a list of arms, not 7$"),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"holdout": 0.2}], ids=["fast", "one by one"])
def test_what_is_refused_changes_nothing(features, arms, sentence, settings):
    agent = taught(cb.LinTS(), **settings)
    agent.ask_many(np.repeat(USERS, 2, axis=0))  # so that it is known how large features are
    before = agent.to_dict()
    with pytest.raises(cb.BadInput, match=sentence):
        agent.ask_many(features, arms=arms)
    assert agent.to_dict() == before


def test_a_policy_without_features_is_asked_once_for_each():
    with pytest.raises(cb.BadFeatures, match=r"^CORe takes no features; ask\(\) once for each decision$"):
        cb.Agent(cb.CORe(), ARMS).ask_many(USERS)


def named_tables(kind):
    """Return some users' tables, each in an order of its own, that say whose rows they hold."""
    orders = [list(RNG.permutation(ARMS)) for _ in USERS]
    named = [{str(name): table[ARMS.index(name)] for name in order} for order, table in zip(orders, USERS, strict=True)]
    if kind == "mappings":
        return named
    if kind == "polars":
        return [
            pl.DataFrame([(name, *row) for name, row in each.items()], orient="row", schema=SCHEMA) for each in named
        ]
    return [
        SimpleNamespace(iloc=None, index=np.array(list(each)), to_numpy=lambda each=each: np.array(list(each.values())))
        for each in named
    ]


@pytest.mark.parametrize("kind", ["mappings", "polars", "pandas"])
def test_tables_that_name_their_arms_are_taken_by_name(kind):
    agent, tables = taught(cb.LinTS()), named_tables(kind)
    twin = copy.copy(agent)
    assert [decision.arm for decision in agent.ask_many(tables)] == [decision.arm for decision in twin.ask_many(USERS)]
    before = agent.to_dict()
    fewer = dict(list(named_tables("mappings")[0].items())[:2])
    for features, sentence in (
        ([*tables[:2], USERS[0]], r"^features must all name their arms, or none, but features\[2\] does not$"),
        ([tables[0], fewer], r"^features\[1\] must name the same arms as features\[0\], \[.*\], not \["),
        ([tables[0], {**fewer, "violet": USERS[0, 0]}], "^arm must be one of 'red', 'green', 'blue', not 'violet'$"),
    ):
        with pytest.raises(cb.BadInput, match=sentence):
            agent.ask_many(features)
    with pytest.raises(cb.BadInput, match=r"^arms must "):
        agent.ask_many(tables, arms=["red"])
    assert agent.to_dict() == before


def test_what_is_masked_is_missing():
    agent, mask = taught(cb.LinTS()), np.zeros((2, 3, 4), bool)
    mask[1, 2, 3] = True
    masked = np.ma.masked_array(USERS[:2], mask)
    for features in (masked, list(masked)):
        with pytest.raises(cb.BadFeatures, match=r"^features\[1\] must be finite .* but row 2, column 3 is nan$"):
            agent.ask_many(features)


# Learning -------------------------------------------------------------------------------------------------------------


def test_many_observations_are_those_of_one_after_the_other():
    names, rewards, x = RNG.choice(ARMS, 300), RNG.random(300), RNG.normal(size=(300, 4))
    one, many = (cb.Agent(cb.LinTS(), ARMS, seed=7) for _ in range(2))
    many.observe_many(names, rewards, x)
    for name, reward, row in zip(names.tolist(), rewards.tolist(), x, strict=True):
        one.observe(name, reward, row)
    content, other = in_common(many), in_common(one)
    assert content.pop("n_seen") <= other.pop("n_seen")
    assert content == other
    plain, warm = (cb.Agent(cb.CORe(), ARMS, seed=7) for _ in range(2))
    warm.observe_many(names, rewards)
    for name, reward in zip(names.tolist(), rewards.tolist(), strict=True):
        plain.observe(name, reward)
    assert in_common(warm) == in_common(plain)


@pytest.mark.parametrize(
    ("names", "rewards", "x", "sentence"),
    [
        (["red"], [1.0, 2.0], [[1, 2]], "^rewards must be as many as arms, 1, not 2$"),
        (["red", "pink"], [1.0, 2.0], [[1, 2]] * 2, "^arm must be one of"),
        (["red", "red"], [1.0, np.nan], [[1, 2]] * 2, "^reward must be a finite number"),
        (["red", "red"], [1.0, 1.0], None, r"^LinTS learns from features; say observe_many\(arms, rewards, x\)$"),
        (["red", "red"], [1.0, 1.0], [[1, 2]], r"^x must have one row for each of 2 arms, not the shape \(1, 2\)$"),
        (["red", "red"], [1.0, 1.0], [[1, 2], [1, np.inf]], "^x must be finite"),
        ("red", [1.0], [[1, 2]], "^arms must be a list of arms, such as"),
        (["red"], 1.0, [[1, 2]], "^rewards must be a list, not 1.0$"),
    ],
)
def test_all_is_learnt_or_nothing(names, rewards, x, sentence):
    agent = cb.Agent(cb.LinTS(), ARMS, seed=7)
    agent.observe("red", 1.0, [1.0, 2.0])
    before = agent.to_dict()
    with pytest.raises(cb.BadInput, match=sentence):
        agent.observe_many(names, rewards, x)
    assert agent.to_dict() == before


def test_what_is_wrong_with_x_is_said_of_x():
    agent = taught(cb.LinTS())
    for x, sentence in ((5, r"^x must have the shape \(rows, d\)"), ([["a"] * 4], r"^x must be numbers of the shape")):
        with pytest.raises(cb.BadFeatures, match=sentence):
            agent.observe_many(["red"], [1.0], x)


def test_a_policy_without_features_refuses_them():
    with pytest.raises(cb.BadFeatures, match=r"^CORe takes no features; say observe_many\(arms, rewards\), without x$"):
        cb.Agent(cb.CORe(), ARMS).observe_many(["red"], [1.0], [[1.0]])


# Kept -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"holdout": 0.3}], ids=["fast", "one by one"])
def test_batches_are_done_again(tmp_path, settings):
    url = f"sqlite:///{tmp_path}/shop.db"
    agent = cb.open_agent(url, "banner", cb.LinTS(), ARMS, seed=7, synchronous="normal", **settings)
    agent.observe_many(["red", "blue"], [1.0, 0.0], USERS[:2, 0])
    decisions = agent.ask_many(USERS[:20])
    agent.tell(decisions[3], 1.0)
    agent.ask_many(USERS[:20, :2], arms=["blue", "green"])
    content, log = agent.to_dict(), agent.log()
    agent._keep_snapshot = lambda *snapshot: None  # so that everything is done again
    agent.close()
    with cb.open_agent(url, "banner", synchronous="normal") as agent:
        assert agent.to_dict() == content
    assert log["outcome"].to_list() == ["rewarded"] * 2 + ["open"] * 3 + ["rewarded"] + ["open"] * 36
    assert log["chosen"].to_list()[2:22] == [decision.arm for decision in decisions]
    assert log["held_out"].to_list()[2:22] == [decision.is_held_out for decision in decisions]


# Features that are too large ------------------------------------------------------------------------------------------


def best_share(row, **settings):
    """Return how often the best of 8 rows is chosen after one odd row was learnt from, or refused."""
    rng = np.random.default_rng(3)
    theta, agent, n_best = rng.normal(size=5), cb.Agent(cb.LinTS(), seed=3, **settings), 0
    for number in range(600):
        rows = rng.normal(size=(8, 5))
        decision = agent.ask(rows)
        means = rows @ theta
        agent.tell(decision, float(means[decision.arm] + 0.5 * rng.normal()))
        if number == 300:
            try:
                agent.observe(0, 1.0, row)
            except cb.BadFeatures:
                assert settings == {}
        n_best += number > 300 and decision.arm == means.argmax()
    return n_best / 299


def test_a_row_that_would_ruin_a_linear_model_is_refused():
    ruinous = 1e6 * np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    assert best_share(ruinous) > 0.95
    assert best_share(ruinous, feature_limit=None) < 0.6


def test_features_out_of_reach_are_refused_in_a_sentence():
    agent = cb.Agent(cb.LinTS(), ["red", "green"], seed=7)
    for _ in range(99):
        agent.tell(agent.ask([[1.0, 0.0], [2.0, 0.0]]), 1.0)
    agent.probabilities([[1.0, 0.0], [1e5, 0.0]])  # not known yet
    agent.ask([[1.0, 0.0], [2.0, 0.0]])
    before = agent.to_dict()
    wrong = [[1.0, 0.0], [3e3, 0.0]]
    sentence = (
        r"^features: row 1, column 0 is 3000\.0, where nothing beyond 2 was seen, and one row more than 1000 times"
    )
    for call in (agent.ask, agent.probabilities, lambda rows: agent.ask({"green": rows[0], "red": rows[1]})):
        with pytest.raises(cb.BadFeatures, match=sentence):
            call(wrong)
    with pytest.raises(
        cb.BadFeatures, match=r"^x: column 1 is 2500\.0, where nothing beyond 0, and 2 in any column was"
    ):
        agent.observe("red", 1.0, [1.0, 2500.0])
    assert agent.to_dict() == before
    agent.ask([[1.0, 2000.0], [2000.0, 0.0]])  # as far as it goes; from now on it goes further
    agent.ask([[1.0, 0.0], [3e3, 0.0]])


def test_what_was_seen_is_saved_and_checked():
    agent = taught(cb.LinTS())
    agent.ask_many(np.repeat(USERS, 2, axis=0))
    content = json.loads(json.dumps(agent.to_dict()))
    twin = cb.Agent.from_dict(content)
    with pytest.raises(cb.BadFeatures, match="where nothing beyond"):
        twin.ask(1e5 * USERS[0])
    for name, value in {"n_seen": -1, "largest_seen": content["rng"]}.items():
        with pytest.raises(cb.DamagedFile):
            cb.Agent.from_dict({**content, name: value})


@pytest.mark.parametrize("limit", [0.5, "10", np.nan])
def test_a_limit_that_is_none_is_refused(limit):
    with pytest.raises(cb.BadInput, match=r"^feature_limit must be a number of at least 1, not "):
        cb.Agent(cb.LinTS(), feature_limit=limit)


def test_what_was_taken_before_there_was_a_limit_is_done_again(tmp_path):
    url, rng = f"sqlite:///{tmp_path}/old.db", np.random.default_rng(1)
    agent = cb.open_agent(url, "old", cb.LinTS(), ARMS, seed=7, synchronous="normal")
    agent._desk.limit = None  # as it was before there was one
    for _ in range(150):
        agent.tell(agent.ask(rng.random((3, 4))), 1.0)
    agent.ask(np.full((3, 4), 1e4))
    agent.observe("red", 1.0, np.full(4, 1e9))
    agent.ask_many(np.full((2, 3, 4), 1e13))
    content = agent.to_dict()
    agent._keep_snapshot = lambda *snapshot: None  # as if it had been killed
    agent.close()
    with cb.open_agent(url, "old", synchronous="normal") as agent:
        assert agent.to_dict() == content
        with pytest.raises(cb.BadFeatures, match=r"where nothing beyond 1e.13 was seen"):
            agent.ask(np.full((3, 4), 1e17))
