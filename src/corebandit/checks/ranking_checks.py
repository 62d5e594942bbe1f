"""A ranking policy at play, and what it must keep to besides: rankings are complete, and items are alike."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from corebandit.agents.ranking_agent import Ranking, RankingAgent
from corebandit.checks.game_checks import N_ROUNDS, begin
from corebandit.checks.sentences import SEED, CheckFailed, require
from corebandit.clicks.models import PBM
from corebandit.contracts.recipe import RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray, arrays_of
from corebandit.games.notes import new_notes
from corebandit.games.ranking_game import play_rankings
from corebandit.parts.rounds import horizon_or_unknown
from corebandit.randomness.stream import Stream, stream
from corebandit.ranking.users import users_of

MODEL = PBM((0.7, 0.1, 0.4, 0.2, 0.5), examination=(1.0, 0.7, 0.5))
N_ITEMS, N_POSITIONS = 5, 3


class RankingGame:
    """A policy that ranks items for users who may click several."""

    METHODS: ClassVar = {"rank": ["rng", "ranking"], "learn": ["ranking", "clicks", "rng"]}

    def __init__(self, policy: RankingPolicy, horizon: int | None) -> None:
        self.policy, self.horizon = policy, horizon
        self.problem = users_of(MODEL, N_POSITIONS, stream(SEED, "problem"))

    def state(self, capacity: int) -> Any:
        """Return a state that has seen nothing, with room for so many rounds."""
        return self.policy.start(N_ITEMS, N_POSITIONS, self.horizon, capacity * N_POSITIONS)

    def smallest_state(self) -> Any:
        """Return the smallest state there is."""
        return self.policy.start(N_POSITIONS, N_POSITIONS, self.horizon, N_POSITIONS)

    def agent(self) -> RankingAgent:
        """Return an agent that has seen nothing."""
        return RankingAgent(self.policy, range(N_ITEMS), N_POSITIONS, seed=SEED, horizon=self.horizon)

    def ask(self, agent: RankingAgent, seed: int) -> Ranking:
        """Let the agent rank."""
        return agent.ask()

    def answer(self, agent: RankingAgent, ranking: Ranking) -> None:
        """Tell the agent a click."""
        agent.tell(ranking, [ranking.items[1]])

    def load(self, path: Path) -> RankingAgent:
        """Return the agent that was saved."""
        return RankingAgent.load(path, self.policy)

    def play_interpreted(self, n_rounds: int) -> FloatArray:
        """Play as plain Python, and see that rankings are complete and left as they are."""
        state, rng, users = self.state(n_rounds), stream(SEED, "agent"), stream(SEED, "users")
        regret = np.zeros(n_rounds)
        for index in range(n_rounds):
            ranking, chance = np.full(N_POSITIONS, -1), self.new_user(users)
            begin(self, state, index, rng, N_ITEMS)
            state.rank(rng, ranking)
            require_ranking(self.policy.name, index, ranking)
            clicks = self.clicks_on(ranking, chance)
            shown, clicked = ranking.copy(), clicks.copy()
            state.learn(ranking, clicks, rng)
            unchanged = np.array_equal(shown, ranking) and np.array_equal(clicked, clicks)
            require(unchanged, self.policy.name, "learn changed the ranking or the clicks it was given")
            regret[index] = self.problem.best_value() - self.problem.value(ranking)
        return np.cumsum(regret)

    def choose(self, state: Any, index: int, rng: Stream) -> IntArray:
        """Return what a state ranks."""
        ranking = np.full(N_POSITIONS, -1)
        state.rank(rng, ranking)
        return ranking

    def learn(self, state: Any, index: int, ranking: IntArray, rng: Stream) -> None:
        """Let a state learn which items some user clicks."""
        state.learn(ranking, self.clicks_on(ranking, self.new_user(stream(SEED, "users", index))), rng)

    def play_compiled(self, n_rounds: int) -> FloatArray:
        """Play in the loop that simulations use."""
        state, regret, rounds = self.state(n_rounds), np.zeros(n_rounds), np.arange(1, n_rounds + 1)
        play = play_rankings.prepared(compiled=self.policy.runs_compiled)
        rng, users, chance = stream(SEED, "agent"), stream(SEED, "users"), np.zeros((2, N_ITEMS))
        ranking, notes = np.zeros(N_POSITIONS, np.int64), new_notes(n_rounds, N_ITEMS, n_positions=N_POSITIONS)
        told = horizon_or_unknown(self.horizon)
        play(state, self.problem, rng, users, chance, ranking, rounds, told, False, regret, notes)
        return regret

    def play_agent(self, agent: RankingAgent, n_rounds: int) -> FloatArray:
        """Play one ranking at a time."""
        users, regret = stream(SEED, "users"), np.zeros(n_rounds)
        for index in range(n_rounds):
            chance = self.new_user(users)
            ranking = agent.ask()
            shown = np.array(ranking.items, np.int64)
            clicks = self.clicks_on(shown, chance)
            agent.tell(ranking, [int(item) for item in shown[clicks == 1]])
            regret[index] = self.problem.best_value() - self.problem.value(shown)
        return np.cumsum(regret)

    def new_user(self, users: Stream) -> FloatArray:
        """Return what decides the next user's clicks."""
        chance = np.zeros((2, N_ITEMS))
        self.problem.draw_user(users, chance)
        return chance

    def clicks_on(self, ranking: IntArray, chance: FloatArray) -> IntArray:
        """Return the user's clicks."""
        clicks = np.zeros(N_POSITIONS, np.int64)
        self.problem.click(ranking, chance, clicks)
        return clicks


def require_ranking(name: str, n_rounds: int, ranking: IntArray) -> None:
    """Fail unless the ranking holds different items that there are."""
    is_complete = ranking.min() >= 0 and ranking.max() < N_ITEMS and np.unique(ranking).size == ranking.size
    sentence = f"after {n_rounds} rounds rank gave {ranking.tolist()}, not {ranking.size} different items of {N_ITEMS}"
    require(is_complete, name, sentence)


def check_items_are_alike(game: RankingGame) -> None:
    """Check that an item's index does not matter: shuffle the items, and the rankings are shuffled with them."""
    orders = np.arange(N_ITEMS), np.array([2, 0, 3, 1, 4])
    n_draws = 1000
    frequencies = []
    for names in orders:
        state, shuffle, users = game.state(N_ROUNDS), stream(SEED, "shuffle"), stream(SEED, "users")
        learning, rng = stream(SEED, "learning"), stream(SEED, "ranking", str(names))
        for _ in range(N_ROUNDS // 2):
            ranking = np.argsort([shuffle.random() for _ in range(N_ITEMS)])[:N_POSITIONS]
            state.learn(names[ranking], game.clicks_on(ranking, game.new_user(users)), learning)
        counts, ranking = np.zeros((N_ITEMS, N_POSITIONS)), np.zeros(N_POSITIONS, np.int64)
        for _ in range(n_draws):
            begin(game, state, N_ROUNDS // 2, rng, N_ITEMS)
            state.rank(rng, ranking)
            counts[ranking, np.arange(N_POSITIONS)] += 1
        frequencies.append(counts[names] / n_draws)
    gap = float(np.abs(frequencies[0] - frequencies[1]).max())
    sentence = f"its rankings depend on the order of the items: frequencies differ by {gap:.2f}"
    require(gap < 0.15, game.policy.name, sentence)


def check_longer_rankings(game: RankingGame) -> None:
    """Check that all items can be ranked, for when some are off offer."""
    if not game.policy.items_may_change:
        return
    state, rng, users = game.state(100), stream(SEED, "agent"), stream(SEED, "users")
    for index in range(100):
        ranking = np.full(N_POSITIONS + index % (N_ITEMS - N_POSITIONS + 1), -1)
        begin(game, state, index, rng, N_ITEMS)
        state.rank(rng, ranking)
        require_ranking(game.policy.name, index, ranking)
        shown = ranking[:N_POSITIONS].copy()
        state.learn(shown, game.clicks_on(shown, game.new_user(users)), rng)


def check_changing_items(game: RankingGame) -> None:
    """Check that an item added later is shown, a retired one is not, and that nothing learnt is lost."""
    name, agent = game.policy.name, game.agent()
    if not game.policy.items_may_change:
        return
    game.play_agent(agent, 100)
    before = [array.copy() for array in arrays_of(agent._desk.state)]
    agent.add_item("late")
    for old, new in zip(before, arrays_of(agent._desk.state), strict=True):
        kept = new[tuple(slice(length) for length in old.shape)]
        require(np.array_equal(kept, old), name, "adding an item changed what was learnt")
    agent.retire_item(0)
    was_shown = False
    for _ in range(N_ROUNDS):
        ranking = agent.ask()
        require(0 not in ranking.items, name, "it showed an item that was retired")
        was_shown = was_shown or "late" in ranking.items
        game.answer(agent, ranking)
    require(was_shown, name, f"an item added later was not shown once in {N_ROUNDS} rounds")


def check_refused_clicks(game: RankingGame) -> None:
    """Check that bad clicks are refused and leave no trace."""
    agent = game.agent()
    ranking = agent.ask()
    before = [array.copy() for array in arrays_of(agent._desk.state)]
    hidden = next(item for item in agent.items if item not in ranking.items)
    bad_clicks: list[Any] = [[hidden], ["unknown"], "0", None, [ranking.items[0], hidden]]
    for bad in bad_clicks:
        try:
            agent.tell(ranking, bad)
        except ValueError:
            unchanged = all(map(np.array_equal, before, arrays_of(agent._desk.state)))
            require(unchanged, game.policy.name, f"the refused clicks {bad!r} changed its state")
        else:
            raise CheckFailed(f"{game.policy.name}: the clicks {bad!r} were accepted")


RANKING_CHECKS: tuple[Callable[[RankingGame], None], ...] = (
    check_items_are_alike,
    check_longer_rankings,
    check_changing_items,
    check_refused_clicks,
)
