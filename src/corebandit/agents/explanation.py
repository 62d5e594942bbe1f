"""What each feature of a choice was worth to a linear model."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import shortened

MODELS = ("ridge", "model")  # what states call a regression of theirs


@dataclass(frozen=True, repr=False)
class Explanation:
    """What each feature of the row that was chosen is worth now: its value times the weight the model gives it.

    `total` is what the model expects, without the noise or the bonus that made the policy explore; of a generalised
    linear model before its link, as log odds are of a probability.

    >>> Explanation("gift", ("price", "age"), (9.5, 2.0), (0.2, -0.5))
    what 'gift' is worth: 0.9
      price  9.5 x  0.2 = 1.9
      age      2 x -0.5 =  -1
    """

    arm: Hashable
    names: tuple[str, ...]
    features: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def worth(self) -> tuple[float, ...]:
        """Return what each feature adds: its value times its weight."""
        return tuple(value * weight for value, weight in zip(self.features, self.weights, strict=True))

    @property
    def total(self) -> float:
        """Return what all features add up to."""
        return sum(self.worth)

    def __repr__(self) -> str:
        columns = [[f"{number:.4g}" for number in numbers] for numbers in (self.features, self.weights, self.worth)]
        values, weights, worth = ([text.rjust(max(map(len, texts))) for text in texts] for texts in columns)
        width = max(map(len, self.names))
        lines = zip(self.names, values, weights, worth, strict=True)
        listed = [f"  {name:{width}}  {value} x {weight} = {product}" for name, value, weight, product in lines]
        return "\n".join([f"what {shortened(self.arm)} is worth: {self.total:.4g}", *listed])


def weights_in(state: Any) -> FloatArray | None:
    """Return the weights of the linear model that a state keeps, or None if it keeps none."""
    for name in MODELS:
        model = getattr(state, name, None)
        if isinstance(model, tuple) and hasattr(model, "theta"):
            weights: FloatArray = model.theta
            return weights
    parts = (part for part in state if isinstance(part, tuple))
    return next((found for found in map(weights_in, parts) if found is not None), None)


def explained(
    label: str, arm: Hashable, row: FloatArray, state: Any, feature_names: Iterable[str] | None
) -> Explanation:
    """Return what the features of a choice are worth, or say why nobody knows."""
    weights = weights_in(state)
    if weights is None:
        raise BadInput(f"{label} has no weight for each feature; explain is for linear models, such as LinCORe's")
    names = tuple(f"x{index}" for index in range(row.size)) if feature_names is None else _checked(feature_names, row)
    return Explanation(arm, names, tuple(row.tolist()), tuple(weights.tolist()))


def _checked(feature_names: Any, row: FloatArray) -> tuple[str, ...]:
    names = None if isinstance(feature_names, str) else tuple(map(str, feature_names))
    if names is None or len(names) != row.size:
        raise BadInput(f"feature_names must be {row.size}, one for each feature, not {shortened(feature_names)}")
    return names
