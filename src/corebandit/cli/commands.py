"""The commands that run experiments."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corebandit.cli.flags import (
    EngineOption,
    Fresh,
    Horizon,
    Jobs,
    Runs,
    SamplerOption,
    Seed,
    UnknownHorizon,
    given,
    out,
)
from corebandit.cli.running import errors_as_sentences, play_and_report, report_folder, what_is_kept, with_sampler
from corebandit.contracts.errors import BadInput

if TYPE_CHECKING:
    from corebandit.contracts.recipe import Problem
    from corebandit.experiments.experiment import Experiment
    from corebandit.experiments.result import Result


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which: figure1, figure2, figure3, figure4, theory; beyond the paper: glm, exchange, warmup, "
            "exploration, drift, neural.",
            show_default="those of the paper",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: a first look in a minute or two.")] = False,
    runs: Runs = None,
    horizon: Horizon = None,
    seed: Seed = None,
    jobs: Jobs = None,
    engine: EngineOption = None,
    out: Annotated[Path, out("results/paper")] = Path("results/paper"),
    sampler: SamplerOption = None,
    click_models: Annotated[
        Path | None,
        typer.Option(help="JSON file of click models for figure4.", show_default="60 made-up queries"),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Click model of figure4: CM, DCM, PBM, UBM, DBN, SDBN, CCM.", show_default="CM")
    ] = None,
    fresh: Fresh = False,
) -> None:
    """Reproduce the paper's figures and judge its claims, or run our own studies beyond it.

    An interrupted run continues where it was stopped. Examples:

    `corebandit reproduce --quick`

    `corebandit reproduce figure1 --runs 1000 --out results/large`
    """
    with errors_as_sentences(what_is_kept(fresh)):
        from corebandit.contracts.validate import unknown
        from corebandit.reproduction.paper import FIGURES
        from corebandit.reproduction.studies import STUDIES

        known = FIGURES | STUDIES
        for name in figures or ():
            if name not in known:
                raise unknown("figure", name, known)
        if (click_models or model) and figures and "figure4" not in figures:
            option = "--click-models" if click_models else "--model"
            raise BadInput(f"{option} is for figure4, which is not among {', '.join(figures)}")
        changes = given(
            runs=runs,
            horizon=horizon,
            seed=seed,
            sampler=sampler.value if sampler else None,
            click_models=str(click_models) if click_models else None,
            click_model=model,
        )
        sizes = {
            known[name]: dataclasses.replace(known[name].quick_size if quick else known[name].paper_size, **changes)
            for name in dict.fromkeys(figures or FIGURES)
        }

        search = {figure: figure.search(size) for figure, size in sizes.items()}
        # What waits for no search is made now, so that a mistake shows before it.
        ready = {figure: figure.experiments(size, None) for figure, size in sizes.items() if not search[figure]}

        def experiments(searched: "Result | None") -> "list[Experiment]":
            made = (ready.get(figure) or figure.experiments(size, searched) for figure, size in sizes.items())
            return [each for part in made for each in part]

        play_and_report(
            experiments,
            out,
            search=[each for part in search.values() for each in part],
            jobs=jobs,
            engine=engine,
            fresh=fresh,
        )


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that a command or `result.save` has written a result to.")],
) -> None:
    """Make the report of a result anew: judge the claims of the paper's figures that it holds, draw, write the page.

    Nothing is played. The commands that play end with just this. Example:

    `corebandit report results/compare`
    """
    with errors_as_sentences("The result is as it was: the same command starts over."):
        report_folder(folder)


def compare(
    problem: Annotated[
        list[str], typer.Option(help='Problem, such as bernoulli or "gaussian(sigma=0.2)"; may be given several times.')
    ],
    policies: Annotated[
        list[str] | None,
        typer.Option(
            help='Policies, such as "CORe,UCB1,CORe(alpha=0.4)" or "mine.py:MyPolicy"; may be given several times.',
            show_default="CORe,SSMC,UCB1; by features LinCORe,LinTS,LinUCB; for rankings Ranked(CORe),"
            "Ranked(BernoulliTS),TopRank",
        ),
    ] = None,
    arms: Annotated[int | None, typer.Option(help="Number of arms.", show_default="the problem's")] = None,
    runs: Runs = None,
    horizon: Horizon = None,
    unknown_horizon: UnknownHorizon = False,
    seed: Seed = None,
    jobs: Jobs = None,
    engine: EngineOption = None,
    out: Annotated[Path, out("results/compare")] = Path("results/compare"),
    sampler: SamplerOption = None,
    fresh: Fresh = False,
) -> None:
    """Compare any policies on any problem, drawn at random as in the paper.

    `corebandit list policies` and `corebandit list problems` show what there is. Example:

    `corebandit compare --problem bernoulli --policies "CORe,CORe(alpha=0.4),UCB1" --horizon 5000 --runs 50`

    `corebandit compare --problem "yandex_like(query=3)" --policies "Ranked(CORe),TopRank,CascadeKLUCB"`
    """
    with errors_as_sentences(what_is_kept(fresh)):
        from corebandit.catalogue import policy_from, problem_from, split_specs
        from corebandit.experiments.experiment import Experiment

        problems = [problem_from(spec) for spec in problem]
        specs = split_specs(",".join(policies) if policies else _usual_policies(problems))
        chosen = [policy_from(spec) for spec in specs]
        if arms is not None:
            for each in problems:
                if not hasattr(each, "n_arms"):
                    raise BadInput(f"--arms does not fit the problem {each.label}, which names its arms itself")
            problems = [each.changed(n_arms=arms) for each in problems]
        size = given(runs=runs, horizon=horizon, horizon_known=False if unknown_horizon else None, seed=seed)
        experiments = [Experiment(each, chosen, name="compare", **size) for each in problems]
        play_and_report(
            with_sampler(experiments, sampler),
            out,
            jobs=jobs,
            engine=engine,
            fresh=fresh,
        )


def _usual_policies(problems: "list[Problem]") -> str:
    """Return policies that fit the problems, if these are all of one kind."""
    from corebandit.games.kinds import FEATURES, RANKINGS, game_of
    from corebandit.randomness.stream import stream

    games = {game_of(problem.draw(stream(0))) for problem in problems}
    if games == {FEATURES}:
        return "LinCORe,LinTS,LinUCB"
    if games == {RANKINGS}:
        return "Ranked(CORe),Ranked(BernoulliTS),TopRank"  # whatever the click model: docs/ranking.md has measured it
    return "CORe,SSMC,UCB1"


def run(
    file: Annotated[
        Path,
        typer.Argument(
            help="A TOML file: problems, policies, horizon, runs, seed; or the experiments.json of a report."
        ),
    ],
    runs: Runs = None,
    horizon: Horizon = None,
    unknown_horizon: UnknownHorizon = False,
    seed: Seed = None,
    jobs: Jobs = None,
    engine: EngineOption = None,
    out: Annotated[Path | None, out("results/NAME")] = None,
    sampler: SamplerOption = None,
    fresh: Fresh = False,
) -> None:
    """Run an experiment of your own, described in a file.

    The file names problems and policies; every policy meets every problem:

    `problems = ["bernoulli", "gaussian(sigma=0.2)"]`

    `policies = ["CORe", { name = "CORe", alpha = 0.4, label = "small" }]`

    What a report ran, its experiments.json runs again:

    `corebandit run results/compare/experiments.json --seed 1`
    """
    with errors_as_sentences(what_is_kept(fresh)):
        from corebandit.experiments.experiment_file import name_of, read_experiments
        from corebandit.experiments.result_files import EXPERIMENTS

        told = False if unknown_horizon else None
        experiments = read_experiments(file, runs=runs, horizon=horizon, seed=seed, horizon_known=told)
        name = name_of(experiments, file)
        # What a report ran has a folder already, and its name may be that of another report's.
        folder = out or Path("results") / (f"{file.resolve().parent.name}-again" if file.name == EXPERIMENTS else name)
        play_and_report(with_sampler(experiments, sampler), folder, jobs=jobs, engine=engine, fresh=fresh, title=name)


def tune(
    problem: Annotated[
        list[str], typer.Option(help="Problem, such as bernoulli or \"linear(rewards='gaussian')\"; one or several.")
    ],
    policy: Annotated[str, typer.Option(help='Policy, such as LinTS or "CORe(warm_up=2)".')],
    parameter: Annotated[
        list[str],
        typer.Option(help="What to vary: alpha=0.2:1.4:0.2 (from, to, step) or alpha=0.4,0.6; twice for a heat map."),
    ],
    runs: Runs = None,
    horizon: Horizon = None,
    unknown_horizon: UnknownHorizon = False,
    seed: Seed = None,
    jobs: Jobs = None,
    engine: EngineOption = None,
    out: Annotated[Path, out("results/tune")] = Path("results/tune"),
    sampler: SamplerOption = None,
    fresh: Fresh = False,
) -> None:
    """Sweep one or two parameters of any policy on any problem.

    Every value, or pair of values, plays the same runs. The report shows a line, or a heat map. Examples:

    `corebandit tune --problem linear --policy LinTS --parameter sigma=0.1:2:0.1 --runs 20`

    `corebandit tune --problem "linear(rewards='gaussian', sigma=1)" --policy LinCORe --parameter alpha=0.2:1.4:0.2
    --parameter z=0.2:0.8:0.1`
    """
    with errors_as_sentences(what_is_kept(fresh)):
        from corebandit.catalogue import policy_from, problem_from
        from corebandit.experiments.sweep import grid_from, sweep

        grids = [grid_from(text) for text in parameter]
        if len({name for name, _ in grids}) < len(grids):
            raise BadInput("--parameter names the same parameter twice")
        chosen = policy_from(policy)
        size = given(runs=runs, horizon=horizon, horizon_known=False if unknown_horizon else None, seed=seed)
        experiments = [sweep(problem_from(spec), chosen, dict(grids), name="tune", **size) for spec in problem]
        title = f"{chosen.label}: {' and '.join(name for name, _ in grids)}"
        play_and_report(
            with_sampler(experiments, sampler),
            out,
            jobs=jobs,
            engine=engine,
            fresh=fresh,
            title=title,
        )
