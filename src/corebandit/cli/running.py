"""What the commands share: play and report; errors as sentences."""

import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from corebandit.cli.flags import Sampler
from corebandit.cli.stopping import Terminated, say_stopped
from corebandit.cli.terminal import as_text, check_spelled
from corebandit.contracts.errors import BadInput

if TYPE_CHECKING:  # imported where used, so that help answers at once
    from corebandit.contracts.recipe import AnyPolicy
    from corebandit.experiments.experiment import Experiment
    from corebandit.experiments.result import Result

MOST_WARNINGS = 3


def with_sampler(experiments: "Sequence[Experiment]", sampler: Sampler | None) -> "list[Experiment]":
    """Set how CORe draws in all policies that say nothing else, and in the labels that they have of themselves."""
    if sampler is None:
        return list(experiments)
    return [_with_sampler(experiment, sampler) for experiment in experiments]


def _with_sampler(experiment: "Experiment", sampler: Sampler) -> "Experiment":
    labels, policies = {}, {}
    for label, policy in experiment.policies.items():
        changed = _sampled(policy, sampler)
        labels[label] = changed.label if label == policy.label else label
        if labels[label] in policies:
            raise BadInput(
                f"with --sampler {sampler.value} {labels[label]} would be there twice: leave one of them out"
            )
        policies[labels[label]] = changed
    points = {labels[label]: point for label, point in experiment.points.items()}
    return replace(experiment, policies=policies, points=points)


def _sampled(policy: "AnyPolicy", sampler: Sampler) -> "AnyPolicy":
    """Return the policy with this sampler, if it may have one and says no other, or if a policy inside it does."""
    if getattr(policy, "sampler", None) == Sampler.fast.value:
        return policy.changed(sampler=sampler.value)
    if hasattr(policy, "policy"):
        return policy.changed(policy=_sampled(policy.policy, sampler))
    return policy


def play_and_report(
    experiments: "Sequence[Experiment] | Callable[[Result | None], Sequence[Experiment]]",
    folder: Path,
    *,
    jobs: int | None,
    engine: str | None,
    fresh: bool,
    title: str = "",
    search: "Sequence[Experiment]" = (),
) -> None:
    """Play experiments, save their result in a folder, and make its report.

    Experiments that depend on a search are a function of the result of `search`, which runs first.
    """
    from corebandit.experiments.engines.named import engine_of
    from corebandit.experiments.run import run
    from corebandit.report.about import About

    check_spelled(folder)
    command = shlex.join(["corebandit", *map(as_text, sys.argv[1:])])
    before = About.read(folder)
    if before and before.command != command:
        said = f"`{before.command}`" if before.command else f"“{before.title}”"
        typer.echo(f"{folder} has the report of {said}: it will be replaced, runs are kept.", err=True)
    started = time.monotonic()
    player = engine_of(engine, jobs, lambda sentence: typer.echo(sentence, err=True))
    play = partial(run, engine=player, folder=folder / "chunks", fresh=fresh, progress=True)
    searched = play(search) if search else None
    result = play(experiments(searched) if callable(experiments) else experiments)
    if searched is not None:
        result = result.joined_with(searched)
    result.save(folder)
    seconds = time.monotonic() - started
    About(title, command, seconds).write(folder)
    report_folder(folder)


def report_folder(folder: Path) -> None:
    """Judge and draw the result in a folder, write its report there, and print it."""
    from rich.console import Console

    from corebandit.experiments.result import Result
    from corebandit.report import tables
    from corebandit.report.about import About
    from corebandit.reproduction.judging import judged_report

    made = judged_report(Result.load(folder), About.read(folder) or About())
    page = made.write(folder)
    console = Console()
    made.show(console)
    spent = f"Played in {tables.duration(made.about.seconds)}. " if made.about and made.about.seconds else ""
    console.print(f"{spent}Report: {page}", highlight=False, soft_wrap=True)


def what_is_kept(fresh: bool) -> str:
    """Say what Ctrl-C leaves behind of a run."""
    if fresh:
        return "What was finished is kept: the same command without --fresh continues, with what else the folder holds."
    return "What was finished is kept: the same command continues."


@contextmanager
def errors_as_sentences(when_stopped: str) -> Iterator[None]:
    """End with one sentence and exit code 2 on bad input, and cleanly on Ctrl-C; warnings are sentences too.

    `when_stopped` says what Ctrl-C leaves behind.
    """
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", UserWarning)
            yield
        sentences = list(dict.fromkeys(str(warning.message) for warning in found))
        for sentence in sentences[:MOST_WARNINGS]:
            typer.echo(f"Warning: {sentence}", err=True)
        if len(sentences) > MOST_WARNINGS:
            typer.echo(f"Warning: and {len(sentences) - MOST_WARNINGS} more like these", err=True)
    except BadInput as error:  # anything else is a bug, and looks like one
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from error
    except KeyboardInterrupt as asked:
        say_stopped(when_stopped)
        raise typer.Exit(143 if isinstance(asked, Terminated) else 130) from None
