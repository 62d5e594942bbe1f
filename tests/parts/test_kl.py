"""Divergences are those of textbooks, and the bounds solve their equation."""

import math

import numpy as np
import pytest

from corebandit.parts.kl import Family, bernoulli_kl, bernoulli_upper_bound


def plain_kl(p: float, q: float) -> float:
    """Write the divergence down as in the textbook, for p and q strictly between 0 and 1."""
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.75), (0.2, 0.1), (0.9, 0.99), (0.3, 0.3)])
def test_divergence_is_the_textbook_formula(p, q):
    assert bernoulli_kl(p, q) == pytest.approx(plain_kl(p, q), abs=1e-15)


def test_divergence_at_the_ends():
    assert bernoulli_kl(0.0, 0.25) == pytest.approx(-math.log(0.75))
    assert bernoulli_kl(1.0, 0.25) == pytest.approx(-math.log(0.25))
    assert bernoulli_kl(0.0, 0.0) == bernoulli_kl(1.0, 1.0) == 0.0
    assert bernoulli_kl(0.5, 0.0) == bernoulli_kl(0.5, 1.0) == bernoulli_kl(0.0, 1.0) == math.inf


def test_divergence_of_near_neighbours_keeps_its_digits():
    gap = 1e-9
    assert bernoulli_kl(0.5, 0.5 + gap) == pytest.approx(2 * gap**2, rel=1e-6)


def test_upper_bound_solves_its_equation_everywhere():
    rng = np.random.default_rng(3)
    means = np.concatenate(
        [rng.random(1000), 10.0 ** rng.uniform(-300, 0, 1000), 1 - 10.0 ** rng.uniform(-15, 0, 1000)]
    )
    for p, divergence in zip(means, 10.0 ** rng.uniform(-15, 1.5, means.size), strict=True):
        q = bernoulli_upper_bound(p, divergence)
        below, above = q - 1e-9, q + 1e-9
        assert below <= p or bernoulli_kl(p, below) <= divergence
        assert above >= 1.0 or bernoulli_kl(p, above) >= divergence
        assert p <= q <= 1.0


def test_upper_bound_at_the_ends():
    assert bernoulli_upper_bound(0.0, math.log(2)) == pytest.approx(0.5, abs=1e-9)
    assert bernoulli_upper_bound(5e-324, math.log(2)) == pytest.approx(0.5, abs=1e-9)
    assert bernoulli_upper_bound(1.0, 0.1) == 1.0
    assert bernoulli_upper_bound(0.4, 0.0) == 0.4
    assert bernoulli_upper_bound(0.4, 1e6) == 1.0


@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_a_gaussian_family_has_closed_forms(sigma):
    family = Family(True, sigma)
    assert family.divergence(0.2, 0.9) == pytest.approx(0.7**2 / (2 * sigma**2))
    assert family.upper_bound(0.2, family.divergence(0.2, 0.9)) == pytest.approx(0.9)


def test_a_bernoulli_family_has_those_above():
    family = Family(False, 0.5)
    assert family.divergence(0.2, 0.9) == bernoulli_kl(0.2, 0.9)
    assert family.upper_bound(0.2, 0.3) == bernoulli_upper_bound(0.2, 0.3)
