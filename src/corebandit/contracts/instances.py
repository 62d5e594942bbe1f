"""What instances of problems have, by the kind of game they are played as."""

from typing import Any

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import Problem, offers_features, shows_rankings
from corebandit.contracts.validate import shortened

OF_ARMS = ("n_arms", "pull", "mean", "best_mean")
OF_FEATURES = ("n_arms", "pull", "mean", "n_features", "offer")
OF_RANKINGS = ("n_items", "n_positions", "draw_user", "click", "value", "best_value")


def members_of(instance: Any) -> tuple[str, ...]:
    """Return what an instance of its kind has."""
    if shows_rankings(instance):
        return OF_RANKINGS
    return OF_FEATURES if offers_features(instance) else OF_ARMS


def check_instance(problem: Problem, instance: Any) -> None:
    """Raise a BadInput if what a problem drew lacks something, or has a method where a number should be."""
    members = members_of(instance)
    if missing := [name for name in members if not hasattr(instance, name)]:
        raise BadInput(
            f"{problem.name}: draw must return a NamedTuple with {', '.join(members)}, not {shortened(instance)}; it "
            f"lacks {', '.join(missing)}"
        )
    for name in members:
        if name.startswith("n_") and callable(getattr(instance, name)):
            raise BadInput(f"{problem.label}: {name} must be a field or a property, not a method")
