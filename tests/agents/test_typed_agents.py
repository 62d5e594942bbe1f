"""Type checkers know what an agent's arms are."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough  # it is mypy that takes many seconds

ROOT = Path(__file__).parents[2]
PROGRAM = """
from decimal import Decimal

import corebandit as cb

agent = cb.Agent(cb.CORe(), arms=["red", "green"], seed=7)
decision = agent.ask()
banner: str = decision.arm
agent.tell(decision, reward=Decimal("9.99"))
first: str = agent.arms[0]
likely: dict[str, float] = agent.probabilities()
row: int = cb.Agent(cb.LinCORe()).ask([[1.0, 0.0]]).arm
either: cb.Agent = agent
with cb.open_agent("sqlite:///shop.db", "banner", cb.CORe(), arms=["red"], holdout=0.1) as kept:
    shown: str = kept.ask().arm
wrong: int = decision.arm
agent.add_arm(3)
cb.Agent(cb.CORe(), arms=["red"], seeed=7)
"""


def test_arms_have_the_type_they_were_given_in(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), str(program)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    faults = [line for line in said.splitlines() if "program.py" in line and "error:" in line]
    lines = PROGRAM.splitlines()
    assert list(dict.fromkeys(lines[int(fault.split(":")[1]) - 1] for fault in faults)) == lines[-3:], said
