"""What every problem must keep to: it pays what it says, from the stream it is given."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from corebandit.checks.sentences import SEED, CheckFailed, as_failed, require, require_declared, require_json
from corebandit.contracts.errors import BadInput
from corebandit.contracts.features import check_finite
from corebandit.contracts.instances import check_instance
from corebandit.contracts.recipe import Problem, offers_features, shows_rankings
from corebandit.contracts.state import arrays_of
from corebandit.problems.given import Given
from corebandit.randomness.stream import Stream, stream

N_OFFERS, N_RANKINGS = 20, 3
N_CHANGING, LOOKED_AT = 3000, 50  # rounds of a problem that changes, and how often means are looked at unasked


def check_problem(problem: Any, n_pulls: int = 4000) -> None:
    """Check that a problem, or an instance of a class of your own, keeps the contract.

    >>> from corebandit.problems import BernoulliBandit
    >>> check_problem(BernoulliBandit())
    """
    if not isinstance(problem, Problem):
        try:
            problem = Given(problem)
        except ValueError as error:
            raise CheckFailed(str(error)) from error
    with as_failed(problem):
        _check_problem(problem, n_pulls)


def _check_problem(problem: Problem, n_pulls: int) -> None:
    name = problem.label
    require_declared(problem)
    require_json(problem, name, "description")
    instance, twin = (problem.draw(stream(SEED, "instance")) for _ in range(2))
    try:
        check_instance(problem, instance)
    except BadInput as error:
        raise CheckFailed(str(error)) from error
    same = all(np.array_equal(a, b) for a, b in zip(arrays_of(instance), arrays_of(twin), strict=True))
    require(same, name, "drawn twice from the same stream it is two different instances")
    if shows_rankings(instance):
        check_clicks(name, instance, n_pulls)
        return
    require(instance.n_arms >= 1, name, f"it must have at least one arm, not {instance.n_arms}")
    if offers_features(instance):
        check_offers(name, instance, twin)
        check_pay_of_rows(name, instance, problem.support, n_pulls)
    else:
        check_pay_of_arms(name, instance, problem.support, n_pulls)
    if hasattr(instance, "begin_round"):
        check_changes(problem, n_pulls)


def check_changes(problem: Problem, n_pulls: int) -> None:
    """Check that means change in the rounds that say so, of themselves, and that arms pay what they are then."""
    name = problem.label
    instance, twin = (problem.draw(stream(SEED, "instance")) for _ in range(2))
    features, contexts = None, stream(SEED, "contexts")
    if offers_features(instance):
        features = np.zeros((instance.n_arms, instance.n_features))
        instance.offer(1, contexts, features)
    before = _means(instance, features)
    for current_round in range(1, N_CHANGING + 1):
        may_be_new, too = (bool(each.begin_round(current_round)) for each in (instance, twin))
        if not may_be_new and current_round % LOOKED_AT:
            continue
        means = _means(instance, features)
        sentence = f"in round {current_round} its means changed, but begin_round did not return True"
        require(may_be_new or np.array_equal(means, before), name, sentence)
        same = too == may_be_new and np.array_equal(means, _means(twin, features))
        require(same, name, f"in round {current_round} it is not what another one drawn from the same stream is")
        require(np.isfinite(means).all(), name, f"its means in round {current_round} must be finite, not {means}")
        before = means
    if features is None:
        check_pay_of_arms(name, instance, problem.support, n_pulls)
    else:
        check_pay_of_rows(name, instance, problem.support, n_pulls)


def _means(instance: Any, features: Any) -> Any:
    """Return the means of all arms, or those of rows."""
    if features is None:
        return np.array([instance.mean(arm) for arm in range(instance.n_arms)])
    return np.array([instance.mean(arm, features[arm]) for arm in range(instance.n_arms)])


def check_pay_of_arms(name: str, instance: Any, support: tuple[float, float], n_pulls: int) -> None:
    """Check that every arm pays its mean, and that the best is the best."""
    means = np.array([instance.mean(arm) for arm in range(instance.n_arms)])
    require(np.isfinite(means).all(), name, f"its means must be finite, not {means}")
    best = instance.best_mean()
    require(math.isclose(best, means.max()), name, f"best_mean() is {best}, but the highest mean is {means.max()}")
    for arm in range(instance.n_arms):
        check_pay(name, arm, partial(instance.pull, arm), means[arm], support, n_pulls)


def check_offers(name: str, instance: Any, twin: Any) -> None:
    """Check that what is offered is finite, comes from the stream, and is called new when it is."""
    require(instance.n_features >= 1, name, f"it must have at least one feature, not {instance.n_features}")
    features, again = (np.full((instance.n_arms, instance.n_features), math.nan) for _ in range(2))
    contexts, same_contexts = stream(SEED, "contexts"), stream(SEED, "contexts")
    for current_round in range(1, N_OFFERS + 1):
        before = features.copy()
        is_new = instance.offer(current_round, contexts, features)
        twin.offer(current_round, same_contexts, again)
        require(is_new or current_round > 1, name, "in round 1 all features are new, so offer must return True")
        try:
            check_finite("features", features)
        except ValueError as error:
            raise CheckFailed(f"{name}: what it offers in round {current_round}: {error}") from error
        unchanged = is_new or np.array_equal(before, features)
        require(unchanged, name, f"in round {current_round} offer changed features but did not return True")
        same = np.array_equal(features, again)
        require(same, name, f"in round {current_round} it offers different features from the same stream")


def check_pay_of_rows(name: str, instance: Any, support: tuple[float, float], n_pulls: int) -> None:
    """Check that the first, the best and the worst row of the first two rounds pay their means."""
    features, contexts = np.zeros((instance.n_arms, instance.n_features)), stream(SEED, "contexts")
    for current_round in (1, 2):
        instance.offer(current_round, contexts, features)
        offered = features.copy()
        means = np.array([instance.mean(arm, features[arm]) for arm in range(instance.n_arms)])
        require(np.isfinite(means).all(), name, f"its means must be finite, not {means}")
        for arm in sorted({0, int(means.argmin()), int(means.argmax())}):
            instance.pull(arm, features[arm], stream(SEED, "pulls", arm))
            require(np.array_equal(features, offered), name, "mean or pull changed the features x it was given")
            check_pay(name, arm, partial(instance.pull, arm, features[arm]), means[arm], support, n_pulls)


def check_clicks(name: str, instance: Any, n_users: int) -> None:
    """Check that rankings are clicked as often as they are worth, and that none is worth more than the best."""
    n_items, n_positions, best = instance.n_items, instance.n_positions, instance.best_value()
    require(1 <= n_positions <= n_items, name, f"it shows {n_positions} of {n_items} items")
    chance, shuffle = np.full((2, n_items), math.nan), stream(SEED, "rankings")
    for index in range(N_RANKINGS):
        ranking = np.argsort([shuffle.random() for _ in range(n_items)])[:n_positions]
        shown, value, users = ranking.copy(), instance.value(ranking), stream(SEED, "users", index)
        require(value <= best + 1e-9, name, f"best_value() is {best}, but {ranking.tolist()} is worth {value}")
        totals = np.zeros(n_users)
        for user in range(n_users):
            clicks = np.full(n_positions, -1)
            instance.draw_user(users, chance)
            instance.click(ranking, chance, clicks)
            require(np.isin(clicks, (0, 1)).all(), name, f"click must fill clicks with 0 and 1, not {clicks.tolist()}")
            totals[user] = clicks.sum()
        require(not np.isnan(chance).any(), name, "draw_user must fill all of chance")
        require(np.array_equal(shown, ranking), name, "click or value changed the ranking it was given")
        is_close = abs(totals.mean() - value) <= 6.0 * totals.std() / math.sqrt(n_users) + 1e-9
        sentence = (
            f"{ranking.tolist()} was clicked {totals.mean():.4g} times on average, but says its value is {value:.4g}"
        )
        require(is_close, name, sentence)


def check_pay(
    name: str,
    arm: int,
    pull: Callable[[Stream], float],
    mean: float,
    support: tuple[float, float],
    n_pulls: int,
) -> None:
    """Check that an arm pays its mean on average, within bounds, from the stream it is given."""
    low, high = support
    rng, again = stream(SEED, "pulls", arm), stream(SEED, "pulls", arm)
    rewards = np.array([pull(rng) for _ in range(n_pulls)], dtype=float)
    require(np.isfinite(rewards).all(), name, f"arm {arm} paid a reward that is not finite")
    require(pull(again) == rewards[0], name, f"arm {arm} pays differently from the same stream")
    inside = low <= rewards.min() and rewards.max() <= high
    require(inside, name, f"arm {arm} paid {rewards.min()} to {rewards.max()}, outside [{low:g}, {high:g}]")
    paid = rewards.mean()
    is_close = abs(paid - mean) <= 6.0 * rewards.std() / math.sqrt(n_pulls) + 1e-9
    require(is_close, name, f"arm {arm} paid {paid:.4g} on average, but says its mean is {mean:.4g}")
