"""How fast are policies that choose by features, ours and those of other libraries? See README.md.

Usage: uv run --group peers python benchmarks/linear.py [--quick]
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else CPU time counts NumPy's threads that wait for each other

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Table

from corebandit import Agent, ContextualBandit, FeaturePolicy, LinCORe, LinearBandit, LinTS, LinUCB, Problem
from corebandit.catalogue import feature_policies
from corebandit.randomness.stream import stream
from linear_peers import LIBRARIES, FeaturePeer, Select, Update, installed_feature_peers
from measure import CpuSeconds, best_in_turns, cpu_seconds
from ours import Simulation
from peers import peer_versions
from plain_lincore import PlainLinCORe, play_plain_lincore
from printing import new_console, new_table, print_heading, reached, read_arguments

ROUNDS_PER_SECOND = {"LinCORe": 400e3, "LinTS": 400e3}
HEADLINE = (LinCORe(), LinTS(), LinUCB())
PLAIN = "LinCORe in plain NumPy"
FLAT = 1.25  # a round late in a run may cost so many times an early one before we call it dearer
N_TABLES = 20  # of features to take turns with


@dataclass(frozen=True)
class Shape:
    """What is offered in a decision, and how many to measure."""

    n_arms: int
    n_features: int
    decisions: int  # per repetition; the first repetition is not counted, and covers LinCORe's warm-up
    peer_decisions: int
    target: float | None = None  # microseconds


@dataclass(frozen=True)
class Sizes:
    """How much to measure."""

    repetitions: int = 7
    horizon: int = 10_000
    problems: int = 5  # random instances per repetition, for our policies
    peer_rounds: int = 100  # per repetition; a round of theirs costs the same early and late
    shapes: tuple[Shape, ...] = (
        Shape(10, 10, 1000, 50),
        Shape(50, 10, 1000, 20, target=20.0),
        Shape(1000, 50, 400, 2, target=120.0),
    )
    late_rounds: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    window: int = 10_000  # rounds to measure from each of these on
    late_repetitions: int = 4


QUICK = Sizes(repetitions=2, problems=2, peer_rounds=50, late_repetitions=1)


# 1. Simulation ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contender:
    """One row of the first table."""

    label: str
    rounds: int  # per repetition
    task: Callable[[], CpuSeconds]
    ours: str | None = None  # for others: the row of ours to compare with


def simulation(sizes: Sizes) -> Table:
    """Measure rounds per CPU second, on arms with fixed features."""
    contenders = [*_our_contenders(sizes), *_other_contenders(sizes)]
    best = best_in_turns({row.label: row.task for row in contenders}, sizes.repetitions)
    rate = {row.label: row.rounds / best[row.label] for row in contenders}

    headers = ("policy", "rounds per CPU s", "ours is faster", "target", "")
    problem = LinearBandit()
    title = f"1. Simulation: {problem.n_arms} arms, {problem.n_features} features, {sizes.horizon:,} rounds"
    table = new_table(title, *headers)
    for row in contenders:
        faster = "" if row.ours is None else f"{rate[row.ours] / rate[row.label]:,.0f} x"
        target = ROUNDS_PER_SECOND.get(row.label)
        verdict = ("", "") if target is None else (f"{target:,.0f}", reached(rate[row.label] >= target))
        table.add_row(row.label, f"{rate[row.label]:,.0f}", faster, *verdict)
    return table


def _our_contenders(sizes: Sizes) -> Iterator[Contender]:
    def task(policy: FeaturePolicy) -> CpuSeconds:
        runs = [Simulation(policy, LinearBandit(), sizes.horizon, run) for run in range(sizes.problems)]
        return sum(run.play(sizes.horizon) for run in runs)

    compiled = (recipe() for recipe in feature_policies().values() if recipe.runs_compiled)
    for policy in (*compiled, LinCORe(sampler="exact")):
        yield Contender(policy.label, sizes.problems * sizes.horizon, partial(task, policy))


def _other_contenders(sizes: Sizes) -> Iterator[Contender]:
    arms = LinearBandit().draw(stream(0, "instance"))

    def plain() -> CpuSeconds:
        return cpu_seconds(
            lambda: play_plain_lincore(arms.features, arms.theta, sizes.horizon, np.random.default_rng(0))
        )

    yield Contender(PLAIN, sizes.horizon, plain, ours="LinCORe")
    for peer in installed_feature_peers():
        if peer.has_features:
            task = partial(peer.simulate, arms.features, arms.theta, sizes.peer_rounds)
            yield Contender(peer.label, sizes.peer_rounds, task, ours=peer.ours)


# 2. One decision at a time ----------------------------------------------------------------------------------------


def decision(sizes: Sizes) -> Group:
    """Measure microseconds per decision: choose a row, its features being new, and learn its reward."""
    return Group(*(_decision(shape, sizes.repetitions) for shape in sizes.shapes))


def _decision(shape: Shape, repetitions: int) -> Table:
    features = np.random.default_rng(0).normal(size=(N_TABLES, shape.n_arms, shape.n_features))
    tasks, counts, ours = {}, {}, {}
    for policy in HEADLINE:
        label = f"Agent({policy.label}())"
        tasks[label] = _decisions(*_agent(policy), list(features), shape.decisions)
        counts[label] = shape.decisions
    for peer in (FeaturePeer(PLAIN, "LinCORe", _plain), *installed_feature_peers()):
        counts[peer.label] = shape.decisions if peer.label == PLAIN else shape.peer_decisions
        select, update = peer.start(shape.n_arms, shape.n_features)
        tasks[peer.label] = _decisions(select, update, [*map(peer.prepare, features)], counts[peer.label])
        ours[peer.label] = f"Agent({peer.ours}())"
    for task in tasks.values():
        task()  # warm up
    best = best_in_turns(tasks, repetitions)
    microseconds = {label: 1e6 * seconds / counts[label] for label, seconds in best.items()}

    headers = ("policy", "CPU µs", "ours is faster", "target", "")
    table = new_table(f"2. One decision: {shape.n_arms} rows of {shape.n_features} features, ask and tell", *headers)
    for label, cost in microseconds.items():
        faster = f"{cost / microseconds[ours[label]]:,.1f} x" if label in ours else ""
        verdict = ("", "")
        if label not in ours and shape.target is not None:
            verdict = f"{shape.target:.0f}", reached(cost <= shape.target)
        table.add_row(label, f"{cost:,.1f}", faster, *verdict)
    return table


def _agent(policy: FeaturePolicy) -> tuple[Callable[[Any], Any], Callable[[Any, Any, float], None]]:
    agent = Agent(policy)
    return agent.ask, lambda features, decision, reward: agent.tell(decision, reward)


def _plain(n_arms: int, n_features: int) -> tuple[Select, Update]:
    policy = PlainLinCORe(n_arms, n_features, 1_000, np.random.default_rng(0), has_fixed_features=False)
    return policy.choose, lambda features, row, reward: policy.learn(row, features[row], reward)


def _decisions(
    select: Callable[[Any], Any], update: Callable[[Any, Any, float], None], tables: Sequence[Any], count: int
) -> Callable[[], CpuSeconds]:
    """Return a task of so many decisions; each repetition goes on where the last one stopped."""
    coins, coming = random.Random(0), cycle(tables)

    def decide(offers: Sequence[tuple[Any, float]]) -> None:
        for features, reward in offers:
            update(features, select(features), reward)

    def task() -> CpuSeconds:
        offers = [(features, float(coins.random() < 0.5)) for features in islice(coming, count)]
        return cpu_seconds(lambda: decide(offers))

    return task


# 3. Long runs -----------------------------------------------------------------------------------------------------


def late(sizes: Sizes) -> Table:
    """Measure what a round of LinCORe costs after so many others."""
    problems: dict[str, Problem] = {"the same": LinearBandit(), "new each round": ContextualBandit()}
    first, last = sizes.late_rounds[0], sizes.late_rounds[-1]

    def seconds_per_round(policy: FeaturePolicy, problem: Problem, from_round: int, rounds: int) -> CpuSeconds:
        run = Simulation(policy, problem, horizon=from_round + rounds)
        run.play(from_round)
        return run.play(rounds) / rounds

    tasks: dict[tuple[str, int | str], Callable[[], CpuSeconds]] = {}
    for name, problem in problems.items():
        for from_round in sizes.late_rounds:
            tasks[name, from_round] = partial(seconds_per_round, LinCORe(), problem, from_round, sizes.window)
        # The cost of an exact round does grow, so that is measured on fewer of them.
        exact = LinCORe(sampler="exact")
        tasks[name, "exact"] = partial(seconds_per_round, exact, problem, first, sizes.window // 10)
    best = best_in_turns(tasks, sizes.late_repetitions)

    times = [f"t = {from_round:,}" for from_round in sizes.late_rounds]
    headers = ("features", *times, "last : first", "", f"exact, t = {first:,}")
    table = new_table("3. One round of LinCORe, 50 arms, 10 features, from round t on: CPU ns", *headers)
    for name in problems:
        ratio = best[name, last] / best[name, first]
        fast = [f"{1e9 * best[name, from_round]:,.0f}" for from_round in sizes.late_rounds]
        exact_cost = f"{1e9 * best[name, 'exact']:,.0f}"
        table.add_row(name, *fast, f"{ratio:.2f}", "flat" if ratio <= FLAT else "grows", exact_cost)
    return table


# All of it --------------------------------------------------------------------------------------------------------

SECTIONS: dict[str, Callable[[Sizes], Table | Group]] = {"simulation": simulation, "decision": decision, "late": late}


def report(sizes: Sizes, console: Console, sections: Sequence[str] = tuple(SECTIONS)) -> None:
    """Measure and print the sections, each as soon as it is done."""
    print_heading(console, sizes.repetitions, peer_versions(LIBRARIES))
    if not installed_feature_peers():
        console.print("Without Vowpal Wabbit, river and MABWiser: uv run --group peers python benchmarks/linear.py\n")
    for name in sections:
        console.print(SECTIONS[name](sizes))


def main() -> None:
    """Read the command line and report."""
    is_quick, sections = read_arguments("How fast are policies that choose by features, ours and others'?", SECTIONS)
    report(QUICK if is_quick else Sizes(), new_console(), sections)


if __name__ == "__main__":
    main()
