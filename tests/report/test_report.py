"""What a report leaves in its folder, and leaves out."""

import json
import math
from dataclasses import replace

import polars as pl
import pytest

from corebandit.report.about import About
from corebandit.report.report import Report, remove_figures


def test_policies_that_are_undrawn_are_so_in_every_part_of_their_experiment(frames):
    part = frames.finals.with_columns(part=pl.lit("linear"))
    both = frames._replace(finals=pl.concat([frames.finals, part]), shares=frames.curves)
    kept = both.without([("figure1", "TS"), ("figure2", "CORe")])
    assert kept.finals.equals(both.finals.filter(pl.col("policy") != "TS"))
    assert kept.shares.equals(kept.curves)
    assert "TS" not in kept.curves["policy"].to_list()
    assert kept.summary is both.summary
    assert both.without([]).finals.equals(both.finals)


def test_figures_of_an_earlier_report_are_removed_and_nothing_else(tmp_path):
    (tmp_path / "figures").mkdir()
    for name in ("old.png", "old.svg", "new.png", "mine.png"):
        (tmp_path / "figures" / name).touch()
    (tmp_path / "outside.png").touch()
    remove_figures(tmp_path, but=["new"])  # no report says what is its own
    (tmp_path / "about.json").write_text('{"figures": ["mine"]}, cut')
    remove_figures(tmp_path, but=["new"])  # nor does this one
    assert len(list((tmp_path / "figures").iterdir())) == 4
    About(figures=["old", "new", "../outside"]).write(tmp_path)
    remove_figures(tmp_path, but=["new"])
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["mine.png", "new.png"]
    assert (tmp_path / "outside.png").exists()


def test_how_it_was_made_comes_back_from_its_folder(tmp_path):
    about = About("Title", "corebandit x", 1.5, "2026-01-01", "0.1", "abc", {"numpy": "1"}, ["one"])
    about.write(tmp_path)
    assert replace(About.read(tmp_path), figures=["one"]) == about
    About("Another").write(tmp_path)  # before its pictures are drawn
    assert (About.read(tmp_path).title, About.read(tmp_path).command) == ("Another", "")
    assert list(About.read(tmp_path).figures) == ["one"]
    assert About.read(tmp_path / "nothing") is None


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_what_is_not_known_is_null_in_json(frames, tmp_path):
    unknown = frames.summary.with_columns(ci_low=pl.lit(-math.inf), stderr=pl.lit(math.nan))
    Report(frames._replace(summary=unknown), about=About("Title")).write(tmp_path)
    row = json.loads((tmp_path / "summary.json").read_text(), parse_constant=pytest.fail)["rows"][0]
    assert (row["ci_low"], row["stderr"], row["ci_high"]) == (None, None, 484.0)
