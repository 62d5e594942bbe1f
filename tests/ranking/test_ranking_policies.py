"""What ranking policies do with a past that can be worked out by hand."""

import importlib
import math
import pkgutil
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.catalogue import ranking_policies
from corebandit.checks import check_policy, check_ranking_policy
from corebandit.compiled.optional_methods import prepare
from corebandit.contracts.recipe import RankingPolicy
from corebandit.parts.kl import bernoulli_upper_bound
from corebandit.randomness.stream import stream
from corebandit.ranking import policies
from corebandit.ranking.policies import PBMUCB, BatchRank, CascadeKLUCB, CascadeUCB1, Ranked, RankedBandits, TopRank
from often import often

SOME = [Ranked(), CascadeKLUCB(), TopRank()]
VARIANTS = [recipe() for recipe in ranking_policies().values()] + [
    Ranked(cb.CORe(), warm_up="displayed"),
    Ranked(cb.BernoulliTS(), observes="all"),
    Ranked(cb.Giro()),
    RankedBandits(cb.CORe()),
    PBMUCB(examination=(1.0, 0.7, 0.5), epsilon=0.1),
]


@pytest.mark.heavy
@pytest.mark.parametrize("policy", often(SOME, VARIANTS, pytest.mark.thorough), ids=lambda policy: policy.label)
def test_every_ranking_policy_keeps_the_contract(policy):
    check_policy(policy)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "policy",
    often(
        [Ranked()],
        [Ranked(), Ranked(warm_up="displayed"), TopRank(), RankedBandits("CORe"), PBMUCB()],
        pytest.mark.thorough,
    ),
    ids=lambda policy: policy.label,
)
def test_ranking_policies_keep_the_contract_without_a_horizon(policy):
    check_ranking_policy(policy, horizon=None)


def test_every_ranking_policy_of_the_package_is_listed():
    for module in pkgutil.iter_modules(policies.__path__):
        for member in vars(importlib.import_module(f"corebandit.ranking.policies.{module.name}")).values():
            if isinstance(member, type) and issubclass(member, RankingPolicy) and member is not RankingPolicy:
                assert ranking_policies()[member.name] is member


# The adapter ------------------------------------------------------------------------------------------------------


def learnt(policy, rounds, n_items=4, n_positions=3, horizon=1000):
    """Return the state after some (ranking, clicks)."""
    state, rng = policy.start(n_items, n_positions, horizon, 100), stream(1, "learn")
    for ranking, clicks in rounds:
        state.learn(np.array(ranking), np.array(clicks), rng)
    return state


def ranked(state, n_places=3, seed=1):
    ranking = np.full(n_places, -1)
    rng = stream(seed, "rank")
    prepare(state, rng)
    state.rank(rng, ranking)
    return ranking.tolist()


@pytest.mark.parametrize(
    ("observes", "clicks", "counts", "sums"),
    [
        ("last_click", [1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]),
        ("last_click", [0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 0]),
        ("last_click", [1, 0, 1], [1, 0, 1, 1], [0, 0, 1, 1]),
        ("last_click", [0, 0, 0], [1, 0, 1, 1], [0, 0, 0, 0]),
        ("all", [1, 0, 0], [1, 0, 1, 1], [0, 0, 1, 0]),
        ("all", [0, 0, 0], [1, 0, 1, 1], [0, 0, 0, 0]),
    ],
)
def test_the_policy_inside_learns_from_what_was_looked_at(observes, clicks, counts, sums):
    state = learnt(Ranked(cb.UCB1(), observes=observes), [([2, 0, 3], clicks)])
    assert state.inner.counts.tolist() == counts
    assert state.inner.sums.tolist() == sums


def test_items_are_shown_by_the_scores_of_the_policy_inside():
    rounds = [([0, 1, 2], [1, 1, 1])] * 5 + [([0, 1, 3], [0, 1, 1])] * 5 + [([0, 3, 1], [0, 0, 1])] * 30
    state = learnt(Ranked(cb.EpsilonGreedy(epsilon=0.0), observes="all"), rounds)
    assert {tuple(ranked(state, 4, seed)) for seed in range(20)} == {(1, 2, 3, 0), (2, 1, 3, 0)}  # 1, 1, 1/7, 1/8


def test_cores_warm_up_shows_what_was_observed_least():
    policy = Ranked(cb.CORe())
    state = learnt(policy, [([0, 1, 2], [1, 0, 0]), ([0, 1, 3], [0, 1, 0])])
    assert state.inner.is_warming_up()
    assert set(ranked(state, 2)) == {2, 3}  # shown, but never looked at
    assert ranked(state, 4)[2:] == [1, 0]


def test_the_warm_up_by_displays_lasts_as_many_rounds_as_the_authors_and_shows_all_items_equally_often():
    horizon, n_positions = 50_000, 5
    policy = Ranked(cb.CORe(warm_up=2.0), warm_up="displayed")
    f = 2.0 * math.log(horizon) / (0.6 - 1.0 - math.log(0.6)) + 1.0
    n_rounds = math.ceil(f / n_positions)
    assert n_rounds == policy.warm_up_rounds(10, n_positions, horizon) == 40
    state, rng = policy.start(10, n_positions, horizon, 1000), stream(3, "displayed")
    shown, ranking = np.zeros(10), np.zeros(n_positions, np.int64)
    for _ in range(n_rounds):
        assert state.is_displaying()
        state.rank(rng, ranking)
        state.learn(ranking, np.array([1, 0, 0, 0, 0]), rng)
        shown[ranking] += 1
    assert not state.is_displaying()
    assert shown.tolist() == [n_rounds * n_positions / 10] * 10
    assert not state.inner.is_warming_up()


def test_without_a_horizon_the_warm_up_by_displays_ends_too():
    policy = Ranked(cb.CORe(warm_up=1.0), warm_up="displayed")
    state, rng = policy.start(4, 2, None, 1000), stream(3, "anytime")
    ranking, n_displaying = np.zeros(2, np.int64), 0
    for _ in range(100):
        n_displaying += state.is_displaying()
        state.rank(rng, ranking)
        state.learn(ranking, np.array([1, 0]), rng)
    rate = 1.0 / (0.6 - 1.0 - math.log(0.6))
    expected = next(t for t in range(1, 100) if 2 * (t - 1) >= rate * math.log(t) + 1.0) - 1
    assert n_displaying == expected


def test_a_policy_inside_may_be_given_by_name_or_description():
    policy = Ranked(cb.CORe(alpha=0.4), observes="all")
    assert Ranked(**{key: value for key, value in policy.describe().items() if key != "name"}) == policy
    assert Ranked("UCB1") == Ranked(cb.UCB1())
    assert RankedBandits({"name": "CORe", "alpha": 0.4}) == RankedBandits(cb.CORe(alpha=0.4))


def test_labels_say_what_is_not_obvious():
    assert Ranked().label == "CORe"
    assert Ranked(cb.UCB1()).label == "UCB1"
    assert Ranked(cb.CORe(alpha=0.4), warm_up="displayed").label == "Ranked(CORe(alpha=0.4), warm_up='displayed')"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Ranked(cb.LinCORe()), "policy must be a policy for arms such as CORe"),
        (lambda: Ranked(3), "policy must be a policy for arms such as CORe"),
        (lambda: Ranked("CORee"), "unknown policy 'CORee': did you mean 'CORe'?"),
        (lambda: Ranked(cb.NPTS(upper=0.5)), r"must take clicks, 0 or 1, but NPTS\(upper=0.5\)"),
        (lambda: Ranked(observes="some"), "observes must be 'last_click' or 'all', not 'some'"),
        (lambda: Ranked(warm_up="none"), "warm_up must be 'observed' or 'displayed', not 'none'"),
        (lambda: Ranked(cb.UCB1(), warm_up="displayed"), "needs a policy that has one, such as CORe, not UCB1"),
        (lambda: PBMUCB(examination=(1.0, 0.0)), "examination of position 2 must be a number above 0"),
        (lambda: PBMUCB(examination=(1.0,)).start(4, 2, 10, 10), "a probability for each of 2 positions"),
        (lambda: BatchRank().start(4, 2, None, 10), "horizon must be given"),
    ],
)
def test_wrong_parameters_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


# Upper confidence bounds ------------------------------------------------------------------------------------------

PAST = [([0, 1, 2], [0, 1, 0])] * 3 + [([2, 0, 1], [0, 0, 0])] * 2 + [([1, 2, 0], [1, 0, 0])] * 4
COUNTS, CLICKS, N_ROUNDS = [5, 9, 2], [0, 7, 0], 9  # what was looked at, by hand


def scores_after(policy):
    state = learnt(policy, PAST)
    assert ranked(state)[0] == 3  # never shown
    return state.scores[:3]


def test_cascade_ucb1_adds_its_width_to_the_mean():
    expected = [s / n + math.sqrt(1.5 * math.log(N_ROUNDS + 1) / n) for s, n in zip(CLICKS, COUNTS, strict=True)]
    np.testing.assert_allclose(scores_after(CascadeUCB1()), expected)


@pytest.mark.parametrize("c", [0.0, 3.0])
def test_cascade_klucb_inverts_the_divergence(c):
    log_t = math.log(N_ROUNDS + 1)
    level = log_t + c * math.log(log_t)
    expected = [bernoulli_upper_bound(s / n, level / n) for s, n in zip(CLICKS, COUNTS, strict=True)]
    np.testing.assert_allclose(scores_after(CascadeKLUCB(c=c)), expected)


def test_pbm_ucb_counts_displays_by_how_much_they_are_looked_at():
    e = (1.0, 0.5, 0.25)
    looks = np.array([3 * e[0] + 2 * e[1] + 4 * e[2], 3 * e[1] + 2 * e[2] + 4 * e[0], 3 * e[2] + 2 * e[0] + 4 * e[1]])
    delta = 1.1 * math.log(N_ROUNDS + 1)
    expected = np.array(CLICKS) / looks + np.sqrt(9 / looks) * np.sqrt(delta / (2 * looks))
    np.testing.assert_allclose(scores_after(PBMUCB(examination=(*e, 0.1), epsilon=0.1)), expected)


def test_pbm_ucb_assumes_that_positions_are_looked_at_in_inverse_proportion():
    assert PBMUCB().start(5, 4, None, 10).examination.tolist() == [1.0, 1 / 2, 1 / 3, 1 / 4]


# TopRank ----------------------------------------------------------------------------------------------------------


def test_toprank_compares_only_items_of_which_one_was_clicked():
    state = learnt(TopRank(), [([0, 1, 2], [1, 1, 0]), ([3, 0, 1], [0, 1, 0]), ([1, 2, 3], [0, 0, 0])])
    assert state.counts[0].tolist() == [0, 1, 2, 2]
    assert state.leads[0].tolist() == [0, 1, 2, 2]
    assert state.leads[1].tolist() == [-1, 0, 1, 1]
    assert (state.leads == -state.leads.T).all()
    assert (state.counts == state.counts.T).all()
    assert not state.beats.any()


def test_toprank_puts_an_item_ahead_at_its_threshold():
    horizon = 1000
    c = 4.0 * math.sqrt(2.0 / math.pi) / math.erf(math.sqrt(2.0))
    n_needed = next(n for n in range(1, 1000) if n >= math.sqrt(2.0 * n * math.log(c * math.sqrt(n) * horizon)))
    before = learnt(TopRank(), [([0, 1, 2], [1, 0, 0])] * (n_needed - 1), horizon=horizon)
    assert before.blocks.tolist() == [0, 0, 0, 0]
    after = learnt(TopRank(), [([0, 1, 2], [1, 0, 0])] * n_needed, horizon=horizon)
    assert after.blocks.tolist() == [0, 1, 1, 1]
    assert {ranked(after, 4, seed)[0] for seed in range(20)} == {0}
    assert len({tuple(ranked(after, 4, seed)) for seed in range(60)}) == 6  # the others in any order


def test_toprank_compares_only_within_blocks():
    state = learnt(TopRank(), [([0, 1, 2], [1, 0, 0])] * 50)
    counts = state.counts.copy()
    for _ in range(50):
        state.learn(np.array([0, 1, 2]), np.array([0, 1, 0]), stream(1))
    np.testing.assert_array_equal(state.counts[0], counts[0])
    assert state.blocks.tolist() == [0, 1, 2, 2]


def test_a_cycle_makes_one_block_of_what_is_left():
    state = TopRank().start(5, 3, 100, 100)
    for winner, loser in ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 1), (3, 4)):
        state.beats[winner, loser] = 1
    state.divide()
    assert state.blocks.tolist() == [0, 1, 1, 1, 1]


# BatchRank --------------------------------------------------------------------------------------------------------


def shown_until(state, n_rounds, clicked, seed=1):
    """Show what BatchRank wants; users click the items that are `clicked`."""
    rng, ranking = stream(seed, "batch"), np.zeros(state.lengths.size, np.int64)
    for _ in range(n_rounds):
        state.rank(rng, ranking)
        state.learn(ranking, np.isin(ranking, clicked).astype(np.int64), rng)


def test_batchrank_observes_all_items_equally_often_at_all_positions():
    state, rng = BatchRank().start(4, 2, 10**6, 100), stream(2, "batch")
    ranking, places = np.zeros(2, np.int64), np.zeros((4, 2))
    for _ in range(400):
        state.rank(rng, ranking)
        state.learn(ranking, np.zeros(2, np.int64), rng)
        places[ranking, [0, 1]] += 1
        if state.stages[0] == 0:
            assert np.ptp(state.counts) <= 1
    assert places.sum(axis=1).tolist() == [200] * 4
    assert (abs(places - 100) < 40).all()


def test_batchrank_splits_once_the_bounds_are_apart_and_then_settles():
    horizon = 1000
    per_stage = math.ceil(16 * math.log(horizon))
    state = BatchRank().start(4, 3, horizon, 100)
    shown_until(state, 2 * per_stage - 1, clicked=[2, 0])  # one round counts three items, the next the fourth
    assert state.lengths.tolist() == [3, 0, 0]
    shown_until(state, 1, clicked=[2, 0])
    assert state.lengths.tolist() == [2, 0, 1]
    assert state.batches.tolist() == [0, 2, 0, 2]
    assert state.stages.tolist() == [0, 0, 0]


def test_batchrank_drops_what_cannot_be_among_the_best():
    horizon = 1000
    state = BatchRank().start(3, 2, horizon, 100)
    shown_until(state, 2 * math.ceil(16 * math.log(horizon)), clicked=[0, 1])
    assert state.batches.tolist() == [0, 0, -1]
    assert state.stages[0] == 1
    assert set(ranked(state, 2)) == {0, 1}


def test_batchrank_plays_a_single_round():
    state = BatchRank().start(3, 2, 1, 10)
    shown_until(state, 40, clicked=[0])
    assert np.isfinite(state.lower).all()
    assert sorted(ranked(state, 2))[0] >= 0


# Ranked bandits ---------------------------------------------------------------------------------------------------


def test_a_duplicate_is_replaced_at_random_and_its_pick_paid_nothing():
    policy = RankedBandits(cb.EpsilonGreedy(epsilon=0.0))
    state = policy.start(4, 2, 100, 100)
    for bandit in state.bandits:
        for item in range(4):
            bandit.update(item, 1.0 if item == 2 else 0.0, stream(1))
    shown = {tuple(ranked(state, 2, seed)) for seed in range(60)}
    assert shown == {(2, 0), (2, 1), (2, 3)}
    ranking = np.array(ranked(state, 2))
    assert state.picks.tolist() == [2, 2]
    state.learn(ranking, np.array([1, 1]), stream(1))
    assert [bandit.counts[2] for bandit in state.bandits] == [2, 2]
    assert [bandit.sums[2] for bandit in state.bandits] == [2, 1]
    assert state.bandits[1].counts[ranking[1]] == 1


def test_clicks_on_another_ranking_count_for_what_was_shown():
    state = RankedBandits(cb.UCB1()).start(4, 2, 100, 100)
    shown = ranked(state, 2)
    other = [item for item in range(4) if item not in shown]
    state.learn(np.array(other), np.array([0, 1]), stream(1))
    assert state.bandits[0].counts[other[0]] == state.bandits[1].counts[other[1]] == 1
    assert state.bandits[1].sums[other[1]] == 1


def test_late_clicks_are_paid_even_where_a_position_shows_the_same_again():
    policy = RankedBandits(cb.EpsilonGreedy(epsilon=0.0))
    state = policy.start(4, 2, 100, 100)
    for bandit in state.bandits:
        for item in range(4):
            bandit.update(item, 1.0 if item == 2 else 0.0, stream(1))
    last = ranked(state, 2)  # the second bandit wanted 2 as well
    late = [next(item for item in range(4) if item not in last), last[1]]
    state.learn(np.array(late), np.array([0, 1]), stream(1))
    assert state.bandits[1].sums[last[1]] == 1
    assert state.bandits[1].sums[2] == 1  # from before


# The contract -----------------------------------------------------------------------------------------------------


class RoundRobin(NamedTuple):
    counts: np.ndarray

    def rank(self, rng, ranking):
        for position in range(ranking.size):
            ranking[position] = (self.counts[0] + position) % self.counts.size

    def learn(self, ranking, clicks, rng):
        self.counts[0] += 1


class Repeating(RoundRobin):
    def rank(self, rng, ranking):
        for position in range(ranking.size):
            ranking[position] = 0


class Spoiling(RoundRobin):
    def rank(self, rng, ranking):
        for position in range(ranking.size):
            ranking[position] = position

    def learn(self, ranking, clicks, rng):
        clicks[0] = 1


class Deaf(NamedTuple):
    counts: np.ndarray

    def rank(self, rng, ranking):
        for position in range(ranking.size):
            ranking[position] = position


@dataclass(frozen=True)
class Own(RankingPolicy):
    kind: str

    def start(self, n_items, n_positions, horizon, capacity):
        state = {"repeats": Repeating, "spoils": Spoiling, "deaf": Deaf, "favours": RoundRobin}[self.kind]
        return state(np.zeros(n_items, np.int64))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("repeats", r"after 0 rounds rank gave \[0, 0, 0\], not 3 different items of 5"),
        ("spoils", "learn changed the ranking or the clicks"),
        ("deaf", r"its state has no method learn\(ranking, clicks, rng\)"),
        ("favours", "its rankings depend on the order of the items"),
    ],
)
def test_a_ranking_policy_that_breaks_the_contract_is_told_how(kind, sentence):
    with pytest.raises(cb.CheckFailed, match=sentence):
        check_ranking_policy(Own(kind))


class SmoothedState(NamedTuple):
    """Allocates in every round, which built-in states never do."""

    counts: np.ndarray
    sums: np.ndarray

    def score(self, rng, scores):
        scores[:] = (self.sums + 1.0) / (self.counts + 1.0)

    def update(self, arm, reward, rng):
        self.counts[arm] += 1
        self.sums[arm] += reward


@dataclass(frozen=True)
class Smoothed(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return SmoothedState(np.zeros(n_arms), np.zeros(n_arms))


@pytest.mark.parametrize(
    "policy",
    often([Ranked(Smoothed())], [Ranked(Smoothed()), RankedBandits(Smoothed())]),
    ids=lambda policy: policy.label,
)
def test_a_policy_of_your_own_ranks_too(policy):
    check_ranking_policy(policy)


def test_only_ranking_policies_are_checked_as_such():
    with pytest.raises(cb.CheckFailed, match="derives from RankingPolicy"):
        check_ranking_policy(cb.CORe())
