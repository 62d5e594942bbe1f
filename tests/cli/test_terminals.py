"""The command line on terminals that cannot show every character: nothing fails for that reason."""

import os
import re
import subprocess
import sys

import pytest

from often import often

pytestmark = pytest.mark.heavy  # processes of their own

# Several commands, each begun by this sign, in one process.
SIGN = "//"
SCRIPT = f"""
import io, sys
from corebandit.cli import main

if "compare" in sys.argv:  # figures are left undrawn
    import matplotlib.figure

    def write_little(figure, file, **settings):
        file.write("<svg viewBox=\\"0 0 1 1\\"/>" if isinstance(file, io.TextIOBase) else b"undrawn")

    matplotlib.figure.Figure.savefig = write_little
given = sys.argv[1:]
while given:
    end = given.index("{SIGN}", 1) if "{SIGN}" in given[1:] else len(given)
    sys.argv[1:], given = given[1:end], given[end:]
    try:
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    for stream in (sys.stdout, sys.stderr):
        print("{SIGN}", code, "{SIGN}", file=stream, flush=True)
"""
LOCALES = {
    "utf-8": {"PYTHONIOENCODING": "utf-8"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "strict": {"PYTHONIOENCODING": "ascii:strict"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def corebandit(locale, *commands, folder):
    """Run commands in a process of their own; return for each its code and what it printed and complained, as bytes."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *(word for command in commands for word in (SIGN, *command))],
        env={**inherited, **LOCALES[locale]},
        cwd=folder,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    ended = re.compile(rf"{SIGN} (\d+) {SIGN}\r?\n".encode())
    *printed, _ = ended.split(done.stdout)
    *complained, _ = ended.split(done.stderr)
    return [
        (int(code), said, error) for said, code, error in zip(printed[::2], printed[1::2], complained[::2], strict=True)
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("locale", often(["C"], LOCALES))  # which refuses most
def test_the_policies_are_listed_and_an_error_that_names_something_is_a_sentence(locale, tmp_path):
    (tmp_path / "mine.toml").write_text('problems = ["bernoulli"]\npolicies = ["zażółć…"]\n', encoding="utf-8")
    compare = ["compare", "--problem", "bernoulli", "--policies", "UCB1", "--horizon", "50", "--runs", "2"]
    commands = [["list", "policies"], ["run", "zażółć.toml"], ["run", "mine.toml"]]
    if locale == "C":
        commands.append([*compare, "--out", "zażółć"])
    listed, missing, unknown, *refused = corebandit(locale, *commands, folder=tmp_path)
    assert [code for code, _, _ in (listed, missing, unknown, *refused)] == [0, *[2] * (len(commands) - 1)]
    assert b"CORe" in listed[1]
    assert missing[2].startswith(b"Error: cannot read za")
    assert unknown[2].startswith(b"Error: mine.toml: ")
    for _, _, error in refused:  # a folder that the locale cannot spell, before the work
        assert b"set LC_ALL=C.UTF-8" in error
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


@pytest.mark.parametrize("locale", often(["strict"], LOCALES))
def test_a_comparison_ends_with_its_table(locale, tmp_path):
    command = ["compare", "--problem", "bernoulli", "--policies", "UCB1", "--horizon", "50", "--runs", "2"]
    name = "plain" if locale == "C" else "zażółć"
    ((code, printed, _),) = corebandit(locale, [*command, "--jobs", "1", "--out", name], folder=tmp_path)
    assert code == 0
    sign = {"latin-1": b"\xb1", "utf-8": b"\xc2\xb1"}.get(locale, b"+/-")
    assert sign in printed
    assert f"--out {name}" in (tmp_path / name / "report.html").read_text(encoding="utf-8").replace(
        "&#39;", "'"
    ).replace("'", "")


def test_what_can_be_shown_is_shown_as_it_is(tmp_path):
    (tmp_path / "mine.toml").write_text('problems = ["bernoulli"]\npolicies = ["zażółć"]\n', encoding="utf-8")
    ((code, _, error),) = corebandit("utf-8", ["run", "mine.toml"], folder=tmp_path)
    assert code == 2
    assert "zażółć" in error.decode()
