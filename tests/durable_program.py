"""A program that decides and learns from several threads on a durable agent, until it is killed.

    python durable_program.py URL ACKNOWLEDGED SNAPSHOT_EVERY

Each line of the file ACKNOWLEDGED says what was returned: `ask ID ARM`, `tell ID REWARD`.
"""

import os
import random
import sys
import threading

import corebandit as cb
from corebandit.agents.stores import checkpoints

ARMS = ["red", "green", "blue"]
THREADS = 4


def main(url: str, acknowledged: str, snapshot_every: str) -> None:
    """Open the agent and go on for ever."""
    checkpoints.PAGES, checkpoints.MOST_PAGES = 20, 30  # so that kills hit them
    agent = cb.open_agent(url, "banner", cb.CORe(warm_up=0.1), ARMS, seed=3, snapshot_every=int(snapshot_every))
    lines = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def acknowledge(*words: object) -> None:
        os.write(lines, (" ".join(map(str, words)) + "\n").encode())

    def work(seed: int) -> None:
        rng, waiting = random.Random(os.getpid() * THREADS + seed), []
        while True:
            decision = agent.ask()
            acknowledge("ask", decision.id, decision.arm)
            waiting.append(decision)
            if rng.random() < 0.8:
                told = waiting.pop(rng.randrange(len(waiting)))
                reward = round(rng.random(), 3)
                agent.tell(told, reward)
                acknowledge("tell", told.id, reward)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
    acknowledge("ready")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
