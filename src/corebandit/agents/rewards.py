"""Rewards that can be learned from."""

import math
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from corebandit.contracts.errors import BadReward
from corebandit.contracts.recipe import LARGEST_REWARD
from corebandit.contracts.validate import is_finite, range_in_words, shortened

Reward = float | Decimal  # money may be a Decimal


def without_decimals(reward: Reward | None) -> float | None:
    """Return a reward as it is, or as a float if it is a Decimal."""
    if isinstance(reward, Decimal):
        return math.nan if reward.is_nan() else float(reward)  # a signaling NaN is no float
    return reward


def checked_reward(reward: Any, low: float, high: float, label: str) -> float:
    """Return a reward as a float, or say what would be one for the policy of this label."""
    reward = without_decimals(reward)
    if not isinstance(reward, Real | np.bool_) or not is_finite(reward) or abs(float(reward)) > LARGEST_REWARD:
        raise BadReward(
            f"reward must be a finite number of at most {LARGEST_REWARD:g} in size, not {shortened(reward)}"
        )
    if not low <= float(reward) <= high:
        raise BadReward(
            f"reward must be {range_in_words(low, high).removeprefix('of ')} for {label}, not {shortened(reward)}"
        )
    return float(reward)
