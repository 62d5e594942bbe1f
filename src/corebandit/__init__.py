"""Bandit exploration without tuning: CORe, its rivals, and experiments whose numbers can be trusted.

The public names are listed in `__init__.pyi` and imported when first used, so that `import corebandit` stays cheap.
"""

from corebandit.contracts.public_names import HOMES, importing

__version__ = "0.5.0.dev0"
__all__ = ["__version__", *HOMES]

_find = importing(__name__, HOMES)


def __getattr__(name: str) -> object:
    value = _find(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
