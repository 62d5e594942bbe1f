r"""NeuralCORe: Capitalizing On Rewards with a network as the model.

The CORe paper (Wang, Kveton and Karimzadehgan, UAI 2021) perturbs every past reward with a draw from the pool of all
past rewards, centred and mirrored, fits a model and plays its best arm; it names networks as one such model and leaves
it at that. Here the fit is replaced by steps: for each step of a round a batch of past observations is drawn,

    minimise the mean of (f(x_l) - Y_l - Z_l)^2,   Z_l drawn afresh for every step from {±alpha (Y_m - mean(Y))}

and then the arm with the highest f(x) is played.

What is approximate: a network that goes on from where it was forgets old noise only slowly, so the noise in f is an
average over the last steps. It is smaller than if all were fitted anew in every round, as LinCORe does, and it is
correlated from round to round; longer steps `lr` or fewer `steps` keep more of it. `NeuralEnsemble` freezes the noise
instead. Decisions that are made before the next reward comes use the same network.

The warm-up is LinCORe's: the arm chosen least so far, ties at random. It lasts at least one round for each arm; not one
for each feature, which LinCORe needs for an estimate to exist and a network does not. The network learns meanwhile.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.contracts.state import FloatArray
from corebandit.policies.neural.learner import Learner, new_learner
from corebandit.policies.neural.noise import Noise, NoisePolicy
from corebandit.randomness.stream import Stream


class NeuralCOReState(NamedTuple):
    """What NeuralCORe has learnt."""

    learner: Learner
    noise: Noise

    def prepare(self, rng: Stream) -> bool:
        """Draw the first weights, once."""
        return self.learner.begin(rng)

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the network's estimate of each row's reward."""
        if not self.noise.leads(scores):
            scores[:] = self.learner.network.predict(self.learner.weights, features)[0]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.learner.begin(rng)
        self.learner.add(x, reward)
        self.noise.add(arm, reward, rng)
        past = self.learner.draw_past(rng)
        fresh = self.noise.draw(past.reshape(-1), 1, rng)
        self.learner.train(past, fresh.reshape(past.shape[0], 1, past.shape[1]))


@dataclass(frozen=True)
class NeuralCORe(NoisePolicy):
    """Perturb past rewards with rewards drawn from everything seen, afresh in every step that trains a network.

    Needs PyTorch.

    Parameters
    ----------
    alpha
        Scale of the noise; 0 is greedy.
    z, warm_up
        As in `CORe`; the warm-up lasts at least one round for each arm.
    extra
        Draws in the noise of each of the first observations, as many as there are arms, besides their own.

    The others are described in `NeuralPolicy`.

    >>> NeuralCORe(alpha=0.4).label
    'NeuralCORe(alpha=0.4)'
    """

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> NeuralCOReState:
        """Return a state that has seen nothing."""
        return NeuralCOReState(new_learner(self, n_features, capacity), self.noise(n_arms, horizon, capacity))
