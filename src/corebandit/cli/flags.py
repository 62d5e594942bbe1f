"""What the commands are told: options with their help."""

from enum import StrEnum
from typing import Annotated, Any

import typer


class Sampler(StrEnum):
    """How CORe draws its noise."""

    fast = "fast"
    exact = "exact"
    halving = "halving"


Runs = Annotated[
    int | None, typer.Option(help="Runs of each policy, each on a problem of its own.", show_default="100")
]
Horizon = Annotated[int | None, typer.Option(help="Rounds in a run.", show_default="10,000")]
UnknownHorizon = Annotated[
    bool, typer.Option("--unknown-horizon", help="Do not tell policies how many rounds there are.")
]
Seed = Annotated[int | None, typer.Option(help="Where all randomness starts.", show_default="0")]
Jobs = Annotated[int | None, typer.Option(help="Threads; no number depends on it.", show_default="one for each core")]
EngineOption = Annotated[
    str | None,
    typer.Option(
        help="Who plays: threads, or cuda, an NVIDIA GPU.",
        show_default="threads",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Play all of it again, whatever the folder holds.")]
SamplerOption = Annotated[
    Sampler | None,
    typer.Option(
        help="How CORe draws its noise where a policy says nothing else: fast is approximate, exact costs a draw for "
        "each past reward, halving has the law of fast and is made for clicks on a GPU.",
        show_default="fast",
    ),
]


def out(default: str) -> Any:
    """Return the option for the folder that results go to."""
    return typer.Option(help="Folder for data, figures and report.", show_default=default)


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}
