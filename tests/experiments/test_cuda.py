"""Playing on a GPU, as far as can be seen without one; `tests/compiled/test_device.py` compiles for one."""

from pathlib import Path

import pytest

import corebandit as cb
from corebandit.compiled.cuda import device
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
    with pytest.raises(cb.BadInput, match="engine must be threads, cuda, or an object"):
        cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=10, runs=2), engine="gpu")
