"""Contexts are dictionaries of numbers and words; what is new, missing or too much works, or gets a sentence."""

import json
from decimal import Decimal

import numpy as np
import pytest

import corebandit as cb
from same_agents import in_common

CONTEXT = cb.Context(user=["age", "country"], arm=["price", "brand"], crosses=[("country", "brand"), ("age", "arm")])
ITEMS = {"gift": {"price": 9.5, "brand": "acme"}, "news": {"price": 1, "brand": "best"}}


def shop(policy=None, **settings):
    return cb.Agent(policy or cb.LinTS(), ["gift", "news"], **{"seed": 7, "context": CONTEXT, **settings})


def row_of(agent, decision):
    _, (_, row, _, _), _ = agent._ledger.waiting[decision.id]
    return dict(zip(agent._encoder.names(), agent._desk.widened(row).tolist(), strict=True))


def test_numbers_words_and_crosses_become_columns():
    agent = shop()
    decision = agent.ask({"age": 30, "country": "de"}, arms={"gift": ITEMS["gift"]})
    assert row_of(agent, decision) == {
        "1": 1.0,
        "price": 9.5,
        "brand=acme": 1.0,
        "arm=gift": 1.0,
        "country=de x brand=acme": 1.0,
        "age x arm=gift": 30.0,
    }
    other = agent.ask({"age": True, "country": "fr"}, arms={"news": {"price": Decimal("0.5"), "brand": "acme"}})
    found = row_of(agent, other)
    assert list(found)[6:] == ["arm=news", "country=fr x brand=acme", "age x arm=news"]
    assert {name: value for name, value in found.items() if value} == {
        **{"1": 1.0, "price": 0.5, "brand=acme": 1.0},
        **{"arm=news": 1.0, "country=fr x brand=acme": 1.0, "age x arm=news": 1.0},
    }
    agent.tell(decision, 1.0)  # its row is from before some columns were there
    agent.tell(other, 0.0)


@pytest.mark.parametrize("policy", [cb.LinTS(), cb.LinCORe()], ids=lambda policy: policy.name)
def test_words_that_come_late_are_as_if_their_columns_had_been_there(policy):
    """What is learnt before a column is there is what would be learnt with zeros in it."""
    rng = np.random.default_rng(1)
    agent = cb.Agent(policy, ["a", "b"], seed=7, context=cb.Context(arm=["x", "w"]))
    rows = [{"x": float(rng.normal()), "w": "one" if number < 20 else "two"} for number in range(40)]
    rewards = rng.random(40).tolist()
    for row, reward in zip(rows, rewards, strict=True):
        agent.observe("a", reward, row)
    plain = cb.Agent(policy, ["a", "b"], seed=7)
    for row, reward in zip(rows, rewards, strict=True):
        plain.observe("a", reward, [1.0, row["x"], float(row["w"] == "one"), 1.0, float(row["w"] == "two")])
    table = np.array([[1.0, 0.5, 1.0, 1.0, 0.0], [1.0, 0.5, 0.0, 1.0, 1.0]])
    assert agent._encoder.names() == ["1", "x", "w=one", "arm=a", "w=two"]
    assert agent._desk.choose(table, None, agent._ledger.traffic, agent._desk.look).state is not None
    scores = np.zeros((2, 2))
    for place, desk in enumerate((agent._desk, plain._desk)):
        desk.state.score(table, cb.Agent(policy, ["a", "b"], seed=3)._desk.rng, scores[place])
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)


def test_an_agent_learns_who_likes_what():
    agent, rng, n_good = shop(cb.RecommendedLinCORe()), np.random.default_rng(2), 0
    for number in range(600):
        country = str(rng.choice(["de", "fr", "it"]))
        decision = agent.ask({"country": country}, arms=ITEMS)
        wanted = "gift" if country == "de" else "news"
        agent.tell(decision, float(decision.arm == wanted))
        n_good += number >= 300 and decision.arm == wanted
    assert n_good > 270


def test_what_is_missing_counts_for_nothing():
    agent = shop()
    for user, items in [(None, ITEMS), ({}, None), ({"country": None}, ["gift"]), ({"age": 3}, {"news": None})]:
        decision = agent.ask(user, arms=items)
        assert row_of(agent, decision)["1"] == 1.0
        agent.tell(decision, 1.0)


def test_words_beyond_the_limit_are_other_and_stay_so():
    context = cb.Context(arm=["brand"], max_words=3)
    agent = cb.Agent(cb.LinTS(), range(3), seed=7, context=context)
    for word in "abcdefgh":
        agent.ask(arms={0: {"brand": word}})
    assert agent._encoder.names() == ["1", "brand=a", "arm=0", "brand=b", "brand=c", "brand: other"]
    decision = agent.ask(arms={1: {"brand": "h"}})
    assert row_of(agent, decision)["brand: other"] == 1.0
    agent.ask(arms={2: {"brand": "a"}})
    assert agent._encoder.names()[6:] == ["arm=1", "arm=2"]
    wide = cb.Agent(cb.LinTS(), range(100), seed=7, context=cb.Context(max_words=3))
    wide.tell(wide.ask(), 1.0)
    assert len(wide._encoder) == 101  # arms are declared, so each has a column


BAD = {
    "a field of nobody": ({"agee": 3}, ITEMS, r"^the user: unknown field 'agee': did you mean 'age'\?$"),
    "a field of the arm": ({"price": 3}, ITEMS, "^the user: unknown field 'price'"),
    "no dictionary": (34, ITEMS, "^the user must be described by a dictionary of fields, not 34$"),
    "an arm without one": ({}, {"gift": 3}, "^arm 'gift' must be described by a dictionary of fields, not 3$"),
    "an arm of nobody": ({}, {"gyft": {}}, "^arm must be one of 'gift', 'news', not 'gyft'$"),
    "a string of arms": ({}, "gift", r"^arms must be a list of arms, such as \['gift'\], not the string 'gift'$"),
    "no arms": ({}, [], "^arms must name at least one arm, not none$"),
    "a word for a number": ({"age": "34"}, ITEMS, "^age must be a number, as before, not '34'$"),
    "a number for a word": ({"country": 49}, ITEMS, "^country must be a word, as before, not 49.0$"),
    "not finite": (
        {"age": np.nan},
        ITEMS,
        "^age of the user must be a word, or a finite number up to 1e.100, not nan$",
    ),
    "no float": ({"age": 10**400}, ITEMS, r"^age of the user must be a word, or a finite number up to 1e.100, not 10"),
    "no number": ({"age": Decimal("sNaN")}, ITEMS, r"^age of the user must be a word, or a finite number .* not Dec"),
    "arms that are none": ({}, 5, "^arms must be a list of arms, or what describes each, not 5$"),
    "neither": ({"age": [3]}, ITEMS, r"^age of the user must be a word, or a finite number up to 1e.100, not \[3\]$"),
    "out of reach": ({"age": 1e9, "country": "new"}, ITEMS, r"^features: age x arm=gift is 1.* nothing beyond 30 was"),
}


@pytest.mark.parametrize(("user", "items", "sentence"), BAD.values(), ids=BAD)
def test_what_is_refused_changes_nothing(user, items, sentence):
    agent = shop()
    for _ in range(100):
        agent.tell(agent.ask({"age": 30, "country": "de"}, arms=ITEMS), 1.0)
    before = agent.to_dict()
    for call in (agent.ask, agent.probabilities, lambda user, arms: agent.ask_many([{}, user], arms=arms)):
        with pytest.raises(cb.BadInput, match=sentence):
            call(user, arms=items)
    assert agent.to_dict() == before


def test_observations_are_described_by_one_dictionary():
    agent, twin = shop(), shop()
    described = {"age": 30, "country": "de", **ITEMS["gift"]}
    agent.observe("gift", 1.0, described)
    agent.observe("news", 0.0)
    twin.observe_many(["gift", "news"], [1.0, 0.0], [described, None])
    content, other = in_common(agent), in_common(twin)
    assert (content.pop("n_seen"), other.pop("n_seen")) == (2, 1)
    assert content == other
    before = agent.to_dict()
    with pytest.raises(cb.BadFeatures, match=r"^x: unknown field 'colour'"):
        agent.observe("gift", 1.0, {"colour": "red"})
    with pytest.raises(cb.BadFeatures, match=r"^x must have one dictionary for each of 2 arms, not 1$"):
        agent.observe_many(["gift", "news"], [1.0, 0.0], [described])
    for x in (5, described):
        with pytest.raises(cb.BadFeatures, match=r"^x must be a list of dictionaries, one for each arm, not "):
            agent.observe_many(["gift", "news"], [1.0, 0.0], x)
    assert agent.to_dict() == before


def test_numbers_that_are_too_large_together_change_nothing():
    """What is refused in a column that is new must leave no column behind."""
    context = cb.Context(user=["age", "income"], arm=["price"], crosses=[("age", "price"), ("income", "price")])
    agent, sentence = cb.Agent(cb.LinTS(), ["gift", "news"], seed=7, context=context), "must be finite and at most 1e"
    for n_asked in (0, 120):
        for _ in range(n_asked):
            agent.ask({"age": 3}, arms={"gift": {"price": 2}, "news": None})
        before = agent.to_dict()
        for call in (agent.ask, agent.probabilities, lambda user, arms: agent.ask_many([{}, user], arms=arms)):
            with pytest.raises(cb.BadFeatures, match=rf"^features {sentence}.100 .* but income x price is 2e.100"):
                call({"income": 1e100}, arms={"gift": {"price": 2}})
        with pytest.raises(cb.BadFeatures, match=rf"^x {sentence}"):
            agent.observe("gift", 1.0, {"income": 1e100, "price": 2})
        assert agent.to_dict() == before


def test_a_field_may_come_late_and_is_measured_from_then_on():
    agent = cb.Agent(cb.LinTS(), ["gift", "news"], seed=7, context=cb.Context(user=["country", "income"]))
    for _ in range(120):
        agent.ask({"country": "de"})
    agent.ask({"country": "de", "income": 45_000})
    agent.observe("gift", 1.0, {"income": 50_000})
    before = agent.to_dict()
    with pytest.raises(
        cb.BadFeatures, match=r"^features: income x arm=gift is 4500000000.0, where nothing beyond 50000"
    ):
        agent.ask({"country": "fr", "income": 4.5e9})
    with pytest.raises(cb.BadFeatures, match=r"^x: income x arm=news is -4500000000.0, where nothing beyond 45000"):
        agent.observe("news", 1.0, {"income": -4.5e9})
    assert agent.to_dict() == before
    free = shop(feature_limit=None)
    for age in (*[1] * 120, 1e9):
        free.ask({"age": age})


def test_what_a_field_holds_may_be_said():
    context = cb.Context(user={"age": float, "country": str, "plan": None}, arm={"price": int})
    assert context.user == ("age", "country", "plan")
    assert context != cb.Context(user=["age", "country", "plan"], arm=["price"])
    agent = cb.Agent(cb.LinTS(), ["gift", "news"], seed=7, context=context)
    for _ in range(2):
        before = agent.to_dict()
        for user, sentence in (
            ({"age": "34"}, "^age must be a number, as was said, not '34'$"),
            ({"country": 49}, r"^country must be a word, as was said, not 49.0$"),
        ):
            with pytest.raises(cb.BadFeatures, match=sentence):
                agent.ask(user)
        assert agent.to_dict() == before
        agent = cb.Agent.from_dict(json.loads(json.dumps(before)))
        assert agent.context == context
        agent.ask({"age": 34, "country": "de", "plan": "free"}, arms={"gift": {"price": 3}})
    content = agent.to_dict()
    content["context"]["kinds"]["age"] = "word"
    with pytest.raises(cb.DamagedFile):
        cb.Agent.from_dict(content)


def test_no_two_arms_share_a_column(caplog):
    arms = [1, "1", "\0" + "1", "a" * 300, "a" * 300 + "b", *(f"arm {number}" for number in range(60))]
    agent = cb.Agent(cb.LinTS(), arms, seed=7, context=cb.Context(user=["age"]))
    agent.ask()
    assert len(agent._encoder) == 1 + len(arms)
    agent.observe(1.0, 1.0)  # the arm 1, whoever says it how
    agent.ask(arms=[np.float64(1.0)])
    assert len(agent._encoder) == 1 + len(arms)
    assert not caplog.records
    for age in (3, 4):
        agent.ask({"age": age})
    assert agent._encoder.names()[-1] == "age x arm: other"
    assert [record.getMessage() for record in caplog.records] == [
        "the cross of age and arm has 50 columns, and all arms that come later share one: raise max_words of Context, "
        "or cross with fields that arms share"
    ]
    twin = cb.Agent.from_dict(json.loads(json.dumps(agent.to_dict())))
    twin.ask({"age": 5})
    assert twin._encoder.names() == agent._encoder.names()


def test_whoever_has_no_arms_left_is_told_so():
    agent = shop()
    for arm in ITEMS:
        agent.retire_arm(arm)
    with pytest.raises(cb.BadInput, match=r"^there is no arm to choose: all are retired; add one with add_arm$"):
        agent.ask({"age": 3})


def test_many_users_are_asked_for_at_once():
    agent, twin = shop(), shop()
    users = [{"age": age, "country": country} for age in (20, 40) for country in ("de", "fr", "it")]
    many = agent.ask_many(users, arms=ITEMS)
    assert len(many) == 6
    for user in users:
        twin.ask(user, arms=ITEMS)
    assert [row_of(agent, decision)["price"] for decision in many] == [
        ITEMS[decision.arm]["price"] for decision in many
    ]
    assert set(agent._encoder.names()) == set(twin._encoder.names())


def test_looking_adds_nothing_and_explains_in_words():
    agent = shop(cb.LinGreedy())
    agent.observe("gift", 1.0, {"country": "de", **ITEMS["gift"]})
    decision = agent.ask({"country": "de"}, arms=ITEMS)
    before = agent.to_dict()
    assert set(agent.probabilities({"country": "nowhere"}, arms=ITEMS)) == {"gift", "news"}
    assert agent.table({"country": "de"}).height == 2
    assert "country=de x brand=acme" in repr(agent.explain(decision))
    assert agent.to_dict() == before


def test_columns_are_saved_and_done_again(tmp_path):
    agent = shop()
    waiting = [agent.ask({"country": country}, arms=ITEMS) for country in ("de", "fr", "it")]
    twin = cb.Agent.from_dict(json.loads(json.dumps(agent.to_dict())))
    assert twin.context == agent.context == CONTEXT
    for each in (agent, twin):
        for decision in waiting:
            each.tell(decision.id, 1.0)
        each.ask({"country": "es", "age": 3}, arms=ITEMS)
    assert in_common(agent) == in_common(twin)

    url = f"sqlite:///{tmp_path}/shop.db"
    kept = cb.open_agent(url, "shop", cb.LinTS(), list(ITEMS), seed=7, context=CONTEXT, synchronous="normal")
    kept.tell(kept.ask({"country": "de"}, arms=ITEMS), 1.0)
    kept.ask_many([{"country": "fr"}, {"age": 3}], arms=ITEMS)
    kept.observe("gift", 1.0, {"country": "it", "brand": "new"})
    content = kept.to_dict()
    kept._keep_snapshot = lambda *snapshot: None
    kept.close()
    with cb.open_agent(url, "shop", context=CONTEXT, synchronous="normal") as kept:
        assert kept.to_dict() == content
    with pytest.raises(cb.BadInput, match=r"^context must be Context\("):
        cb.open_agent(url, "shop", context=cb.Context(), synchronous="normal")


@pytest.mark.parametrize("settings", [{}, {"holdout": 0.3}], ids=["fast", "one by one"])
def test_no_users_are_no_decisions(tmp_path, settings):
    url = f"sqlite:///{tmp_path}/shop.db"
    kept = cb.open_agent(url, "shop", cb.LinTS(), list(ITEMS), context=CONTEXT, synchronous="normal", **settings)
    many = kept.ask_many([], arms=ITEMS)
    assert (list(many), many.arms, many.ids) == ([], (), ())
    kept._keep_snapshot = lambda *snapshot: None  # so that everything is done again
    kept.close()
    with cb.open_agent(url, "shop", synchronous="normal") as kept:
        assert len(kept.pending) == 0


def test_an_agent_whose_fields_are_said_learns_nothing_again_where_nothing_is_changed(tmp_path):
    url, context = f"sqlite:///{tmp_path}/shop.db", cb.Context(user={"age": float, "country": str})
    with cb.open_agent(url, "shop", cb.LinTS(), ["red", "green"], context=context, synchronous="normal") as kept:
        for age in range(5):
            kept.tell(kept.ask({"age": age, "country": "de"}), 1.0)
        content = kept.to_dict()
    with cb.open_agent(url, "shop", cb.LinTS(), context=context, change=True, synchronous="normal") as kept:
        assert kept.to_dict() == content


FORGED = {
    "a column of no term": lambda context: context["columns"].append([99, []]),
    "a column twice": lambda context: context["columns"].append(context["columns"][0]),
    "words of a number": lambda context: context["columns"].append([0, ["a"]]),
    "a number for a word": lambda context: context["columns"].__setitem__(-1, [1, [3]]),
    "a column less": lambda context: context["columns"].pop(),
    "a kind of nobody": lambda context: context["kinds"].update(age="colour"),
    "a field of nobody": lambda context: context["kinds"].update(colour="word"),
    "more than may be": lambda context: context.update(max_words=1),
}


@pytest.mark.parametrize("damage", FORGED.values(), ids=FORGED)
def test_what_was_forged_is_refused(damage):
    agent = shop()
    for country in ("de", "fr"):
        agent.ask({"country": country, "age": 3}, arms=ITEMS)
    content = agent.to_dict()
    damage(content["context"])
    with pytest.raises(cb.DamagedFile):
        cb.Agent.from_dict(content)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"user": "age"}, "^user must be a list of names of fields, not 'age'$"),
        ({"user": [3]}, r"^user must be a list of names of fields, not \[3\]$"),
        ({"arm": 3}, "^arm must be a list of names of fields, not 3$"),
        ({"user": ["a"], "arm": ["a"]}, "^fields of user and arm must all be different, but 'a' is there twice$"),
        ({"arm": ["arm"]}, "^fields of user and arm must .* 'arm' is there twice; every arm has it anyway$"),
        ({"user": ["age"], "crosses": [("age", "arms")]}, "^unknown field in crosses 'arms': did you mean 'arm'"),
        ({"user": ["age"], "crosses": [("age",)]}, r"^crosses must be pairs of different fields, not \('age',\)$"),
        ({"crosses": 5}, "^crosses must be pairs of different fields, not 5$"),
        ({"crosses": "ab"}, "^crosses must be pairs of different fields, not 'ab'$"),
        ({"user": {"age": "old"}}, "^user must say float or str of 'age', not 'old'$"),
        ({"arm": {"age": []}}, r"^arm must say float or str of 'age', not \[\]$"),
        ({"max_words": 0}, "^max_words must be a whole number of at least 1, not 0$"),
    ],
)
def test_contexts_that_make_no_sense_are_refused(arguments, sentence):
    with pytest.raises(cb.BadInput, match=sentence):
        cb.Context(**arguments)


def test_contexts_are_for_policies_by_features_and_arms_with_names():
    for policy, arms in ((cb.CORe(), ["a"]), (cb.LinTS(), None)):
        with pytest.raises(cb.BadInput, match=r"^context is for policies that choose by features"):
            cb.Agent(policy, arms, context=CONTEXT)
    with pytest.raises(cb.BadInput, match=r"^context must be a Context\(user="):
        cb.Agent(cb.LinTS(), ["a"], context={"user": ["age"]})


def test_a_new_word_makes_nothing_be_tried_again_that_was_tried():
    agent = cb.Agent(cb.LinCORe(), ["red", "green"], seed=1, context=cb.Context(user=["country"], crosses=[]))
    for _ in range(20):
        agent.tell(agent.ask({"country": "de"}), 1.0)
    span = agent._desk.state.span
    known = agent._in_columns([{"country": "de"}], None)[0][0]
    assert not any(span.is_new(row) for row in known)
    agent.add_arm("blue")
    table = agent._in_columns([{"country": "de"}], None)[0][0]
    assert table.shape[1] > known.shape[1]
    assert [bool(agent._desk.state.span.is_new(row)) for row in table] == [False, False, True]
