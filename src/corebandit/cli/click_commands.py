"""The commands for click logs: fit click models, simulate users, describe a log."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corebandit.cli.flags import given
from corebandit.cli.running import errors_as_sentences
from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import counted

if TYPE_CHECKING:  # imported where used, so that help answers at once
    from corebandit.clicks.fitting import Fitted, Progress
    from corebandit.clicks.quality import Quality
    from corebandit.clicks.readers.pages import FileLog

clicks = typer.Typer(no_args_is_help=True, help="Click models: fit them to logs, simulate users, describe logs.")

FORMATS = "Format of the logs: yandex, wscd, csv or parquet."
Format = Annotated[str | None, typer.Option(help=FORMATS, show_default="told from the file")]
Log = Annotated[Path, typer.Argument(help="A click log.", metavar="LOG")]
MOST_DROPPED = 0.1  # of the sessions: beyond it, what is left may not be like the log
NOTHING_WRITTEN = "Nothing was written: the same command starts over."


@clicks.command()
def fit(
    log: Log,
    out: Annotated[Path, typer.Option(help="File for the models, .json or .json.gz.")],
    model: Annotated[str, typer.Option(help="Models: CM, DCM, PBM, UBM, DBN, SDBN, CCM.")] = "CM,DCM,PBM",
    test: Annotated[Path | None, typer.Option(help="Another log, to judge the models on.")] = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="Only count, as PyClick does for DCM and SDBN: quick, but not exact.")
    ] = False,
    iterations: Annotated[int | None, typer.Option(help="At most so many of EM.", show_default="500")] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Stop EM when no parameter would change by more.", show_default="1e-5")
    ] = None,
    by_rank: Annotated[bool, typer.Option("--by-rank", help="Show perplexity by rank, too.")] = False,
    queries: Annotated[
        int | None, typer.Option(help="Write only the most frequent queries, so many.", show_default="all")
    ] = None,
    format: Format = None,
) -> None:
    """Fit click models to a log and write them as JSON.

    The table shows how well each model foretells clicks: the mean log-likelihood of a position given the clicks above
    it, and the perplexity (1 is perfect, 2 is a coin) from the full and from the conditional probabilities of a click.
    The file holds, for every query, the documents of the page that was shown most, and the models for them, in its
    order: `{query: {"documents": [...], "CM": {"attraction": [...]}, ...}}`. Examples:

    `corebandit clicks fit train.txt.gz --model CM,DCM,PBM --test test.txt.gz --out models.json`

    `corebandit clicks fit log.parquet --model UBM --by-rank --queries 60 --out models.json.gz`
    """
    with errors_as_sentences(NOTHING_WRITTEN):
        from rich.console import Console

        from corebandit.clicks.fitting import Fitted, check_countable, fit
        from corebandit.clicks.models import CLICK_MODELS
        from corebandit.clicks.readers.summary import most_shown_pages
        from corebandit.clicks.stored_models import write_models
        from corebandit.contracts.atomic_files import check_writable
        from corebandit.contracts.validate import check_count, unknown

        names = list(dict.fromkeys(name.strip() for name in model.split(",") if name.strip()))
        if not names:
            raise BadInput("--model must name at least one click model")
        for name in names:
            if name not in CLICK_MODELS:
                raise unknown("click model", name, CLICK_MODELS)
        if counts:
            check_countable(names)
        if queries is not None:
            check_count("--queries", queries)
        if not out.name.endswith((".json", ".json.gz")):
            raise BadInput(f"--out must be a .json or .json.gz file, not {out}")
        check_writable(out)  # before the work, not after
        train = _read(log, format)
        judged = {"train": train} if test is None else {"train": train, "test": _read(test, format)}
        limits = given(iterations=iterations, tolerance=tolerance)
        method = "counts" if counts else "likelihood"
        fitted = Fitted()
        with _progress() as show:
            for name in names:
                fitted |= fit(name, train, method=method, progress=show, **limits)
        qualities = {
            log_name: {name: model.evaluate(judge) for name, model in fitted.items()}
            for log_name, judge in judged.items()
        }
        console = Console(width=None if sys.stdout.isatty() else 120)
        console.print(_quality_table(fitted, qualities))
        for table in _tables_by_rank(qualities) if by_rank else ():
            console.print(table)
        unfinished = [name for name, model in fitted.items() if not model.converged]
        if unfinished:
            _warn(f"{', '.join(unfinished)} did not converge: raise --iterations")
        pages = most_shown_pages(train, queries)
        models = {query: fitted.per_query(query, documents) for query, documents in pages.items()}
        write_models(out, models, pages)
        said = counted(len(pages), "query")
        console.print(f"Models of {said}: {out}", highlight=False, soft_wrap=True)


@clicks.command()
def simulate(
    models: Annotated[Path, typer.Argument(help="Click models, as `clicks fit` writes them.", metavar="MODELS")],
    out: Annotated[Path, typer.Option(help="File for the log: .parquet, .csv or .csv.gz.")],
    sessions: Annotated[int, typer.Option(help="How many sessions.")] = 100_000,
    model: Annotated[str | None, typer.Option(help="Which model.", show_default="the only one in the file")] = None,
    seed: Annotated[int, typer.Option(help="Where all randomness starts.")] = 0,
) -> None:
    """Simulate users and write their log.

    Every session is of a query drawn at random, and shows its documents in an order drawn at random, under the names
    that the file has for them, or else by their place in it. Example:

    `corebandit clicks simulate models.json --model PBM --sessions 1000000 --out log.parquet`
    """
    with errors_as_sentences(NOTHING_WRITTEN):
        from corebandit.clicks.readers.writing import write_simulated_log
        from corebandit.clicks.stored_models import read_documents, read_models
        from corebandit.contracts.validate import check_count, shortened

        check_count("--sessions", sessions)
        check_count("--seed", seed, at_least=0)
        stored = read_models(models)
        if not stored:
            raise BadInput(f"{models} holds no click models")
        there = list(dict.fromkeys(name for of_query in stored.values() for name in of_query))
        if model is None and len(there) != 1:
            raise BadInput(f"--model must say which click model of {models}: {', '.join(there)}")
        name = model or there[0]
        chosen = {}
        for query, of_query in stored.items():
            if name not in of_query:
                raise BadInput(
                    f"{models} has no click model {shortened(name)} of query {query}, only {', '.join(of_query)}"
                )
            chosen[query] = of_query[name]
        write_simulated_log(out, chosen, sessions, seed=seed, documents=read_documents(models))
        typer.echo(f"{counted(sessions, 'session')} of {counted(len(chosen), 'query')}: {out}")


@clicks.command()
def describe(log: Log, format: Format = None) -> None:
    """Describe a log: its size, where users click, and what could not be read.

    Example: `corebandit clicks describe log.txt.gz`
    """
    with errors_as_sentences(NOTHING_WRITTEN):
        from corebandit.clicks.readers.read_log import read_log
        from corebandit.clicks.readers.summary import summarise

        stored = read_log(log, format)
        summary = summarise(stored)
        n_bad, examples = stored.bad_lines
        rows = {
            "sessions": f"{summary.n_sessions:,}",
            "queries": f"{summary.n_queries:,}",
            "documents": f"{summary.n_documents:,}",
            "pairs of query and document": f"{summary.n_pairs:,}",
            "positions": f"{summary.n_positions:,}",
            "clicks per session": f"{summary.clicks_per_session:.3f}",
            "sessions without clicks": f"{summary.share_without_clicks:.1%}",
            "clicks beside the page, ignored": f"{stored.ignored_clicks:,}",
            "sessions dropped": f"{stored.dropped.n_sessions:,}",
        }
        rows |= {f"    with {reason}": f"{count:,}" for reason, count in stored.dropped.by_reason.items()}
        _echo_rows(rows, stored.dropped.examples)
        _echo_rows({"lines that cannot be read": f"{n_bad:,}"}, examples)
        typer.echo("click-through by rank")
        for rank, share in enumerate(summary.click_through, start=1):
            typer.echo(f"{rank:>6}{share:>8.4f}  {'#' * round(40 * share / max(summary.click_through.max(), 1e-9))}")


def _echo_rows(rows: dict[str, str], examples: tuple[tuple[int, str], ...]) -> None:
    """Print numbers with their meaning, and then some lines of the log."""
    for meaning, value in rows.items():
        typer.echo(f"{meaning:56}{value:>12}")
    for line, reason in examples:
        typer.echo(f"    line {line}: {reason}")


def _read(path: Path, format: str | None) -> "FileLog":
    """Read a log and say what is in it, what was dropped, and what could not be read."""
    from corebandit.clicks.readers.read_log import read_log

    log = read_log(path, format)
    typer.echo(f"{path}: {counted(log.n_sessions, 'session')}, {counted(log.n_queries, 'query')}", err=True)
    n_bad, examples = log.bad_lines
    if n_bad:
        line, reason = examples[0]
        lines = counted(n_bad, "line")
        typer.echo(f"    {lines} cannot be read, the first is line {line}: {reason}", err=True)
    n_dropped = log.dropped.n_sessions
    if n_dropped:
        n_sessions = n_dropped + log.n_sessions
        reasons = "; ".join(f"{count:,} with {reason}" for reason, count in log.dropped.by_reason.items())
        typer.echo(f"    dropped {n_dropped:,} of {counted(n_sessions, 'session')}: {reasons}", err=True)
        if n_dropped > MOST_DROPPED * n_sessions:
            share = f"{n_dropped / n_sessions:.0%} of the sessions of {path} were dropped"
            _warn(f"{share}, and what is left may not be like them; all pages of a log must have the same length")
    return log


def _warn(sentence: str) -> None:
    typer.secho(f"Warning: {sentence}", err=True, fg=typer.colors.YELLOW, bold=True)


@contextmanager
def _progress() -> "Iterator[Progress]":
    """Yield what shows a line for each model, which changes in place on a terminal, and is printed once elsewhere."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    lines: dict[str, Any] = {}
    with Progress(TextColumn("{task.description}"), console=Console(stderr=True)) as bar:

        def show(name: str, iteration: int, step: Any) -> None:
            text = f"{name} iteration {iteration}: log-likelihood {step.log_likelihood:,.2f}"
            if name not in lines:
                lines[name] = bar.add_task(text)
            bar.update(lines[name], description=text)

        yield show


def _quality_table(fitted: "Fitted", qualities: "dict[str, dict[str, Quality]]") -> Any:
    """Return how well the models foretell the clicks of each log."""
    table = _new_table("model")
    for name in qualities:
        for measure in ("log-likelihood", "perplexity", "conditional"):
            table.add_column(f"{name}\n{measure}", justify="right", no_wrap=True)
    table.add_column("converged", no_wrap=True)
    for name, model in fitted.items():
        numbers = [f"{value:.4f}" for by_model in qualities.values() for value in by_model[name][:3]]
        steps = max(len(model.history) - 1, 0)
        converged = f"{'yes' if model.converged else 'no'}, {steps} iterations" if model.history else "counted"
        table.add_row(name, *numbers, converged)
    return table


def _tables_by_rank(qualities: "dict[str, dict[str, Quality]]") -> "Iterator[Any]":
    """Yield the perplexity of each model at each rank, for each log: full and conditional."""
    for log_name, by_model in qualities.items():
        for measure, field in (("perplexity", "perplexity_by_rank"), ("conditional", "conditional_perplexity_by_rank")):
            table = _new_table(f"{log_name} {measure}\nat rank")
            for name in by_model:
                table.add_column(name, justify="right", no_wrap=True)
            columns = [getattr(quality, field) for quality in by_model.values()]
            for rank, row in enumerate(zip(*columns, strict=True), start=1):
                table.add_row(str(rank), *(f"{value:.4f}" for value in row))
            yield table


def _new_table(first_column: str) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(first_column)
    return table
