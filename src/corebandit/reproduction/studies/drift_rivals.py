"""Whom CORe meets in worlds that change: rivals that forget, at their defaults and at many further settings.

Of all settings the best in hindsight counts, world by world, so the grids reach beyond what was best in any world.
"""

from itertools import product

from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.policies.arms.cusum_ucb import CUSUMUCB
from corebandit.policies.arms.dts import DTS
from corebandit.policies.arms.ducb import DUCB
from corebandit.policies.arms.exp3s import Exp3S
from corebandit.policies.arms.swts import SWTS
from corebandit.policies.arms.swucb import SWUCB
from corebandit.policies.linear.dlinucb import DLinUCB

WINDOWS, XIS = (200, 500, 1000, 2000, 4000, 8000, 20_000), (0.001, 0.005, 0.02, 0.05, 0.2)


def rivals(problem: Problem) -> dict[str, AnyPolicy]:
    """Return the rivals for arms, at their defaults and at further settings, where rewards are what they take."""
    found: dict[str, AnyPolicy] = {"SW-UCB": SWUCB(), "D-UCB": DUCB(), "CUSUM-UCB": CUSUMUCB()}
    for n, xi in product(WINDOWS, XIS):
        found[f"SW-UCB {n:,}, {xi:g}"] = SWUCB(n, xi)
        found[f"D-UCB {n:,}, {xi:g}"] = DUCB(1.0 - 1.0 / n, xi)
    tests = ((0.05, 100), (0.1, 30), (0.2, 100), (0.4, 100))
    for shifts, xi, (epsilon, samples) in product((1, 8), (0.01, 0.05, 0.2), tests):
        found[f"CUSUM-UCB {shifts}, {xi:g}, {epsilon:g}"] = CUSUMUCB(epsilon, samples, shifts=shifts, xi=xi)
    if problem.support == (0.0, 1.0):
        found |= {"SW-TS": SWTS(), "dTS": DTS(), "Exp3.S": Exp3S(), "Exp3.S 8": Exp3S(shifts=8)}
        for n in WINDOWS:
            found |= {f"SW-TS {n:,}": SWTS(n), f"dTS {n:,}": DTS(1.0 - 1.0 / n)}
    return found


def linear_rivals() -> dict[str, AnyPolicy]:
    """Return D-LinUCB at its defaults and at further settings."""
    found: dict[str, AnyPolicy] = {"D-LinUCB": DLinUCB()}
    for n, sigma, lam in product((200, 500, 1000, 4000), (0.01, 0.02, 0.05), (0.001, 0.01, 1.0)):
        found[f"D-LinUCB {n:,}, {sigma:g}, {lam:g}"] = DLinUCB(1.0 - 1.0 / n, sigma, lam=lam, theta_norm=1.0)
    return found
