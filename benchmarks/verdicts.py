"""Measure how often verdicts on many comparisons are reached, and how often they are false, on made-up runs.

    uv run python benchmarks/verdicts.py

prints what docs/coverage.md quotes: claims of 21 and 60 comparisons far from their bounds, near them and at them; eight
equal policies, of which none may be called worse; and failures too rare for the runs to show.
"""

import argparse
from collections.abc import Callable

import numpy as np

from corebandit.report.claim import FAILS, HOLDS, Claim
from corebandit.reproduction.claims import NOTHING_UNSEEN, Subject, Unseen, below, judged
from corebandit.statistics.estimates import mean_estimate, mean_estimates
from corebandit.statistics.failures import usual_cost
from corebandit.statistics.several import maybe_lowest

Draw = Callable[[np.random.Generator, int], np.ndarray]
HEAVY: dict[str, Draw] = {
    "Student t, 3 degrees": lambda rng, n: rng.standard_t(3.0, size=n) / np.sqrt(3.0),
    "difference of lognormals": lambda rng, n: np.diff(rng.lognormal(sigma=1.2, size=(n, 2)))[:, 0] / 5.2,
    "3 % of runs 30 times as dear": lambda rng, n: (
        (np.where(rng.random(n) < 0.03, 30.0, 1.0) * rng.lognormal(sigma=0.3, size=n) - 1.956) / 5.2
    ),
}


def claim(gaps: np.ndarray) -> Claim:
    """Judge the claim that the means of the columns of `gaps` `(runs, comparisons)` are all below 0."""
    subject = Subject("p", "a", "a - b")
    return judged(
        "A", "", None, [below(0.0, each, len(gaps), subject, NOTHING_UNSEEN) for each in mean_estimates(gaps)]
    )


def shares(draw: Draw, errors: np.ndarray, n_runs: int, n_samples: int, rng: np.random.Generator) -> tuple[float, ...]:
    """Return how often the claim holds and fails if its means are so many standard errors from their bounds."""
    said = []
    for _ in range(n_samples):
        gaps = np.stack([draw(rng, n_runs) for _ in errors], axis=1) + errors / np.sqrt(n_runs)
        said.append(claim(gaps).verdict)
    return said.count(HOLDS) / n_samples, said.count(FAILS) / n_samples


def equals(n_runs: int, failing: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the regrets of eight policies that are alike, of which a share of the runs fails."""
    regret = rng.lognormal(sigma=0.5, size=(n_runs, 1)) * rng.lognormal(sigma=0.4, size=(n_runs, 8))
    return np.where(rng.random((n_runs, 8)) < failing, regret + 30.0, regret)


def with_rare_failures(n_runs: int, share: float, rng: np.random.Generator) -> Claim:
    """Judge "below" of two policies with one mean: one mostly better, and seldom a hundred times as dear."""
    own = rng.lognormal(-0.125, 0.5, size=n_runs)
    own = np.where(rng.random(n_runs) < share, 100.0 * own, own)
    other = (1.0 + 99.0 * share) * rng.lognormal(-0.125, 0.5, size=n_runs)
    unseen = Unseen.in_difference(usual_cost([own, other]), n_runs)
    finding = below(0.0, mean_estimate(own - other), n_runs, Subject("p", "a", "a - b"), unseen)
    return judged("A", "", None, [finding])


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--samples", type=int, default=100)
    given = arguments.parse_args()
    rng, n = np.random.default_rng(2026), given.samples
    print("| comparisons | runs | holds | does not hold |\n|---|---|---|---|")
    for number in (21, 60):
        for errors in (-5_000.0, 5_000.0):
            found = shares(HEAVY["Student t, 3 degrees"], np.full(number, errors), 200, 1, rng)
            print(f"| {number}, {errors:+,.0f} errors | 200 | {found[0]:.0%} | {found[1]:.0%} |")
    clear, violated = np.full(21, -6.0), np.array([6.0] + 20 * [-6.0])
    for name, draw in HEAVY.items():
        for what, errors in (
            ("6 errors clear", clear),
            ("one violated by 6", violated),
            ("at the bound", np.zeros(21)),
        ):
            holds, fails = shares(draw, errors, 1_000, n, rng)
            print(f"| 21, {what}: {name} | 1,000 | {holds:.0%} | {fails:.0%} |", flush=True)
    print("\n| equal policies: somebody is called worse | mild | 3 % failed runs |\n|---|---|---|")
    for n_runs in (20, 50, 100, 300, 1_000, 3_000):
        bad = [
            sum(not maybe_lowest(equals(n_runs, failing, rng)).all() for _ in range(4 * n)) for failing in (0.0, 0.03)
        ]
        print(f"| {n_runs:,} | {' | '.join(f'{each / (4 * n):.1%}' for each in bad)} |", flush=True)
    print("\n| failures: false verdicts, and looks | 1,000 | 2,000 | 3,000 |\n|---|---|---|---|")
    for share in (0.001, 0.002, 0.003):
        cells = []
        for n_runs in (1_000, 2_000, 3_000):
            said = [with_rare_failures(n_runs, share, rng).verdict for _ in range(5 * n)]
            cells.append(
                f"{said.count(HOLDS) / len(said):.1%}, {sum('looks' in each for each in said) / len(said):.1%}"
            )
        print(f"| {share:.1%} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
