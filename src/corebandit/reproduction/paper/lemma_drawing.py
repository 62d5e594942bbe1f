"""The room that the lemmas have on LinCORe's own histories, drawn: how often they would fail, were more asked."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from corebandit.experiments.result import Result
from corebandit.report.against_bounds import shares
from corebandit.report.report import Drawing
from corebandit.reproduction import own_histories as own
from corebandit.reproduction.paper.growth import NAME
from corebandit.reproduction.paper.lemmas import COINS, OWN_HORIZONS, PRACTICE, THEOREM, lincore, seen_of
from corebandit.reproduction.watched import EDGES

HORIZON = min(OWN_HORIZONS)  # every size has it
ROOMS = {  # the panel, and the failures allowed in n runs
    "variance": ("Lemma 1: the pool's variance", 1.0),
    "size": ("Lemma 2: the largest value", 2.0),
    "distance": ("Least squares: the distance", 1.0),
}
CAPTION = f"""\
What the lemmas bound, on LinCORe's own histories (linear bandits, d = {own.PROBLEM.n_features}, K = \
{own.PROBLEM.n_arms}, n = {HORIZON:,}), all axes logarithmic. First three: the share of runs in which a bound fails if \
it is made tighter by a factor; at 1 it is the lemma's own. Last two: the share of fresh draws of the noise that move \
an arm by c or more, in units of a |x|, which shall stay below the dashed line, and that lift the best arm by more \
than c, in units of c1 |x|, which for the theorem's alpha shall stay above it. Shares of zero are not drawn."""


def drawings(result: Result) -> list[Drawing]:
    """Return one picture, or none if nothing was watched."""
    rows = [*_rooms(result), *_concentration(result), *_optimism(result)]
    return [Drawing(NAME, "Room of the lemmas", CAPTION, shares(pl.DataFrame(rows)))] if rows else []


def _rooms(result: Result) -> Iterator[dict[str, Any]]:
    for bound, (title, allowed) in ROOMS.items():
        panel = {"title": title, "x_name": "tighter by a factor", "y_name": "share of runs"}
        for horizon, series, curve in seen_of(result, PRACTICE):
            if horizon == HORIZON:
                rooms = own.rooms(curve, bound)
                for x in np.geomspace(1.0, 5.0, 60).tolist():
                    share = float((rooms < x).mean())
                    yield {**panel, "series": series, "x": x, "share": share, "bound": allowed / horizon}


def _concentration(result: Result) -> Iterator[dict[str, Any]]:
    panel = {"title": "Noise concentrates", "x_name": "c / a", "y_name": "share of draws"}
    for name, kind in ((PRACTICE, ""), (COINS, ", 0/1 rewards")):
        for horizon, series, curve in seen_of(result, name):
            if horizon == HORIZON:
                for place, count in enumerate(own.counts(curve, "spread")):
                    point = {"x": float(EDGES[place]), "share": count / own.n_draws(curve)}
                    yield {**panel, "series": f"{series}{kind}", **point, "bound": own.spread_bound(place)}


def _optimism(result: Result) -> Iterator[dict[str, Any]]:
    panel = {"title": "Noise is optimistic", "x_name": "c / c1", "y_name": "share of draws"}
    policy = own.with_theorem_alpha(lincore(4.0, HORIZON), HORIZON)
    for horizon, series, curve in seen_of(result, THEOREM):
        if horizon == HORIZON:
            for x, count in zip(EDGES.tolist(), own.counts(curve, "lift"), strict=True):
                point = {"x": x, "share": count / own.n_draws(curve)}
                bound = own.promised_optimism(policy, HORIZON, x)
                yield {**panel, "series": series, **point, "bound": bound}
