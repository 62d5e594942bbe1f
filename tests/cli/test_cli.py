import json
import re
import shutil
from collections import Counter

import polars as pl
import pytest
from typer.testing import CliRunner

import corebandit as cb
from corebandit.catalogue import known_policies, known_problems, policy_from, problem_from, split_specs
from corebandit.cli import app
from corebandit.cli.commands import _usual_policies
from corebandit.cli.flags import Sampler
from corebandit.cli.running import with_sampler
from corebandit.clicks import PBM
from corebandit.clicks.stored_models import write_models
from corebandit.experiments import curve, result
from corebandit.experiments.experiment import Experiment
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.studies import STUDIES

SMALL = ["--horizon", "200", "--runs", "4"]
TWICE = ["--policies", "CORe,CORe(sampler=halving)", "--policies", "UCB1"]


def corebandit(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + result.stderr
    return result


@pytest.fixture(scope="module")
def figure1(tmp_path_factory, write_little):
    """Return a folder with a reproduction of the first figure, on one thread, and what was printed."""
    folder = tmp_path_factory.mktemp("figure1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", write_little)
        return folder, corebandit("reproduce", "figure1", *SMALL, "--out", folder, "--jobs", 1).stdout


@pytest.mark.heavy
def test_reproduce_writes_everything(figure1):
    folder, printed = figure1
    assert "F1.a" in printed
    assert "NP-TS" in printed
    names = {path.name for path in folder.iterdir()}
    assert names >= {"results.parquet", "summary.json", "claims.json", "experiments.json", "report.html", "figures"}
    figures = {path.name for path in (folder / "figures").iterdir()}
    assert figures >= {"figure1.png", "figure1.svg", "figure1-final-regret.png", "figure1-final-regret.svg"}
    rows = json.loads((folder / "summary.json").read_text())["rows"]
    assert len(rows) == 3 * 8 + 9  # eight policies, and other readings of some
    columns = "policy problem mean stderr ci_low ci_high tied q10 median q90 best_arm_share simple_regret"
    assert list(rows[0]) == [*columns.split(), *["title", "part", "experiment", "horizon", "runs", "cpu_seconds"]]
    claims = json.loads((folder / "claims.json").read_text())["claims"]
    assert {(claim["id"], claim["warm_up"]) for claim in claims} == {
        (name, factor) for name in ("F1.a", "F1.b", "F1.c") for factor in (2.0, 4.0)
    }
    readings = {claim["reading"] for claim in claims if claim["id"] == "F1.a"}
    assert readings == {"", "UCB-V (anytime)"}
    assert "- UCB-V (anytime)" in printed
    page = (folder / "report.html").read_text()
    assert not re.search(r"""(src|href)=["']https?://""", page)
    assert "Rivals as published" in page
    assert "In the tables only: CORe (warm-up 2), TS (scale 0.5)," in page


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_two_threads_give_the_same_results_and_each_experiment_and_summary_is_made_once(figure1, tmp_path, monkeypatch):
    counts = Counter()

    def counted(name, function):
        def called(*arguments, **more):
            counts[name] += 1
            return function(*arguments, **more)

        return called

    monkeypatch.setattr(Experiment, "__init__", counted("experiments", Experiment.__init__))
    for name in ("mean_interval", "mean_intervals"):
        monkeypatch.setattr(curve, name, counted(name, getattr(curve, name)))
    monkeypatch.setattr(result, "mean_interval", counted("differences", result.mean_interval))
    corebandit("reproduce", "figure1", *SMALL, "--out", tmp_path, "--jobs", 2)
    n_curves = 3 * 8 + 9
    assert counts == {
        "experiments": 3,
        "mean_interval": n_curves,
        "mean_intervals": 2 * n_curves,  # of regret and of the best-arm share
        "differences": n_curves - 3,  # to the first policy on each problem
    }
    one, two = (pl.read_parquet(folder / "results.parquet") for folder in (figure1[0], tmp_path))
    assert one.equals(two)


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_what_a_report_ran_its_experiments_run_again(tmp_path, monkeypatch):
    problems = ["--problem", "beta", "--problem", "bernoulli", "--policies", "CORe,UCB1"]
    corebandit("compare", *problems, *SMALL, "--out", tmp_path / "first")
    written = tmp_path / "first" / "experiments.json"
    corebandit("run", written, "--out", tmp_path / "again")
    first, again = (pl.read_parquet(tmp_path / name / "results.parquet") for name in ("first", "again"))
    assert first.equals(again)
    monkeypatch.chdir(tmp_path)
    corebandit("run", written, "--runs", 2)
    # Not where another `compare` leaves its own.
    assert (tmp_path / "results" / "first-again" / "report.html").exists()
    corebandit("run", written, "--runs", 2, "--out", tmp_path / "short")
    assert pl.read_parquet(tmp_path / "short" / "results.parquet")["run"].max() == 1
    written.write_text(written.read_text().replace("CORe", "Core2"))
    assert "the policy 'Core2' cannot be made" in corebandit("run", written, code=2).stderr


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_a_reproduction_that_is_continued_gives_the_same_results(figure1, tmp_path):
    whole = figure1[0]
    (tmp_path / "chunks").mkdir()
    for path in sorted((whole / "chunks").iterdir())[::3]:
        shutil.copy(path, tmp_path / "chunks")
    corebandit("reproduce", "figure1", *SMALL, "--out", tmp_path)
    one, other = (pl.read_parquet(folder / "results.parquet") for folder in (whole, tmp_path))
    assert one.equals(other)


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_compare_takes_parameters_and_several_problems(tmp_path):
    arguments = ["--policies", "CORe(alpha=0.4),UCB1", "--arms", 3, *SMALL, "--out", tmp_path]
    printed = corebandit("compare", "--problem", "beta", "--problem", "gaussian(sigma=0.2)", *arguments).stdout
    assert "CORe(alpha=0.4)" in printed
    frame = pl.read_parquet(tmp_path / "results.parquet")
    assert frame["problem"].unique(maintain_order=True).to_list() == [
        "beta(n_arms=3)",
        "gaussian(n_arms=3, sigma=0.2)",
    ]


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_compare_ranks_too(tmp_path):
    arguments = ["--policies", "Ranked(CORe(warm_up=0.1)),TopRank", *SMALL, "--out", tmp_path]
    corebandit("compare", "--problem", "yandex_like(query=3)", *arguments)
    frame = pl.read_parquet(tmp_path / "results.parquet")
    assert frame["policy"].unique(maintain_order=True).to_list() == ["CORe(warm_up=0.1)", "TopRank"]


@pytest.mark.parametrize("click_model", ["PBM", "UBM", "CM", "DBN"])
def test_usual_policies_count_what_the_docs_advise_as_looked_at(click_model):
    named = _usual_policies([problem_from(f"yandex_like(query=3, click_model={click_model})")])
    policies = map(policy_from, split_specs(named))
    assert [getattr(policy, "observes", None) for policy in policies] == ["last_click", "last_click", None]


@pytest.mark.thorough
@pytest.mark.usefixtures("undrawn")
def test_the_usual_ranking_policies_are_those_advised_for_any_click_model(tmp_path):
    write_models(tmp_path / "models.json", {"9982_0": {"PBM": PBM([0.4, 0.2, 0.1], [1.0, 0.5])}})
    problem = f"stored_query(file='{tmp_path / 'models.json'}', query='9982_0', model='PBM', n_positions=2)"
    corebandit("compare", "--problem", problem, *SMALL, "--out", tmp_path / "out", "--sampler", "exact")
    (described,) = json.loads((tmp_path / "out" / "experiments.json").read_text())["experiments"]
    assert described["label"] == "query 9982_0, PBM, 2 shown"
    assert [policy.get("observes") for policy in described["policies"].values()] == ["last_click", "last_click", None]
    assert next(iter(described["policies"].values()))["policy"]["sampler"] == "exact"


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_the_sampler_can_be_set_for_all(tmp_path):
    corebandit("compare", "--problem", "gaussian", *TWICE, *SMALL, "--out", tmp_path, "--sampler", "exact")
    policies = json.loads((tmp_path / "experiments.json").read_text())["experiments"][0]["policies"]
    samplers = {label: policy.get("sampler") for label, policy in policies.items()}
    assert samplers == {"CORe(sampler='exact')": "exact", "CORe(sampler='halving')": "halving", "UCB1": None}


def test_the_sampler_for_all_makes_no_two_of_one_policy(tmp_path):
    arguments = ["compare", "--problem", "gaussian", *TWICE, "--out", tmp_path, "--sampler", "halving"]
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 2
    assert "with --sampler halving CORe(sampler='halving') would be there twice" in done.stderr


def test_the_sampler_of_a_label_of_ones_own_is_set_too():
    experiment = cb.sweep(cb.GaussianBandit(), cb.CORe(), {"alpha": [0.2, 0.4]})
    (changed,) = with_sampler([experiment.with_policies({**experiment.policies, "mine": cb.CORe()})], Sampler.exact)
    assert [policy.sampler for policy in changed.policies.values()] == ["exact"] * 3
    assert list(changed.policies)[2] == "mine"
    assert list(changed.points) == list(changed.policies)[:2]


@pytest.mark.thorough
@pytest.mark.usefixtures("undrawn")
def test_a_figure_with_a_search_searches_first_and_then_plays(tmp_path):
    printed = corebandit("reproduce", "figure2", *SMALL, "--out", tmp_path).stdout
    assert all(claim in printed for claim in ("F2.a", "F2.b"))
    assert "Figure 2: parameter search, Beta: a of LinPHE: best is LinPHE a=" in printed
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert figures >= {"figure2.png", "figure2-parameter-search.svg"}
    assert experiments_in(tmp_path) == ["figure2"] * 3 + ["figure2 parameter search"] * 6


@pytest.mark.endurance
def test_figures_with_and_without_a_search_are_played_together(tmp_path):
    printed = corebandit("reproduce", "figure2", "figure3", *SMALL, "--out", tmp_path).stdout
    assert all(claim in printed for claim in ("F2.a", "F2.b", "F3.a", "F3.b", "F3.c", "F3.d"))
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert figures >= {"figure2.png", "figure2-parameter-search.svg", "figure3.png", "figure3-heat-map.png"}
    played = ["figure2"] * 3 + ["figure3"] * 2 + ["figure3 heat map"] * 2
    assert experiments_in(tmp_path) == played + ["figure2 parameter search"] * 6


def experiments_in(folder):
    described = json.loads((folder / "experiments.json").read_text())["experiments"]
    return [" ".join(filter(None, (each["name"], each.get("part")))) for each in described]


@pytest.mark.endurance
def test_what_was_searched_is_found_again(tmp_path):
    first, again = (corebandit("reproduce", "figure2", *SMALL, "--out", tmp_path).stdout for _ in range(2))
    assert again.splitlines()[:-1] == first.splitlines()[:-1]


@pytest.mark.endurance  # test_theory_figure.py judges it without the command
@pytest.mark.usefixtures("undrawn")
def test_the_theory_is_judged_at_any_size(tmp_path):
    printed = corebandit("reproduce", "theory", *SMALL, "--out", tmp_path).stdout
    claims = json.loads((tmp_path / "claims.json").read_text())["claims"]
    assert [claim["id"] for claim in claims] == ["T1", "T1", "T2", "T3", "T4", "T4", "T5", "T5", "T6", "T7", "T8", "T8"]
    assert "T3" in printed
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"theory-growth-of-regret.png", "theory-room-of-the-lemmas.png"} <= figures
    assert "theory.png" not in figures


@pytest.mark.heavy
def test_tune_draws_a_line_or_a_map(tmp_path):
    arguments = ["--problem", "gaussian(n_arms=3)", "--policy", "CORe(warm_up=2)", *SMALL]
    printed = corebandit("tune", *arguments, "--parameter", "alpha=0.2:0.6:0.2", "--out", tmp_path / "line").stdout
    assert "best: CORe(warm_up=2.0) alpha=" in printed
    printed = corebandit(
        *("tune", *arguments, "--parameter", "alpha=0.2,0.4", "--parameter", "z=0.3,0.5", "--out", tmp_path / "map")
    ).stdout
    assert "z \\ alpha" in printed
    for name in ("line", "map"):
        assert (tmp_path / name / "figures" / "tune.svg").exists()
        assert (tmp_path / name / "report.html").exists()
    assert len(pl.read_parquet(tmp_path / "map" / "results.parquet")["policy"].unique()) == 4


@pytest.mark.usefixtures("undrawn")
def test_run_reads_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('problems = ["bernoulli"]\npolicies = ["UCB1"]\nhorizon = 100\nruns = 3\n')
    corebandit("run", "mine.toml")
    assert (tmp_path / "results" / "mine" / "report.html").exists()


def test_lists_show_what_there_is():
    printed = corebandit("list", "policies").stdout
    assert all(name in printed for name in known_policies())
    printed = corebandit("list", "problems").stdout
    assert all(name in printed for name in known_problems())
    assert "figure1" in corebandit("list", "figures").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reproduce", "figur1"], "unknown figure 'figur1': did you mean 'figure1'?"),
        (["reproduce", "--runs", "0"], "runs must be a whole number of at least 1, not 0"),
        (["reproduce", "--jobs", "0"], "jobs must be a whole number of at least 1, not 0"),
        (["compare", "--problem", "bernouli"], "unknown problem 'bernouli': did you mean 'bernoulli'?"),
        (["compare", "--problem", "bernoulli", "--policies", "COREE"], "unknown policy 'COREE': did you mean 'CORe'?"),
        (["compare", "--problem", "bernoulli", "--policies", "CORe(alpha=-1)"], "alpha must be a number of at least 0"),
        (["compare", "--problem", "bernoulli", "--policies", "CORe(z=1)"], "z must be a number above 0 and below 1"),
        (["compare", "--problem", "bernoulli", "--arms", "0"], "n_arms must be a whole number of at least 1, not 0"),
        (["compare", "--problem", "arms([bernoulli(0.5)])", "--arms", "3"], "--arms does not fit"),
        (
            ["compare", "--problem", "gaussian", "--policies", "BernoulliTS"],
            "BernoulliTS is made for rewards in [0, 1]",
        ),
        (["compare", "--problem", "bernoulli", "--policies", ""], "policies must name at least one policy"),
        (
            ["compare", "--problem", "linear", "--policies", "CORe"],
            "CORe takes no features, but linear offers them: choose a policy that does, such as LinCORe",
        ),
        (
            ["compare", "--problem", "bernoulli", "--policies", "LinCORe"],
            "LinCORe chooses by features, but bernoulli offers none",
        ),
        (["compare", "--problem", "linear(n_arms=5)"], "n_arms must be at least n_features, 10"),
        (
            ["compare", "--problem", "fixed_linear([[1, 1], [2, 2]], [0.1, 0.1])", "--policies", "LinCORe"],
            "features must span all 2 dimensions, but span 1",
        ),
        (["compare", "--problem", "linear", "--policies", "LinCORe(lam=0)"], "lam must be a number above 0, not 0"),
        (
            ["tune", "--problem", "beta", "--policy", "CORe", "--parameter", "alhpa=1,2"],
            "unknown parameter of CORe 'alhpa': did you mean 'alpha'?",
        ),
        (
            ["tune", "--problem", "beta", "--policy", "CORe", "--parameter", "alpha"],
            "a parameter is written as alpha=0.2:1.4:0.2",
        ),
        (
            ["tune", "--problem", "beta", "--policy", "CORe", "--parameter", "z=0.4", "--parameter", "z=0.5"],
            "--parameter names the same parameter twice",
        ),
        (["reproduce", "figure1", "--click-models", "m.json"], "--click-models is for figure4, which is not among"),
        (["reproduce", "figure1", "theory", "--model", "PBM"], "--model is for figure4, which is not among figure1, t"),
        (["reproduce", "figure4", "--click-models", "m.json"], "cannot read m.json: No such file or directory"),
        (
            ["compare", "--problem", "yandex_like", "--policies", "CORe"],
            "CORe does not rank, but yandex_like shows rankings: say Ranked(CORe)",
        ),
        (["run", "missing.toml"], "cannot read missing.toml: No such file or directory"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = corebandit(*arguments, code=2)
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    result = corebandit("reproduce", *SMALL, "--out", tmp_path / "file" / "below", code=2)
    assert "cannot write results to" in result.stderr


def test_help_teaches():
    assert "reproduce" in corebandit("--help").stdout
    for command in ("reproduce", "compare", "tune", "run", "list"):
        assert corebandit(command, "--help").stdout
    said = corebandit("reproduce", "--help").stdout
    assert all(name in said for name in (*FIGURES, *STUDIES))
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", corebandit("--version").stdout.strip())


def test_a_bug_looks_like_a_bug(monkeypatch):
    def broken(spec):
        raise ValueError("not one of our sentences")

    monkeypatch.setattr("corebandit.catalogue.policy_from", broken)
    result = CliRunner().invoke(app, ["compare", "--problem", "bernoulli", "--policies", "CORe"])
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)


def test_a_horizon_that_no_memory_is_enough_for_is_refused(tmp_path):
    arguments = ["--problem", "bernoulli", "--policies", "CORe", "--horizon", 10**12, "--out", tmp_path / "out"]
    assert "8 TB" in corebandit("compare", *arguments, code=2).stderr
    assert not (tmp_path / "out").exists()


def test_an_experiment_never_leaves_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('name = ".."\nproblems = ["bernoulli"]\npolicies = ["UCB1"]\n')
    assert "plain name" in corebandit("run", "mine.toml", code=2).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
