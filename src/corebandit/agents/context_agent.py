"""An agent that is told of users and arms in numbers and words."""

import logging
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from corebandit.agents.codec import arm_from_json, array_from_json
from corebandit.agents.contexts import Columns, Context, Key, keys_to_json
from corebandit.agents.decision import Arm
from corebandit.agents.events import COLUMNS
from corebandit.agents.live_agent import LiveAgent
from corebandit.agents.options import Named, plain_option
from corebandit.agents.propensities import Chances
from corebandit.agents.reach import ENOUGH_SEEN, out_of_reach
from corebandit.agents.settings import Clock, Settings
from corebandit.contracts.errors import BadFeatures, BadInput
from corebandit.contracts.features import LARGEST_FEATURE
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import shortened

LOG = logging.getLogger("corebandit")
# The index of an option, its features, propensities, and whether it was held out.
Choice = tuple[int, FloatArray | None, Chances | None, bool | None]


class ContextAgent(LiveAgent[Arm, Choice]):
    """An agent that may have a context: what it is then given are dictionaries, which become rows of features."""

    _desk: Any  # an ArmDesk or a FeatureDesk

    def __init__(
        self, policy: Any, seed: int | None, horizon: int | None, settings: Settings, clock: Clock | None
    ) -> None:
        super().__init__(policy, seed, horizon, settings, clock)
        self._encoder: Columns | None = None
        self._refits: Any = None  # fits beside the decisions, for those who want them

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
        self._desk.limit = None  # what is too large is found here, before there are new columns

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
        rows, keys, kinds = columns.rows(columns.merged(users, described))
        table = columns.table(rows, len(columns) + len(keys))
        desk.check_floor(len(described))
        self._check_size("features", table, keys, kinds)
        if is_look:
            table = table[:, : len(columns)]
        else:
            self._admit(keys, kinds)
        return table.reshape(len(users), len(described), table.shape[1]), list(described)

    def _check_size(self, name: str, table: FloatArray, keys: Sequence[Key], kinds: Mapping[str, str]) -> None:
        """Raise BadFeatures that names the field, if a number is too large; what is new may be of any finite size."""
        columns, desk, limit = self._encoder, self._desk, self.settings.feature_limit
        assert columns is not None
        sizes, largest = np.abs(table), np.full(table.shape[1], LARGEST_FEATURE)
        seen = desk.seen[0]
        if limit is not None and desk.n_seen >= ENOUGH_SEEN:
            largest[: seen.size][seen > 0.0] = np.minimum(limit * seen[seen > 0.0], LARGEST_FEATURE)
        places = np.argwhere(~(sizes <= largest))
        if places.size == 0:
            return
        row, column = places[0].tolist()
        field, value = columns.names(keys, kinds)[column], float(table[row, column])
        if not sizes[row, column] <= LARGEST_FEATURE:
            raise BadFeatures(
                f"{name} must be finite and at most {LARGEST_FEATURE:g} in size, but {field} is {value!r}"
            )
        raise out_of_reach(f"{name}: {field}", value, f"{seen[column]:g}", limit or 0.0)

    def _described_arms(self, arms: Any) -> dict[Hashable, Any]:
        options = self._options
        assert isinstance(options, Named)
        if isinstance(arms, str):
            raise BadInput(f"arms must be a list of arms, such as [{arms!r}], not the string {shortened(arms)}")
        try:
            named = None if arms is None else [plain_option("arm", arm) for arm in arms]
        except TypeError as error:
            raise BadInput(f"arms must be a list of arms, or what describes each, not {shortened(arms)}") from error
        fields = arms.values() if isinstance(arms, Mapping) else repeat(None)
        return dict(zip(map(options.name, options.offered(named).tolist()), fields, strict=False))

    def _rows_in_columns(self, arms: Sequence[Hashable], x: Iterable[Any] | None) -> FloatArray:
        """Return the features `(n, d)` of choices that someone else made, each described by one dictionary."""
        columns = self._encoder
        assert columns is not None
        described = [None] * len(arms) if x is None else _dictionaries(x)
        if len(described) != len(arms):
            raise BadFeatures(f"x must have one dictionary for each of {len(arms)} arms, not {len(described)}")
        names = [self._options.name(self._options.index_of(arm)) for arm in arms]
        rows, keys, kinds = columns.rows([columns.split(*each) for each in zip(names, described, strict=True)])
        table = columns.table(rows, len(columns) + len(keys))
        self._check_size("x", table, keys, kinds)
        self._admit(keys, kinds)
        return table

    def _admit(self, keys: Sequence[Key], kinds: Mapping[str, str]) -> None:
        """Have more columns, and warn in the log if arms share one from now on."""
        columns = self._encoder
        assert columns is not None
        for fields in columns.shared_by_arms(keys):
            LOG.warning(
                "the cross of %s and %s has %d columns, and all arms that come later share one: raise max_words of "
                "Context, or cross with fields that arms share",
                *(*fields, columns.context.max_words),
            )
        self._widen(keys, kinds)

    def _widen(self, keys: Sequence[Key], kinds: Mapping[str, str]) -> None:
        """Have more columns, and tell the journal."""
        columns = self._encoder
        assert columns is not None
        if columns.add(keys, kinds):
            self._desk.widen(len(columns))
            if self._journal is not None:
                self._journal([COLUMNS, keys_to_json(keys, kinds)])

    # What a journal says -------------------------------------------------------------------------------------------

    def _recorded(self, chosen: Any, chances: Any, features: Any = None, arms: Any = None) -> Choice:
        arm = arm_from_json(chosen)
        index, options = self._options.index_of(arm), self._options
        known = None if chances is None else {options.index_of(arm_from_json(each)): chance for each, chance in chances}
        place = index
        if features is not None and options.names is not None:
            place = (options.on_offer if arms is None else arms).index(arm)
        return index, self._desk.recorded(index, features, place), known, None

    def _chosen_by_others(self, chosen: Any, x: Any = None) -> Choice:
        index = self._options.index_of(arm_from_json(chosen))
        return index, self._desk.row(index, None if x is None else array_from_json(x)), None, None

    @staticmethod
    def _from_journal(chosen: Any) -> Any:
        return arm_from_json(chosen)


def _dictionaries(x: Any) -> list[Any]:
    if isinstance(x, str | Mapping):
        raise BadFeatures(f"x must be a list of dictionaries, one for each arm, not {shortened(x)}")
    try:
        return list(x)
    except TypeError as error:
        raise BadFeatures(f"x must be a list of dictionaries, one for each arm, not {shortened(x)}") from error
