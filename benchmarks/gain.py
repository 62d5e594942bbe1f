"""How often the interval of `agent.gain()` covers what was gained, where rewards have heavy tails.

    uv run python benchmarks/gain.py             1,000 shops of each law of rewards, some minutes a law
    uv run python benchmarks/gain.py --quick     rougher, and nothing is written

writes docs/results/gain.json, which docs/live.md quotes by way of scripts/fill_docs.py. A shop counts as covered if the
interval covers whenever one looks: after every 100 decisions, from the number on that `holds_from` names.
"""

import argparse

import numpy as np

import corebandit as cb
from storing import store_table

LAWS = {
    "lognormal": "lognormal, σ = 1.5",
    "Pareto": "Pareto, index 2.5: no third moment",
    "purchases": "one of twenty buys, for a lognormal sum",
}
MEANS = np.array([1.0, 1.3, 1.6])
HOLDOUT = 0.05
RUNS, QUICK_RUNS = 1_000, 20
DECISIONS, QUICK_DECISIONS = 20_000, 5_000


def heavy_tailed(law: str, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return rewards of mean 1 whose largest ones are most of their variance."""
    if law == "lognormal":
        return rng.lognormal(-(1.5**2) / 2, 1.5, shape)
    if law == "Pareto":
        return rng.pareto(2.5, shape) * 1.5
    return (rng.random(shape) < 0.05) * rng.lognormal(-0.5, 1.0, shape) / 0.05


def covers_always(law: str, seed: int, n_decisions: int, holdout: float = HOLDOUT) -> bool:
    """Tell whether the interval covers what the policy's decisions gained, whenever one looks."""
    rng = np.random.default_rng(seed)
    rewards = (heavy_tailed(law, rng, (n_decisions, MEANS.size)) * MEANS).tolist()
    agent = cb.Agent(cb.CORe(warm_up=0.1), range(MEANS.size), seed=seed, holdout=holdout)
    edge, gained, n_chosen, n_looks = (MEANS - MEANS.mean()).tolist(), 0.0, 0, 0
    for number, row in enumerate(rewards, start=1):
        decision = agent.ask()
        agent.tell(decision, row[decision.arm])
        if not decision.is_held_out:
            gained += edge[decision.arm]
            n_chosen += 1
        if number % 100 == 0 and (gain := agent.gain()).ci_low is not None and gain.ci_high is not None:
            n_looks += 1
            if not gain.ci_low <= gained / n_chosen <= gain.ci_high:
                return False
    assert n_looks > 0
    return True


def main() -> None:
    """Measure, print and write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    runs, n_decisions = (QUICK_RUNS, QUICK_DECISIONS) if given.quick else (RUNS, DECISIONS)
    lines = []
    for law, in_words in LAWS.items():
        covered = sum(covers_always(law, seed, n_decisions) for seed in range(runs))
        lines.append([in_words, f"{covered:,} of {runs:,}"])
        print(": ".join(lines[-1]), flush=True)
    if not given.quick:
        store_table("gain", ["rewards", "shops in which the interval covers whenever one looks"], lines)


if __name__ == "__main__":
    main()
