"""The bridge from plain classes to compiled code."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.typed import List
from numpy.typing import NDArray

import corebandit as cb
from corebandit.catalogue import policy_from
from corebandit.compiled.bridge import CannotBeCompiled, EntryPoint, allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.randomness.stream import Stream, stream
from fresh_interpreter import run_python

FloatArray = NDArray[np.float64]
IS_COMPILED = not numba.config.DISABLE_JIT
typed_list: Any = List  # has no types


class Scale(NamedTuple):
    """A named tuple within another."""

    factor: float

    def scaled(self, x: float) -> float:
        """Return x times the factor."""
        return self.factor * x


class Counter(NamedTuple):
    """A user's class: a nested tuple, a helper method, an array made in a method."""

    totals: FloatArray
    scale: Scale

    def twice(self, x: float) -> float:
        """Help `learn_twice`."""
        return self.scale.scaled(x) + self.scale.scaled(x)

    def learn_twice(self, x: float) -> float:
        """Add to the totals; return their sum."""
        fresh = np.full(self.totals.size, self.twice(x))
        for i in range(fresh.size):
            self.totals[i] += fresh[i]
        return self.totals[0] + self.totals[1]

    def _private(self, x: float) -> float:
        return x + 1.0

    def uses_private(self, x: float) -> float:
        """Call a method whose name begins with an underscore."""
        return self._private(x)


class OtherScale(NamedTuple):
    """Another class with a method of the same name."""

    factor: float

    def scaled(self, x: float) -> float:
        """Return x plus the factor."""
        return self.factor + x


class Parent(NamedTuple):
    """A class with a method of a name that no other class has."""

    factor: float

    def scaled_by_parent(self, x: float) -> float:
        """Return x times the factor."""
        return self.factor * x


class Child(Parent):
    """A class that inherits its method."""


@EntryPoint
def learn_in_a_loop(counter: Counter, n_rounds: int) -> float:
    total = 0.0
    for _ in range(n_rounds):
        total = counter.learn_twice(1.5)
    return total


@EntryPoint
def scale_once(scale: Scale, x: float) -> float:
    return scale.scaled(x)


@EntryPoint
def call_inherited(child: Child, x: float) -> float:
    return child.scaled_by_parent(x)


@allocating_nothing
class Sum(NamedTuple):
    """A class whose method allocates nothing."""

    total: FloatArray

    def add(self, x: float) -> None:
        """Add x."""
        self.total[0] += x


class Sums(NamedTuple):
    """A user's class whose method makes an array."""

    total: FloatArray

    def add(self, x: float) -> None:
        """Add x to all."""
        self.total[:] = self.total + np.full(self.total.size, x)


@EntryPoint.allocating_nothing
def add_often(state: Any, x: float, times: int) -> float:
    for _ in range(times):
        state.add(x)
    return float(state.total[0])


class DerivedSum(Sum):
    """A user's class that is derived from a marked one."""

    def add(self, x: float) -> None:
        """Add x to all."""
        self.total[:] = self.total + np.full(self.total.size, x)


@allocating_nothing
class Around(NamedTuple):
    """A marked class that holds any state."""

    inner: Any
    total: FloatArray

    def add(self, x: float) -> None:
        """Let the inner state add x."""
        self.inner.add(x)


class Named(NamedTuple):
    """A user's class with a string."""

    total: FloatArray
    mode: str

    def add(self, x: float) -> None:
        """Add x as often as the string is long."""
        self.total[0] += x * len(self.mode)


class Listing(NamedTuple):
    """A user's class with a list."""

    total: FloatArray
    past: Any

    def add(self, x: float) -> None:
        """Add x, and list it."""
        self.past.append(x)
        self.total[0] += self.past[-1]


class Drawing(NamedTuple):
    """A user's class with a generator of random numbers."""

    total: FloatArray
    generator: Any

    def add(self, x: float) -> None:
        """Add a random part of x."""
        self.total[0] += x * self.generator.random()


@EntryPoint
def call_private(counter: Counter, x: float) -> float:
    return counter.uses_private(x)


def test_methods_of_nested_tuples_and_helper_methods_run_compiled() -> None:
    counter = Counter(np.zeros(2), Scale(3.0))
    loop = learn_in_a_loop.compiled
    assert loop(counter, 4) == 4 * 2 * (2 * 3.0 * 1.5)
    np.testing.assert_array_equal(counter.totals, np.full(2, 36.0))
    if IS_COMPILED:
        assert learn_in_a_loop.dispatcher.signatures  # it was compiled indeed


def test_each_class_gets_its_own_method_of_a_shared_name() -> None:
    for scale, expected in ((Scale(3.0), 6.0), (OtherScale(3.0), 5.0)):
        assert scale_once.compiled(scale, 2.0) == expected


def test_a_class_that_inherits_its_methods_runs_compiled() -> None:
    child = Child(3.0)
    assert call_inherited.compiled(child, 2.0) == 6.0


def test_references_are_counted_only_for_states_that_may_allocate() -> None:
    lean, other = Sum(np.zeros(3)), Sums(np.zeros(3))
    assert add_often.compiled(lean, 1.5, 4) == add_often.compiled(other, 1.5, 4) == 6.0
    if IS_COMPILED:
        assert [len(add_often.dispatcher_for(state, 1.5, 4).signatures) for state in (lean, other)] == [1, 1]
        assert add_often.dispatcher_for(other, 1.5, 4) is add_often.dispatcher
        assert add_often.is_compiled_for(lean, 1.5, 4)
        assert not add_often.is_compiled_for(lean, 1, 4)


def test_a_class_derived_from_a_marked_one_is_not_marked() -> None:
    derived = DerivedSum(np.zeros(3))
    assert add_often.compiled(derived, 1.5, 4) == 6.0
    assert derived.total.tolist() == [6.0] * 3


def test_what_a_marked_class_holds_is_counted_if_it_needs_to_be() -> None:
    mode, past, generator = "".join(["lower", "upper"]), typed_list([0.0]), np.random.default_rng(1)
    inner = [Named(np.zeros(3), mode), Listing(np.zeros(3), past), Drawing(np.zeros(3), generator)]
    states = [Around(Around(each, each.total), each.total) for each in inner]
    if IS_COMPILED:
        assert [add_often.dispatcher_for(each, 1.5, 4) for each in states] == [add_often.dispatcher] * 3
    sums = [add_often.compiled(each, 1.5, 4) for each in states]
    assert sums[:2] == [60.0, 6.0]
    assert sums[2] == pytest.approx(1.5 * np.random.default_rng(1).random(4).sum())
    assert list(past) == [0.0] + [1.5] * 4
    held = [sys.getrefcount(each) for each in (mode, past, generator)]
    for _ in range(50):
        for each in states:
            add_often.compiled(each, 1.5, 4)
    assert [sys.getrefcount(each) for each in (mode, past, generator)] == held


def test_a_method_beginning_with_an_underscore_runs_compiled() -> None:
    counter = Counter(np.zeros(2), Scale(3.0))
    assert call_private.compiled(counter, 2.0) == 3.0


@EntryPoint
def call_unknown(scale: Any) -> Any:
    return scale.no_such_method()


def test_an_unknown_method_is_named_in_the_error() -> None:
    scale = Scale(3.0)
    expected = CannotBeCompiled if IS_COMPILED else AttributeError
    with pytest.raises(expected, match="no_such_method"):
        call_unknown.compiled(scale)


class HasScore(NamedTuple):
    """A class that has one method and lacks another."""

    factor: float

    def score(self, x: float) -> float:
        """Return the factor."""
        return self.factor


@EntryPoint
def call_missing(state: Any) -> Any:
    return state.scaled(1.0)


def test_a_method_that_other_classes_have_is_still_missing_here() -> None:
    state = HasScore(1.0)
    scale = Scale(3.0)
    assert scale_once.compiled(scale, 2.0) == 6.0
    expected = CannotBeCompiled if IS_COMPILED else AttributeError
    with pytest.raises(expected, match="scaled"):
        call_missing.compiled(state)


class NamedLikeMethods(NamedTuple):
    """A class with fields that are called like methods of other classes, and of arrays."""

    scaled: float
    mean: float

    def total(self, factor: float, extra: float = 1.0) -> float:
        """Return the fields added up."""
        return factor * (self.scaled + self.mean) + extra


@EntryPoint
def add_fields(state: NamedLikeMethods) -> float:
    return state.scaled + 10.0 * state.mean + 100.0 * state.total(extra=2.0, factor=3.0) + 1e4 * state.total(3.0)


def test_a_field_may_be_called_like_a_method_of_another_class_and_a_method_called_by_keyword() -> None:
    state = NamedLikeMethods(1.0, 2.0)
    assert add_fields.compiled(state) == 1.0 + 20.0 + 1100.0 + 1e5


class KeywordOnly(NamedTuple):
    """A class whose method has a parameter that numba would take by its place."""

    factor: float

    def add(self, x: float, *, extra: float = 3.0) -> float:
        """Return x times the factor, and something more."""
        return x * self.factor + extra

    @staticmethod
    def alone(x: float) -> float:
        """Return x."""
        return x


@EntryPoint
def call_add(state: KeywordOnly) -> float:
    return state.add(2.0, extra=1.0)


@EntryPoint
def call_alone(state: KeywordOnly) -> float:
    return state.alone(2.0)


@pytest.mark.parametrize(("function", "sentence"), [(call_add, "add has parameters after \\*"), (call_alone, "alone")])
def test_what_would_be_compiled_wrongly_is_not_compiled(function: EntryPoint, sentence: str) -> None:
    state = KeywordOnly(2.0)
    if IS_COMPILED:
        with pytest.raises(CannotBeCompiled, match=sentence):
            function.compiled(state)
    else:
        assert function.compiled(state) in (5.0, 2.0)


@allocating_nothing
class Walker(NamedTuple):
    """A class of the lowest layer."""

    place: FloatArray

    def walk(self, rng: Stream) -> None:
        """Take a step."""
        self.place[0] += rng.standard_normal()


@numba.njit
def walk_far(walker: Walker, rng: Stream, n_steps: int) -> None:
    for _ in range(n_steps):
        walker.walk(rng)


def test_a_marked_class_runs_compiled_without_being_prepared_and_equals_python() -> None:
    compiled, interpreted, rng = Walker(np.zeros(1)), Walker(np.zeros(1)), stream(1, "walk")
    walk_far(compiled, stream(1, "walk"), 500)
    for _ in range(500):
        interpreted.walk(rng)
    assert compiled.place[0] == interpreted.place[0] != 0.0


# Importing --------------------------------------------------------------------------------------------------------


def test_importing_the_package_is_cheap(tmp_path: Path) -> None:
    script = """
import sys, time
start = time.process_time()
import corebandit
print(time.process_time() - start)
heavy = {"numba", "polars", "matplotlib", "scipy", "numpy.linalg", "pydantic", "typer", "jinja2"} & set(sys.modules)
assert not heavy, f"import corebandit also imports {heavy}"
"""
    assert min(float(run_python(script, tmp_path)) for _ in range(3)) < 0.25


# Classes of the same name -----------------------------------------------------------------------------------------

NAMESAKE = """
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
import corebandit as cb

class State(NamedTuple):
    counts: np.ndarray

    def score(self, rng, scores):
        scores[:] = 0.0
        scores[{arm}] = 1.0

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0

@dataclass(frozen=True)
class Only{arm}(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return State(np.zeros(n_arms))
"""


@pytest.fixture
def namesakes(tmp_path: Path) -> list[Policy]:
    """Return policies of two files, whose states have the same name and the same fields."""
    for arm in (0, 1):
        (tmp_path / f"only_{arm}.py").write_text(NAMESAKE.format(arm=arm))
    return [policy_from(f"{tmp_path / f'only_{arm}.py'}:Only{arm}") for arm in (0, 1)]


@pytest.mark.heavy
def test_states_of_the_same_name_in_two_files_run_their_own_code(namesakes: list[Policy]) -> None:
    problem = cb.FixedArms([cb.Bernoulli(0.9), cb.Bernoulli(0.1)])
    result = cb.run(cb.Experiment(problem, namesakes, horizon=50, runs=1), jobs=1)
    assert [result.notes(policy.label).pulls.tolist() for policy in namesakes] == [[[50, 0]], [[0, 50]]]


@pytest.mark.heavy
def test_agents_with_states_of_the_same_name_run_their_own_code(namesakes: list[Policy]) -> None:
    agents = [cb.Agent(policy, arms=["a", "b"], seed=1) for policy in namesakes]
    for agent, arm in zip(agents, "ab", strict=True):
        for _ in range(3):
            decision = agent.ask()
            assert decision.arm == arm
            agent.forget(decision)
