"""Fits of a model beside the decisions: the old model answers until the new one takes over."""

import threading
import warnings
from collections.abc import Callable
from typing import Any

from corebandit.agents.codec import array_from_json
from corebandit.agents.events import REFIT, REFIT_DONE, REFIT_FAILED
from corebandit.contracts.errors import demand
from corebandit.contracts.validate import check_count
from corebandit.policies.models.fits import Fit

Journal = Callable[[list[Any]], None] | None


class Refits:
    """At most one fit at a time, in a thread of its own. It has no lock: an agent calls it under its own.

    What is drawn for a fit is drawn when it begins, and the model is another one from when it takes over. Both are
    events, so that whoever does them again fits the same model at the same place.
    """

    def __init__(self, desk: Any) -> None:
        self._desk = desk
        self.pending: Fit | None = None
        self._thread: threading.Thread | None = None  # None, with a fit pending: it must be started
        self._model: Any = None  # what came of it, or the error
        self._failed_at: int | None = None  # how many observations there were, if the last one failed

    def step(self, journal: Journal) -> None:
        """Take over a model that is ready, begin a fit that is due; called after every decision."""
        if self._thread is not None and not self._thread.is_alive():
            self._end(journal)
        elif self.pending is None and not self._is_waiting() and self.begin() and journal is not None:
            journal([REFIT])
        if self.pending is not None and self._thread is None:
            self.start()

    def _is_waiting(self) -> bool:
        """Tell whether a fit has failed and too little is new to try again."""
        if self._failed_at is None:
            return False
        return bool(self._desk.n_observations - self._failed_at < self._desk.state.rounds_between())

    def begin(self) -> bool:
        """Draw what a fit needs, if one is due, and tell whether it was."""
        desk = self._desk
        self.pending = None if desk.state is None else desk.state.begin_fit(desk.rng)
        return self.pending is not None

    def start(self) -> None:
        """Fit beside the decisions what is pending; if that is under way, anew."""
        fit, fitted = self.pending, self._desk.state.fitted
        rows = None if fit is None else self._desk.state.rows[: fit.targets.size].copy()

        def work() -> None:
            try:
                found = fitted(fit, rows)
            except Exception as error:
                found = error
            if threading.current_thread() is self._thread:
                self._model = found

        if fit is not None:
            self._thread = threading.Thread(target=work, daemon=True)
            self._thread.start()

    def _end(self, journal: Journal) -> None:
        model, self._model, self._thread = self._model, None, None
        if isinstance(model, Exception):
            self.fail()
            sentence = f"the model stays as it was, since it could not be fitted again: {model}"
            warnings.warn(sentence, stacklevel=4 if journal is None else 5)  # whoever asked; durable agents ask inside
        else:
            self.take_over(model)
        if journal is not None:
            journal([REFIT_FAILED if isinstance(model, Exception) else REFIT_DONE])

    def take_over(self, model: Any = None) -> None:
        """Let the new model answer; whoever has none fits it now."""
        state, fit = self._desk.state, self.pending
        demand(fit is not None, "a model takes over whose fit never began")
        assert fit is not None
        state.end_fit(fit, state.fitted(fit, state.rows[: fit.targets.size].copy()) if model is None else model)
        self.pending = self._failed_at = None

    def fail(self) -> None:
        """Keep the model as it is, and note when its fit failed: the next one waits for as much news as ever."""
        self.pending, self._failed_at = None, self._desk.n_observations

    def leave_thread(self) -> None:
        """Have no thread, as in a process that was forked; what is pending is begun anew."""
        self._thread = self._model = None

    def wait(self) -> None:
        """Wait for the fit that is under way."""
        if self._thread is not None:
            self._thread.join()

    # Saving -------------------------------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Return a copy of what is pending or has failed, and how many columns the model knows if not all."""
        content: dict[str, Any] = {} if self._failed_at is None else {"refit_failed_at": self._failed_at}
        if (fit := self.pending) is not None:
            content["refit"] = {"targets": fit.targets, "seed": fit.seed, "n_columns": fit.n_columns}
        n_columns = None if self._desk.state is None else self._desk.state.model.n_columns
        return content if n_columns in (None, self._desk.n_features) else {**content, "model_columns": n_columns}

    def restore(self, content: dict[str, Any]) -> None:
        """Have pending what was saved."""
        desk = self._desk
        if "refit_failed_at" in content:
            self._failed_at = check_count("refit_failed_at", content["refit_failed_at"], at_least=0)
            demand(self._failed_at <= desk.n_observations, "refit_failed_at must not be after all that was learnt")
        if (saved := content.get("refit")) is not None:
            targets = array_from_json(saved["targets"])
            demand(targets.ndim == 1 and targets.size <= desk.n_observations, "refit must be of what was learnt")
            self.pending = Fit(
                targets, check_count("seed", saved["seed"], at_least=0), self._columns(saved, "n_columns")
            )
        if "model_columns" in content:
            desk.state.model.n_columns = self._columns(content, "model_columns")

    def _columns(self, saved: dict[str, Any], name: str) -> int:
        n_columns = check_count(name, saved[name])
        demand(n_columns <= (self._desk.n_features or 0), f"{name} must not be more than there are")
        return n_columns
