"""What the commands share: run, publish, print; errors as sentences."""

import shlex
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
    from corebandit.report import Drawing, Provenance
    from corebandit.report.claim import Claim

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


def run_and_publish(
    experiments: "Sequence[Experiment] | Callable[[Result | None], Sequence[Experiment]]",
    folder: Path,
    *,
    jobs: int | None,
    engine: str | None,
    fresh: bool,
    title: str,
    search: "Sequence[Experiment]" = (),
    checks: "Sequence[Experiment]" = (),
    show_settings: bool = False,
    judge: "Callable[[Result], list[Claim]]" = lambda result: [],
    draw: "Callable[[Result], list[Drawing]]" = lambda result: [],
    captions: "Mapping[str, str] | None" = None,
    undrawn: "Collection[tuple[str, str]]" = (),
    provenance: "Callable[[Result], list[Provenance]]" = lambda result: [],
    remarks: "Sequence[str]" = (),
) -> None:
    """Run experiments and leave data, figures and a report in a folder.

    Experiments that depend on a search are a function of the result of `search`, which runs first. `checks` run last:
    `judge` and `draw` are handed their results too, but no table shows them. Of parameter studies the best settings are
    printed, or all of them if `show_settings`. `undrawn` are policies, with their figures, whose curves are left out;
    `provenance` says where parameters come from, `remarks` what to know first.
    """
    from rich.console import Console

    from corebandit import report
    from corebandit.experiments.engines.named import engine_of
    from corebandit.experiments.result import Result
    from corebandit.experiments.run import run
    from corebandit.reproduction.publish import publish

    check_spelled(folder)
    started = time.monotonic()
    chunks = folder / "chunks"
    player = engine_of(engine, jobs, lambda sentence: typer.echo(sentence, err=True))
    searched = run(search, engine=player, folder=chunks, fresh=fresh, progress=True) if search else None
    if callable(experiments):
        experiments = experiments(searched)
    result = run(experiments, engine=player, folder=chunks, fresh=fresh, progress=True)
    if searched is not None:
        result = result.joined_with(searched)
    checked = run(checks, engine=player, folder=chunks, fresh=fresh, progress=True) if checks else Result([], [])
    everything = result.joined_with(checked)
    claims, drawings = judge(everything), draw(everything)
    command = shlex.join(["corebandit", *map(as_text, sys.argv[1:])])
    seconds = time.monotonic() - started
    page = publish(
        result,
        folder,
        title=title,
        command=command,
        seconds=seconds,
        claims=claims,
        drawings=drawings,
        captions=captions,
        remarks=remarks,
        undrawn=undrawn,
        provenance=provenance(result),
    )
    console = Console()
    sweeps = result.sweeps()
    summary = result.summary()
    compared = summary.join(sweeps, on=["experiment", "part"], how="anti", maintain_order="left")
    if not compared.is_empty():
        console.print(report.results_table(compared))
    if not sweeps.is_empty():
        drawn = [drawing.place for drawing in drawings]
        rest = sweeps.filter([place not in drawn for place in sweeps.select("experiment", "part").rows()])
        console.print(report.sweeps_table(sweeps) if show_settings else report.best_settings(rest))
    for drawing in drawings:
        if drawing.summary is not None:
            console.print(report.results_table(drawing.summary))
    if claims:
        console.print(report.verdicts_table(claims))
    console.print(f"{seconds:.0f} s. Report: {page}", highlight=False, soft_wrap=True)


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
