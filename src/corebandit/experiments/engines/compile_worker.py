"""A process that compiles games for another one, which it reads as JSON; run it as a module."""

import contextlib
import json
import os
import sys

from corebandit.catalogue import policy_from, problem_from
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import stream


def main() -> None:
    """Compile each game of the standard input; leave out what cannot be."""
    parent = os.getppid()
    for game in json.load(sys.stdin):
        if os.getppid() != parent:  # the run was killed and could not stop us
            return
        with contextlib.suppress(Exception):  # whoever runs the game meets the error, and says it
            problem, policy = problem_from(game["problem"]), policy_from(game["policy"])
            instance = problem.draw(stream(0))
            kind = game_of(instance)
            kind.loop.compiled(*kind.without_rounds(instance, policy, game["horizon"]))


if __name__ == "__main__":
    main()
