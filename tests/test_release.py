"""The script that makes releases: what it finds in the way of one, and what it builds."""

import re
import runpy
import subprocess
import zipfile
from pathlib import Path

import pytest

import corebandit as cb

ROOT = Path(__file__).parent.parent
RELEASE = runpy.run_path(str(ROOT / "scripts" / "release.py"))


def git(folder, *arguments):
    names = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def ready(tmp_path):
    """Return a repository that is ready to be released as version 1.2.3."""
    (tmp_path / "src" / "corebandit").mkdir(parents=True)
    (tmp_path / "src" / "corebandit" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3\n\n* All.\n\n## 1.2.2\n")
    (tmp_path / "CITATION.cff").write_text("title: x\nversion: 1.2.3\n")
    git(tmp_path, "init", "--initial-branch", "main")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--message", "ready")
    return tmp_path


def test_nothing_is_in_the_way_of_what_is_ready(ready):
    assert RELEASE["obstacles"](ready) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("src/corebandit/__init__.py", "1.2.3", "1.2.3.dev0", "must be like 1.2.3, not 1.2.3.dev0"),
        ("src/corebandit/__init__.py", "1.2.3", "1.2.4", "CHANGELOG.md must begin with 1.2.4, not 1.2.3"),
        ("CHANGELOG.md", "## 1.2.3", "## 1.2.3 (in the making)", "must begin with 1.2.3, not 1.2.3 (in the making)"),
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff must name version 1.2.3, not 1.2.2"),
    ],
)
def test_what_does_not_fit_together_is_in_the_way(ready, file, old, new, sentence):
    path = ready / file
    path.write_text(path.read_text().replace(old, new))
    git(ready, "commit", "--all", "--message", "edited")
    assert sentence in " ".join(RELEASE["obstacles"](ready))


def test_the_state_of_the_repository_may_be_in_the_way(ready):
    git(ready, "tag", "v1.2.3")
    git(ready, "commit", "--allow-empty", "--message", "later")
    git(ready, "checkout", "-b", "other")
    (ready / "new.txt").write_text("")
    assert RELEASE["obstacles"](ready) == [
        "everything must be committed, but there is ?? new.txt",
        "releases are made from main, not from other",
        "there is a tag v1.2.3 already, of another commit",
    ]


def test_a_release_goes_on_where_it_was_left_after_its_tag(ready):
    git(ready, "tag", "--annotate", "v1.2.3", "--message", "Version 1.2.3")
    assert RELEASE["obstacles"](ready) == []


def test_the_citation_names_the_version_that_is_in_the_making():
    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1] == cb.__version__


@pytest.mark.endurance
def test_what_is_built_can_be_used(tmp_path):
    source, wheel = sorted(RELEASE["build"](ROOT, tmp_path), key=lambda path: path.suffix)
    assert source.name.endswith(".tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"corebandit/py.typed", "corebandit/__init__.pyi", "corebandit/report/page.css"} <= set(names)
    assert not [name for name in names if name.startswith(("tests", "scripts"))]
    RELEASE["try_wheel"](wheel, cb.__version__)
