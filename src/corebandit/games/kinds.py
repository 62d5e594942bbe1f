"""The kinds of games there are. A new one is a file, and a line here."""

from typing import Any

from corebandit.games.arm_game import ArmGame
from corebandit.games.feature_game import FeatureGame
from corebandit.games.game import Game
from corebandit.games.ranking_game import RankingGame

ARMS, FEATURES, RANKINGS = ArmGame(), FeatureGame(), RankingGame()
GAMES: tuple[Game, ...] = (RANKINGS, FEATURES, ARMS)  # the last suits whatever has arms


def game_of(instance: Any) -> Game:
    """Return the game that an instance of a problem is played as."""
    return next((game for game in GAMES if game.suits(instance)), ARMS)
