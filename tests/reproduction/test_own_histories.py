"""What is read off LinCORe's own histories; `paper/test_lemmas.py` has what it is worth."""

import math

import numpy as np
import pytest

from corebandit.experiments.curve import Curve
from corebandit.policies import LinCORe
from corebandit.randomness.stream import stream
from corebandit.reproduction import own_histories as own
from corebandit.reproduction.theory import regret_bound
from corebandit.reproduction.watched import EDGES

POLICY = LinCORe(z=0.5, sampler="exact")


def seen(**measures):
    measures = {name.replace("_", " "): np.array(values, dtype=float) for name, values in measures.items()}
    return Curve("f", "p", "l", "t", np.array([1]), np.zeros((1, 1)), 0.0, measures)


def spreads(shares, draws=1000.0):
    named = {f"spread {edge:.3g}": np.array([share * draws]) for edge, share in zip(EDGES, shares, strict=True)}
    return Curve("f", "p", "l", "t", np.array([1]), np.zeros((1, 1)), 0.0, {"draws": np.array([draws]), **named})


def test_a_bound_is_broken_where_it_has_less_room_than_one():
    curve = seen(size_room=[0.5, 0.99, 1.0, 3.0])
    assert own.n_broken(curve, "size") == 2


@pytest.mark.parametrize(("promise", "margin"), [(0.0, 2.0), (0.19, 2.0), (0.2, 3.0), (0.5, 4.0)])
def test_the_margin_is_the_tightening_that_breaks_as_many_as_allowed_and_no_more(promise, margin):
    curve = seen(size_room=[4.0, 3.0, 2.0, 6.0, 5.0])
    assert own.margin(curve, "size", promise) == margin
    assert np.mean(own.rooms(curve, "size") < margin) <= promise


@pytest.mark.parametrize(("scale", "margin"), [(0.25, 4.0), (0.5, 2.0), (0.99, 1.0), (1.01, 0.0)])
def test_the_margin_of_noise_is_how_much_larger_it_could_be(scale, margin):
    shares = [own.concentration_tail(edge / scale, 1.0) for edge in EDGES.tolist()]  # as large as allowed, were it 1
    assert own.spread_margin(spreads(np.minimum(shares, 1.0))) == pytest.approx(margin)


def test_draws_of_a_past_count_as_one_where_they_all_go_as_far_or_none():
    together = seen(spread_4=[10.0, 0.0] * 50, draws=[10.0] * 100)
    assert own.clustering(together, "spread", 12) == pytest.approx(10.0 * 100 / 99)
    apart = np.random.default_rng(3).binomial(1000, 0.1, 400)
    assert own.clustering(seen(spread_4=apart, draws=[1000.0] * 400), "spread", 12) == pytest.approx(1.0, abs=0.15)
    assert own.clustering(seen(spread_4=[0.0, 0.0], draws=[10.0, 10.0]), "spread", 12) == 1.0


def test_the_longest_row_and_theta_are_those_of_the_problems():
    instance = own.PROBLEM.draw(stream(3))
    assert np.linalg.norm(instance.features, axis=1).max() == pytest.approx(own.LONGEST_ROW)
    assert np.linalg.norm(instance.theta) == pytest.approx(own.LONGEST_THETA)


def test_constants_are_those_of_the_theorem():
    policy = own.with_theorem_alpha(POLICY, 150)
    lengths = {"longest_row": math.sqrt(2.0), "longest_theta": math.sqrt(0.5)}
    bound = regret_bound(150, 5, 20, sigma=0.5, z=0.5, lam=policy.lam, **lengths)
    watched = own.watched(policy, 150, 0)
    assert (policy.alpha, watched.radius) == pytest.approx((bound.alpha, bound.c1))
    assert (watched.floor, watched.ceiling) == pytest.approx((bound.eta2, bound.a))
    # No λ takes more away than all that the theorem lets it: a quarter.
    assert own.promised_optimism(policy, 150) > bound.p3 > 0.0
    assert own.promised_optimism(POLICY, 150) < 0.0  # for alpha = 0.6 nothing is promised
