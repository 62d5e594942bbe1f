"""Arguments are checked in one sentence that names them."""

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from corebandit.contracts.validate import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    counted,
    shortened,
    unknown,
)


def exactly(sentence: str) -> str:
    """Return the pattern that matches this sentence and nothing else."""
    return f"^{re.escape(sentence)}$"


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float64(0.25), np.float32(0.5), np.int64(1), Fraction(1, 4)])
def test_a_number_within_its_bounds_is_returned_as_a_float(value: Any) -> None:
    checked = check_number("alpha", value, at_least=0, at_most=1)
    assert type(checked) is float
    assert checked == value


@pytest.mark.parametrize(
    ("value", "bounds", "sentence"),
    [
        (-1, {"at_least": 0}, "alpha must be a number of at least 0, not -1"),
        (0.0, {"above": 0}, "alpha must be a number above 0, not 0.0"),
        (1, {"above": 0, "below": 1}, "alpha must be a number above 0 and below 1, not 1"),
        (
            1.5,
            {"at_least": 0.25, "at_most": 1.25},
            "alpha must be a number of at least 0.25 and of at most 1.25, not 1.5",
        ),
        (math.nan, {}, "alpha must be a number, not nan"),
        (math.nan, {"at_least": 0}, "alpha must be a number of at least 0, not nan"),
        (math.inf, {"at_least": 0}, "alpha must be a number of at least 0, not inf"),
        (-math.inf, {}, "alpha must be a number, not -inf"),
        ("1", {"above": 0}, "alpha must be a number above 0, not '1'"),
        (None, {}, "alpha must be a number, not None"),
        (True, {"at_least": 0}, "alpha must be a number of at least 0, not True"),
        ([1.0], {}, "alpha must be a number, not [1.0]"),
        (1j, {}, "alpha must be a number, not 1j"),
        (10**400, {}, f"alpha must be a number, not {10**99}..."),
    ],
)
def test_a_wrong_number_is_refused_in_a_sentence(value: Any, bounds: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=exactly(sentence)):
        check_number("alpha", value, **bounds)


@pytest.mark.parametrize("bad", [np.bool_(True), np.array(1.0), np.array([1.0])])
def test_numpy_values_that_are_not_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="alpha must be a number"):
        check_number("alpha", bad)


@pytest.mark.parametrize(("bound", "inside", "outside"), [("above", 1.1, 1), ("below", 0.9, 1)])
def test_strict_bounds_exclude_their_limit(bound: str, inside: float, outside: float) -> None:
    limits: dict[str, Any] = {bound: 1}
    assert check_number("x", inside, **limits) == inside
    with pytest.raises(ValueError, match=f"{bound} 1"):
        check_number("x", outside, **limits)


@pytest.mark.parametrize("bound", ["at_least", "at_most"])
def test_other_bounds_include_their_limit(bound: str) -> None:
    limits: dict[str, Any] = {bound: 1}
    assert check_number("x", 1, **limits) == 1.0


@pytest.mark.parametrize("value", [1, 10**12, np.int32(5), np.uint8(3)])
def test_a_count_is_returned_as_an_int(value: Any) -> None:
    checked = check_count("horizon", value)
    assert type(checked) is int
    assert checked == value


@pytest.mark.parametrize("value", [0, -3, 2.0, 2.5, "3", None, True, math.nan])
def test_a_wrong_count_is_refused_in_a_sentence(value: Any) -> None:
    with pytest.raises(ValueError, match=exactly(f"horizon must be a whole number of at least 1, not {value!r}")):
        check_count("horizon", value)


def test_a_count_may_start_elsewhere() -> None:
    assert check_count("pool_size", 0, at_least=0) == 0
    with pytest.raises(ValueError, match="at least 2, not 1"):
        check_count("pool_size", 1, at_least=2)


def test_a_flag_must_be_true_or_false() -> None:
    check_flag("realised", True)
    check_flag("realised", False)
    for value in (1, 0, None, "yes"):
        with pytest.raises(ValueError, match=exactly(f"realised must be True or False, not {value!r}")):
            check_flag("realised", value)


def test_a_choice_must_be_one_of_those_given() -> None:
    check_choice("sampler", "fast", ("fast", "exact"))
    with pytest.raises(ValueError, match=exactly("sampler must be 'fast' or 'exact', not 'slow'")):
        check_choice("sampler", "slow", iter(["fast", "exact"]))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("core", "unknown policy 'core': did you mean 'CORe'?"),
        ("UBC1", "unknown policy 'UBC1': did you mean 'UCB1'?"),
        ("zzz", "unknown policy 'zzz': there is CORe, PHE, UCB1"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest_known_one(value: str, sentence: str) -> None:
    error = unknown("policy", value, ["UCB1", "CORe", "PHE"])
    assert isinstance(error, ValueError)
    assert str(error) == sentence


def test_long_values_are_cut() -> None:
    assert shortened("short") == "'short'"
    cut = shortened([0.1] * 1000)
    assert cut.startswith("[0.1, 0.1")
    assert cut.endswith("...")
    assert len(cut) < 110
    assert shortened("long" * 1000, longest=6) == "'longlo...'"


@pytest.mark.parametrize(
    ("number", "noun", "text"), [(1, "policy", "1 policy"), (3, "policy", "3 policies"), (1200, "run", "1,200 runs")]
)
def test_nouns_follow_their_number(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


def test_of_many_names_only_some_are_listed() -> None:
    sentence = str(unknown("query", "zzz", [f"q{number:03}" for number in range(60)]))
    assert sentence.startswith("unknown query 'zzz': there is q000, q001, ")
    assert sentence.endswith("q029 and 30 more")


def test_what_cannot_be_written_out_is_named_by_its_type() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert shortened(10**5000) == "a value of type int"
    assert shortened(nested) == "a value of type list"
    with pytest.raises(ValueError, match="not a value of type int"):
        check_number("alpha", 10**5000)
