"""The network: outputs, gradients, widths and steps, against plain formulas, finite differences and PyTorch's own."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from corebandit.policies.neural.network import n_weights, new_network

torch = pytest.importorskip("torch", reason="PyTorch is not installed: docs/neural.md says how to get it")

HIDDEN, D, MEMBERS, P = 7, 3, 2, n_weights(3, 7)
NETWORK = new_network("a test", HIDDEN, "cpu")
ADAM = {"optimiser": "adam", "lr": 0.01, "weight_decay": 0.0, "tolerance": 0.0, "n_rows": 50}
SGD = {**ADAM, "optimiser": "sgd"}


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def written_out(weights, x):
    """Return f(x) of one row, by the formula."""
    inner, rest = weights[: HIDDEN * D].reshape(HIDDEN, D), weights[HIDDEN * D :]
    return rest[-1] + rest[HIDDEN:-1] @ np.maximum(inner @ x + rest[:HIDDEN], 0.0)


def fresh(members=MEMBERS, seed=0):
    return 0.5 * drawn(members, P, seed=seed), np.zeros((2, members, P))


def test_outputs_are_those_of_the_formula_for_every_member():
    weights, x = drawn(MEMBERS, P), drawn(5, D, seed=1)
    expected = [[written_out(member, row) for row in x] for member in weights]
    np.testing.assert_allclose(NETWORK.predict(weights, x), expected, rtol=1e-12)


def test_gradients_are_finite_differences():
    weights, x = drawn(1, P), drawn(4, D, seed=1)
    gradients = NETWORK.gradients(weights, x)
    assert gradients.shape == (4, P)
    for j in range(P):
        step = np.zeros((1, P))
        step[0, j] = 1e-6
        slope = (NETWORK.predict(weights + step, x) - NETWORK.predict(weights - step, x))[0] / 2e-6
        np.testing.assert_allclose(gradients[:, j], slope, atol=1e-7)


def test_widths_are_sums_over_gradients():
    weights, x, scales = drawn(1, P), drawn(4, D, seed=1), 0.1 + drawn(P, seed=2) ** 2
    expected = (NETWORK.gradients(weights, x) ** 2 / scales).sum(axis=1)
    np.testing.assert_allclose(NETWORK.squared_widths(weights, x, scales), expected, rtol=1e-12)


@pytest.mark.parametrize(("how", "kind"), [(ADAM, "Adam"), (SGD, "SGD"), ({**ADAM, "weight_decay": 0.1}, "Adam")])
def test_steps_are_those_of_pytorch(how, kind):
    weights, moments = fresh()
    x, y = drawn(6, 8, D, seed=1), drawn(6, MEMBERS, 8, seed=2)
    theirs = torch.tensor(weights, requires_grad=True)
    optimiser = getattr(torch.optim, kind)([theirs], lr=how["lr"], weight_decay=how["weight_decay"])
    for rows, targets in zip(torch.tensor(x), torch.tensor(y), strict=True):
        inner = theirs[:, : HIDDEN * D].reshape(MEMBERS, HIDDEN, D)
        shifts, outer = theirs[:, HIDDEN * D : -1].reshape(MEMBERS, 2, HIDDEN).unbind(1)
        active = torch.relu(torch.einsum("bd,mhd->mbh", rows, inner) + shifts[:, None])
        outputs = torch.einsum("mbh,mh->mb", active, outer) + theirs[:, -1:]
        optimiser.zero_grad()
        (outputs - targets).square().mean(1).sum().backward()
        optimiser.step()
    assert NETWORK.train(weights, moments, 0, x, y, **how) == 6
    np.testing.assert_allclose(weights, theirs.detach().numpy(), rtol=1e-9, atol=1e-12)


def test_training_in_two_parts_is_training_in_one():
    x, y = drawn(10, 8, D, seed=1), drawn(10, MEMBERS, 8, seed=2)
    (whole, whole_moments), (parts, part_moments) = fresh(), fresh()
    NETWORK.train(whole, whole_moments, 0, x, y, **ADAM)
    n_steps = NETWORK.train(parts, part_moments, 0, x[:4], y[:4], **ADAM)
    assert NETWORK.train(parts, part_moments, n_steps, x[4:], y[4:], **ADAM) == 10
    assert np.array_equal(whole, parts)
    assert np.array_equal(whole_moments, part_moments)


def test_a_known_function_is_learnt():
    weights, moments = fresh(members=1)
    x = np.random.default_rng(3).uniform(-1, 1, size=(600, 32, D))
    y = np.abs(x[:, :, 0]) - x[:, :, 1]
    before = np.mean((NETWORK.predict(weights, x[0])[0] - y[0]) ** 2)
    NETWORK.train(weights, moments, 0, x, y[:, None], **ADAM)
    after = np.mean((NETWORK.predict(weights, x[0])[0] - y[0]) ** 2)
    assert after < 0.02 < 0.2 < before


def test_training_ends_early_when_errors_are_small_over_as_many_rows_as_there_are():
    x = drawn(20, 8, D, seed=1)
    weights, moments = fresh(members=1)
    kept = weights.copy()
    y = np.stack([NETWORK.predict(weights, rows) for rows in x])
    assert NETWORK.train(weights, moments, 5, x, y + 0.5, **{**ADAM, "tolerance": 0.01, "n_rows": 40}) == 25
    weights[:] = kept
    assert NETWORK.train(weights, moments, 5, x, y, **{**SGD, "tolerance": 1e-3, "n_rows": 40}) == 9


@pytest.mark.parametrize("how", [ADAM, SGD])
def test_no_step_leads_out_of_the_range_of_floats(how):
    weights, moments = fresh()
    x, y = 1e100 * drawn(30, 8, D, seed=1), 1e100 * drawn(30, MEMBERS, 8, seed=2)
    NETWORK.train(weights, moments, 0, x, y, **how)
    assert np.isfinite(weights).all()
    assert np.isfinite(moments).all()
    assert np.isfinite(NETWORK.predict(weights, x[0])).all()


def test_pytorchs_threads_are_left_as_they_were():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    NETWORK.predict(*(drawn(1, P), drawn(4, D)))
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


def test_pytorchs_threads_are_left_as_they_were_by_several_at_once():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    everybody = threading.Barrier(4)

    def compute(_):
        with NETWORK.one_thread():
            everybody.wait()
            assert torch.get_num_threads() == 1
            everybody.wait()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(compute, range(4)))
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)
