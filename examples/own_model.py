"""Which price to ask whom? Let a gradient boosting model of scikit-learn explore, and see what it has learnt.

A customer comes with a wish that we can see, a number between 0 and 1, and buys at a price near or below it. The model
is given wish and price; the reward is what is paid. Needs scikit-learn.
"""

import math
import random

from sklearn.ensemble import GradientBoostingRegressor

import corebandit as cb

random.seed(1)
PRICES = [0.2, 0.4, 0.6, 0.8, 1.0]


def chance(wish, price):
    """Return how likely such a customer buys at such a price: unknown to the agent."""
    return 1 / (1 + math.exp(10 * (price - wish)))


model = GradientBoostingRegressor(n_estimators=30)
agent = cb.Agent(cb.EstimatorCORe(model, warm_up=2, refit="geometric"), arms=PRICES, seed=7, horizon=1000)
earned, possible = 0.0, 0.0
for customer in range(1000):
    wish = random.random()
    decision = agent.ask({price: [wish, price] for price in PRICES})
    agent.tell(decision, reward=decision.arm if random.random() < chance(wish, decision.arm) else 0.0)
    if customer >= 500:
        earned += decision.arm * chance(wish, decision.arm)
        possible += max(price * chance(wish, price) for price in PRICES)

print(f"the last 500 customers paid {earned / possible:.0%} of what is possible on average")
for wish in (0.1, 0.5, 0.9):
    asked = agent.ask({price: [wish, price] for price in PRICES}).arm
    best = max(PRICES, key=lambda price: price * chance(wish, price))
    print(f"with a wish of {wish} it asks {asked}, best is {best}")
