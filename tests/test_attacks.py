"""Damaged files at full size, for `-m endurance`; `-k savers` is one of them. Small forms are tests of each room."""

import pytest

from attacks import attack_agents, attack_chunks, attack_machine_code, attack_results, attack_savers

pytestmark = pytest.mark.endurance


@pytest.mark.parametrize(
    "attack_files",
    [attack_agents, attack_chunks, attack_machine_code, attack_results, attack_savers],
    ids=["agents", "chunks", "machine code", "results", "savers"],
)
def test_nothing_is_believed_that_was_damaged(attack_files, tmp_path):
    attack_files(tmp_path, share=1.0)
