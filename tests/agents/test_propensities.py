"""Propensities: what an agent says its choices were made with is what they were made with."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import corebandit as cb
from often import often

ARMS = ["red", "green", "blue", "grey"]
MEANS = {"red": 0.3, "green": 0.5, "blue": 0.6, "grey": 0.55}
ROWS = np.random.default_rng(5).normal(size=(4, 3))
POLICIES = {
    "UCB1": cb.UCB1(),  # which has ties: rewards are 0 or 1
    "CORe": cb.CORe(warm_up=0.1),
    "BernoulliTS": cb.BernoulliTS(),
    "SSMC": cb.SSMC(),
    "PHE": cb.PHE(),
    "EpsilonGreedy": cb.EpsilonGreedy(),
    "LinTS": cb.LinTS(),
    "LinCORe": cb.LinCORe(warm_up=0.1),
}
SOME = ("UCB1", "CORe", "LinTS")
LIMITS = {"told at once": 0, "told late, so that arms are capped": 30}


def made(policy, **settings):
    return cb.Agent(policy, ARMS, **{"seed": 7, "propensity_draws": 20, **settings})


def asked(agent):
    return agent.ask(ROWS) if isinstance(agent.policy, cb.FeaturePolicy) else agent.ask()


def play(agent, n_decisions, delay):
    """Yield the decisions of an agent whose rewards are told so many decisions later."""
    rng, waiting = np.random.default_rng(11), []
    for _ in range(n_decisions):
        waiting.append(asked(agent))
        yield waiting[-1]
        if len(waiting) > delay:
            told = waiting.pop(0)
            agent.tell(told, float(rng.random() < MEANS[told.arm]))


def p_value(likely, chosen):
    """Return how likely choices are to be this far from their probabilities, which may depend on those before.

    What is observed less what is expected adds up to a martingale, which is normal in the end, with the covariances of
    all decisions added up: one chi-square test over all options.
    """
    likely, chosen = np.array(likely), np.array(chosen)
    surplus = (chosen - likely).sum(axis=0)
    covariance = np.diag(likely.sum(axis=0)) - likely.T @ likely
    values, directions = np.linalg.eigh(covariance)
    counts = values > 0.5  # else nothing was left to chance
    assert counts.any()
    return stats.chi2.sf(((directions.T @ surplus)[counts] ** 2 / values[counts]).sum(), counts.sum())


def as_numbers(decision):
    return [decision.propensities.get(arm, 0.0) for arm in ARMS], [arm == decision.arm for arm in ARMS]


def compare(name, n_decisions, delay):
    agent = made(POLICIES[name], patience=3, min_propensity=0.01 if delay else 0.0)
    decisions = list(play(agent, n_decisions, delay))
    if delay:  # all that may be chosen have a propensity, and sometimes some may not
        assert len({len(decision.propensities) for decision in decisions}) > 1
    likely, chosen = zip(*map(as_numbers, decisions), strict=True)
    assert np.abs(np.sum(likely, axis=1) - 1.0).max() <= 1e-12
    assert all(p > 0.0 for row, flags in zip(likely, chosen, strict=True) for p, f in zip(row, flags, strict=True) if f)
    return p_value(likely, chosen)


@pytest.mark.heavy
@pytest.mark.parametrize("delay", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("name", often(SOME, POLICIES, pytest.mark.thorough))
def test_choices_are_as_frequent_as_their_propensities_say(name, delay):
    assert compare(name, 2_000, delay) > 0.001


@pytest.mark.endurance
@pytest.mark.parametrize("delay", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("name", POLICIES)
def test_many_choices_are_as_frequent_as_their_propensities_say(name, delay):
    assert compare(name, 20_000, delay) > 0.001


def compare_places(n_decisions, delay):
    agent = cb.RankingAgent(
        cb.Ranked(cb.CORe(warm_up=0.1)), ARMS, 2, seed=7, propensity_draws=20, patience=3, min_propensity=0.01
    )
    rng, waiting, seen = np.random.default_rng(3), [], []
    for _ in range(n_decisions):
        waiting.append(agent.ask())
        seen.append(waiting[-1])
        if len(waiting) > delay:
            told = waiting.pop(0)
            agent.tell(told, [item for item in told.items if rng.random() < MEANS[item]])
    for place in range(2):
        likely = [[ranking.propensities[place].get(item, 0.0) for item in ARMS] for ranking in seen]
        assert np.abs(np.sum(likely, axis=1) - 1.0).max() <= 1e-12
        assert (len({len(ranking.propensities[place]) for ranking in seen}) > 1) == (delay > 0)  # some are left out
        yield p_value(likely, [[item == ranking.items[place] for item in ARMS] for ranking in seen])


@pytest.mark.heavy
@pytest.mark.parametrize("delay", LIMITS.values(), ids=LIMITS)
def test_items_are_as_frequent_at_each_place_as_their_propensities_say(delay):
    assert min(compare_places(1_000, delay)) > 0.001


@pytest.mark.endurance
@pytest.mark.parametrize("delay", LIMITS.values(), ids=LIMITS)
def test_many_items_are_as_frequent_at_each_place_as_their_propensities_say(delay):
    assert min(compare_places(20_000, delay)) > 0.001


def frequencies(agent, n):
    """Return how often each arm is chosen as things are."""
    counts = dict.fromkeys(ARMS, 0)
    for _ in range(n):
        decision = asked(agent)
        counts[decision.arm] += 1
        agent.forget(decision)
    return np.array(list(counts.values()))


def taught(policy, **settings):
    agent = made(policy, **settings)
    for step in range(24):
        x = ROWS[step % 4] if isinstance(policy, cb.FeaturePolicy) else None
        agent.observe(ARMS[step % 4], float(step % 3 == 0), x)
    return agent


@pytest.mark.heavy
@pytest.mark.parametrize("name", often(SOME, POLICIES, pytest.mark.thorough))
def test_one_of_many_draws_chooses_as_the_policy_itself_does(name):
    plain, drawn = taught(POLICIES[name], propensity_draws=None, seed=1), taught(POLICIES[name], seed=2)
    table = np.array([frequencies(plain, 2_000), frequencies(drawn, 2_000)])
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] == 1 or stats.chi2_contingency(table).pvalue > 0.001


def test_propensities_are_those_of_the_draws_and_do_not_know_what_was_chosen():
    agent = taught(cb.BernoulliTS(), propensity_draws=50)
    decisions = []
    for _ in range(400):
        decisions.append(asked(agent))
        agent.forget(decisions[-1])
    likely = np.array([as_numbers(decision)[0] for decision in decisions])
    assert np.allclose(likely * 50, np.round(likely * 50))
    p, spread = likely.mean(axis=0), likely.var(axis=0)
    assert spread == pytest.approx(p * (1.0 - p) / 50, rel=0.3)  # of 50 draws each: that of one would be 50 times this


def test_ties_are_broken_draw_by_draw():
    decision = made(cb.UCB1(), propensity_draws=10_000).ask()
    assert list(decision.propensities) == ARMS
    assert decision.propensities == pytest.approx(dict.fromkeys(ARMS, 0.25), abs=0.02)
    assert decision.propensity == decision.propensities[decision.arm]


def test_the_plain_policy_does_not_know_its_propensities():
    decision = cb.Agent(cb.UCB1(), ["only"]).ask()
    assert decision.propensities is None
    assert decision.propensity is None
    assert cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2).ask().propensities is None


def test_what_is_asked_decides_and_not_what_was_learnt():
    agent = taught(cb.UCB1())
    assert agent.ask(arms=["grey"])[0] == "grey"
    assert agent.ask(arms=["grey"]).propensities == {"grey": 1.0}
    rows = cb.Agent(cb.LinTS(), seed=1, propensity_draws=100)
    decision = rows.ask(ROWS[:3])
    assert set(decision.propensities) == {0, 1, 2}
    rows.tell(decision.id, 1.0)
    assert set(rows.ask(np.vstack([ROWS, ROWS])).propensities) <= set(range(8))


# The least propensity ---------------------------------------------------------------------------------------------


def test_every_arm_that_may_be_chosen_has_the_least_propensity():
    agent = made(cb.UCB1(), min_propensity=0.05, propensity_draws=10, patience=0)
    sizes = set()
    for _ in range(200):
        decision = agent.ask()
        sizes.add(len(decision.propensities))
        assert min(decision.propensities.values()) >= 0.05
        assert abs(sum(decision.propensities.values()) - 1.0) <= 1e-12
    assert sizes == {1, 2, 3, 4}  # while decisions wait, arms with many of them may not be chosen


def test_the_least_propensity_is_a_share_of_uniform_choices():
    agent = made(cb.EpsilonGreedy(epsilon=0.0), min_propensity=0.05, propensity_draws=10)
    for arm in ARMS:
        for _ in range(3):
            agent.observe(arm, MEANS[arm])
    decision = agent.ask()
    assert decision.propensities == pytest.approx({"red": 0.05, "green": 0.05, "blue": 0.85, "grey": 0.05}, abs=1e-12)
    agent.forget(decision)
    assert stats.chisquare(frequencies(agent, 4_000), 4_000 * np.array([0.05, 0.05, 0.85, 0.05])).pvalue > 0.001
    assert agent.probabilities() == pytest.approx(decision.propensities, abs=1e-12)


@pytest.mark.heavy
@pytest.mark.parametrize(("floor", "is_biased"), [(0.0, True), (0.01, False)])
def test_estimates_by_inverse_propensities_are_biased_without_a_floor_and_not_with_one(floor, is_biased):
    means = np.array([0.2, 0.4, 0.5, 0.6])  # docs/guide.md has more of this
    estimates = []
    for seed in range(8):
        rng, total = np.random.default_rng(seed), 0.0
        agent = cb.Agent(cb.BernoulliTS(), range(4), seed=seed, propensity_draws=100, min_propensity=floor)
        for _ in range(1_000):
            decision = agent.ask()
            reward = float(rng.random() < means[decision.arm])
            agent.tell(decision, reward)
            total += reward / (4 * decision.propensity)
        estimates.append(total / 1_000)
    error = np.std(estimates, ddof=1) / math.sqrt(len(estimates))
    assert (np.mean(estimates) < means.mean() - 4 * error) == is_biased


def test_a_uniform_choice_alone_is_the_most_that_can_be_asked_for():
    agent = made(cb.UCB1(), min_propensity=0.25)
    assert agent.ask().propensities == dict.fromkeys(ARMS, 0.25)
    ranking = cb.RankingAgent(cb.CascadeUCB1(), ARMS, 3, propensity_draws=2, min_propensity=0.25, seed=1)
    shown = ranking.ask()
    assert len(set(shown.items)) == 3
    assert shown.propensities == (dict.fromkeys(ARMS, 0.25),) * 3


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"propensity_draws": 1}, "^propensity_draws must be a whole number of at least 2, not 1$"),
        ({"propensity_draws": True}, "^propensity_draws must be a whole number of at least 2, not True$"),
        ({"propensity_draws": 10, "min_propensity": -0.1}, "^min_propensity must be a number of at least 0 and of at"),
        ({"propensity_draws": 10, "min_propensity": "1"}, "^min_propensity must be a number of at least 0 .* not '1'$"),
        (
            {"propensity_draws": None, "min_propensity": 0.1},
            "^min_propensity=0.1 needs propensity_draws, such as 100: ",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, sentence):
    with pytest.raises(cb.BadInput, match=sentence):
        made(cb.UCB1(), **settings)
    with pytest.raises(cb.BadInput, match=sentence):
        cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, **settings)


def test_too_many_arms_for_the_least_propensity_are_refused_when_asked_for():
    agent = made(cb.UCB1(), min_propensity=0.25)
    agent.add_arm("violet")
    rows = cb.Agent(cb.LinTS(), propensity_draws=5, min_propensity=0.3)
    ranking = cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, propensity_draws=5, min_propensity=0.3)
    calls = {
        agent: [agent.ask, agent.probabilities],
        rows: [lambda: rows.ask(ROWS), lambda: rows.probabilities(ROWS)],
        ranking: [ranking.ask, ranking.probabilities],
    }
    for each, ways in calls.items():
        before = each.to_dict()
        for call in ways:
            with pytest.raises(cb.BadInput, match=r"^min_propensity must be at most 1/. where . are on offer, not 0\."):
                call()
        assert each.to_dict() == before
    agent.ask(arms=ARMS)


def test_bad_features_change_nothing_where_propensities_are_drawn():
    agent = made(cb.LinTS())
    asked(agent)
    before = agent.to_dict()
    for features, sentence in [
        (np.where(ROWS > 0, np.nan, ROWS), "features must be finite"),
        (ROWS[:, :2], "features must hold 3 numbers for each option, as before, not 2"),
        (None, "chooses by features"),
    ]:
        for ask in (agent.ask, agent.probabilities):
            with pytest.raises(cb.BadFeatures, match=sentence):
                ask(features)
    assert agent.to_dict() == before


def test_a_model_that_is_fitted_now_and_then_has_no_propensities():
    with pytest.raises(cb.BadInput, match=r"^propensity_draws must be None for EstimatorCORe: its model is fitted now"):
        cb.Agent(cb.EstimatorCORe(), propensity_draws=10)


# Rankings ---------------------------------------------------------------------------------------------------------


def test_what_a_ranking_policy_notes_is_the_ranking_that_is_shown():
    agent = cb.RankingAgent(cb.RankedBandits(cb.UCB1()), ARMS, 2, seed=7, propensity_draws=10)
    for step in range(60):
        ranking = agent.ask()
        assert tuple(ARMS[index] for index in agent._desk.state.shown) == ranking.items
        agent.tell(ranking, ranking.items[: step % 2])


@pytest.mark.parametrize("draws", [None, 5])
def test_a_policy_that_cannot_be_told_what_is_on_offer_shows_different_items_however_many_rankings_wait(draws):
    for policy in (cb.RankedBandits(cb.UCB1()), cb.BatchRank()):
        agent = cb.RankingAgent(policy, range(6), 3, seed=1, horizon=1_000, propensity_draws=draws)
        assert all(len(set(agent.ask().items)) == 3 for _ in range(60))


# Saving -----------------------------------------------------------------------------------------------------------


WAYS = {
    "arms": lambda: made(cb.UCB1(), min_propensity=0.01),
    "features": lambda: made(cb.LinTS()),
    "rankings": lambda: cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, seed=7, propensity_draws=20),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_propensities_wait_with_their_decision_and_are_saved(way, tmp_path):
    agent = way()
    decisions = [asked(agent) for _ in range(5)]
    agent.save(tmp_path / "agent.json")
    for each in (agent, agent.load(tmp_path / "agent.json"), agent.from_dict(agent.to_dict())):
        assert [each.recall(decision.id) for decision in decisions] == decisions
        assert each.settings == agent.settings
    twin = agent.from_dict(agent.to_dict())
    assert asked(agent).propensities == asked(twin).propensities
    given = decisions[0].propensities
    (given if isinstance(given, dict) else given[0]).clear()
    assert agent.recall(decisions[0].id).propensities != given  # which is the caller's to change


def test_recalling_what_does_not_wait_is_an_error():
    agent = made(cb.UCB1())
    decision = agent.ask()
    agent.tell(decision, 1.0)
    with pytest.raises(cb.AlreadyTold, match="was told or forgotten already"):
        agent.recall(decision.id)
    with pytest.raises(cb.UnknownDecision, match="must be one that ask"):
        agent.recall("nobody-0")


BAD = {
    "none of a decision": lambda known: known.pop(),
    "no chance": lambda known: known[0][0].__setitem__(1, 0.0),
    "more than all": lambda known: known[0][0].__setitem__(1, 0.9),
    "an arm that is none": lambda known: known[0][0].__setitem__(0, 99),
    "an arm twice": lambda known: known[0].append(known[0][0]),
    "not the one that was chosen": lambda known: known.__setitem__(0, [[3, 1.0]]),
    "no pairs": lambda known: known.__setitem__(0, "abc"),
}


@pytest.mark.parametrize("damage", BAD.values(), ids=BAD)
def test_forged_propensities_are_refused(damage):
    agent = made(cb.UCB1(), propensity_draws=100)
    for _ in range(3):
        agent.ask(arms=ARMS[:3])
    data = json.loads(json.dumps(agent.to_dict()))
    damage(data["pending_propensities"])
    with pytest.raises(cb.DamagedFile, match=r"^data is not a saved agent, or damaged: "):
        cb.Agent.from_dict(data)


def test_forged_propensities_of_places_are_refused():
    agent = cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, seed=7, propensity_draws=20)
    agent.ask()
    data = agent.to_dict()
    data["pending_propensities"][0].pop()
    with pytest.raises(cb.DamagedFile, match="pending_propensities must be of every place"):
        cb.RankingAgent.from_dict(data)
