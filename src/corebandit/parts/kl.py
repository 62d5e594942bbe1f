"""Divergences of one-parameter families of laws, and the confidence bounds that they give.

    kl(p, q)     the divergence of the law of mean p from the law of mean q
    upper bound  max{q : kl(p, q) <= divergence}

The Bernoulli family covers any rewards in [0, 1]; the Gaussian one, of variance sigma^2, sigma-sub-Gaussian rewards.
"""

import math
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing, inlined, kernel
from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL, Policy
from corebandit.contracts.validate import check_choice, check_number

FAMILIES = ("bernoulli", "gaussian")
SMALLEST_MEAN = 1e-100  # below, q / p may overflow, and p is as good as 0
PRECISION = 1e-10
MOST_STEPS = 100


@inlined
def bernoulli_kl(p: float, q: float) -> float:
    """Return the divergence of Bernoulli(p) from Bernoulli(q), to full relative precision even where p is near q."""
    if (q <= 0.0 and p > 0.0) or (q >= 1.0 and p < 1.0):
        return math.inf
    divergence = 0.0
    if p > SMALLEST_MEAN:
        divergence -= p * math.log1p((q - p) / p)
    if p < 1.0:
        divergence -= (1.0 - p) * math.log1p((p - q) / (1.0 - p))
    return divergence


@kernel
def bernoulli_upper_bound(p: float, divergence: float) -> float:
    """Return the largest q in [p, 1] with bernoulli_kl(p, q) <= divergence, to 1e-9."""
    if p >= 1.0 or divergence <= 0.0:
        return p
    # Two bounds from above: Pinsker's, and the one without the term of successes. kl is convex in q, so Newton's
    # method falls from there to the answer and never past it.
    entropy = -(1.0 - p) * math.log1p(-p)
    if p > SMALLEST_MEAN:
        entropy -= p * math.log(p)
    q = min(p + math.sqrt(0.5 * divergence), 1.0 - math.exp(-(divergence + entropy) / (1.0 - p)))
    for _ in range(MOST_STEPS):
        if q <= p or q >= 1.0 - PRECISION:
            break
        step = (bernoulli_kl(p, q) - divergence) * q * (1.0 - q) / (q - p)
        q -= step
        if step < PRECISION:
            break
    return max(p, q)


@allocating_nothing
class Family(NamedTuple):
    """A family of laws, each known by its mean. Policies make it with `FamilyPolicy.new_family`."""

    is_gaussian: bool
    sigma: float  # of the Gaussian family

    def divergence(self, p: float, q: float) -> float:
        """Return the divergence of the law of mean p from that of mean q."""
        if self.is_gaussian:
            gap = (q - p) / self.sigma
            return 0.5 * gap * gap
        return bernoulli_kl(p, q)

    def upper_bound(self, p: float, divergence: float) -> float:
        """Return the largest mean of a law from which the law of mean p diverges no further."""
        if self.is_gaussian:
            return p + self.sigma * math.sqrt(2.0 * divergence)
        return bernoulli_upper_bound(p, divergence)


class FamilyPolicy(Policy):
    """A policy that measures by divergences; it has the parameters `family` and `sigma`, where it likes."""

    family: str
    sigma: float

    def __post_init__(self) -> None:
        check_choice("family", self.family, FAMILIES)
        check_number("sigma", self.sigma, above=0)

    def new_family(self) -> Family:
        """Return the family that is asked for."""
        return Family(self.family == "gaussian", float(self.sigma))

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return UNIT_INTERVAL if self.family == "bernoulli" else REAL_LINE
