"""What makes an agent, as a file or a dict: there and back."""

import os
import threading
from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, Self

from corebandit.agents.codec import (
    DAMAGED,
    FORMAT,
    Source,
    arm_from_json,
    arm_to_json,
    copied_content,
    in_json,
    policy_from_json,
    read_content,
    write_content,
)
from corebandit.agents.settings import Clock, Settings, checked_clock
from corebandit.contracts.errors import BadInput, DamagedFile, demand
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.validate import shortened

# Whose options are saved under which name.
HOLDERS = {"arms": "an agent that does not rank", "items": "an agent that ranks"}


class SavesItself:
    """Agents that can be saved and loaded."""

    policy: AnyPolicy
    seed: int
    horizon: int | None
    settings: Settings
    _kind: ClassVar[str]  # what errors call such an agent
    _listed_as: ClassVar[str]  # the name of its options, as in HOLDERS
    _options: Any
    _desk: Any
    _ledger: Any
    _control: Any
    _lock: Any
    _saving: threading.Lock
    _latest: float
    _clock: Clock
    _n_needed = 0  # options that must stay on offer

    @staticmethod
    @abstractmethod
    def _check_policy(policy: Any) -> None:
        """Raise BadInput unless such an agent can follow the policy."""

    @classmethod
    @abstractmethod
    def _made_from(cls, content: dict[str, Any], policy: Any, names: list[Hashable] | None) -> Self:
        """Return an agent that has decided nothing yet, from what was saved of another."""

    @classmethod
    @abstractmethod
    def _made_anew(
        cls, content: dict[str, Any], policy: Any, names: list[Hashable] | None, options: dict[str, Any]
    ) -> Self:
        """Return an agent with these options, and else what was saved of another, that has decided nothing yet."""

    @abstractmethod
    def _chosen(self, choice: Any) -> Any:
        """Return what users call a choice."""

    @abstractmethod
    def _named(self, what: str) -> Any:
        """Return the options if they can be added or retired, or say why not."""

    @abstractmethod
    def _now(self) -> float:
        """Return the time."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a JSON file; `load` continues bit for bit."""
        with self._saving:  # of two that save at once, the later state is written last
            write_content(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: AnyPolicy | None = None, *, clock: Clock | None = None) -> Self:
        """Read an agent that `save` wrote; give the policy if it is not one of this package's, and its own clock."""
        agent = cls._from_content(read_content(path), policy, _source(os.fspath(path), "load", "path"), clock)
        agent._now()  # nothing that was saved is of the future
        return agent

    def to_dict(self) -> dict[str, Any]:
        """Return all that makes the agent, ready for JSON and to be kept anywhere; `from_dict` continues bit for bit.

        >>> import json
        >>> from corebandit import Agent, CORe
        >>> agent = Agent(CORe(), arms=["red", "green", "blue"], seed=7)
        >>> waiting = agent.ask()
        >>> text = json.dumps(agent.to_dict())
        >>> twin = Agent.from_dict(json.loads(text))
        >>> twin.tell(waiting.id, reward=3.2)
        >>> agent.tell(waiting, reward=3.2)
        >>> twin.ask().arm == agent.ask().arm
        True
        """
        content: dict[str, Any] = in_json(self._content())
        return content

    def _content(self) -> dict[str, Any]:
        """Return a copy of all that makes the agent. `in_json` of it takes longer, and nobody waits for that."""
        with self._lock:
            names = None if self._options.names is None else list(self._options.names)
            waiting = list(self._ledger.waiting.values())
            compares = self.settings.holdout > 0 or any(choice[-1] for _, choice, _ in waiting)
            control = self._control.content(choice for _, choice, _ in waiting) if compares else None
            return {
                "format": FORMAT,
                "policy": self.policy.describe(),
                self._listed_as: None if names is None else lambda: map(arm_to_json, names),
                "seed": self.seed,
                "horizon": self.horizon,
                "settings": self.settings.describe(),
                "retired": sorted(self._options.retired),
                **self._ledger.content(self._desk.plain),
                **self._desk.content(lambda: (choice for _, choice, _ in waiting)),
                **({} if control is None else {"control": control}),
            }

    @classmethod
    def from_dict(cls, data: dict[str, Any], policy: AnyPolicy | None = None, *, clock: Clock | None = None) -> Self:
        """Return the agent that `to_dict` described; give the policy if it is not one of this package's.

        `data` may have been JSON meanwhile. It is checked like a file, copied and left as it is. A clock of its own is
        no part of it, so whoever had one gives it again.
        """
        agent = cls._from_content(copied_content(data), policy, _source("data", "from_dict", "data"), clock)
        agent._now()
        return agent

    @classmethod
    def _check_holder(cls, content: dict[str, Any], source: Source) -> None:
        """Raise BadInput if it is another kind of agent that was saved."""
        for name, holder in HOLDERS.items():
            if name in content and name != cls._listed_as:
                raise BadInput(f"{source.name} holds {holder}: read it with {source.readers[name]}")

    @classmethod
    def _from_content(
        cls, content: dict[str, Any], policy: AnyPolicy | None, source: Source, clock: Clock | None
    ) -> Self:
        cls._check_holder(content, source)
        found = policy_from_json(content["policy"], policy, source)
        if policy is not None:
            cls._check_policy(policy)  # else it is the file that is wrong
        try:
            return cls._restored(content, found, clock)
        except DAMAGED as error:
            raise DamagedFile(f"{source.name} is not a saved {cls._kind}, or damaged: {error}") from error

    @classmethod
    def _restored(cls, content: dict[str, Any], policy: AnyPolicy, clock: Clock | None) -> Self:
        saved = content[cls._listed_as]
        demand(saved is None or isinstance(saved, list), f"{cls._listed_as} must be a list, not {shortened(saved)}")
        agent = cls._made_from(content, policy, None if saved is None else [arm_from_json(name) for name in saved])
        agent._clock = agent._clock if clock is None else checked_clock(clock)
        agent._desk.restore(content)
        retired = [agent._desk.checked_index("retired", index) for index in content["retired"]]
        if retired:
            agent._named("retired").retire(retired)
            n_left = len(agent._options.on_offer)
            demand(n_left >= agent._n_needed, f"retired must leave {agent._n_needed} on offer, not {n_left}")
        agent._restore_more(content)
        choices = agent._desk.choices(content)
        if agent.settings.holdout > 0 or "control" in content:
            agent._control.restore(content["control"], max(1, agent._n_needed))
            choices = agent._control.marked(content["control"], choices)
        agent._restore_ledger(content, [(agent._chosen(choice), choice) for choice in choices])
        return agent

    def _restore_more(self, content: dict[str, Any]) -> None:
        """Go on with what only some agents have."""

    def _restore_ledger(self, content: dict[str, Any], decisions: list[tuple[Any, Any]]) -> None:
        self._ledger.restore(content, decisions)
        self._latest = self._ledger.latest


def _source(name: str, method: str, argument: str) -> Source:
    return Source(name, method, argument, {"arms": f"Agent.{method}", "items": f"RankingAgent.{method}"})
