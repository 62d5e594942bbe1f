import dataclasses

import numpy as np
import pytest

import corebandit as cb
from corebandit.experiments.result import Result
from corebandit.report.claim import FAILS, HOLDS
from corebandit.reproduction.studies import STUDIES, warmup_study as warmup
from made_up import made_up, verdicts_of

pytestmark = pytest.mark.heavy  # hundreds of curves

FIGURE = STUDIES["warmup"]
SIZE = FIGURE.paper_size


def test_the_grid_covers_every_setting_problem_and_horizon():
    experiments = FIGURE.search(SIZE)
    assert len(experiments) == 11 * 3
    assert [experiment.horizon for experiment in experiments[::11]] == [1_000, 10_000, 100_000]
    for experiment in experiments:
        settings = {(point.at["warm_up"], point.at["alpha"]) for point in experiment.points.values()}
        assert settings == {(f, a) for f in (0.25, 0.5, 1.0, 2.0, 4.0) for a in (0.4, 0.6, 0.8, 1.0)}
        assert len(experiment.policies) > len(experiment.points), "no rivals"
        for label, point in experiment.points.items():
            policy = experiment.policies[label]
            core = policy.policy if isinstance(policy, cb.Ranked) else policy
            assert (core.warm_up, core.alpha, core.z) == (point.at["warm_up"], point.at["alpha"], 0.6)


def test_the_longest_horizon_is_left_out_where_too_few_runs_would_remain():
    horizons = {experiment.horizon for experiment in FIGURE.search(FIGURE.quick_size)}
    assert horizons == {1_000, 10_000}


def test_rivals_that_have_a_parameter_for_the_noise_are_told_it():
    for sigma in (0.2, 0.5, 1.0):
        for problem in (cb.GaussianBandit(sigma=sigma), cb.LinearBandit(rewards="gaussian", sigma=sigma)):
            rivals = warmup.rivals_on(problem, 10_000)
            by_class = {}
            for policy in rivals.values():
                if hasattr(policy, "sigma"):
                    by_class.setdefault(type(policy), set()).add(policy.sigma)
            assert len(by_class) == 3, "TS, PHE and UCB, or their linear forms"
            assert all(sigma in known for known in by_class.values())


def test_the_setting_it_found_is_judged_on_other_problems_than_it_was_found_on():
    assert {experiment.seed for experiment in FIGURE.experiments(SIZE, None)} == {SIZE.seed}
    assert {experiment.seed for experiment in FIGURE.search(SIZE)}.isdisjoint({SIZE.seed})


def grid(regret_of):
    """Return what the search finds if rivals have a regret of 100, and a setting what `regret_of` says."""

    def regret(experiment, label):
        return regret_of(experiment.points[label].at, experiment) if label in experiment.points else 100.0

    return made_up(FIGURE.search(dataclasses.replace(SIZE, search_runs=30)), regret, spread=0.1)


def test_a_cell_is_the_ratio_to_the_best_rival():
    found = list(warmup.cells(grid(lambda at, _: 100 * at["alpha"] * at["warm_up"])))
    assert len(found) == 33 * 20 - 11 * 20  # the longest horizon is left out
    for cell in found:
        assert cell.ratio == pytest.approx(cell.alpha * cell.warm_up, rel=0.01)
        assert cell.gone_bad == 0.0


def test_the_best_setting_has_the_lowest_geometric_mean():
    def regret(at, experiment):
        if (at["warm_up"], at["alpha"]) == (2.0, 0.8):  # a geometric mean of 0.94, an arithmetic one of 1.18
            return 200.0 if experiment.problem.label.startswith("linear") else 50.0
        return 106.0 + 100 * abs(at["alpha"] - 0.4)

    result = grid(regret)
    assert warmup.best_setting(list(warmup.cells(result))) == (2.0, 0.8)
    assert "lowest in this run: warm-up 2, alpha 0.8" in FIGURE.drawings(result)[0].caption


def test_runs_gone_bad_are_those_over_five_times_the_median():
    assert warmup.share_gone_bad(np.array([1.0, 1.0, 1.0, 4.9, 5.1])) == 0.2


def test_the_maps_show_every_problem_and_outline_the_setting_it_found():
    drawings = FIGURE.drawings(grid(lambda at, _: 150.0))
    assert [drawing.part for drawing in drawings] == ["", "1,000 rounds", "10,000 rounds"]
    titles = [axes.get_title(loc="left") for axes in drawings[1].figure.axes]
    assert titles[:11] == list(warmup.PROBLEMS)
    texts = {text.get_text() for text in drawings[1].figure.axes[0].texts}
    assert texts == {"1.50"}
    assert all(len(axes.patches) == 1 for axes in drawings[1].figure.axes[:11])


def verdicts(short, paper=200.0, rival=100.0, runs=100):
    size = dataclasses.replace(SIZE, runs=runs)
    means = {warmup.SHORT: short, warmup.PAPER: paper, warmup.CODE: paper}
    result = made_up(
        FIGURE.experiments(size, None), lambda experiment, label: means.get(label, rival), runs=runs, spread=5.0
    )
    return {name: verdict for (name, _), verdict in verdicts_of(FIGURE.claims(result)).items()}


def test_claims_follow_the_numbers():
    found = verdicts(short=80.0)
    assert {name: verdict for name, verdict in found.items() if name != "W4"} == {"W1": HOLDS, "W2": HOLDS, "W3": HOLDS}
    assert found["W4"] != FAILS
    worse = verdicts(short=130.0)
    assert (worse["W1"], worse["W2"], worse["W3"]) == (FAILS, FAILS, HOLDS)
    assert [verdicts(short=regret)["W2"] for regret in (107.0, 113.0)] == [HOLDS, FAILS]
    assert verdicts(short=80.0, paper=60.0)["W3"] == FAILS


def test_runs_that_go_bad_break_the_claim_that_few_do():
    experiments = FIGURE.experiments(SIZE, None)
    result = made_up(experiments, lambda experiment, label: 100.0, runs=100, spread=5.0)
    bad = np.full(100, 100.0)
    bad[::5] = 1000.0
    curves = [
        dataclasses.replace(curve, regret=bad[:, None]) if curve.policy == warmup.SHORT else curve
        for curve in result.curves()
    ]
    result = Result(result.experiments, curves)
    assert verdicts_of(FIGURE.claims(result))["W4", None] == FAILS
