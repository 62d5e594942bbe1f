"""What it costs that rewards come late, for six policies, with and without the limit on arms that are not heard of.

    uv run python benchmarks/delay.py             10 runs of 20,000 decisions each, some minutes
    uv run python benchmarks/delay.py --quick     rougher, and nothing is written

writes docs/results/delay.json, which docs/live.md quotes by way of scripts/fill_docs.py. Ten arms pay 0 or 1, with
means drawn uniformly from [0.25, 0.75]; the reward of a decision is told so many decisions later. Regret counts
decisions as they are made.
"""

import argparse
from collections import deque
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np

import corebandit as cb
from corebandit.agents.traffic import PATIENCE, Traffic
from storing import store_table

POLICIES = (cb.RecommendedCORe(), cb.CORe(), cb.BernoulliTS(), cb.UCB1(), cb.KLUCB(), cb.SSMC())
DELAYS = (0, 100, 1_000, 10_000)
LIMITS = {"patience 100, the default": PATIENCE, "patience above the delay": 10**6, "no limit at all": None}
N_ARMS = 10
RUNS, QUICK_RUNS = 10, 2
DECISIONS, QUICK_DECISIONS = 20_000, 1_000


def regret(policy: cb.Policy, delay: int, patience: int | None, n_decisions: int, seed: int) -> float:
    """Return how much less is expected of all arms chosen than of the best; the same arms and luck for each seed."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.25, 0.75, N_ARMS)
    pays = (rng.random((n_decisions, N_ARMS)) < means).astype(float).tolist()
    lost = (means.max() - means).tolist()
    agent = cb.Agent(policy, range(N_ARMS), seed=seed, horizon=n_decisions, patience=patience or PATIENCE)
    waiting, total = deque[tuple[cb.Decision[int], float]](), 0.0
    unlimited = patch.object(Traffic, "within_limits", lambda self, offered, n_chosen=1: offered)
    with unlimited if patience is None else nullcontext():
        for paid in pays:
            decision = agent.ask()
            total += lost[decision.arm]
            waiting.append((decision, paid[decision.arm]))
            if len(waiting) > delay:
                agent.tell(*waiting.popleft())
    return total


def main() -> None:
    """Measure, print and write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    runs, n_decisions = (QUICK_RUNS, QUICK_DECISIONS) if given.quick else (RUNS, DECISIONS)
    lines = []
    for policy in POLICIES:
        for words, patience in LIMITS.items():
            cells = []
            for delay in DELAYS:
                found = [regret(policy, delay, patience, n_decisions, seed) for seed in range(runs)]
                cells.append(f"{np.mean(found):,.0f} ± {np.std(found, ddof=1) / runs**0.5:,.0f}")
            lines.append([policy.label, words, *cells])
            print(" | ".join(lines[-1]), flush=True)
    if not given.quick:
        store_table("delay", ["policy", "limit", *(f"{delay:,} decisions later" for delay in DELAYS)], lines)


if __name__ == "__main__":
    main()
