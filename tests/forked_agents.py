"""A process that forks while its threads use agents; prints as JSON what its children said. Run it as a script."""

import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import corebandit as cb

SECONDS = 20  # after which a child that hangs is killed


def in_a_fork(call: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a call returns in a child, or says before it is killed, and how the child ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            os.write(writer, json.dumps(call()).encode())
        finally:
            os._exit(sys.exc_info()[0] is not None)
    os.close(writer)
    with os.fdopen(reader) as said:
        text = said.read()
    return json.loads(text or "null"), os.waitpid(child, 0)[1]


def fork_beside_threads(n_forks: int) -> dict[str, Any]:
    """Fork again and again while threads use agents, and let each child go on with its own."""
    agents, done = [cb.Agent(cb.UniformRandom(), ["red", "green"], seed=seed) for seed in range(2)], threading.Event()

    def use(agent: cb.Agent) -> None:
        while not done.is_set():
            for decision in [agent.ask() for _ in range(5)]:
                agent.tell(decision, 1.0)
            agent.to_dict()

    def go_on() -> list[list[Any]]:
        said = []
        for agent in agents:
            n_learnt, waiting = agent.n_observations, list(agent.pending)
            for decision_id in waiting:
                agent.tell(decision_id, 0.0)
            assert agent.n_observations == n_learnt + len(waiting)
            said.append([agent.ask().id, [agent.ask().arm for _ in range(40)]])
        return said

    threads = [threading.Thread(target=use, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    children = [in_a_fork(go_on) for _ in range(n_forks)]
    done.set()
    for thread in threads:
        thread.join()
    return {"children": children, "ids": [agent.ask().id for agent in agents], "n_open": len(agents[0].pending)}


def outcomes(agent: cb.Agent, *decisions: Any) -> list[str]:
    """Return how an agent takes rewards of decisions: "learned", or the kind of error."""
    said = []
    for decision in decisions:
        try:
            agent.tell(decision, 1.0)
            said.append("learned")
        except cb.BadInput as error:
            said.append(type(error).__name__)
    return said


def tell_across_a_fork() -> dict[str, Any]:
    """Tell parent and children of each other's decisions."""
    agent = cb.Agent(cb.UCB1(), ["red", "green"], seed=3)
    told, waiting = agent.ask(), agent.ask()
    of_child, _ = in_a_fork(lambda: agent.ask().id)
    agent.tell(told, 1.0)
    after = f"{told.id.rpartition('-')[0]}-2"  # which the parent gives next
    in_child, _ = in_a_fork(lambda: outcomes(agent, told, waiting, of_child, after))
    assert agent.ask().id == after
    return {"in child": in_child, "in parent": outcomes(agent, told, waiting, of_child, after)}


def be_killed_after_a_save(folder: Path) -> dict[str, Any]:
    """Decide, save and decide in children that are then killed; all load what the one before has saved."""
    path = folder / "agent.json"
    cb.Agent(cb.UCB1(), ["red", "green"], seed=3).save(path)

    def live(number: int) -> None:
        agent = cb.Agent.load(path)
        before = [agent.ask().id for _ in range(2)]
        agent.save(path)
        (folder / f"{number}.json").write_text(json.dumps([before, [agent.ask().id for _ in range(2)]]))
        os.kill(os.getpid(), signal.SIGKILL)

    ends = [in_a_fork(lambda number=number: live(number))[1] for number in range(3)]
    lives = [json.loads((folder / f"{number}.json").read_text()) for number in range(3)]
    saved, lost = ([decision_id for life in lives for decision_id in life[part]] for part in (0, 1))
    agent = cb.Agent.load(path)
    ids = [*saved, *lost, *(agent.ask().id for _ in range(2))]
    return {"ends": ends, "ids": ids, "saved": outcomes(agent, *saved), "lost": outcomes(agent, *lost)}


def forked(n_forks: int, folder: Path) -> dict[str, Any]:
    """Return what this script says, run in a process of its own, in which only it has threads."""
    command = [sys.executable, __file__, str(n_forks), str(folder)]
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 + n_forks)
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    said: dict[str, Any] = json.loads(process.stdout)
    return said


if __name__ == "__main__":
    warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
    sys.setswitchinterval(1e-5)
    print(
        json.dumps(
            {
                "threads": fork_beside_threads(int(sys.argv[1])),
                "told": tell_across_a_fork(),
                "killed": be_killed_after_a_save(Path(sys.argv[2])),
            }
        )
    )
