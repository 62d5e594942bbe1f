"""A first agent: let CORe choose which of three headlines to show, one visitor at a time.

Nothing is tuned. Rewards may be any real numbers, here the seconds a visitor stays.
"""

import random
import tempfile
from pathlib import Path

import corebandit as cb

random.seed(1)
SECONDS = {"plain": 20.0, "question": 26.0, "number": 31.0}  # what a visitor stays on average: unknown to the agent

agent = cb.Agent(cb.CORe(), arms=SECONDS, seed=7, horizon=2000)
shown = dict.fromkeys(SECONDS, 0)
for _ in range(2000):
    decision = agent.ask()
    shown[decision.arm] += 1
    agent.tell(decision, reward=random.expovariate(1 / SECONDS[decision.arm]))

print("shown:", shown)

# The agent is a small JSON file: save it, load it somewhere else, and it continues as if nothing had happened.
with tempfile.TemporaryDirectory() as folder:
    agent.save(Path(folder) / "headlines.json")
    agent = cb.Agent.load(Path(folder) / "headlines.json")
agent.add_arm("emoji")  # options may come ...
agent.retire_arm("plain")  # ... and go
print("next:", agent.ask().arm)
