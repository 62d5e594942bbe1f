"""Policies whose model is a network, in PyTorch, which is imported when one of them starts."""

from corebandit.policies.neural.neural_core import NeuralCORe
from corebandit.policies.neural.neural_ensemble import NeuralEnsemble
from corebandit.policies.neural.neural_ts import NeuralTS
from corebandit.policies.neural.neural_ucb import NeuralUCB

__all__ = ["NeuralCORe", "NeuralEnsemble", "NeuralTS", "NeuralUCB"]
