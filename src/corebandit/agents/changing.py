"""A change of mind: an agent that learns again, with another policy or other settings, all that its journal tells.

Decisions stay those that were made; nothing is chosen again. So whoever waits for a reward is told of it as before.
"""

import json
from dataclasses import asdict
from typing import Any, TypeVar

from corebandit.agents.codec import DAMAGED, Source, arm_from_json, array_from_json, policy_from_json
from corebandit.agents.contexts import Context
from corebandit.agents.control import BEFORE
from corebandit.agents.durable import Durable
from corebandit.agents.events import (
    ASK,
    ASK_MANY,
    CHANGE,
    EXPIRE,
    HOLD_OUT,
    OBSERVE,
    OBSERVE_MANY,
    PREPARE,
    REFIT,
    REFIT_DONE,
    REFIT_FAILED,
    TELL,
    from_journal,
)
from corebandit.agents.replay import replay
from corebandit.agents.rewards import without_decimals
from corebandit.agents.settings import NOT_OF_RANKINGS, Settings
from corebandit.agents.stores.store import Store
from corebandit.catalogue import in_todays_words
from corebandit.contracts.errors import BadFeatures, BadInput, BadReward, DamagedFile, demand
from corebandit.contracts.recipe import AnyPolicy, FeaturePolicy
from corebandit.randomness.stream import stream

FIXED = ("n_positions", "context")  # what the journal was written with
Kept = TypeVar("Kept", bound=Durable)


def is_change(content: dict[str, Any], policy: AnyPolicy | None, options: dict[str, Any]) -> bool:
    """Tell whether this policy or one of these options is another than that of the agent that was saved."""
    if policy is not None and not policy.is_described_by(in_todays_words(content["policy"], policy)):
        return True
    saved, context = asdict(Settings.from_json(content["settings"])), content.get("context")
    saved |= {key: content.get(key) for key in ("seed", "horizon", "n_positions")}
    if context is not None:
        context = Context.described_by(context)
    return bool(differing(options, {**saved, "context": context}))


def differing(options: dict[str, Any], made_with: dict[str, Any]) -> list[str]:
    """Return those options that were given and are not what an agent was made with."""
    return [
        option
        for option, value in options.items()
        if option in made_with and without_decimals(value) != made_with[option] and (option, value) != ("seed", None)
    ]


def changed_agent(
    kind: type[Kept],
    store: Store,
    name: str,
    content: dict[str, Any],
    policy: AnyPolicy | None,
    options: dict[str, Any],
    source: Source,
) -> tuple[Kept, int]:
    """Return an agent with this policy and these options that has learnt all that the journal tells, and its length.

    `content` is what was last saved of it: whatever is not given stays as it is there.
    """
    if policy is None:
        policy = policy_from_json(content["policy"], None, source)
    kind._check_policy(policy)
    settings = {**asdict(Settings.from_json(content["settings"])), "horizon": content["horizon"]}
    for option in NOT_OF_RANKINGS if kind._listed_as == "items" else ():
        del settings[option]
    given = {key: value for key, value in options.items() if key not in FIXED}
    settings |= {key: value for key, value in given.items() if (key, value) != ("seed", None)}
    saved = content[kind._listed_as]
    names = None if saved is None else [arm_from_json(each) for each in saved[: content["began_with"]]]
    try:
        agent = kind._made_anew(content, policy, names, settings)
    except BadReward as error:
        raise BadInput(f"{source.name} cannot be changed to {policy.label}, by its default reward: {error}") from error
    for option in FIXED:
        if option in options and options[option] != getattr(agent, option, None):
            raise BadInput(
                f"{option} cannot be changed: what {source.name} has learnt was written down with "
                f"{getattr(agent, option, None)!r}"
            )
    agent._began_with = content["began_with"]
    agent._ledger.ids.restore(content["ids"])
    n_events = 0
    for number, text in store.events(name):
        if n_events == 0 and number > 1:
            raise BadInput(
                f"{source.name} cannot learn again: its journal begins at event {number:,}, since it was opened with "
                "keep_log=False; make another agent, and let observe_many() learn from past data"
            )
        try:
            # One that is missing is a change: a process of an earlier version was killed while it wrote that.
            demand(n_events == 0 or number <= n_events + 2, f"event {n_events + 1} is missing")
            relearn(agent, json.loads(text))
        except (BadReward, BadFeatures) as error:
            raise BadInput(
                f"{source.name} cannot be changed to {policy.label}, by event {number:,}: {error}"
            ) from error
        except DAMAGED as error:
            raise DamagedFile(f"{source.name} is damaged at event {number}: {error}") from error
        n_events = number
    agent._desk.rng = stream(agent.seed, "agent", n_events)  # other random numbers than those that were drawn
    agent._latest = agent._ledger.latest
    return agent, n_events


def relearn(agent: Any, event: list[Any]) -> None:
    """Let an agent learn what another one did: its decisions are taken for granted."""
    kind, *told = event
    if kind in (ASK, HOLD_OUT):
        decision_id, now, chosen, chances, *given = told
        choice = agent._recorded(chosen, chances, *from_journal(*given))
        _enter(agent, choice, now, decision_id, kind == HOLD_OUT)
    elif kind == ASK_MANY:
        now, made, tables, *arms = told
        named = [arm_from_json(arm) for arm in arms[0]] if arms else None
        for (decision_id, chosen, chances, is_held_out), table in zip(made, array_from_json(tables), strict=True):
            _enter(agent, agent._recorded(chosen, chances, table, named), now, decision_id, is_held_out)
    elif kind not in (CHANGE, PREPARE, REFIT, REFIT_DONE, REFIT_FAILED):
        for lesson in _lessons(kind, told):
            agent._check_lesson(lesson)
        if kind in (OBSERVE, OBSERVE_MANY) and not isinstance(agent.policy, FeaturePolicy):
            event = [kind, *told[:3]]  # without features
        replay(agent, event)


def _enter(agent: Any, choice: Any, now: float, decision_id: str, is_held_out: bool) -> None:
    """Let a decision wait that was made before; it counts for no gain."""
    agent._ledger.enter(agent._chosen(choice), (*choice[:-1], BEFORE if is_held_out else None), now, decision_id)


def _lessons(kind: str, told: list[Any]) -> list[Any]:
    """Return the rewards, or clicks, that an event tells of."""
    if kind == EXPIRE:
        return [] if told[1] is None else [told[1]]
    if kind == OBSERVE_MANY:
        return list(told[2])
    return told[2:3] if kind in (TELL, OBSERVE) else []
