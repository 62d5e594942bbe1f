"""How fast are multi-armed policies, ours and those of other libraries? Prints four tables; see README.md.

Usage: uv run --group peers python benchmarks/arms.py [--quick]
"""

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from corebandit import Agent, BernoulliBandit, BetaBandit, CORe, GaussianBandit, Policy, Problem
from corebandit.catalogue import arm_policies
from corebandit.randomness.stream import stream
from first_call import first_calls
from measure import CpuSeconds, best_in_turns, cpu_seconds
from ours import N_ARMS, Simulation, rated_bandit
from peers import installed_peers, peer_versions
from plain_core import play_plain_core
from printing import new_console, new_table, print_heading, reached, read_arguments

HEADLINE = ("CORe", "UCB1", "BernoulliTS")  # the policies with a target of their own
ROUNDS_PER_SECOND = {"CORe": 2e6, "CORe(sampler='exact')": 150e3, "UCB1": 8e6, "BernoulliTS": 1.5e6}
MICROSECONDS_PER_DECISION = 10.0
FLAT = 1.25  # a round late in a run may cost so many times an early one before we call it dearer


@dataclass(frozen=True)
class Sizes:
    """How much to measure."""

    repetitions: int = 7
    horizon: int = 10_000
    problems: int = 5  # random instances per repetition, for our policies
    peer_rounds: int = 4_000  # per repetition; a round of theirs costs the same early and late
    decisions: int = 2_000  # per repetition
    late_rounds: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    window: int = 20_000  # rounds to measure from each of these on
    late_repetitions: int = 4
    has_ratings: bool = True  # among the long runs; a problem from outside the package is compiled in every process
    compiled: tuple[str, ...] = tuple(arm_policies())


QUICK = Sizes(
    repetitions=2,
    problems=2,
    peer_rounds=1_000,
    decisions=500,
    late_repetitions=1,
    has_ratings=False,
    compiled=("UCB1",),
)


# 1. Simulation ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contender:
    """One row of the first table."""

    label: str
    rewards: str
    rounds: int  # per repetition
    task: Callable[[], CpuSeconds]
    target: float | None = None  # rounds per CPU second
    ours: str | None = None  # for a peer: the row of ours to compare with


def simulation(sizes: Sizes) -> Table:
    """Measure rounds per CPU second."""
    contenders = [*_our_contenders(sizes), _plain_contender(sizes), *_peer_contenders(sizes)]
    best = best_in_turns({row: row.task for row in contenders}, sizes.repetitions)
    rate = {row: row.rounds / seconds for row, seconds in best.items()}
    ours = {row.label: rate[row] for row in contenders if row.rewards == "bernoulli"}

    headers = ("policy", "rewards", "rounds per CPU s", "ours is faster", "target", "")
    table = new_table(f"1. Simulation: {N_ARMS} arms, {sizes.horizon:,} rounds", *headers)
    for row in contenders:
        faster = "" if row.ours is None else f"{ours[row.ours] / rate[row]:,.0f} x"
        target = "" if row.target is None else f"{row.target:,.0f}"
        verdict = "" if row.target is None else reached(rate[row] >= row.target)
        table.add_row(row.label, row.rewards, f"{rate[row]:,.0f}", faster, target, verdict)
    return table


def _our_contenders(sizes: Sizes) -> Iterator[Contender]:
    problems = (BernoulliBandit(N_ARMS), BetaBandit(N_ARMS), GaussianBandit(N_ARMS))
    for policy in (CORe(), CORe(sampler="exact")):
        for problem in problems:
            yield _our_contender(policy, problem, sizes)
    for name, recipe in arm_policies().items():
        if name != "CORe":
            yield _our_contender(recipe(), problems[0], sizes)


def _our_contender(policy: Policy, problem: Problem, sizes: Sizes) -> Contender:
    def task() -> CpuSeconds:
        runs = [Simulation(policy, problem, sizes.horizon, run) for run in range(sizes.problems)]
        return sum(run.play(sizes.horizon) for run in runs)

    rounds = sizes.problems * sizes.horizon
    return Contender(policy.label, problem.name, rounds, task, ROUNDS_PER_SECOND.get(policy.label))


def _plain_contender(sizes: Sizes) -> Contender:
    means = BernoulliBandit(N_ARMS).draw(stream(0, "instance")).means

    def task() -> CpuSeconds:
        return cpu_seconds(lambda: play_plain_core(means, sizes.horizon, np.random.default_rng(0)))

    return Contender("CORe in plain NumPy", "bernoulli", sizes.horizon, task, ours="CORe")


def _peer_contenders(sizes: Sizes) -> Iterator[Contender]:
    means = BernoulliBandit(N_ARMS).draw(stream(0, "instance")).means.tolist()
    for peer in installed_peers():
        task = partial(peer.simulate, means, sizes.peer_rounds)
        yield Contender(peer.label, "bernoulli", sizes.peer_rounds, task, ours=peer.ours)


# 2. One decision at a time ----------------------------------------------------------------------------------------


def decision(sizes: Sizes) -> Table:
    """Measure microseconds per decision: choose an arm, learn its reward."""
    tasks, ours = {}, {}
    for name in HEADLINE:
        agent = Agent(arm_policies()[name](), arms=range(N_ARMS))
        tasks[f"Agent({name}())"] = _decisions(agent.ask, agent.tell, sizes.decisions)
    for peer in installed_peers():
        tasks[peer.label] = _decisions(*peer.start(N_ARMS), sizes.decisions)
        ours[peer.label] = f"Agent({peer.ours}())"
    for task in tasks.values():
        task()  # warm up
    best = best_in_turns(tasks, sizes.repetitions)

    headers = ("policy", "CPU µs", "ours is faster", "target", "")
    table = new_table(f"2. One decision: {N_ARMS} arms, ask and tell", *headers)
    for label, seconds in best.items():
        microseconds = 1e6 * seconds / sizes.decisions
        if label in ours:
            table.add_row(label, f"{microseconds:.1f}", f"{seconds / best[ours[label]]:,.1f} x", "", "")
        else:
            verdict = reached(microseconds <= MICROSECONDS_PER_DECISION)
            table.add_row(label, f"{microseconds:.1f}", "", f"{MICROSECONDS_PER_DECISION:.0f}", verdict)
    return table


def _decisions(ask: Callable[[], object], tell: Callable[..., None], count: int) -> Callable[[], CpuSeconds]:
    """Return a task of so many decisions; each repetition goes on where the last one stopped."""
    coins = random.Random(0)

    def decide(rewards: Sequence[float]) -> None:
        for reward in rewards:
            tell(ask(), reward)

    def task() -> CpuSeconds:
        rewards = [float(coins.random() < 0.5) for _ in range(count)]
        return cpu_seconds(lambda: decide(rewards))

    return task


# 3. Long runs -----------------------------------------------------------------------------------------------------


def late(sizes: Sizes) -> Table:
    """Measure what a round of CORe costs after so many others."""
    problems: dict[str, Problem] = {"bernoulli": BernoulliBandit(N_ARMS), "gaussian": GaussianBandit(N_ARMS)}
    if sizes.has_ratings:
        problems["5 values"] = rated_bandit()
    first, last = sizes.late_rounds[0], sizes.late_rounds[-1]

    def seconds_per_round(policy: Policy, problem: Problem, from_round: int, rounds: int) -> CpuSeconds:
        run = Simulation(policy, problem, horizon=last + last // 10 + sizes.window)
        run.play(from_round)
        return run.play(rounds) / rounds

    tasks: dict[tuple[str, int | str], Callable[[], CpuSeconds]] = {}
    for name, problem in problems.items():
        for from_round in sizes.late_rounds:
            tasks[name, from_round] = partial(seconds_per_round, CORe(), problem, from_round, sizes.window)
        # The cost of an exact round does grow, so that is measured on fewer of them.
        tasks[name, "exact"] = partial(seconds_per_round, CORe(sampler="exact"), problem, first, sizes.window // 10)
    best = best_in_turns(tasks, sizes.late_repetitions)

    times = [f"t = {from_round:,}" for from_round in sizes.late_rounds]
    headers = ("rewards", *times, "last : first", "", f"exact, t = {first:,}")
    table = new_table(f"3. One round of CORe, {N_ARMS} arms, from round t on: CPU ns", *headers)
    for name in problems:
        ratio = best[name, last] / best[name, first]
        fast = [f"{1e9 * best[name, from_round]:,.0f}" for from_round in sizes.late_rounds]
        exact = f"{1e9 * best[name, 'exact']:,.0f}"
        table.add_row(name, *fast, f"{ratio:.2f}", "flat" if ratio <= FLAT else "grows", exact)
    return table


# 4. Compilation ---------------------------------------------------------------------------------------------------


def compilation(sizes: Sizes) -> Table:
    """Measure the first call in a new process, with nothing compiled yet and with everything on disk."""
    headers = ("policy", "nothing on disk", "functions compiled", "all on disk", "functions compiled")
    table = new_table("4. First call in a new process, CPU s", *headers)
    for name in sizes.compiled:
        _add_first_call(table, name, [name])
    if len(sizes.compiled) > 1:
        _add_first_call(table, "all of these in turn", sizes.compiled)
    return table


def _add_first_call(table: Table, label: str, names: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = first_calls(names, folder), first_calls(names, folder)
    table.add_row(label, f"{cold.seconds:.2f}", f"{cold.compiled}", f"{warm.seconds:.2f}", f"{warm.compiled}")


# All of it --------------------------------------------------------------------------------------------------------

SECTIONS = {section.__name__: section for section in (simulation, decision, late, compilation)}


def report(sizes: Sizes, console: Console, sections: Sequence[str] = tuple(SECTIONS)) -> None:
    """Measure and print the sections, each as soon as it is done."""
    print_heading(console, sizes.repetitions, peer_versions())
    if not installed_peers():
        console.print("Without river and MABWiser: uv run --group peers python benchmarks/arms.py\n")
    for name in sections:
        console.print(SECTIONS[name](sizes))


def main() -> None:
    """Read the command line and report."""
    is_quick, sections = read_arguments("How fast are multi-armed policies, ours and others'?", SECTIONS)
    report(QUICK if is_quick else Sizes(), new_console(), sections)


if __name__ == "__main__":
    main()
