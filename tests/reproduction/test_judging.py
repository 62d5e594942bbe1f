"""Which figures a result holds, what is judged of them, and what no table shows."""

import json
from dataclasses import replace

import pytest

import corebandit as cb
from corebandit.experiments.experiment_file import read_experiments
from corebandit.experiments.reporting import played_by
from corebandit.experiments.result import Result
from corebandit.report.about import About
from corebandit.reproduction.judging import judged_report
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.theory import lemma_trials
from made_up import made_up


@pytest.fixture(scope="module")
def figure1():
    figure = FIGURES["figure1"]
    return made_up(figure.experiments(figure.quick_size, None), lambda experiment, label: 100.0)


def test_a_figure_is_known_by_the_name_of_its_experiments(figure1):
    report = judged_report(figure1, About())
    assert {claim.id for claim in report.claims} == {"F1.a", "F1.b", "F1.c"}
    assert report.about.title == "CORe: the paper reproduced"
    assert any("Figure 1 30 (100). Verdicts of 1,000 runs are in docs/results.md." in said for said in report.remarks)
    assert report.provenance
    undrawn = set(report.frames.summary["policy"]) - set(report.frames.curves["policy"])
    assert undrawn == set(FIGURES["figure1"].undrawn)


def test_an_experiment_of_ones_own_by_the_name_of_a_figure_is_shown_and_not_judged():
    experiments = [cb.Experiment(cb.BernoulliBandit(), [cb.CORe()], name=name) for name in ("drift", "mine")]
    report = judged_report(made_up(experiments, lambda experiment, label: 1.0), About("Mine"))
    assert report.about.title == "Mine"
    assert not report.claims
    (remark,) = report.remarks
    assert remark.startswith("The claims of drift are not judged, as not all that they rest on is here (")
    assert report.frames.summary.height == 2


def test_what_no_table_shows_is_saved_and_left_out(figure1, tmp_path):
    hidden = cb.Experiment(cb.BernoulliBandit(), [cb.CORe()], name="figure1", part="bad runs", shown=False)
    assert cb.Experiment.from_dict(hidden.to_dict()) == hidden
    assert "shown" not in replace(hidden, shown=True).to_dict()
    result = figure1.joined_with(made_up([hidden], lambda experiment, label: 1.0))
    result.save(tmp_path)
    loaded = cb.Result.load(tmp_path)
    assert len(loaded.curves("figure1", "bad runs")) == 1
    report, plain = judged_report(loaded, About()), judged_report(figure1, About())
    for frame, other in zip(report.frames, plain.frames, strict=True):
        assert frame is other or frame.equals(other)
    assert len(report.experiments) == len(loaded.experiments) - 1


def test_what_no_table_shows_is_run_again_where_it_can_be_made(tmp_path):
    bernoulli = cb.Experiment(cb.BernoulliBandit(), [cb.CORe()])
    watched = lemma_trials(300, 100, shown=False)
    file = tmp_path / "experiments.json"
    described = [each.to_dict() for each in (bernoulli, replace(bernoulli, shown=False), watched)]
    file.write_text(json.dumps(described))
    assert [each.shown for each in read_experiments(file)] == [True, False]
    file.write_text(json.dumps([replace(watched, shown=True).to_dict()]))
    with pytest.raises(cb.BadInput, match="PoolWatch"):
        read_experiments(file)


def test_it_is_said_who_played_if_not_threads(figure1):
    assert played_by(figure1) == []
    curves = figure1.curves()[:3]
    for engine, said in (
        ("cuda", "a GPU, whose numbers are those of a processor up to rounding"),
        ("ray", "the engine ray"),
    ):
        assert played_by(Result([], [replace(curve, engine=engine) for curve in curves])) == [f"Played by {said}."]
        mixed = Result([], [replace(curves[0], engine=engine), *curves[1:]])
        assert played_by(mixed) == [f"Played by {said}: CORe; by threads: CORe (warm-up 2), TS."]
