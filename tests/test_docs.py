"""README, guides and examples are executed, so they cannot lie."""

import re
import runpy
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from corebandit.catalogue import known_policies, signature
from corebandit.cli import app
from often import often

ROOT = Path(__file__).parent.parent
TOLD_IN_ORDER = ROOT / "docs" / "ranking.md"  # where commands use what the Python before them wrote
PAGES = [ROOT / "README.md", *sorted(set((ROOT / "docs").glob("*.md")) - {TOLD_IN_ORDER})]
REPRODUCE = ("reproduce --quick", "reproduce figure1 --quick")  # tests/cli does it; here only with -m endurance
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture
def few_queries(monkeypatch):
    """Let Figure 4 have a few of its 60 queries."""
    monkeypatch.setattr("corebandit.reproduction.paper.figure4.N_QUERIES", 2)


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "page",
    often([page for page in PAGES if page.name != "neural.md"], PAGES, pytest.mark.thorough),
    ids=lambda page: page.name,
)
def test_the_python_on_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # What is found by its name is compiled once and kept, as a user's file would be.
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), vars(module))


@pytest.mark.thorough  # six ranking policies
@pytest.mark.usefixtures("undrawn", "few_queries")
def test_a_page_told_in_order_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    pattern = r"^```(python|console)\n(.*?)^```"
    for language, block in re.findall(pattern, TOLD_IN_ORDER.read_text(), re.MULTILINE | re.DOTALL):
        if language == "python":
            exec(compile(block, str(TOLD_IN_ORDER), "exec"), namespace)
            continue
        for line in block.splitlines():
            arguments = shlex.split(line.partition("corebandit ")[2])
            small = ["--runs", "2", "--horizon", "100"] if arguments[0] in ("reproduce", "compare") else []
            result = CliRunner().invoke(app, [*arguments, *small])
            assert result.exit_code == 0, result.output


@pytest.mark.heavy
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs_and_prints(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def commands():
    for page in PAGES:
        for block in blocks(page, "console"):
            for line in block.splitlines():
                command = line.partition("corebandit ")[2]
                if command:
                    yield pytest.param(command, id=f"{page.name}: {command[:50]}")


def run_small(command):
    arguments = shlex.split(command)
    if arguments[0] != "list":
        arguments += ["--runs", "2", "--horizon", "100"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn", "few_queries")
@pytest.mark.parametrize("command", [each for each in commands() if each.values[0] not in REPRODUCE])
def test_a_command_on_a_page_works(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_small(command)


@pytest.mark.endurance
@pytest.mark.parametrize("command", list(commands()))
def test_a_command_on_a_page_draws_its_figures(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_small(command)


@pytest.mark.heavy
@pytest.mark.usefixtures("undrawn")
def test_experiment_files_on_a_page_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(ROOT / "docs" / "guide.md", "toml")
    (tmp_path / "mine.toml").write_text(block)
    result = CliRunner().invoke(app, ["run", "mine.toml", "--runs", "2", "--horizon", "100"])
    assert result.exit_code == 0, result.output


def test_every_command_is_documented():
    guide = (ROOT / "docs" / "guide.md").read_text()
    for command in app.registered_commands:
        assert f"`corebandit {command.name or command.callback.__name__}`" in guide
    for group in app.registered_groups:
        assert f"`corebandit {group.name}`" in guide


def policies_table():
    """Return the table of docs/policies.md as the code says it should be."""
    rows = ["| policy | what it does |", "|---|---|"]
    for name, policy in known_policies().items():
        rows.append(f"| `{name}({signature(policy)})` | {policy.__doc__.partition(chr(10))[0]} |")
    return "\n".join(rows)


def test_the_table_of_policies_is_up_to_date():
    assert policies_table() in (ROOT / "docs" / "policies.md").read_text()


def test_no_page_points_to_a_file_that_is_not_there():
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"
