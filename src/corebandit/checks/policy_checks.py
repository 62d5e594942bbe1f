"""What every policy must keep to, whether it chooses among arms, or by features, or ranks."""

import copy
import inspect
import math
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from corebandit.checks.feature_checks import FEATURE_CHECKS
from corebandit.checks.game_checks import N_ARMS, N_ROUNDS, ArmGame, FeatureGame, Game, begin, fair_reward
from corebandit.checks.ranking_checks import RANKING_CHECKS, RankingGame
from corebandit.checks.sentences import SEED, CheckFailed, as_failed, require, require_declared, require_json
from corebandit.compiled.bridge import machine_type
from corebandit.contracts.recipe import AnyPolicy, FeaturePolicy, Policy, RankingPolicy
from corebandit.contracts.state import arrays_of, containers_in, learnt_in
from corebandit.games.blame import is_foreign
from corebandit.parts.choose import best_arm
from corebandit.randomness.stream import Stream, stream

N_INTERPRETED = 120
OPTIONAL = {"begin_round": ["decided", "left", "pending"], "prepare": ["rng"]}
CHANCE = "all chance must come from the stream rng, as in rng.random(), and none from np.random, random or the clock"

AnyGame = ArmGame | FeatureGame | RankingGame
P = TypeVar("P", bound=AnyPolicy)


def check_policy(policy: AnyPolicy, horizon: int | None = N_ROUNDS) -> None:
    """Check that a policy keeps the contract; raise `CheckFailed` with a sentence if it does not.

    >>> from corebandit.policies import CORe
    >>> check_policy(CORe())
    """
    if isinstance(policy, RankingPolicy):
        check_ranking_policy(policy, horizon)
        return
    if not isinstance(policy, Policy | FeaturePolicy):
        raise CheckFailed(f"{policy!r}: a policy must be a frozen dataclass that derives from Policy or FeaturePolicy")
    with as_failed(policy):
        check_recipe(policy)
        for each in in_turn(policy):
            _check_choosing(each, horizon)


def _check_choosing(policy: Policy | FeaturePolicy, horizon: int | None) -> None:
    games: list[Game]
    if isinstance(policy, FeaturePolicy):
        games = [FeatureGame(policy, horizon, is_contextual) for is_contextual in (True, False)]
    else:
        games = [ArmGame(policy, horizon)]
    game = games[0]
    for each in games:
        for check in CHECKS:
            check(each)
    if isinstance(game, FeatureGame):
        for check_features in FEATURE_CHECKS:
            check_features(game)
    else:
        check_arms_are_alike(game)
    check_added_arm(game)
    check_refusals(game)


def check_ranking_policy(policy: RankingPolicy, horizon: int | None = N_ROUNDS) -> None:
    """Check that a ranking policy keeps the contract; raise `CheckFailed` with a sentence if it does not.

    >>> from corebandit.ranking.policies import TopRank
    >>> check_ranking_policy(TopRank())
    """
    if not isinstance(policy, RankingPolicy):
        raise CheckFailed(f"{policy!r}: a ranking policy must be a frozen dataclass that derives from RankingPolicy")
    with as_failed(policy):
        check_recipe(policy)
        for each in in_turn(policy):
            game = RankingGame(each, horizon)
            for check in (*CHECKS, *RANKING_CHECKS):
                check(game)


def in_turn(policy: P) -> Iterator[P]:
    """Yield what is to be checked: others' code in plain Python first, which says where it writes past an array's end.

    Compiled code does not.
    """
    if policy.runs_compiled and is_foreign(policy):
        in_python = copy.copy(policy)
        object.__setattr__(in_python, "runs_compiled", False)
        yield in_python
    yield policy


def check_recipe(policy: AnyPolicy) -> None:
    """Check that the policy can be rebuilt from its description, and so can a policy that is one of its parameters.

    One that says it cannot be rebuilt must still be told from others by its description.
    """
    require_declared(policy)
    again = require_json(policy, policy.name, "parameters")
    if not policy.can_be_rebuilt:
        require(policy.is_described_by(again), policy.name, f"its description {again} does not fit it")
        require(policy.changed() == policy, policy.name, "a copy of it is another")
        return
    parameters = {key: value for key, value in again.items() if key != "name"}
    for key in parameters:
        if isinstance(inner := getattr(policy, key), AnyPolicy):
            check_recipe(inner)
            parameters[key] = inner
    try:
        rebuilt = type(policy)(**parameters)
    except TypeError as error:
        raise CheckFailed(f"{policy.name}: it cannot be made again from its description {again}: {error}") from error
    require(rebuilt == policy, policy.name, f"rebuilt from its description {again} it is another: {rebuilt}")


def check_state(game: AnyGame) -> None:
    """Check that a state is a named tuple, all its own, with the two methods."""
    name, state, other = game.policy.name, game.state(N_ROUNDS), game.state(N_ROUNDS)
    require(isinstance(state, tuple) and hasattr(state, "_fields"), name, "start must return a NamedTuple")
    for method, arguments in game.METHODS.items():
        function = getattr(type(state), method, None)
        require(callable(function), name, f"its state has no method {method}({', '.join(arguments)})")
        found = list(inspect.signature(function).parameters)[1:] if function else []
        wanted = f"{method} must take ({', '.join(arguments)}), not ({', '.join(found)})"
        require(len(found) == len(arguments), name, wanted)
    for method, arguments in OPTIONAL.items():
        if (function := getattr(type(state), method, None)) is not None:
            found = list(inspect.signature(function).parameters)[1:]
            wanted = f"{method} must take ({', '.join(arguments)}), not ({', '.join(found)})"
            require(len(found) == len(arguments), name, wanted)
    shared = any(np.shares_memory(a, b) for a in arrays_of(state) for b in arrays_of(other))
    require(not shared, name, "two states share an array; start must make new ones")
    contiguous = all(array.flags.c_contiguous for array in arrays_of(state))
    require(contiguous, name, "an array of its state is a view with gaps, or of another order; make it with np.zeros")
    if not game.policy.runs_compiled:
        return
    kinds = "a state must have fields of the same types at all sizes: float(...) keeps a number from being an int"
    require(machine_type(game.smallest_state()) == machine_type(state), name, kinds)


def check_interpreted(game: AnyGame) -> None:
    """Check that plain Python and compiled code choose the same."""
    same = np.allclose(game.play_interpreted(N_INTERPRETED), game.play_compiled(N_INTERPRETED), atol=1e-9)
    require(same, game.policy.name, f"compiled and as plain Python it chooses differently: {CHANCE}")


def check_scores(game: AnyGame) -> None:
    """Check that scores change nothing that is learnt: a history learnt without them ends in the same state."""
    name, what = game.policy.name, "rank" if isinstance(game, RankingGame) else "score"
    asked, told = game.state(N_INTERPRETED), game.state(N_INTERPRETED)
    choosing, learning, again = stream(SEED, "choosing"), stream(SEED, "learning"), stream(SEED, "learning")
    for index in range(N_INTERPRETED):
        begin(game, asked, index, learning)
        asks = 2 if index % 8 == 0 else 1  # now and then twice
        chosen: Any = [game.choose(asked, index, choosing) for _ in range(asks)][-1]
        begin(game, told, index, again)
        for (field, ours), (_, theirs) in zip(learnt_in(asked), learnt_in(told), strict=True):
            sentence = (
                f"in round {index + 1} {what} changed {field} of its state: what is learnt changes in "
                f"{list(game.METHODS)[1]}, or in prepare(rng), called before each decision; room to work in is "
                "declared as such, field: Scratch, from corebandit.contracts.state"
            )
            require(np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"), name, sentence)
        game.learn(asked, index, chosen, learning)
        game.learn(told, index, chosen, again)
    further: list[Any] = [
        [game.choose(state, index, rng) for index in range(N_INTERPRETED)]
        for state, rng in ((asked, stream(SEED, "further")), (told, stream(SEED, "further")))
    ]
    sentence = f"what it chooses depends on how often {what} was called, on something that its state does not hold"
    require(np.array_equal(further[0], further[1]), name, sentence)


def check_compiled(game: AnyGame) -> None:
    """Check that the same seed gives the same choices."""
    same = np.array_equal(game.play_compiled(N_ROUNDS), game.play_compiled(N_ROUNDS))
    require(same, game.policy.name, f"with the same seed it chooses differently: {CHANCE}")


def check_agent(game: AnyGame) -> None:
    """Check that one decision at a time, with buffers that grow, gives the choices of a simulation."""
    agent: Any = game.agent()
    same = np.allclose(game.play_agent(agent, N_ROUNDS), game.play_compiled(N_ROUNDS), atol=1e-9)
    require(same, game.policy.name, f"one decision at a time it chooses otherwise than in a simulation{_hint(game)}")


def check_saving(game: AnyGame) -> None:
    """Check that an agent saved in the middle, with decisions waiting, continues bit for bit."""
    agent: Any = game.agent()
    game.play_agent(agent, N_ROUNDS // 2)
    waiting = [game.ask(agent, seed) for seed in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.json"
        agent.save(path)
        twin = game.load(path)
    kept, loaded = (_continued(game, each, waiting) for each in (agent, twin))
    require(
        np.array_equal(kept, loaded), game.policy.name, f"saved and loaded again it chooses differently{_hint(game)}"
    )


def _hint(game: AnyGame) -> str:
    """Say what may be the cause of forgetting, if that can be seen."""
    named = ", ".join(containers_in(game.smallest_state()))
    return f": agents copy, grow and save arrays alone, and in its state is {named}" if named else ""


def _continued(game: Any, agent: Any, waiting: list[Any]) -> Any:
    for decision in waiting:
        game.answer(agent, decision)
    return game.play_agent(agent, N_ROUNDS // 2)


CHECKS = (check_state, check_interpreted, check_scores, check_compiled, check_agent, check_saving)


def check_arms_are_alike(game: ArmGame) -> None:
    """Check that an arm's index does not matter: shuffle the arms, and the choices are shuffled with them."""
    order = np.array([2, 0, 3, 1])
    n_draws = 1000
    frequencies = []
    for names in (np.arange(N_ARMS), order):
        state, paying = game.state(N_ROUNDS), game.rewards.copy()
        learning, rng = stream(SEED, "learning"), stream(SEED, "choosing", str(names))
        for index in range(N_ROUNDS // 2):
            arm = index % N_ARMS if index < 8 * N_ARMS else index % 2
            state.update(int(names[arm]), game.problem.pull(arm, Stream(paying[arm])), learning)
        counts = np.zeros(N_ARMS)
        scores = np.zeros(N_ARMS)
        begin(game, state, N_ROUNDS // 2, rng)
        for _ in range(n_draws):
            state.score(rng, scores)
            counts[best_arm(scores, np.arange(N_ARMS), rng)] += 1
        frequencies.append(counts[names] / n_draws)
    gap = float(np.abs(frequencies[0] - frequencies[1]).max())
    sentence = f"its choices depend on the order of the arms: frequencies differ by {gap:.2f}"
    require(gap < 0.15, game.policy.name, sentence)


def check_added_arm(game: Game) -> None:
    """Check that an arm added later is tried, and that nothing learnt is lost."""
    name, agent = game.policy.name, game.agent()
    game.play_agent(agent, 100)
    before = [array.copy() for array in arrays_of(agent._desk.state)]
    agent.add_arm("late")
    for old, new in zip(before, arrays_of(agent._desk.state), strict=True):
        kept = new[tuple(slice(length) for length in old.shape)]
        require(np.array_equal(kept, old), name, "adding an arm changed what was learnt")
    tried = False
    for seed in range(N_ROUNDS):
        decision = game.ask(agent, seed)
        tried = tried or decision.arm == "late"
        agent.tell(decision, fair_reward(game.policy))
    cure = "let score give an arm that was never tried the score np.inf, as new arms have zeros in every array"
    require(tried, name, f"an arm added later was not tried once in {N_ROUNDS} rounds: {cure}")


def check_refusals(game: Game) -> None:
    """Check that bad rewards are refused and leave no trace."""
    name, agent = game.policy.name, game.agent()
    low, high = game.policy.reward_range
    bad: list[Any] = [math.nan, math.inf, "1.0", None]
    bad += [bound + step for bound, step in ((low, -1.0), (high, 1.0)) if math.isfinite(bound)]
    decision = game.ask(agent, 0)
    before = [array.copy() for array in arrays_of(agent._desk.state)]
    for reward in bad:
        for learn in (partial(agent.tell, decision), partial(game.observe, agent)):
            try:
                learn(reward)
            except ValueError:
                unchanged = all(map(np.array_equal, before, arrays_of(agent._desk.state)))
                require(unchanged, name, f"the refused reward {reward!r} changed its state")
            else:
                raise CheckFailed(f"{name}: the reward {reward!r} was accepted")
