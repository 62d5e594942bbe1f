"""Rows of features that say themselves whose they are: mappings, and data frames, whose rows have names."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from corebandit.agents.options import Named, Unnamed, plain_option, plain_options
from corebandit.contracts.errors import BadFeatures, BadInput
from corebandit.contracts.features import as_rows
from corebandit.contracts.validate import shortened

ARM = "arm"  # the column of a frame without an index
SCALARS = (Real, str, type(None))


def rows_and_arms(features: Any, arms: Iterable[Hashable] | None, options: Named | Unnamed) -> tuple[Any, Any]:
    """Return rows of features and the arms that they are of: those named by the rows themselves, if these have names.

    Rows of a frame are never taken by their place where arms have names: whoever means that says so.
    """
    if isinstance(features, Mapping):
        if arms is not None:
            raise BadInput("arms must not be given beside a mapping, whose keys name the arms")
        if features and all(isinstance(row, SCALARS) for row in features.values()):
            raise BadFeatures(
                f"features must map arms to their rows, and {shortened(features)} does not; if these are fields of a "
                "user, make the agent with context=Context(user=[...])"
            )
        return list(features.values()), list(features)
    if isinstance(options, Unnamed):
        return features, arms
    if _has_index(features):
        return features.to_numpy(), _checked(features.index.tolist(), "index", arms, options)
    if _has_columns(features):
        if ARM not in features.columns:
            raise BadFeatures(
                f"a frame without an index must have a column {ARM!r} that names the arms; if its rows are in the "
                "order of agent.arms, say frame.to_numpy()"
            )
        names = features.get_column(ARM).to_list()
        return features.drop(ARM).to_numpy(), _checked(names, f"column {ARM!r}", arms, options)
    return features, arms


def tables_and_arms(features: Any, arms: Any, options: Named | Unnamed) -> tuple[Any, list[Hashable] | None]:
    """Return tables of features and the arms that the rows of each are of, in one order for all.

    Tables that name their arms, as `rows_and_arms` has it, must all do so, and name the same ones.
    """
    given = None if arms is None else plain_options("arms", "arm", arms)
    if isinstance(features, str | np.ndarray) or not isinstance(features, Sequence):
        return features, given
    does_name = [isinstance(table, Mapping) or _has_index(table) or _has_columns(table) for table in features]
    if not any(does_name) or isinstance(options, Unnamed):
        return features, given
    if not all(does_name):
        raise BadFeatures(
            f"features must all name their arms, or none, but features[{does_name.index(False)}] does not"
        )
    tables, order = list[Any](), list[Hashable]()
    for place, table in enumerate(features):
        rows, names = rows_and_arms(table, given, options)
        named = plain_options("arms", "arm", names)
        order = order or named
        if sorted(map(options.index_of, named)) != sorted(map(options.index_of, order)):
            raise BadFeatures(
                f"features[{place}] must name the same arms as features[0], {shortened(order)}, not {shortened(named)}"
            )
        places = {arm: place for place, arm in enumerate(named)}
        tables.append(as_rows(rows)[[places[arm] for arm in order]])
    return tables, order


def _has_index(features: Any) -> bool:
    """Tell whether this is a frame as pandas has it."""
    return hasattr(features, "iloc") and hasattr(features, "to_numpy")


def _has_columns(features: Any) -> bool:
    """Tell whether this is a frame as polars has it."""
    return hasattr(features, "get_column") and hasattr(features, "to_numpy")


def _checked(names: list[Any], where: str, arms: Iterable[Hashable] | None, options: Named) -> list[Hashable]:
    """Return the arms that the rows of a frame are of."""
    named = [plain_option("arm", name) for name in names]
    if not all(map(options.knows, named)):
        raise BadFeatures(
            f"the {where} of a frame must name arms, such as {shortened(options.on_offer[:3])}, not "
            f"{shortened(named)}; if its rows are in the order of agent.arms, say frame.to_numpy()"
        )
    given = named if arms is None else plain_options("arms", "arm", arms)
    if set(given) != set(named) or len(given) != len(named):
        raise BadInput(f"arms must be those that the {where} of the frame names, {shortened(named)}, or left out")
    return named
