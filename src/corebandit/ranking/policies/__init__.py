"""The ranking policies, one file each. A new one is a new file and a line here; the rest asks `ranking_policies`."""

from corebandit.ranking.policies.adapter import Ranked
from corebandit.ranking.policies.batchrank import BatchRank
from corebandit.ranking.policies.cascade_klucb import CascadeKLUCB
from corebandit.ranking.policies.cascade_ucb1 import CascadeUCB1
from corebandit.ranking.policies.pbm_ucb import PBMUCB
from corebandit.ranking.policies.ranked_bandits import RankedBandits
from corebandit.ranking.policies.toprank import TopRank
from corebandit.recipe import RankingPolicy

__all__ = ["Ranked"]
__all__ += ["CascadeKLUCB", "CascadeUCB1"]
__all__ += ["TopRank"]
__all__ += ["BatchRank"]
__all__ += ["RankedBandits"]
__all__ += ["PBMUCB"]
__all__ += ["ranking_policies"]


def ranking_policies() -> dict[str, type[RankingPolicy]]:
    """Return every ranking policy of the library by its name.

    >>> list(ranking_policies())[:3]
    ['Ranked', 'CascadeKLUCB', 'CascadeUCB1']
    """
    public = (globals()[name] for name in __all__)
    return {recipe.name: recipe for recipe in public if isinstance(recipe, type) and issubclass(recipe, RankingPolicy)}
