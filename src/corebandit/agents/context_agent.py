"""An agent that is told of users and arms in numbers and words."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from corebandit.agents.contexts import Columns, Context, Key, keys_to_json
from corebandit.agents.decision import Arm
from corebandit.agents.events import COLUMNS
from corebandit.agents.live_agent import LiveAgent
from corebandit.agents.options import Named, plain_option
from corebandit.agents.propensities import Chances
from corebandit.contracts.errors import BadFeatures, BadInput
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import shortened

# The index of an option, its features, propensities, and whether it was held out.
Choice = tuple[int, FloatArray | None, Chances | None, bool | None]


class ContextAgent(LiveAgent[Arm, Choice]):
    """An agent that may have a context: what it is then given are dictionaries, which become rows of features."""

    _desk: Any  # an ArmDesk or a FeatureDesk
    _encoder: Columns | None = None
    _refits: Any = None  # fits beside the decisions, for those who want them

    @property
    def context(self) -> Context | None:
        """Return which fields describe users and arms; None for an agent that is given numbers."""
        return None if self._encoder is None else self._encoder.context

    def _speak_of(self, context: Context | None) -> None:
        """Take dictionaries from now on, if there is a context."""
        if context is None:
            return
        if not isinstance(context, Context):
            raise BadInput(f"context must be a Context(user=[...], arm=[...]), not {shortened(context)}")
        if not isinstance(self.policy, FeaturePolicy) or not isinstance(self._options, Named):
            raise BadInput("context is for policies that choose by features, such as LinCORe, among arms with names")
        self._encoder = Columns(context)

    def _refit_later(self) -> None:
        """Fit the policy's estimator beside the decisions from now on."""
        if self.policy.runs_compiled or not hasattr(self.policy, "refit") or self.policy.incremental:
            raise BadInput(
                f"refit_later is for EstimatorCORe, whose model is fitted anew now and then, not for "
                f"{self.policy.label}"
            )
        from corebandit.agents.refits import Refits  # with what knows estimators

        self._refits = Refits(self._desk)
        self._desk.is_apart = True

    def _restore_more(self, content: dict[str, Any]) -> None:
        if self._refits is not None:
            self._refits.restore(content)

    def _become_another(self) -> None:
        super()._become_another()
        if self._refits is not None:
            self._refits.leave_thread()

    def _in_columns(self, users: Sequence[Any], arms: Any, is_look: bool = False) -> tuple[FloatArray, list[Any]]:
        """Return tables `(users, arms, d)` and the arms that their rows are of; new columns come first, if all is well.

        Whoever only looks gets none: what was never seen counts for nothing there.
        """
        columns, desk = self._encoder, self._desk
        assert columns is not None
        described = self._described_arms(arms)
        assert isinstance(self._options, Named)
        self._options.offered(list(described))
        merged = [fields for user in users for fields in columns.merged(user, described)]
        rows, keys, kinds = columns.rows(merged)
        width = len(columns) if is_look else len(columns) + len(keys)
        table = columns.table(rows, width)
        desk.check_floor(len(described))
        desk.check_reach("features", table[:, : desk.n_features or width])
        if not is_look:
            self._widen(keys, kinds)
        return table.reshape(len(users), len(described), width), list(described)

    def _described_arms(self, arms: Any) -> dict[Hashable, Any]:
        if arms is None:
            return dict.fromkeys(self._on_offer())
        if isinstance(arms, str):
            raise BadInput(f"arms must be a list of arms, such as [{arms!r}], not the string {shortened(arms)}")
        if isinstance(arms, Mapping):
            return {plain_option("arm", arm): fields for arm, fields in arms.items()}
        try:
            return dict.fromkeys(plain_option("arm", arm) for arm in arms)
        except TypeError as error:
            raise BadInput(f"arms must be a list of arms, or what describes each, not {shortened(arms)}") from error

    def _rows_in_columns(self, arms: Sequence[Hashable], x: Iterable[Any] | None) -> FloatArray:
        """Return the features `(n, d)` of choices that someone else made, each described by one dictionary."""
        columns, desk = self._encoder, self._desk
        assert columns is not None
        described = [None] * len(arms) if x is None else list(x)
        if len(described) != len(arms):
            raise BadFeatures(f"x must have one dictionary for each of {len(arms)} arms, not {len(described)}")
        split = [columns.split(arm, fields) for arm, fields in zip(arms, described, strict=True)]
        rows, keys, kinds = columns.rows(split)
        table = columns.table(rows, len(columns) + len(keys))
        desk.check_reach("x", table[:, : desk.n_features or len(columns)])
        self._widen(keys, kinds)
        return table

    def _widen(self, keys: Sequence[Key], kinds: Mapping[str, str]) -> None:
        """Have more columns, and tell the journal."""
        columns = self._encoder
        assert columns is not None
        if columns.add(keys, kinds):
            self._desk.widen(len(columns))
            if self._refits is not None:
                self._refits.leave_thread()  # what it fits has too few columns
            if self._journal is not None:
                self._journal([COLUMNS, keys_to_json(keys, kinds)])
