"""A share of the decisions is held out, and `gain` says what the policy gained over these."""

import json
import re
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

import corebandit as cb
from corebandit.agents.control import Control
from corebandit.agents.gain import ENOUGH, gain_of
from corebandit.agents.options import Named
from corebandit.statistics.sequences import width
from same_agents import in_common

ROOT = Path(__file__).parents[2]
ARMS = ["red", "green", "blue"]
CLICKS = {"red": 0.8, "green": 0.2, "blue": 0.2}


def shop(**settings):
    return cb.Agent(cb.RecommendedCORe(), ARMS, **{"seed": 7, "holdout": 0.1, **settings})


def play(agent, n, seed=1):
    """Let an agent make n decisions, whose rewards come at once, and return them."""
    luck, decisions = np.random.default_rng(seed).random(n), []
    for number in luck.tolist():
        decisions.append(agent.ask())
        agent.tell(decisions[-1], float(number < CLICKS[decisions[-1].arm]))
    return decisions


# What is held out -----------------------------------------------------------------------------------------------------


def test_what_is_held_out_is_a_share_and_uniform():
    decisions = play(shop(max_share=0.5), 5_000)
    held_out = [decision for decision in decisions if decision.is_held_out]
    assert binomtest(len(held_out), len(decisions), 0.1).pvalue > 1e-6
    assert chisquare([sum(decision.arm == arm for decision in held_out) for arm in ARMS]).pvalue > 1e-6
    assert all(decision.propensities == dict.fromkeys(ARMS, 1 / 3) for decision in held_out)
    assert {decision.propensity for decision in decisions if not decision.is_held_out} == {None}


def test_what_is_held_out_is_among_the_arms_on_offer():
    agent = shop(holdout=0.5)
    agent.retire_arm("red")
    assert {agent.ask().arm for _ in range(50)} == {"green", "blue"}
    asked = [agent.ask(arms=["blue"]) for _ in range(20)]
    assert {decision.arm for decision in asked} == {"blue"}
    assert {decision.propensity for decision in asked if decision.is_held_out} == {1.0}


@pytest.mark.parametrize("settings", [{}, {"propensity_draws": 20}], ids=["asked once", "by lot"])
def test_whatever_is_not_held_out_is_the_policys_choice(settings):
    """A policy that asks for no luck chooses what it would choose without a control group."""
    policy = cb.UCB1()
    agent, plain = (cb.Agent(policy, ARMS, seed=7, holdout=share, **settings) for share in (0.3, 0.0))
    for _ in range(200):
        decision = agent.ask()
        if not decision.is_held_out:
            assert plain.probabilities()[decision.arm] > 0
        for each in (agent, plain):
            each.observe(decision.arm, CLICKS[decision.arm])


@pytest.mark.parametrize(
    "agent",
    [
        cb.Agent(cb.LinTS(), seed=7, holdout=0.4),
        cb.Agent(cb.LinTS(), seed=7, holdout=0.4, propensity_draws=10),
        cb.Agent(cb.LinTS(), ["red", "green"], seed=7, holdout=0.4),
    ],
    ids=["rows", "by lot", "named"],
)
def test_decisions_by_features_are_held_out_too(agent):
    rows = np.eye(2)
    for _ in range(300):
        decision = agent.ask(rows)
        agent.tell(decision, 1.0 if decision.arm in (0, "red") else 0.0)
        if decision.is_held_out:
            assert decision.propensity == 0.5
    gain = agent.gain()
    assert gain.ci_low is not None
    assert 0 < gain.ci_low < gain.per_decision < gain.ci_high
    assert gain.ruled_out == ()  # too few of each arm, or arms without names


def test_rankings_are_held_out_too():
    agent = cb.RankingAgent(cb.Ranked(cb.CORe(warm_up=0.1)), range(6), 2, seed=7, holdout=0.3)
    held_out = []
    for _ in range(2_000):
        ranking = agent.ask()
        agent.tell(ranking, [item for item in ranking.items if item == 0])
        if ranking.is_held_out:
            held_out.append(ranking)
    assert binomtest(len(held_out), 2_000, 0.3).pvalue > 1e-6
    assert chisquare(np.bincount([item for ranking in held_out for item in ranking.items])).pvalue > 1e-6
    assert held_out[0].propensities == (dict.fromkeys(range(6), 1 / 6),) * 2
    gain = agent.gain()
    assert gain.ci_low < 1 - 2 / 6 < gain.ci_high  # clicks on item 0 are all there is: 1, or a third of the time
    assert gain.ruled_out == (1, 2, 3, 4, 5)
    assert sum(places[0] for places in agent.probabilities().values()) == pytest.approx(1)


def test_probabilities_count_what_is_held_out():
    agent = cb.Agent(cb.UCB1(), ARMS, holdout=0.3)
    agent.observe("red", 1.0)
    agent.observe("green", 0.0)
    assert agent.probabilities() == pytest.approx({"red": 0.1, "green": 0.1, "blue": 0.8})


@pytest.mark.parametrize("holdout", [-0.1, 1, "0.1", True, np.nan])
def test_a_share_that_is_none_is_refused(holdout):
    with pytest.raises(cb.BadInput, match=r"^holdout must be a number of at least 0 and below 1, not "):
        shop(holdout=holdout)


@pytest.mark.parametrize("holdout", [1e-320, 9e-7])
def test_a_share_that_no_one_could_wait_for_is_refused(holdout):
    with pytest.raises(cb.BadInput, match=r"^holdout must be 0 or at least 1e-06, not "):
        shop(holdout=holdout)
    assert shop(holdout=1e-6).gain().ci_low is None


def test_features_that_are_refused_change_nothing():
    agent = cb.Agent(cb.LinTS(), ["red", "green"], seed=7, holdout=0.5)
    agent.ask(np.eye(2))
    before = agent.to_dict()
    for features in (None, np.eye(3), [[1, 0], [np.nan, 1]]):
        with pytest.raises(cb.BadFeatures):
            agent.ask(features)
    assert agent.to_dict() == before


# What is compared -----------------------------------------------------------------------------------------------------


def test_a_gain_is_a_difference_of_means_per_decision_and_in_total():
    control = Control(2)
    for number in range(300):
        control.hear(False, 3.0 + number % 2, [(0, 3.0)])
    for number in range(100):
        control.hear(True, 1.0 + number % 2, [(number % 2, 1.0 + number % 2)])
    gain = gain_of(control, 0.25, Named(ARMS[:2]))
    assert (gain.per_decision, gain.total) == (2.0, 600.0)
    assert (gain.n_chosen, gain.n_held_out, gain.holds_from) == (300, 100, 400)
    variance = max(0.25 * 300 / 299, 0.25 * 100 / 99)
    half = width(400, 400, 0.05) * np.sqrt(variance / 300 + variance / 100)
    assert (gain.ci_low, gain.ci_high) == pytest.approx((2 - half, 2 + half))
    assert (gain.total_low, gain.total_high) == pytest.approx((600 - 300 * half, 600 + 300 * half))


def test_there_is_no_interval_before_it_holds():
    agent = shop(holdout=0.2)
    assert agent.gain().per_decision is None
    play(agent, 400)
    early = agent.gain()
    assert early.per_decision > 0
    assert (early.ci_low, early.total_low, early.is_decided) == (None, None, False)
    assert early.verdict == "too early to say: the interval holds from 500 decisions on, and 400 have ended"
    play(agent, 100, seed=2)
    while (late := agent.gain()).n_held_out < ENOUGH:
        assert late.ci_low is None
        assert late.verdict.startswith("too early to say: the interval holds from 100 decisions in each group on, and")
        play(agent, 1, seed=late.n_chosen)
    assert agent.gain().ci_low is not None


def test_there_is_no_interval_before_rewards_have_come():
    control = Control(1)
    for number in range(4_000):
        control.hear(number % 10 == 0, 0.0, ())
    early = gain_of(control, 0.1, Named(["a"]))
    assert (early.per_decision, early.ci_low, early.is_decided) == (0.0, None, False)
    assert early.verdict.startswith("too early to say: too few rewards have differed")
    for number in range(40):
        control.hear(False, float(number % 2), ())
    assert gain_of(control, 0.1, Named(["a"])).ci_low is None  # nothing is known of those held out
    for number in range(6):
        control.hear(True, float(number % 2), ())
    assert gain_of(control, 0.1, Named(["a"])).ci_low is None
    control.hear(True, 0.0, ())
    assert gain_of(control, 0.1, Named(["a"])).ci_low is not None


@pytest.mark.heavy
@pytest.mark.parametrize("rates", [(0.0008, 0.0004), (0.0004, 0.0008), (0.004, 0.008)])
def test_the_interval_covers_where_rewards_are_rare(rates):
    """Before anyone has bought, an interval would be a point at 0."""
    n_shops, n_covered = 20, 0
    for seed in range(n_shops):
        rng, control, misses = np.random.default_rng(seed), Control(1), False
        held_out = rng.random(20_000) < 0.05
        bought = rng.random(20_000) < np.where(held_out, rates[1], rates[0])
        for number, (is_held_out, reward) in enumerate(zip(held_out.tolist(), bought.tolist(), strict=True), start=1):
            control.hear(is_held_out, float(reward), ())
            if number % 100 == 0 and (gain := gain_of(control, 0.05, Named(["a"]))).ci_low is not None:
                misses |= not gain.ci_low <= rates[0] - rates[1] <= gain.ci_high
        n_covered += not misses
    assert n_covered >= 0.95 * n_shops


def test_decisions_among_some_arms_rule_nothing_out():
    """Where only green is left, say, rewards are others: that is no evidence against it."""
    agent = cb.Agent(cb.RecommendedCORe(), ["red", "green"], seed=7, holdout=0.5)
    for _ in range(1_000):
        agent.tell(agent.ask(arms=["green"]), float(agent.n_observations % 10 == 0))
        agent.tell(agent.ask(), float(agent.n_observations % 3 > 0))
    assert agent.gain().ruled_out == ()
    counts = [moments.n for moments in agent._control.options]
    assert sum(counts) < agent.gain().n_held_out - 400


def test_verdicts_say_when_it_is_safe_to_stop():
    worse, even = Control(1), Control(1)
    for number in range(1_000):
        is_held_out = number % 5 == 0
        worse.hear(is_held_out, float(is_held_out) + number % 3, ())
        even.hear(is_held_out, float(number % 2), ())
    assert gain_of(worse, 0.2, Named(["a"])).verdict.startswith("worse than uniform choices: it is safe to stop")
    assert gain_of(even, 0.2, Named(["a"])).verdict.startswith("not known yet: per decision it is no more than ")
    agent = shop()
    play(agent, 2_000)
    assert agent.gain().is_decided
    assert agent.gain().verdict == "better than uniform choices: it is safe to stop holding out"


def test_arms_are_ruled_out_once_enough_was_held_out():
    agent = shop(holdout=0.5)
    play(agent, 5 * ENOUGH)
    assert agent.gain().ruled_out == ()
    play(agent, 15 * ENOUGH, seed=2)
    assert agent.gain().ruled_out == ("green", "blue")
    assert "ruled out: 'green', 'blue'" in repr(agent.gain())
    agent.retire_arm("green")
    agent.add_arm("new")
    assert agent.gain().ruled_out == ("blue",)


def test_only_decisions_that_ended_with_a_reward_count():
    agent = shop(holdout=0.5, window=60, default_reward=0, clock=lambda: now)
    now = 0.0
    dropped, told, open_still = agent.ask(), agent.ask(), agent.ask()
    agent.forget(dropped)
    agent.tell(told, 1.0)
    agent.observe("red", 1.0)
    assert agent.gain().n_chosen + agent.gain().n_held_out == 1
    now = 100.0
    agent.ask()  # ends what waited for too long
    assert open_still.id not in agent.pending
    assert agent.gain().n_chosen + agent.gain().n_held_out == 2


def test_without_a_share_there_is_nothing_to_compare():
    with pytest.raises(cb.BadInput, match=r"^there is nothing to compare with: this agent was made without holdout"):
        shop(holdout=0).gain()


# Kept, and done again -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"propensity_draws": 5}], ids=["asked once", "by lot"])
def test_a_twin_compares_alike(settings):
    agent = shop(holdout=0.4, **settings)
    play(agent, 300)
    waiting = [agent.ask() for _ in range(20)]
    twin = cb.Agent.from_dict(json.loads(json.dumps(agent.to_dict())))
    assert [twin.recall(decision.id) for decision in waiting] == waiting
    for decision in waiting:
        for each in (agent, twin):
            each.tell(decision.id, 1.0)
    play(agent, 50, seed=3)
    play(twin, 50, seed=3)
    assert twin.gain() == agent.gain()
    assert in_common(twin) == in_common(agent)


def test_a_durable_agent_compares_alike_after_it_is_opened_again(tmp_path):
    url = f"sqlite:///{tmp_path}/shop.db"
    agent = cb.open_agent(url, "banner", cb.RecommendedCORe(), ARMS, seed=7, holdout=0.4, synchronous="normal")
    play(agent, 200)
    waiting = [agent.ask() for _ in range(10)]
    content, gain, log = agent.to_dict(), agent.gain(), agent.log()
    agent._keep_snapshot = lambda *snapshot: None  # so that everything is done again
    agent.close()
    with cb.open_agent(url, "banner", holdout=0.4, synchronous="normal") as agent:
        assert agent.to_dict() == content
        assert agent.gain() == gain
        assert [agent.recall(decision.id) for decision in waiting] == waiting
    held_out = log.filter(log["held_out"])
    assert held_out.height == sum(decision.is_held_out for decision in waiting) + gain.n_held_out
    assert held_out["propensity"].to_list() == pytest.approx([1 / 3] * held_out.height)
    with pytest.raises(cb.BadInput, match=r"^holdout must be 0\.4, as the agent was made with, not 0\.1; to change"):
        cb.open_agent(url, "banner", holdout=0.1, synchronous="normal")


BAD = {
    "nothing of it": lambda control: control.clear(),
    "one option less": lambda control: control["options"].pop(),
    "a count below 0": lambda control: control["chosen"].__setitem__(0, -1),
    "a mean that is none": lambda control: control["held_out"].__setitem__(1, np.nan),
    "a spread below 0": lambda control: control["options"][0].__setitem__(2, -1.0),
    "a decision less": lambda control: control["pending"].pop(),
    "nobody who decided": lambda control: control["pending"].__setitem__(0, "me"),
}


@pytest.mark.parametrize("damage", BAD.values(), ids=BAD)
def test_what_was_forged_is_refused(damage):
    agent = shop()
    play(agent, 20)
    agent.ask()
    content = agent.to_dict()
    damage(content["control"])
    with pytest.raises(cb.DamagedFile):
        cb.Agent.from_dict(content)


# The interval covers --------------------------------------------------------------------------------------------------


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return import_module("gain")


@pytest.mark.heavy
@pytest.mark.parametrize("law", ["lognormal", "Pareto", "purchases"])
@pytest.mark.parametrize(
    ("n_runs", "n_decisions"), [(15, 4_000), pytest.param(1_000, 20_000, marks=pytest.mark.endurance)]
)
def test_the_interval_covers_whenever_one_looks(script, law, n_runs, n_decisions):
    """At full size the same simulation fills the guide."""
    covered = sum(script.covers_always(law, seed, n_decisions) for seed in range(n_runs))
    assert covered >= 0.95 * n_runs - (n_runs < 100)


@pytest.mark.heavy
def test_a_plain_interval_would_not_cover():
    """Whoever looks 200 times at a normal interval sees it miss; this one is for looking."""
    rng, n = np.random.default_rng(1), np.arange(1_000, 50_001, 250)
    misses = np.zeros(2)
    for _ in range(200):
        z = np.abs(np.cumsum(rng.normal(size=50_000))[n - 1]) / np.sqrt(n)
        wide = [width(int(each), 1_000, 0.05) for each in n]
        misses += (z > 1.96).any(), (z > wide).any()
    assert misses[0] > 50
    assert misses[1] <= 10


def test_the_guide_shows_what_is_printed():
    page = (ROOT / "docs" / "live.md").read_text()
    code, shown = re.search(r"```python\n([^`]*shop\.gain[^`]*)```\n\n```\n([^`]*)```", page).groups()
    with redirect_stdout(StringIO()) as printed:
        exec(code, {"cb": cb})
    assert printed.getvalue() == shown
