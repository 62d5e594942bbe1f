"""A process that compiles games for another one, which it reads as JSON; run it as a module."""

import contextlib
import json
import os
import sys

from corebandit.catalogue import policy_from, problem_from
from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import stream


def main() -> None:
    """Compile each game of the standard input; leave out what cannot be."""
    parent, wanted = os.getppid(), json.load(sys.stdin)
    compile_game = {"threads": _for_threads, "cuda": _for_cuda}[wanted["engine"]]
    for game in wanted["games"]:
        if os.getppid() != parent:  # the run was killed and could not stop us
            return
        with contextlib.suppress(Exception):  # whoever runs the game meets the error, and says it
            compile_game(problem_from(game["problem"]), policy_from(game["policy"]), game["horizon"])


def _for_threads(problem: Problem, policy: AnyPolicy, horizon: int | None) -> None:
    instance = problem.draw(stream(0))
    kind = game_of(instance)
    kind.loop.compiled(*kind.without_rounds(instance, policy, horizon))


def _for_cuda(problem: Problem, policy: AnyPolicy, horizon: int | None) -> None:
    from corebandit.compiled.cuda.device import Queue
    from corebandit.experiments.engines.batches import Instances, Table
    from corebandit.experiments.task import Task

    task = Task(problem, policy, policy.label, (horizon or 2,), 0, "expected", horizon_known=horizon is not None)
    Table(task, Instances(problem, 0, 0, 2)).compile(Queue())  # one alone would share all with itself


if __name__ == "__main__":
    main()
