"""Claims as rows of text: each with its verdicts, by warm-up factor and by reading of the sources."""

from collections.abc import Sequence
from typing import NamedTuple

from corebandit.report import tables
from corebandit.report.claim import Claim


class DetailRow(NamedTuple):
    """One comparison that a verdict rests on."""

    problem: str
    policy: str
    measure: str
    value: str
    interval: str
    verdict: str


class Verdict(NamedTuple):
    """How a claim fared with one warm-up factor, under one reading of the sources."""

    warm_up: str
    verdict: str
    one_by_one: str  # what comparisons say without correction for their number, if that is something else
    evidence: str
    details: list[DetailRow]
    reading: str = ""  # which, if not that of the figure
    instead_of: str = ""  # the verdict under the reading of the figure, if that is something else


class ClaimSection(NamedTuple):
    """A claim and its verdicts, one for each warm-up factor and reading."""

    id: str
    text: str
    verdicts: list[Verdict]

    @property
    def as_drawn(self) -> list[Verdict]:
        """Return the verdicts under the reading of the figure."""
        return [verdict for verdict in self.verdicts if not verdict.reading]

    @property
    def readings(self) -> dict[str, list[Verdict]]:
        """Return the verdicts under each other reading."""
        found: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            if verdict.reading:
                found.setdefault(verdict.reading, []).append(verdict)
        return found


def claims(judged: Sequence[Claim]) -> list[ClaimSection]:
    """Return the verdicts gathered by claim, in the order in which the claims first occur."""
    as_drawn = {(claim.id, claim.warm_up): claim.verdict for claim in judged if not claim.reading}
    gathered: dict[str, ClaimSection] = {}
    for claim in judged:
        usual = as_drawn.get((claim.id, claim.warm_up), claim.verdict)
        verdict = Verdict(
            warm_up=_factor(claim.warm_up),
            verdict=claim.verdict,
            one_by_one="" if claim.uncorrected == claim.verdict else claim.uncorrected,
            evidence=claim.evidence,
            details=_details(claim),
            reading=claim.reading,
            instead_of="" if usual == claim.verdict else usual,
        )
        gathered.setdefault(claim.id, ClaimSection(claim.id, claim.claim, [])).verdicts.append(verdict)
    return list(gathered.values())


def disagreements(sections: Sequence[ClaimSection]) -> list[str]:
    """Say, a line each, which reading of the sources changes the verdict on which claim."""
    found = []
    for section in sections:
        for verdict in section.verdicts:
            if verdict.instead_of:
                factor = f", warm-up {verdict.warm_up}" if verdict.warm_up else ""
                said = f"{verdict.verdict} (as drawn: {verdict.instead_of})"
                found.append(f"{section.id}, {verdict.reading}{factor}: {said}")
    return found


def _details(claim: Claim) -> list[DetailRow]:
    return [
        DetailRow(
            problem=finding.problem,
            policy=finding.policy,
            measure=finding.measure,
            value=tables.value_within(finding.value, finding.ci_low, finding.ci_high),
            interval=tables.interval(finding.ci_low, finding.ci_high),
            verdict=finding.verdict,
        )
        for finding in claim.details
    ]


def _factor(warm_up: float | None) -> str:
    """Return a warm-up factor, or nothing for a claim that does not depend on it."""
    return "" if warm_up is None else f"{warm_up:g}"
