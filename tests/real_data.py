"""Real click models and logs, which nobody may ship.

Tests on them run where the environment variable COREBANDIT_DATA names a folder that holds them, and are skipped, with
this reason in sight, everywhere else: no other test, and no default command, needs them.
"""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("COREBANDIT_DATA", "nowhere"))
MODELS = DATA / "click_models" / "yandex60.json.gz"
LOGS = DATA / "yandex_wscd"

needs_real_data = pytest.mark.skipif(
    not (MODELS.is_file() and LOGS.is_dir()),
    reason="COREBANDIT_DATA names no folder with click_models and yandex_wscd, which cannot be shipped",
)
