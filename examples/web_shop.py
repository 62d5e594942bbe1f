"""A small web application that chooses banners: rewards come late or never, it is restarted, and banners come and go.

`GET /banner` returns a banner and an id, which travels with the page; `POST /bought` tells what the visitor paid, an
hour later, twice, or never. Everything is in a file before an answer is sent, so the application can be killed at any
time. Visitors, and the clock, are simulated here; a real one would run `Shop` under any WSGI server, in one process.
"""

import io
import json
import random
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import corebandit as cb

HOUR = 3600.0
PAYS = {"summer": 0.9, "winter": 0.6, "plain": 0.5, "autumn": 1.4}  # on average
Start = Callable[[str, list[tuple[str, str]]], object]


class Shop:
    """The application: an agent, and two addresses."""

    def __init__(self, url: str, clock: Callable[[], float]) -> None:
        self.agent = cb.open_agent(
            url,
            "banner",
            cb.RecommendedCORe(),
            arms=["summer", "winter", "plain"],
            seed=7,
            synchronous="normal",
            window=2 * HOUR,  # who has not bought by then has not bought
            default_reward=0,
            patience=1_000,  # more decisions than are made for an arm within an hour or two
            holdout=0.1,
            clock=clock,
        )

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        """Answer a request, as WSGI has it."""
        if environ["PATH_INFO"] == "/banner":
            decision = self.agent.ask()
            status, answer = "200 OK", {"banner": decision.arm, "id": decision.id}
        else:
            status, answer = self.bought(**json.load(environ["wsgi.input"]))
        start(status, [("Content-Type", "application/json")])
        return [json.dumps(answer).encode()]

    def bought(self, id: str, paid: float) -> tuple[str, dict[str, Any]]:
        """Learn what a visitor paid."""
        try:
            self.agent.tell(id, paid)
        except cb.AlreadyTold as error:  # told twice, or after the window: all is well
            return "200 OK", {"note": str(error)}
        except cb.UnknownDecision as error:
            return "404 Not Found", {"error": str(error)}
        except cb.BadInput as error:
            return "422 Unprocessable Content", {"error": str(error)}
        return "200 OK", {}


class SimulatedClock:
    """Tells the seconds since it began."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def request(shop: Shop, path: str, **content: object) -> dict[str, Any]:
    """Send a request to the application and return its answer."""
    environ = {"PATH_INFO": path, "wsgi.input": io.BytesIO(json.dumps(content).encode())}
    answer: dict[str, Any] = json.loads(b"".join(shop(environ, lambda status, headers: None)))
    return answer


def main() -> None:
    """Let visitors come for three days."""
    rng, clock, late = random.Random(1), SimulatedClock(), list[tuple[float, str, float]]()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/shop.db"
        shop = Shop(url, clock)
        for visitor in range(6_000):
            clock.now += 3 * 24 * HOUR / 6_000
            page = request(shop, "/banner")
            if rng.random() < 0.5:  # buys, for a sum that depends on the banner
                paid = round(rng.expovariate(1 / (2 * PAYS[page["banner"]])), 2)
                if rng.random() < 0.9:  # the others block the tag
                    late.append((clock.now + rng.uniform(0, HOUR), page["id"], paid))
            while late and late[0][0] <= clock.now:
                _, decision_id, paid = late.pop(0)
                request(shop, "/bought", id=decision_id, paid=paid)
                if rng.random() < 0.05:
                    request(shop, "/bought", id=decision_id, paid=paid)  # an impatient browser
            late.sort()
            if visitor == 2_000:  # a new version of the application is put live
                shop.agent.close()
                shop = Shop(url, clock)
            if visitor == 3_000:  # another season
                shop.agent.add_arm("autumn")
                shop.agent.retire_arm("winter")
        print(shop.agent.table().select("arm", "on_offer", "told", "open", "late", "mean", "probability"))
        print(shop.agent.gain())
        print(request(shop, "/bought", id="nobody's", paid=1)["error"])
        shop.agent.close()


if __name__ == "__main__":
    main()
