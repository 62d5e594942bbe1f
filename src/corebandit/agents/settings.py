"""What can be set of an agent besides its policy: waiting, traffic of the options, propensities, a control group."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, TypedDict

from corebandit.agents.contexts import Context
from corebandit.agents.rewards import Reward, without_decimals
from corebandit.agents.traffic import PATIENCE
from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import check_count, check_flag, check_number, shortened

LEAST_HELD_OUT = 1e-6  # of all decisions: 100 of them are a hundred million
FEATURE_LIMIT = 1000.0  # times the largest feature of a column that was seen
NOT_OF_RANKINGS = ("feature_limit", "refit_later")  # settings of agents that choose by features
MANY_OPEN = 100_000  # decisions that wait, of which a warning is given
Clock = Callable[[], float]  # seconds; it may go backwards
clock: Clock = time.time


def checked_clock(given: Any) -> Clock:
    """Return a clock that tells the time in seconds, as a plain number, or raises BadInput where it does not."""
    if not callable(given):
        raise BadInput(f"clock must be a function that returns seconds, not {shortened(given)}")
    return lambda: check_number("the time that clock() returns", given())


class Options(TypedDict, total=False):
    """What agents are made with besides a policy and what to choose among; `Agent` says what these do."""

    seed: int | None
    horizon: int | None
    window: float | None
    default_reward: Reward | None
    max_open: int | None
    patience: int
    max_share: float
    propensity_draws: int | None
    min_propensity: float
    holdout: float
    feature_limit: float | None
    refit_later: bool
    context: Context | None
    clock: Clock | None


@dataclass(frozen=True)
class Settings:
    """The settings of an agent; `Agent` says what they do."""

    window: float | None = None
    default_reward: float | None = None
    max_open: int | None = None
    patience: int = PATIENCE
    max_share: float = 1.0
    propensity_draws: int | None = None
    min_propensity: float = 0.0
    holdout: float = 0.0
    feature_limit: float | None = FEATURE_LIMIT
    refit_later: bool = False

    def __post_init__(self) -> None:
        """Validate, and keep plain numbers, which JSON knows."""
        checked: dict[str, float] = {
            "patience": check_count("patience", self.patience, at_least=0),
            "max_share": check_number("max_share", self.max_share, above=0, at_most=1),
        }
        if self.window is not None:
            checked["window"] = check_number("window", self.window, above=0)
        if self.default_reward is not None:
            checked["default_reward"] = check_number("default_reward", without_decimals(self.default_reward))
        if self.max_open is not None:
            checked["max_open"] = check_count("max_open", self.max_open)
        if self.propensity_draws is not None:
            checked["propensity_draws"] = check_count("propensity_draws", self.propensity_draws, at_least=2)
        checked["min_propensity"] = check_number("min_propensity", self.min_propensity, at_least=0, at_most=1)
        if self.min_propensity > 0 and not self.propensity_draws:
            raise BadInput(
                f"min_propensity={self.min_propensity:g} needs propensity_draws, such as 100: a probability that "
                "is not known cannot be kept above a bound"
            )
        checked["holdout"] = check_number("holdout", self.holdout, at_least=0, below=1)
        if 0 < self.holdout < LEAST_HELD_OUT:
            raise BadInput(
                f"holdout must be 0 or at least {LEAST_HELD_OUT:g}, not {shortened(self.holdout)}: so few decisions "
                "would never be enough to compare with"
            )
        if self.feature_limit is not None:
            checked["feature_limit"] = check_number("feature_limit", self.feature_limit, at_least=1)
        check_flag("refit_later", self.refit_later)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def describe(self) -> dict[str, Any]:
        """Return what is not as usual, ready for JSON."""
        usual = Settings()
        return {name: value for name, value in asdict(self).items() if value != getattr(usual, name)}

    @classmethod
    def from_json(cls, saved: Any) -> "Settings":
        """Return the settings that were saved."""
        known = {field.name for field in fields(cls)}
        if not isinstance(saved, dict) or not known.issuperset(saved):
            raise BadInput(f"settings must be a table with {', '.join(sorted(known))}, not {shortened(saved)}")
        return cls(**saved)
