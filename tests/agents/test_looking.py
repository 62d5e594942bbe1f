"""Looking inside an agent: probabilities, tables, explanations. Whoever looks changes nothing."""

import copy
import math
import threading
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest
from scipy import stats

import corebandit as cb
from corebandit.agents import steps
from corebandit.agents.explanation import Explanation
from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.errors import TooLate
from often import often

ARMS = ["red", "green", "blue", "grey"]
ROWS = np.random.default_rng(5).normal(size=(6, 3))
KINDS = {
    "arms": lambda **settings: cb.Agent(cb.BernoulliTS(), ARMS, **settings),
    "features": lambda **settings: cb.Agent(cb.LinTS(), ARMS, **settings),
    "rows": lambda **settings: cb.Agent(cb.LinTS(), **settings),
    "rankings": lambda **settings: cb.RankingAgent(cb.Ranked(cb.BernoulliTS()), ARMS, 2, **settings),
}


def made(kind, **settings):
    return KINDS[kind](**{"seed": 7, **settings})


def question(agent):
    """Return what an agent is asked with."""
    return (ROWS[:4],) if isinstance(agent.policy, cb.FeaturePolicy) else ()


def play(agent, n_rounds, told=2):
    """Return what is chosen; of three rewards so many are told."""
    chosen = []
    for step in range(n_rounds):
        decision = agent.ask(*question(agent))
        chosen.append(decision[0])
        if step % 3 < told:
            answer = decision.items[: step % 2] if isinstance(agent, cb.RankingAgent) else float(step % 2)
            agent.tell(decision, answer)
    return chosen


# Probabilities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draws", [None, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_whoever_looks_changes_nothing(kind, draws):
    agent = made(kind, propensity_draws=draws)
    for n_rounds in (0, 1, 30):
        play(agent, n_rounds)
        before, twin = agent.to_dict(), copy.copy(agent)
        seen = agent.probabilities(*question(agent), draws=50)
        assert agent.probabilities(*question(agent), draws=50) == seen
        assert twin.probabilities(*question(twin), draws=50) == seen
        if kind != "rows":
            agent.table(draws=20)
        agent._repr_html_()
        assert agent.to_dict() == before
        assert play(agent, 20) == play(twin, 20)


def test_a_look_has_other_random_numbers_once_something_was_decided_or_learnt():
    agent = made("arms")
    first = agent.probabilities(draws=50)
    agent.forget(agent.ask())
    second = agent.probabilities(draws=50)
    assert second != first
    twin = made("arms")
    twin.observe("red", 0.5)
    assert twin.probabilities(draws=50) not in (first, second)


POLICIES = {
    "UCB1": cb.UCB1(),
    "BernoulliTS": cb.BernoulliTS(),
    "LinTS": cb.LinTS(),
    "CORe": cb.CORe(warm_up=0.1),
    "EpsilonGreedy": cb.EpsilonGreedy(),
    "LinCORe": cb.LinCORe(warm_up=0.1),
}


def is_alike(expected, counts):
    """Tell whether counts fit shares of draws, by a chi-square test of two samples."""
    table = np.array([expected, counts])
    table = table[:, table.sum(axis=0) > 0]
    return table.shape[1] == 1 or stats.chi2_contingency(table).pvalue > 0.001


@pytest.mark.parametrize("name", often(("UCB1", "BernoulliTS", "LinTS"), POLICIES, pytest.mark.thorough))
def test_probabilities_are_the_frequencies_of_what_is_asked_for(name):
    agent = cb.Agent(POLICIES[name], ARMS, seed=3)
    asked = (ROWS[:3],) if isinstance(agent.policy, cb.FeaturePolicy) else ()
    for step in range(24):
        agent.observe(ARMS[step % 4], float(step % 3 == 0), *(x[step % 3] for x in asked))
    few = ["grey", "red", "blue"]
    likely = agent.probabilities(*asked, arms=few, draws=4_000)
    assert list(likely) == ["red", "blue", "grey"]
    assert math.isclose(sum(likely.values()), 1.0, abs_tol=1e-12)
    counts = dict.fromkeys(likely, 0)
    for _ in range(2_000):
        decision = agent.ask(*asked, arms=few)
        counts[decision.arm] += 1
        agent.forget(decision)
    assert is_alike([4_000 * p for p in likely.values()], list(counts.values()))


def test_probabilities_of_places_are_the_frequencies_of_rankings():
    agent = made("rankings")
    play(agent, 30, told=3)
    likely = agent.probabilities(draws=4_000)
    assert list(likely) == ARMS
    shown = []
    for _ in range(2_000):
        shown.append(agent.ask())
        agent.forget(shown[-1])
    for place in range(2):
        counts = [sum(ranking.items[place] == item for ranking in shown) for item in ARMS]
        assert math.isclose(sum(places[place] for places in likely.values()), 1.0, abs_tol=1e-12)
        assert is_alike([4_000 * places[place] for places in likely.values()], counts)


@pytest.mark.heavy
@pytest.mark.parametrize("policy", [cb.BatchRank(), cb.RankedBandits()], ids=lambda policy: policy.label)
def test_limits_are_in_the_probabilities_of_policies_that_cannot_be_told_what_is_on_offer(policy):
    items = [*ARMS, "pink", "white"]
    agent = cb.RankingAgent(policy, items, 2, seed=3, horizon=2_000, patience=20)
    for _ in range(200):
        ranking = agent.ask()
        agent.tell(ranking, ranking.items[:1] if ranking.items[0] == "red" else [])
    for _ in range(31):
        agent.ask()
    likely = agent.probabilities(draws=4_000)
    assert likely["red"] == [0.0, 0.0]
    shown, data = [], agent.to_dict()
    for seed in range(300):
        twin = cb.RankingAgent.from_dict(data)
        twin._desk.reseed(seed)
        shown.append(twin.ask())
    for place in range(2):
        counts = [sum(ranking.items[place] == item for ranking in shown) for item in items]
        assert math.isclose(sum(places[place] for places in likely.values()), 1.0, abs_tol=1e-12)
        assert is_alike([4_000 * places[place] for places in likely.values()], counts)
        assert all(count == 0 for count, places in zip(counts, likely.values(), strict=True) if places[place] == 0.0)


def test_an_arm_that_may_not_be_chosen_now_has_probability_zero():
    agent = cb.Agent(cb.EpsilonGreedy(epsilon=0.0), ARMS, patience=0, seed=1)
    for arm in ARMS:
        agent.observe(arm, float(arm == "blue"))
    assert agent.probabilities() == {"red": 0.0, "green": 0.0, "blue": 1.0, "grey": 0.0}
    assert agent.ask().arm == "blue"
    likely = agent.probabilities()
    assert likely["blue"] == 0.0  # it has its part of the decisions that wait
    assert math.isclose(sum(likely.values()), 1.0, abs_tol=1e-12)
    ranking = cb.RankingAgent(cb.CascadeUCB1(), ARMS, 1, patience=0, seed=1)
    (shown,) = ranking.ask().items
    assert ranking.probabilities()[shown] == [0.0]


def test_rows_without_names_are_known_by_their_index_and_may_be_more_than_ever():
    agent = made("rows")
    assert set(agent.probabilities(ROWS[:2])) == {0, 1}
    play(agent, 5)
    before = agent.to_dict()
    assert set(agent.probabilities(ROWS)) == set(range(6))
    assert agent.to_dict() == before


@pytest.mark.heavy
def test_a_model_that_cannot_be_compiled_can_be_looked_at():
    agent = cb.Agent(cb.EstimatorCORe(warm_up=0.1), ARMS, seed=1)
    for step in range(40):
        agent.observe(ARMS[step % 4], float(step % 4 == 2) + 0.1 * (step % 3), ROWS[step % 4])
    before = agent.to_dict()
    likely = agent.probabilities(ROWS[:4], draws=20)
    assert likely == agent.probabilities(ROWS[:4], draws=20)
    assert agent.to_dict() == before
    assert max(likely, key=likely.get) == "blue"


@pytest.mark.parametrize("draws", [0, -1, 2.5, True, None])
def test_draws_must_be_a_count(draws):
    for kind in KINDS:
        agent = made(kind)
        with pytest.raises(cb.BadInput, match=r"^draws must be a whole number of at least 1, not "):
            agent.probabilities(*question(agent), draws=draws)


def test_what_ask_refuses_is_refused():
    agent = made("arms")
    with pytest.raises(cb.BadFeatures, match="takes no features"):
        agent.probabilities(ROWS)
    with pytest.raises(cb.UnknownArm, match="not 'pink'"):
        agent.probabilities(arms=["pink"])
    for arm in ARMS:
        agent.retire_arm(arm)
    with pytest.raises(cb.BadInput, match="there is no arm to choose"):
        agent.probabilities()
    assert agent.table()["probability"].to_list() == [0.0] * 4


def test_nothing_is_compiled_for_looks_unless_someone_looks(monkeypatch):
    compiled, compile_for = [], EntryPoint.compiled_for
    monkeypatch.setattr(EntryPoint, "compiled_for", lambda self, *a: compiled.append(self) or compile_for(self, *a))
    for kind, entry in {"arms": steps.draw_arms, "features": steps.draw_rows, "rankings": steps.draw_rankings}.items():
        agent = made(kind)
        play(agent, 3)
        agent._repr_html_()
        assert compiled
        assert entry not in compiled
        agent.probabilities(*question(agent), draws=2)
        assert entry in compiled


def test_decisions_are_made_while_someone_looks(monkeypatch):
    agent = made("arms")
    draw_on, asked = type(agent._desk).draw_on, []

    def slow_draw(*arguments):
        thread = threading.Thread(target=lambda: asked.append(agent.ask()))
        thread.start()
        thread.join(10)
        return draw_on(*arguments)

    monkeypatch.setattr(type(agent._desk), "draw_on", slow_draw)
    agent.table(draws=10)
    assert len(asked) == 1


# Tables -----------------------------------------------------------------------------------------------------------


def test_the_table_of_an_agent_by_hand():
    now = [1_000_000_000.0]
    agent = cb.Agent(cb.UCB1(sigma=1.0), ARMS, seed=1, window=60, clock=lambda: now[0])
    for reward in (1.0, 2.0, 4.0):
        agent.observe("red", reward)
    now[0] += 0.5
    agent.observe("green", 5.0)
    late = agent.ask(arms=["grey"])
    now[0] += 61
    with pytest.raises(TooLate):
        agent.tell(late, 1.0)
    agent.ask(arms=["blue"])
    agent.retire_arm("green")
    half = 4.302652729911275 * math.sqrt(((4 / 3) ** 2 + (1 / 3) ** 2 + (5 / 3) ** 2) / 2 / 3)  # t of 2 degrees
    begin = datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    table = agent.table()
    assert table.to_dict(as_series=False) == {
        "arm": ARMS,
        "on_offer": [True, False, True, True],
        "told": [3, 1, 0, 0],
        "open": [0, 0, 1, 0],
        "late": [0, 0, 0, 1],
        "mean": [pytest.approx(7 / 3), 5.0, None, None],
        "ci_low": [pytest.approx(7 / 3 - half), None, None, None],
        "ci_high": [pytest.approx(7 / 3 + half), None, None, None],
        "before": [None] * 4,
        "after": [None] * 4,
        "probability": [0.0, 0.0, 0.0, 1.0],  # blue has its part of the decisions that wait
        "last_told": [begin, begin.replace(microsecond=500_000), None, None],
    }
    assert table.schema["last_told"] == pl.Datetime("us", "UTC")


def test_the_table_of_a_ranking_agent():
    agent = cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, seed=1)
    for clicks in ([], ["red"], ["red"], ["red"]):
        agent.observe(["red", "green"], clicks)
    table = agent.table()
    assert table.columns[0] == "item"
    assert table["told"].to_list() == [4, 4, 0, 0]
    assert table["mean"].to_list() == [0.75, 0.0, None, None]
    assert table["ci_low"][0] == pytest.approx(0.75 - 3.182446305284263 * 0.25)  # t of 3 degrees; deviations 0.25, 0.75
    assert table["probability"].to_list() == [0.0, 0.0, 1.0, 1.0]  # what was never shown comes first


def test_a_probability_by_features_needs_them():
    agent = made("features")
    assert agent.table().schema["probability"] == pl.Float64
    assert agent.table()["probability"].to_list() == [None] * 4
    assert sum(agent.table(ROWS[:4])["probability"]) == pytest.approx(1.0)
    assert agent.table({"blue": ROWS[0]})["probability"].to_list() == [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("arms", "column"),
    [
        ([3, 1], [3, 1]),
        (["b", "a"], ["b", "a"]),
        (["a", 1], ["'a'", "1"]),
        ([True, 2], ["True", "2"]),
        ([("a", 1), None], ["('a', 1)", "None"]),
        ([10**30, 1], [str(10**30), "1"]),
    ],
)
def test_names_are_shown_as_a_column_can_hold_them(arms, column):
    assert cb.Agent(cb.UCB1(), arms).table()["arm"].to_list() == column


def test_a_clock_that_counts_from_elsewhere_gives_no_dates():
    agent = cb.Agent(cb.UCB1(), ARMS, clock=lambda: 1e20)
    agent.observe("red", 1.0)
    assert agent.table()["last_told"].to_list() == [None] * 4


def test_rows_have_no_table():
    with pytest.raises(cb.BadInput, match=r"^there is no table of arms: this agent was made without arms"):
        made("rows").table()


def test_a_notebook_shows_policy_counts_and_table_and_nothing_that_it_would_execute():
    agent = cb.Agent(cb.UCB1(), ["<script>alert(1)</script>", "b & c"], seed=1)
    agent.tell(agent.ask(), 1 / 3)
    agent.ask()
    shown = agent._repr_html_()
    assert "<script>" not in shown
    assert "<td>&lt;script&gt;alert(1)&lt;/script&gt;</td>" in shown
    assert "<td>b &amp; c</td>" in shown
    assert "<b>Agent: UCB1</b><br>1 learnt from, 1 open" in shown
    assert "<td>0.3333</td>" in shown
    ranking = made("rankings")
    play(ranking, 1)
    assert "<b>RankingAgent: BernoulliTS</b><br>1 learnt from, 0 open" in ranking._repr_html_()
    assert "<table>" not in made("rows")._repr_html_()
    assert "and 20 more" in cb.Agent(cb.UCB1(), range(120))._repr_html_()


# Explanations -----------------------------------------------------------------------------------------------------


LINEAR = {"LinGreedy": cb.LinGreedy(lam=1.0), "LinTS": cb.LinTS(), "LinRandUCB": cb.LinRandUCB(), "GLMTSL": cb.GLMTSL()}


def test_an_explanation_by_hand():
    agent = cb.Agent(cb.LinGreedy(lam=1.0), ["a", "b"], seed=1)
    agent.observe("a", 2.0, x=[1.0, 0.0])
    agent.observe("b", 3.0, x=[0.0, 2.0])
    decision = agent.ask([[1.0, 0.5], [0.0, 0.1]])
    before = agent.to_dict()
    for which in (decision, decision.id):
        why = agent.explain(which, feature_names=["size", "age"])
        assert (why.arm, why.names, why.features) == ("a", ("size", "age"), (1.0, 0.5))
        assert why.weights == pytest.approx((1.0, 1.2))  # 1 * 2 / (1 + 1), 2 * 3 / (1 + 4)
        assert why.worth == pytest.approx((1.0, 0.6))
        assert why.total == pytest.approx(1.6)
        assert repr(why) == "what 'a' is worth: 1.6\n  size    1 x   1 =   1\n  age   0.5 x 1.2 = 0.6"
    assert agent.to_dict() == before
    agent.observe("a", -5.0, x=[1.0, 0.0])
    assert agent.explain(decision).weights[0] < 0.0  # as the model has them now
    assert repr(agent.explain(decision)).splitlines()[1].startswith("  x0")
    assert agent.explain(decision) == agent.explain(decision.id)
    with pytest.raises(AttributeError):
        why.arm = "b"


@pytest.mark.parametrize("name", often(("LinGreedy", "LinTS"), LINEAR, pytest.mark.thorough))
def test_every_linear_model_has_weights_that_follow_the_rewards(name):
    agent = cb.Agent(LINEAR[name], seed=1)
    for step in range(60):
        agent.observe(0, float(step % 2), x=[1.0, 1.0 if step % 2 else -1.0])
    why = agent.explain(agent.ask([[1.0, 0.5], [1.0, 0.4]]))
    assert isinstance(why, Explanation)
    assert why.arm in (0, 1)
    assert why.weights[1] > 0.3
    assert why.total == pytest.approx(sum(f * w for f, w in zip(why.features, why.weights, strict=True)))


def test_what_cannot_be_explained_says_why():
    agent = made("arms")
    with pytest.raises(cb.BadInput, match=r"^there is nothing to explain by features: BernoulliTS chooses without"):
        agent.explain(agent.ask())
    model = cb.Agent(cb.EstimatorCORe(), ARMS)
    with pytest.raises(
        cb.BadInput, match=r"^EstimatorCORe has no weight for each feature; explain is for linear models"
    ):
        model.explain(model.ask(ROWS[:4]))
    linear = made("features")
    decision = linear.ask(ROWS[:4])
    for names in (["a"], "abc", ["a", "b", "c", "d"]):
        with pytest.raises(cb.BadInput, match=r"^feature_names must be 3, one for each feature, not "):
            linear.explain(decision, feature_names=names)
    linear.tell(decision, 1.0)
    with pytest.raises(cb.AlreadyTold, match="was told or forgotten already"):
        linear.explain(decision)
    with pytest.raises(cb.UnknownDecision, match="must be one that ask"):
        linear.explain("nobody-0")
