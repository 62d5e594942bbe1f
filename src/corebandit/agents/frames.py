"""Rows of features that say themselves whose they are: mappings, and data frames, whose rows have names."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from corebandit.agents.options import Named, Unnamed, plain_option
from corebandit.contracts.errors import BadFeatures, BadInput
from corebandit.contracts.validate import shortened

ARM = "arm"  # the column of a frame without an index


def rows_and_arms(features: Any, arms: Iterable[Hashable] | None, options: Named | Unnamed) -> tuple[Any, Any]:
    """Return rows of features and the arms that they are of: those named by the rows themselves, if these have names.

    Rows of a frame are never taken by their place where arms have names: whoever means that says so.
    """
    if isinstance(features, Mapping):
        if arms is not None:
            raise BadInput("arms must not be given beside a mapping, whose keys name the arms")
        return list(features.values()), list(features)
    if isinstance(options, Unnamed):
        return features, arms
    if hasattr(features, "iloc") and hasattr(features, "to_numpy"):  # as pandas has it
        return features.to_numpy(), _checked(features.index.tolist(), "index", arms, options)
    if hasattr(features, "get_column") and hasattr(features, "to_numpy"):  # as polars has it
        if ARM not in features.columns:
            raise BadFeatures(
                f"a frame without an index must have a column {ARM!r} that names the arms; if its rows are in the "
                "order of agent.arms, say frame.to_numpy()"
            )
        names = features.get_column(ARM).to_list()
        return features.drop(ARM).to_numpy(), _checked(names, f"column {ARM!r}", arms, options)
    return features, arms


def _checked(names: list[Any], where: str, arms: Iterable[Hashable] | None, options: Named) -> list[Hashable]:
    """Return the arms that the rows of a frame are of."""
    named = [plain_option("arm", name) for name in names]
    if not all(map(options.knows, named)):
        raise BadFeatures(
            f"the {where} of a frame must name arms, such as {shortened(options.on_offer[:3])}, not "
            f"{shortened(named)}; if its rows are in the order of agent.arms, say frame.to_numpy()"
        )
    if arms is not None and (
        isinstance(arms, str) or set(listed := list(arms)) != set(named) or len(listed) != len(named)
    ):
        raise BadInput(f"arms must be those that the {where} of the frame names, {shortened(named)}, or left out")
    return named
