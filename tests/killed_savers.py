"""Processes that save to one path from three threads, and are killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from corebandit.contracts.atomic_files import remove_leftovers

CONTENTS = [bytes([byte]) * 200_000 for byte in b"abc"]

SAVERS = """
import sys, threading
from corebandit.contracts.atomic_files import remove_leftovers, write_whole
def save(byte):
    while True:
        write_whole("file", byte * 200_000)
for byte in (b"a", b"b", b"c"):
    threading.Thread(target=save, args=(byte,), daemon=True).start()
print("saving", flush=True)
threading.Event().wait()
"""


def kill_savers(folder: Path, kills: int) -> None:
    """Kill a process in which three threads save to one path, again and again; the file must be whole each time."""
    for kill in range(kills):
        process = subprocess.Popen([sys.executable, "-c", SAVERS], cwd=folder, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "saving\n"
        time.sleep(0.02 + 0.001 * (kill * 7 % 40))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if (folder / "file").exists():
            assert (folder / "file").read_bytes() in CONTENTS
        remove_leftovers(folder)
        assert {path.name for path in folder.iterdir()} <= {"file"}
