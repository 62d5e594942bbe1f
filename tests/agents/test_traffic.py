"""Whoever is not heard of gets little traffic: a new option, or one whose rewards are lost on their way."""

import math
from collections import Counter, deque

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import corebandit as cb
from corebandit.agents.traffic import PATIENCE, SHARE_OF, Traffic
from corebandit.catalogue import arm_policies, policy_from
from often import often
from same_agents import in_common

OPTIONS = ["a", "b", "c", "d", "e"]
BEST = "c"
HORIZON = 100_000
ROWS = np.eye(len(OPTIONS) + 1)


class Site:
    """Somebody who asks an agent and tells what became of it: BEST pays most, and what is broken is never told of."""

    def __init__(self, policy, **settings):
        ranks = isinstance(policy, cb.RankingPolicy)
        kind, sizes = (cb.RankingAgent, (2,)) if ranks else (cb.Agent, ())
        self.agent = kind(policy, OPTIONS, *sizes, seed=3, horizon=HORIZON, **settings)
        self.rng, self.broken, self.delay, self.late = np.random.default_rng(1), None, 0, deque()

    @property
    def traffic(self):
        return self.agent._ledger.traffic

    def tally(self, option):
        return self.traffic.tallies[self.agent._options.index_of(option)]

    def is_unheard(self, option):
        return self.traffic._is_unheard(self.agent._options.index_of(option))

    def part(self):
        """Return an equal part of what waits."""
        return math.ceil(self.traffic.n_open / len(self.agent._options.on_offer))

    def ask(self):
        """Return a decision and the options it is for."""
        agent = self.agent
        if isinstance(agent, cb.RankingAgent):
            decision = agent.ask()
            return decision, decision.items
        has_features = isinstance(agent.policy, cb.FeaturePolicy)
        decision = agent.ask(ROWS[: len(agent.arms)]) if has_features else agent.ask()
        return decision, (decision.arm,)

    def tell(self, decision, chosen):
        paid = [option for option in chosen if self.rng.random() < (0.8 if option == BEST else 0.3)]
        self.agent.tell(decision, paid if isinstance(self.agent, cb.RankingAgent) else float(bool(paid)))

    def play(self, n_rounds):
        """Yield the options of each decision, before anything is told of it."""
        for _ in range(n_rounds):
            decision, chosen = self.ask()
            yield chosen
            if self.broken not in chosen:
                self.late.append((decision, chosen))
            while len(self.late) > self.delay:
                self.tell(*self.late.popleft())


def run(site, n_rounds):
    deque(site.play(n_rounds), maxlen=0)


CHEAP = ["UCB1", "CORe", "LinTS", "CascadeUCB1"]
FURTHER = ["LinCORe", "LinUCB", "Ranked(CORe())", "TopRank", "BatchRank", "RankedBandits"]
EVERY = list(dict.fromkeys([*CHEAP, *arm_policies(), *FURTHER]))
POLICIES = often(CHEAP, EVERY, pytest.mark.thorough)
WITH_NEW = often(CHEAP, [spec for spec in EVERY if spec not in ("BatchRank", "RankedBandits")], pytest.mark.thorough)
SHORT = [("UCB1", 10_000), *((spec, 3000) for spec in CHEAP[1:])]
LENGTHS = often(SHORT, [*SHORT, *((spec, 20_000) for spec in EVERY)], pytest.mark.thorough)


@pytest.mark.parametrize(
    "is_told", often([False], [True, False], pytest.mark.heavy), ids=["others are told", "nothing is told"]
)
@pytest.mark.parametrize("spec", WITH_NEW)
def test_a_new_option_gets_its_part_until_its_first_reward(spec, is_told):
    site = Site(policy_from(spec))
    run(site, 3000)
    (site.agent.add_item if isinstance(site.agent, cb.RankingAgent) else site.agent.add_arm)("NEW")
    site.broken = "NEW"
    site.delay = 0 if is_told else HORIZON
    given = 0
    for chosen in site.play(1000):
        given += "NEW" in chosen
        assert site.tally("NEW").open == given <= site.part()
    assert given <= 1 or not is_told


@pytest.mark.parametrize("case", LENGTHS, ids=str)
def test_an_option_whose_rewards_never_come_gets_its_part_only(case):
    spec, n_rounds = case
    site = Site(policy_from(spec))
    site.broken = BEST
    for _ in site.play(n_rounds):
        assert site.tally(BEST).open <= site.part()
    assert site.tally(BEST).open == 1
    assert site.tally(BEST).told == 0


@pytest.mark.parametrize("spec", POLICIES)
def test_where_all_rewards_come_late_those_that_never_come_get_their_part_only(spec):
    site = Site(policy_from(spec))
    site.broken, site.delay = BEST, 40
    for chosen in site.play(1000):
        if BEST in chosen:
            assert site.tally(BEST).open <= site.part()
    n_waiting = (site.delay + 1) * len(chosen)  # besides those of rankings with it
    assert 1 < site.tally(BEST).open <= (n_waiting + len(OPTIONS)) / (len(OPTIONS) - len(chosen))


@pytest.mark.parametrize("spec", POLICIES)
def test_an_option_whose_rewards_come_no_more_gets_no_more_once_it_counts_as_unheard(spec):
    site = Site(policy_from(spec))
    run(site, 5000)
    told = site.tally(BEST).told
    assert told > PATIENCE
    site.broken, given = BEST, 0
    was_unheard = site.is_unheard(BEST)
    for chosen in site.play(2000):
        if BEST in chosen:
            given += 1
            assert not was_unheard or site.tally(BEST).open <= site.part()
        was_unheard = site.is_unheard(BEST)
    assert given <= PATIENCE
    assert site.tally(BEST).told == told


def test_after_it_is_heard_of_again_an_option_gets_what_it_earns():
    site = Site(policy_from("UCB1"))
    run(site, 2000)
    site.broken = BEST
    run(site, 2000)
    assert site.tally(BEST).open == PATIENCE
    for decision_id, arm in site.agent.pending.items():
        assert arm == BEST
        site.agent.tell(decision_id, 1.0)
    site.broken = None
    assert Counter(arm for (arm,) in site.play(1000))[BEST] > 700


@pytest.mark.parametrize("spec", CHEAP)
def test_where_every_reward_is_told_at_once_nothing_is_ever_left_out(spec):
    usual, impatient = Site(policy_from(spec)), Site(policy_from(spec), patience=0)
    assert list(usual.play(400)) == list(impatient.play(400))
    contents = [in_common(site.agent) for site in (usual, impatient)]
    assert contents[0]["state"] == contents[1]["state"]
    assert contents[0]["rng"] == contents[1]["rng"]


def test_a_sole_option_is_always_given():
    agent = cb.Agent(cb.UCB1(), OPTIONS, seed=1, max_share=0.2)
    assert {agent.ask(arms=["b"]).arm for _ in range(300)} == {"b"}
    assert {agent.ask(arms=["b", "b"]).arm for _ in range(300)} == {"b"}
    assert agent.ask(arms=["a", "b"]).arm == "a"
    assert cb.Agent(cb.UCB1(), ["only"], seed=1, max_share=0.1).ask().arm == "only"


def test_an_agent_with_rows_for_options_counts_no_traffic():
    agent = cb.Agent(cb.LinTS(), seed=1, max_share=0.2)
    rows = [[0.0, 0.0], [1.0, 0.0]]
    for _ in range(50):
        agent.observe(1, 1.0, rows[1])
    assert Counter(agent.ask(rows).arm for _ in range(300))[1] > 250
    assert agent._ledger.traffic.n_open == 0
    assert agent.to_dict()["tallies"]["told"] == []


@pytest.mark.parametrize("delay", [40, HORIZON], ids=["late", "never"])
@pytest.mark.parametrize("spec", ["CORe", "LinCORe"])
def test_a_warm_up_tries_all_evenly_however_late_rewards_are(spec, delay):
    site, counts = Site(policy_from(spec)), Counter(dict.fromkeys(OPTIONS, 0))
    site.delay = delay
    for (arm,) in site.play(150):
        counts[arm] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


# Shares -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.25, 0.29, 0.57, 0.995])
@pytest.mark.parametrize("spec", ["UCB1", "LinTS", "CascadeUCB1"])
def test_nobody_has_more_than_the_largest_share_of_any_hundred_in_a_row(spec, share):
    site = Site(policy_from(spec), max_share=share)
    places = [option for chosen in site.play(150) for option in chosen]
    site.agent = site.agent.from_dict(site.agent.to_dict())
    places += [option for chosen in site.play(450) for option in chosen]
    shares = [max(Counter(places[start : start + SHARE_OF]).values()) for start in range(len(places) - SHARE_OF + 1)]
    most = round(share * SHARE_OF - 0.25)
    assert max(shares) <= most
    if spec == "UCB1" and share < 0.9:
        assert max(shares) == most  # no less either


@pytest.mark.parametrize("options", [{"max_share": 0.1}, {"max_share": 0.001}])
def test_shares_that_cannot_be_kept_are_kept_as_well_as_can_be(options):
    site = Site(policy_from("UCB1"), **options)
    counts = Counter(arm for (arm,) in site.play(500))
    assert set(counts.values()) == {100}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_share": 0}, "max_share must be a number above 0 and of at most 1, not 0"),
        ({"max_share": 1.01}, "max_share must be a number above 0 and of at most 1"),
        ({"max_share": math.nan}, "max_share must be a number"),
        ({"patience": -1}, "patience must be a whole number of at least 0, not -1"),
        ({"patience": 2.5}, "patience must be a whole number"),
        ({"patience": None}, "patience must be a whole number"),
    ],
)
def test_bad_limits_are_refused(options, sentence):
    with pytest.raises(cb.BadInput, match=sentence):
        cb.Agent(cb.UCB1(), OPTIONS, **options)
    with pytest.raises(cb.BadInput, match=sentence):
        cb.RankingAgent(cb.CascadeUCB1(), OPTIONS, 2, **options)


# Limits as such ---------------------------------------------------------------------------------------------------


EVENTS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 63), st.integers(0, 9)), max_size=40)


@settings(max_examples=60, deadline=None)
@given(events=EVENTS, n_options=st.integers(1, 6), patience=st.integers(0, 4), share=st.sampled_from([1.0, 0.5]))
def test_someone_is_always_left_and_nobody_unheard_gets_more_than_a_part(events, n_options, patience, share):
    traffic, waiting = Traffic(n_options, patience, share), []
    for kind, subset, place in events:
        if waiting and kind > 1:
            option = waiting.pop(place % len(waiting))
            traffic.close(option)
            if kind == 3:
                traffic.hear(option, 1.0, 0.0)
            continue
        offered = np.array([option for option in range(n_options) if subset >> option & 1] or [place % n_options])
        allowed = traffic.within_limits(offered).tolist()
        assert 0 < len(allowed) <= offered.size
        assert set(allowed) <= set(offered.tolist())
        assert allowed == sorted(set(allowed))
        option = allowed[place % len(allowed)]
        unheard = traffic._is_unheard(option)
        traffic.decide(option)
        waiting.append(option)
        if unheard and offered.size > 1 and share == 1.0:
            assert traffic.tallies[option].open <= math.ceil(traffic.n_open / offered.size)
        assert traffic.n_open == len(waiting) == sum(tally.open for tally in traffic.tallies)


@settings(max_examples=40, deadline=None)
@given(sizes=st.tuples(st.integers(2, 7), st.integers(2, 7)).filter(lambda sizes: sizes[0] >= sizes[1]), data=st.data())
def test_several_at_once_have_their_part_or_one_more_where_too_few_others_are_left(sizes, data):
    n_options, n_chosen = sizes
    traffic = Traffic(n_options)
    for _ in range(data.draw(st.integers(1, 30))):
        allowed = traffic.within_limits(np.arange(n_options), n_chosen).tolist()
        assert len(set(allowed)) == len(allowed) >= n_chosen
        for option in data.draw(st.permutations(allowed))[:n_chosen]:
            traffic.decide(option)
        most = max(tally.open for tally in traffic.tallies)
        assert most <= math.ceil(traffic.n_open / n_options) + (n_options % n_chosen > 0)


@pytest.mark.parametrize("policy", [cb.BatchRank(), cb.RankedBandits()], ids=lambda policy: policy.label)
def test_who_cannot_be_told_what_is_on_offer_shows_different_items_too(policy):
    site = Site(policy)
    site.delay = 7
    for chosen in site.play(300):
        assert len(set(chosen)) == 2
    site.agent.from_dict(site.agent.to_dict())


def test_what_is_not_allowed_gives_way_to_what_waits_least():
    traffic, shown = Traffic(5), np.array([4, 0, 2])
    for option in (1, 1, 3):
        traffic.decide(option)
    traffic.replace(shown, np.array([0, 1, 3]))
    assert shown.tolist() == [3, 0, 1]


def test_a_tally_says_what_became_of_an_option():
    rewards, now = [0.5, 2.0, -1.0, 4.0], [100.0]
    agent = cb.Agent(cb.UCB1(), ["a"], seed=1, clock=lambda: now[0])
    for reward in rewards[:3]:
        agent.tell(agent.ask(), reward)
    now[0] = 105.0
    agent.observe("a", rewards[3])
    agent.ask()
    saved = agent.to_dict()["tallies"]
    assert {name: saved[name] for name in ("told", "unanswered", "patience", "last_told", "late")} == {
        **{"told": [4], "unanswered": [1], "patience": [4], "last_told": [105.0], "late": [0]}
    }
    np.testing.assert_allclose(saved["mean"], np.mean(rewards))
    np.testing.assert_allclose(saved["spread"], 4 * np.var(rewards))
