"""Files are not to be trusted: whatever they say, an agent is refused in a sentence or plays on."""

import json

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.codec import array_to_json, write_content
from corebandit.catalogue import policy_from
from corebandit.contracts.errors import DamagedFile
from forging import attack, content_of, is_harmless, new_agent, trained

# States that keep places in arrays; test_attacks.py takes all. To compile them for checked indices is what takes long.
FEW, SOME = ["SSMC"], ["CORe", "SSMC", "LinTS", "BatchRank"]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("specs", "kind"),
    [
        (FEW, "numbers"),
        pytest.param(SOME, "numbers", marks=pytest.mark.thorough),
        pytest.param(SOME, "clicks", marks=pytest.mark.thorough),
    ],
)
def test_no_forged_agent_crashes_hangs_or_leaves_its_memory(specs, kind):
    outcomes = list(attack(specs, kind, n_rounds=40, share=0.04))
    assert len(outcomes) > 2 * len(specs)
    assert [found for found in outcomes if not is_harmless(found[2])] == []
    assert {result for _, name, result in outcomes if name == "nothing"} == {"played"}


def forged(tmp_path, content, **changes):
    write_content(tmp_path / "forged.json", {**content, **changes})
    return tmp_path / "forged.json"


def test_a_count_that_is_off_is_named(tmp_path):
    content = content_of(trained("CORe", "clicks"))
    path = forged(tmp_path, content, state=[array_to_json(np.array([1.0, 2.0, 3.0, 4.0])), *content["state"][1:]])
    with pytest.raises(DamagedFile, match="damaged: counts must go with the number of observations"):
        cb.Agent.load(path)


def test_a_generator_of_zeros_is_refused(tmp_path):
    content = content_of(trained("UCB1", "clicks"))
    with pytest.raises(DamagedFile, match="the random generator must not be all zeros"):
        cb.Agent.load(forged(tmp_path, content, rng=array_to_json(np.zeros(4, np.uint64))))


@pytest.mark.parametrize(
    "claims",
    [
        {"capacity": 10**15},
        {"n_observations": 10**15, "capacity": 2**50},
        {"n_observations": 10**9, "capacity": 2**30},
        {"n_observations": 10**400, "capacity": 10**400},
    ],
)
@pytest.mark.parametrize("spec", ["CORe", "SSMC", "LinCORe(sampler='exact')"])
def test_no_file_can_have_memory_for_what_it_does_not_hold(tmp_path, spec, claims):
    path = forged(tmp_path, content_of(new_agent(policy_from(spec))), **claims)
    with pytest.raises(DamagedFile, match="or damaged"):
        cb.Agent.load(path)


@pytest.mark.parametrize("n_features", [4, 10**5, 10**12])
def test_features_that_nobody_has_seen_take_no_memory(tmp_path, n_features):
    with pytest.raises(DamagedFile, match="or damaged"):
        cb.Agent.load(forged(tmp_path, content_of(trained("LinTS", "clicks")), n_features=n_features))


def test_data_expand_no_further_than_the_array_they_are_for(tmp_path):
    content = content_of(trained("UCB1", "clicks"))
    bomb = {**content["state"][0], "zlib": array_to_json(np.zeros(10**6))["zlib"]}
    with pytest.raises(DamagedFile, match="an array of 32 bytes has other data"):
        cb.Agent.load(forged(tmp_path, content, state=[bomb, content["state"][1]]))


def test_one_digit_less_is_refused(tmp_path):
    agent = new_agent(policy_from("CORe"))
    for _ in range(40):
        agent.tell(agent.ask(), 1.0)
    agent.save(tmp_path / "saved.json")
    text = json.dumps(content_of(agent))
    assert '"n_observations": 40' in text
    path = forged(tmp_path, json.loads(text.replace('"n_observations": 40', '"n_observations": 4 ')))
    with pytest.raises(DamagedFile, match="or damaged"):
        cb.Agent.load(path)
