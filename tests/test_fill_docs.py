"""Numbers in README and docs are those of stored results, and stay so."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

import corebandit as cb
from corebandit.experiments.reporting import report_of
from corebandit.report import tables
from corebandit.report.about import About
from corebandit.report.claim import Claim
from corebandit.reproduction.figure import Size
from corebandit.reproduction.studies import drift_study, drift_tables, exploration_study, warmup_study
from made_up import made_up

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "fill_docs.py"))
PAGE = """before
<!-- numbers: table figure1 -->
stale
<!-- end -->
<!-- numbers: about figure1 -->
<!-- end -->
<!-- numbers: claims figure1 -->
<!-- end -->
<!-- numbers: evidence figure1 -->
<!-- end -->
<!-- numbers: table figure1 UCB1 -->
<!-- end -->
CORe had <!-- number: figure1 bernoulli CORe -->7<!-- end --> here.
after
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory, write_little):
    folder = tmp_path_factory.mktemp("run")
    experiment = cb.Experiment(
        cb.BernoulliBandit(), [cb.CORe(), cb.UCB1()], 300, 12, name="figure1", title="Clicks | yes"
    )
    result = cb.run(experiment)
    claim = Claim("F1.a", "CORe is below.", 4.0, "holds", "open", "this decided")
    other = Claim("T1", "A lemma.", None, "holds", "holds", "that")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", write_little)
        command = "corebandit x --out /some/folder --seed 1"
        replace(report_of(result, About("t", command)), claims=[claim, other]).write(folder)
    SCRIPT["store"](folder, folder / "stored")
    return result, SCRIPT["stored_results"](folder / "stored")


def test_every_page_has_the_numbers_that_are_stored():
    results = SCRIPT["stored_results"]()
    for name in SCRIPT["PAGES"]:
        page = (ROOT / name).read_text(encoding="utf-8")
        assert SCRIPT["filled"](page, results) == page, f"run scripts/fill_docs.py: {name} differs from docs/results"


def test_a_run_is_stored_and_shown(stored):
    result, results = stored
    assert list(results) == ["figure1"]
    assert [claim["id"] for claim in results["figure1"]["claims"]] == ["F1.a"]
    page = SCRIPT["filled"](PAGE, results)
    row = result.summary().row(0, named=True)
    said = tables.with_error(row["mean"], row["stderr"])
    assert f"| CORe | {said}" in page
    assert f"-->{said}" in page.splitlines()[-2]
    assert "stale" not in page
    assert "| policy | Clicks / yes |" in page
    assert "`corebandit x --seed 1`, 12 runs of 300 rounds each; version" in page  # a folder is nobody else's
    assert "| claim | warm-up 4 |" in page
    assert "| F1.a: CORe is below. | **holds** |" in page
    assert "| F1.a | 4 | **holds** (one by one: open) | this decided |" in page
    assert page.count("| CORe |") == 1
    assert page.count("| UCB1 |") == 2
    assert page.startswith("before\n")
    assert page.endswith("here.\nafter\n")


def test_a_page_that_differs_is_noticed(stored):
    _, results = stored
    page = SCRIPT["filled"](PAGE, results)
    assert SCRIPT["filled"](page, results) == page
    first = page.index("| CORe |") + 9
    changed = page[:first] + ("1" if page[first] != "1" else "2") + page[first + 1 :]
    assert SCRIPT["filled"](changed, results) == page
    assert changed != page


def test_what_is_not_stored_is_no_silence(stored):
    _, results = stored
    for mark in (
        '<!-- number: figure1 bernoulli "No one" -->1<!-- end -->',
        "<!-- numbers: table figure2 -->\n<!-- end -->",
    ):
        with pytest.raises(KeyError):
            SCRIPT["filled"](mark, results)


@pytest.mark.heavy
def test_policies_of_an_experiment_of_one_file_are_shown_beside_the_first(tmp_path, undrawn):
    experiment = cb.Experiment(cb.BernoulliBandit(), {"exact": cb.UCB1(), "fast": cb.UCB1()}, 300, 12, name="samplers")
    cb.run(experiment).report(tmp_path)
    SCRIPT["store"](tmp_path, tmp_path / "stored")
    results = SCRIPT["stored_results"](tmp_path / "stored")
    page = SCRIPT["filled"]("<!-- numbers: differences samplers -->\n<!-- end -->", results)
    mean = SCRIPT["number"](results["samplers"], "samplers", "bernoulli", "exact")
    assert "| problem | exact | fast | difference, 95 % interval | in percent |" in page
    assert f"| bernoulli | {mean} | {mean} | 0" in page
    assert "| +0.0 % [+0.0, +0.0] |" in page


def test_settings_of_the_warm_up_are_compared_with_the_best_rival_of_each_problem():
    size = Size(horizon=1_000, runs=30, search_runs=30)

    def regret(experiment, label):
        at = experiment.points[label].at if label in experiment.points else {}
        return 20.0 if not at else 30.0 if at == {"alpha": 0.6, "warm_up": 0.5} else 50.0

    rows = SCRIPT["settings_of"](made_up(warmup_study.grid(size), regret, spread=0.01))
    assert [round(row["ratio"], 1) for row in rows] == [1.5, 1.5, *[2.5] * 8]
    page = SCRIPT["filled"]("<!-- numbers: settings warmup -->\n<!-- end -->", {"warmup": {"settings": rows}})
    assert "| setting | 100 rounds, 60 runs | 1,000 rounds, 30 runs | gone bad, 100 | gone bad, 1,000 |" in page
    assert "| short: factor 0.5, alpha 0.6 | 1.5" in page


def test_core_without_a_warm_up_is_shown_beside_the_best_rival_of_each_problem():
    row = {"policy": exploration_study.NO_WARM_UP, "runs": 40, "ratio_low": 0.8, "ratio_high": 1.3, "best rival": "TS"}
    rows = [
        {**row, "title": "Clicks", "horizon": 100, "ratio": 1.2},
        {**row, "title": "Clicks", "horizon": 1000, "ratio": 0.9},
        {**row, "title": "Sales", "horizon": 100, "ratio": 0.3, "runs": 4000},
        {**row, "title": "Sales", "horizon": 100, "ratio": 7.0, "policy": exploration_study.PAPER},
    ]
    page = SCRIPT["filled"]("<!-- numbers: ratios exploration -->\n<!-- end -->", {"exploration": {"ratios": rows}})
    assert "| problem | 100 rounds, 40 or 4,000 runs | 1,000 rounds, 40 runs |" in page
    assert "| Clicks | 1.20 [0.80, 1.30] (TS) | 0.90 [0.80, 1.30] (TS) |" in page
    assert "| Sales | 0.30 [0.80, 1.30] (TS) |  |" in page
    assert "| **geometric mean** | **0.60** | **0.90** |" in page


def compared(setting, horizon, overall, by_features=False, runs=(30,)):
    named = {"setting": setting, "horizon": horizon, "by features": by_features, "overall": overall, "runs": list(runs)}
    return named | {"ratio": 10 * overall, "worst": 20 * overall, "gone bad": 0.01, "worst gone bad": 0.02}


def test_settings_without_a_warm_up_are_shown_for_arms_and_linear_models_apart():
    means = {"poor": 0.3, "good": 0.1, "fair": 0.2}
    rows = [compared(setting, 10, mean) for setting, mean in means.items()]
    rows += [compared(setting, 100, mean, runs=(30, 400)) for setting, mean in means.items()]
    rows += [compared("good", horizon, 0.7, by_features=True) for horizon in (10, 100)]

    def filled(*which):
        mark = f"<!-- numbers: lowest exploration_large {' '.join(which)} -->\n<!-- end -->"
        return SCRIPT["filled"](mark, {"exploration_large": {"settings": rows}}).splitlines()[1:-1]

    head = "| setting | all horizons | 10 rounds, 30 runs | 100 rounds, 30 or 400 runs | gone bad, 10 | gone bad, 100 |"
    assert filled("arms", "2")[0] == head
    said = "| 0.10 | 1.00 (at most 2.00) | 1.00 (at most 2.00) | 1.0 % (at most 2.0 %) | 1.0 % (at most 2.0 %) |"
    assert filled("arms", "1")[2:] == [f"| good {said}"]
    assert [line.split(" | ")[0] for line in filled("arms", "1", "poor")[2:]] == ["| poor"]
    (linear,) = filled("linear", "8")[2:]
    assert linear.startswith("| good | 0.70 | 7.00 (at most 14.00) |")


def test_geometric_means_of_ratios_are_shown_for_each_form_of_core():
    paper, new = exploration_study.PAPER, exploration_study.NO_WARM_UP
    rows = [
        {"policy": policy, "horizon": horizon, "ratio": ratio}
        for policy, horizon, ratio in ((new, 100, 1.0), (new, 100, 4.0), (paper, 100, 9.0), (paper, 100, 1.0))
    ]
    page = SCRIPT["filled"]("<!-- numbers: means x -->\n<!-- end -->", {"x": {"ratios": rows}})
    assert "| policy | 100 rounds, 2 problems |" in page
    assert f"| {new} | 2.00 (at most 4.00) |" in page
    assert f"| {paper} | 3.00 (at most 9.00) |" in page


def test_forms_of_core_are_shown_beside_the_best_rival_of_each_world():
    ours = dict.fromkeys(drift_study.OURS, 100.0)
    rivals = {"SW-UCB": 400.0, "D-UCB": 300.0, "SW-UCB 4,000, 0.05": 200.0}
    rows = [
        {"part": "", "problem": "p", "title": "Seasons", "policy": policy, "mean": mean, "stderr": 1.0}
        for policy, mean in {**ours, **rivals}.items()
    ]
    stored = {"drift": {"rows": rows}}
    page = SCRIPT["filled"]("<!-- numbers: worlds drift -->\n<!-- end -->", stored)
    assert "| Seasons | 100.0 ± 1.0 |" in page
    assert "| 200.0 ± 1.0 (SW-UCB 4,000, 0.05) | 0.50 | 300.0 ± 1.0 (D-UCB) |" in page


def test_forms_of_core_are_shown_beside_the_best_rival_with_intervals():
    row = {"title": "Seasons", "beside": "D-UCB 500, 0.02", "ratio": 1.1, "ratio_low": 0.9, "ratio_high": 1.234}
    rows = [row | {"policy": policy} for policy in ("one", "two", "three")]
    rows.append(row | {"policy": "one", "beside": "CORe", "ratio": 2.0})
    rows.append(row | {"policy": "two", "beside": "CORe", "ratio": 3.0})
    mark = "<!-- numbers: beside drift_large one two -->\n<!-- end -->"
    page = SCRIPT["filled"](mark, {"drift_large": {"ratios": rows}})
    assert "| world | one | two | beside |" in page
    assert "| Seasons | 1.10 [0.90, 1.23] | 1.10 [0.90, 1.23] | D-UCB 500, 0.02 |" in page
    assert "| Seasons | 2.00 [0.90, 1.23] | 3.00 [0.90, 1.23] | CORe |" in page


def test_of_rivals_in_worlds_that_change_the_best_are_stored_and_those_at_their_defaults():
    regrets = {**dict.fromkeys(drift_study.OURS, 900.0), "D-UCB": 800.0, **{f"D-UCB {n}, 0.05": n for n in range(9)}}
    rows = [{"part": "", "problem": "p", "policy": policy, "mean": mean} for policy, mean in regrets.items()]
    kept = [row["policy"] for row in drift_tables.without_poor_rivals(rows)]
    assert kept == [*drift_study.OURS, "D-UCB", *(f"D-UCB {n}, 0.05" for n in range(5))]


def test_stored_files_are_small_and_say_where_they_come_from():
    for path in SCRIPT["STORE"].glob("*.json"):
        assert path.stat().st_size < 200_000
        assert set(json.loads(path.read_text(encoding="utf-8"))["about"]) == {"command", "made", "version", "sources"}
