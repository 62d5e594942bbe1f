"""The contract, as functions: hand them a policy or a problem of your own and be told in a sentence what is wrong.

The first thing they do is run the class as plain Python, so an author meets ordinary errors before compiled ones.
"""

import inspect
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from corebandit.agent import Agent
from corebandit.choose import best_arm
from corebandit.play import play_arms
from corebandit.problems import BernoulliBandit, BetaBandit, GaussianBandit, Given
from corebandit.recipe import Policy, Problem
from corebandit.state import FloatArray, arrays_of
from corebandit.stream import Stream, stream, streams
from corebandit.words import Words

N_ARMS, N_INTERPRETED, N_ROUNDS, SEED = 4, 120, 700, 11


class CheckFailed(AssertionError):
    """A policy or problem breaks the contract; the message says how."""


def _require(condition: bool, name: str, sentence: str) -> None:
    if not condition:
        raise CheckFailed(f"{name}: {sentence}")


# Policies ---------------------------------------------------------------------------------------------------------


def check_policy(policy: Policy, horizon: int | None = N_ROUNDS) -> None:
    """Check that a policy keeps the contract; raise `CheckFailed` with a sentence if it does not.

    >>> from corebandit import CORe
    >>> check_policy(CORe())
    """
    _require(isinstance(policy, Policy), repr(policy), "a policy must be a frozen dataclass that derives from Policy")
    for check in (
        _check_recipe,
        _check_state,
        _check_interpreted,
        _check_compiled,
        _check_agent,
        _check_saving,
        _check_arms_are_alike,
        _check_added_arm,
        _check_refusals,
    ):
        check(policy, horizon)


def _check_recipe(policy: Policy, horizon: int | None) -> None:
    description = policy.describe()
    try:
        again = json.loads(json.dumps(description))
    except TypeError as error:
        raise CheckFailed(f"{policy.name}: its parameters must be ready for JSON: {error}") from error
    rebuilt = type(policy)(**{key: value for key, value in again.items() if key != "name"})
    _require(rebuilt == policy, policy.name, f"rebuilt from its description {description} it is another: {rebuilt}")


def _check_state(policy: Policy, horizon: int | None) -> None:
    state = policy.start(N_ARMS, horizon, N_ROUNDS)
    _require(isinstance(state, tuple) and hasattr(state, "_fields"), policy.name, "start must return a NamedTuple")
    for method, arguments in (("score", ["rng", "scores"]), ("update", ["arm", "reward", "rng"])):
        function = getattr(type(state), method, None)
        _require(callable(function), policy.name, f"its state has no method {method}({', '.join(arguments)})")
        found = list(inspect.signature(function).parameters)[1:] if function else []
        wanted = f"{method} must take ({', '.join(arguments)}), not ({', '.join(found)})"
        _require(len(found) == len(arguments), policy.name, wanted)
    other = policy.start(N_ARMS, horizon, N_ROUNDS)
    shared = any(np.shares_memory(a, b) for a in arrays_of(state) for b in arrays_of(other))
    _require(not shared, policy.name, "two states share an array; start must make new ones")


def _check_interpreted(policy: Policy, horizon: int | None) -> None:
    """Play a few rounds in plain Python and compare with the compiled loop."""
    problem, rewards = _game(policy)
    _, means = _play_interpreted(policy, problem, rewards, N_INTERPRETED, horizon)
    compiled = _play_compiled(policy, problem, rewards.copy(), N_INTERPRETED, horizon)
    same = np.allclose(np.cumsum(problem.best_mean() - means), compiled, atol=1e-9)
    _require(same, policy.name, "compiled and as plain Python it chooses differently")


def _check_compiled(policy: Policy, horizon: int | None) -> None:
    problem, rewards = _game(policy)
    first, second = (_play_compiled(policy, problem, rewards.copy(), N_ROUNDS, horizon) for _ in range(2))
    _require(np.array_equal(first, second), policy.name, "with the same seed it chooses differently")


def _check_agent(policy: Policy, horizon: int | None) -> None:
    """One decision at a time, with buffers that grow, must choose as the simulation does."""
    problem, rewards = _game(policy)
    agent = Agent(policy, range(N_ARMS), seed=SEED, horizon=horizon)
    means = _play_agent(agent, problem, rewards.copy(), N_ROUNDS)
    batch = _play_compiled(policy, problem, rewards.copy(), N_ROUNDS, horizon)
    same = np.allclose(np.cumsum(problem.best_mean() - means), batch, atol=1e-9)
    _require(same, policy.name, "one decision at a time it chooses otherwise than in a simulation")


def _check_saving(policy: Policy, horizon: int | None) -> None:
    problem, rewards = _game(policy)
    agent = Agent(policy, range(N_ARMS), seed=SEED, horizon=horizon)
    _play_agent(agent, problem, rewards, N_ROUNDS // 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.json"
        agent.save(path)
        twin = Agent.load(path, policy)
    kept = _play_agent(agent, problem, rewards.copy(), N_ROUNDS // 2)
    loaded = _play_agent(twin, problem, rewards.copy(), N_ROUNDS // 2)
    _require(np.array_equal(kept, loaded), policy.name, "saved and loaded again it chooses differently")


def _check_arms_are_alike(policy: Policy, horizon: int | None) -> None:
    """Which index an arm has must not matter: shuffle the arms, and the choices are shuffled with them."""
    order = np.array([2, 0, 3, 1])
    n_draws = 1000
    problem, rewards = _game(policy)
    frequencies = []
    for names in (np.arange(N_ARMS), order):
        state, paying = policy.start(N_ARMS, horizon, N_ROUNDS), rewards.copy()
        learning, rng = stream(SEED, "learning"), stream(SEED, "choosing", str(names))
        for index in range(N_ROUNDS // 2):
            arm = index % N_ARMS if index < 8 * N_ARMS else index % 2
            state.update(int(names[arm]), problem.pull(arm, Stream(paying[arm])), learning)
        counts = np.zeros(N_ARMS)
        scores = np.zeros(N_ARMS)
        for _ in range(n_draws):
            state.score(rng, scores)
            counts[best_arm(scores, np.arange(N_ARMS), rng)] += 1
        frequencies.append(counts[names] / n_draws)
    gap = float(np.abs(frequencies[0] - frequencies[1]).max())
    _require(gap < 0.15, policy.name, f"its choices depend on the order of the arms: frequencies differ by {gap:.2f}")


def _check_added_arm(policy: Policy, horizon: int | None) -> None:
    """Check that an arm added later is tried, and that nothing learnt is lost."""
    problem, rewards = _game(policy)
    agent = Agent(policy, range(N_ARMS), seed=SEED, horizon=horizon)
    _play_agent(agent, problem, rewards, 100)
    before = [array.copy() for array in arrays_of(agent._state)]
    agent.add_arm("late")
    for old, new in zip(before, arrays_of(agent._state), strict=True):
        kept = new[tuple(slice(length) for length in old.shape)]
        _require(np.array_equal(kept, old), policy.name, "adding an arm changed what was learnt")
    tried = False
    low, high = policy.reward_range
    for _ in range(N_ROUNDS):
        decision = agent.ask()
        tried = tried or decision.arm == "late"
        agent.tell(decision, min(max(low, 0.5), high))
    _require(tried, policy.name, f"an arm added later was not tried once in {N_ROUNDS} rounds")


def _check_refusals(policy: Policy, horizon: int | None) -> None:
    """Bad rewards are refused and leave no trace."""
    agent = Agent(policy, range(N_ARMS), seed=SEED, horizon=horizon)
    low, high = policy.reward_range
    bad: list[Any] = [math.nan, math.inf, "1.0", None]
    bad += [bound + step for bound, step in ((low, -1.0), (high, 1.0)) if math.isfinite(bound)]
    decision = agent.ask()
    before = [array.copy() for array in arrays_of(agent._state)]
    for reward in bad:
        try:
            agent.tell(decision, reward)
        except ValueError:
            unchanged = all(map(np.array_equal, before, arrays_of(agent._state)))
            _require(unchanged, policy.name, f"the refused reward {reward!r} changed its state")
        else:
            raise CheckFailed(f"{policy.name}: the reward {reward!r} was accepted")


def _game(policy: Policy) -> tuple[Any, Words]:
    """Return a problem that pays what the policy is made for, and the arms' reward streams."""
    low, high = policy.reward_range
    recipes: tuple[Problem, ...] = (GaussianBandit(N_ARMS), BetaBandit(N_ARMS), BernoulliBandit(N_ARMS))
    fitting = [recipe for recipe in recipes if recipe.support[0] >= low and recipe.support[1] <= high]
    _require(bool(fitting), policy.name, f"no rewards to check it with: its range is [{low:g}, {high:g}]")
    return fitting[0].draw(stream(SEED, "problem")), streams(N_ARMS, SEED, "rewards")


def _play_interpreted(
    policy: Policy, problem: Any, rewards: Words, n_rounds: int, horizon: int | None
) -> tuple[Any, FloatArray]:
    state, rng = policy.start(N_ARMS, horizon, n_rounds), stream(SEED, "agent")
    rewards = rewards.copy()
    scores, means = np.zeros(N_ARMS), np.zeros(n_rounds)
    for index in range(n_rounds):
        scores[:] = math.nan
        state.score(rng, scores)
        _require(not np.isnan(scores).any(), policy.name, f"after {index} rounds score left NaN in {scores}")
        arm = int(best_arm(scores, np.arange(N_ARMS), rng))
        state.update(arm, problem.pull(arm, Stream(rewards[arm])), rng)
        means[index] = problem.mean(arm)
    return state, means


def _play_compiled(policy: Policy, problem: Any, rewards: Words, n_rounds: int, horizon: int | None) -> FloatArray:
    state, regret = policy.start(N_ARMS, horizon, n_rounds), np.zeros(n_rounds)
    play = play_arms.prepared(state, problem)
    play(state, problem, stream(SEED, "agent"), rewards, np.arange(1, n_rounds + 1), False, regret)
    return regret


def _play_agent(agent: Agent, problem: Any, rewards: Words, n_rounds: int) -> FloatArray:
    means = np.zeros(n_rounds)
    for index in range(n_rounds):
        decision = agent.ask()
        arm: Any = decision.arm
        agent.tell(decision, problem.pull(arm, Stream(rewards[arm])))
        means[index] = problem.mean(arm)
    return means


# Problems ---------------------------------------------------------------------------------------------------------


def check_problem(problem: Any, n_pulls: int = 4000) -> None:
    """Check that a problem, or an instance of a class of your own, keeps the contract.

    >>> from corebandit import BernoulliBandit
    >>> check_problem(BernoulliBandit())
    """
    if not isinstance(problem, Problem):
        try:
            problem = Given(problem)
        except ValueError as error:
            raise CheckFailed(str(error)) from error
    name = problem.label
    try:
        json.dumps(problem.describe())
    except TypeError as error:
        raise CheckFailed(f"{name}: its description must be ready for JSON: {error}") from error
    instance, twin = (problem.draw(stream(SEED, "instance")) for _ in range(2))
    same = all(np.array_equal(a, b) for a, b in zip(arrays_of(instance), arrays_of(twin), strict=True))
    _require(same, name, "drawn twice from the same stream it is two different instances")
    means = np.array([instance.mean(arm) for arm in range(instance.n_arms)])
    _require(instance.n_arms >= 1, name, f"it must have at least one arm, not {instance.n_arms}")
    _require(bool(np.isfinite(means).all()), name, f"its means must be finite, not {means}")
    best = instance.best_mean()
    _require(math.isclose(best, means.max()), name, f"best_mean() is {best}, but the highest mean is {means.max()}")
    low, high = problem.support
    for arm in range(instance.n_arms):
        rng, again = stream(SEED, "pulls", arm), stream(SEED, "pulls", arm)
        rewards = np.array([instance.pull(arm, rng) for _ in range(n_pulls)], dtype=float)
        _require(bool(np.isfinite(rewards).all()), name, f"arm {arm} paid a reward that is not finite")
        _require(instance.pull(arm, again) == rewards[0], name, f"arm {arm} pays differently from the same stream")
        inside = low <= rewards.min() and rewards.max() <= high
        _require(bool(inside), name, f"arm {arm} paid {rewards.min()} to {rewards.max()}, outside [{low:g}, {high:g}]")
        paid, told = rewards.mean(), means[arm]
        is_close = abs(paid - told) <= 6.0 * rewards.std() / math.sqrt(n_pulls) + 1e-9
        _require(bool(is_close), name, f"arm {arm} paid {paid:.4g} on average, but says its mean is {told:.4g}")
