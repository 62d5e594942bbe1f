"""The distinct values of a pool, as long as they are few, and how often each was seen; sums of draws from them.

Up to 128 draws are made 64 at a time, on the bits of words; from there on how often each value is drawn is multinomial,
its signs binomial. Both are exact, and the cost does not depend on how many rewards the pool holds.
"""

from corebandit.compiled.bridge import inlined, kernel
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.randomness.bits import Words, count_ones, next_word
from corebandit.randomness.samplers import WORD_SIZE, binomial, first_lanes, heads, trials

N_ATOMS = 16
MOST_BY_BITS = 2 * WORD_SIZE  # draws
DISTINCT = 1  # where a pool's `tally` holds how many there are; one more than are listed, if there are more
VALUE, TIMES = 0, 1  # `atoms`


@kernel
def sum_by_counts(atoms: FloatArray, n_atoms: int, n_values: float, mean: float, n_draws: int, words: Words) -> float:
    """Draw how often each distinct value comes up, then how many of those are positive."""
    total, left, mass = 0.0, n_draws, n_values
    for atom in range(n_atoms):
        count = atoms[TIMES, atom]
        n_hits = left if count >= mass else binomial(words, left, count / mass)
        left -= n_hits
        mass -= count
        total += (atoms[VALUE, atom] - mean) * (2 * heads(words, n_hits) - n_hits)
    return total


@inlined
def sum_by_bits(atoms: FloatArray, n_atoms: int, n_values: float, mean: float, n_draws: int, words: Words) -> float:
    """Draw from the distinct values, 64 draws at once: each is one bit of a word, its sign the same bit of another."""
    total = 0.0
    while n_draws > 0:
        waiting, signs, mass = first_lanes(n_draws), next_word(words), n_values
        n_draws -= WORD_SIZE
        for atom in range(n_atoms):
            count = atoms[TIMES, atom]
            drawn = waiting if count >= mass else trials(words, waiting, count / mass)
            waiting &= ~drawn
            mass -= count
            total += (atoms[VALUE, atom] - mean) * (2 * count_ones(drawn & signs) - count_ones(drawn))
    return total


@inlined
def enlist(reward: float, time: int, atoms: FloatArray, tally: IntArray) -> None:
    """Count a reward in the table of distinct values."""
    n_listed = min(tally[DISTINCT], N_ATOMS)
    for atom in range(n_listed):
        if atoms[VALUE, atom] == reward:
            atoms[TIMES, atom] += 1.0
            return
    tally[DISTINCT] = min(tally[DISTINCT] + 1, N_ATOMS + 1)
    place = n_listed
    if n_listed == N_ATOMS:  # too many to list: from here on the table looks out for values that keep coming back
        place = time % N_ATOMS
        for atom in range(N_ATOMS):
            if atoms[TIMES, atom] < atoms[TIMES, place]:
                place = atom
    atoms[VALUE, place] = reward
    atoms[TIMES, place] = 1.0


@inlined
def unlist(reward: float, atoms: FloatArray, tally: IntArray) -> None:
    """Take a reward out of the table; where the table is not complete, no count is ever too high."""
    n_listed = min(tally[DISTINCT], N_ATOMS)
    for atom in range(n_listed):
        if atoms[VALUE, atom] == reward:
            atoms[TIMES, atom] = max(atoms[TIMES, atom] - 1.0, 0.0)
            if atoms[TIMES, atom] == 0.0 and tally[DISTINCT] <= N_ATOMS:
                last = n_listed - 1
                for row in range(2):
                    atoms[row, atom] = atoms[row, last]
                    atoms[row, last] = 0.0
                tally[DISTINCT] = last
            return
