"""What a GPU plays, how fast, and whether it is the same: needs numpy, numba and numba-cuda alone.

    python benchmarks/device.py speed                 rounds a second of a few policies, at several numbers of runs
    python benchmarks/device.py same                  play every policy, and keep regrets
    python benchmarks/device.py same --against FILE   how many of these runs are those of the processor
    python benchmarks/device.py paper                 without a GPU: play what is compiled for one, and count its steps
    python benchmarks/device.py play FILE OUT         play a file of experiments (a report has one), and keep the runs
    python benchmarks/device.py play FILE --finals REGRETS   the same, and keep final regrets, which take little room

On a machine that has corebandit's other dependencies, `--engine OUT` makes a report of the runs that were kept. REGRETS
are for scripts of studies; with `--at 50 100` those after half of the rounds are among them.
"""

import argparse
import dataclasses
import json
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
from corebandit.experiments.chunks import Chunk, Runs
from corebandit.experiments.cutting import chunks_of
from corebandit.experiments.engines.batches import Instances, Table
from corebandit.experiments.engines.cuda import Cuda
from corebandit.experiments.engines.player import play_chunk
from corebandit.experiments.engines.recorded import record
from corebandit.experiments.engines.threads import Threads
from corebandit.experiments.experiment import Experiment
from percents import may_be_kept, rounds_after

GLM = ("GLM", "Log", "UCBGLM")
PART = 10  # runs that a thread plays in one go


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
            chunk = Chunk(problem, policy, policy.label, (arguments.rounds,), 1, "expected", 0, runs)
            started = time.perf_counter()
            table = Table(chunk, Instances(problem, 1, 0, runs))
            queue = device.Queue()
            table.compile(queue)
            compiled = time.perf_counter()
            table = Table(chunk, Instances(problem, 1, 0, runs))
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
    """Play every policy, and keep final regrets; or compare those with what the processor of any machine plays."""
    chunks = []
    for policy, problem in games_of(arguments.policies):
        rounds = (arguments.rounds // 2, arguments.rounds)
        chunks.append(Chunk(problem, policy, policy.label, rounds, 1, "expected", 0, arguments.runs))
    if arguments.against is None:
        kept: dict[str, Any] = {}
        started = time.perf_counter()

        def keep(place: int, runs: Runs) -> None:
            kept[_name(chunks[place])] = runs.regret
            np.savez_compressed(arguments.out, **kept)
            took = time.perf_counter() - started
            print(f"{took:6.1f} s {_name(chunks[place])} {runs.cpu_seconds:.2f} s by {runs.engine}", flush=True)

        Cuda().play(chunks, keep)
        return
    with np.load(arguments.against) as saved:
        on_device = {name: saved[name] for name in saved}
    chunks = [chunk for chunk in chunks if _name(chunk) in on_device]
    small = [_part(chunk, first) for chunk in chunks for first in range(0, chunk.last, PART)]
    on_processor: dict[int, Runs] = {}
    _play(Threads(), small, on_processor)
    print(f"{'policy on problem':40} {'identical':>9} {'to rounding':>11}  difference of means in standard errors")
    place = 0
    for chunk in chunks:
        parts = [on_processor[place + part].regret for part in range(-(-chunk.last // PART))]
        place += len(parts)
        ours, theirs = np.concatenate(parts), on_device[_name(chunk)]
        equal = (ours == theirs).all(axis=1).sum()
        is_near = np.isclose(ours, theirs, rtol=1e-9, atol=1e-9).all(axis=1)
        difference = np.where(is_near, 0.0, (theirs - ours)[:, -1])
        told = f"{difference.mean() / _error(difference):+.2f}" if difference.any() else "0"
        print(f"{_name(chunk):40} {equal:9} {is_near.sum():11}  {told}", flush=True)


def paper(arguments: argparse.Namespace) -> None:
    """Play what is compiled for a GPU with the processor, compare, and count steps: needs a C compiler."""
    import paper_gpu

    if not paper_gpu.COMPILER:
        raise cb.BadInput("to play on paper needs a C compiler, called cc or gcc, and there is none")
    columns = f"{'identical':>9} {'to rounding':>11} {'instructions':>13} {'threads at work':>16} {'99 % in lines':>14}"
    columns += f" {'registers':>9} {'stack':>6}"
    print(f"{'policy on problem':40} {columns}")
    for policy, problem in games_of(arguments.policies):
        chunk = Chunk(problem, policy, policy.label, (arguments.rounds,), 1, "expected", 0, arguments.runs)
        with paper_gpu.laid_out():
            queue = paper_gpu.PaperQueue()
            table = Table(chunk, Instances(problem, 1, 0, arguments.runs))
            ours = table.begin(queue, np.arange(arguments.runs)).results().regret
        theirs, work, takes = play_chunk(chunk).regret, queue.work[-1], paper_gpu.assembled(queue.texts[-1])
        is_near = np.isclose(ours, theirs, rtol=1e-9, atol=1e-9).all(axis=1)
        a_round = work.instructions / arguments.rounds / -(-arguments.runs // paper_gpu.WARP)
        print(
            f"{_name(chunk):40} {(ours == theirs).all(axis=1).sum():9} {is_near.sum():11} {a_round:13,.0f} "
            f"{work.at_work:16.1f} {work.lines:14,} {takes.registers:9} {takes.stack:6,}",
            flush=True,
        )


def _name(chunk: Chunk) -> str:
    return f"{chunk.policy.label} on {chunk.problem.name}"


def _part(chunk: Chunk, first: int) -> Chunk:
    return dataclasses.replace(chunk, first=first, last=min(first + PART, chunk.last))


def play(arguments: argparse.Namespace) -> None:
    """Play a file of experiments, and keep the runs."""
    if not may_be_kept(arguments.at):
        given = " ".join(map(str, arguments.at))
        raise cb.BadInput(f"--at must be whole percents that rise and end with 100, such as 50 100, not {given}")
    described = json.loads(Path(arguments.file).read_text(encoding="utf-8"))
    changed = {"runs": arguments.runs} if arguments.runs else {}
    experiments = [Experiment.from_dict({**each, **changed}) for each in described["experiments"]]
    engine = Cuda()
    named = [  # by what experiments are called: two may have the same chunk
        (f"{experiment.part}|{experiment.name}|{experiment.problem.label}|{label}|{chunk.first}", chunk)
        for experiment in experiments
        for label, policy in experiment.policies.items()
        if label not in arguments.without
        for chunk in chunks_of(experiment, label, engine.runs_per_chunk(policy))
    ]
    names, chunks = [name for name, _ in named], [chunk for _, chunk in named]
    # Found before anything is played, and missed if it is not there.
    kept_at = [list(map(chunk.checkpoints.index, rounds_after(arguments.at, chunk.horizon))) for chunk in chunks]
    runs: dict[int, Runs] = {}
    try:
        seconds = _play(engine, chunks, runs)
    finally:  # what is finished is kept, also after Ctrl-C
        if arguments.finals:
            # To seven digits: nothing else is left to learn of it.
            kept = {names[place]: runs[place].regret[:, kept_at[place]].astype(np.float32) for place in sorted(runs)}
            np.savez_compressed(arguments.finals, percents=arguments.at, **kept)
    rounds = sum(chunk.shape[0] * chunk.horizon for chunk in chunks)
    others = sorted({chunks[place].label for place, each in runs.items() if each.engine == "threads"})
    print(f"{sum(chunk.shape[0] for chunk in chunks):,} runs, {rounds:,} rounds: {seconds:.1f} s; threads: {others}")
    if arguments.out:
        played = [runs[place] for place in range(len(chunks))]
        record(Path(arguments.out), chunks, played, engine.environment)


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


def _play(engine: Any, chunks: Sequence[Chunk], runs: dict[int, Runs]) -> float:
    """Play chunks into `runs`, by their places, and return how long it took."""
    started = time.perf_counter()

    def keep(place: int, played: Runs) -> None:
        runs[place] = played
        if chunks[place].shape[0] > PART:
            took, of = time.perf_counter() - started, f"{_name(chunks[place])} {played.cpu_seconds:.2f} s"
            print(f"{took:6.1f} s {len(runs)} of {len(chunks)}: {of} by {played.engine}", file=sys.stderr, flush=True)

    engine.play(chunks, keep)
    return time.perf_counter() - started


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
    comparing.add_argument("--out", default="finals.npz", help="where regrets are kept")
    comparing.add_argument("--against", help="the regrets that a GPU has left, to be compared here")
    comparing.add_argument("policies", nargs="*")
    on_paper = command(paper)
    on_paper.add_argument("--rounds", type=int, default=1000)
    on_paper.add_argument("--runs", type=int, default=96)
    on_paper.add_argument("policies", nargs="*")
    playing = command(play)
    playing.add_argument("file")
    playing.add_argument("out", nargs="?")
    playing.add_argument("--runs", type=int, help="runs of every experiment, instead of what the file says")
    playing.add_argument("--finals", help="keep regrets in this file, the final ones or those --at")
    playing.add_argument(
        "--at", type=int, nargs="+", default=[100], help="after so many percent of all rounds, not at the end"
    )
    playing.add_argument("--without", nargs="*", default=[], help="labels to leave out")
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
