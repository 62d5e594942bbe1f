"""Route requests among models of different quality and price: which one is worth it depends on the request.

The reward is what an answer was worth minus what it cost. A request has a kind and a length; the large model writes the
best code, the small one answers short questions just as well for a tenth of the money.
"""

import math
import random

import corebandit as cb

COST = {"small": 0.01, "medium": 0.04, "large": 0.12}  # for a thousand words
GOOD = {  # how likely an answer is good
    ("chat", "small"): 0.90,
    ("chat", "medium"): 0.92,
    ("chat", "large"): 0.93,
    ("code", "small"): 0.45,
    ("code", "medium"): 0.65,
    ("code", "large"): 0.90,
    ("translation", "small"): 0.60,
    ("translation", "medium"): 0.85,
    ("translation", "large"): 0.87,
}
KINDS = ("chat", "code", "translation")
REQUESTS, LAST = 4_000, 1_000


def worth(kind: str, words: int, model: str) -> float:
    """Return what is expected of a model, in money: a good answer is worth one unit."""
    return GOOD[kind, model] - COST[model] * words / 1_000


def main() -> None:
    """Answer requests, and compare with what is best and with the largest model for everything."""
    rng = random.Random(1)
    context = cb.Context(user=["kind", "length"], arm=["price"], crosses=[("kind", "arm"), ("length", "price")])
    router = cb.Agent(cb.RecommendedLinCORe(), arms=list(COST), context=context, holdout=0.05, seed=7)
    models = {model: {"price": price} for model, price in COST.items()}
    earned = best = largest = 0.0
    for number in range(REQUESTS):
        kind, words = rng.choice(KINDS), int(math.exp(rng.uniform(4, 8)))
        decision = router.ask({"kind": kind, "length": words / 1_000}, arms=models)
        is_good = rng.random() < GOOD[kind, decision.arm]
        router.tell(decision, is_good - COST[decision.arm] * words / 1_000)
        if number >= REQUESTS - LAST:
            earned += worth(kind, words, decision.arm)
            best += max(worth(kind, words, model) for model in COST)
            largest += worth(kind, words, "large")
    print(f"of the last {LAST:,} requests: {earned / LAST:.3f} each; always right would be {best / LAST:.3f},")
    print(f"the largest model for everything {largest / LAST:.3f}")
    for kind in KINDS:
        likely = router.probabilities({"kind": kind, "length": 0.5}, arms=models)
        print(f"{kind:12}", {model: round(chance, 2) for model, chance in likely.items()})
    print(router.gain())


if __name__ == "__main__":
    main()
