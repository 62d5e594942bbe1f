"""A process that compiles games for another one: `python -m corebandit.compile_worker` reads them as JSON."""

import contextlib
import json
import sys

from corebandit.chunks import game_of_no_rounds
from corebandit.spec import policy_from, problem_from


def main() -> None:
    """Compile each game of the standard input; leave out what cannot be."""
    for game in json.load(sys.stdin):
        with contextlib.suppress(Exception):  # whoever runs the game meets the error, and says it
            problem, policy = problem_from(game["problem"]), policy_from(game["policy"])
            entry, arguments = game_of_no_rounds(problem, policy, game["horizon"])
            entry.prepared(*arguments)(*arguments)


if __name__ == "__main__":
    main()
