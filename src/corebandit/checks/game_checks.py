"""A policy at play, in the three ways there are: as plain Python, compiled, and one decision at a time.

`ArmGame` is for policies that choose among arms, `FeatureGame` for those that choose by features; the checks that both
kinds must pass are written once, for either. Every way of playing returns the total regret after each round.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from corebandit.agents.agent import Agent
from corebandit.checks.sentences import SEED, require
from corebandit.compiled.optional_methods import prepare, tell_round
from corebandit.contracts.recipe import AnyPolicy, FeaturePolicy, Policy, Problem
from corebandit.contracts.state import FloatArray
from corebandit.games.arm_game import play_arms
from corebandit.games.feature_game import play_features
from corebandit.games.notes import new_notes
from corebandit.parts.choose import best_arm
from corebandit.parts.rounds import horizon_or_unknown, rounds_left
from corebandit.problems.linear import ContextualBandit, LinearBandit
from corebandit.problems.random_arms import BernoulliBandit, BetaBandit, GaussianBandit
from corebandit.randomness.stream import Stream, stream, streams

N_ARMS, N_FEATURES, N_ROUNDS = 4, 3, 700
REWARDS = ("gaussian", "beta", "bernoulli")


def fitting(policy: Policy | FeaturePolicy, problems: Sequence[Problem]) -> Problem:
    """Return the first of the problems that pays what the policy is made for."""
    low, high = policy.reward_range
    found = [problem for problem in problems if problem.support[0] >= low and problem.support[1] <= high]
    require(found, policy.name, f"no rewards to check it with: its range is [{low:g}, {high:g}]")
    return found[0]


class ArmGame:
    """A policy that chooses among arms."""

    METHODS: ClassVar = {"score": ["rng", "scores"], "update": ["arm", "reward", "rng"]}

    def __init__(self, policy: Policy, horizon: int | None) -> None:
        self.policy, self.horizon = policy, horizon
        recipe = fitting(policy, [GaussianBandit(N_ARMS), BetaBandit(N_ARMS), BernoulliBandit(N_ARMS)])
        self.problem = recipe.draw(stream(SEED, "problem"))
        self.rewards = streams(N_ARMS, SEED, "rewards")

    def state(self, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(N_ARMS, self.horizon, capacity)

    def smallest_state(self) -> Any:
        """Return the smallest state there is."""
        return self.policy.start(1, self.horizon, 1)

    def agent(self) -> Agent:
        """Return an agent that has seen nothing."""
        return Agent(self.policy, range(N_ARMS), seed=SEED, horizon=self.horizon)

    def ask(self, agent: Agent, seed: int) -> Any:
        """Let the agent decide; `seed` is for what is offered."""
        return agent.ask()

    def answer(self, agent: Agent, decision: Any) -> None:
        """Tell the agent a reward that the policy is made for."""
        agent.tell(decision, fair_reward(self.policy))

    def load(self, path: Path) -> Agent:
        """Return the agent that was saved."""
        return Agent.load(path, self.policy)

    def observe(self, agent: Agent, reward: Any) -> None:
        """Show the agent a reward."""
        agent.observe(0, reward)

    def play_interpreted(self, n_rounds: int) -> FloatArray:
        """Play as plain Python."""
        state, rng, rewards = self.state(n_rounds), stream(SEED, "agent"), self.rewards.copy()
        scores, regret = np.zeros(N_ARMS), np.zeros(n_rounds)
        for index in range(n_rounds):
            scores[:] = math.nan
            begin(self, state, index, rng)
            state.score(rng, scores)
            require_no_nan(self.policy.name, index, scores)
            arm = int(best_arm(scores, np.arange(N_ARMS), rng))
            state.update(arm, self.problem.pull(arm, Stream(rewards[arm])), rng)
            regret[index] = self.problem.best_mean() - self.problem.mean(arm)
        return np.cumsum(regret)

    def choose(self, state: Any, index: int, rng: Stream) -> int:
        """Return the arm that a state chooses."""
        scores = np.zeros(N_ARMS)
        state.score(rng, scores)
        return int(best_arm(scores, np.arange(N_ARMS), rng))

    def learn(self, state: Any, index: int, arm: int, rng: Stream) -> None:
        """Let a state learn what an arm pays in some round."""
        state.update(arm, self.problem.pull(arm, stream(SEED, "paid", index)), rng)

    def play_compiled(self, n_rounds: int) -> FloatArray:
        """Play in the loop that simulations use."""
        state, regret, rounds = self.state(n_rounds), np.zeros(n_rounds), np.arange(1, n_rounds + 1)
        play = play_arms.prepared(compiled=self.policy.runs_compiled)
        play(
            state,
            self.problem,
            stream(SEED, "agent"),
            self.rewards.copy(),
            rounds,
            horizon_or_unknown(self.horizon),
            False,
            regret,
            new_notes(n_rounds, N_ARMS),
        )
        return regret

    def play_agent(self, agent: Agent, n_rounds: int) -> FloatArray:
        """Play one decision at a time."""
        rewards, regret = self.rewards.copy(), np.zeros(n_rounds)
        for index in range(n_rounds):
            decision = agent.ask()
            arm: Any = decision.arm
            agent.tell(decision, self.problem.pull(arm, Stream(rewards[arm])))
            regret[index] = self.problem.best_mean() - self.problem.mean(arm)
        return np.cumsum(regret)


class FeatureGame:
    """A policy that chooses by features, which are new in every round or stay the same."""

    METHODS: ClassVar = {"score": ["features", "rng", "scores"], "update": ["arm", "x", "reward", "rng"]}

    def __init__(self, policy: FeaturePolicy, horizon: int | None, is_contextual: bool = True) -> None:
        self.policy, self.horizon = policy, horizon
        kind = ContextualBandit if is_contextual else LinearBandit
        recipe = fitting(policy, [kind(N_ARMS, N_FEATURES, rewards=rewards) for rewards in REWARDS])
        self.problem = recipe.draw(stream(SEED, "problem"))
        self.rewards = streams(N_ARMS, SEED, "rewards")

    def state(self, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(N_ARMS, N_FEATURES, self.horizon, capacity)

    def smallest_state(self) -> Any:
        """Return the smallest state there is."""
        return self.policy.start(1, 1, self.horizon, 1)

    def agent(self) -> Agent:
        """Return an agent that has seen nothing."""
        return Agent(self.policy, range(N_ARMS), seed=SEED, horizon=self.horizon)

    def ask(self, agent: Agent, seed: int) -> Any:
        """Let the agent decide; `seed` is for what is offered."""
        return agent.ask(some_rows(len(agent.arms), seed))

    def answer(self, agent: Agent, decision: Any) -> None:
        """Tell the agent a reward that the policy is made for."""
        agent.tell(decision, fair_reward(self.policy))

    def load(self, path: Path) -> Agent:
        """Return the agent that was saved."""
        return Agent.load(path, self.policy)

    def observe(self, agent: Agent, reward: Any) -> None:
        """Show the agent a reward."""
        agent.observe(0, reward, np.ones(N_FEATURES))

    def play_interpreted(self, n_rounds: int) -> FloatArray:
        """Play as plain Python, and see that features are left as they are."""
        state, rng, contexts = self.state(n_rounds), stream(SEED, "agent"), stream(SEED, "contexts")
        rewards, features = self.rewards.copy(), np.zeros((N_ARMS, N_FEATURES))
        scores, regret = np.zeros(N_ARMS), np.zeros(n_rounds)
        for index in range(n_rounds):
            self.problem.offer(index + 1, contexts, features)
            means = [self.problem.mean(arm, features[arm]) for arm in range(N_ARMS)]
            scores[:] = math.nan
            before = features.copy()
            begin(self, state, index, rng)
            state.score(features, rng, scores)
            require(np.array_equal(before, features), self.policy.name, "score changed the features it was given")
            require_no_nan(self.policy.name, index, scores)
            arm = int(best_arm(scores, np.arange(N_ARMS), rng))
            state.update(arm, features[arm], self.problem.pull(arm, features[arm], Stream(rewards[arm])), rng)
            require(np.array_equal(before, features), self.policy.name, "update changed the features x it was given")
            regret[index] = max(means) - means[arm]
        return np.cumsum(regret)

    def choose(self, state: Any, index: int, rng: Stream) -> int:
        """Return the row that a state chooses."""
        scores = np.zeros(N_ARMS)
        state.score(self.rows(index), rng, scores)
        return int(best_arm(scores, np.arange(N_ARMS), rng))

    def learn(self, state: Any, index: int, arm: int, rng: Stream) -> None:
        """Let a state learn what a row pays in some round."""
        x = self.rows(index)[arm]
        state.update(arm, x, self.problem.pull(arm, x, stream(SEED, "paid", index)), rng)

    def rows(self, index: int) -> FloatArray:
        """Return what is offered in some round."""
        features = np.zeros((N_ARMS, N_FEATURES))
        self.problem.offer(1, stream(SEED, "contexts", index), features)
        return features

    def play_compiled(self, n_rounds: int) -> FloatArray:
        """Play in the loop that simulations use."""
        state, regret, rounds = self.state(n_rounds), np.zeros(n_rounds), np.arange(1, n_rounds + 1)
        play = play_features.prepared(compiled=self.policy.runs_compiled)
        rng, contexts, features = stream(SEED, "agent"), stream(SEED, "contexts"), np.zeros((N_ARMS, N_FEATURES))
        streams_and_room = rng, contexts, self.rewards.copy(), features
        told, notes = horizon_or_unknown(self.horizon), new_notes(n_rounds, N_ARMS)
        play(state, self.problem, *streams_and_room, rounds, told, False, regret, notes)
        return regret

    def play_agent(self, agent: Agent, n_rounds: int) -> FloatArray:
        """Play one decision at a time."""
        contexts, rewards, features = stream(SEED, "contexts"), self.rewards.copy(), np.zeros((N_ARMS, N_FEATURES))
        regret = np.zeros(n_rounds)
        for index in range(n_rounds):
            self.problem.offer(index + 1, contexts, features)
            means = [self.problem.mean(arm, features[arm]) for arm in range(N_ARMS)]
            decision = agent.ask(features)
            arm: Any = decision.arm
            agent.tell(decision, self.problem.pull(arm, features[arm], Stream(rewards[arm])))
            regret[index] = max(means) - means[arm]
        return np.cumsum(regret)


Game = ArmGame | FeatureGame


def begin(game: Any, state: Any, decided: int, rng: Stream, n_arms: int = N_ARMS) -> None:
    """Tell a state of the round after so many, if it is told, and let it prepare."""
    left = rounds_left(horizon_or_unknown(game.horizon), decided)
    tell_round(state, decided, left, np.zeros(n_arms, np.int64))
    prepare(state, rng)


def fair_reward(policy: AnyPolicy) -> float:
    """Return a reward that the policy is made for."""
    low, high = policy.reward_range
    return min(max(low, 0.5), high)


def some_rows(n_rows: int, seed: int) -> FloatArray:
    """Return random features `(n_rows, N_FEATURES)`."""
    rng = stream(SEED, "rows", seed)
    return np.array([[rng.standard_normal() for _ in range(N_FEATURES)] for _ in range(n_rows)])


def require_no_nan(name: str, n_rounds: int, scores: FloatArray) -> None:
    """Fail if a score is NaN, or was not filled in."""
    require(not np.isnan(scores).any(), name, f"after {n_rounds} rounds score left NaN in {scores}")
