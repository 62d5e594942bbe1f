"""The first rounds of code that is not ours, played in plain Python and watched, before any of it is compiled.

Compiled code does not look where it writes. Plain Python does, and every mistake that shows in the first rounds is told
in a sentence: an index out of bounds, an arm without a score, numbers from elsewhere than the stream that was given,
arguments that were changed. What shows later, the run itself tells (`engines/player.py`).
"""

import inspect
import json
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy, Problem, Recipe
from corebandit.contracts.state import arrays_of, check_named
from corebandit.contracts.validate import shortened
from corebandit.games.blame import blaming, is_foreign
from corebandit.games.kinds import game_of
from corebandit.games.truth import SAME, ZERO
from corebandit.parts.rounds import horizon_or_unknown
from corebandit.randomness.stream import stream

N_ROUNDS = 150
MOST_CHECKED = 5  # rounds in which means of all arms are asked for, of which there may be many
COMPILED_ALONE = "compiled code knows numbers, arrays and tuples of these: use an array, or say runs_compiled = False"
NO_FIELDS = "has no fields, and compiled code takes no empty tuples: give it one, such as n_arms: int"
METHODS = {
    "score": (("rng", "scores"), ("features", "rng", "scores")),
    "update": (("arm", "reward", "rng"), ("arm", "x", "reward", "rng")),
    "rank": (("rng", "ranking"),),
    "learn": (("ranking", "clicks", "rng"),),
}
OPTIONAL = {"begin_round": (("decided", "left", "pending"),), "prepare": (("rng",),)}


def rehearse(policy: AnyPolicy, problem: Problem, horizon: int | None, realised: bool = False) -> None:
    """Play a few rounds if the policy or the problem is not ours, and raise a BadInput if something is wrong.

    Realised regret, of rewards, asks for no means but the best.
    """
    instance = problem.draw(stream(0))
    if not any(map(is_foreign, (policy, problem, instance))):
        return
    blamed = policy if is_foreign(policy) else problem
    described = _described(policy), _described(problem)
    with blaming(blamed), np.errstate(all="ignore"):  # compiled code does not warn either
        doubt = _check_truth(problem, instance, min(horizon or N_ROUNDS, N_ROUNDS), has_means=not realised)
        once, again = (_played(policy, problem, horizon, realised) for _ in range(2))
    if (_described(policy), _described(problem)) != described:
        raise BadInput(f"{blamed.name} changes its own parameters while it plays: keep what changes in the state")
    if once != again:
        raise BadInput(
            f"{blamed.name} plays the same rounds differently the second time: all chance must come from the stream "
            "rng, as in rng.random(), and none from np.random, random or the clock"
        )
    if doubt:
        warnings.warn(doubt, stacklevel=3)


def _played(policy: AnyPolicy, problem: Problem, horizon: int | None, realised: bool) -> list[bytes]:
    """Play a few rounds, watched, and return what came of it."""
    n_rounds = min(horizon or N_ROUNDS, N_ROUNDS)
    instance = problem.draw(stream(0))
    if policy.runs_compiled and isinstance(instance, tuple) and not instance:
        raise BadInput(f"{problem.name} {NO_FIELDS}")
    game, truth = game_of(instance), truth_of(instance, realised)
    state = policy.start_on(instance, horizon, game.n_observations(instance, n_rounds))
    if is_foreign(policy):
        _check_state(policy, state)
    watched = WatchedState(policy, problem, state)
    needs, regret, notes = game.needs(instance, (0, "rehearsal", 0)), np.zeros(1), game.notes(instance, 1)
    rounds, told = np.array([n_rounds]), horizon_or_unknown(horizon)
    game.loop.in_python(watched, instance, *needs, rounds, told, realised, regret, notes)
    check_unchanged(problem, instance, truth)
    arrays = arrays_of(state) if policy.runs_compiled else []
    return [array.tobytes() for array in (*arrays, regret)]


def _check_truth(problem: Problem, instance: Any, n_rounds: int, has_means: bool) -> str:
    """Raise a BadInput if the best mean of a foreign instance cannot be right or changes unsaid; return a doubt."""
    if not is_foreign(instance) or not _has_truth(instance):
        return ""
    best, n_checked, doubt = float(instance.best_mean()), 0, ""  # what a loop counts with until it is told of a change
    if not hasattr(instance, "begin_round"):
        return _check_best(problem, instance) if has_means else ""
    for current_round in range(1, n_rounds + 1):
        if instance.begin_round(current_round):
            best = float(instance.best_mean())
            if has_means and n_checked < MOST_CHECKED:
                doubt = _check_best(problem, instance) or doubt
                n_checked += 1
        elif not _is_close(now := float(instance.best_mean()), best, abs(best)):
            raise BadInput(
                f"in round {current_round} the best mean of {problem.name} is {now} and was {best}, but begin_round "
                "did not return True, so that its regret would be wrong"
            )
    return doubt


def _check_best(problem: Problem, instance: Any) -> str:
    """Raise a BadInput if an arm is better than the best; return a doubt if none is as good, which may be meant."""
    means = _means(instance)
    best, highest = float(instance.best_mean()), max(means)
    if _is_close(best, highest, max(map(abs, means))):
        return ""
    differ = f"best_mean() of {problem.name} is {best}, but the highest mean of its arms is {highest}"
    if best < highest or math.isnan(best):
        raise BadInput(f"{differ}, so that its regret would be wrong")
    return f"{differ}: what no arm can earn counts as regret"


def _is_close(one: float, other: float, scale: float) -> bool:
    """Tell whether two means are the same, as far as numbers of 32 bits of this scale can say."""
    return abs(one - other) <= SAME * scale + ZERO


def _has_truth(instance: Any) -> bool:
    """Tell whether an instance has arms with means of their own: no rankings, and no features that change."""
    return hasattr(instance, "n_arms") and not hasattr(instance, "offer")


def _means(instance: Any) -> list[float]:
    return [float(instance.mean(arm)) for arm in range(instance.n_arms)]


def truth_of(instance: Any, realised: bool) -> list[float] | None:
    """Return the best mean and, unless regret is of rewards, those of a foreign instance's arms.

    None if it has none, or says when they change.
    """
    if not is_foreign(instance) or hasattr(instance, "begin_round") or not _has_truth(instance):
        return None
    return [float(instance.best_mean()), *([] if realised else _means(instance))]


def check_unchanged(problem: Problem, instance: Any, truth: list[float] | None) -> None:
    """Raise a BadInput if means have changed and the instance did not say that they may."""
    if truth is not None and (now := truth_of(instance, realised=len(truth) == 1)) is not None:
        check_means(problem, now, truth)


def check_means(problem: Problem, means: Sequence[float], truth: Sequence[float]) -> None:
    """Raise a BadInput if the best mean and those of all arms are not what they were."""
    if not np.allclose(means, truth, rtol=1e-9, atol=1e-12, equal_nan=True):
        raise BadInput(
            f"the means of {problem.name} change while it is played, so that its regret would be wrong: give it a "
            "method begin_round(current_round) that says in which rounds they do"
        )


def _described(recipe: Recipe) -> str:
    return json.dumps(recipe.describe(), default=repr)


def _check_state(policy: AnyPolicy, state: Any) -> None:
    """Check that a state has what it takes to be compiled, and methods with the arguments that they will be given."""
    if not policy.runs_compiled:
        return
    check_named(policy.name, state)
    if not state:
        raise BadInput(f"{policy.name}: its state {NO_FIELDS}")
    for name, value in zip(state._fields, state, strict=True):
        if not isinstance(value, np.ndarray | np.generic | int | float | bool | tuple):
            raise BadInput(f"{policy.name}: {name} of its state is a {type(value).__name__}, but {COMPILED_ALONE}")
        if isinstance(value, np.ndarray) and value.dtype == object:
            raise BadInput(f"{policy.name}: {name} of its state is an array of objects, but {COMPILED_ALONE}")


class WatchedState:
    """A state whose every move is looked at."""

    def __init__(self, policy: AnyPolicy, problem: Problem, state: Any) -> None:
        self._policy, self._problem, self._state, self._round = policy, problem, state, 1

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._state, name, None)
        if name not in METHODS and (name not in OPTIONAL or value is None):
            return getattr(self._state, name)
        if value is None:
            wanted = " or ".join(f"{name}({', '.join(each)})" for each in METHODS[name])
            raise BadInput(f"{self._policy.name}: its state has no method {wanted}")
        self._check_signature(name, value)
        return lambda *arguments: self._watched(name, value, arguments)

    def _check_signature(self, name: str, method: Any) -> None:
        signature = inspect.signature(method)
        parameters = signature.parameters.values()
        taken = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        known = (METHODS | OPTIONAL)[name]
        if len(taken) != len(parameters) or len(taken) not in map(len, known):
            wanted = " or ".join(f"{name}({', '.join(each)})" for each in known)
            raise BadInput(f"{self._policy.name}: its state must have {wanted}, by place, not {name}{signature}")

    def _watched(self, name: str, method: Any, arguments: tuple[Any, ...]) -> Any:
        *given, last = (*arguments, None) if name in OPTIONAL else arguments
        if name in ("score", "rank"):  # which fill the last
            last[:] = np.nan if name == "score" else -1
        if name == "update" and not math.isfinite(reward := given[-1]):
            raise BadInput(f"{self._problem.name} paid {reward} in round {self._round}: rewards must be finite numbers")
        read = [(value, value.copy()) for value in given if isinstance(value, np.ndarray)]
        result = method(*arguments)
        for value, before in read:
            if not np.array_equal(value, before):
                raise BadInput(f"{self._policy.name}: {name} changes an array that it was given only to read")
        if name == "score" and np.isnan(last).any():
            missing = np.flatnonzero(np.isnan(last)).tolist()
            raise BadInput(
                f"{self._policy.name}: in round {self._round} score gave no number to the arms {shortened(missing)} of "
                f"{last.size}: it must fill all of scores"
            )
        if name == "rank" and (np.unique(last).size < last.size or last.min() < 0):
            raise BadInput(
                f"{self._policy.name}: in round {self._round} rank filled ranking with {shortened(last.tolist())}: it "
                "must be different items"
            )
        self._round += name in ("update", "learn")
        return result
