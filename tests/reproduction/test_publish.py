"""What a report leaves to its tables."""

import json
import math

import polars as pl
import pytest

from corebandit.reproduction import publish


def test_policies_that_are_undrawn_are_so_in_every_part_of_their_study():
    frame = pl.DataFrame(
        {
            "experiment": ["drift", "drift", "drift", "figure1", "drifting"],
            "part": ["", "linear", "", "", ""],
            "policy": ["few", "few", "shown", "few", "few"],
        }
    )
    drawn = publish._drawn(frame, [("drift", "few")])
    assert drawn.rows() == [("drift", "", "shown"), ("figure1", "", "few"), ("drifting", "", "few")]
    assert publish._drawn(frame, []).equals(frame)


def test_figures_of_an_earlier_report_are_removed_and_nothing_else(tmp_path):
    (tmp_path / "figures").mkdir()
    for name in ("old.png", "old.svg", "new.png", "mine.png"):
        (tmp_path / "figures" / name).touch()
    (tmp_path / "outside.png").touch()
    publish._remove_figures(tmp_path, but=["new"])  # no report says what is its own
    assert len(list((tmp_path / "figures").iterdir())) == 4
    publish._write_json(tmp_path / "about.json", {"figures": ["old", "new", "../outside"]})
    publish._remove_figures(tmp_path, but=["new"])
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["mine.png", "new.png"]
    assert (tmp_path / "outside.png").exists()


def test_what_is_not_known_is_null_in_json(tmp_path):
    publish._write_json(tmp_path / "some.json", {"rows": [{"mean": 1.5, "ci_low": -math.inf, "q10": math.nan}]})
    assert json.loads((tmp_path / "some.json").read_text(), parse_constant=pytest.fail) == {
        "rows": [{"mean": 1.5, "ci_low": None, "q10": None}]
    }
