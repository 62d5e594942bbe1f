"""What two agents must have in common to go on alike: all but the names and the times of their decisions."""

from typing import Any


def number_of(decision: Any) -> int:
    """Return which decision of its session this is, from 0."""
    return int(decision.id.rpartition("-")[2])


def in_common(agent: Any) -> dict[str, Any]:
    """Return all that makes an agent, without ids and times."""
    content = agent.to_dict()
    del content["ids"]
    content["pending"] = [choice for _, choice, _ in content["pending"]]
    content["expired"] = [options for _, options in content["expired"]]
    content["tallies"]["last_told"] = [told is not None for told in content["tallies"]["last_told"]]
    return content


def as_saved_before_0_5(content: dict[str, Any], version: int) -> dict[str, Any]:
    """Return what format 2 or 3 said of the same agent: numbers for ids, and nothing of times and traffic."""
    new = ("settings", "expired", "ids", "tallies", "recent")
    old = {name: part for name, part in content.items() if name not in new}
    old["pending"] = [[number, choice] for number, (_, choice, _) in enumerate(content["pending"])]
    return {**old, "format": version, "next_id": len(content["pending"])}
