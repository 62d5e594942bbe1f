"""Contexts as people have them: numbers and words of a user and of each arm, as rows of features.

A *term* is a field or a cross of two. Its value is the product of its numbers; each combination of its words has a
column of its own, from when it is first seen until the term has as many as it may; what comes then shares one more,
"other". Columns are never moved or dropped: what was learnt of a word stays with it, and a model that has not met a
word knows as little of it as on its first day.
"""

import hashlib
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np

from corebandit.contracts.errors import BadFeatures, BadInput, demand
from corebandit.contracts.features import LARGEST_FEATURE
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, shortened, unknown

ARM = "arm"  # the field that every arm has: its own name
MAX_WORDS = 50
LONGEST_WORD = 200  # characters: columns are saved, and written down
NO_STRING = "\0"  # what the word of an arm begins with that is no string: 1 and "1" are two
NUMBER, WORD = "number", "word"
KINDS: dict[type | str, str] = {float: NUMBER, int: NUMBER, bool: NUMBER, str: WORD, NUMBER: NUMBER, WORD: WORD}
Term = tuple[str, ...]  # one field, or two
Key = tuple[int, tuple[str, ...] | None]  # which term, and its words; None: those that have no column of their own


@dataclass(frozen=True)
class Context:
    """Which numbers and words describe a user and an arm, and how they are crossed.

    Parameters
    ----------
    user, arm
        Names of the fields of a user, and of an arm; or what each holds, `{"age": float, "country": str}`. Every arm
        also has the field "arm", its own name. A field holds numbers, or words (strings): what was said here, or else
        what it holds when it first comes. What is missing, or None, counts for nothing.
    crosses
        Pairs of fields whose products are features too; without, each field of the user with "arm". What is the same in
        all rows of a decision decides nothing, so fields of the user matter in crosses alone.
    max_words
        How many words of a field, or combinations of a cross, have a column of their own; all that are first seen later
        are "other". Arms themselves all have one.

    >>> Context(user=["age", "country"], arm=["price"]).terms
    (('price',), ('arm',), ('age', 'arm'), ('country', 'arm'))
    """

    user: tuple[str, ...] = ()
    arm: tuple[str, ...] = ()
    crosses: tuple[Term, ...] | None = None
    max_words: int = MAX_WORDS
    kinds: tuple[tuple[str, str], ...] = ()  # of the fields of which it was said

    def __init__(
        self,
        user: Iterable[str] | Mapping[str, type] = (),
        arm: Iterable[str] | Mapping[str, type] = (),
        crosses: Iterable[Iterable[str]] | None = None,
        max_words: int = MAX_WORDS,
    ) -> None:
        fields = {"user": _names("user", user), "arm": _names("arm", arm)}
        known = [*fields["user"], *fields["arm"], ARM]
        twice = next((name for place, name in enumerate(known) if name in known[:place]), None)
        if twice is not None:
            hint = "; every arm has it anyway" if twice == ARM else ""
            raise BadInput(f"fields of user and arm must all be different, but {twice!r} is there twice{hint}")
        pairs = None if crosses is None else _listed(crosses)
        if crosses is not None and (pairs is None or isinstance(crosses, str | bytes)):
            raise BadInput(f"crosses must be pairs of different fields, not {shortened(crosses)}")
        crossed = None if pairs is None else tuple(_names("each cross", pair) for pair in pairs)
        for pair in crossed or ():
            if len(pair) != 2 or pair[0] == pair[1]:
                raise BadInput(f"crosses must be pairs of different fields, not {shortened(pair)}")
            for name in pair:
                if name not in known:
                    raise unknown("field in crosses", name, known)
        object.__setattr__(self, "user", fields["user"])
        object.__setattr__(self, "arm", fields["arm"])
        object.__setattr__(self, "crosses", crossed)
        object.__setattr__(self, "kinds", (*_said("user", user), *_said("arm", arm)))
        object.__setattr__(self, "max_words", check_count("max_words", max_words))

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return what features are made of: fields of the arm, its name, and crosses."""
        crossed = tuple((name, ARM) for name in self.user) if self.crosses is None else self.crosses
        return (*((name,) for name in (*self.arm, ARM)), *crossed)

    def describe(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        crosses = None if self.crosses is None else [list(pair) for pair in self.crosses]
        fields = {"user": list(self.user), "arm": list(self.arm), "crosses": crosses, "max_words": self.max_words}
        return {**fields, "said": dict(self.kinds)}

    @classmethod
    def described_by(cls, saved: Mapping[str, Any]) -> Self:
        """Return the context that a description is of."""
        said = dict(saved.get("said", {}))
        user, arm = ({name: said.get(name) for name in saved[fields]} for fields in ("user", "arm"))
        return cls(user, arm, saved["crosses"], saved["max_words"])


def _said(what: str, fields: Any) -> Iterator[tuple[str, str]]:
    """Yield which fields hold what, as far as it is said."""
    for name, kind in fields.items() if isinstance(fields, Mapping) else ():
        if kind is not None:
            if not isinstance(kind, type | str) or kind not in KINDS:
                raise BadInput(f"{what} must say float or str of {name!r}, not {shortened(kind)}")
            yield name, KINDS[kind]


def _names(what: str, names: Any) -> tuple[str, ...]:
    listed = None if isinstance(names, str | bytes) else _listed(names)
    if listed is None or not all(isinstance(name, str) and name for name in listed):
        raise BadInput(f"{what} must be a list of names of fields, not {shortened(names)}")
    return tuple(listed)


def _listed(names: Any) -> list[Any] | None:
    try:
        return list(names)
    except TypeError:
        return None


class Columns:
    """The columns that a context has so far. The first is 1 in every row."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._terms = context.terms
        self._places: dict[Key, int] = {}
        self._kinds = dict(context.kinds)  # and of the other fields that were ever given
        self._n_words = [0] * len(self._terms)  # columns of each term, but for "other"

    def __len__(self) -> int:
        """Return how many columns there are."""
        return 1 + len(self._places)

    def names(self, fresh: Sequence[Key] = (), kinds: Mapping[str, str] | None = None) -> list[str]:
        """Return what each column is called: "price", "country=de, arm=gift"; with these that are to come."""
        return ["1", *(self._name(key, kinds or self._kinds) for key in (*self._places, *fresh))]

    def _name(self, key: Key, kinds: Mapping[str, str]) -> str:
        term, words = self._terms[key[0]], iter(key[1] or ())
        if key[1] is None:
            return f"{' x '.join(term)}: other"
        return " x ".join(
            f"{name}={next(words).removeprefix(NO_STRING)}" if kinds[name] == WORD else name for name in term
        )

    def shared_by_arms(self, fresh: Sequence[Key]) -> list[Term]:
        """Return the crosses with "arm" in which arms share a column once these are there."""
        return [self._terms[index] for index, words in fresh if words is None and ARM in self._terms[index]]

    # From dictionaries to rows ------------------------------------------------------------------------------------

    def merged(self, users: Iterable[Any], described: Mapping[Hashable, Any]) -> list[dict[str, Any]]:
        """Return all fields of each arm's row, user by user, checked, from those of the users and of the arms."""
        arms = [
            {**self._checked(f"arm {shortened(arm)}", fields, self.context.arm), ARM: _word_of(arm)}
            for arm, fields in described.items()
        ]
        checked = (self._checked("the user", user, self.context.user) for user in users)
        return [{**shared, **fields} for shared in checked for fields in arms]

    def split(self, arm: Hashable, fields: Any) -> dict[str, Any]:
        """Return all fields of one row, checked, that were given together."""
        known = (*self.context.user, *self.context.arm)
        return {**self._checked("x", fields, known), ARM: _word_of(arm)}

    def _checked(self, whose: str, fields: Any, known: Sequence[str]) -> dict[str, Any]:
        if fields is None:
            return {}
        if not isinstance(fields, Mapping):
            raise BadFeatures(f"{whose} must be described by a dictionary of fields, not {shortened(fields)}")
        found = {}
        for name, value in fields.items():
            if name not in known:
                if not known:
                    raise BadFeatures(f"{whose} has no fields, so {shortened(name)} is unknown: declare it in Context")
                raise BadFeatures(f"{whose}: {unknown('field', str(name), known)}")
            if value is not None:
                found[name] = _plain(f"{name} of {whose}", value)
        return found

    def rows(self, merged: Sequence[Mapping[str, Any]]) -> tuple[list[dict[int, float]], list[Key], dict[str, str]]:
        """Return rows by column, the new columns that they need, and the kinds of fields; nothing is changed."""
        fresh: dict[Key, int] = {}
        kinds, n_words, rows = dict(self._kinds), list(self._n_words), list[dict[int, float]]()
        words: tuple[str, ...]
        for fields in merged:
            for name, value in fields.items():
                kind = WORD if isinstance(value, str) else NUMBER
                if kinds.get(name) != kind and kinds.setdefault(name, kind) != kind:
                    why = "as was said" if name in dict(self.context.kinds) else "as before"
                    raise BadFeatures(f"{name} must be a {kinds[name]}, {why}, not {shortened(value)}")
            row = {0: 1.0}
            for index, term in enumerate(self._terms):
                words, number = (), 1.0  # this is done for every row of every decision: no lists, no calls
                for name in term:
                    value = fields.get(name)
                    if value is None:
                        break
                    if isinstance(value, str):
                        words += (value,)
                    else:
                        number *= value
                else:
                    key = (index, words)
                    place = self._places.get(key)
                    if place is None:
                        place = self._new_place(key, fresh, n_words)
                    row[place] = number
            rows.append(row)
        return rows, list(fresh), kinds

    def _new_place(self, key: Key, fresh: dict[Key, int], n_words: list[int]) -> int:
        """Return the place of a column that there is not yet, or that of "other", and note it in `fresh`."""
        index, words = key
        if key not in fresh:
            if words and self._terms[index] != (ARM,) and n_words[index] >= self.context.max_words:
                key = (index, None)
                if key in self._places:
                    return self._places[key]
            else:
                n_words[index] += 1
        return fresh.setdefault(key, len(self) + len(fresh))

    def add(self, keys: Sequence[Key], kinds: Mapping[str, str]) -> bool:
        """Have these columns too, and tell whether that changes anything."""
        if not keys and kinds == self._kinds:
            return False
        for key in keys:
            self._places[key] = len(self)
            self._n_words[key[0]] += key[1] is not None
        self._kinds = dict(kinds)
        return True

    def table(self, rows: Sequence[Mapping[int, float]], width: int) -> FloatArray:
        """Return rows as an array `(rows, width)`; columns beyond it are left out."""
        table = np.zeros((len(rows), width))
        for place, row in enumerate(rows):
            for column, value in row.items():
                if column < width:
                    table[place, column] = value
        return table

    # Saving -------------------------------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {**self.context.describe(), **keys_to_json(self._places, self._kinds)}

    def restore(self, content: dict[str, Any]) -> None:
        """Have the columns that were saved."""
        keys, kinds = keys_from_json(content)
        fields = {*self.context.user, *self.context.arm, ARM}
        demand(fields.issuperset(kinds) and {NUMBER, WORD}.issuperset(kinds.values()), "kinds must be of fields")
        demand(kinds.items() >= dict(self.context.kinds).items(), "kinds must be those that were said")
        demand(len(set(keys)) == len(keys), "columns must all be different")
        for index, words in keys:
            demand(0 <= index < len(self._terms), "columns must be of terms")
            term = self._terms[index]
            demand(all(name in kinds for name in term), "columns must be of fields that were given")
            n_words = sum(kinds[name] == WORD for name in term)
            demand(words is None or len(words) == n_words, "columns must have a word for each field of words")
        self.add(keys, kinds)
        limited = [n for term, n in zip(self._terms, self._n_words, strict=True) if term != (ARM,)]
        demand(max(limited, default=0) <= self.context.max_words, "columns must not be more than may be")


def keys_to_json(keys: Iterable[Key], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return columns and kinds of fields, ready for JSON."""
    return {"columns": [[index, None if words is None else list(words)] for index, words in keys], "kinds": dict(kinds)}


def keys_from_json(saved: Mapping[str, Any]) -> tuple[list[Key], dict[str, str]]:
    """Return columns and kinds of fields that were saved."""
    keys: list[Key] = []
    for index, words in saved["columns"]:
        demand(words is None or all(isinstance(word, str) for word in words), "columns must be of words")
        keys.append((check_count("columns", index, at_least=0), None if words is None else tuple(words)))
    kinds = dict(saved["kinds"])
    return keys, kinds


def _word_of(arm: Hashable) -> str:
    """Return the word of an arm: no two arms have the same."""
    is_plain = isinstance(arm, str) and not arm.startswith(NO_STRING)
    return _shortened_word(str(arm) if is_plain else f"{NO_STRING}{arm!r}")


def _plain(name: str, value: Any) -> Any:
    """Return a value as a float or a word, or say that it is neither."""
    if isinstance(value, str):
        return _shortened_word(value)
    if isinstance(value, Real | Decimal | np.bool_):
        try:
            number = float(value)
        except (OverflowError, ValueError):  # a whole number of hundreds of digits, a signalling NaN
            number = math.nan
        if abs(number) <= LARGEST_FEATURE:
            return number
    raise BadFeatures(f"{name} must be a word, or a finite number up to {LARGEST_FEATURE:g}, not {shortened(value)}")


def _shortened_word(word: str) -> str:
    """Return a word that is not too long, and another one for another word."""
    if len(word) <= LONGEST_WORD:
        return word
    return f"{word[:LONGEST_WORD]}... {hashlib.sha256(word.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
