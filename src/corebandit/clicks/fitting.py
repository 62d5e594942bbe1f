"""Fit click models to a log, judge them on another, and take from them the model of a query.

Every model is fitted by maximum likelihood, as if one success in two trials had been seen of every parameter before.
Estimates are those of PyClick (Markov, Chuklin and others), but for DCM and SDBN, which it only counts (here
`method="counts"`), and its known slips: the DBN posterior is that of the documents it is about, also in sessions
without a click (`models.dbn`), and EM keeps parameters 1e-6 away from 0 as well as from 1.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Step, Stopping
from corebandit.clicks.models import CLICK_MODELS, ClickModel
from corebandit.clicks.models.model import chosen
from corebandit.clicks.quality import Quality, evaluate
from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import IntArray
from corebandit.contracts.validate import check_choice, shortened, unknown

Progress = Callable[[str, int, Step], None]

METHODS = ("likelihood", "counts")
UNKNOWN = ("error", "prior")


@dataclass(frozen=True, eq=False)
class FittedModel:
    """One click model, fitted: parameters of all (query, document) pairs of a log, and those common to all."""

    model: type[ClickModel]
    user: Any  # the parameters as arrays, by name; its documents are the rows of `pairs`
    pairs: pl.DataFrame  # columns pair, query, document
    history: tuple[Step, ...]  # at the start and after each iteration; empty if it was counted
    converged: bool

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self.model.name

    def evaluate(self, log: ClickLog) -> Quality:
        """Return how well the model foretells the clicks of a log; pairs that it does not know have their prior."""
        _check_log(log)
        max_positions = [len(getattr(self.user, name)) for name, axes in self.model.shapes.items() if "rank" in axes]
        if any(n != log.n_positions for n in max_positions):
            raise BadInput(f"log must have {max_positions[0]} positions as the fitted one, not {log.n_positions}")
        user = self.user if log.pairs is self.pairs else chosen(self.model, self.user, self._rows_of(log.pairs))
        return evaluate(user, log)

    def per_query(self, query: Any, documents: Sequence[Any], *, unknown: str = "error") -> ClickModel:
        """Return the model of one query for some of its documents.

        What the log never showed is an error, or with `unknown="prior"` has the prior.
        """
        check_choice("unknown", unknown, UNKNOWN)
        if not len(documents):
            raise BadInput("documents must name at least one document, not none")
        wanted = pl.DataFrame({"query": [query] * len(documents), "document": list(documents)})
        rows = self._rows_of(wanted)
        if unknown == "error" and (rows < 0).any():
            document = documents[int(np.argmin(rows))]
            shown = f"the fitted log never showed document {shortened(document)} for query {shortened(query)}"
            raise BadInput(f'{shown}; unknown="prior" gives it the prior')
        return self.model.of_documents(self.user, rows)

    def _rows_of(self, wanted: pl.DataFrame) -> IntArray:
        """Return the row of each wanted (query, document) pair, -1 for unknown ones."""
        keys = ["query", "document"]
        for key in keys:
            given, fitted = wanted[key].dtype, self.pairs[key].dtype
            if given.is_numeric() != fitted.is_numeric():
                raise BadInput(f"{key} must be of type {fitted} as in the fitted log, not {given}")
        # Names of a narrower type, such as small integers or categories: what does not fit is unknown.
        wanted = wanted.select(pl.col(key).cast(self.pairs[key].dtype, strict=False) for key in keys)
        known = self.pairs.select(*keys, "pair")
        if wanted.height < known.height:
            known = known.join(wanted.unique(), on=keys, how="semi")
        rows = wanted.join(known, on=keys, how="left", maintain_order="left")
        return rows["pair"].fill_null(-1).to_numpy().astype(np.int64)


class Fitted(dict[str, FittedModel]):
    """Fitted click models by name."""

    def __missing__(self, name: str) -> FittedModel:
        """Say which models there are."""
        raise KeyError(f"{name} was not fitted, only {', '.join(self)}")

    def evaluate(self, log: ClickLog) -> pl.DataFrame:
        """Return a row for each model: how well it foretells the clicks of a log."""
        rows = []
        for name, model in self.items():
            quality = model.evaluate(log)
            rows.append((name, quality.log_likelihood, quality.perplexity, quality.conditional_perplexity))
        columns = ["model", "log_likelihood", "perplexity", "conditional_perplexity"]
        return pl.DataFrame(rows, schema=columns, orient="row")

    def per_query(self, query: Any, documents: Sequence[Any], *, unknown: str = "error") -> dict[str, ClickModel]:
        """Return the models of one query by name, for some of its documents."""
        return {name: model.per_query(query, documents, unknown=unknown) for name, model in self.items()}

    @property
    def history(self) -> pl.DataFrame:
        """Return a row for each iteration of each model: its log-likelihood, and that with the prior (penalised)."""
        rows = [(name, i, *step) for name, model in self.items() for i, step in enumerate(model.history)]
        schema = {"model": pl.String, "iteration": pl.Int64, "log_likelihood": pl.Float64, "penalised": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")


def fit(
    models: str | Iterable[str],
    log: ClickLog,
    *,
    method: str = "likelihood",
    iterations: int = Stopping.iterations,
    tolerance: float = Stopping.tolerance,
    progress: Progress | None = None,
) -> Fitted:
    """Fit click models to a log.

    CM counts in one pass. PBM and UBM read the log once and iterate on counts; DCM, DBN, SDBN and CCM read it in every
    iteration. A log larger than memory is no obstacle: only one batch is held at a time.

    Parameters
    ----------
    models
        Names: CM, DCM, PBM, UBM, DBN, SDBN, CCM.
    log
        The sessions to learn from.
    method
        "likelihood" maximises it, with the prior. "counts" is the quick form of CM, DCM and SDBN, as in PyClick: one
        pass that takes the last click for the place where the user stopped. CM is counted anyway; users of DCM and
        SDBN then seem to stop too often, however long the log.
    iterations
        At most so many iterations of EM.
    tolerance
        Stop when an iteration of EM would change no parameter by more than this.
    progress
        Called as `progress(name, iteration, step)` after each iteration.

    >>> log = ClickLog.from_arrays(["q"] * 3, [["a", "b"]] * 3, [[0, 1], [1, 0], [0, 0]])
    >>> fit("CM", log)["CM"].per_query("q", ["a", "b", "unseen"], unknown="prior").attraction
    (0.4, 0.5, 0.5)
    """
    names = [models] if isinstance(models, str) else list(models)
    for name in names:
        if name not in CLICK_MODELS:
            raise unknown("click model", name, CLICK_MODELS)
    check_choice("method", method, METHODS)
    if method == "counts":
        check_countable(names)
    _check_log(log)
    if log.n_sessions == 0:
        raise BadInput("log must hold at least one session, not none")
    fitted = Fitted()
    for name in names:
        told = {} if progress is None else {"progress": partial(progress, name)}
        stopping = Stopping(iterations, tolerance, **told)
        model = CLICK_MODELS[name]
        estimate = model.count(log) if method == "counts" else model.estimate(log, stopping)
        fitted[name] = FittedModel(model, estimate.user, log.pairs, estimate.history, estimate.converged)
    return fitted


def _check_log(log: Any) -> None:
    """Raise BadInput unless `log` is a log, not the path of one."""
    if not isinstance(log, ClickLog):
        raise BadInput(f"log must be a ClickLog, such as read_log(path) returns, not {shortened(log)}")


def check_countable(names: Iterable[str]) -> None:
    """Raise BadInput if a model cannot be estimated by counting."""
    countable = [name for name, model in CLICK_MODELS.items() if model.can_count()]
    for name in names:
        if name not in countable:
            raise BadInput(f"only {', '.join(countable)} can be fitted by counts, not {name}")
