"""Methods that problems and policies' states may have or not.

Which do is decided by type when a loop is compiled, so those without a method cost nothing.
"""

from functools import partial
from typing import Any

from numba import extending

from corebandit.compiled.bridge import OPTIONS


def begin_round(problem: Any, current_round: int) -> bool:
    """Tell a problem that changes over time which round begins, and return whether its means may have changed."""
    return bool(problem.begin_round(current_round)) if hasattr(problem, "begin_round") else False


def tell_round(state: Any, decided: int, left: int, pending: Any) -> None:
    """Tell a policy's state how many decisions were made, are left, and are pending of each arm: see `parts/rounds`."""
    for each in _states(state):
        if hasattr(each, "begin_round"):
            each.begin_round(decided, left, pending)


def prepare(state: Any, rng: Any) -> bool:
    """Let a policy's state do what must happen before a decision, and return whether anything has changed."""
    return any([bool(each.prepare(rng)) for each in _states(state) if hasattr(each, "prepare")])


def _states(state: Any) -> tuple[Any, ...]:
    """Return a state alone, or several states of one class, which may be told or prepare together."""
    return state if type(state) is tuple else (state,)


def asks_first(state: Any) -> bool:
    """Tell whether a policy's state is told of rounds, or prepares decisions."""
    return hasattr(state, "begin_round") or hasattr(state, "prepare")


def _has(instance: Any, method: str) -> bool:
    return hasattr(getattr(instance, "instance_class", None), method)


def teach_optional_methods(overload: Any) -> None:
    """Let compiled code call the optional methods, by `numba.extending.overload` or that of numba-cuda."""

    @overload(begin_round, strict=False)  # annotations may differ
    def _begin_round(problem: Any, current_round: Any) -> Any:
        if _has(problem, "begin_round"):
            return lambda problem, current_round: problem.begin_round(current_round)
        return lambda problem, current_round: False

    @overload(tell_round, strict=False)
    def _tell_round(state: Any, decided: Any, left: Any, pending: Any) -> Any:
        def tell_each(state: Any, decided: Any, left: Any, pending: Any) -> None:
            for each in state:
                each.begin_round(decided, left, pending)

        if _has(state, "begin_round"):
            return lambda state, decided, left, pending: state.begin_round(decided, left, pending)
        if _are_several_with(state, "begin_round"):
            return tell_each
        return lambda state, decided, left, pending: None

    @overload(prepare, strict=False)
    def _prepare(state: Any, rng: Any) -> Any:
        def prepare_each(state: Any, rng: Any) -> bool:
            has_changed = False
            for each in state:
                has_changed |= each.prepare(rng)
            return has_changed

        if _has(state, "prepare"):
            return lambda state, rng: state.prepare(rng)
        if _are_several_with(state, "prepare"):
            return prepare_each
        return lambda state, rng: False


def _are_several_with(states: Any, method: str) -> bool:
    """Tell whether this is the type of a tuple of states of one class that has a method."""
    return not hasattr(states, "instance_class") and _has(getattr(states, "dtype", None), method)


overload: Any = extending.overload  # of which numba knows no types
teach_optional_methods(partial(overload, jit_options={**OPTIONS, "forceinline": True}))
