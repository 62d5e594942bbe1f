"""The common floor: what holds for every kind of agent, held once for all of them."""

import json
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.codec import array_to_json
from corebandit.agents.ranking_agent import Ranking
from corebandit.contracts.state import arrays_of
from resealed import reseal
from same_agents import in_common, number_of

OPTIONS = ["red", "green", "blue", "grey"]
ROWS = np.random.default_rng(5).normal(size=(len(OPTIONS) + 2, 3))


@dataclass(frozen=True)
class Kind:
    """How one kind of agent is talked to."""

    cls: type
    policy: cb.AnyPolicy  # cheap to play
    core: cb.AnyPolicy  # CORe, with random numbers and pools
    decision: str  # what errors call one, and what comes of it
    lesson: str
    option: str
    stranger: str  # a policy that such an agent cannot follow
    sizes: tuple[int, ...] = ()  # besides the options

    def make(self, policy=None, **options):
        return self.cls(policy or self.policy, OPTIONS, *self.sizes, **{"seed": 7, **options})

    def ask(self, agent):
        return agent.ask(ROWS[: len(agent.arms)]) if isinstance(agent.policy, cb.FeaturePolicy) else agent.ask()

    def answer(self, decision, good=True):
        """Return a reward, or clicks; `good` ones can be learnt from."""
        return 0.25 * (number_of(decision) % 4) if good else np.nan

    def chosen(self, decision):
        return decision.arm

    def receipt(self, decision_id):
        return cb.Decision("pink", decision_id)

    def answer_in(self, step, decision):
        return 0.25 * (step % 4)

    def tell(self, agent, decision, how=lambda decision: decision):
        agent.tell(how(decision), self.answer(decision))

    def play(self, agent, n_rounds):
        """Return what is decided, answered now, later, or never, and the same for the same choices."""
        late, chosen = [], []
        for step in range(n_rounds):
            decision = self.ask(agent)
            chosen.append(self.chosen(decision))
            if step % 5 < 3:
                agent.tell(decision, self.answer_in(step, decision))
            elif step % 5 == 3:
                late.append((step, decision))
            if len(late) > 2:
                then, waiting = late.pop(0)
                agent.tell(waiting, self.answer_in(then, waiting))
        return chosen

    def options(self, agent):
        return getattr(agent, f"{self.option}s")

    def add(self, agent, option):
        getattr(agent, f"add_{self.option}")(option)

    def retire(self, agent, option):
        getattr(agent, f"retire_{self.option}")(option)

    def n_learnt(self, agent):
        return agent.n_observations


class Ranks(Kind):
    """The agent that shows more than one."""

    def answer(self, decision, good=True):
        return self.answer_in(number_of(decision), decision) if good else ["nowhere"]

    def answer_in(self, step, decision):
        return [item for item in decision.items if (step * len(item)) % 3 == 0]

    def chosen(self, decision):
        return decision.items

    def receipt(self, decision_id):
        return Ranking(("pink", "red"), decision_id)

    def n_learnt(self, agent):
        return agent.n_rankings


CORE = cb.CORe(warm_up=0.1)
KINDS = {
    "arms": Kind(cb.Agent, cb.UCB1(), CORE, "decision", "a reward is", "arm", "TopRank"),
    "features": Kind(cb.Agent, cb.LinTS(), cb.LinCORe(warm_up=0.1), "decision", "a reward is", "arm", "TopRank"),
    "rankings": Ranks(
        cb.RankingAgent, cb.CascadeUCB1(), cb.Ranked(CORE), "ranking", "clicks are", "item", "UCB1", (2,)
    ),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def agent(kind):
    return kind.make()


def state_of(agent):
    return json.dumps(agent.to_dict())


# Ids and open decisions -------------------------------------------------------------------------------------------


def test_decisions_have_ids_in_order_and_wait_under_them(kind, agent):
    decisions = [kind.ask(agent) for _ in range(5)]
    assert [number_of(decision) for decision in decisions] == [0, 1, 2, 3, 4]
    assert len({decision.id.rpartition("-")[0] for decision in decisions}) == 1
    assert agent.pending == {decision.id: kind.chosen(decision) for decision in decisions}


def test_answers_may_come_late_in_any_order_and_by_id(kind, agent):
    decisions = [kind.ask(agent) for _ in range(6)]
    ways = [lambda decision: decision, lambda decision: decision.id, lambda decision: np.str_(decision.id)]
    for place, decision in enumerate(reversed(decisions)):
        kind.tell(agent, decision, ways[place % 3])
    assert kind.n_learnt(agent) == 6
    assert not agent.pending


def test_telling_twice_is_refused_and_learned_once(kind, agent):
    decision = kind.ask(agent)
    kind.tell(agent, decision)
    before = state_of(agent)
    sentence = f"^{kind.decision} {decision.id} was told or forgotten already; {kind.lesson} learned only once$"
    for again in (decision, decision.id):
        with pytest.raises(cb.AlreadyTold, match=sentence):
            agent.tell(again, kind.answer(decision))
        with pytest.raises(cb.AlreadyTold, match=sentence):
            agent.forget(again)
    assert state_of(agent) == before
    assert kind.n_learnt(agent) == 1


def test_what_will_never_be_answered_can_be_forgotten(kind, agent):
    decision, other = kind.ask(agent), kind.ask(agent)
    agent.forget(decision)
    agent.forget(other.id)
    assert not agent.pending
    assert kind.n_learnt(agent) == 0
    with pytest.raises(cb.AlreadyTold, match="already"):
        kind.tell(agent, decision)
    assert number_of(kind.ask(agent)) == 2


@pytest.mark.parametrize("unknown", [99, 0, -1, "0", "{}-1", "{}-00", "{}-", "-0", None, True, 0.0, [0], object()])
def test_an_unknown_decision_is_refused(kind, agent, unknown):
    decision = kind.ask(agent)
    if isinstance(unknown, str):
        unknown = unknown.format(decision.id.rpartition("-")[0])
    before = state_of(agent)
    for call in (lambda: agent.tell(unknown, kind.answer(decision)), lambda: agent.forget(unknown)):
        with pytest.raises(cb.UnknownDecision, match=rf"^{kind.decision} must be one that ask\(\) returned, or its id"):
            call()
    assert state_of(agent) == before


def test_a_decision_of_another_agent_is_refused(kind, agent):
    decision = kind.ask(agent)
    before = state_of(agent)
    with pytest.raises(cb.UnknownDecision, match=rf"^{kind.decision} must be one of this agent's, which .*not .*pink"):
        agent.tell(kind.receipt(decision.id), kind.answer(decision))
    with pytest.raises(cb.UnknownDecision, match=rf"^{kind.decision} must be one that ask.* not .*pink"):
        agent.forget(kind.receipt(kind.ask(kind.make()).id))
    for other in KINDS.values():
        if other.decision != kind.decision:
            with pytest.raises(cb.UnknownDecision, match=rf"^{kind.decision} must be one that ask"):
                agent.tell(other.receipt(decision.id), kind.answer(decision))
    assert state_of(agent) == before


def test_after_a_bad_answer_the_decision_still_waits(kind, agent):
    decision = kind.ask(agent)
    before = state_of(agent)
    with pytest.raises(cb.BadReward):
        agent.tell(decision, kind.answer(decision, good=False))
    assert state_of(agent) == before
    kind.tell(agent, decision)
    assert kind.n_learnt(agent) == 1


@pytest.fixture
def hasty_threads():
    """Let threads take turns so often that what is not locked goes wrong."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_may_share_an_agent(kind):
    agent = kind.make(kind.core)

    def work(_):
        ids = []
        for _ in range(30):
            decisions = [kind.ask(agent) for _ in range(10)]
            for decision in decisions[::-1]:
                kind.tell(agent, decision)
            ids += [decision.id for decision in decisions]
        return ids

    with ThreadPoolExecutor(4) as pool:
        ids = [decision_id for found in pool.map(work, range(4)) for decision_id in found]
    assert sorted(int(decision_id.rpartition("-")[2]) for decision_id in ids) == list(range(1200))
    assert len(set(ids)) == 1200
    assert kind.n_learnt(agent) == 1200
    assert not agent.pending
    kind.cls.from_dict(agent.to_dict())  # which compares its sums and counts


@pytest.mark.heavy
@pytest.mark.usefixtures("hasty_threads")
def test_what_waits_can_be_read_and_saved_while_others_decide(kind, agent):
    stop = threading.Event()

    def decide():
        while not stop.is_set():
            for decision in [kind.ask(agent) for _ in range(50)]:
                kind.tell(agent, decision)

    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(decide)
        try:
            for _ in range(30):
                assert all(len(agent.pending) <= 50 for _ in range(100))
                assert kind.options(agent) == OPTIONS
                kind.cls.from_dict(agent.to_dict())  # which compares what it finds
        finally:
            stop.set()
        busy.result()


# Warnings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "horizon", "n_rounds"), [("arms", 50, 142), ("features", 50, 142), ("rankings", 60, 74)]
)
def test_a_horizon_that_is_all_warm_up_is_warned_of_where_the_agent_is_made(name, horizon, n_rounds):
    kind = KINDS[name]
    policy = {"arms": cb.CORe(), "features": cb.LinCORe(), "rankings": cb.Ranked(cb.CORe())}[name]
    said = rf"CORe spends all {horizon} rounds on its warm-up, which would take {n_rounds}: "
    with pytest.warns(UserWarning, match=said) as warned:
        kind.make(policy, horizon=horizon)
    assert [warning.filename for warning in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind.make(policy, horizon=10_000)
        kind.make(policy)


def test_the_warm_up_of_an_agent_is_that_of_an_experiment():
    few = cb.CORe(warm_up=0.0)  # each arm is tried once all the same
    with pytest.warns(UserWarning, match="spends all 4 rounds on its warm-up, which would take 5"):
        cb.Agent(few, arms=range(5), horizon=4)
    with pytest.warns(UserWarning, match="spends all 2 rounds on its warm-up, which would take 3"):
        cb.RankingAgent(cb.Ranked(few), items=range(5), n_positions=2, horizon=2)


def test_an_agent_that_cannot_be_made_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(cb.BadInput, match="there twice"):
            cb.Agent(cb.CORe(), ["a", "a"], horizon=50)
        with pytest.raises(cb.BadInput, match="n_positions"):
            cb.RankingAgent(cb.Ranked(), ["a", "b"], 3, horizon=50)


# Options that come and go -----------------------------------------------------------------------------------------


def test_options_come_and_go(kind, agent):
    kind.play(agent, 20)
    kind.retire(agent, "green")
    assert kind.options(agent) == ["red", "blue", "grey"]
    assert "green" not in np.ravel(kind.play(agent, 20))
    with pytest.raises(cb.BadInput, match=f"^{kind.option} 'green' is retired already"):
        kind.retire(agent, "green")
    kind.add(agent, "violet")
    assert "violet" in np.ravel(kind.play(agent, 20))
    learnt = [array.copy() for array in arrays_of(agent._desk.state)]
    kind.add(agent, "green")
    assert all(map(np.array_equal, learnt, arrays_of(agent._desk.state)))
    assert kind.options(agent) == ["red", "green", "blue", "grey", "violet"]
    with pytest.raises(cb.BadInput, match=f"^{kind.option} 'green' is on offer already"):
        kind.add(agent, "green")
    with pytest.raises(cb.UnknownArm, match=f"^{kind.option} must be one of 'red', .* not 'pink'"):
        kind.retire(agent, "pink")


@pytest.mark.parametrize("option", [["x"], ("x", ["y"]), {}])
def test_what_cannot_be_a_name_is_refused(kind, agent, option):
    before = state_of(agent)
    with pytest.raises(cb.BadInput, match=f"^{kind.option} must be hashable, such as a string, a number or a tuple"):
        kind.add(agent, option)
    assert state_of(agent) == before


def test_answers_of_a_retired_option_can_still_be_told(kind, agent):
    decision = kind.ask(agent)
    kind.retire(agent, np.ravel(kind.chosen(decision))[0])
    kind.tell(agent, decision)
    assert kind.n_learnt(agent) == 1


# To JSON and back -------------------------------------------------------------------------------------------------


def busy_agent(kind):
    """Return an agent with decisions that wait, a new option and a retired one."""
    agent = kind.make(kind.core)
    kind.play(agent, 60)
    kind.add(agent, ("tuple", 1))
    kind.retire(agent, "blue")
    kind.play(agent, 40)
    return agent


WAYS = {
    "dict": lambda agent, path: agent.from_dict(agent.to_dict()),
    "json": lambda agent, path: agent.from_dict(json.loads(json.dumps(agent.to_dict()))),
    "file": lambda agent, path: (agent.save(path), agent.load(path))[1],
    "file as dict": lambda agent, path: (agent.save(path), agent.from_dict(json.loads(path.read_text())))[1],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_whichever_way_it_goes_an_agent_continues_bit_for_bit(kind, way, tmp_path):
    agent = busy_agent(kind)
    twin = way(agent, tmp_path / "agent.json")
    assert type(twin) is kind.cls
    assert twin.policy == agent.policy
    assert twin.pending == agent.pending
    assert len(twin.pending) > 20
    assert repr(twin) == repr(agent)
    assert state_of(twin) == state_of(agent)
    told = list(agent.pending)[-1]
    for each in (agent, twin):
        for waiting in list(each.pending)[::-2]:
            each.tell(waiting, [] if kind.option == "item" else 1.0)
    assert kind.play(agent, 200) == kind.play(twin, 200)  # past the point where buffers grow
    assert in_common(twin) == in_common(agent)
    with pytest.raises(cb.AlreadyTold):
        twin.forget(told)


def test_a_file_is_the_dict_and_a_digest(kind, agent, tmp_path):
    kind.play(agent, 10)
    agent.save(tmp_path / "agent.json")
    saved, data = json.loads((tmp_path / "agent.json").read_text()), agent.to_dict()
    assert len(saved.pop("digest")) == 64
    assert saved == data
    common = {
        "format",
        "policy",
        "seed",
        "horizon",
        "settings",
        "retired",
        "n_observations",
        "capacity",
        "rng",
        "state",
    }
    assert set(data) >= {*common, "pending", "expired", "ids", "tallies", "recent", f"{kind.option}s"}
    assert data["format"] == 5


def scribble(value):
    """Change all that can be changed of JSON."""
    for part in list(value.values() if isinstance(value, dict) else value):
        if isinstance(part, dict | list):
            scribble(part)
    value.clear()


def test_a_dict_is_left_as_it_is_and_not_kept(kind):
    agent = busy_agent(kind)
    data, before = agent.to_dict(), state_of(agent)
    twin = kind.cls.from_dict(data)
    assert json.dumps(data) == before
    kind.play(twin, 5)
    assert json.dumps(data) == before
    twin = kind.cls.from_dict(data)
    scribble(data)
    assert state_of(twin) == state_of(agent) == before


def with_tuples(value):
    """Return what other formats than JSON make of lists."""
    if isinstance(value, dict):
        return {key: with_tuples(part) for key, part in value.items()}
    return tuple(map(with_tuples, value)) if isinstance(value, list) else value


def test_a_dict_may_have_been_kept_in_another_format_than_json(kind):
    agent = busy_agent(kind)
    assert state_of(kind.cls.from_dict(with_tuples(agent.to_dict()))) == state_of(agent)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, r"^data must be a dict that to_dict\(\) returned, not None"),
        ("{}", r"^data must be a dict that to_dict\(\) returned, not '{}'"),
        ([1], r"^data must be a dict that to_dict\(\) returned, not \[1\]"),
        ({}, "^data is not a saved agent, or damaged$"),
        ({"format": 5}, "^data is not a saved agent, or damaged$"),
        ({"format": 5, "policy": {1, 2}}, r"^data must be what to_dict\(\) returned, which is plain JSON: .* set"),
        ({"format": 5, "policy": {}}, "^the saved policy must be a table with a name"),
        (
            {"format": 5, "policy": {"name": "Mine"}},
            r"^the saved policy 'Mine' .* from_dict\(data, policy=Mine\(...\)\)",
        ),
        (
            {"format": 5, "policy": {"name": "EstimatorCORe"}},
            r"around an object.* from_dict\(data, policy=EstimatorCORe",
        ),
    ],
)
def test_what_is_no_agent_is_refused_in_a_sentence(kind, data, sentence):
    with pytest.raises(cb.BadInput, match=sentence):
        kind.cls.from_dict(data)


BAD = {
    "no options": lambda data, kind: data.pop(f"{kind.option}s"),
    "options that are no list": lambda data, kind: data.update({f"{kind.option}s": "abcd"}),
    "an option that is no name": lambda data, kind: data[f"{kind.option}s"].__setitem__(0, ["x"]),
    "too many options": lambda data, kind: data[f"{kind.option}s"].append("more"),
    "an option twice": lambda data, kind: data[f"{kind.option}s"].__setitem__(0, "green"),
    "retired that is none": lambda data, kind: data.update(retired=[4]),
    "retired below 0": lambda data, kind: data.update(retired=[-1]),
    "retired True": lambda data, kind: data.update(retired=[True]),
    "an id of the future": lambda data, kind: data["pending"][0].__setitem__(0, data["pending"][0][0] + "0"),
    "an id of nobody": lambda data, kind: data["ids"].update(sessions={}),
    "a number for an id": lambda data, kind: data["pending"][0].__setitem__(0, 0),
    "sessions that are none": lambda data, kind: data["ids"].update(sessions=[]),
    "a session that counts down": lambda data, kind: data["ids"].update(sessions={"a": -1}),
    "numbers below 0": lambda data, kind: data["ids"].update(n_numbers=-1),
    "no time": lambda data, kind: data["pending"][0].__setitem__(2, None),
    "no finite time": lambda data, kind: data["pending"][0].__setitem__(2, np.nan),
    "expired that was never": lambda data, kind: data.update(expired=[["a-0", [0]]]),
    "expired that waits": lambda data, kind: data.update(expired=[[data["pending"][0][0], [0]]]),
    "a setting of nobody": lambda data, kind: data.update(settings={"colour": 1}),
    "a window below 0": lambda data, kind: data.update(settings={"window": -1}),
    "a share of nothing": lambda data, kind: data.update(settings={"max_share": 0}),
    "too few tallies": lambda data, kind: [column.pop() for column in data["tallies"].values()],
    "too many tallies": lambda data, kind: [column.append(0) for column in data["tallies"].values()],
    "one tally less": lambda data, kind: data["tallies"]["late"].pop(),
    "no tallies of one kind": lambda data, kind: data["tallies"].pop("told"),
    "rewards below 0": lambda data, kind: data["tallies"]["told"].__setitem__(0, -1),
    "more rewards than there are": lambda data, kind: data["tallies"]["told"].__setitem__(0, 10**400),
    "a mean that is none": lambda data, kind: data["tallies"]["mean"].__setitem__(0, np.nan),
    "a mean that no rewards have": lambda data, kind: data["tallies"]["mean"].__setitem__(0, 1e300),
    "a spread below 0": lambda data, kind: data["tallies"]["spread"].__setitem__(0, -1.0),
    "told at no time": lambda data, kind: data["tallies"]["last_told"].__setitem__(0, np.inf),
    "decisions for nobody": lambda data, kind: data.update(settings={"max_share": 0.5}, recent=[99]),
    "an id twice": lambda data, kind: data["pending"].append(data["pending"][0]),
    "a choice that is none": lambda data, kind: data["pending"][0].__setitem__(1, 99),
    "a seed below 0": lambda data, kind: data.update(seed=-1),
    "no array": lambda data, kind: data["state"].pop(),
    "no rng": lambda data, kind: data.pop("rng"),
    "an array of another shape": lambda data, kind: data["state"][0].update(shape=[1]),
    "an array of other data": lambda data, kind: data["state"][0].update(zlib="eJwDAAAAAAE="),
    "a generator of zeros": lambda data, kind: data.update(rng=array_to_json(np.zeros(4, np.uint64))),
    "an array of another kind": lambda data, kind: data["state"][0].update(dtype="float32"),
    "too many observations": lambda data, kind: data.update(n_observations=10**6),
    "a policy of another kind": lambda data, kind: data.update(policy={"name": kind.stranger}),
}


@pytest.mark.parametrize("damage", BAD.values(), ids=BAD)
def test_what_was_forged_is_refused_as_dict_and_as_file(kind, agent, damage, tmp_path):
    kind.ask(agent)
    data = agent.to_dict()
    damage(data, kind)
    kept, what = json.dumps(data), "ranking agent" if kind.option == "item" else "agent"
    with pytest.raises(cb.DamagedFile, match=f"^data is not a saved {what}, or damaged: "):
        kind.cls.from_dict(data)
    assert json.dumps(data) == kept
    reseal(tmp_path / "agent.json", data)
    with pytest.raises(cb.DamagedFile, match=rf"agent\.json is not a saved {what}, or damaged: "):
        kind.cls.load(tmp_path / "agent.json")


def test_what_no_agent_could_have_retired_is_refused():
    for agent in (cb.RankingAgent(cb.BatchRank(), OPTIONS, 2, horizon=100), cb.Agent(cb.LinTS())):
        if isinstance(agent, cb.Agent):
            agent.ask(ROWS)
        with pytest.raises(cb.DamagedFile, match=r"or damaged: (items|arms) cannot be retired: "):
            agent.from_dict({**agent.to_dict(), "retired": [0]})
    agent = KINDS["rankings"].make()
    with pytest.raises(cb.DamagedFile, match="or damaged: retired must leave 2 on offer, not 1"):
        agent.from_dict({**agent.to_dict(), "retired": [0, 1, 2]})


def test_a_policy_that_was_not_saved_is_refused_and_the_file_not_called_damaged(kind, agent, tmp_path):
    agent.save(tmp_path / "agent.json")
    for given, sentence in [
        (cb.GaussianTS(), f"policy must be the one that was saved, but it was {kind.policy.name}, not GaussianTS"),
        (cb.TopRank(), f"policy must be the one that was saved, but it was {kind.policy.name}, not TopRank"),
        ("CORe", "policy must be a recipe such as CORe"),
    ]:
        for read, what in ((kind.cls.load, tmp_path / "agent.json"), (kind.cls.from_dict, agent.to_dict())):
            with pytest.raises(cb.BadInput, match=f"^{sentence}") as caught:
                read(what, given)
            assert not isinstance(caught.value, cb.DamagedFile)


def test_a_policy_of_one_s_own_is_given_again(kind):
    class Mine(type(kind.policy)):
        pass

    agent, namesake = kind.make(Mine()), type("Mine", (cb.Policy if kind.option == "item" else cb.RankingPolicy,), {})
    namesake.is_described_by = lambda self, description: True
    data = agent.to_dict()
    assert kind.cls.from_dict(data, Mine()).policy == Mine()
    with pytest.raises(cb.BadInput, match=r"is not part of corebandit: from_dict\(data, policy=Mine\(...\)\) needs it"):
        kind.cls.from_dict(data)
    with pytest.raises(cb.BadInput, match=r"^policy must be a .* such as ") as caught:
        kind.cls.from_dict(data, namesake())
    assert not isinstance(caught.value, cb.DamagedFile)


def test_an_agent_of_another_kind_is_refused(kind, agent, tmp_path):
    agent.save(tmp_path / "agent.json")
    other, ranks = (cb.Agent, "ranks") if kind.option == "item" else (cb.RankingAgent, "does not rank")
    sentence = f"holds an agent that {ranks}: read it with {kind.cls.__name__}"
    with pytest.raises(cb.BadInput, match=rf"^data {sentence}\.from_dict$"):
        other.from_dict(agent.to_dict())
    with pytest.raises(cb.BadInput, match=rf"agent\.json {sentence}\.load$"):
        other.load(tmp_path / "agent.json")


# Formats ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 4, "5", None, True, [], 10**400])
def test_other_formats_are_refused(kind, agent, version, tmp_path):
    data = {**agent.to_dict(), "format": version}
    reseal(tmp_path / "agent.json", data)
    sentence = "has format .*; this version reads format 5$"
    with pytest.raises(cb.DamagedFile, match=f"^data {sentence}"):
        kind.cls.from_dict(data)
    with pytest.raises(cb.DamagedFile, match=rf"agent\.json {sentence}"):
        kind.cls.load(tmp_path / "agent.json")


def test_a_file_needs_its_digest_and_a_dict_must_fit_one_that_it_has(kind, agent, tmp_path):
    path, data = tmp_path / "agent.json", agent.to_dict()
    path.write_text(json.dumps(data))
    with pytest.raises(cb.DamagedFile, match="its content does not fit its digest"):
        kind.cls.load(path)
    agent.save(path)
    sealed = json.loads(path.read_text())
    kind.cls.from_dict(sealed)
    with pytest.raises(cb.DamagedFile, match=r"^data is damaged: its content does not fit its digest"):
        kind.cls.from_dict({**sealed, "seed": 8})
