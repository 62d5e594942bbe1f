import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest

import corebandit as cb
from corebandit.agents.codec import array_to_json
from corebandit.agents.options import MOST_ROWS
from corebandit.contracts.state import arrays_of
from corebandit.policies import LinCORe
from resealed import reseal
from same_agents import in_common

COLOURS = ["red", "green", "blue"]
EYE = np.eye(3)


def make_agent(arms=None, policy=None, **options):
    return cb.Agent(policy or LinCORe(warm_up=0.1), arms, **{"seed": 7, **options})


def snapshot(agent):
    arrays = [] if agent._desk.state is None else [array.copy() for array in arrays_of(agent._desk.state)]
    return [*arrays, agent._desk.rng.words.copy()]


def content(agent):
    return json.dumps(agent.to_dict())


def random_rows(seed, n_rows=4, d=3):
    return np.random.default_rng(seed).normal(size=(n_rows, d))


def play(agent, n_rounds, n_rows=4, first=0):
    """Play rounds of new features in which the first feature pays, and return the choices."""
    chosen = []
    for seed in range(first, first + n_rounds):
        rows = random_rows(seed, n_rows)
        decision = agent.ask(rows)
        chosen.append(decision.arm)
        noise = float(np.random.default_rng([1, seed, decision.arm]).normal())
        agent.tell(decision, rows[decision.arm, 0] + 0.5 * noise)
    return chosen


def test_the_agent_learns_which_feature_pays():
    agent = make_agent(horizon=400)
    chosen = play(agent, 400)
    best = [int(np.argmax(random_rows(seed)[:, 0])) for seed in range(400)]
    assert sum(a == b for a, b in zip(chosen[200:], best[200:], strict=True)) > 140
    np.testing.assert_allclose(agent._desk.state.ridge.theta, [1.0, 0.0, 0.0], atol=0.1)


@pytest.mark.parametrize(
    "given",
    [
        random_rows(1).tolist(),
        tuple(map(tuple, random_rows(1))),
        np.asfortranarray(random_rows(1)),
        np.repeat(random_rows(1), 2, axis=1)[:, ::2],
        random_rows(1).astype(">f8"),
        random_rows(1).astype(object),
        pl.DataFrame(random_rows(1)),
    ],
    ids=["list", "tuple", "fortran", "strided", "big-endian", "objects", "polars"],
)
def test_features_may_be_anything_like_an_array(given):
    agent, plain = make_agent(), make_agent()
    first = agent.ask(given), plain.ask(random_rows(1))
    assert first[0].arm == first[1].arm
    for _ in range(19):
        assert agent.ask(given).arm == plain.ask(random_rows(1)).arm
    agent.tell(first[0], 1.0)
    plain.tell(first[1], 1.0)
    assert all(map(np.array_equal, snapshot(agent), snapshot(plain)))


def test_features_that_cannot_be_written_are_not_compiled_for_again():
    agent, rows = make_agent(), random_rows(1)
    rows.flags.writeable = False
    agent.ask(random_rows(2))
    n_compiled = len(getattr(agent._desk._select, "signatures", ()))
    agent.ask(rows)
    agent.ask(np.frombuffer(b"\0" * 4 + rows.tobytes(), dtype=float, offset=4, count=12).reshape(4, 3))  # unaligned
    agent.ask(rows[:, :3].astype(np.float32))
    agent.observe(np.int64(2), 1, rows[0])
    assert len(getattr(agent._desk._select, "signatures", ())) == n_compiled


def test_whole_numbers_and_booleans_are_features():
    agent = make_agent()
    agent.observe(0, 1.0, [1, 2])
    agent.observe(0, 1.0, np.array([True, False]))
    agent.observe(0, 1.0, [True, 2.5])
    assert agent.n_observations == 3


def test_the_reward_is_learned_with_the_features_the_decision_was_made_with():
    agent, twin = make_agent(), make_agent()
    rows = random_rows(1)
    decision = agent.ask(rows)
    kept = rows.copy()
    rows[:] = 99.0
    for seed in range(2, 8):
        agent.ask(random_rows(seed))
    agent.tell(decision, 2.0)
    twin.observe(decision.arm, 2.0, kept[decision.arm])
    assert np.array_equal(agent._desk.state.ridge.factor, twin._desk.state.ridge.factor)
    assert np.array_equal(agent._desk.state.ridge.theta, twin._desk.state.ridge.theta)


def test_without_names_an_arm_is_the_index_of_a_row():
    agent = make_agent()
    seen = set()
    for n_rows in (3, 1, 7, 2, 40, 5, 41) * 10:
        decision = agent.ask(random_rows(n_rows, n_rows))
        assert 0 <= decision.arm < n_rows
        assert agent.pending == {decision.id: decision.arm}
        agent.tell(decision, float(decision.arm))
        seen.add(decision.arm)
    assert len(seen) > 7
    assert agent.arms == []
    assert agent.n_observations == 70
    assert agent._desk.n_arms == 80
    assert agent._desk.state.counts.sum() == 70
    assert repr(agent) == "Agent(LinCORe(warm_up=0.1), n_observations=70)"


@pytest.mark.parametrize("sampler", ["fast", "exact"])
def test_room_for_more_rows_changes_nothing_that_was_learnt(sampler):
    policy = LinCORe(warm_up=0.1, sampler=sampler)
    small, large = make_agent(policy=policy), make_agent(policy=policy)
    large._desk.n_arms = 64
    assert play(small, 30) == play(large, 30)
    assert play(small, 300, n_rows=9, first=30) == play(large, 300, n_rows=9, first=30)
    assert play(small, 30, n_rows=2, first=400) == play(large, 30, n_rows=2, first=400)


def test_rows_belong_to_the_arms_in_the_order_given():
    natural, shuffled, mapped = (make_agent(COLOURS) for _ in range(3))
    for seed in range(60):
        rows = random_rows(seed, 3)
        decisions = [
            natural.ask(rows),
            shuffled.ask(rows[[2, 0, 1]], arms=["blue", "red", "green"]),
            mapped.ask({"green": rows[1], "blue": rows[2], "red": rows[0]}),
        ]
        assert decisions[0].arm == decisions[1].arm == decisions[2].arm
        reward = float(rows[COLOURS.index(decisions[0].arm), 0])
        for agent, decision in zip((natural, shuffled, mapped), decisions, strict=True):
            agent.tell(decision, reward)
    assert in_common(natural) == in_common(shuffled) == in_common(mapped)


def test_options_that_are_not_on_offer_are_never_chosen_nor_scored():
    agent = make_agent(COLOURS)
    agent.observe("green", 100.0, [0.0, 1.0])
    for seed in range(100):
        rows = random_rows(seed, 2, 2)
        decision = agent.ask(rows, arms=["blue", "red"])
        _, (_, row, _, _), _ = agent._ledger.waiting[decision.id]
        assert decision.arm in ("blue", "red")
        assert np.array_equal(row, rows[["blue", "red"].index(decision.arm)])
        agent.tell(decision, 1.0)
    assert agent._desk.state.counts.tolist()[1] == 1.0
    assert min(agent._desk.state.counts) > 0


def test_arms_with_features_come_and_go():
    agent = make_agent(COLOURS)
    for seed in range(60):
        agent.tell(agent.ask(random_rows(seed, 3)), 1.0)
    agent.retire_arm("green")
    assert agent.arms == ["red", "blue"]
    with pytest.raises(ValueError, match=r"one row for each arm on offer, that is 2, not the shape \(3, 3\)"):
        agent.ask(random_rows(1, 3))
    assert {agent.ask(random_rows(seed, 2)).arm for seed in range(60)} == {"red", "blue"}
    learnt = agent._desk.state.counts.copy()
    agent.add_arm("violet")
    assert agent.arms == ["red", "blue", "violet"]
    assert "violet" in {agent.ask(random_rows(seed, 3)).arm for seed in range(60)}
    agent.add_arm("green")
    assert agent.arms == ["red", "green", "blue", "violet"]
    assert np.array_equal(agent._desk.state.counts, [*learnt, 0.0])
    for arm in agent.arms:
        agent.retire_arm(arm)
    with pytest.raises(ValueError, match="there is no arm to choose"):
        agent.ask(random_rows(1, 4))


def test_arms_may_come_before_the_first_features():
    agent = make_agent(["red"])
    agent.add_arm("green")
    assert {agent.ask(np.eye(2)).arm for _ in range(20)} == {"red", "green"}


BAD_FEATURES = [
    (None, "LinCORe.* chooses by features; say ask"),
    ([1.0, 2.0, 3.0], r"features must have the shape \(rows, d\), at least one of each, not \(3,\)"),
    (np.ones((3, 3, 1)), r"features must have the shape .* not \(3, 3, 1\)"),
    (5.0, r"features must have the shape .* not \(\)"),
    (np.ones((0, 3)), r"features must have the shape .* not \(0, 3\)"),
    (np.ones((3, 0)), r"features must have the shape .* not \(3, 0\)"),
    ([], r"features must have the shape .* not \(0,\)"),
    ({}, r"features must have the shape .* not \(0,\)"),
    (np.ones((3, 4)), "features must hold 3 numbers for each option, as before, not 4"),
    ([[1.0, 2.0, math.nan]] * 3, "features must be finite and at most 1e.100 in size, but row 0, column 2 is nan"),
    ([[1, 2, 3], [1, -math.inf, 3], [1, 2, 3]], "features must be finite .* but row 1, column 1 is -inf"),
    ([[1, 2, 3], [1, 2, 3], [2e100, 2, 3]], r"features must be finite .* but row 2, column 0 is 2e\+100"),
    ([[1, 2, 10**400]] * 3, "features must be at most 1e.100 in size"),
    ([[1, 2, "3"]] * 3, r"features must be numbers of the shape \(rows, d\), not '3'"),
    ([[1, 2, None]] * 3, r"features must be numbers of the shape \(rows, d\), not None"),
    ([[1, 2, 3j]] * 3, r"features must be numbers of the shape \(rows, d\), not 3j"),
    ([[1, 2], [3], [4]], r"features must be numbers of the shape \(rows, d\), not \[\[1, 2\], \[3\], \[4\]\]"),
    ("red", r"features must be numbers of the shape \(rows, d\), not 'red'"),
]


@pytest.mark.parametrize("arms", [None, COLOURS], ids=["unnamed", "named"])
@pytest.mark.parametrize(("features", "sentence"), BAD_FEATURES)
def test_bad_features_are_named_and_change_nothing(arms, features, sentence):
    agent = make_agent(arms)
    waiting = agent.ask(EYE)
    before = content(agent)
    with pytest.raises(ValueError, match=sentence):
        agent.ask(features)
    assert content(agent) == before
    agent.tell(waiting, 1.0)


@pytest.mark.parametrize("arms", [None, COLOURS], ids=["unnamed", "named"])
@pytest.mark.parametrize("features", [[[1.0, math.nan]] * 3, [["1"]] * 3, [1.0], [[]]])
def test_bad_first_features_leave_their_number_open(arms, features):
    agent = make_agent(arms)
    before = content(agent)
    with pytest.raises(ValueError, match="features must"):
        agent.ask(features)
    assert content(agent) == before
    agent.ask(np.eye(3))


def test_a_bad_row_among_more_than_ever_before_makes_no_room():
    agent = make_agent()
    agent.ask(EYE)
    before = content(agent)
    with pytest.raises(ValueError, match="row 8, column 1 is inf"):
        agent.ask([*np.ones((8, 3)).tolist(), [0.0, math.inf, 0.0]])
    with pytest.raises(ValueError, match=f"features must have at most {MOST_ROWS:,} rows, not {MOST_ROWS + 1:,}"):
        agent.ask(np.broadcast_to(np.ones(3), (MOST_ROWS + 1, 3)))
    assert content(agent) == before


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (None, r"LinCORe.* learns from features; say observe\(arm, reward, x\)"),
        ([[1.0, 2.0, 3.0]], r"x must have the shape \(d,\), at least one feature, not \(1, 3\)"),
        (1.0, r"x must have the shape \(d,\), at least one feature, not \(\)"),
        ([], r"x must have the shape \(d,\), at least one feature, not \(0,\)"),
        ([1.0, 2.0], "x must hold 3 numbers for each option, as before, not 2"),
        ([1.0, math.nan, 0.0], "x must be finite and at most 1e.100 in size, but column 1 is nan"),
        ([1.0, 0.0, -1e101], "x must be finite .* but column 2 is -1e.101"),
        (["1", "2", "3"], r"x must be numbers of the shape \(d,\), not '1'"),
    ],
)
def test_bad_features_of_an_observation_are_named_and_change_nothing(x, sentence):
    agent = make_agent()
    agent.ask(EYE)
    before = content(agent)
    with pytest.raises(ValueError, match=sentence):
        agent.observe(50, 1.0, x)
    assert content(agent) == before


@pytest.mark.parametrize("arm", [-1, 1.5, "red", True, None, MOST_ROWS, 10**30])
def test_an_index_that_is_none_is_refused(arm):
    agent = make_agent()
    with pytest.raises(ValueError, match="arm must be"):
        agent.observe(arm, 1.0, [1.0, 2.0])
    assert agent._desk.n_features is None


def test_a_bad_reward_of_an_observation_changes_nothing():
    agent = make_agent()
    before = content(agent)
    with pytest.raises(ValueError, match="reward must be a finite number"):
        agent.observe(3, math.nan, [1.0, 2.0])
    assert content(agent) == before


def test_naming_arms_is_checked():
    agent = make_agent(COLOURS)
    agent.retire_arm("green")
    before = content(agent)
    for features, arms, sentence in [
        (np.ones((2, 3)), ["red", "red"], "arms must all be different, but 'red' is there twice"),
        (np.ones((2, 3)), ["red"], r"one row for each arm in arms, that is 1, not the shape \(2, 3\)"),
        (np.ones((2, 3)), ["red", "green"], "'green' is retired"),
        (np.ones((2, 3)), ["red", "pink"], "arm must be one of 'red', 'green', 'blue', not 'pink'"),
        (np.ones((2, 3)), [], "arms must name at least one arm"),
        ({"pink": [1.0]}, None, "arm must be one of"),
        ({"green": [1.0]}, None, "'green' is retired"),
        ({"red": [1.0]}, ["red"], "arms must not be given beside a mapping"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            agent.ask(features, arms=arms)
    assert content(agent) == before


def test_options_without_names_cannot_be_named():
    agent = make_agent()
    for call in (
        lambda: agent.ask(EYE, arms=[0, 1, 2]),
        lambda: agent.ask({0: [1.0], 1: [2.0]}),
        lambda: agent.add_arm("red"),
        lambda: agent.retire_arm(0),
    ):
        with pytest.raises(ValueError, match=r"arms cannot be .* made without arms"):
            call()


def test_a_policy_for_arms_takes_no_features():
    agent = cb.Agent(cb.CORe(), COLOURS)
    with pytest.raises(ValueError, match="CORe takes no features; "):
        agent.ask(EYE)
    with pytest.raises(ValueError, match="CORe takes no features; "):
        agent.observe("red", 1.0, [1.0])
    assert agent.n_observations == 0
    with pytest.raises(ValueError, match="arms must be given: CORe knows its options by their names"):
        cb.Agent(cb.CORe())


@pytest.mark.parametrize("sampler", ["fast", "exact"])
@pytest.mark.parametrize("arms", [None, range(4)], ids=["unnamed", "named"])
def test_a_saved_agent_continues_bit_for_bit(tmp_path, arms, sampler):
    agent = make_agent(arms, LinCORe(warm_up=0.1, sampler=sampler))
    play(agent, 100)
    waiting = [agent.ask(random_rows(seed)) for seed in (1, 2, 3)]
    agent.save(tmp_path / "agent.json")
    twin = cb.Agent.load(tmp_path / "agent.json")
    assert twin.pending == {decision.id: decision.arm for decision in waiting}
    assert content(twin) == content(agent)
    for each in (agent, twin):
        for decision in waiting[::-1]:
            each.tell(decision, 2.5)
    assert play(agent, 200, first=100) == play(twin, 200, first=100)  # past the point where buffers grow
    assert all(map(np.array_equal, snapshot(agent), snapshot(twin)))


@pytest.mark.parametrize("arms", [None, COLOURS], ids=["unnamed", "named"])
def test_an_agent_that_has_seen_no_features_can_be_saved(tmp_path, arms):
    agent = make_agent(arms)
    agent.save(tmp_path / "agent.json")
    twin = cb.Agent.load(tmp_path / "agent.json")
    assert twin.arms == agent.arms
    assert [twin.ask(EYE).arm for _ in range(9)] == [agent.ask(EYE).arm for _ in range(9)]


def forge(array):
    return array_to_json(np.array(array, dtype=float))


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.pop("pending_rows"),
        lambda content: content.pop("n_features"),
        lambda content: content.update(pending_rows=forge([[1.0, math.nan, 0.0]])),
        lambda content: content.update(pending_rows=forge([[1.0, 1e200, 0.0]])),
        lambda content: content.update(pending_rows=forge([[1.0, 0.0]])),
        lambda content: content.update(pending_rows=forge([[1.0, 0.0, 0.0]] * 2)),
        lambda content: content.update(pending_rows=[[1.0, 0.0, 0.0]]),
        lambda content: content["pending"][0].__setitem__(1, 3),
        lambda content: content["pending"][0].__setitem__(1, 1.0),
        lambda content: content["pending"][0].__setitem__(1, True),
        lambda content: content["pending"][0].__setitem__(0, -1),
        lambda content: content.update(pending=content["pending"] * 2, pending_rows=forge([[1.0, 0.0, 0.0]] * 2)),
        lambda content: content.update(n_features=None),
        lambda content: content.update(n_features=None, state=[]),
        lambda content: content.update(n_features=None, state=[], pending_rows=forge(np.ones((1, 0)))),
        lambda content: content.update(n_features=2),
        lambda content: content.update(n_features=10**9),
        lambda content: content.update(n_features="3"),
        lambda content: content.update(n_rows=2),
        lambda content: content.update(n_rows=10**9),
        lambda content: content.update(capacity=10**18),
        lambda content: content.update(retired=[0], arms=None),
        lambda content: content.update(seed=-1),
        lambda content: content["state"].pop(),
    ],
)
@pytest.mark.parametrize("arms", [None, COLOURS], ids=["unnamed", "named"])
def test_a_damaged_file_is_refused(tmp_path, arms, damage):
    agent = make_agent(arms, LinCORe(sampler="exact"))
    agent.ask(EYE)
    agent.save(tmp_path / "agent.json")
    saved = json.loads((tmp_path / "agent.json").read_text())
    damage(saved)
    reseal(tmp_path / "agent.json", saved)
    with pytest.raises(ValueError, match="is not a saved agent, or damaged"):
        cb.Agent.load(tmp_path / "agent.json")


def test_threads_may_share_an_agent():
    agent = make_agent()

    def work(thread):
        for seed in range(100):
            agent.tell(agent.ask(random_rows(seed, 1 + thread * 3)), 1.0)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert agent.n_observations == agent._desk.state.pool.tally[0] == 400
    assert not agent.pending


def test_masked_features_are_missing_ones():
    agent = cb.Agent(cb.LinCORe())
    with pytest.raises(ValueError, match=r"features must be finite .* row 1, column 0 is nan"):
        agent.ask(np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 0], [1, 0]]))


def test_redundant_features_change_no_choice_once_all_is_seen():
    rows = np.random.default_rng(0).normal(size=(6, 3))
    plain, redundant = (cb.Agent(cb.LinGreedy(), seed=1) for _ in range(2))
    for index in range(50):
        one, other = plain.ask(rows), redundant.ask(np.hstack([rows, np.zeros((6, 1))]))
        assert one.arm == other.arm
        for agent, decision in ((plain, one), (redundant, other)):
            agent.tell(decision, float(index % 3))


# Data frames ----------------------------------------------------------------------------------------------------------


class Indexed:
    """What a frame of pandas has of what matters here."""

    iloc = None

    def __init__(self, rows, index):
        self.rows, self.index = rows, np.array(list(index))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, part):
        return Indexed(self.rows[part], self.index[part])

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype)

    def to_numpy(self):
        return np.array(self.rows)


FRAME_ROWS = {"blue": [0.0, 5.0], "red": [5.0, 0.0], "green": [1.0, 1.0]}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_rows_of_a_frame_go_to_the_arms_that_they_name(kind):
    agent, twin = (make_agent(["red", "green", "blue"]) for _ in range(2))
    if kind == "pandas":
        frame = Indexed(list(FRAME_ROWS.values()), list(FRAME_ROWS))
        nameless = Indexed(list(FRAME_ROWS.values()), range(3))
    else:
        frame = pl.DataFrame([(name, *row) for name, row in FRAME_ROWS.items()], ["arm", "x", "y"], orient="row")
        nameless = frame.drop("arm")
    for given in (frame, frame[:2]):
        mapping = dict(list(FRAME_ROWS.items())[: len(given)])
        decision = agent.ask(given)
        assert decision.arm == twin.ask(mapping).arm
        assert np.array_equal(agent._ledger.waiting[decision.id][1][1], mapping[decision.arm])
    before = agent.to_dict()
    with pytest.raises(cb.BadFeatures, match=r"if its rows are in the order of agent\.arms, say frame\.to_numpy\(\)$"):
        agent.ask(nameless)
    with pytest.raises(cb.BadInput, match=r"^arms must be those that the .* of the frame names"):
        agent.ask(frame, arms=["red"])
    with pytest.raises(cb.BadInput, match=r"^arms must be a list of arms, not 5$"):
        agent.ask(frame, arms=5)
    with pytest.raises(cb.BadInput, match=r"^arm must be hashable, such as .*, not \['red'\]$"):
        agent.ask(frame, arms=[["red"]])
    assert agent.to_dict() == before
    agent.ask(frame, arms=["red", "blue", "green"])
    make_agent(None).ask(nameless)  # where options are rows, their place is their name


def test_fields_of_a_user_need_a_context():
    for arms in (None, ["red", "green"]):
        with pytest.raises(cb.BadFeatures, match=r"^features must map .* make the agent with context=Context\(user="):
            make_agent(arms).ask({"age": 1, "country": "de"})


def test_arms_must_be_a_list():
    for agent in (cb.Agent(cb.UCB1(), ["red", "green"]), make_agent(["red", "green"])):
        with pytest.raises(cb.BadInput, match=r"^arms must be a list of arms, not 5$"):
            agent.ask(None if agent.policy.label == "UCB1" else np.eye(2), arms=5)


def test_a_frame_is_done_again_with_its_names(tmp_path):
    url = f"sqlite:///{tmp_path}/shop.db"
    frame = pl.DataFrame([(name, *row) for name, row in FRAME_ROWS.items()], ["arm", "x", "y"], orient="row")
    agent = cb.open_agent(url, "a", cb.LinTS(), ["red", "green", "blue"], seed=7, synchronous="normal")
    agent.tell(agent.ask(frame), 1.0)
    content = agent.to_dict()
    agent._keep_snapshot = lambda *snapshot: None
    agent.close()
    with cb.open_agent(url, "a", synchronous="normal") as agent:
        assert agent.to_dict() == content
