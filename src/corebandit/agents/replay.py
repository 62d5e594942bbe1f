"""What a journal tells, done again. It says when everything happened: no clock is asked."""

from typing import Any

from corebandit.agents.codec import arm_from_json, array_from_json
from corebandit.agents.contexts import keys_from_json
from corebandit.agents.events import (
    ADD,
    ASK,
    ASK_MANY,
    CHANGE,
    COLUMNS,
    EXPIRE,
    FORGET,
    HOLD_OUT,
    LATE,
    OBSERVE,
    OBSERVE_MANY,
    PREPARE,
    REFIT,
    REFIT_DONE,
    REFIT_FAILED,
    RETIRE,
    TELL,
    TURN_BACK,
    from_journal,
)
from corebandit.contracts.errors import DamagedFile, demand
from corebandit.contracts.validate import shortened


class ChosenOtherwise(DamagedFile):
    """What was decided then is decided otherwise now: another version wrote the journal, or someone changed it."""


def replay(agent: Any, event: list[Any]) -> None:
    """Let an agent do once more what it did; features that were taken then are taken again."""
    with agent._desk.replaying():
        _do_again(agent, event)


def _do_again(agent: Any, event: list[Any]) -> None:
    kind, *told = event
    ledger = agent._ledger
    if kind == PREPARE:
        desk = agent._desk
        if told and (told[1] != desk.n_features or told[0] > desk.n_arms):
            desk.make_room_for("features", *told)
        desk.beginning.begin(desk.state, desk.coming_round, desk.rng)
    elif kind in (ASK, HOLD_OUT):
        decision_id, now, chosen, _, *given = told  # propensities come out again
        choice = agent._choose(*from_journal(*given))
        now_chosen, then = agent._chosen(choice), agent._from_journal(chosen)
        _demand_same(now_chosen == then, f"{shortened(then)} was chosen, and {shortened(now_chosen)} is chosen now")
        _demand_same((kind == HOLD_OUT) == bool(choice[-1]), "another decision is held out now")
        ledger.enter(now_chosen, choice, now, decision_id)
    elif kind == TELL:
        decision_id, now, lesson = told
        agent._learn(ledger.find(decision_id), lesson, now)
        ledger.close(decision_id)
    elif kind == OBSERVE:
        now, chosen, lesson, *given = told
        agent._learn(agent._chosen_by_others(chosen, *given), lesson, now)
    elif kind == ASK_MANY:
        now, made, tables, *arms = told
        ids, chosen = [each[0] for each in made], [arm_from_json(each[1]) for each in made]
        named = [arm_from_json(arm) for arm in arms[0]] if arms else None
        again = agent._ask_many(array_from_json(tables), named, now, ids)
        _demand_same([decision.arm for decision in again] == chosen, "other arms are chosen now")
    elif kind == OBSERVE_MANY:
        now, names, rewards, *given = told
        indices = [agent._options.index_of(arm_from_json(name)) for name in names]
        agent._observe_many(indices, rewards, array_from_json(given[0]) if given else None, now)
    elif kind == COLUMNS:
        agent._widen(*keys_from_json(told[0]))
    elif kind == FORGET:
        ledger.close(told[0])
    elif kind == EXPIRE:
        now, reward, decision_ids = told
        agent._expire(decision_ids, reward, now)
    elif kind == LATE:
        ledger.count_late(told[0])
    elif kind == TURN_BACK:
        ledger.turn_back(told[0])
    elif kind == ADD:
        agent._add(arm_from_json(told[0]))
    elif kind == RETIRE:
        agent._retire(arm_from_json(told[0]))
    elif kind == REFIT:
        demand(agent._refits.begin(), "there is nothing to fit now")
    elif kind == REFIT_DONE:
        agent._refits.take_over()
    elif kind == REFIT_FAILED:
        agent._refits.fail()
    elif kind == CHANGE:
        raise DamagedFile("its policy was changed here, and what it was then cannot be read")
    else:
        raise DamagedFile(f"this version knows nothing of {shortened(kind)}")


def _demand_same(holds: bool, difference: str) -> None:
    if not holds:
        raise ChosenOtherwise(difference)
