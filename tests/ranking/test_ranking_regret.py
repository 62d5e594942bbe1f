"""Regret of ranking policies: what they are made for they learn."""

import numpy as np
import pytest

import corebandit as cb
from corebandit.clicks.models import CM
from corebandit.ranking.policies import PBMUCB, BatchRank, CascadeKLUCB, CascadeUCB1, Ranked, RankedBandits, TopRank
from often import often
from playing import EASY_CASCADE, EASY_POSITIONS, LINEAR, play

N_ROUNDS = 400_000

ELIMINATING = often([TopRank()], [TopRank(), BatchRank()], pytest.mark.thorough)
FOR_CASCADES = [
    *(Ranked(), CascadeKLUCB()),
    *often([], [Ranked(cb.BernoulliTS()), CascadeUCB1()], pytest.mark.thorough),
]


@pytest.mark.heavy
@pytest.mark.parametrize("policy", ELIMINATING, ids=lambda policy: policy.label)
@pytest.mark.parametrize("model", [EASY_CASCADE, EASY_POSITIONS], ids=lambda model: model.name)
def test_elimination_finds_the_best_list_and_stays_there(policy, model):
    regret, _ = play(policy, model, N_ROUNDS)
    assert regret[-1] > 0.0
    assert regret[-1] == regret[N_ROUNDS // 2 - 1]  # nothing is lost in the second half
    assert regret[-1] < 0.1 * N_ROUNDS


@pytest.mark.heavy
@pytest.mark.parametrize("policy", ELIMINATING, ids=lambda policy: policy.label)
def test_elimination_under_a_cascade_soon_loses_hardly_anything(policy):
    # Lower positions are hardly ever looked at, so telling the last items apart takes millions of rounds.
    regret, _ = play(policy, CM(LINEAR), N_ROUNDS)
    assert regret[-1] - regret[N_ROUNDS // 2 - 1] < 5e-4 * N_ROUNDS / 2


@pytest.mark.heavy
@pytest.mark.parametrize("policy", FOR_CASCADES, ids=lambda policy: policy.label)
def test_policies_for_cascades_lose_little_on_them(policy):
    regret, _ = play(policy, CM((0.3,) * 5 + (0.1,) * 5), 20_000)
    at_random = 20_000 * ((0.7 * 0.9) ** 2.5 - 0.7**5)  # about what a list with half of the good items loses
    assert regret[-1] < 0.1 * at_random
    assert regret[-1] - regret[9999] < 0.5 * regret[9999]


@pytest.mark.thorough
def test_the_position_based_model_needs_policies_that_know_of_it():
    n_rounds = 50_000
    last_click, everything, known = (
        play(policy, EASY_POSITIONS, n_rounds)[0]
        for policy in (Ranked(), Ranked(observes="all"), PBMUCB(examination=EASY_POSITIONS.examination))
    )
    growth = [float(regret[-1] - regret[n_rounds // 2]) for regret in (last_click, everything, known)]
    assert growth[1] < 0.1 * growth[0]
    assert growth[2] < 0.5 * growth[0]


@pytest.mark.thorough
def test_ranked_bandits_learn_at_every_position():
    regret, state = play(RankedBandits("CORe"), EASY_POSITIONS, 50_000)
    assert regret[-1] - regret[24_999] < 0.1 * regret[24_999]
    best = [int(np.argmax(bandit.counts)) for bandit in state.bandits]
    assert len(set(best)) == 5
