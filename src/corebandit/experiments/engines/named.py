"""Engines by the names that people say."""

from collections.abc import Callable

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import shortened
from corebandit.experiments.engines.engine import Engine
from corebandit.experiments.engines.threads import Threads

WANTED = "threads, cuda, or an object with environment and play"


def engine_of(
    engine: Engine | str | None, jobs: int | None, say: Callable[[str], None] = lambda sentence: None
) -> Engine:
    """Return the engine that is meant; what others need is imported only if one is. `say` hears what it has to say."""
    if engine is None or engine == "threads":
        return Threads(jobs)
    if engine == "cuda":
        from corebandit.experiments.engines.cuda import Cuda

        return Cuda(jobs, say)
    if jobs is not None:
        raise BadInput("jobs is the number of threads: say it to the engine, if it has any, not beside it")
    if isinstance(engine, str | type) or not (hasattr(engine, "play") and hasattr(engine, "environment")):
        raise BadInput(f"engine must be {WANTED}, not {shortened(engine)}")
    if not isinstance(engine.environment, str):
        raise BadInput(f"the environment of an engine must be a text, not {shortened(engine.environment)}")
    return engine
