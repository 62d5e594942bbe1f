import dataclasses
import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from corebandit.experiments.curve import Curve
from corebandit.experiments.result_files import write_result
from corebandit.randomness.stream import stream
from corebandit.report.claim import FAILS, HOLDS
from corebandit.reproduction.studies import STUDIES, bad_runs, exploration_cells as cells, exploration_study as study
from made_up import made_up, verdicts_of

FIGURE = STUDIES["exploration"]
SIZE = FIGURE.paper_size
BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    """The benchmark of the large form."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("exploration")


@pytest.mark.heavy
def test_every_rival_is_tried_on_every_problem_and_settings_of_core_on_those_one_is_chosen_on():
    experiments = FIGURE.search(SIZE)
    assert [experiment.horizon for experiment in experiments] == [1_000] * 21 + [10_000] * 21 + [100_000] * 11
    for experiment in experiments:
        kind = cells.KINDS[experiment.title]
        assert kind.problem == experiment.problem
        rivals = [label for family in cells.families_on(kind.problem).values() for label in family]
        assert len(set(rivals)) == len(rivals)
        assert set(experiment.policies) == {*experiment.points, *rivals}
        settings = cells.candidates(cells.is_by_features(kind.problem)) if kind.is_chosen_on else {}
        assert list(experiment.points) == list(settings)
        for label, setting in settings.items():
            policy, point = experiment.policies[label], experiment.points[label]
            assert (policy.alpha, policy.extra, policy.warm_up) == (setting.alpha, setting.extra, 0.0)
            assert point.at == {"alpha": setting.alpha, "extra": setting.extra}
            assert getattr(policy, "growth", 0.0) == setting.growth


def test_the_noise_grows_in_settings_for_arms_and_not_by_features():
    for_arms, for_features = (cells.candidates(by_features) for by_features in (False, True))
    assert (len(for_arms), len(for_features)) == (16 + 36, 16)
    assert {core.growth for core in for_features.values()} == {0.0}
    assert {core.growth for core in for_arms.values()} == {0.0, *cells.GROWTHS}
    assert for_features.items() <= for_arms.items()


def test_what_is_reported_was_not_played_before():
    assert {experiment.seed for experiment in FIGURE.experiments(SIZE, None)} == {SIZE.seed}
    assert SIZE.seed not in {experiment.seed for experiment in FIGURE.search(SIZE)}


@pytest.mark.heavy
@pytest.mark.parametrize("title", [title for title, kind in cells.KINDS.items() if hasattr(kind.problem, "low")])
def test_rivals_are_told_the_noise_of_a_typical_arm(title):
    problem, squares = cells.KINDS[title].problem, []
    for run in range(20):
        arms, rng = problem.draw(stream(1, run)), stream(2, run)
        rewards = np.array([[arms.pull(arm, rng) for _ in range(300)] for arm in range(min(10, arms.n_arms))])
        squares.append(np.var(rewards, axis=1).mean())
    assert cells.noise_of(problem) == pytest.approx(np.sqrt(np.mean(squares)), rel=0.25 if "t" in problem.name else 0.1)


def grid(regret_of, rivals=lambda experiment, label: 100.0):
    """Return what the search finds if rivals and settings have these regrets."""
    settings = cells.candidates(by_features=False)

    def regret(experiment, label):
        return regret_of(settings[label]) if label in experiment.points else rivals(experiment, label)

    result = made_up(FIGURE.search(dataclasses.replace(SIZE, search_runs=30)), regret, spread=0.1)
    return result, list(study.cells(result.experiments, study.finals_of(result)))


@pytest.mark.heavy
def test_a_cell_is_the_ratio_to_the_best_rival():
    def regret(core):
        return 10 * core.alpha * core.extra * (1 + core.growth)

    _, found = grid(regret, lambda experiment, label: 50.0 + 100.0 * ("TS" in label))
    settings = cells.candidates(by_features=False)
    assert len(found) == 2 * (4 * 52 + 2 * 16)
    for cell in found:
        assert cell.ratio == pytest.approx(regret(settings[cell.setting]) / 50, rel=0.01)
        assert cell.gone_bad == 0.0
        assert cell.is_by_features == ("linear" in cell.problem)


def cell(horizon, setting, ratio, gone_bad, by_features=False):
    return study.Cell(horizon, "any", by_features, setting, ratio, gone_bad, 30)


def test_the_rule_takes_the_lowest_geometric_mean_of_settings_of_which_few_runs_go_bad():
    safe = [cell(1000, "a", 2.0, 0.5), cell(10_000, "a", 0.5, 0.03)]  # a geometric mean of 1, an arithmetic one of 1.25
    safer = [cell(1000, "b", 1.1, 0.0), cell(10_000, "b", 1.1, 0.0)]
    hasty = [cell(1000, "c", 0.5, 0.0), cell(10_000, "c", 0.5, 0.031)]
    linear = [cell(1000, "d", 0.1, 0.0, by_features=True), cell(10_000, "d", 0.1, 0.0, by_features=True)]
    assert study.chosen_setting([*safer, *safe, *hasty, *linear]) == "a"
    assert study.chosen_setting([*safer, *linear], by_features=True) == "d"
    assert study.chosen_setting([*hasty, cell(1000, "e", 9.0, 0.0), cell(10_000, "e", 9.0, 0.0305)]) == "e"


@pytest.mark.heavy
def test_every_rival_plays_at_the_setting_that_was_best_for_its_problem_and_horizon():
    def rivals(experiment, label):
        best = "PHE 0.5" if experiment.horizon == 1000 else "PHE 0.3"
        return 90.0 if label == best else 100.0

    searched, _ = grid(lambda core: 100.0, rivals)
    for experiment in (each for each in FIGURE.experiments(dataclasses.replace(SIZE, runs=30), searched) if each.shown):
        policies = experiment.policies
        assert {study.NO_WARM_UP, study.PAPER, *cells.families_on(experiment.problem)} <= set(policies)
        if "PHE" in policies:
            assert policies["PHE"].a == (0.5 if experiment.horizon == 1000 else 0.3), experiment.title
            assert policies["PHE"].pseudo == "gaussian"


@pytest.mark.heavy
def test_claims_follow_the_numbers():
    def verdicts(ours, paper=200.0):
        means = {study.NO_WARM_UP: ours, study.PAPER: paper, study.SHORT: paper}
        experiments = FIGURE.experiments(dataclasses.replace(SIZE, runs=30), None)[:3]
        result = made_up(experiments, lambda _, label: means.get(label, 100.0), runs=600, spread=5.0)
        return {name: verdict for (name, _), verdict in verdicts_of(FIGURE.claims(result)).items()}

    assert verdicts(90.0) == {"E1.1000": HOLDS, "E2.1000": HOLDS, "E3.1000": HOLDS}
    assert [verdicts(regret)["E1.1000"] for regret in (112.0, 118.0)] == [HOLDS, FAILS]
    assert verdicts(90.0, paper=80.0)["E2.1000"] == FAILS


@pytest.mark.heavy
def test_the_map_outlines_a_setting_and_says_what_the_rule_finds():
    best = cells.candidates(by_features=False)["alpha 0.4, extra 2, growth 0.5"]
    result, found = grid(lambda core: 100 + 9 * abs(core.growth - 0.5) + abs(core.alpha - 0.4) + abs(core.extra - 2))
    assert study.chosen_setting(found) == cells.in_words(best)
    for_arms, for_features = FIGURE.drawings(result)
    assert f"by the rule, in this run: {cells.in_words(best)}" in for_arms.caption
    assert "over 4 problems with arms" in for_arms.caption
    titles = [axes.get_title(loc="left") for axes in for_arms.figure.axes]
    assert titles[:2] == ["1,000 rounds", "1,000 rounds, growth 0.25"]
    assert len([title for title in titles if title]) == 8
    outlined = [
        axes.get_title(loc="left")
        for drawing, judged in ((for_arms, study.SETTING), (for_features, study.LINEAR_SETTING))
        for axes in drawing.figure.axes
        for patch in axes.patches
    ]
    growth = f", growth {study.SETTING.growth:g}" if study.SETTING.growth else ""
    assert outlined == [f"{n} rounds{growth}" for n in ("1,000", "10,000")] + ["1,000 rounds", "10,000 rounds"]


@pytest.mark.heavy
def test_regrets_that_a_gpu_has_left_are_found_by_experiment_and_policy(script, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(script, "STORED", tmp_path / "stored.json")
    grid, report, folders = tmp_path / "grid.json", tmp_path / "report.json", [tmp_path / "one", tmp_path / "other"]

    def play(file, best):
        described = json.loads(file.read_text())["experiments"]
        for folder, first, size in zip(folders, (0, 100), (100, 50), strict=True):
            curves = []
            for experiment in described:
                names, rounds = (experiment["name"], experiment["label"]), np.array([experiment["horizon"]])
                for label in experiment["policies"]:
                    level = np.full((size, 1), 50.0 if label == best else 100.0) + np.arange(size)[:, None] * 1e-3
                    curves.append(
                        Curve(*names, label, experiment["title"], rounds, level, 0.0, part=experiment["part"])
                    )
            pieces = [{**experiment, "runs": first + size} for experiment in described]
            write_result(folder, pieces, curves, first)

    def command(function, **files):
        function(script.argparse.Namespace(**files))
        return capsys.readouterr().out

    command(script.grid, experiments=grid, runs=150)
    play(grid, "alpha 0.7, extra 8")
    said = command(script.choose, folders=folders)
    for what in ("arms", "linear models"):
        assert f"chosen by the rule for {what}: alpha 0.7, extra 8\n" in said
    command(script.report, experiments=report, tuned=script.STORED, runs=150)
    described = json.loads(report.read_text())["experiments"]
    assert [each["horizon"] for each in described] == sorted((each["horizon"] for each in described), reverse=True)
    longest = {label for each in described if each["horizon"] == 100_000 for label in each["policies"]}
    assert longest.isdisjoint({"SSMC", "NP-TS"})
    assert {"LinUCB", "PHE"} <= longest
    play(report, study.NO_WARM_UP)
    command(script.store, folders=folders)
    stored = json.loads((tmp_path / "stored.json").read_text())
    assert len(stored["settings"]) == 3 * (52 + 16)
    assert len(stored["ratios"]) == 3 * (21 + 21 + 11)
    for row in stored["ratios"]:
        assert row["ratio"] == pytest.approx(0.5 if row["policy"] == study.NO_WARM_UP else 1.0, rel=0.01)
        assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]


def test_a_run_is_on_a_wrong_arm_while_it_loses_much_faster_than_the_median_run():
    rounds = np.array([100, 1000, 2000, 5000, 10_000])
    calm, bad = np.array([5.0, 6.0, 7.0, 8.0, 9.0]), np.array([5.0, 6.0, 106.0, 107.0, 607.0])
    curve = Curve("f", "p", "CORe", "", rounds, np.stack([calm, bad, calm]), cpu_seconds=1.0)
    ends, lengths, is_wrong = bad_runs.on_wrong_arm(curve, fastest=0.01)
    assert ends.tolist() == [1000, 2000, 5000, 10_000]
    assert lengths.tolist() == [900, 1000, 3000, 5000]
    assert is_wrong.tolist() == [[False] * 4, [False, True, False, True], [False] * 4]


def test_how_runs_go_bad_is_drawn_for_every_setting():
    experiments = bad_runs.experiments(dataclasses.replace(SIZE, runs=5))
    assert [(each.horizon, each.runs) for each in experiments] == [(100_000, 10)]
    assert experiments[0].policies["no warm-up, growing noise"] == study.SETTING
    growing = {1000: 1.0, 10_000: 10.0, 100_000: 20.0}
    result = made_up(
        experiments, lambda _, label: {at: 9 * lost if label == "no warm-up" else lost for at, lost in growing.items()}
    )
    [drawing] = bad_runs.drawings(result)
    assert [axes.get_title(loc="left") for axes in drawing.figure.axes] == ["Runs on a wrong arm", "For how long"]
    [legend] = drawing.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(bad_runs.SETTINGS)
    assert not bad_runs.drawings(made_up([], None))
