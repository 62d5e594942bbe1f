import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.experiments.keys import _contents
from playing import keys_of


def small(**changes):
    policies = changes.pop("policies", [cb.CORe(), cb.UCB1(), cb.BernoulliTS()])
    return cb.Experiment(cb.BernoulliBandit(), policies, **{"horizon": 300, "runs": 23, "seed": 4, **changes})


def test_results_do_not_depend_on_the_number_of_threads():
    assert cb.run(small(), jobs=1).frame.equals(cb.run(small(), jobs=8).frame)


def test_adding_a_policy_changes_nobody_elses_numbers():
    alone = cb.run(small(policies=[cb.UCB1()])).regret("UCB1")
    assert np.array_equal(cb.run(small()).regret("UCB1"), alone)


def test_more_runs_leave_the_first_ones_as_they_are():
    assert np.array_equal(cb.run(small(runs=31)).regret("CORe")[:23], cb.run(small()).regret("CORe"))


class Broken:
    """A model that cannot be fitted."""

    def fit(self, x, y):
        raise ArithmeticError("no")

    def predict(self, x):
        return x[:, 0]


def test_a_run_that_fails_before_anything_is_finished_leaves_no_empty_folder(tmp_path):
    broken = cb.Experiment(cb.LinearBandit(), [cb.EstimatorCORe(Broken(), warm_up=0.0)], horizon=60, runs=1)
    (tmp_path / "mine").mkdir()
    for folder in (tmp_path / "mine" / "new" / "chunks", tmp_path / "mine"):
        with pytest.raises(ValueError, match="Broken failed in fit"):
            cb.run(broken, folder=folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


def test_the_seed_decides_everything():
    assert cb.run(small()).frame.equals(cb.run(small()).frame)
    assert not np.array_equal(cb.run(small()).regret("UCB1"), cb.run(small(seed=5)).regret("UCB1"))


def test_an_arm_pays_the_same_whoever_pulls_it():
    """Twins that differ in name only see the same rewards; policies that differ are still paired by problem."""
    twins = {"one": cb.UCB1(), "two": cb.UCB1()}
    result = cb.run(small(policies=twins))
    assert np.array_equal(result.regret("one"), result.regret("two"))
    pair = cb.run(small(policies=[cb.UCB1(), cb.UCBV()], horizon=2000, runs=40))
    finals = np.array([pair.regret(policy)[:, -1] for policy in ("UCB1", "UCBV")])
    assert np.corrcoef(finals)[0, 1] > 0.5  # hard problems are hard for both


@pytest.mark.heavy
def test_realised_regret_has_the_same_mean_and_more_noise():
    expected, realised = (
        cb.run(small(policies=[cb.UCB1()], runs=400, regret=kind)).regret("UCB1")[:, -1]
        for kind in ("expected", "realised")
    )
    noise = np.sqrt(300 * 0.25 / 400)
    assert abs(expected.mean() - realised.mean()) < 4 * noise
    assert realised.std() > expected.std()


def test_regret_is_recorded_at_the_horizon_and_never_falls():
    result = cb.run(small(horizon=250))
    rounds = result.frame["round"].unique().sort()
    assert rounds[-1] == 250
    assert rounds.len() == 100
    assert (np.diff(result.regret("CORe"), axis=1) >= -1e-12).all()
    assert cb.run(small(horizon=7, policies=[cb.UCB1()])).frame["round"].unique().sort().to_list() == list(range(1, 8))


def test_a_second_start_finds_what_the_first_has_finished(tmp_path):
    whole = cb.run(small())
    cb.run(small(), folder=tmp_path)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(files) == 9  # three policies, three chunks of at most ten runs
    for path in list(files)[::2]:
        path.unlink()
    again = cb.run(small(), folder=tmp_path)
    assert again.frame.equals(whole.frame)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert sum(kept[path] == files[path] for path in files) == 4


def test_a_fresh_run_plays_all_of_it_again_and_keeps_what_others_left(tmp_path):
    cb.run(small(seed=5), folder=tmp_path)
    others = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    cb.run(small(), folder=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    cb.run(small(), folder=tmp_path, fresh=True)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {path for path in after if after[path] == before[path]} == set(others)
    assert after.keys() == before.keys()


def test_a_chunk_has_another_key_when_anything_about_it_changes():
    def keys(experiment):
        return keys_of(experiment)

    base = keys(small())
    assert keys(small()) == base
    assert keys(small(runs=20)) < base
    for other in (small(seed=5), small(horizon=301), small(regret="realised")):
        assert not keys(other) & base
    assert not keys(small(policies=[cb.CORe(alpha=0.5)])) & base


@pytest.mark.endurance
def test_an_edited_policy_of_the_users_own_is_not_mixed_with_its_old_results(tmp_path, monkeypatch):
    source = (
        "from dataclasses import dataclass\nfrom typing import NamedTuple\n"
        "import numpy as np\nimport corebandit as cb\n"
        "class MineState(NamedTuple):\n    counts: np.ndarray\n"
        "    def score(self, rng, scores):\n        scores[:] = 0.0\n"
        "    def update(self, arm, reward, rng):\n        self.counts[arm] += 1.0\n"
        "@dataclass(frozen=True)\nclass Mine(cb.Policy):\n"
        "    def start(self, n_arms, horizon, capacity):\n        return MineState(np.zeros(n_arms))\n"
    )
    script = (
        "import corebandit as cb, edited_policy\nfrom corebandit.experiments.playing import task_of\n"
        "from corebandit.experiments.keys import key_of\n"
        "experiment = cb.Experiment(cb.BernoulliBandit(), [edited_policy.Mine()], runs=1)\n"
        "print(key_of(task_of(experiment, 'Mine'), ''))\n"
    )

    def key(text):
        (tmp_path / "edited_policy.py").write_text(text)
        return subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)

    first, second, edited = key(source), key(source), key(source.replace("= 0.0", "= 1.0"))
    assert first.stdout == second.stdout
    assert first.stdout != edited.stdout


@pytest.mark.heavy
def test_a_killed_run_ends_with_the_same_results_after_a_second_start(tmp_path):
    script = f"""
import os, signal
import corebandit as cb
from corebandit.experiments.engines import threads
play, left = threads.play_runs, [None] * 5

def play_or_die(*arguments):
    left.pop() if left else os.kill(os.getpid(), signal.SIGKILL)
    return play(*arguments)

threads.play_runs = play_or_die
experiment = cb.Experiment(cb.GaussianBandit(), [cb.CORe(), cb.UCB1()], horizon=500, runs=60)
cb.run(experiment, folder={str(tmp_path)!r})
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    assert 0 < len(list(tmp_path.glob("*.chunk"))) < 6
    experiment = cb.Experiment(cb.GaussianBandit(), [cb.CORe(), cb.UCB1()], horizon=500, runs=60)
    assert cb.run(experiment, folder=tmp_path).frame.equals(cb.run(experiment).frame)


@pytest.mark.endurance
def test_an_interrupted_run_stops_at_once_and_keeps_what_was_finished(tmp_path):
    script = (
        "import corebandit as cb\n"
        "experiment = cb.Experiment(cb.GaussianBandit(), [cb.CORe(sampler='exact')], horizon=10000, runs=2000)\n"
        f"cb.run(experiment, folder={str(tmp_path)!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("*.chunk")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert 0 < len(list(tmp_path.glob("*.chunk"))) < 200
    assert not list(tmp_path.glob(".*"))


def test_a_mistake_in_one_chunk_ends_the_run_with_its_message():
    class Broken(cb.UCB1):
        def start(self, n_arms, horizon, capacity):
            if n_arms > 2:
                raise ValueError("no room for so many arms")
            return super().start(n_arms, horizon, capacity)

    with pytest.raises(ValueError, match="no room for so many arms"):
        cb.run(small(policies=[Broken()]))


def test_bad_arguments_are_named(tmp_path):
    with pytest.raises(ValueError, match="jobs must be a whole number of at least 1, not 0"):
        cb.run(small(), jobs=0)
    with pytest.raises(ValueError, match="at least one experiment"):
        cb.run([])
    with pytest.raises(ValueError, match="two experiments called 'comparison' have CORe on the problem bernoulli"):
        cb.run([small(), small(seed=9)])
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot write results to"):
        cb.run(small(), folder=tmp_path / "file" / "below")


def test_twins_may_be_written_by_two_threads_at_once(tmp_path):
    twins = {f"twin {index}": cb.UCB1() for index in range(6)}
    for attempt in range(5):
        cb.run(small(policies=twins, horizon=20), folder=tmp_path / str(attempt), jobs=6)


@pytest.mark.parametrize("damage", [b"", b"PK torn"])
def test_a_torn_chunk_is_played_again(tmp_path, damage):
    whole = cb.run(small(), folder=tmp_path)
    next(tmp_path.iterdir()).write_bytes(damage)
    assert cb.run(small(), folder=tmp_path).frame.equals(whole.frame)


def test_whole_numbers_for_parameters_are_the_same_recipe():
    one, other = (cb.Experiment(cb.GaussianBandit(sigma=s), [cb.UCB1(sigma=s)], 50, 2) for s in (1, 1.0))
    assert one.id == other.id
    assert keys_of(one) == keys_of(other)


class NanState(NamedTuple):
    counts: np.ndarray

    def score(self, rng, scores):
        scores[:] = 0.0
        scores[3] = np.nan

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0


@dataclass(frozen=True)
class Nan(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return NanState(np.zeros(n_arms))


def test_scores_that_are_not_numbers_end_the_run():
    with pytest.raises(ValueError, match=r"Nan: in round 1 score gave no number to the arms \[3\] of 10"):
        cb.run(small(policies=[Nan()]))


def test_contents_that_look_alike_have_different_digests():
    values = [
        (1, 23),
        (12, 3),
        (np.int64(3),),
        (np.int64(4),),
        ("a",),
        ("b",),
        (None,),
        ("None",),
        (True,),
        (1,),
        ((1,),),
    ]
    values += [(np.zeros(2), np.zeros(3)), (np.zeros(3), np.zeros(2)), (np.zeros(5),), (np.zeros(5, np.float32),)]
    assert len({_contents(value) for value in values}) == len(values)


@dataclass(frozen=True)
class FromFile(cb.Problem):
    """A problem whose arms are read from a file, of which a run takes one line."""

    path: str

    def draw(self, rng):
        with open(self.path) as file:
            lines = file.read().splitlines()
        return cb.FixedArms([cb.Bernoulli(float(p)) for p in lines[int(rng.integers(len(lines)))].split()]).draw(rng)


def test_a_problem_read_from_a_file_is_not_mixed_with_what_the_file_said_before(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path decides which lines are drawn: the last one is to be among them
    path = Path("arms.txt")
    lines = [f"0.{place} 0.{place}5 0.9" for place in range(1, 9)]
    path.write_text("\n".join(lines))
    experiment = cb.Experiment(FromFile(str(path)), [cb.UCB1()], horizon=200, runs=20)
    before = keys_of(experiment)
    assert keys_of(experiment) == before
    path.write_text("\n".join([*lines[:-1], "0.1 0.2 0.3"]))
    assert keys_of(experiment) != before
