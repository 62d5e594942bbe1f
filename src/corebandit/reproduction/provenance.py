"""The table of rivals as published: what `sources.py` says, beside what runs here, read off the experiments themselves.

So it cannot go stale; a test asks for a row for every parameter of every policy. `docs/rivals.md` and every report of
the paper's figures show it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from corebandit.report.provenance import Provenance
from corebandit.reproduction.sources import SOURCES, Source

Told = dict[tuple[str, str, str], dict[str, list[Any]]]  # by figure, label and parameter; then by place: values
MOST_VALUES = 3  # of more the lowest and the highest are named


def provenance_of(experiments: Sequence[Mapping[str, Any]]) -> list[Provenance]:
    """Return the rows about the policies of experiments, given as `Experiment.describe` has them."""
    told = parameters_told(experiments)
    rows = []
    for figure in dict.fromkeys(figure for figure, _, _ in told):
        for source in SOURCES:
            if figure in source.figures and any((figure, label, "") in told for label in source.labels):
                shown = ", ".join(map(_short, source.parameters))
                here = _here(source, figure, told)
                rows.append(Provenance(figure, source.policy, shown, source.paper, source.code, here, source.why))
    return rows


def parameters_told(experiments: Sequence[Mapping[str, Any]]) -> Told:
    """Return every value of every parameter that policies of figures run with; of parameter "", which policy it is.

    A part of a figure, such as a heat map, counts as one place; a policy inside another has its parameters after a dot.
    """
    told: Told = {}
    for experiment in experiments:
        figure, part = experiment["name"], experiment.get("part")
        place = f"in the {part}" if part else experiment["title"].partition(":")[0]
        for label, policy in experiment["policies"].items():
            point = experiment.get("points", {}).get(label)
            name = point["series"] if point else label
            for parameter, value in {"": policy["name"], **_flat(policy)}.items():
                values = told.setdefault((figure, name, parameter), {}).setdefault(place, [])
                if value not in values:
                    values.append(value)
    return told


def _flat(policy: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for parameter, value in policy.items():
        if isinstance(value, Mapping):
            found |= {f"{parameter}.{name}": each for name, each in _flat(value).items()}
        elif parameter != "name":
            found[parameter] = value
    return found


def _here(source: Source, figure: str, told: Told) -> str:
    """Return what runs, by label where labels differ."""
    labels: dict[str, list[str]] = {}
    for label in source.labels:
        if text := _of_label(source, figure, label, told):
            labels.setdefault(text, []).append(label)
    if len(labels) == 1:
        return next(iter(labels))
    return "; ".join(f"{', '.join(those)}: {text}" for text, those in labels.items())


def _of_label(source: Source, figure: str, label: str, told: Told) -> str:
    """Return the values of a label, and where, if they are not the same on all problems."""
    if source.searched and label == source.labels[0]:
        (parameter,) = source.parameters
        (searched,) = told[figure, source.searched, parameter].values()
        return f"best of {_spelled(searched)}, searched"
    values: list[str] = []
    seen: dict[str, None] = {}
    for parameter in source.parameters or [""]:
        if places := told.get((figure, label, parameter), {}):
            seen |= dict.fromkeys(places)
            value = _by_place(places)
            values.append(value if len(source.parameters) < 2 else f"{_short(parameter)} = {value}")
    text = ", ".join(values)
    return f"{text} ({', '.join(seen)})" if seen and _problems(figure, told) - seen.keys() else text


def _by_place(places: Mapping[str, Sequence[Any]]) -> str:
    """Return the one value that a parameter has, or each with its places."""
    found: dict[str, list[str]] = {}
    for place, values in places.items():
        found.setdefault(_spelled(values), []).append(place)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{text} ({', '.join(those)})" for text, those in found.items())


def _problems(figure: str, told: Told) -> set[str]:
    """Return the places of a figure that are no parts of their own."""
    found = {place for (other, _, _), places in told.items() if other == figure for place in places}
    return {place for place in found if not place.startswith("in the ")}


def _short(parameter: str) -> str:
    """Return a parameter's name without that of the policy around it."""
    return parameter.rpartition(".")[2]


def _spelled(values: Sequence[Any]) -> str:
    if len(values) > MOST_VALUES:
        return f"{min(values):g} to {max(values):g}"
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
