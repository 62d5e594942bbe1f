r"""What the paper proves about CORe and LinCORe, as numbers to compute and statements to try out.

The setting: n rounds, K arms with features x of length at most L in d dimensions, rewards N(x·θ, σ²) with the same σ
for all arms and means in [0, 1], |θ| at most L*. Logarithms are natural.

* Lemma 1: in all rounds t > 4 ln n / (z - 1 - ln z) + 1 at once, var(pool) >= α² z σ² / 2, but for a chance of 1/n.
* Lemma 2: all values of the pool are at most α (4 sqrt(σ² ln n) + 1) in size, but for a chance of 1/n. Its proof bounds
  one tail of the rewards, where the size needs both: it gives 2/n, by which the lemma is judged.
* Theorem: for 1/2 <= z < 1, n >= 24 and 4 sqrt(σ² ln n) >= 1 the regret is O~(d sqrt(n ln K)) if α² = 4 c1² / (z σ²).

`lemma_failures` counts how often simulated rewards break the lemmas; `regret_bound` puts numbers into the proof of the
theorem. Three details of that proof need care, though none changes the theorem's order. The union over K arms and two
sides gives p2 = 2/n⁴; the proof says 1/n⁴, which is kept here. The last form of the gap p3 - p2, with its 36/n³, is
positive only from n = 41 on where z = 1/2; the form before it is so from n = 24 on. And λ shall be a quarter of the
smallest eigenvalue of G after d rounds, which contains λ: so it is a third of that of the sum of x xᵀ over these
rounds, for CORe, whose features are one-hot, 1/3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import check_count, check_number, shortened
from corebandit.experiments.curve import Curve
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.run import run
from corebandit.parts.warm_up import check_warm_up, rounds_per_log
from corebandit.problems.arms import FixedArms, Gaussian
from corebandit.reproduction.trials import PoolWatch

ROUNDS_TOGETHER = 1_000_000  # of trials that are played as one run: short ones would cost more to begin than to play


def _check_counts(**values: int) -> None:
    for name, value in values.items():
        check_count(name, value)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        check_number(name, value, above=0)


# The lemmas' constants --------------------------------------------------------------------------------------------


def warm_up_rounds(horizon: int, z: float = 0.6, factor: float = 4.0) -> float:
    """Return factor ln n / (z - 1 - ln z) + 1, the rounds after which the pool has variance enough.

    >>> round(warm_up_rounds(10_000), 2)
    333.43
    """
    check_count("horizon", horizon)
    check_number("factor", factor, at_least=0)
    check_warm_up(z, factor)
    return rounds_per_log(z, factor) * math.log(horizon) + 1.0


def variance_tail(z: float, n_observations: int) -> float:
    """Return (z e^(1-z))^((q-1)/2), which bounds the chance that q normal rewards have a variance below z σ².

    The variance is the unbiased one, of divisor q - 1.

    >>> variance_tail(0.6, 334) <= 1 / 10_000**2  # what the warm-up is made for
    True
    """
    check_number("z", z, above=0, below=1)
    check_count("n_observations", n_observations, at_least=2)
    return math.exp(0.5 * (n_observations - 1) * (math.log(z) + 1.0 - z))


def pool_variance_floor(alpha: float, z: float, sigma: float) -> float:
    """Return α² z σ² / 2, below which the pool's variance falls with a chance of 1/n at most (Lemma 1).

    >>> round(pool_variance_floor(0.6, 0.6, 1.0), 3)
    0.108
    """
    _check_positive(alpha=alpha, sigma=sigma)
    check_number("z", z, above=0, below=1)
    return 0.5 * z * (alpha * sigma) ** 2


def pool_value_ceiling(alpha: float, sigma: float, horizon: int) -> float:
    """Return α (4 sqrt(σ² ln n) + 1), above which some pool's value lies rarely (Lemma 2: 1/n; its proof: 2/n).

    >>> round(pool_value_ceiling(0.6, 0.5, 10_000), 2)
    4.24
    """
    _check_positive(alpha=alpha, sigma=sigma)
    check_count("horizon", horizon)
    return alpha * (4.0 * sigma * math.sqrt(math.log(horizon)) + 1.0)


def concentration_tail(c: float, ceiling: float) -> float:
    """Return 2 exp(-c² / (2 a²)), the bound on P(|x·θ~ - x·θ^| >= c |x|) in the norm of G⁻¹, for noise within ±a.

    θ^ is the estimate from the rewards as they are, θ~ the one from perturbed rewards.

    >>> round(concentration_tail(3.0, ceiling=1.0), 4)
    0.0222
    """
    _check_positive(c=c, ceiling=ceiling)
    return 2.0 * math.exp(-0.5 * (c / ceiling) ** 2)


# The theorem's constants ------------------------------------------------------------------------------------------


def confidence_radius(
    horizon: int, d: int, sigma: float, longest_row: float, lam: float, longest_theta: float
) -> float:
    """Return c1 = σ sqrt(d ln(n + n² L² / (d λ))) + sqrt(λ) L*, how far θ^ is from θ but for a chance of 1/n.

    >>> round(confidence_radius(10_000, 10, sigma=0.5, longest_row=1.0, lam=1 / 3, longest_theta=1.0), 3)
    7.138
    """
    _check_counts(horizon=horizon, d=d)
    _check_positive(sigma=sigma, longest_row=longest_row, lam=lam)
    check_number("longest_theta", longest_theta, at_least=0)
    n = float(horizon)
    return sigma * math.sqrt(d * math.log(n + (n * longest_row) ** 2 / (d * lam))) + math.sqrt(lam) * longest_theta


def theoretical_alpha(radius: float, z: float, sigma: float) -> float:
    """Return the α of the theorem, α² = 4 c1² / (z σ²), from c1, the `confidence_radius`; experiments use 0.6.

    >>> round(theoretical_alpha(7.138, z=0.6, sigma=0.5), 1)
    36.9
    """
    _check_positive(radius=radius, sigma=sigma)
    check_number("z", z, above=0, below=1)
    return 2.0 * radius / (math.sqrt(z) * sigma)


def optimism_probability(horizon: int, floor: float, ceiling: float, radius: float, shrinkage: float = 0.25) -> float:
    """Return p3 = [(η²/a²) (1 - λ/λ_min) - c1²/a² - 2/n³] / (16 ln n), a lower bound on the chance of optimism.

    Optimism: the best arm's perturbed estimate exceeds the unperturbed one by c1 |x| in the norm of G⁻¹. The noise has
    a variance of at least η², the `floor`, and is at most a, the `ceiling`; c1 is the `radius`; `shrinkage` is λ as a
    share of the smallest eigenvalue of G after d rounds. A bound of zero or less says nothing.

    >>> round(optimism_probability(10_000, floor=0.3, ceiling=1.0, radius=0.1), 6)
    0.001459
    """
    check_count("horizon", horizon, at_least=2)
    _check_positive(floor=floor, ceiling=ceiling, radius=radius)
    check_number("shrinkage", shrinkage, at_least=0, at_most=1)
    share = (floor * (1.0 - shrinkage) - radius**2) / ceiling**2
    return (share - 2.0 / float(horizon) ** 3) / (16.0 * math.log(horizon))


@dataclass(frozen=True)
class RegretBound:
    """A bound on the expected regret, and the constants of its proof."""

    value: float  # the bound; infinite where the proof gives none
    alpha: float
    c1: float  # how far the estimate is from the truth
    c2: float  # how far the perturbed estimate is from the estimate
    c3: float  # 2 d ln(1 + n L² / (d λ))
    a: float  # the noise is at most this
    eta2: float  # the noise has at least this variance
    p1: float  # the chance that c1 is ever too small
    p2: float  # the chance that c2 is too small in a round
    p3: float  # the least chance of optimism in a round
    gap: float  # p3 - p2
    simple_gap: float  # [z / (256 ln n) - 36/n³] / (32 ln n), the paper's lower bound on the gap for its own α


def regret_bound(
    horizon: int,
    d: int,
    n_arms: int,
    sigma: float = 0.5,
    z: float = 0.6,
    longest_row: float = 1.0,
    lam: float = 1.0 / 3.0,
    longest_theta: float = 1.0,
    alpha: float | None = None,
) -> RegretBound:
    """Bound LinCORe's expected regret by the paper's proof.

    R(n) <= (c1 + c2) (1 + 2 / (p3 - p2)) sqrt(c3 n) + (p1 + p2) n + max(d, warm-up) + 2 with
    c2 = sqrt(2 a² ln(K n⁴)), c3 = 2 d ln(1 + n L² / (d λ)), p1 = 1/n, p2 = 1/n⁴. The last two terms are the regret of
    the warm-up and of the lemmas' failures, at most 1 a round. λ is taken to be a quarter of the smallest eigenvalue
    of G after d rounds. The default α is the theorem's; for one much smaller p3 <= p2, and the bound is
    infinite.

    The constants are so large that here the bound is below n, as any regret is, only from about n = 10²⁸ on:

    >>> regret_bound(10_000, d=10, n_arms=50).value > 1e10
    True
    >>> regret_bound(10_000, d=10, n_arms=50, alpha=0.6).value
    inf
    """
    check_count("horizon", horizon, at_least=24)
    check_number("z", z, at_least=0.5, below=1)
    c1 = confidence_radius(horizon, d, sigma, longest_row, lam, longest_theta)
    check_count("n_arms", n_arms, at_least=d)  # d of the arms shall be a basis
    n, log_n = float(horizon), math.log(horizon)
    if sigma < 0.25 / math.sqrt(log_n):
        wanted = f"at least {0.25 / math.sqrt(log_n):.4g}, so that 4 sqrt(sigma^2 ln horizon) >= 1"
        raise BadInput(f"sigma must be {wanted}, not {shortened(sigma)}")
    if c1 < 1.0:
        raise BadInput(f"sigma must be so large that c1, now {c1:.4g}, is at least 1, not {shortened(sigma)}")
    if alpha is None:
        alpha = theoretical_alpha(c1, z, sigma)
    a = pool_value_ceiling(alpha, sigma, horizon)
    eta2 = pool_variance_floor(alpha, z, sigma)
    c2 = a * math.sqrt(2.0 * (math.log(n_arms) + 4.0 * log_n))
    c3 = 2.0 * d * math.log(1.0 + n * longest_row**2 / (d * lam))
    p1, p2, p3 = 1.0 / n, 1.0 / n**4, optimism_probability(horizon, eta2, a, c1)
    gap = p3 - p2
    optimism_cost = 1.0 + 2.0 / gap if gap > 0.0 else math.inf
    start = max(d, warm_up_rounds(horizon, z))
    value = (c1 + c2) * optimism_cost * math.sqrt(c3 * n) + (p1 + p2) * n + start + 2.0
    simple_gap = (z / (256.0 * log_n) - 36.0 / n**3) / (32.0 * log_n)
    return RegretBound(value, alpha, c1, c2, c3, a, eta2, p1, p2, p3, gap, simple_gap)


def regret_shape(horizon: int, d: int, n_arms: int) -> float:
    """Return d sqrt(n ln K), how the bound grows but for factors of ln n.

    >>> regret_shape(40_000, 5, 50) / regret_shape(10_000, 5, 50)
    2.0
    """
    _check_counts(horizon=horizon, d=d, n_arms=n_arms)
    return d * math.sqrt(horizon * math.log(n_arms))


# Trying the statements out ----------------------------------------------------------------------------------------


class LemmaFailures(NamedTuple):
    """How many of the simulated runs broke each lemma."""

    variance: int  # Lemma 1
    ceiling: int  # Lemma 2
    runs: int


def lemma_failures(
    horizon: int,
    runs: int,
    sigma: float = 0.5,
    z: float = 0.6,
    alpha: float = 0.6,
    factor: float = 4.0,
    means: Sequence[float] = (0.5,),
    tightening: float = 1.0,
    seed: int = 0,
) -> LemmaFailures:
    """Count simulated runs in which a lemma fails in any round; the lemmas say: at most a share of 1/n each.

    The pool of round t holds t - 1 rewards. Lemma 1 is judged after the warm-up, Lemma 2 in every round. The arms'
    `means`, in [0, 1], are taken in turns: equal ones make Lemma 1 hardest, 0 and 1 Lemma 2. A `tightening` above 1
    raises the floor of Lemma 1 and lowers the ceiling of Lemma 2 by that factor, to see how much room they leave.

    >>> lemma_failures(1000, runs=100)
    LemmaFailures(variance=0, ceiling=0, runs=100)
    """
    experiment = lemma_trials(horizon, runs, sigma, z, alpha, factor, means, tightening, seed=seed)
    (curve,) = run(experiment).curves()
    return failures_of(curve)


def lemma_trials(
    horizon: int,
    runs: int,
    sigma: float = 0.5,
    z: float = 0.6,
    alpha: float = 0.6,
    factor: float = 4.0,
    means: Sequence[float] = (0.5,),
    tightening: float = 1.0,
    **experiment: Any,
) -> Experiment:
    """Return the experiment of `lemma_failures`, which plays many of these runs as one; `failures_of` reads it.

    `experiment` are further arguments of `Experiment`: seed, name, part.
    """
    check_count("horizon", horizon, at_least=2)
    check_count("runs", runs)
    _check_positive(tightening=tightening)
    start = warm_up_rounds(horizon, z, factor)
    if start >= horizon:
        raise BadInput(
            f"horizon must be above the warm-up of {start:.1f} rounds, or nothing is judged: {shortened(horizon)}"
        )
    if len(means) == 0:
        raise BadInput("means must hold the mean reward of at least one arm")
    for mean in means:
        check_number("means", mean, at_least=0, at_most=1)
    floor = pool_variance_floor(alpha, z, sigma) / alpha**2 * tightening
    ceiling = pool_value_ceiling(alpha, sigma, horizon) / alpha / tightening
    n_rewards = horizon - 1  # the last round draws from the pool of those before it
    together = next(count for count in range(max(1, ROUNDS_TOGETHER // n_rewards), 0, -1) if runs % count == 0)
    return Experiment(
        FixedArms([Gaussian(float(mean), sigma=sigma) for mean in means]),
        {f"{factor:g} ln n, n = {horizon:,}": PoolWatch(n_rewards, start, floor, ceiling)},
        horizon=together * n_rewards,
        runs=runs // together,
        **{"name": "lemmas", **experiment},
    )


def failures_of(curve: Curve) -> LemmaFailures:
    """Return what the experiment of `lemma_trials` has found."""
    calm, wild, trials = (int(curve.measures[name].sum()) for name in ("calm", "wild", "trials"))
    return LemmaFailures(calm, wild, trials)
