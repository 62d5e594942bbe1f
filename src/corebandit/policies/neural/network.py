r"""A network with one hidden layer, as pure functions of flat weights: the only module that knows PyTorch.

    f(x) = b + sum over hidden units j of v_j relu(W_j' x + c_j)

Weights are `(members, p)`, one row for each of several networks of the same size, p = hidden (d + 2) + 1: W row by row,
then c, v and b. They, and the moments of Adam, belong to the caller, as NumPy arrays that are read, and by `train`
changed, in place: PyTorch keeps nothing from call to call and draws no random numbers. So whoever saves the arrays has
saved the network. The gradient of so small a network is written out; PyTorch's own would take several times as long.

On a CPU the tensors are the arrays themselves. On a GPU they are copies, brought back after training; each call then
costs two copies of the weights. Everything runs in double precision and on one thread, so that no number depends on how
many there are.
"""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import how_to_install

DEVICES = ("cpu", "auto")
OPTIMISERS = ("adam", "sgd")
DECAYS = (0.9, 0.999)  # of Adam's moments
EPSILON = 1e-8

# No step leads out of the range of floats, whatever the rewards and the features.
LARGEST_GRADIENT = 1e100
LARGEST_WEIGHT = 1e6

Tensor = Any  # PyTorch may not be there to ask for its types


def pytorch(wanted_by: str) -> Any:
    """Return PyTorch, or say how to get it."""
    try:
        import torch
    except ImportError:
        raise BadInput(
            f"{wanted_by} needs PyTorch: {how_to_install('torch')}; for a CPU-only build follow the selector on "
            "PyTorch's own site"
        ) from None
    return torch


class OneThread:
    """Keeps PyTorch to one thread while any of ours computes; its setting is the whole process's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = self._before = 0

    @contextmanager
    def of(self, torch: Any) -> Iterator[None]:
        """Use one thread; the last of ours to leave restores what the first found."""
        with self._lock:
            if not self._inside:
                self._before = torch.get_num_threads()
            self._inside += 1
            torch.set_num_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    torch.set_num_threads(self._before)


ONE_THREAD = OneThread()


def n_weights(n_features: int, hidden: int) -> int:
    """Return the number of weights of one network."""
    return hidden * (n_features + 2) + 1


class Network(NamedTuple):
    """Where a network runs, and how large its hidden layer is. Make one with `new_network`."""

    torch: Any
    device: str
    hidden: int

    def predict(self, weights: FloatArray, x: FloatArray) -> FloatArray:
        """Return f(x) `(members, rows)` of every row of `x` `(rows, d)`."""
        with self.one_thread():
            return _array(_Layers(self.tensor(weights), x.shape[1], self.hidden).outputs(self.tensor(x)))

    def gradients(self, weights: FloatArray, x: FloatArray) -> FloatArray:
        """Return the gradients `(rows, p)` of f(x) with respect to the first member's weights."""
        with self.one_thread():
            rows = self.tensor(x)
            active, slopes = _Layers(self.tensor(weights), x.shape[1], self.hidden).gradients(rows)
            outer = (slopes[:, :, None] * rows[:, None, :]).flatten(1)
            return _array(self.torch.cat([outer, slopes, active, self.torch.ones_like(active[:, :1])], dim=1))

    def squared_widths(self, weights: FloatArray, x: FloatArray, scales: FloatArray) -> FloatArray:
        """Return the sum of g_j^2 / scales_j `(rows,)`, g the gradient `(p,)` of a row, of the first member.

        A gradient with respect to W is an outer product, so the sum needs two small products and no gradient: O(hidden
        d) a row, and nothing of size p a row is kept.
        """
        with self.one_thread():
            rows = self.tensor(x)
            active, slopes = _Layers(self.tensor(weights), x.shape[1], self.hidden).gradients(rows)
            inverse = _Layers(self.tensor(scales)[None].reciprocal(), x.shape[1], self.hidden)
            total = ((slopes.square() @ inverse.inner[0]) * rows.square()).sum(1)
            total += slopes.square() @ inverse.shifts[0] + active.square() @ inverse.outer[0] + inverse.constants[0]
            return _array(total)

    def train(
        self, weights: FloatArray, moments: FloatArray, n_steps: int, x: FloatArray, y: FloatArray, **how: Any
    ) -> int:
        """Take a step for each batch, and return how many were taken, now and before.

        `moments` `(2, members, p)` are Adam's and `n_steps` the steps before; `x` `(steps, batch, d)` and `y` `(steps,
        members, batch)` hold the batches. `how` are the fields of `Descent`.
        """
        with self.one_thread():
            descent = Descent(self.torch, self.tensor(weights), self.tensor(moments), self.hidden, **how)
            taken = descent.run(n_steps, self.tensor(x), self.tensor(y))
            if self.device != "cpu":
                weights[...], moments[...] = _array(descent.weights), _array(descent.moments)
            return taken

    def tensor(self, array: FloatArray) -> Tensor:
        """Return the array as a tensor: itself on a CPU, else a copy."""
        return self.torch.from_numpy(array).to(self.device)

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """Let PyTorch use one thread for a moment, and compute no gradients of its own."""
        with ONE_THREAD.of(self.torch), self.torch.no_grad():
            yield


def new_network(wanted_by: str, hidden: int, device: str) -> Network:
    """Return a network that runs on the CPU, or, if `device` is "auto", on a GPU if there is one."""
    torch = pytorch(wanted_by)
    is_gpu = device == "auto" and torch.cuda.is_available()
    return Network(torch, "cuda" if is_gpu else "cpu", hidden)


def _array(tensor: Tensor) -> FloatArray:
    return np.asarray(tensor.cpu().numpy())


class _Layers:
    """Flat weights `(members, p)`, or anything of that shape, as the layers they stand for."""

    def __init__(self, flat: Tensor, n_features: int, hidden: int) -> None:
        n_inner, members = hidden * n_features, flat.shape[0]
        self.inner = flat[:, :n_inner].view(members, hidden, n_features)  # W
        self.shifts = flat[:, n_inner : n_inner + hidden]  # c
        self.outer = flat[:, n_inner + hidden : -1]  # v
        self.constants = flat[:, -1:]  # b

    def active(self, x: Tensor) -> Tensor:
        """Return what the hidden units put out, `(members, rows, hidden)`."""
        return (x @ self.inner.transpose(1, 2)).add_(self.shifts[:, None]).clamp_(min=0.0)

    def read(self, active: Tensor) -> Tensor:
        """Return f `(members, rows)` from what the hidden units put out."""
        return (active @ self.outer[:, :, None]).squeeze(2).add_(self.constants)

    def outputs(self, x: Tensor) -> Tensor:
        """Return f(x) `(members, rows)`."""
        return self.read(self.active(x))

    def gradients(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of the first member's f(x) with respect to v and to c, each `(rows, hidden)`."""
        active = self.active(x)[0]
        return active, (active > 0.0) * self.outer[0]


class Descent:
    """Steps down the mean squared error of a batch, each member on targets of its own.

    Parameters
    ----------
    optimiser
        "adam" or "sgd".
    lr
        Length of a step.
    weight_decay
        Added to the gradient, times the weights.
    tolerance, n_rows
        Stop early when the mean squared error of as many rows in turn as there are, `n_rows`, is at most this; 0 does
        not look.
    """

    def __init__(
        self,
        torch: Any,
        weights: Tensor,
        moments: Tensor,
        hidden: int,
        *,
        optimiser: str,
        lr: float,
        weight_decay: float,
        tolerance: float,
        n_rows: int,
    ) -> None:
        self.torch, self.weights, self.moments, self.hidden = torch, weights, moments, hidden
        self.optimiser, self.lr, self.weight_decay = optimiser, lr, weight_decay
        self.tolerance, self.n_rows = tolerance, n_rows

    def run(self, n_steps: int, x: Tensor, y: Tensor) -> int:
        """Take a step for each batch, and return how many were taken, now and before."""
        d, batch_size = x.shape[2], x.shape[1]
        layers = _Layers(self.weights, d, self.hidden)
        flat = self.torch.empty_like(self.weights)
        slopes = _Layers(flat, d, self.hidden)
        loss, n_seen = 0.0, 0
        for rows, targets in zip(x, y, strict=True):
            active = layers.active(rows)
            errors = layers.read(active).sub_(targets)
            if self.tolerance > 0.0:
                loss, n_seen = loss + float(errors.square().mean()) * batch_size, n_seen + batch_size
                if n_seen >= self.n_rows:
                    if loss <= self.tolerance * n_seen:
                        break
                    loss, n_seen = 0.0, 0
            errors.mul_(2.0 / batch_size)
            back = (active > 0.0) * layers.outer[:, None] * errors[:, :, None]
            self.torch.matmul(back.transpose(1, 2), rows, out=slopes.inner)
            slopes.shifts[...] = back.sum(1)
            slopes.outer[...] = (active.transpose(1, 2) @ errors[:, :, None])[:, :, 0]
            slopes.constants[...] = errors.sum(1, keepdim=True)
            n_steps += 1
            self.step(flat, n_steps)
        return n_steps

    def step(self, gradient: Tensor, n_steps: int) -> None:
        """Take the `n_steps`-th step; the gradient is used up."""
        if self.weight_decay > 0.0:
            gradient.add_(self.weights, alpha=self.weight_decay)
        gradient.clamp_(-LARGEST_GRADIENT, LARGEST_GRADIENT)
        if self.optimiser == "sgd":
            self.weights.sub_(gradient, alpha=self.lr)
        else:
            first, second = self.moments
            first.lerp_(gradient, 1.0 - DECAYS[0])
            second.mul_(DECAYS[1]).addcmul_(gradient, gradient, value=1.0 - DECAYS[1])
            shares = [1.0 - decay**n_steps for decay in DECAYS]  # of the moments that are not yet their zero beginning
            lengths = second.sqrt().div_(math.sqrt(shares[1])).add_(EPSILON)
            self.weights.addcdiv_(first, lengths, value=-self.lr / shares[0])
        self.weights.clamp_(-LARGEST_WEIGHT, LARGEST_WEIGHT)
