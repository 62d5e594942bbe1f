"""What a GPU plays, how fast, and whether it is the same: needs numpy, numba and numba-cuda alone.

python benchmarks/device.py speed                 rounds a second of a few policies, at several numbers of runs
python benchmarks/device.py same FOLDER           play every policy, and keep the runs
python benchmarks/device.py same FOLDER --again   how many of these runs are those of the processor
python benchmarks/device.py paper                 without a GPU: play what is compiled for one, and count its steps
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import corebandit as cb
from corebandit.catalogue import arm_policies, feature_policies, neural_policies, ranking_policies
from corebandit.compiled.cuda import device
from corebandit.experiments.engines.batches import Instances, Table
from corebandit.experiments.engines.cuda import Cuda
from corebandit.experiments.engines.player import play_runs
from corebandit.experiments.engines.threads import Threads
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.playing import play
from corebandit.experiments.result_files import read_result, write_result
from corebandit.experiments.task import Task

GLM = ("GLM", "Log", "UCBGLM")
PERCENTS = (50, 100)  # of all rounds, after which regrets are compared


def speed(arguments: argparse.Namespace) -> None:
    """Time kernels and what surrounds them."""
    bernoulli, gaussian, linear = cb.BernoulliBandit(), cb.GaussianBandit(), cb.LinearBandit()
    games = [
        (cb.UCB1(), bernoulli, 4000, 100_000),
        (cb.BernoulliTS(), bernoulli, 1000, 100_000),
        (cb.CORe(), bernoulli, 500, 100_000),
        (cb.CORe(sampler="halving"), bernoulli, 500, 100_000),
        (cb.CORe(), gaussian, 1000, 100_000),
        (cb.LinTS(), linear, None, 20_000),
        (cb.LinCORe(), linear, 150, 20_000),
    ]
    print(f"{'policy':24} {'problem':10} {'runs':>7} {'kernel s':>9} {'M rounds/s':>11} {'aim':>5} {'all s':>7} regret")
    for policy, problem, aim, most in games:
        if arguments.policies and policy.name not in arguments.policies:
            continue
        for runs in arguments.runs or sorted({1000, 10_000, most}):
            task = Task(problem, policy, policy.label, (arguments.rounds,), 1, "expected")
            started = time.perf_counter()
            table = Table(task, Instances(problem, 1, 0, runs))
            queue = device.Queue()
            table.compile(queue)
            compiled = time.perf_counter()
            table = Table(task, Instances(problem, 1, 0, runs))
            batch = table.begin(queue, np.arange(runs))
            while not batch.is_done():
                time.sleep(0.001)
            played = batch.results()
            total = time.perf_counter() - compiled
            rate = runs * arguments.rounds / played.cpu_seconds / 1e6
            print(
                f"{policy.label:24} {problem.label:10} {runs:7} {played.cpu_seconds:9.3f} {rate:11.1f} {aim or '':>5} "
                f"{total:7.3f} {played.regret[:, -1].mean():.2f} ± {_error(played.regret[:, -1]):.2f}"
                f"  (compiled in {compiled - started:.1f} s)",
                flush=True,
            )


def same(arguments: argparse.Namespace) -> None:
    """Play every policy, and keep regrets; or compare those with what the processor of any machine plays."""
    if not arguments.again:
        experiments = [
            Experiment(problem, [policy], arguments.rounds, arguments.runs, seed=1, name=_name(policy, problem))
            for policy, problem in games_of(arguments.policies)
        ]
        curves = play(experiments, Cuda(), folder=arguments.folder / "chunks", progress=True, percents=PERCENTS)
        write_result(arguments.folder, [each.to_dict() for each in experiments], curves)
        return
    described, on_device = read_result(arguments.folder)
    experiments = [Experiment.from_dict(each) for each in described]
    on_processor = play(experiments, Threads(), progress=True, percents=PERCENTS)
    print(f"{'policy on problem':40} {'identical':>9} {'to rounding':>11}  difference of means in standard errors")
    for experiment, theirs, ours in zip(experiments, on_device, on_processor, strict=True):
        equal = (ours.regret == theirs.regret).all(axis=1).sum()
        is_near = np.isclose(ours.regret, theirs.regret, rtol=1e-9, atol=1e-9).all(axis=1)
        difference = np.where(is_near, 0.0, theirs.finals - ours.finals)
        told = f"{difference.mean() / _error(difference):+.2f}" if difference.any() else "0"
        print(f"{experiment.name:40} {equal:9} {is_near.sum():11}  {told}", flush=True)


def paper(arguments: argparse.Namespace) -> None:
    """Play what is compiled for a GPU with the processor, compare, and count steps: needs a C compiler."""
    import paper_gpu

    if not paper_gpu.COMPILER:
        raise cb.BadInput("to play on paper needs a C compiler, called cc or gcc, and there is none")
    columns = f"{'identical':>9} {'to rounding':>11} {'instructions':>13} {'threads at work':>16} {'99 % in lines':>14}"
    columns += f" {'registers':>9} {'stack':>6}"
    print(f"{'policy on problem':40} {columns}")
    for policy, problem in games_of(arguments.policies):
        task = Task(problem, policy, policy.label, (arguments.rounds,), 1, "expected")
        with paper_gpu.laid_out():
            queue = paper_gpu.PaperQueue()
            table = Table(task, Instances(problem, 1, 0, arguments.runs))
            ours = table.begin(queue, np.arange(arguments.runs)).results().regret
        theirs = play_runs(task, 0, arguments.runs).regret
        work, takes = queue.work[-1], paper_gpu.assembled(queue.texts[-1])
        is_near = np.isclose(ours, theirs, rtol=1e-9, atol=1e-9).all(axis=1)
        a_round = work.instructions / arguments.rounds / -(-arguments.runs // paper_gpu.WARP)
        print(
            f"{_name(policy, problem):40} {(ours == theirs).all(axis=1).sum():9} {is_near.sum():11} {a_round:13,.0f} "
            f"{work.at_work:16.1f} {work.lines:14,} {takes.registers:9} {takes.stack:6,}",
            flush=True,
        )


def _name(policy: Any, problem: Any) -> str:
    return f"{policy.label} on {problem.name}"


def games_of(names: Sequence[str]) -> list[tuple[Any, Any]]:
    """Return every policy that is compiled, on a problem that it is made for."""
    games: list[tuple[Any, Any]] = [(make(), cb.BernoulliBandit()) for make in arm_policies().values()]
    games += [(cb.CORe(), cb.GaussianBandit()), (cb.CORe(), cb.BetaBandit()), (cb.UCB1(), cb.MixedBandit())]
    games += [(cb.CORe(sampler="halving"), cb.BernoulliBandit())]
    games += [(cb.DriftingCORe(), cb.ChangingBandit()), (cb.DriftingLinCORe(), cb.ChangingLinearBandit())]
    neural = neural_policies()
    for name, make in feature_policies().items():
        if name not in neural and make.runs_compiled and name != "EstimatorCORe":
            games.append((make(), cb.LogisticBandit() if name.startswith(GLM) else cb.LinearBandit()))
    games += [(cb.LinCORe(), cb.ContextualBandit()), (cb.LinTS(), cb.ContextualBandit())]
    games += [(make(), cb.YandexLike(query=0)) for make in ranking_policies().values()]
    games.sort(key=lambda game: game[0].name.startswith(GLM))  # which take longest
    return [(policy, problem) for policy, problem in games if not names or policy.name in names]


def _error(values: Any) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(function: Callable[[argparse.Namespace], None]) -> argparse.ArgumentParser:
        added = commands.add_parser(function.__name__, help=function.__doc__)
        added.set_defaults(function=function)
        return added

    timing = command(speed)
    timing.add_argument("--rounds", type=int, default=10_000)
    timing.add_argument("--runs", type=int, nargs="*", help="how many at a time, instead of several numbers of them")
    timing.add_argument("policies", nargs="*")
    comparing = command(same)
    comparing.add_argument("--rounds", type=int, default=2000)
    comparing.add_argument("--runs", type=int, default=1000)
    comparing.add_argument("folder", type=Path, help="where runs are kept")
    comparing.add_argument("--again", action="store_true", help="compare what a GPU has left there")
    comparing.add_argument("policies", nargs="*")
    on_paper = command(paper)
    on_paper.add_argument("--rounds", type=int, default=1000)
    on_paper.add_argument("--runs", type=int, default=96)
    on_paper.add_argument("policies", nargs="*")
    arguments = parser.parse_args()
    try:
        arguments.function(arguments)
    except cb.BadInput as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr, flush=True)
        os._exit(130)  # without waiting for the device


if __name__ == "__main__":
    main()
