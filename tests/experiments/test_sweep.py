from dataclasses import dataclass

import numpy as np
import pytest

import corebandit as cb
from corebandit.experiments.curve import Curve
from corebandit.experiments.description import Point
from corebandit.experiments.result import Result
from corebandit.experiments.sweep import grid_from, sweep
from corebandit.policies import LinCORe
from corebandit.report.sweep_tables import sweep_tables
from made_up import made_up


def test_every_combination_is_a_policy_with_its_point():
    experiment = sweep(
        cb.BernoulliBandit(), cb.CORe(warm_up=2.0), {"alpha": [0.2, 0.6], "z": [0.5, 0.6, 0.7]}, horizon=100, runs=2
    )
    assert len(experiment.policies) == len(experiment.points) == 6
    label = "CORe(alpha=0.2, z=0.5, warm_up=2.0)"
    assert experiment.policies[label] == cb.CORe(alpha=0.2, z=0.5, warm_up=2.0)
    assert experiment.points[label] == Point("CORe(warm_up=2.0)", {"alpha": 0.2, "z": 0.5})
    assert experiment.describe()["points"][label] == {"series": "CORe(warm_up=2.0)", "at": {"alpha": 0.2, "z": 0.5}}


def test_whole_numbers_stay_whole_where_the_parameter_is_a_count():
    experiment = sweep(cb.BernoulliBandit(), cb.CORe(), {"pool_size": [50.0, 100.0]})
    assert [policy.pool_size for policy in experiment.policies.values()] == [50, 100]
    assert all(isinstance(policy.pool_size, int) for policy in experiment.policies.values())


def test_the_points_of_a_sweep_play_the_same_runs_as_the_policies_alone():
    swept = cb.run(sweep(cb.GaussianBandit(), cb.CORe(), {"alpha": [0.3, 0.9]}, horizon=500, runs=3))
    alone = cb.run(cb.Experiment(cb.GaussianBandit(), [cb.CORe(alpha=0.9)], horizon=500, runs=3))
    assert (swept.regret("CORe(alpha=0.9)") == alone.regret("CORe(alpha=0.9)")).all()


def test_features_are_swept_as_arms_are():
    experiment = sweep(cb.LinearBandit(), LinCORe(), {"alpha": [0.2, 0.4]}, horizon=500, runs=2)
    assert len(cb.run(experiment).sweeps()) == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alhpa": [0.1]}, "unknown parameter of CORe 'alhpa': did you mean 'alpha'"),
        ({}, "parameters must name one or two parameters, not 0"),
        ({"alpha": [1], "z": [0.5], "warm_up": [2]}, "parameters must name one or two parameters, not 3"),
        ({"alpha": []}, "at least one value of alpha"),
        ({"alpha": 0.4}, "parameters must list values of alpha"),
        ({"alpha": [0.4, 0.4]}, "parameters must name different values of alpha"),
        ({"alpha": ["0.1"]}, "alpha must be a number, not '0.1'"),
        ({"z": [0.5, 1.5]}, "z must be a number above 0 and below 1, not 1.5"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        sweep(cb.BernoulliBandit(), cb.CORe(), parameters)


@dataclass(frozen=True)
class Capped(cb.UCB1):
    cap: float = 1.0

    def __post_init__(self):
        if self.cap <= 0:
            raise ValueError("a cap must be positive")


def test_what_a_policy_of_ones_own_refuses_is_said_with_the_point():
    with pytest.raises(cb.BadInput, match=r"Capped cannot be made with \{'cap': -1.0\}: a cap must be positive"):
        sweep(cb.BernoulliBandit(), Capped(), {"cap": [1.0, -1.0]})


@pytest.mark.parametrize(
    ("text", "grid"),
    [
        ("alpha=0.2:1.4:0.2", ("alpha", [0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4])),
        ("z=0.5", ("z", [0.5])),
        (" sigma = 0.1, 2", ("sigma", [0.1, 2.0])),
        ("a=1:2:0.7", ("a", [1.0, 1.7])),
    ],
)
def test_a_grid_can_be_spelled(text, grid):
    assert grid_from(text) == grid


@pytest.mark.parametrize(
    "text", ["alpha", "alpha=", "=1", "alpha=1:2", "alpha=1:0:0.1", "alpha=1:2:0", "alpha=x", "a=1;2"]
)
def test_a_grid_that_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError, match=r"a parameter is written as alpha=0.2:1.4:0.2"):
        grid_from(text)


def made_up_sweep(means, spread=1.0):
    experiment = sweep(cb.BernoulliBandit(), cb.CORe(), {"alpha": list(means)}, horizon=100, runs=30)
    by_label = {f"CORe(alpha={alpha})": mean for alpha, mean in means.items()}
    by_label["CORe"] = means.get(0.6)
    return made_up([experiment], lambda experiment, label: by_label[label], spread=spread)


def test_what_cannot_be_told_from_the_best_is_tied():
    rows = made_up_sweep({0.2: 20.0, 0.4: 10.0, 0.5: 10.1, 0.8: 14.0}).sweeps()
    assert dict(zip(rows["x"], rows["tied"], strict=True)) == {0.2: False, 0.4: True, 0.5: True, 0.8: False}
    (table,) = sweep_tables(rows)
    marks = {name: (cell.is_best, cell.is_tied) for name, [cell] in table.rows}
    assert marks == {"0.2": (False, False), "0.4": (True, False), "0.5": (False, True), "0.8": (False, False)}
    (best,) = table.best
    assert best.startswith("CORe alpha=0.4 (10")
    assert best.endswith("; 1 more cannot be told from it")


def test_ties_are_told_run_by_run():
    experiment = sweep(cb.BernoulliBandit(), cb.CORe(), {"alpha": [0.2, 0.4]}, horizon=100, runs=30)
    rng = np.random.default_rng(2)
    hardness = 10.0 * rng.lognormal(size=30)  # of each run, for both
    regrets = hardness, hardness + rng.normal(1.0, 0.1, size=30)
    names = experiment.name, experiment.problem.label
    curves = [
        Curve(*names, label, "", np.array([100]), regret[:, None], cpu_seconds=1.0)
        for label, regret in zip(experiment.policies, regrets, strict=True)
    ]
    assert Result([experiment.to_dict()], curves).sweeps()["tied"].to_list() == [True, False]


def test_each_series_has_a_best_of_its_own():
    means = {("one", 0.2): 10.0, ("one", 0.4): 20.0, ("other", 0.2): 40.0, ("other", 0.4): 30.0}
    both = [
        sweep(cb.BernoulliBandit(), cb.CORe(warm_up=factor), {"alpha": [0.2, 0.4]}, series=series, title="Coins")
        for series, factor in (("one", 4.0), ("other", 2.0))
    ]
    points = {label: point for experiment in both for label, point in experiment.points.items()}
    rows = made_up(both, lambda _, label: means[points[label].series, points[label].at["alpha"]]).sweeps()
    assert rows["tied"].to_list() == [True, False, False, True]


@pytest.mark.parametrize(("means", "end"), [((10.0, 20.0, 30.0), "smallest"), ((30.0, 20.0, 10.0), "largest")])
def test_a_best_value_at_the_edge_is_said_to_be_there(means, end):
    (table,) = sweep_tables(made_up_sweep(dict(zip((0.2, 0.4, 0.8), means, strict=True))).sweeps())
    assert table.best[0].endswith(f"; it is the {end} alpha tried, and one beyond may be better")
    (inner,) = sweep_tables(made_up_sweep({0.2: 20.0, 0.4: 10.0, 0.8: 20.0}).sweeps())
    assert "tried" not in inner.best[0]
