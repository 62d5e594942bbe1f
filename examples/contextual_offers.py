"""The best offer depends on who is asking: let LinCORe learn which customers like what.

Each customer is new, regular or lapsed, and is shown one of three offers; the reward is what they spend. A row of
features says which customer meets which offer, one 1 among zeros, so every pair has a mean of its own.
"""

import random

import corebandit as cb

random.seed(1)
CUSTOMERS = ["new", "regular", "lapsed"]
OFFERS = ["discount", "gift", "news"]
SPENT = {  # what they spend on average, for each offer: unknown to the agent
    "new": [14.0, 9.0, 6.0],
    "regular": [11.0, 12.0, 16.0],
    "lapsed": [5.0, 9.0, 3.0],
}


def features(customer):
    """Return one row for each offer, made out to this customer."""
    return {offer: [customer == c and offer == o for c in CUSTOMERS for o in OFFERS] for offer in OFFERS}


agent = cb.Agent(cb.LinCORe(), arms=OFFERS, seed=7, horizon=3000)
shown = {customer: dict.fromkeys(OFFERS, 0) for customer in CUSTOMERS}
for visit in range(3000):
    customer = random.choice(CUSTOMERS)
    decision = agent.ask(features(customer))
    mean = SPENT[customer][OFFERS.index(decision.arm)]
    agent.tell(decision, reward=random.expovariate(1 / mean))
    if visit >= 2000:
        shown[customer][decision.arm] += 1

print("shown to the last thousand customers:")
for customer, offers in shown.items():
    best = OFFERS[SPENT[customer].index(max(SPENT[customer]))]
    print(f"{customer:8} {offers}, best is {best}")
