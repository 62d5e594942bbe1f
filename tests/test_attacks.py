"""The attacks at full size, for `-m endurance`; `-k savers` is one of them. Small forms are tests of each room."""

import pytest

from attacks import attack_agents, attack_chunks, attack_machine_code, attack_results, attack_savers
from forging import attack, attacked, is_harmless

pytestmark = pytest.mark.endurance


@pytest.mark.parametrize(
    "attack_files",
    [attack_agents, attack_chunks, attack_machine_code, attack_results, attack_savers],
    ids=["agents", "chunks", "machine code", "results", "savers"],
)
def test_nothing_is_believed_that_was_damaged(attack_files, tmp_path):
    attack_files(tmp_path, share=1.0)


@pytest.mark.parametrize("kind", ["clicks", "numbers"])
@pytest.mark.parametrize("spec", attacked())
def test_no_forged_state_does_harm(spec, kind):
    harmful = [(forgery, found) for _, forgery, found in attack([spec], kind) if not is_harmless(found)]
    assert harmful == []
