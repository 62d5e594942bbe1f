"""The command line: argument parsing over functions that the library has anyway."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer

from corebandit.cli import commands
from corebandit.cli.click_commands import clicks
from corebandit.cli.stopping import end_at_once, has_threads_at_work, stopping_when_told
from corebandit.cli.terminal import speak_plainly

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="**corebandit**: bandit exploration without tuning. Start with `corebandit reproduce --quick`.",
)
for command in (commands.reproduce, commands.compare, commands.tune, commands.run, commands.report):
    app.command()(command)
app.add_typer(clicks, name="clicks")


class Catalogue(StrEnum):
    """What can be listed."""

    policies = "policies"
    problems = "problems"
    figures = "figures"


@app.command("list")
def list_(what: Annotated[Catalogue, typer.Argument(help="What to list.")]) -> None:
    """List the policies, problems or figures there are, studies beyond the paper included."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name, parameters, meaning in _catalogue(what):
        table.add_row(f"[bold]{name}[/bold]", escape(parameters), escape(meaning))
    Console().print(table)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        from corebandit import __version__

        typer.echo(__version__)
        raise typer.Exit


def _catalogue(what: Catalogue) -> Iterator[tuple[str, str, str]]:
    """Yield name, parameters and meaning of everything of a kind."""
    if what is Catalogue.figures:
        from corebandit.reproduction.paper import FIGURES
        from corebandit.reproduction.studies import STUDIES

        for figure in (FIGURES | STUDIES).values():
            size, beyond = figure.paper_size, "Beyond the paper: " if figure.name in STUDIES else ""
            yield figure.name, f"n = {size.horizon:,}, {size.runs} runs", beyond + figure.caption
        return
    from corebandit.catalogue import known_policies, known_problems, signature

    for name, recipe in {**(known_policies() if what is Catalogue.policies else known_problems())}.items():
        yield name, signature(recipe), (recipe.__doc__ or "").partition("\n")[0]


def main() -> None:
    """Run the command line."""
    speak_plainly()
    with stopping_when_told() as request:
        code: str | int | None = None
        try:
            try:
                app()
            except SystemExit as ended:
                code = ended.code
            request.is_too_late = True
        except KeyboardInterrupt:  # before a command had begun, after its end, or one that has nothing to lose
            request.is_too_late = True
        if request.signal or has_threads_at_work():
            end_at_once(request.exit_code or (code if isinstance(code, int) else int(code is not None)))
        raise SystemExit(code)
