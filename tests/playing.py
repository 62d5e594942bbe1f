"""Ranking policies at play, on one instance."""

import numpy as np

from corebandit.clicks.models import CM, PBM
from corebandit.experiments.engines.threads import Threads
from corebandit.experiments.keys import chunk_key, key_of
from corebandit.experiments.playing import task_of
from corebandit.experiments.task import Wanted
from corebandit.games.notes import new_notes
from corebandit.games.ranking_game import play_rankings
from corebandit.randomness.stream import stream
from corebandit.ranking.users import users_of

LINEAR = tuple(np.linspace(0.9, 0.1, 10).tolist())
EASY_CASCADE = CM((0.4,) * 5 + (0.1,) * 5)
EASY_POSITIONS = PBM(LINEAR, examination=(1.0, 0.8, 0.65, 0.55, 0.45))


def play(policy, model, n_rounds, seed=1, n_positions=5):
    """Return the total regret after each round, and the state."""
    problem = users_of(model, n_positions, stream(seed, "instance"))
    state = policy.start(problem.n_items, n_positions, n_rounds, n_rounds * n_positions)
    regret, chance, ranking = np.zeros(n_rounds), np.zeros((2, problem.n_items)), np.zeros(n_positions, np.int64)
    run = play_rankings.compiled
    rng, users, rounds = stream(seed, "policy"), stream(seed, "users"), np.arange(1, n_rounds + 1)
    notes = new_notes(n_rounds, problem.n_items, n_positions=n_positions)
    run(state, problem, rng, users, chance, ranking, rounds, -1, False, regret, notes)
    return regret, state


def keys_of(experiment):
    """Return the keys under which the runs of an experiment are stored, ten at a time."""
    wanted = [Wanted(task_of(experiment, label), 0, experiment.runs) for label in experiment.policies]
    return {chunk_key(key_of(each.task, Threads().environment), chunk) for each in wanted for chunk in each.cut(10)}
