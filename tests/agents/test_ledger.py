"""Ids and open decisions, whatever they are of."""

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.codec import in_json
from corebandit.agents.ledger import Ledger
from corebandit.agents.traffic import Traffic


def new_ledger():
    return Ledger("order", "a price is", lambda chosen: f"sold {chosen}", lambda choice: [len(choice) % 2], Traffic(2))


def test_ids_count_up_and_are_never_given_again():
    ledger = new_ledger()
    first, second, third = (ledger.enter("tea", place, now=5.0) for place in ("a", "b", "c"))
    session = first.removesuffix("-0")
    assert [second, third] == [f"{session}-1", f"{session}-2"]
    ledger.close(third)
    ledger.close(first)
    assert ledger.enter("rum", "it", now=6.0) == f"{session}-3"
    assert ledger.waiting == {second: ("tea", "b", 5.0), f"{session}-3": ("rum", "it", 6.0)}


def test_what_waits_is_found_by_its_id_and_an_old_number_by_any_whole_number():
    ledger = new_ledger()
    assert ledger.find(np.str_(ledger.enter("tea", "pot", now=0.0))) == "pot"
    ledger.ids.n_numbers = 1
    ledger.waiting[0] = ("rum", "glass", 0.0)
    for decision_id in (0, np.int64(0), np.uint8(0)):
        assert ledger.find(decision_id) == "glass"


@pytest.mark.parametrize(
    "decision_id",
    [1, -1, 10**30, True, False, 0.0, 0j, "0", "-0", "", None, [0], np.bool_(False), np.nan, b"0", "x-" + "9" * 5000],
)
def test_what_is_no_id_of_ours_is_unknown(decision_id):
    ledger = new_ledger()
    ledger.enter("tea", "pot", now=0.0)
    ledger.ids.n_numbers = 1
    ledger.waiting[0] = ("rum", "glass", 0.0)  # which equals some of these
    with pytest.raises(cb.UnknownDecision, match=r"order must be one that ask\(\) returned, or its id, not "):
        ledger.find(decision_id)


@pytest.mark.parametrize("number", ["1", "00", "-0", "+0", "0 ", " 0", "0.0", "٠", "", "9" * 5000])
def test_a_number_that_was_not_given_is_unknown(number):
    ledger = new_ledger()
    session = ledger.enter("tea", "pot", now=0.0).removesuffix("-0")
    with pytest.raises(cb.UnknownDecision, match=r"order must be one that ask\(\) returned"):
        ledger.find(f"{session}-{number}")


def test_a_receipt_must_be_of_what_was_chosen():
    ledger = new_ledger()
    tea = ledger.enter("tea", "pot", now=0.0)
    assert ledger.find(tea, "a receipt", "tea") == "pot"
    with pytest.raises(cb.UnknownDecision, match="order must be one of this agent's, which sold tea, not 'a receipt'"):
        ledger.find(tea, "a receipt", None)
    with pytest.raises(cb.UnknownDecision, match="or its id, not 'a receipt'"):
        ledger.find(7, "a receipt", "tea")


def test_what_was_closed_is_told_already():
    ledger = new_ledger()
    tea = ledger.enter("tea", "pot", now=0.0)
    ledger.close(tea)
    sentence = f"order {tea} was told or forgotten already; a price is learned only once"
    for receipt in (None, "a receipt"):
        with pytest.raises(cb.AlreadyTold, match=sentence):
            ledger.find(tea, receipt, "tea")


def test_a_ledger_goes_on_where_it_was_saved():
    ledger, twin = new_ledger(), new_ledger()
    ids = [ledger.enter("tea", "pot", now=float(place)) for place in range(5)]
    session = ids[0].removesuffix("-0")
    ledger.close(ids[1])
    ledger.expire(ids[0])
    content = in_json(ledger.content(str.upper))
    assert content["pending"] == [[ids[2], "POT", 2.0], [ids[3], "POT", 3.0], [ids[4], "POT", 4.0]]
    assert content["expired"] == [[ids[0], [1]]]
    family, name = session.split("-")
    assert content["ids"] == {"family": family, "n_numbers": 0, "sessions": {name: 5}}
    twin.restore(content, [("tea", "pot")] * 3)
    assert twin.waiting == ledger.waiting
    assert list(twin.waiting) == ids[2:]
    assert twin.traffic.n_open == ledger.traffic.n_open == 3
    assert [tally.open for tally in twin.traffic.tallies] == [0, 3]
    assert in_json(twin.content(str.upper)) == content
    assert ledger.enter("rum", "glass", now=5.0) == f"{session}-5"
    assert twin.enter("rum", "glass", now=5.0).rpartition("-")[0] != session
    for book in (ledger, twin):
        with pytest.raises(cb.AlreadyTold, match="told or forgotten"):
            book.find(ids[1])
        with pytest.raises(
            cb.TooLate, match=f"order {ids[0]} has expired: what is told now comes too late, is counted"
        ):
            book.find(ids[0])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pending": [["f-s-0", 0, 0.0], ["f-s-0", 1, 0.0]]}, "pending must have each id once"),
        ({"pending": [["f-s-0", 0, 0.0], ["f-s-2", 1, 0.0]]}, "pending must have ids given, not 'f-s-2'"),
        ({"pending": [["f-s-0", 0, 0.0], ["g-s-0", 1, 0.0]]}, "pending must have ids given, not 'g-s-0'"),
        ({"pending": [["f-s-0", 0, 0.0], [-1, 1, 0.0]]}, "pending must have ids given, not -1"),
        ({"pending": [["f-s-0", 0, 0.0], [True, 1, 0.0]]}, "pending must have ids given, not True"),
        ({"pending": [["f-s-0", 0, 0.0], ["f-s-1", 1, "now"]]}, "pending must be a number, not 'now'"),
        ({"expired": [["f-s-2", [0]]]}, "expired must have ids given, not 'f-s-2'"),
        ({"expired": [["f-s-0", [0]]]}, "expired must not wait"),
        ({"expired": [[0, [2]]]}, "expired must be of options"),
        ({"expired": [[0, [-1]]]}, "expired must be a whole number of at least 0, not -1"),
        (
            {"ids": {"family": "f", "n_numbers": -1, "sessions": {}}},
            "n_numbers must be a whole number",
        ),
        (
            {"ids": {"family": "f", "n_numbers": 2.0, "sessions": {}}},
            "n_numbers must be a whole number of at least 0",
        ),
        (
            {"ids": {"family": "f", "n_numbers": 0, "sessions": {"s": 2.0}}},
            "sessions must be a whole number of at least 0",
        ),
        ({"tallies": {name: [0] for name in in_json(Traffic(0).content())["tallies"]}}, "tallies must be of 2 options"),
        ({"recent": [2]}, "recent must be of options"),
        ({"decided": 1}, "decided must be a whole number of at least 2, not 1"),
    ],
)
def test_contradictions_are_refused_and_change_nothing(changes, sentence):
    ledger = new_ledger()
    tea = ledger.enter("tea", "pot", now=0.0)
    before = in_json(ledger.content(str))
    content = {
        "pending": [["f-s-0", 0, 0.0], ["f-s-1", 1, 0.0]],
        "expired": [],
        "ids": {"family": "f", "n_numbers": 1, "sessions": {"s": 2}},
        "decided": 2,
        **in_json(Traffic(2).content()),
    }
    new_ledger().restore(content, [("rum", "a"), ("rum", "b")])
    with pytest.raises(cb.BadInput, match=sentence):
        ledger.restore({**content, **changes}, [("rum", "a"), ("rum", "b")])
    assert ledger.waiting == {tea: ("tea", "pot", 0.0)}
    assert in_json(ledger.content(str)) == before
