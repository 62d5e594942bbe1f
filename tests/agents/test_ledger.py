"""Ids and open decisions, whatever they are of."""

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.ledger import Ledger


def new_ledger():
    return Ledger("order", "a price is", lambda chosen: f"sold {chosen}")


def test_ids_count_up_and_are_never_given_again():
    ledger = new_ledger()
    assert [ledger.enter("tea", place) for place in range(3)] == [0, 1, 2]
    ledger.close(2)
    ledger.close(0)
    assert ledger.enter("rum", "it") == 3
    assert ledger.waiting == {1: ("tea", 1), 3: ("rum", "it")}


def test_what_waits_is_found_by_any_whole_number():
    ledger = new_ledger()
    ledger.enter("tea", "pot")
    for decision_id in (0, np.int64(0), np.uint8(0)):
        found = ledger.find(decision_id)
        assert found == (0, "pot")
        assert type(found[0]) is int


@pytest.mark.parametrize("decision_id", [1, -1, 10**30, True, False, 0.0, "0", None, [0], np.bool_(False), np.nan])
def test_what_is_no_id_of_ours_is_unknown(decision_id):
    ledger = new_ledger()
    ledger.enter("tea", "pot")
    with pytest.raises(cb.UnknownDecision, match=r"order must be one that ask\(\) returned, or its id, not "):
        ledger.find(decision_id)


def test_a_receipt_must_be_of_what_was_chosen():
    ledger = new_ledger()
    ledger.enter("tea", "pot")
    assert ledger.find(0, "a receipt", "tea") == (0, "pot")
    with pytest.raises(cb.UnknownDecision, match="order must be one of this agent's, which sold tea, not 'a receipt'"):
        ledger.find(0, "a receipt", None)
    with pytest.raises(cb.UnknownDecision, match="or its id, not 'a receipt'"):
        ledger.find(7, "a receipt", "tea")


def test_what_was_closed_is_told_already():
    ledger = new_ledger()
    ledger.close(ledger.enter("tea", "pot"))
    for receipt in (None, "a receipt"):
        with pytest.raises(cb.AlreadyTold, match="order 0 was told or forgotten already; a price is learned only once"):
            ledger.find(0, receipt, "tea")


def test_a_ledger_goes_on_where_it_was_saved():
    ledger, twin = new_ledger(), new_ledger()
    for _ in range(4):
        ledger.enter("tea", "pot")
    ledger.close(1)
    content = ledger.content(str.upper)
    assert content == {"pending": [[0, "POT"], [2, "POT"], [3, "POT"]], "next_id": 4}
    twin.restore(content, [("tea", "pot")] * 3)
    assert twin.waiting == ledger.waiting
    assert list(twin.waiting) == [0, 2, 3]
    assert twin.enter("rum", "glass") == ledger.enter("rum", "glass") == 4
    with pytest.raises(cb.AlreadyTold):
        twin.find(1)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pending": [[0, 0], [0, 1]]}, "pending must have each id once"),
        ({"pending": [[0, 0], [2, 1]]}, "pending must have ids below next_id, 2"),
        ({"pending": [[0, 0], [-1, 1]]}, "pending must be a whole number of at least 0, not -1"),
        ({"pending": [[0, 0], [True, 1]]}, "pending must be a whole number of at least 0, not True"),
        ({"next_id": -1}, "next_id must be a whole number of at least 0, not -1"),
        ({"next_id": 2.0}, "next_id must be a whole number of at least 0, not 2.0"),
    ],
)
def test_contradictions_are_refused_and_change_nothing(changes, sentence):
    ledger = new_ledger()
    ledger.enter("tea", "pot")
    content = {"pending": [[0, 0], [1, 1]], "next_id": 2, **changes}
    with pytest.raises(cb.BadInput, match=sentence):
        ledger.restore(content, [("rum", 0), ("rum", 1)])
    assert ledger.waiting == {0: ("tea", "pot")}
    assert ledger.next_id == 1
