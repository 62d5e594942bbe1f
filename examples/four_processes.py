"""Four processes that share one durable agent: one process owns it and decides, the others ask over a local socket.

This is what a web server with several workers needs. Every ask and tell is on disk before its answer is sent.
"""

import json
import random
import socket
import subprocess
import sys
import tempfile
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import corebandit as cb

PAYS = {"red": 0.2, "green": 0.5, "blue": 0.3}
VISITORS, WORKERS = 100, 4


class Desk(ThreadingTCPServer):
    """Answers workers of this machine, each in a thread; lines of JSON go both ways."""

    daemon_threads = True

    def __init__(self, agent: cb.Agent) -> None:
        super().__init__(("127.0.0.1", 0), Visit)
        self.agent = agent


class Visit(StreamRequestHandler):
    """What one worker asks and tells, until it hangs up."""

    server: Desk

    def handle(self) -> None:
        """Answer line by line."""
        for line in self.rfile:
            self.wfile.write(json.dumps(self.answer(**json.loads(line))).encode() + b"\n")

    def answer(self, tell: str | None = None, reward: float = 0.0) -> dict[str, object]:
        """Return a decision, or what came of telling a reward."""
        agent = self.server.agent
        if tell is None:
            return agent.ask()._asdict()
        try:
            agent.tell(tell, reward)
        except cb.BadInput as error:  # a sentence for the worker; nothing was changed
            return {"error": str(error)}
        return {}


def work(port: int, seed: int) -> None:
    """Be one of the workers: show visitors what the agent says, and tell what they paid."""
    rng = random.Random(seed)
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rw") as lines:

        def request(**what: object) -> dict[str, str]:
            print(json.dumps(what), file=lines, flush=True)
            answer: dict[str, str] = json.loads(lines.readline())
            return answer

        for _ in range(VISITORS):
            decision = request()
            request(tell=decision["id"], reward=float(rng.random() < PAYS[decision["arm"]]))


def main() -> None:
    """Open the agent here, start the workers, and look at what came out."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/shop.db"
        options = {"arms": list(PAYS), "seed": 7, "synchronous": "normal"}
        with cb.open_agent(url, "banner", cb.RecommendedCORe(), **options) as agent, Desk(agent) as desk:
            Thread(target=desk.serve_forever, daemon=True).start()
            command = [sys.executable, __file__, str(desk.server_address[1])]
            workers = [subprocess.Popen([*command, str(seed)]) for seed in range(WORKERS)]
            for worker in workers:
                worker.wait()
            desk.shutdown()
        log = cb.read_log(url, "banner")
        print(f"{len(log)} decisions of {WORKERS} workers, ids all different: {log['id'].n_unique() == len(log)}")
        print(log.group_by("chosen").len().sort("len", descending=True))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        work(int(sys.argv[1]), int(sys.argv[2]))
    else:
        main()
