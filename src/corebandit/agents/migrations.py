"""What older versions saved in the layout of this one: their agents go on as if nothing had happened.

Version 0.4 kept every arm's list of numbers (`History`) in pages of 64 numbers: `pages` (n_pages, 64), `table` (n_arms,
pages of an arm), `counts` and `n_used`. Now they are in one piece each.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from corebandit.agents.codec import array_to_json, fill_from_json
from corebandit.contracts.errors import DamagedFile
from corebandit.contracts.state import arrays_of
from corebandit.parts.history import PLACES, History, new_history

PAGE = 64


def in_todays_format(content: dict[str, Any]) -> dict[str, Any]:
    """Return what makes an agent as this version has it.

    Until format 3, decisions had numbers for ids, no age and no propensities, and nobody counted what became of the
    options.
    """
    if content["format"] >= 4:
        return content
    return {
        **content,
        "settings": {},
        "pending": [[decision_id, choice, None] for decision_id, choice in content["pending"]],
        "expired": [],
        "ids": {"family": None, "n_numbers": content["next_id"], "sessions": {}},
        "tallies": None,
        "recent": None,
        "pending_propensities": None,
    }


def in_todays_layout(state: Any, saved: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the saved arrays as `state`, a fresh one of the same policy and sizes, has them."""
    if len(saved) != sum(1 for _ in arrays_of(state)):
        raise DamagedFile(f"it holds {len(saved)} arrays, not {sum(1 for _ in arrays_of(state))}")
    return list(_translated(state, iter(saved)))


def _translated(state: Any, saved: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the arrays of one part of a state, which are the next of those saved."""
    for field in state:
        if isinstance(field, np.ndarray):
            yield next(saved)
        elif isinstance(field, History):
            arrays = [next(saved) for _ in field]
            is_paged = len(arrays[0]["shape"]) == 2
            yield from (map(array_to_json, _from_pages(field, arrays)) if is_paged else arrays)
        elif isinstance(field, tuple):
            yield from _translated(field, saved)


def _from_pages(fresh: History, saved: list[dict[str, Any]]) -> History:
    """Return the lists that version 0.4 saved, with the room that `fresh` has."""
    n_arms, capacity = fresh.counts.size, fresh.values.size // PLACES
    pages = np.zeros((capacity // PAGE + n_arms, PAGE))
    table = np.zeros((n_arms, capacity // PAGE + 1), np.int64)
    history = new_history(n_arms, capacity)
    for array, part in zip((pages, table, history.counts, history.n_used), saved, strict=True):
        fill_from_json(array, part)
    counts, n_pages = history.counts, -(-history.counts // PAGE)
    n_used, history.n_used[0] = history.n_used[0], 0
    in_use = table[np.arange(table.shape[1]) < n_pages[:, np.newaxis]]
    if (
        counts.min() < 0
        or counts.sum() > capacity
        or n_used != n_pages.sum()
        or not np.array_equal(np.sort(in_use), np.arange(n_used))  # each page is one arm's
    ):
        raise DamagedFile("its lists of observations contradict each other")
    for arm, count in enumerate(counts.tolist()):
        if count > 0:
            start = int(history.n_used[0])
            history.starts[arm] = start
            history.values[start : start + count] = pages[table[arm, : n_pages[arm]]].ravel()[:count]
            history.n_used[0] += 1 << (count - 1).bit_length()  # the block that so many numbers lie in
    return history
