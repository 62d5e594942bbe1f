"""Arms of your own: any Python class that can pay, say its means and name the best.

Here customers buy at a price with a chance that falls as the price rises; the reward is the money earned. CORe needs
no range and no scale for it.
"""

from typing import NamedTuple

import numpy as np

import corebandit as cb


class Prices(NamedTuple):
    """One arm for each price."""

    prices: np.ndarray  # (n_arms,)
    chances: np.ndarray  # (n_arms,) that a customer buys

    @property
    def n_arms(self):
        """Return the number of arms."""
        return self.prices.size

    def pull(self, arm, rng):
        """Return what one customer pays."""
        return self.prices[arm] if rng.random() < self.chances[arm] else 0.0

    def mean(self, arm):
        """Return what a customer pays on average."""
        return self.prices[arm] * self.chances[arm]

    def best_mean(self):
        """Return the highest mean."""
        return (self.prices * self.chances).max()


if __name__ == "__main__":
    shop = Prices(prices=np.array([9.0, 19.0, 29.0, 39.0]), chances=np.array([0.30, 0.24, 0.15, 0.07]))
    cb.check_problem(shop)
    result = cb.run(cb.Experiment(shop, [cb.CORe(), cb.UCB1(sigma=19.5), cb.EpsilonGreedy()], horizon=5000, runs=50))
    for row in result.summary().iter_rows(named=True):
        print(f"{row['policy']:20} loses {row['mean']:7.0f} ± {row['stderr']:.0f} in 5,000 customers")
