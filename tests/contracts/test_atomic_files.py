"""Files that are whole or not there."""

import errno
import json
import os
import stat
import threading
from pathlib import Path

import pytest

from corebandit.contracts import atomic_files
from corebandit.contracts.atomic_files import (
    check_writable,
    fits_its_digest,
    json_with_digest,
    remove_leftovers,
    sealed,
    unsealed,
    write_whole,
    writing_whole,
)
from corebandit.contracts.errors import BadInput, CannotWrite, DamagedFile
from killed_savers import CONTENTS, kill_savers


def test_content_is_replaced(tmp_path):
    for content in ("one", b"two"):
        write_whole(tmp_path / "file", content)
    assert (tmp_path / "file").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_error_while_writing_changes_nothing(tmp_path):
    write_whole(tmp_path / "file", "old")
    with pytest.raises(ZeroDivisionError), writing_whole(tmp_path / "file") as file:
        file.write(b"%d" % (1 / 0))
    assert (tmp_path / "file").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_full_disk_is_a_sentence_and_changes_nothing(tmp_path, monkeypatch):
    write_whole(tmp_path / "file", "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic_files.os, "fsync", full)
    with pytest.raises(CannotWrite, match=r"cannot write .*file: No space left on device"):
        write_whole(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_error_about_another_file_stays_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError), writing_whole(tmp_path / "file"):
        (tmp_path / "other").read_text()
    assert not list(tmp_path.iterdir())


def test_what_is_written_is_synced_before_it_takes_the_place(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(atomic_files.os, "fsync", lambda descriptor: (done.append("sync"), fsync(descriptor)))
    monkeypatch.setattr(atomic_files.os, "replace", lambda old, new: (done.append("replace"), replace(old, new)))
    write_whole(tmp_path / "file", "content")
    assert done == ["sync", "replace", "sync"]  # the file, its name, the folder


def test_links_are_followed_and_modes_kept(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o600
    (tmp_path / "dangling").symlink_to("made")
    write_whole(tmp_path / "dangling", "new")
    assert (tmp_path / "made").read_text() == "new"


def test_a_new_file_has_the_usual_mode(tmp_path):
    (tmp_path / "usual").write_text("")
    write_whole(tmp_path / "file", "")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_only_regular_files_are_replaced(tmp_path, kind):
    path = tmp_path / "file"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path = Path("/dev/null")
    before = path.stat().st_mode
    for write in (check_writable, lambda path: write_whole(path, "content")):
        with pytest.raises(CannotWrite, match=r"cannot write .*: it is a .*, not a file"):
            write(path)
    assert path.stat().st_mode == before


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    for write in (check_writable, lambda path: write_whole(path, "content")):
        with pytest.raises(CannotWrite, match=r"cannot write .*: No such file or directory") as refused:
            write(tmp_path / "no" / "file")
        assert isinstance(refused.value, BadInput | OSError)


def test_leftovers_are_removed_and_what_is_being_written_is_not(tmp_path):
    (tmp_path / ".file.0123456789abcdef.part").write_text("left by a killed writer")
    (tmp_path / ".other.0123456789abcdef.part").write_text("another's")
    (tmp_path / ".file").write_text("no part")
    with writing_whole(tmp_path / "file") as file:
        file.write(b"content")
        remove_leftovers(tmp_path, "file")
    assert {path.name for path in tmp_path.iterdir()} == {".file", ".other.0123456789abcdef.part", "file"}
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {".file", "file"}


def test_savers_in_one_process_never_tear_a_file(tmp_path):
    failures = []

    def save(content):
        try:
            for _ in range(30):
                write_whole(tmp_path / "file", content)
                assert (tmp_path / "file").read_bytes() in CONTENTS
                remove_leftovers(tmp_path)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=save, args=(content,)) for content in CONTENTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_killed_process_leaves_no_torn_file(tmp_path):
    kill_savers(tmp_path, kills=3)


def test_damage_to_sealed_content_shows():
    content = sealed(b"content")
    assert unsealed(content) == b"content"
    for place in range(len(content)):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            with pytest.raises(DamagedFile):
                unsealed(bytes(damaged))
    for cut in range(len(content)):
        with pytest.raises(DamagedFile):
            unsealed(content[:cut])


def test_json_carries_its_digest_however_it_is_spaced():
    content = {"b": [1, 2.5, None, "ü"], "a": {"x": True}}
    for indent in (None, 1):
        again = json.loads(json_with_digest(content, indent))
        assert {key: value for key, value in again.items() if key != "digest"} == content
        assert fits_its_digest(again)
        again["b"][0] = 2
        assert not fits_its_digest(again)
        assert not fits_its_digest(content)
