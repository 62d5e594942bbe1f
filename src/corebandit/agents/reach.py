"""How large features may be, by those that were seen."""

from corebandit.contracts.errors import BadFeatures

ENOUGH_SEEN = 100  # decisions, from which on it is known how large features are


def out_of_reach(where: str, value: float, before: str, reach: float) -> BadFeatures:
    """Return the error that says which feature is too large, and what to do."""
    return BadFeatures(
        f"{where} is {value!r}, where nothing beyond {before} was seen, and one row more than {reach:g} times as large "
        "would ruin what was learnt; mend it, take logarithms of what varies so much, or make the agent with another "
        "feature_limit"
    )
