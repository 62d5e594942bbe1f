"""The command line on terminals that cannot show every character: nothing fails for that reason."""

import os
import subprocess
import sys

import pytest

from often import often

pytestmark = pytest.mark.heavy  # processes of their own

MAIN = [sys.executable, "-c", "from corebandit.cli import main; main()"]
LOCALES = {
    "utf-8": {"PYTHONIOENCODING": "utf-8"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "strict": {"PYTHONIOENCODING": "ascii:strict"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
SOME = ["C"]  # which refuses most


def corebandit(locale, *arguments, folder, code=0):
    """Run a command in a process of its own and return what it printed, as bytes."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    done = subprocess.run(
        [*MAIN, *arguments], env={**inherited, **LOCALES[locale]}, cwd=folder, capture_output=True, timeout=300
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("locale", often(SOME, LOCALES))
def test_the_policies_are_listed(locale, tmp_path):
    assert b"CORe" in corebandit(locale, "list", "policies", folder=tmp_path).stdout


@pytest.mark.parametrize("locale", often(["strict"], LOCALES))
def test_a_comparison_ends_with_its_table(locale, tmp_path):
    command = ["compare", "--problem", "bernoulli", "--policies", "UCB1", "--horizon", "50", "--runs", "2"]
    name = "plain" if locale == "C" else "zażółć"
    printed = corebandit(locale, *command, "--jobs", "1", "--out", name, folder=tmp_path).stdout
    sign = {"latin-1": b"\xb1", "utf-8": b"\xc2\xb1"}.get(locale, b"+/-")
    assert sign in printed
    assert f"--out {name}" in (tmp_path / name / "report.html").read_text(encoding="utf-8").replace(
        "&#39;", "'"
    ).replace("'", "")


def test_a_folder_that_the_locale_cannot_spell_is_refused_before_the_work(tmp_path):
    command = ["compare", "--problem", "bernoulli", "--policies", "UCB1", "--out", "zażółć"]
    refused = corebandit("C", *command, folder=tmp_path, code=2)
    assert b"set LC_ALL=C.UTF-8" in refused.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("locale", often(SOME, LOCALES))
def test_an_error_that_names_something_is_a_sentence(locale, tmp_path):
    missing = corebandit(locale, "run", "zażółć.toml", folder=tmp_path, code=2)
    assert missing.stderr.startswith(b"Error: cannot read za")
    (tmp_path / "mine.toml").write_text('problems = ["bernoulli"]\npolicies = ["zażółć…"]\n', encoding="utf-8")
    unknown = corebandit(locale, "run", "mine.toml", folder=tmp_path, code=2)
    assert unknown.stderr.startswith(b"Error: mine.toml: ")


def test_what_can_be_shown_is_shown_as_it_is(tmp_path):
    (tmp_path / "mine.toml").write_text('problems = ["bernoulli"]\npolicies = ["zażółć"]\n', encoding="utf-8")
    assert "zażółć" in corebandit("utf-8", "run", "mine.toml", folder=tmp_path, code=2).stderr.decode()
