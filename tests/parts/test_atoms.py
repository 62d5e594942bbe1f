"""Values gathered by arm: none is lost, and equal ones are counted."""

import numpy as np

from corebandit.parts.atoms import N_ATOMS, new_atoms


def values_of(atoms, arm):
    """Return every value of the arm, each as often as it was seen, in order."""
    counted = [
        value
        for value, times in zip(atoms.atoms[arm], atoms.repeats[arm], strict=True)
        for value in [value] * int(times)
    ]
    return sorted(counted + [atoms.others.value(arm, index) for index in range(atoms.others.counts[arm])])


def test_every_value_is_kept_whether_counted_or_listed():
    rng = np.random.default_rng(1)
    atoms, expected = new_atoms(3, 900, 0.0, 1.0), [[0.0, 1.0] for _ in range(3)]
    for arm, value in zip(rng.integers(3, size=900), rng.integers(40, size=900) / 39, strict=True):
        atoms.include(arm, value)
        expected[arm].append(value)
    for arm in range(3):
        assert atoms.n_atoms[arm] == N_ATOMS
        assert atoms.others.counts[arm] > 0
        assert values_of(atoms, arm) == sorted(expected[arm])


def test_few_values_are_counted_only():
    atoms = new_atoms(2, 1000, 0.0, 1.0)
    for index in range(1000):
        atoms.include(0, float(index % 2))
    assert atoms.n_atoms.tolist() == [2, 2]
    assert atoms.repeats[:, :2].tolist() == [[501.0, 501.0], [1.0, 1.0]]
