"""The command line: argument parsing over functions that the library has anyway."""

import dataclasses
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:  # imported where used, so that help answers at once
    from corebandit.experiment import Experiment
    from corebandit.result import Result

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="**corebandit**: bandit exploration without tuning. Start with `corebandit reproduce --quick`.",
)


class Sampler(StrEnum):
    """How CORe draws its noise."""

    fast = "fast"
    exact = "exact"


class Catalogue(StrEnum):
    """What can be listed."""

    policies = "policies"
    problems = "problems"
    figures = "figures"


Runs = Annotated[
    int | None, typer.Option(help="Runs of each policy, each on a problem of its own.", show_default=False)
]
Horizon = Annotated[int | None, typer.Option(help="Rounds in a run.", show_default=False)]
Seed = Annotated[int | None, typer.Option(help="Where all randomness starts.", show_default="0")]
Jobs = Annotated[int | None, typer.Option(help="Threads; no number depends on it.", show_default="one for each core")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start over instead of continuing what the folder holds.")]
SamplerOption = Annotated[
    Sampler | None,
    typer.Option(help="How CORe draws its noise: exact costs one draw for each past reward.", show_default="fast"),
]


def _out(default: str) -> Any:
    return typer.Option(help="Folder for data, figures and report.", show_default=default)


@app.command()
def reproduce(
    figures: Annotated[
        list[str] | None, typer.Argument(help="Which, for instance figure1.", show_default="all")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: a first look in about a minute.")] = False,
    runs: Runs = None,
    horizon: Horizon = None,
    seed: Seed = None,
    jobs: Jobs = None,
    out: Annotated[Path, _out("results/paper")] = Path("results/paper"),
    sampler: SamplerOption = None,
    fresh: Fresh = False,
) -> None:
    """Reproduce the paper's figures and judge its claims.

    An interrupted run continues where it was stopped. Examples:

    `corebandit reproduce --quick`

    `corebandit reproduce figure1 --runs 1000 --out results/large`
    """
    with _errors_as_sentences():
        from corebandit.paper import FIGURES
        from corebandit.validate import unknown

        for name in figures or ():
            if name not in FIGURES:
                raise unknown("figure", name, FIGURES)
        chosen = [FIGURES[name] for name in dict.fromkeys(figures or FIGURES)]
        changes = _given(runs=runs, horizon=horizon, seed=seed, sampler=sampler.value if sampler else None)
        sizes = [figure.quick_size if quick else figure.paper_size for figure in chosen]
        experiments = [
            experiment
            for figure, size in zip(chosen, sizes, strict=True)
            for experiment in figure.experiments(dataclasses.replace(size, **changes))
        ]
        _run_and_publish(
            experiments,
            out,
            jobs=jobs,
            fresh=fresh,
            title="CORe: the paper reproduced",
            judge=lambda result: [claim.describe() for figure in chosen for claim in figure.claims(result)],
        )


@app.command()
def compare(
    problem: Annotated[
        list[str], typer.Option(help='Problem, such as bernoulli or "gaussian(sigma=0.2)"; may be given several times.')
    ],
    policies: Annotated[
        str, typer.Option(help='Policies, such as "CORe,UCB1,CORe(alpha=0.4)" or "mine.py:MyPolicy".')
    ] = "CORe,SSMC,UCB1",
    arms: Annotated[int | None, typer.Option(help="Number of arms.", show_default="10")] = None,
    runs: Runs = None,
    horizon: Horizon = None,
    seed: Seed = None,
    jobs: Jobs = None,
    out: Annotated[Path, _out("results/compare")] = Path("results/compare"),
    sampler: SamplerOption = None,
    fresh: Fresh = False,
) -> None:
    """Compare any policies on any problem, drawn at random as in the paper.

    `corebandit list policies` and `corebandit list problems` show what there is. Example:

    `corebandit compare --problem bernoulli --policies "CORe,CORe(alpha=0.4),UCB1" --horizon 5000 --runs 50`
    """
    with _errors_as_sentences():
        from corebandit.experiment import Experiment
        from corebandit.spec import policy_from, problem_from, split_specs

        chosen = [policy_from(spec) for spec in split_specs(policies)]
        problems = [problem_from(spec) for spec in problem]
        if arms is not None:
            for each in problems:
                if not hasattr(each, "n_arms"):
                    raise ValueError(f"--arms does not fit the problem {each.label}, which names its arms itself")
            problems = [each.changed(n_arms=arms) for each in problems]
        size = _given(runs=runs, horizon=horizon, seed=seed)
        experiments = [Experiment(each, chosen, name="compare", **size) for each in problems]
        _run_and_publish(
            _with_sampler(experiments, sampler), out, jobs=jobs, fresh=fresh, title="Comparison of policies"
        )


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="A TOML file: problems, policies, horizon, runs, seed.")],
    runs: Runs = None,
    horizon: Horizon = None,
    seed: Seed = None,
    jobs: Jobs = None,
    out: Annotated[Path | None, _out("results/NAME")] = None,
    sampler: SamplerOption = None,
    fresh: Fresh = False,
) -> None:
    """Run an experiment of your own, described in a file.

    The file names problems and policies; every policy meets every problem:

    `problems = ["bernoulli", "gaussian(sigma=0.2)"]`

    `policies = ["CORe", { name = "CORe", alpha = 0.4, label = "small" }]`
    """
    with _errors_as_sentences():
        from corebandit.experiment_file import read_experiments

        experiments = read_experiments(file, runs=runs, horizon=horizon, seed=seed)
        name = experiments[0].name
        folder = out or Path("results") / name
        _run_and_publish(_with_sampler(experiments, sampler), folder, jobs=jobs, fresh=fresh, title=name)


@app.command("list")
def list_(what: Annotated[Catalogue, typer.Argument(help="What to list.")]) -> None:
    """List the policies, problems or figures there are."""
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


# What the commands share ------------------------------------------------------------------------------------------


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _with_sampler(experiments: "Sequence[Experiment]", sampler: Sampler | None) -> "list[Experiment]":
    """Set how CORe draws, in all policies that can be told."""
    if sampler is None:
        return list(experiments)
    return [
        experiment.with_policies(
            {
                label: policy.changed(sampler=sampler.value) if hasattr(policy, "sampler") else policy
                for label, policy in experiment.policies.items()
            }
        )
        for experiment in experiments
    ]


def _run_and_publish(
    experiments: "Sequence[Experiment]",
    folder: Path,
    *,
    jobs: int | None,
    fresh: bool,
    title: str,
    judge: "Callable[[Result], list[dict[str, Any]]]" = lambda result: [],
) -> None:
    from rich.console import Console

    from corebandit import report
    from corebandit.publish import publish
    from corebandit.runner import run as run_experiments

    started = time.monotonic()
    result = run_experiments(experiments, jobs=jobs, folder=folder / "chunks", fresh=fresh, progress=True)
    claims = judge(result)
    command = shlex.join(["corebandit", *sys.argv[1:]])
    seconds = time.monotonic() - started
    page = publish(result, folder, title=title, command=command, seconds=seconds, claims=claims)
    console = Console()
    console.print(report.results_table(result.summary()))
    if claims:
        console.print(report.verdicts_table(claims))
    console.print(f"{seconds:.0f} s. Report: {page}", highlight=False, soft_wrap=True)


@contextmanager
def _errors_as_sentences() -> Iterator[None]:
    """End with one sentence and exit code 2 on bad input, and cleanly on Ctrl-C."""
    try:
        yield
    except (ValueError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        typer.echo("Stopped. What was finished is kept: the same command continues.", err=True)
        raise typer.Exit(130) from None


def _catalogue(what: Catalogue) -> Iterator[tuple[str, str, str]]:
    """Yield name, parameters and meaning of everything of a kind."""
    if what is Catalogue.figures:
        from corebandit.paper import FIGURES

        for figure in FIGURES.values():
            size = figure.paper_size
            yield figure.name, f"n = {size.horizon:,}, {size.runs} runs", figure.caption
        return
    from corebandit.policies import all_policies
    from corebandit.problems import all_problems

    for name, recipe in {**(all_policies() if what is Catalogue.policies else all_problems())}.items():
        parameters = ", ".join(
            field.name if field.default is dataclasses.MISSING else f"{field.name}={field.default!r}"
            for field in dataclasses.fields(recipe)
        )
        yield name, parameters, (recipe.__doc__ or "").partition("\n")[0]


def main() -> None:
    """Run the command line."""
    app()
