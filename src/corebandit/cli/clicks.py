"""The commands for click logs: fit click models, simulate users, describe a log."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corebandit.cli.options import given
from corebandit.cli.running import errors_as_sentences

if TYPE_CHECKING:  # imported where used, so that help answers at once
    from corebandit.ranking import Fitted
    from corebandit.ranking.readers import FileLog

clicks = typer.Typer(no_args_is_help=True, help="Click models: fit them to logs, simulate users, describe logs.")

FORMATS = "Format of the logs: yandex, wscd, csv or parquet."
Format = Annotated[str | None, typer.Option(help=FORMATS, show_default="told from the file")]
Log = Annotated[Path, typer.Argument(help="A click log.", metavar="LOG")]
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
    iterations: Annotated[int | None, typer.Option(help="At most so many of EM.", show_default="50")] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Stop EM when its objective changes by a smaller share.", show_default="1e-7")
    ] = None,
    queries: Annotated[
        int | None, typer.Option(help="Write only the most frequent queries, so many.", show_default="all")
    ] = None,
    format: Format = None,
) -> None:
    """Fit click models to a log and write them as JSON.

    The table shows how well each model foretells clicks: the mean log-likelihood of a position given the clicks above
    it, and the perplexity (1 is perfect, 2 is a coin) from the full and from the conditional probabilities of a click.
    The file holds, for every query, the models for the documents of the page that was shown most, in its order:
    `{query: {"CM": {"attraction": [...]}, ...}}`. Examples:

    `corebandit clicks fit train.txt.gz --model CM,DCM,PBM --test test.txt.gz --out models.json`

    `corebandit clicks fit log.parquet --model UBM --iterations 100 --queries 60 --out models.json.gz`
    """
    with errors_as_sentences(NOTHING_WRITTEN):
        from rich.console import Console

        from corebandit.ranking import CLICK_MODELS, fit, write_models
        from corebandit.ranking.fitting import check_countable
        from corebandit.ranking.readers import most_shown_pages, written_whole
        from corebandit.validate import check_count, unknown

        names = list(dict.fromkeys(name.strip() for name in model.split(",") if name.strip()))
        if not names:
            raise ValueError("--model must name at least one click model")
        for name in names:
            if name not in CLICK_MODELS:
                raise unknown("click model", name, CLICK_MODELS)
        if counts:
            check_countable(names)
        if queries is not None:
            check_count("--queries", queries)
        if not out.name.endswith((".json", ".json.gz")):
            raise ValueError(f"--out must be a .json or .json.gz file, not {out}")
        with written_whole(out) as part:
            train = _read(log, format)
            judged = {"train": train} if test is None else {"train": train, "test": _read(test, format)}
            limits = given(iterations=iterations, tolerance=tolerance)
            method = "counts" if counts else "likelihood"
            fitted = fit(names, train, method=method, progress=_tell_progress, **limits)
            console = Console(width=None if sys.stdout.isatty() else 120)
            console.print(_quality_table(fitted, judged))
            pages = most_shown_pages(train, queries)
            write_models(part, {query: fitted.per_query(query, documents) for query, documents in pages.items()})
        console.print(f"Models of {len(pages):,} queries: {out}", highlight=False, soft_wrap=True)


@clicks.command()
def simulate(
    models: Annotated[Path, typer.Argument(help="Click models, as `clicks fit` writes them.", metavar="MODELS")],
    out: Annotated[Path, typer.Option(help="File for the log: .parquet, .csv or .csv.gz.")],
    sessions: Annotated[int, typer.Option(help="How many sessions.")] = 100_000,
    model: Annotated[str | None, typer.Option(help="Which model.", show_default="the only one in the file")] = None,
    seed: Annotated[int, typer.Option(help="Where all randomness starts.")] = 0,
) -> None:
    """Simulate users and write their log.

    Every session is of a query drawn at random, and shows its documents in an order drawn at random; a document is
    named by its place in the file. Example:

    `corebandit clicks simulate models.json --model PBM --sessions 1000000 --out log.parquet`
    """
    with errors_as_sentences(NOTHING_WRITTEN):
        from corebandit.ranking import read_models
        from corebandit.ranking.readers import write_simulated_log
        from corebandit.validate import check_count

        check_count("--sessions", sessions)
        check_count("--seed", seed, at_least=0)
        stored = read_models(models)
        if not stored:
            raise ValueError(f"{models} holds no click models")
        there = list(dict.fromkeys(name for of_query in stored.values() for name in of_query))
        if model is None and len(there) != 1:
            raise ValueError(f"--model must say which click model of {models}: {', '.join(there)}")
        name = model or there[0]
        chosen = {}
        for query, of_query in stored.items():
            if name not in of_query:
                raise ValueError(f"{models} has no click model {name!r} of query {query}, only {', '.join(of_query)}")
            chosen[query] = of_query[name]
        write_simulated_log(out, chosen, sessions, seed=seed)
        typer.echo(f"{sessions:,} sessions of {len(chosen):,} queries: {out}")


@clicks.command()
def describe(log: Log, format: Format = None) -> None:
    """Describe a log: its size, where users click, and what could not be read.

    Example: `corebandit clicks describe log.txt.gz`
    """
    with errors_as_sentences(NOTHING_WRITTEN):
        from corebandit.ranking.readers import read_log, summarise

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
            "bad lines": f"{n_bad:,}",
        }
        for meaning, value in rows.items():
            typer.echo(f"{meaning:32}{value:>12}")
        for line, reason in examples:
            typer.echo(f"    line {line}: {reason}")
        typer.echo("click-through by rank")
        for rank, share in enumerate(summary.click_through, start=1):
            typer.echo(f"{rank:>6}{share:>8.4f}  {'#' * round(40 * share / max(summary.click_through.max(), 1e-9))}")


def _read(path: Path, format: str | None) -> "FileLog":
    """Read a log and say what is in it, and what could not be read."""
    from corebandit.ranking.readers import read_log

    log = read_log(path, format)
    n_bad, examples = log.bad_lines
    bad = f"; bad lines: {n_bad:,}, the first is line {examples[0][0]}: {examples[0][1]}" if n_bad else ""
    typer.echo(f"{path}: {log.n_sessions:,} sessions, {log.n_queries:,} queries{bad}", err=True)
    return log


def _tell_progress(name: str, iteration: int, step: Any) -> None:
    typer.echo(f"{name} iteration {iteration}: log-likelihood {step.log_likelihood:,.2f}", err=True)


def _quality_table(fitted: "Fitted", logs: "dict[str, FileLog]") -> Any:
    """Return how well the models foretell the clicks of each log."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("model")
    for name in logs:
        for measure in ("log-likelihood", "perplexity", "conditional"):
            table.add_column(f"{name}\n{measure}", justify="right", no_wrap=True)
    table.add_column("converged", no_wrap=True)
    columns = ("log_likelihood", "perplexity", "conditional_perplexity")
    qualities = [fitted.evaluate(log).select(columns).rows() for log in logs.values()]
    for i, (name, model) in enumerate(fitted.items()):
        numbers = [f"{value:.4f}" for quality in qualities for value in quality[i]]
        steps = max(len(model.history) - 1, 0)
        converged = f"{'yes' if model.converged else 'no'}, {steps} iterations" if model.history else "counted"
        table.add_row(name, *numbers, converged)
    return table
