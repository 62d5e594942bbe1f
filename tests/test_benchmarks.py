"""The benchmark scripts run; their plain NumPy versions of CORe and LinCORe and ours are the same algorithms."""

import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core import config
from rich.console import Console

from corebandit import Agent, BernoulliBandit, ContextualBandit, CORe, LinCORe, LinearBandit, Problem
from corebandit.catalogue import arm_policies, feature_policies
from corebandit.contracts.recipe import AnyPolicy
from corebandit.experiments import play
from corebandit.experiments.result import Result
from corebandit.experiments.task import Runs, Wanted
from corebandit.randomness.stream import stream
from often import often

pytestmark = pytest.mark.heavy  # scripts run from beginning to end

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def arms() -> Iterator[ModuleType]:
    """Return the script, with sizes that take no time and as if no other library were installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)  # as Python does when it runs a script
        script = import_module("arms")
        tiny = script.Sizes(
            repetitions=1,
            horizon=200,
            problems=1,
            peer_rounds=20,
            decisions=20,
            late_rounds=(100, 200),
            window=20,
            late_repetitions=1,
            has_ratings=False,
            compiled=("UCB1",),
        )
        patch.setattr(script, "QUICK", tiny)
        patch.setattr(script, "installed_peers", list)
        yield script


@pytest.fixture(scope="module")
def linear() -> Iterator[ModuleType]:
    """Return the script for policies that choose by features, likewise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        patch.setenv("OPENBLAS_NUM_THREADS", "1")  # as the script does; taken back afterwards
        script = import_module("linear")
        tiny = script.Sizes(
            repetitions=1,
            horizon=200,
            problems=1,
            peer_rounds=15,
            shapes=(script.Shape(3, 2, 10, 5), script.Shape(4, 2, 10, 5, target=20.0)),
            late_rounds=(100, 200),
            window=20,
            late_repetitions=1,
        )
        patch.setattr(script, "QUICK", tiny)
        patch.setattr(script, "installed_feature_peers", list)
        yield script


def run_script(script: ModuleType, *words: Any) -> str:
    """Return what a script prints that is given these words."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as output:
        patch.setattr("sys.argv", ["script.py", *map(str, words)])
        script.main()
    return output.getvalue()


def what_it_prints(script: ModuleType) -> str:
    """Return what the script prints."""
    return run_script(script, "--quick")


@pytest.fixture(scope="module")
def printed(arms: ModuleType) -> str:
    return what_it_prints(arms)


@pytest.fixture(scope="module")
def printed_linear(linear: ModuleType) -> str:
    return what_it_prints(linear)


def cells(printed: str, label: str) -> list[str]:
    """Return the words of the last table row that starts with the label."""
    return [line.split() for line in printed.splitlines() if line.startswith(f"  {label} ")][-1]


@pytest.mark.endurance
def test_script_prints_every_section(printed: str):
    for title in ("1. Simulation", "2. One decision", "3. One round of CORe", "4. First call"):
        assert title in printed


@pytest.mark.endurance
def test_script_measures_every_policy(printed: str):
    for name in arm_policies():
        assert cells(printed, name)


@pytest.mark.endurance
def test_without_peers_the_script_says_how_to_get_them(printed: str):
    assert "uv run --group peers" in printed


@pytest.mark.endurance
def test_nothing_is_compiled_when_all_is_on_disk(printed: str):
    _, _, compiled_at_first, _, compiled_again = cells(printed, "UCB1")
    assert int(compiled_again) == 0
    assert int(compiled_at_first) > 0 or config.DISABLE_JIT


@pytest.mark.thorough
def test_peers_are_compared_with_ours(arms: ModuleType, monkeypatch: pytest.MonkeyPatch):
    rewards = []
    peer = import_module("peers").Peer(
        "slowpoke", "UCB1", lambda n_arms: (lambda: n_arms - 1, lambda arm, reward: rewards.append(reward))
    )
    monkeypatch.setattr(arms, "installed_peers", lambda: [peer])
    console = Console(file=io.StringIO(), width=110)
    arms.report(arms.QUICK, console, ["decision", "simulation"])
    printed = console.file.getvalue()
    assert "uv run --group peers" not in printed
    assert printed.count("slowpoke") == 2
    assert cells(printed, "slowpoke")[-1] == "x"
    assert len(rewards) == 3 * 20  # decisions to warm up, decisions, rounds
    assert set(rewards) == {0.0, 1.0}


def test_ratings_have_five_values_and_the_means_they_claim(arms: ModuleType):
    problem = arms.rated_bandit().draw(None)
    rng = stream(3, "ratings")
    ratings = np.array([[problem.pull(arm, rng) for _ in range(4000)] for arm in (0, 9)])
    assert set(ratings.ravel()) == {0.0, 0.25, 0.5, 0.75, 1.0}
    np.testing.assert_allclose(ratings.mean(axis=1), [problem.mean(0), problem.mean(9)], atol=0.02)
    assert problem.best_mean() == max(problem.mean(arm) for arm in range(problem.n_arms))


@pytest.mark.parametrize(
    ("policy", "problem"),
    [(CORe(), BernoulliBandit()), (LinCORe(), LinearBandit()), (LinCORe(), ContextualBandit())],
    ids=["arms", "fixed features", "new features"],
)
def test_a_run_in_parts_is_the_same_run(arms: ModuleType, policy: AnyPolicy, problem: Problem):
    whole, parts = (arms.Simulation(policy, problem, horizon=1000) for _ in range(2))
    whole.play(900)
    for rounds in (300, 350, 250):
        parts.play(rounds)
    assert parts.round == whole.round == 900
    assert parts.regret == pytest.approx(whole.regret)


@pytest.mark.thorough
def test_linear_script_prints_every_section_and_shape(printed_linear: str):
    for title in (
        "1. Simulation",
        "2. One decision: 3 rows of 2 features",
        "2. One decision: 4 rows of 2 features",
        "3. One round of LinCORe",
    ):
        assert title in printed_linear


@pytest.mark.thorough
def test_linear_script_measures_every_compiled_policy(printed_linear: str):
    for name, recipe in feature_policies().items():
        is_measured = any(line.startswith(f"  {name} ") for line in printed_linear.splitlines())
        assert is_measured == recipe.runs_compiled, name


@pytest.mark.thorough
def test_linear_script_judges_targets_only_where_there_are_some(printed_linear: str):
    verdicts = [line.split() for line in printed_linear.splitlines() if line.rstrip().endswith("reached")]
    assert [words[0] for words in verdicts] == [
        *("LinCORe", "LinTS"),
        *("Agent(LinCORe())", "Agent(LinTS())", "Agent(LinUCB())"),
    ]


@pytest.mark.thorough
def test_without_peers_the_linear_script_says_how_to_get_them(printed_linear: str):
    assert "uv run --group peers" in printed_linear


@pytest.mark.thorough
def test_peers_choose_by_the_features_they_are_offered(linear: ModuleType, monkeypatch: pytest.MonkeyPatch):
    rewards: list[float] = []

    def start(n_rows: int, n_features: int) -> tuple[object, object]:
        def update(features: list[list[float]], row: int, reward: float) -> None:
            assert (len(features), len(features[0]), row) == (n_rows, n_features, n_rows - 1)
            rewards.append(reward)

        return lambda features: len(features) - 1, update

    def prepare(features: np.ndarray) -> list[list[float]]:
        return features.tolist()

    peers = [
        linear.FeaturePeer("slowpoke", "LinUCB", start, prepare),
        linear.FeaturePeer("snail", "LinUCB", start, prepare, has_features=False),
    ]
    monkeypatch.setattr(linear, "installed_feature_peers", lambda: peers)
    console = Console(file=io.StringIO(), width=110)
    linear.report(linear.QUICK, console, ["decision", "simulation"])
    printed = console.file.getvalue()
    assert "uv run --group peers" not in printed
    assert printed.count("slowpoke") == 3
    assert printed.count("snail") == 2  # it has no features for each row, so it cannot play the simulation
    assert cells(printed, "slowpoke")[-1] == "x"
    assert len(rewards) == 2 * 2 * (5 + 5) + 15  # peers, shapes: decisions to warm up and to measure; rounds
    assert set(rewards) == {0.0, 1.0}


@pytest.mark.thorough
def test_the_script_of_models_measures_each_by_the_number_of_rewards(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    script = import_module("models")
    console = Console(file=io.StringIO(), width=110)
    script.report((20, 30), 1, console)
    printed = console.file.getvalue()
    assert "between two fits" in printed
    for name in script.MODELS:
        assert len(cells(printed, name)) == len(name.split()) + 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "said"), [("gain", " of 2"), ("delay", "SSMC | no limit at all"), ("batches", "LinUCB")]
)
def test_scripts_about_live_use_run_and_write_nothing(name: str, said: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    script = import_module(name)
    tiny = {"QUICK_RUNS": 2, "QUICK_DECISIONS": 4_000, "QUICK_REPETITIONS": 1, "USERS": 20}
    for size, value in tiny.items():
        if hasattr(script, size):
            monkeypatch.setattr(script, size, value)
    before = sorted((BENCHMARKS.parent / "docs" / "results").glob("*"))
    assert said in what_it_prints(script)
    assert sorted((BENCHMARKS.parent / "docs" / "results").glob("*")) == before


class Elsewhere:
    """An engine that plays nothing: regret rises by a number a round, which is another one for every run."""

    environment = "elsewhere"

    def play(self, wanted: Sequence[Wanted], finish: Callable[[int, int, Runs], None]) -> None:
        rng = np.random.default_rng(1)
        for place, each in reversed(list(enumerate(wanted))):
            for piece in reversed(each.cut(20)):  # of thirty runs, so that some pieces are shorter than others
                task, slopes = piece.task, rng.uniform(1.0, 2.0, piece.last - piece.first)
                finish(place, piece.first, Runs(slopes[:, None] * task.rounds, 0.0, {}))


def play_elsewhere(monkeypatch: pytest.MonkeyPatch, file: Path, folder: Path, *percents: int) -> None:
    """Play a file as on another machine."""
    monkeypatch.setattr(play, "engine_of", lambda *arguments: Elsewhere())
    play.main([str(file), str(folder), "--engine", "cuda", "--checkpoints", *map(str, percents)])


def test_worlds_that_change_are_judged_by_what_another_machine_has_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.syspath_prepend(BENCHMARKS)
    drift = import_module("drift")
    monkeypatch.setattr(drift, "STORED", tmp_path / "stored.json")
    file, folder = tmp_path / "report.json", tmp_path / "report"
    assert "12 experiments" in run_script(drift, "report", file, "--runs", 30)
    play_elsewhere(monkeypatch, file, folder, 50, 100)
    printed = run_script(drift, "store", folder)
    stored = json.loads((tmp_path / "stored.json").read_text())

    curves = Result.load(folder).curves()
    slopes = {(curve.problem, curve.policy): curve.finals / curve.rounds[-1] for curve in curves}
    for row in stored["rows"]:
        mean = row["horizon"] * slopes[row["problem"], row["policy"]].mean()
        assert (row["runs"], row["mean"]) == (30, pytest.approx(mean, rel=1e-6))
    assert {(row["experiment"], row["part"]) for row in stored["rows"]} == {
        ("drift_large", ""),
        ("drift_large", "linear"),
    }
    (ratio,) = (row for row in stored["ratios"] if (row["policy"], row["beside"]) == ("DriftingLinCORe", "LinCORe"))
    means = [slopes["linear", policy].mean() for policy in ("DriftingLinCORe", "LinCORe")]
    assert ratio["ratio"] == pytest.approx(means[0] / means[1])
    verdicts = {claim["id"]: claim for claim in stored["claims"]}
    assert list(verdicts) == ["D1.a", "D1.b", "D1.c", "D2.a", "D2.b", "D2.c", "D3", "D4", "D5"]
    after = [each["value"] for each in verdicts["D3"]["details"] if each["measure"] == "regret after the change"]
    named = [slopes[problem, "DriftingCORe"].mean() for problem in ("changed_best", "quietly_better")]
    assert after == pytest.approx([20_000 * slope for slope in named], rel=1e-6)
    assert all(f"{name}" in printed for name in verdicts)


def test_what_is_lost_after_a_change_is_not_judged_by_regrets_that_were_kept_at_the_end_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.syspath_prepend(BENCHMARKS)
    drift = import_module("drift")
    monkeypatch.setattr(drift, "STORED", tmp_path / "stored.json")
    run_script(drift, "report", tmp_path / "report.json", "--runs", 30)
    play_elsewhere(monkeypatch, tmp_path / "report.json", tmp_path / "report", 60, 100)
    with pytest.raises(SystemExit, match=r"D3 needs the regret of .* after half of all rounds, 20,000, too"):
        run_script(drift, "store", tmp_path / "report")
    assert not (tmp_path / "stored.json").exists()


def test_exploration_is_chosen_and_compared_by_what_another_machine_has_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.syspath_prepend(BENCHMARKS)
    exploration = import_module("exploration")
    monkeypatch.setattr(exploration, "STORED", tmp_path / "stored.json")
    run_script(exploration, "grid", tmp_path / "grid.json", "--runs", 30)
    play_elsewhere(monkeypatch, tmp_path / "grid.json", tmp_path / "grid", 100)
    assert "chosen by the rule for arms: alpha" in run_script(exploration, "choose", tmp_path / "grid")
    run_script(exploration, "report", tmp_path / "report.json", tmp_path / "stored.json", "--runs", 30)
    play_elsewhere(monkeypatch, tmp_path / "report.json", tmp_path / "report", 100)
    assert " of " in run_script(exploration, "store", tmp_path / "report")
    assert {"settings", "tuned", "ratios"} < set(json.loads((tmp_path / "stored.json").read_text()))


def choice_of(agent: Agent, *features: Any) -> Any:
    """Return what is chosen when no decision waits."""
    decision = agent.ask(*features)
    agent.forget(decision)
    return decision.arm


@pytest.mark.heavy
@pytest.mark.parametrize("sampler", ["fast", "exact"])
@pytest.mark.parametrize("digits", [0, 9], ids=["counts", "real rewards"])
def test_plain_numpy_chooses_like_ours_after_the_same_history(arms: ModuleType, digits: int, sampler: str):
    rng = np.random.default_rng(1)
    chosen = np.repeat([0, 1, 2], [9, 30, 16])
    rewards = np.round(rng.exponential(size=chosen.size), digits)
    agent = Agent(CORe(warm_up=0, sampler=sampler), arms=range(3), seed=0)
    for arm, reward in zip(chosen.tolist(), rewards, strict=True):
        agent.observe(arm, reward)
    n = 8_000
    ours = np.bincount([choice_of(agent) for _ in range(n)], minlength=3) / n
    choose_plain = import_module("plain_core").choose_plain_core
    plain = np.bincount([choose_plain(chosen, rewards, 3, 0.6, rng) for _ in range(n)], minlength=3) / n
    assert min(plain) > 0.01  # else there is little to compare
    z = (ours - plain) / np.sqrt(plain * (1.0 - plain) * 2.0 / n)
    assert max(abs(z)) < 4.5


@pytest.mark.heavy
@pytest.mark.parametrize("n_problems", often([15], [15, 60]))
def test_plain_numpy_has_the_same_regret_as_ours(arms: ModuleType, n_problems: int):
    horizon, samplers = 2000, ("fast", "exact")
    differences = np.zeros((n_problems, 2))
    for problem in range(n_problems):
        runs = [arms.Simulation(CORe(sampler=sampler), BernoulliBandit(), horizon, problem) for sampler in samplers]
        for run in runs:
            run.play(horizon)
        plain = arms.play_plain_core(runs[0].problem.means, horizon, np.random.default_rng(problem))
        differences[problem] = [run.regret - plain for run in runs]
    z = differences.mean(axis=0) / (differences.std(axis=0, ddof=1) / math.sqrt(n_problems))
    assert np.all(np.abs(z) < 4), dict(zip(samplers, z, strict=True))


@pytest.mark.heavy
@pytest.mark.parametrize("has_fixed_features", [True, False], ids=["fixed features", "new features"])
def test_plain_numpy_chooses_by_features_like_ours_after_the_same_history(linear: ModuleType, has_fixed_features: bool):
    rng = np.random.default_rng(3)
    features = rng.normal(size=(5, 3))
    chosen = np.repeat(range(5), [12, 9, 14, 11, 8])
    rewards = features[chosen] @ [0.2, -0.1, 0.1] + rng.exponential(size=chosen.size)
    agent = Agent(LinCORe(warm_up=0), seed=0)
    plain = linear.PlainLinCORe(5, 3, 2, rng, has_fixed_features=has_fixed_features, warm_up=0)
    for arm, reward in zip(chosen.tolist(), rewards, strict=True):
        agent.observe(arm, reward, features[arm])
        plain.learn(arm, features[arm], reward)
    n = 8_000
    ours = np.bincount([choice_of(agent, features) for _ in range(n)], minlength=5) / n
    theirs = np.bincount([plain.choose(features) for _ in range(n)], minlength=5) / n
    likely = theirs > 0.01
    assert likely.sum() > 2  # else there is little to compare
    z = (ours - theirs)[likely] / np.sqrt(theirs * (1.0 - theirs) * 2.0 / n)[likely]
    assert max(abs(z)) < 4.5


@pytest.mark.heavy
@pytest.mark.parametrize("n_problems", often([15], [15, 60]))
def test_plain_numpy_has_the_same_regret_by_features_as_ours(linear: ModuleType, n_problems: int):
    horizon = 1000
    differences = np.zeros(n_problems)
    for problem in range(n_problems):
        run = linear.Simulation(LinCORe(), LinearBandit(), horizon, problem)
        run.play(horizon)
        arms = run.problem
        plain = linear.play_plain_lincore(arms.features, arms.theta, horizon, np.random.default_rng(problem))
        differences[problem] = run.regret - plain
    z = differences.mean() / (differences.std(ddof=1) / math.sqrt(n_problems))
    assert abs(z) < 4
