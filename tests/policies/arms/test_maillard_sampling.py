"""Maillard sampling: its probabilities are those of its formula, and its choices have them."""

import numpy as np
import pytest
from scipy import special, stats

from corebandit.parts.choose import best_arm
from corebandit.policies import MaillardSampling
from corebandit.randomness.stream import stream

HISTORY = [(0, 0.25)] * 9 + [(1, 0.9), (2, 0.1), (1, 0.4), (1, 0.2), (3, 0.3), (3, 0.5)]
COUNTS, MEANS = np.array([9, 3, 1, 2]), np.array([0.25, 0.5, 0.1, 0.4])
BERNOULLI = MEANS * np.log(MEANS / 0.5) + (1 - MEANS) * np.log((1 - MEANS) / 0.5)
CASES = [
    (MaillardSampling(), special.softmax(-COUNTS * (0.5 - MEANS) ** 2 / 0.5)),
    (MaillardSampling(sigma=0.3), special.softmax(-COUNTS * (0.5 - MEANS) ** 2 / 0.18)),
    (MaillardSampling(family="bernoulli"), special.softmax(-COUNTS * BERNOULLI)),
]
all_cases = pytest.mark.parametrize(("policy", "wanted"), CASES, ids=lambda case: getattr(case, "label", ""))


def after(policy, history, n_arms=4):
    """Return the policy's state after a history."""
    state = policy.start(n_arms, None, len(history))
    for arm, reward in history:
        state.update(arm, reward, stream(1))
    return state


def chosen(state, offered, n_draws=20_000):
    """Return how often each arm on offer is chosen."""
    rng, scores, counts = stream(2, "choosing"), np.empty(state.tally.counts.size), np.zeros(4)
    for _ in range(n_draws):
        state.score(rng, scores)
        counts[best_arm(scores, offered, rng)] += 1
    return counts[offered]


@all_cases
def test_propensities_are_those_of_the_formula(policy, wanted):
    found = np.empty(4)
    after(policy, HISTORY).fill_propensities(found)
    assert found == pytest.approx(wanted, rel=1e-12)


@all_cases
def test_choices_have_these_propensities_on_any_offer(policy, wanted):
    state = after(policy, HISTORY)
    for offered in (np.arange(4), np.array([0, 2, 3])):
        counts = chosen(state, offered)
        assert stats.chisquare(counts, counts.sum() * wanted[offered] / wanted[offered].sum()).pvalue > 1e-3


def test_far_behind_the_best_arm_proportions_are_kept():
    state = after(MaillardSampling(sigma=0.01), HISTORY)
    with_best, without = np.empty(4), chosen(state, np.array([0, 2]), 100)
    state.fill_propensities(with_best)
    assert with_best[[0, 2]].tolist() == [0.0, 0.0]  # too small for floats
    assert without.tolist() == [0, 100]  # e^-2812 to e^-800


def test_arms_never_tried_share_all_choices():
    state, found = after(MaillardSampling(), HISTORY[:9]), np.empty(4)
    state.fill_propensities(found)
    assert found.tolist() == [0, 1 / 3, 1 / 3, 1 / 3]
    assert stats.chisquare(chosen(state, np.arange(4), 3000)[1:]).pvalue > 1e-3


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="sigma must be a number above 0, not 0"):
        MaillardSampling(sigma=0)
