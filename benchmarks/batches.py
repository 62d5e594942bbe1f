"""How much faster many decisions at once are than one after the other.

    uv run python benchmarks/batches.py             1,000 users, 20 arms, 30 features; half a minute
    uv run python benchmarks/batches.py --quick     rougher

CPU microseconds for a decision, best of several repetitions in turns; of many at once arms and ids are read. Limits of
traffic are at work in both, since all these decisions wait.
"""

import argparse
import copy

import numpy as np
from rich.console import Console

import corebandit as cb
from measure import best_in_turns, cpu_seconds
from printing import new_table

USERS, ARMS, FEATURES = 1_000, 20, 30
POLICIES = (cb.LinGreedy(), cb.LinTS(), cb.LinCORe(), cb.LinUCB())
REPETITIONS, QUICK_REPETITIONS = 100, 2


def taught(policy: cb.FeaturePolicy, n: int = 300) -> cb.Agent:
    """Return an agent that has learnt from so many rewards."""
    rng = np.random.default_rng(1)
    agent = cb.Agent(policy, range(ARMS), seed=1)
    agent.observe_many(rng.integers(ARMS, size=n), rng.random(n), rng.normal(size=(n, FEATURES)))
    return agent


def read(decisions: cb.Decisions) -> tuple[tuple[int, ...], tuple[object, ...]]:
    """Return what whoever carries decisions out needs of them."""
    return decisions.arms, decisions.ids


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    table = new_table(f"{USERS:,} users, {ARMS} arms, {FEATURES} features: CPU µs for a decision", *HEADERS)
    features = np.random.default_rng(2).normal(size=(USERS, ARMS, FEATURES))
    for policy in POLICIES:
        agent = taught(policy)
        copy.copy(agent).ask_many(features)  # compiled now

        def loop(agent: cb.Agent = agent) -> float:
            twin = copy.copy(agent)
            return cpu_seconds(lambda: [twin.ask(rows) for rows in features])

        def many(agent: cb.Agent = agent) -> float:
            twin = copy.copy(agent)
            return cpu_seconds(lambda: read(twin.ask_many(features)))

        best = best_in_turns({"loop": loop, "many": many}, QUICK_REPETITIONS if given.quick else REPETITIONS)
        one, batch = (1e6 * best[name] / USERS for name in ("loop", "many"))
        table.add_row(policy.label, f"{one:.1f}", f"{batch:.2f}", f"{one / batch:.1f} x")
    Console().print(table)


HEADERS = ("policy", "ask, one after the other", "ask_many", "faster")

if __name__ == "__main__":
    main()
