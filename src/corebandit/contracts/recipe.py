"""Recipes: frozen parameters with a name, what experiments, files, saved agents and legends speak of.

A recipe is a frozen dataclass that validates in its constructor and does nothing else. `Policy`, `FeaturePolicy`,
`RankingPolicy` and `Problem` add the one method that starts the work.
"""

import hashlib
import inspect
import json
import math
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from corebandit.contracts.public_names import is_ours

REAL_LINE = (-math.inf, math.inf)
UNIT_INTERVAL = (0.0, 1.0)
LARGEST_REWARD = 1e100  # that agents take; squares of larger ones leave the range of floats
MOST_OBSERVATIONS = 2**53  # floats count no further
ADDED_LATER = "added after 0.4"

T = TypeVar("T")


def added_after_0_4(default: T) -> T:
    """Return a parameter that version 0.4 did not have: `describe` leaves it out while it has its default.

    Descriptions seed the streams of problems and name stored chunks and saved agents, so a parameter that comes later
    must not change them. Its default does what was done before, for ever. It is given by name only, so that no position
    moves, of subclasses neither.
    """
    return field(default=default, kw_only=True, metadata={ADDED_LATER: True})


def undeclared(cls: type["Recipe"]) -> str:
    """Say what a recipe's class has that no description of it has, or nothing.

    That are values that no dataclass takes over for a parameter, and what an `__init__` of its own takes besides
    parameters.
    """
    known = {each.name for each in fields(cls)}
    taken_over: set[str] = set()
    for each in cls.__mro__:
        if issubclass(each, Recipe) and not is_ours(each.__module__):
            taken_over |= _own_fields(each)
            for name, value in vars(each).items():
                if name in known - taken_over and not inspect.ismemberdescriptor(value):  # which `slots=True` makes
                    return f"{name} of {each.__name__} is no parameter"
    maker = next(each for each in cls.__mro__ if "__init__" in vars(each))
    if is_ours(maker.__module__) or not is_ours(cls.describe.__module__) or not cls.can_be_rebuilt:
        return ""
    taken = list(inspect.signature(cls.__init__).parameters.values())[1:]
    named = [each.name for each in taken if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    if others := [name for name in named if name not in cls.__dataclass_fields__]:  # which knows `InitVar` too
        return f"{maker.__name__} takes {others[0]}, which is no parameter"
    return ""


def _own_fields(cls: type) -> set[str]:
    """Return the parameters that a class declares itself, if it is a dataclass."""
    inherited = {id(each) for base in cls.__mro__[1:] for each in vars(base).get("__dataclass_fields__", {}).values()}
    return {name for name, each in vars(cls).get("__dataclass_fields__", {}).items() if id(each) not in inherited}


def is_added_later(parameter: Field[Any]) -> bool:
    """Tell whether descriptions may lack a parameter, and then mean its default."""
    return ADDED_LATER in parameter.metadata


@dataclass(frozen=True)
class Recipe:
    """Parameters with a name."""

    name: ClassVar[str]
    can_be_rebuilt: ClassVar[bool] = True  # whether its description is enough to make it again

    def __init_subclass__(cls, **more: Any) -> None:
        """Name the recipe after its class, unless it says otherwise."""
        super().__init_subclass__(**more)
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def describe(self) -> dict[str, Any]:
        """Return the name and the parameters, ready for JSON: all but those `added_after_0_4` and at their defaults."""
        described = (parameter for parameter in fields(self) if not self._goes_unsaid(parameter))
        return {"name": self.name, **{parameter.name: _plain(self._value(parameter)) for parameter in described}}

    def _goes_unsaid(self, parameter: Field[Any]) -> bool:
        return is_added_later(parameter) and bool(_plain(self._value(parameter)) == _plain(parameter.default))

    def _value(self, parameter: Field[Any]) -> Any:
        value = getattr(self, parameter.name)
        return float(value) if parameter.type is float and isinstance(value, int) else value  # sigma=1 is sigma=1.0

    def is_described_by(self, description: Any) -> bool:
        """Tell whether a description, as it comes back from JSON, is of this recipe."""
        return bool(self.describe() == description)

    def changed(self, **parameters: Any) -> Self:
        """Return the same recipe with other parameters."""
        return replace(self, **parameters)

    @property
    def label(self) -> str:
        """Return the name with the parameters that are not at their defaults."""
        changed = [
            f"{parameter.name}={_spelled(self._value(parameter))}"
            for parameter in fields(self)
            if parameter.default is MISSING or _plain(getattr(self, parameter.name)) != _plain(parameter.default)
        ]
        return f"{self.name}({', '.join(changed)})" if changed else self.name


def _plain(value: Any) -> Any:
    if isinstance(value, Recipe):
        return value.describe()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def _spelled(value: Any) -> str:
    if isinstance(value, Recipe):
        return value.label
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_spelled(item) for item in value) + "]"
    return repr(_plain(value))


def digest(content: Any) -> str:
    """Return a short name for JSON-like content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class AnyPolicy(Recipe):
    """A way to choose, whatever it looks at: what experiments and agents take.

    A policy whose states call what cannot be compiled, such as a model of another library, says `runs_compiled =
    False`: the same loops then run in plain Python. Such a state may hold that model in a field; what is learnt stays
    in arrays, which is all that grows, is saved and is loaded.
    """

    runs_compiled: ClassVar[bool] = True

    def start_on(self, problem: Any, horizon: int | None, capacity: int) -> Any:
        """Return a state that has seen nothing, for an instance of a problem."""
        raise NotImplementedError

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return REAL_LINE

    @property
    def looks_back(self) -> bool:
        """Tell whether every round looks at the rewards of all before, one by one: then a GPU is slower than threads.

        Its threads wait for the one among them whose arm has most.
        """
        return False

    def outside_code(self) -> frozenset[Any]:
        """Return classes and functions that come in as parameters: what they do decides the numbers too."""
        return frozenset()

    def outside_versions(self) -> dict[str, str]:
        """Return the versions of libraries that decide the numbers but are no part of what the policy is."""
        return {}

    def measures(self, state: Any) -> dict[str, float]:
        """Return numbers that results shall keep of the `state` a run ended with, the same names for every run."""
        return {}

    def complaint(self, state: Any) -> str:
        """Return what went wrong while `state` played, in a sentence, or nothing."""
        return ""


@dataclass(frozen=True)
class Policy(AnyPolicy):
    """A way to choose among arms; `start` makes the state that learns.

    `start(n_arms, horizon, capacity)` returns a `NamedTuple` with the methods `score(rng, scores)`, which fills
    `scores` `(n_arms,)`, and `update(arm, reward, rng)`. `horizon` is the number of rounds, or None if nobody knows;
    `capacity` is the number of observations the state needs room for.
    """

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        raise NotImplementedError(f"{self.name} has no start(n_arms, horizon, capacity)")

    def start_on(self, problem: Any, horizon: int | None, capacity: int) -> Any:
        """Return a state that has seen nothing, for an instance of a problem."""
        return self.start(problem.n_arms, horizon, capacity)


@dataclass(frozen=True)
class FeaturePolicy(AnyPolicy):
    """A way to choose among rows of features; `start` makes the state that learns.

    `start(n_arms, n_features, horizon, capacity)` returns a `NamedTuple` with the methods `score(features, rng,
    scores)`, which fills one score for each row of `features` `(rows, n_features)`, and `update(arm, x, reward, rng)`,
    where `x` `(n_features,)` is the row that was chosen and `arm` says which it was. Rows, and how many there are, may
    change in every round; `n_arms` is the most there are.
    """

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        raise NotImplementedError(f"{self.name} has no start(n_arms, n_features, horizon, capacity)")

    def start_on(self, problem: Any, horizon: int | None, capacity: int) -> Any:
        """Return a state that has seen nothing, for an instance of a problem."""
        return self.start(problem.n_arms, problem.n_features, horizon, capacity)


@dataclass(frozen=True)
class RankingPolicy(AnyPolicy):
    """A way to rank items for users who click; `start` makes the state that learns.

    `start(n_items, n_positions, horizon, capacity)` returns a `NamedTuple` with the methods `rank(rng, ranking)`, which
    fills `ranking` with different items, best first, and `learn(ranking, clicks, rng)`, where `ranking`
    `(n_positions,)` is what was shown and `clicks` `(n_positions,)` holds 1 for each item that was clicked, else 0.
    `ranking` in `rank` is `(n_positions,)` too, or longer, up to `(n_items,)`, if some items are off offer and will be
    left out. `horizon` counts rounds, `capacity` observations: `n_positions` for each round.
    """

    items_may_change: ClassVar[bool] = True  # whether items can be added and retired while it learns

    def start(self, n_items: int, n_positions: int, horizon: int | None, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        raise NotImplementedError(f"{self.name} has no start(n_items, n_positions, horizon, capacity)")

    def start_on(self, problem: Any, horizon: int | None, capacity: int) -> Any:
        """Return a state that has seen nothing, for an instance of a problem."""
        return self.start(problem.n_items, problem.n_positions, horizon, capacity)


@dataclass(frozen=True)
class Problem(Recipe):
    """Something that pays rewards; `draw` makes one instance of it.

    `draw(rng)` returns a `NamedTuple` with the methods `pull(arm, rng)`, `mean(arm)` and `best_mean()` and the property
    `n_arms`; regret is counted from the best mean, so no arm may be better. One that offers features has the properties
    `n_arms` and `n_features` and the methods `offer(round, rng, features)`, which fills `features` `(n_arms,
    n_features)` for the coming round and returns whether they are new, `pull(arm, x, rng)` and `mean(arm, x)`. One that
    shows rankings has the properties `n_items` and `n_positions` and the methods `draw_user(rng, chance)`, which fills
    `chance` `(2, n_items)` for the coming round, `click(ranking, chance, clicks)`, which fills `clicks`
    `(n_positions,)`, `value(ranking)` and `best_value()`.

    One that changes over time has the method `begin_round(current_round)`, which is called before each round, counted
    from 1, and returns whether means may be new. What changes lives in arrays of the instance.
    """

    def draw(self, rng: Any) -> Any:
        """Return an instance, random if the problem is."""
        raise NotImplementedError(f"{self.name} has no draw(rng)")

    def draw_many(self, words: Any) -> Any:
        """Return what `draw` returns for each of many streams `(instances, 4)`, as one instance; None: there is no way.

        Its arrays have an axis for the instances at the end, its numbers are the same in all. It only saves time, and
        counts only beside a `draw` of the same class.
        """
        return None

    @property
    def support(self) -> tuple[float, float]:
        """Return bounds that every reward keeps."""
        return REAL_LINE


def offers_features(instance: Any) -> bool:
    """Tell whether an instance of a problem offers features to choose by."""
    return hasattr(instance, "offer")


def shows_rankings(instance: Any) -> bool:
    """Tell whether an instance of a problem shows rankings to users who click."""
    return hasattr(instance, "draw_user")
