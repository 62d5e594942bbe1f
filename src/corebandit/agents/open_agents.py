"""Opening agents that are kept in a store: made there the first time, and as they were from then on."""

import json
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from inspect import signature
from typing import Any, NamedTuple, TypeVar

from corebandit.agents.agent import Agent
from corebandit.agents.changing import FIXED, changed_agent, differing, is_change
from corebandit.agents.codec import DAMAGED, Source
from corebandit.agents.durable import Durable, DurableAgent, DurableRankingAgent
from corebandit.agents.log import frame_of_events
from corebandit.agents.options import plain_option
from corebandit.agents.ranking_agent import RankingAgent
from corebandit.agents.replay import ChosenOtherwise, replay
from corebandit.agents.stores.opening import events_of, open_store, shut_store
from corebandit.agents.stores.store import Store
from corebandit.contracts.atomic_files import fits_its_digest
from corebandit.contracts.errors import BadInput, DamagedFile, demand
from corebandit.contracts.recipe import AnyPolicy, RankingPolicy
from corebandit.contracts.validate import check_count, check_flag, shortened

SNAPSHOT_EVERY = 50_000  # events
MOST_NAMED = 10  # agents, in an error
Kept = TypeVar("Kept", bound=Durable)


def open_agent(
    url: str,
    name: str,
    policy: AnyPolicy | None = None,
    arms: Iterable[Hashable] | None = None,
    *,
    synchronous: str = "full",
    snapshot_every: int = SNAPSHOT_EVERY,
    keep_log: bool = True,
    change: bool = False,
    **options: Any,
) -> DurableAgent:
    """Open an agent whose every decision and reward is on disk when `ask` or `tell` returns.

    Where there is none of this name yet, it is made, as `Agent(policy, arms, **options)` is; else it goes on as it was,
    and what is given must be what it was made with. Many agents may be in one file, which one process at a time writes.

    Parameters
    ----------
    url
        Such as "sqlite:///shop.db"; "sqlite:////var/shop.db" from the root.
    name
        Of the agent.
    policy
        A recipe; not needed for an agent that is there and whose policy is one of this package's.
    arms
        The options that it begins with.
    synchronous
        "full": what was returned survives that the power fails. "normal" is faster, and survives that the process is
        killed.
    snapshot_every
        After how many events (decisions, rewards, ...) all that makes the agent is kept; what came after it is done
        again when the agent is opened.
    keep_log
        Whether events older than that stay in the file, for `agent.log()`.
    change
        Whether another policy, or other options, than the agent was made with are meant to change it. It then learns
        again all that its journal tells, which takes as long as it takes to learn; decisions that wait go on waiting,
        and `gain()` begins anew. Where nothing differs, it goes on as it was.
    options
        Whatever `Agent` takes: seed, horizon, window, default_reward, ...

    >>> import tempfile
    >>> from corebandit import UCB1
    >>> folder = tempfile.TemporaryDirectory()
    >>> url = f"sqlite:///{folder.name}/shop.db"
    >>> with open_agent(url, "banner", UCB1(), arms=["red", "green"]) as agent:
    ...     decision = agent.ask()
    >>> with open_agent(url, "banner") as agent:
    ...     agent.tell(decision.id, reward=1.0)
    ...     agent.n_observations
    1
    >>> folder.cleanup()
    """
    check_flag("change", change)
    given = _listed("arms", arms)
    _check_options(Agent, options)

    def fresh(others: str) -> DurableAgent:
        if policy is None:
            raise BadInput(f"policy must be given: there is no agent {shortened(name)} at {url} yet{others}")
        return DurableAgent(policy, given, **options)

    way = Way(url, name, synchronous, snapshot_every, keep_log, change, given, options)
    return _opened(DurableAgent, fresh, way, policy)


def open_ranking_agent(
    url: str,
    name: str,
    policy: RankingPolicy | None = None,
    items: Iterable[Hashable] | None = None,
    n_positions: int | None = None,
    *,
    synchronous: str = "full",
    snapshot_every: int = SNAPSHOT_EVERY,
    keep_log: bool = True,
    change: bool = False,
    **options: Any,
) -> DurableRankingAgent:
    """Open an agent that ranks, whose every ranking is on disk when `ask` or `tell` returns; see `open_agent`."""
    check_flag("change", change)
    given = _listed("items", items)
    _check_options(RankingAgent, options)

    def fresh(others: str) -> DurableRankingAgent:
        if policy is None or given is None or n_positions is None:
            raise BadInput(
                f"policy, items and n_positions must be given: there is no agent {shortened(name)} at {url} yet{others}"
            )
        return DurableRankingAgent(policy, given, n_positions, **options)

    more = {} if n_positions is None else {"n_positions": n_positions}
    way = Way(url, name, synchronous, snapshot_every, keep_log, change, given, {**options, **more})
    return _opened(DurableRankingAgent, fresh, way, policy)


def _listed(noun: str, options: Iterable[Hashable] | None) -> list[Hashable] | None:
    if isinstance(options, str):
        raise BadInput(f"{noun} must be a list of options, not the string {shortened(options)}")
    try:
        return None if options is None else list(options)
    except TypeError as error:
        raise BadInput(f"{noun} must be a list of options, not {shortened(options)}") from error


def _check_options(kind: type, options: dict[str, Any]) -> None:
    known = signature(kind).parameters
    for option in options:
        if option not in known:
            raise BadInput(f"{kind.__name__} has no option {option!r}; it has {', '.join(known)}")


def read_log(url: str, name: str) -> Any:
    """Return all decisions of an agent as a polars frame, also while another process writes it.

    Columns: id, asked (UTC), chosen, outcome ("open", "rewarded", "defaulted" or "dropped"), reward, answered (UTC),
    late, how many rewards came after the end, and, of agents that know them, propensity, of what was chosen, and
    propensities, of all options, as JSON. Of rankings, chosen and reward are lists, and propensities are of each place.
    What others chose (`observe`) is there without an id.
    """
    return frame_of_events(events_of(url, name))


class Way(NamedTuple):
    """How an agent is opened."""

    url: str
    name: str
    synchronous: str
    snapshot_every: int
    keep_log: bool
    change: bool  # whether what differs is meant to change it
    names: list[Hashable] | None  # that it began with, or has on offer
    options: dict[str, Any]  # that it was made with

    @property
    def source(self) -> Source:
        """Return what errors call the agent."""
        readers = {"arms": "open_agent", "items": "open_ranking_agent"}
        return Source(f"agent {self.name!r} at {self.url}", "open_agent", "url, name", readers)


def _opened(kind: type[Kept], fresh: Callable[[str], Kept], way: Way, policy: AnyPolicy | None) -> Kept:
    check_count("snapshot_every", way.snapshot_every)
    check_flag("keep_log", way.keep_log)
    store = open_store(way.url, way.name, way.synchronous, is_new_fine=policy is not None)
    shut = partial(shut_store, store, way.name)
    try:
        found = _found(kind, store, way, policy)
        if found is None:
            agent, n_events, is_changed = fresh(_others(store)), 0, False
        else:
            agent, n_events, is_changed = found
            _check_as_it_was(agent, way)
        agent._attach(store, way.name, n_events, way.snapshot_every, way.keep_log, shut)
    except BaseException:
        shut()
        raise
    if found is None or is_changed:
        try:
            agent._keep_first_snapshot() if found is None else agent._keep_changed()
        except BaseException:
            agent._shut()
            raise
    return agent


def _others(store: Store) -> str:
    """Say which agents there are, for someone who looks for another."""
    names = store.agents()
    more = ", ..." if len(names) > MOST_NAMED else ""
    return f"; there are {', '.join(map(shortened, names[:MOST_NAMED]))}{more}" if names else ""


def _found(kind: type[Kept], store: Store, way: Way, policy: AnyPolicy | None) -> tuple[Kept, int, bool] | None:
    """Return an agent, after how many events, and whether it was changed, as is wanted; None if there is none."""
    source, name = way.source, way.name
    damage: DamagedFile | None = None
    for snapshot in store.snapshots(name):
        try:
            content = json.loads(snapshot.content)
            demand(isinstance(content, dict) and fits_its_digest(content), "its content does not fit its digest")
            kind._check_holder(content, source)
            if way.change and policy is not None:
                kind._check_policy(policy)
            if way.change and is_change(content, policy, way.options):
                agent, n_events = changed_agent(kind, store, name, content, policy, way.options, source)
                return agent, max(n_events, snapshot.n_events), True
            agent = kind._from_content(content, policy, source, way.options.get("clock"))
            agent._began_with = check_count("began_with", content["began_with"], at_least=0)
        except (DamagedFile, ValueError, RecursionError) as error:
            if isinstance(error, BadInput) and not isinstance(error, DamagedFile):
                raise  # it is what was given that is wrong
            damage = damage or DamagedFile(f"{source.name} is damaged: {error}")
            continue
        try:
            return agent, _done_again(agent, store, name, snapshot.n_events, source), False
        except ChosenOtherwise:
            if not way.change:
                raise
            agent, n_events = changed_agent(kind, store, name, content, policy, way.options, source)
            return agent, n_events, True
    if damage is not None:
        raise damage
    if next(iter(store.events(name)), None) is not None:
        raise DamagedFile(f"{source.name} is damaged: it has events and nothing that they began with")
    return None


def _done_again(agent: Durable, store: Store, name: str, n_events: int, source: Source) -> int:
    """Do again what came after a snapshot, and return how many events there were in all."""
    for number, event in store.events(name, n_events):
        try:
            demand(number == n_events + 1, f"event {n_events + 1} is missing")
            replay(agent, json.loads(event))
        except ChosenOtherwise as error:
            raise ChosenOtherwise(
                f"{source.name} cannot be done again at event {number}: {error}. Another version wrote it, that decided"
                " otherwise, or it is damaged: opened with change=True it takes its decisions for granted, and learns"
            ) from error
        except DAMAGED as error:
            raise DamagedFile(f"{source.name} is damaged at event {number}: {error}") from error
        n_events = number
    agent._latest = agent._ledger.latest  # had the clock been set back meanwhile, the next look at it shows
    return n_events


def _check_as_it_was(agent: Durable, way: Way) -> None:
    """Raise BadInput that says what differs, unless what was given is what the agent was made with."""
    if way.names is not None:
        noun = agent._listed_as
        named = [plain_option(noun.removesuffix("s"), option) for option in way.names]
        known = agent._options.names or []
        if named not in (known[: agent._began_with], agent._on_offer()):
            raise BadInput(
                f"{noun} must be those that the agent began with, or has on offer, "
                f"{shortened(agent._on_offer())}, not {shortened(way.names)}: it exists already; "
                f"add_{noun[:-1]} and retire_{noun[:-1]} change them"
            )
    made_with = {
        **vars(agent.settings),
        "seed": agent.seed,
        "horizon": agent.horizon,
        "n_positions": getattr(agent, "n_positions", None),
        "context": getattr(agent, "context", None),
    }
    for option in differing(way.options, made_with):
        hint = "; to change it, open the agent with change=True: it then learns again from its journal"
        raise BadInput(
            f"{option} must be {made_with[option]!r}, as the agent was made with, not {shortened(way.options[option])}"
            f"{'' if option in FIXED else hint}"
        )
