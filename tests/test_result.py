import numpy as np
import polars as pl
import pytest

import corebandit as cb


@pytest.fixture(scope="module")
def result():
    policies = [cb.CORe(), cb.UCB1(), cb.UniformRandom()]
    problems = (cb.BernoulliBandit(), cb.GaussianBandit())
    return cb.run([cb.Experiment(problem, policies, horizon=400, runs=12, seed=1) for problem in problems])


def test_the_frame_has_one_row_for_each_checkpoint(result):
    assert result.frame.columns == ["figure", "problem", "policy", "run", "round", "regret"]
    assert result.frame.height == 2 * 3 * 12 * 100


def test_the_summary_is_computed_from_the_final_regrets(result):
    finals = result.frame.filter(
        (pl.col("round") == 400) & (pl.col("policy") == "UCB1") & (pl.col("problem") == "gaussian")
    )["regret"].to_numpy()
    row = result.summary().row(
        by_predicate=(pl.col("policy") == "UCB1") & (pl.col("problem") == "gaussian"), named=True
    )
    assert row["mean"] == pytest.approx(finals.mean())
    assert row["stderr"] == pytest.approx(finals.std(ddof=1) / np.sqrt(12))
    assert row["ci_low"] < row["mean"] < row["ci_high"]
    assert (row["horizon"], row["runs"]) == (400, 12)
    assert row["cpu_seconds"] > 0


def test_differences_are_paired(result):
    rows = result.differences().filter(pl.col("problem") == "bernoulli")
    assert rows["policy"].to_list() == ["UCB1", "UniformRandom"]
    assert rows["baseline"].to_list() == ["CORe", "CORe"]
    gaps = result.regret("UniformRandom", "bernoulli")[:, -1] - result.regret("CORe", "bernoulli")[:, -1]
    assert rows["mean"][1] == pytest.approx(gaps.mean())
    assert rows["share_better"][1] == (gaps < 0).mean()
    assert result.differences("UCB1")["baseline"].unique().to_list() == ["UCB1"]
    with pytest.raises(
        ValueError, match=r"baseline must be one of the policies \(CORe, UCB1, UniformRandom\), not 'TS'"
    ):
        result.differences("TS")


def test_one_policy_is_picked_by_name(result):
    assert result.regret("UCB1", problem="gaussian").shape == (12, 100)
    with pytest.raises(ValueError, match=r"policy 'UCB1' fits 2 curves, not one; .*comparison/bernoulli/CORe"):
        result.regret("UCB1")


def test_a_saved_result_is_the_same_when_loaded(result, tmp_path):
    result.save(tmp_path / "deep" / "folder")
    loaded = cb.Result.load(tmp_path / "deep" / "folder")
    assert loaded.frame.equals(result.frame)
    assert loaded.summary().equals(result.summary())
    with pytest.raises(ValueError, match=r"holds no result: there is no results\.parquet"):
        cb.Result.load(tmp_path)


def test_a_notebook_shows_table_and_figure(result):
    html = result._repr_html_()
    assert "<table" in html
    assert "<svg" in html
    assert "UniformRandom" in html


def test_plot_returns_a_figure_with_a_panel_for_each_problem(result):
    figure = result.plot()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["bernoulli", "gaussian"]
