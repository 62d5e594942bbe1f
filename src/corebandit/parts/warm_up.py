"""CORe's warm-up: try everything in turn until the pool has enough variance (Algorithm 1, line 2 of the paper)."""

import math
import warnings
from dataclasses import dataclass

from corebandit.compiled.bridge import inlined
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy, added_after_0_4
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_number, shortened

NOMINAL_HORIZON = 10_000  # what a short warm-up takes for the horizon if nobody knows it


def check_warm_up(z: float, warm_up: float) -> None:
    """Raise BadInput unless the parameters give a warm-up that ends."""
    check_number("z", z, above=0, below=1)
    if z - 1.0 - math.log(z) <= 0.0:
        raise BadInput(f"z is so close to 1 that the warm-up would never end: {shortened(z)}")
    check_number("warm_up", warm_up, at_least=0)


def check_noise(alpha: float, z: float, warm_up: float) -> None:
    """Raise BadInput unless all that CORe's forms share makes sense."""
    check_number("alpha", alpha, at_least=0)
    check_warm_up(z, warm_up)


def rounds_per_log(z: float, warm_up: float) -> float:
    """Return how many rounds the warm-up takes for each unit of the log horizon."""
    return warm_up / (z - 1.0 - math.log(z))


def whole_warm_up(at_least: int, horizon: int, z: float, warm_up: float) -> int:
    """Return how many rounds the warm-up lasts."""
    return int(max(at_least, rounds_per_log(z, warm_up) * math.log(horizon) + 1.0))


def known_log(horizon: int | None) -> float:
    """Return the log of the horizon, or -1 if nobody knows it."""
    return -1.0 if horizon is None else math.log(horizon)


def warn_if_endless(label: str, n_rounds: int, horizon: int, stacklevel: int) -> None:
    """Warn if a warm-up of `n_rounds` leaves nothing of the horizon."""
    if n_rounds >= horizon:
        warnings.warn(
            f"{label} spends all {horizon} rounds on its warm-up, which would take {n_rounds}: it only tries the arms "
            "in turn; lower warm_up or z",
            stacklevel=stacklevel,
        )


@inlined
def least_by_features(n_features: int, warm_up: float, extra: int) -> int:
    """Return how many rounds it lasts at least by features: none where extra draws take its place."""
    return 0 if warm_up == 0.0 and extra > 0 else n_features


@inlined
def is_warming_up(current_round: int, at_least: int, rate: float, log_horizon: float) -> bool:
    """Tell whether a round belongs to the warm-up; without a horizon the round itself takes its place."""
    log_rounds = log_horizon if log_horizon >= 0.0 else math.log(current_round)
    return bool(current_round <= max(at_least, rate * log_rounds + 1.0))


@inlined
def favour_least_chosen(counts: FloatArray, scores: FloatArray) -> None:
    """Let the arm chosen least so far win: what rounds of the warm-up do."""
    for arm in range(scores.size):
        scores[arm] = -counts[arm]


@dataclass(frozen=True)
class WarmsUp(AnyPolicy):
    """The first parameters of CORe's forms: `CORe` says what they do."""

    alpha: float = 0.6
    z: float = 0.6
    warm_up: float = 4.0
    extra: int = added_after_0_4(0)

    def __post_init__(self) -> None:
        check_noise(self.alpha, self.z, self.warm_up)
        check_count("extra", self.extra, at_least=0)

    def warm_up_rounds(self, at_least: int, horizon: int) -> int:
        """Return how many rounds the warm-up lasts, `at_least` one for each arm, or feature."""
        return whole_warm_up(at_least, horizon, self.z, self.warm_up)


class WarmsUpByFeatures(WarmsUp):
    """The same of forms with features, where rows that point out of all before them are tried first anyway."""

    def warm_up_rounds(self, at_least: int, horizon: int) -> int:
        """Return how many rounds the warm-up lasts, `at_least` one for each feature if there is one."""
        return super().warm_up_rounds(least_by_features(at_least, self.warm_up, self.extra), horizon)
