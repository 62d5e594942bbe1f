"""Playing on a GPU, as far as can be seen without one; `tests/compiled/test_device.py` compiles for one."""

from pathlib import Path

import pytest

import corebandit as cb
from corebandit.compiled.cuda import device
from corebandit.experiments.cutting import chunks_of
from corebandit.experiments.engines.recorded import record
from corebandit.experiments.engines.threads import Threads
from fresh_interpreter import run_python

SIMULATED = Path(__file__).parents[1] / "simulated_gpu.py"


@pytest.mark.heavy
def test_a_simulated_gpu_plays_as_the_processor_does(tmp_path):
    simulated = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    assert len(run_python(str(SIMULATED), tmp_path, **simulated).splitlines()) == 8


def test_without_a_gpu_one_sentence_says_what_is_missing():
    reason = device.why_not()
    if not reason:  # here is one
        assert cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=10, runs=2), engine="cuda")
        return
    with pytest.raises(cb.BadInput, match="the engine cuda cannot be used: "):
        cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=10, runs=2), engine="cuda")
    assert reason in (device.WITHOUT_PACKAGE, device.WITHOUT_GPU) or reason.startswith("numba-cuda cannot be used")


def test_an_engine_of_no_name_is_refused():
    with pytest.raises(cb.BadInput, match="engine must be threads, cuda, a file of runs"):
        cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=10, runs=2), engine="gpu")


def test_what_another_machine_has_played_is_handed_over(tmp_path):
    arms = cb.Experiment(cb.GaussianBandit(), [cb.CORe(), cb.UCB1()], horizon=50, runs=12)
    engine, kept = Threads(1), []
    chunks = [chunk for label in arms.policies for chunk in chunks_of(arms, label, 12)]
    engine.play(chunks, lambda place, runs: kept.append((place, runs)))
    record(tmp_path / "runs", chunks, [runs for _, runs in sorted(kept, key=lambda one: one[0])], "elsewhere")
    again = cb.run(arms, engine=str(tmp_path / "runs"))
    assert again.frame.equals(cb.run(arms).frame)
    other = cb.Experiment(cb.GaussianBandit(), [cb.CORe()], horizon=60, runs=12)
    with pytest.raises(
        cb.BadInput, match=r"has no runs 0 to 11 of CORe on gaussian with these settings, or another version"
    ):
        cb.run(other, engine=str(tmp_path / "runs"))
    with pytest.raises(cb.BadInput, match="jobs is the number of threads"):
        cb.run(arms, engine=str(tmp_path / "runs"), jobs=1)


def test_a_file_of_runs_that_is_damaged_is_refused(tmp_path):
    (tmp_path / "runs").write_bytes(b"nothing")
    with pytest.raises(cb.BadInput, match="is no file of runs"):
        cb.run(cb.Experiment(cb.GaussianBandit(), [cb.UCB1()], horizon=5, runs=2), engine=str(tmp_path / "runs"))
