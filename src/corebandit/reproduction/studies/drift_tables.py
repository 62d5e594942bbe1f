"""What is kept of a run of the study of worlds that change, small or large, for pages to show."""

from collections.abc import Mapping, Sequence
from typing import Any

from corebandit.experiments.result import Result
from corebandit.reproduction.claims import Finals
from corebandit.reproduction.studies import drift_study as study
from corebandit.statistics.estimates import exponential

KEPT_RIVALS = 5  # the best of each world that changes


def ratios(result: Result) -> list[dict[str, Any]]:
    """Return the regret of the recommended policies divided by the best rival's, and by plain CORe's if all is steady.

    Which rival is best is asked in every resample anew, so that intervals know of that choice.
    """
    titles = study.titles_of(result)
    arms, linear = Finals(result, study.NAME), Finals(result, study.NAME, study.LINEAR_PART)
    parts = (
        (arms, (study.TOLD, study.UNTOLD, study.RESTARTING), study.rivals_in, study.CORE),
        (linear, (study.LIN_TOLD, study.LIN_RESTARTING), study.linear_rivals_in, study.LIN_CORE),
    )
    rows = []
    for finals, policies, rivals_in, plain in parts:
        for problem in finals.problems:
            is_steady = titles[problem] in (study.STEADY, study.STEADY_LINEAR)
            for others in (rivals_in(finals, problem), *([[plain]] if is_steady else [])):
                for policy in policies:
                    beside, ratio = finals.beside_best(problem, policy, others)
                    share = exponential(ratio.interval())
                    rows.append(
                        {
                            **{"title": titles[problem], "policy": policy, "beside": beside},
                            **{"runs": int(finals.regret[problem, policy].size), "ratio": share.value},
                            **{"ratio_low": share.low, "ratio_high": share.high},
                        }
                    )
    return rows


def without_poor_rivals(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out rivals at settings that are not among the best in a world: half a thousand rows nobody would read."""
    kept = []
    for place in dict.fromkeys((row["part"], row["problem"]) for row in rows):
        here = [row for row in rows if (row["part"], row["problem"]) == place]
        tuned = [row for row in here if not row["part"] and is_tuned_rival(row)]
        poor = sorted(tuned, key=lambda row: row["mean"])[KEPT_RIVALS:]
        kept += [row for row in here if row not in poor]
    return kept


def is_tuned_rival(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is of a rival at a setting that is not its default."""
    return row["policy"] not in study.OURS and " " in row["policy"]  # its settings follow its name
