import contextlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import corebandit as cb
from corebandit.contracts.atomic_files import write_whole
from corebandit.experiments import result_files
from corebandit.experiments.curve import Curve
from corebandit.experiments.description import Point
from corebandit.experiments.reporting import report_of
from corebandit.report import tables
from corebandit.report.about import About
from corebandit.report.report import Drawing
from made_up import made_up


@pytest.fixture(scope="module")
def result():
    policies = [cb.CORe(), cb.UCB1(), cb.UniformRandom()]
    problems = (cb.BernoulliBandit(), cb.GaussianBandit())
    return cb.run([cb.Experiment(problem, policies, horizon=400, runs=12, seed=1) for problem in problems])


def test_the_frame_has_one_row_for_each_checkpoint(result):
    assert result.frame.columns == ["experiment", "part", "problem", "policy", "run", "round", "regret"]
    assert result.frame.height == 2 * 3 * 12 * 100


def test_a_result_says_what_was_played(result):
    played = "comparison: CORe, UCB1, UniformRandom"
    assert repr(result) == f"<Result of {played} on bernoulli; {played} on gaussian>"


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


def test_a_run_that_is_equal_is_not_better():
    regrets = {"base": np.array([5.0, 5.0, 5.0, 5.0]), "other": np.array([4.0, 5.0, 5.0, 7.0])}
    curves = [
        Curve("f", "p", policy, "", np.array([10]), regret[:, None], cpu_seconds=0.0)
        for policy, regret in regrets.items()
    ]
    assert cb.Result([], curves).differences()["share_better"].to_list() == [0.25]


def test_one_policy_is_picked_by_name(result):
    assert result.regret("UCB1", problem="gaussian").shape == (12, 100)
    with pytest.raises(ValueError, match=r"policy 'UCB1' fits 2 curves, not one; .*comparison/bernoulli/CORe"):
        result.regret("UCB1")


def test_a_saved_result_is_the_same_when_loaded(result, tmp_path):
    result.save(tmp_path / "deep" / "folder")
    loaded = cb.Result.load(tmp_path / "deep" / "folder")
    assert loaded.frame.equals(result.frame)
    assert loaded.summary().equals(result.summary())
    with pytest.raises(ValueError, match=r"holds no result, as result.save writes it: there is no experiments\.json"):
        cb.Result.load(tmp_path)


@pytest.mark.heavy
def test_a_notebook_shows_table_and_figure(result):
    html = result._repr_html_()
    assert "<table" in html
    assert "<svg" in html
    assert "UniformRandom" in html


def test_plot_returns_a_figure_with_a_panel_for_each_problem(result):
    figure = result.plot()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["bernoulli", "gaussian"]


@pytest.fixture(scope="module")
def swept():
    """One experiment as it is, and one of the same kind whose policies are points of a search and of a grid."""
    plain = cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.CORe(), cb.UCB1()], horizon=300, runs=8, name="figure1"))
    policies = {f"eps {epsilon}": cb.EpsilonGreedy(epsilon=epsilon) for epsilon in (0.3, 0.1)}
    policies |= {f"core {alpha}": cb.CORe(alpha=alpha, z=0.5) for alpha in (0.2, 0.6)}
    points = {f"eps {epsilon}": Point("greedy", {"epsilon": epsilon}) for epsilon in (0.3, 0.1)}
    points |= {f"core {alpha}": Point("CORe", {"alpha": alpha, "z": 0.5}) for alpha in (0.2, 0.6)}
    more = {"horizon": 400, "runs": 6, "name": "search", "title": "Coins", "points": points}
    search = cb.run(cb.Experiment(cb.BernoulliBandit(), policies, **more))
    return plain.joined_with(search)


def test_sweeps_have_one_row_for_each_point(swept):
    sweeps = swept.sweeps()
    assert sweeps.select("experiment", "title", "series", "policy", "x_name", "x", "y_name", "y").rows() == [
        ("search", "Coins", "greedy", "eps 0.3", "epsilon", 0.3, None, None),
        ("search", "Coins", "greedy", "eps 0.1", "epsilon", 0.1, None, None),
        ("search", "Coins", "CORe", "core 0.2", "alpha", 0.2, "z", 0.5),
        ("search", "Coins", "CORe", "core 0.6", "alpha", 0.6, "z", 0.5),
    ]
    assert sweeps.select("runs", "horizon").unique().rows() == [(6, 400)]
    summary = swept.summary().filter(experiment="search")
    assert sweeps.select("mean", "ci_low", "ci_high").equals(summary.select("mean", "ci_low", "ci_high"))


def test_a_result_without_points_has_no_sweeps_but_their_columns(result, swept):
    assert result.sweeps().is_empty()
    assert result.sweeps().schema == swept.sweeps().schema


def test_points_of_sweeps_are_not_compared_in_pairs(swept):
    rows = swept.differences()
    assert rows.select("experiment", "policy").rows() == [("figure1", "UCB1")]
    with pytest.raises(ValueError, match=r"one of the policies \(CORe, UCB1\), not 'eps 0\.1'"):
        swept.differences("eps 0.1")


@pytest.mark.heavy
def test_sweeps_are_plotted_and_shown_as_sweeps(swept):
    assert swept.plot().axes[0].get_ylabel() == "cumulative regret, log scale"
    assert swept.plot(experiment="search").axes[0].get_xlabel() == "epsilon"
    html = swept._repr_html_()
    assert "eps 0.1" not in html
    assert "greedy epsilon=" in html


def test_points_survive_saving(swept, tmp_path):
    swept.save(tmp_path)
    assert cb.Result.load(tmp_path).sweeps().equals(swept.sweeps())


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_publishing_writes_figures_of_sweeps_and_drawings_but_no_curves_of_sweeps(swept, tmp_path):
    drawing = Drawing("theory", "Regret against n, (d = 5)", "Seen.", swept.plot())
    page = replace(report_of(swept, About("All")), drawings=[drawing]).write(tmp_path)
    names = ["figure1", "figure1-final-regret", "search", "search-heat-map", "theory-regret-against-n-d-5"]
    written = {path.name for path in (tmp_path / "figures").iterdir()}
    assert written == {f"{name}.{suffix}" for name in names for suffix in ("png", "svg")}
    text = page.read_text(encoding="utf-8")
    assert "<h2>Theory</h2>" in text
    assert "parameter settings" in text


@pytest.mark.heavy
def test_a_damaged_result_is_refused(result, tmp_path):
    result.save(tmp_path)
    rng = np.random.default_rng(0)
    for name in (next(tmp_path.glob("runs-1-*")).name, "experiments.json"):
        path = tmp_path / name
        whole = path.read_bytes()
        for place in rng.integers(len(whole), size=40):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(damaged)
            with contextlib.suppress(cb.DamagedFile):  # a bit of white space may not matter
                assert cb.Result.load(tmp_path).frame.equals(result.frame), "it says something else"
        for content in (b"", whole[:-7], b"[" * 100_000, b"{}", b"[]", b"\xff"):
            path.write_bytes(content)
            with pytest.raises(cb.DamagedFile, match="damaged"):
                cb.Result.load(tmp_path)
        path.write_bytes(whole)
    assert cb.Result.load(tmp_path).frame.equals(result.frame)


def test_other_programs_read_the_frame(result, tmp_path):
    result.save(tmp_path)
    assert pl.read_parquet(tmp_path / "results.parquet").equals(result.frame)
    (tmp_path / "results.parquet").unlink()  # which nothing here reads
    assert cb.Result.load(tmp_path).frame.equals(result.frame)


def test_large_results_are_written_to_several_files_and_a_smaller_one_leaves_none_of_them(
    result, tmp_path, monkeypatch
):
    monkeypatch.setattr(result_files, "LARGEST", 25_000)
    result.save(tmp_path)
    assert len(list(tmp_path.glob("runs-*"))) > 2
    loaded = cb.Result.load(tmp_path)
    assert loaded.frame.equals(result.frame)
    assert loaded.runs().equals(result.runs())  # means are shared between files
    cb.Result(result.experiments, result.curves()[:1]).save(tmp_path)
    assert len(list(tmp_path.glob("runs-*"))) == 1
    assert cb.Result.load(tmp_path).runs().height == 12


def test_a_result_that_is_not_saved_whole_leaves_the_one_before(result, tmp_path, monkeypatch):
    result.save(tmp_path)

    def stopped(path, content):
        if path.name == "experiments.json":
            raise KeyboardInterrupt
        write_whole(path, content)

    monkeypatch.setattr(result_files, "write_whole", stopped)
    with pytest.raises(KeyboardInterrupt):
        cb.Result(result.experiments, result.curves()[:1]).save(tmp_path)
    assert cb.Result.load(tmp_path).frame.equals(result.frame)


def test_a_full_disk_while_publishing_is_a_sentence(result, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("corebandit.contracts.atomic_files.os.fsync", full)
    with pytest.raises(cb.CannotWrite, match="No space left on device"):
        result.report(tmp_path / "out")


def test_a_result_holds_every_name_once(result):
    with pytest.raises(
        cb.BadInput, match=r"can hold comparison/bernoulli/CORe \(experiment/problem/policy\) only once"
    ):
        result.joined_with(result)


def test_parts_of_an_experiment_are_told_apart_and_survive_saving(tmp_path):
    parts = {"": cb.CORe(), "search": cb.UniformRandom()}
    experiments = [
        cb.Experiment(cb.BernoulliBandit(), {"CORe": policy}, horizon=100, runs=3, name="figure2", part=part)
        for part, policy in parts.items()
    ]
    assert "part" not in experiments[0].to_dict()
    assert cb.Experiment.from_dict(experiments[1].to_dict()) == experiments[1]
    cb.run(experiments).save(tmp_path)
    result = cb.Result.load(tmp_path)
    assert [curve.part for curve in result.curves("figure2")] == ["", "search"]
    assert not result.curves("figure1")
    (plain,), (searched,) = result.curves(part=""), result.curves("figure2", "search")
    assert (result.regret("CORe", part="search") == searched.regret).all()
    assert not (plain.regret == searched.regret).all()
    assert result.summary()["part"].to_list() == ["", "search"]
    with pytest.raises(cb.BadInput, match="figure2/bernoulli/CORe, figure2/search/bernoulli/CORe"):
        result.regret("CORe", "bernoulli", "figure2")
    with pytest.raises(cb.BadInput, match=r"\(figure2\), not 'figure2', 'heat map'"):
        result.plot(experiment="figure2", part="heat map")


def test_what_was_computed_cannot_be_changed(result):
    (curve, *_) = result.curves()
    for array in (curve.regret, *curve.means):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0
    assert curve.means is curve.means
    assert curve.final is curve.final


def test_titles_are_kept_by_curve(tmp_path):
    both = [
        cb.Experiment(cb.BernoulliBandit(), [policy], 50, 2, name="one", title=policy.name)
        for policy in (cb.UCB1(), cb.UniformRandom())
    ]
    cb.run(both).save(tmp_path)
    assert [curve.title for curve in cb.Result.load(tmp_path).curves()] == ["UCB1", "UniformRandom"]


def test_a_summary_says_what_cannot_be_told_from_the_lowest():
    experiment = cb.Experiment(cb.BernoulliBandit(), [cb.CORe(), cb.UCB1(), cb.UniformRandom()], horizon=100, runs=30)
    means = {"CORe": 10.0, "UCB1": 10.1, "UniformRandom": 14.0}
    rows = made_up([experiment], lambda experiment, label: means[label]).summary()
    assert dict(zip(rows["policy"], rows["tied"], strict=True)) == {"CORe": True, "UCB1": True, "UniformRandom": False}
    (section,) = tables.results(rows)
    assert [(row.is_best, row.is_tied) for row in section.rows] == [(True, False), (False, True), (False, False)]
