"""Fill the numbers of README and docs in from stored results, so that none is typed by hand.

    uv run python scripts/fill_docs.py                         write the pages anew from docs/results/*.json
    uv run python scripts/fill_docs.py --check                 say which pages differ, and fail if any does
    uv run python scripts/fill_docs.py --store results/paper   take the numbers of a run into docs/results first

A page has marks in it, between which this script writes:

    <!-- numbers: table figure1 -->       the mean regrets of a figure, with their standard errors
    <!-- numbers: table figure1 TS PHE --> the same of these policies alone
    <!-- numbers: claims figure1 -->      the verdicts on its claims
    <!-- numbers: evidence figure1 -->    the same, with what decided
    <!-- numbers: about figure1 -->       how large the run was, when and by which version
    <!-- numbers: settings warmup -->     how settings of CORe's warm-up compare with the best rivals
    <!-- numbers: lowest exploration_large arms 12 --> the same of the best dozen without a warm-up, for arms or linear
    <!-- numbers: ratios exploration -->  CORe without a warm-up beside the best rival, on each problem
    <!-- numbers: means exploration_large --> the geometric means of these, for each form of CORe
    <!-- numbers: differences samplers --> each policy beside the first one, on the same problems
    <!-- numbers: worlds drift -->        CORe's forms in each world that changes, beside the best rival
    <!-- numbers: beside drift_large DriftingCORe --> how many times the best rival's regret these policies have, with
                                     intervals, and plain CORe's where nothing changes
    <!-- numbers: lines gain -->          a table as a benchmark stored it
    <!-- end -->

and within a line `<!-- number: figure1 bernoulli "CORe" -->...<!-- end -->`, a mean with its error. Of a part of an
experiment the name stands after a slash: warmup/linear.
"""

import argparse
import json
import math
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from corebandit.experiments.result import Result
from corebandit.report import tables
from corebandit.reproduction.studies import drift_study, drift_tables, exploration_study, warmup_study

ROOT = Path(__file__).parent.parent
STORE = ROOT / "docs" / "results"
PAGES = (
    "README.md",
    *(
        f"docs/{page}.md"
        for page in ("results", "which_policy", "own_model", "guide", "live", "ranking", "changing", "exploration")
    ),
)
FIGURES = {"F1": "figure1", "F2": "figure2", "F3": "figure3", "F4": "figure4", "T": "theory"}
STUDIES = {
    "G": "glm",
    "X": "exchange",
    "W": "warmup",
    "N": "neural",
    "D": "drift",
    "E": "exploration",
}  # by how their claims begin
FILES = ("refits", "samplers", "observes")  # of `corebandit run docs/results/*.toml`, without claims
SHOWN = {  # parts, where not all are shown; of exploration ratios alone
    "warmup": tuple(warmup_study.PARTS),
    "drift": ("", drift_study.LINEAR_PART),
    "exploration": (),
}
KEPT = ("experiment", "part", "problem", "title", "policy", "horizon", "runs", "mean", "stderr", "ci_low", "ci_high")
SETTINGS = {  # warm-up factor and alpha
    "short": (0.5, 0.6),
    "cautious": (0.5, 0.8),
    "hasty": (0.5, 0.4),
    "the authors' code": (2.0, 0.6),
    "the paper": (4.0, 0.6),
}
BLOCK = re.compile(r"(<!-- numbers: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
INLINE = re.compile(r"(<!-- number: (.+?) -->)[^\n]*?(<!-- end -->)")

Stored = Mapping[str, Any]


# Storing ----------------------------------------------------------------------------------------------------------


def store(folder: Path, into: Path = STORE) -> list[Path]:
    """Write what a run has left in a folder to one file a figure, and return these."""
    summary, claims, about = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in ("summary", "claims", "about")
    )
    written = []
    for prefix, figure in [*FIGURES.items(), *STUDIES.items(), *(("-", name) for name in FILES)]:
        # Of many problems their average is enough.
        rows = _of_figure(summary["averages"], figure) or _of_figure(summary["rows"], figure)
        if not rows:
            continue
        if figure in SHOWN:  # and not the search before it: of a thousand cells settings_of keeps what pages show
            rows = [row for row in rows if row["part"] in SHOWN[figure]]
        if figure == drift_study.NAME:
            rows = drift_tables.without_poor_rivals(rows)
        content = {
            "about": {
                **{key: about[key] for key in ("made", "version", "sources")},
                "command": re.sub(r" --out \S+", "", about["command"]),  # a folder is nobody else's
            },
            "rows": [{key: row[key] for key in KEPT} for row in rows],
            "claims": [
                {key: value for key, value in claim.items() if key != "details"}
                for claim in claims["claims"]
                if claim["id"].startswith(prefix)
            ],
        }
        if figure == "warmup":
            content["settings"] = settings_of(Result.load(folder))
        if figure == "exploration":
            result = Result.load(folder)
            finals = exploration_study.finals_of(result)
            content["ratios"] = exploration_study.ratios(result.experiments, finals)
            content["tuned"] = exploration_study.tuned(finals)
        if figure == drift_study.NAME:
            content["ratios"] = drift_tables.ratios(Result.load(folder))
        if figure in FILES:
            content["differences"] = Result.load(folder).differences().to_dicts()
        into.mkdir(exist_ok=True)
        path = into / f"{figure}.json"
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        written.append(path)
    return written


def _of_figure(rows: list[dict[str, Any]], figure: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["experiment"] == figure]


def settings_of(result: Result) -> list[dict[str, Any]]:
    """Return how settings of the warm-up compare with the best rivals, for every horizon."""
    found = list(warmup_study.cells(result))
    runs = {experiment["horizon"]: experiment["runs"] for experiment in result.experiments if "points" in experiment}
    rows = []
    for name, (factor, alpha) in SETTINGS.items():
        for horizon in dict.fromkeys(cell.horizon for cell in found):
            cells = [c for c in found if (c.warm_up, c.alpha, c.horizon) == (factor, alpha, horizon)]
            ratios, bad = [cell.ratio for cell in cells], [cell.gone_bad for cell in cells]
            rows.append(
                {
                    "setting": f"{name}: factor {factor:g}, alpha {alpha:g}",
                    "horizon": horizon,
                    "runs": runs[horizon],
                    "ratio": math.exp(sum(map(math.log, ratios)) / len(ratios)),
                    "worst": max(ratios),
                    "gone bad": sum(bad) / len(bad),
                    "worst gone bad": max(bad),
                }
            )
    return rows


# Showing ----------------------------------------------------------------------------------------------------------


def table(stored: Stored, figure: str, *policies: str) -> str:
    """Return mean regrets with standard errors, a row a policy and a column a problem."""
    cells: dict[str, dict[str, str]] = {policy: {} for policy in policies}
    columns: dict[str, str] = {}
    for row in _rows(stored, figure):
        if not policies or row["policy"] in policies:
            columns[row["problem"]] = row["title"]
            cells.setdefault(row["policy"], {})[row["problem"]] = tables.with_error(row["mean"], row["stderr"])
    if unknown := [policy for policy, found in cells.items() if not found]:
        raise KeyError(f"there is no {', '.join(unknown)} in {figure}")
    lines = [("policy", *columns.values()), ("---",) * (1 + len(columns))]
    lines += [(policy, *(found.get(problem, "") for problem in columns)) for policy, found in cells.items()]
    return _lines(lines)


def claims(stored: Stored, figure: str) -> str:
    """Return the verdicts on the claims of a figure: a row a claim and reading, a column a warm-up."""
    verdicts: dict[tuple[str, str], dict[str, str]] = {}
    for claim in stored["claims"]:
        factor = "either" if claim["warm_up"] is None else f"{claim['warm_up']:g}"
        said = verdicts.setdefault((f"{claim['id']}: {claim['claim']}", claim["reading"]), {})
        said[factor] = f"**{claim['verdict']}**"
    factors = sorted({factor for said in verdicts.values() for factor in said}, reverse=True)  # the paper's first
    has_readings = any(reading for _, reading in verdicts)
    head = ("claim", *(("with",) if has_readings else ()), *(_warm_up(factor) for factor in factors))
    lines, before = [head, ("---",) * len(head)], ""
    for (text, reading), said in verdicts.items():
        shown = "" if text == before else text
        lines.append((shown, *((reading,) if has_readings else ()), *(said.get(factor, "") for factor in factors)))
        before = text
    return _lines(lines)


def _warm_up(factor: str) -> str:
    return "verdict" if factor == "either" else f"warm-up {factor}"


def evidence(stored: Stored, figure: str) -> str:
    """Return the verdicts on the claims of a figure, and what decided."""
    lines = [("claim", "warm-up", "verdict", "what decided"), ("---",) * 4]
    for claim in stored["claims"]:
        factor = "" if claim["warm_up"] is None else f"{claim['warm_up']:g}"
        plain = "" if claim["uncorrected"] == claim["verdict"] else f" (one by one: {claim['uncorrected']})"
        named = " ".join(filter(None, [claim["id"], claim["reading"]]))
        lines.append((named, factor, f"**{claim['verdict']}**{plain}", claim["evidence"]))
    return _lines(lines)


def about(stored: Stored, figure: str) -> str:
    """Say how large a run was, when it was made and by what."""
    rows, made = _rows(stored, figure), stored["about"]
    size = tables.run_size((row["runs"] for row in rows), (row["horizon"] for row in rows))
    return f"`{made['command']}`, {size} each; version {made['version']}, {made['made']}."


def settings(stored: Stored, figure: str) -> str:
    """Return how settings of the warm-up compare: a row a setting, two columns a horizon."""
    return _compared(stored["settings"])


def lowest(stored: Stored, figure: str, kind: str, most: str, *named: str) -> str:
    """Return the same of so many settings without a warm-up, those with the lowest geometric mean over all horizons.

    Or of those that are `named`, whatever their means.
    """
    by_features = {"arms": False, "linear": True}[kind]
    rows = [row for row in stored["settings"] if row["by features"] == by_features]
    rows = sorted(rows, key=lambda row: (row["overall"], row["setting"], row["horizon"]))
    names = named or list(dict.fromkeys(row["setting"] for row in rows))[: int(most)]
    return _compared([row for row in rows if row["setting"] in names])


def _compared(rows: list[Mapping[str, Any]]) -> str:
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        said = cells.setdefault(row["setting"], {})
        if "overall" in row:
            said["all horizons"] = f"{row['overall']:.2f}"
        runs = " or ".join(f"{size:,}" for size in np.atleast_1d(row["runs"]))
        said[f"{row['horizon']:,} rounds, {runs} runs"] = f"{row['ratio']:.2f} (at most {row['worst']:.2f})"
        bad, worst = 100 * row["gone bad"], 100 * row["worst gone bad"]
        said[f"gone bad, {row['horizon']:,}"] = f"{bad:.1f} % (at most {worst:.1f} %)"
    columns = sorted(next(iter(cells.values())), key=lambda name: name.startswith("gone"))  # else as they come
    lines = [("setting", *columns), ("---",) * (1 + len(columns))]
    lines += [(name, *(said[column] for column in columns)) for name, said in cells.items()]
    return _lines(lines)


def ratios(stored: Stored, figure: str, policy: str = exploration_study.NO_WARM_UP) -> str:
    """Return CORe's regret divided by that of the best rival: a row a problem, a column a horizon."""
    rows = [row for row in stored["ratios"] if row["policy"] == policy]
    columns = sorted({row["horizon"] for row in rows})
    cells = {
        (row["title"], row["horizon"]): "{ratio:.2f} [{ratio_low:.2f}, {ratio_high:.2f}] ({best rival})".format(**row)
        for row in rows
    }
    sizes, means = [], []
    for column in columns:
        here = [row for row in rows if row["horizon"] == column]
        runs = " or ".join(f"{size:,}" for size in sorted({row["runs"] for row in here}))
        sizes.append(f"{column:,} rounds, {runs} runs")
        means.append(f"**{math.exp(sum(math.log(row['ratio']) for row in here) / len(here)):.2f}**")
    lines = [("problem", *sizes), ("---",) * (1 + len(sizes))]
    for title in dict.fromkeys(row["title"] for row in rows):
        lines.append((title, *(cells.get((title, column), "") for column in columns)))
    return _lines([*lines, ("**geometric mean**", *means)])


def means(stored: Stored, figure: str) -> str:
    """Return the geometric mean of the ratios to the best rivals: a row a form of CORe, a column a horizon."""
    cells: dict[tuple[str, int], list[float]] = {}
    for row in stored["ratios"]:
        cells.setdefault((row["policy"], row["horizon"]), []).append(row["ratio"])
    columns = sorted({horizon for _, horizon in cells})
    sizes = [f"{column:,} rounds, {len(cells[exploration_study.PAPER, column])} problems" for column in columns]
    lines = [("policy", *sizes), ("---",) * (1 + len(sizes))]
    for policy in dict.fromkeys(policy for policy, _ in cells):
        found = [cells[policy, column] for column in columns]
        said = [f"{math.exp(sum(map(math.log, each)) / len(each)):.2f} (at most {max(each):.2f})" for each in found]
        lines.append((policy, *said))
    return _lines(lines)


def differences(stored: Stored, figure: str) -> str:
    """Return each policy beside the first one: a row a problem, the difference with its interval."""
    lines = []
    for row in stored["differences"]:
        base, other = (number(stored, figure, row["problem"], row[who]) for who in ("baseline", "policy"))
        mean = _row(stored, figure, row["problem"], row["baseline"])["mean"]
        gap = tables.estimate(*(row[key] for key in ("mean", "ci_low", "ci_high")))
        share, low, high = (f"{100 * row[key] / mean:+.1f}" for key in ("mean", "ci_low", "ci_high"))
        lines.append((row["problem"], base, other, gap, f"{share} % [{low}, {high}]"))
    first = stored["differences"][0]
    head = ("problem", first["baseline"], first["policy"], "difference, 95 % interval", "in percent")
    return _lines([head, ("---",) * len(head), *lines])


def worlds(stored: Stored, figure: str) -> str:
    """Return CORe's forms in each world: a row a world, with the best rival, tuned and as it comes."""
    ours = [policy for policy in drift_study.OURS if policy not in (drift_study.FREE, drift_study.TS)]
    rows = _rows(stored, figure)
    lines = [("world", *ours, "best rival, tuned", f"{ours[0]} / it", "best rival, untuned")]
    lines.append(("---",) * len(lines[0]))
    for problem in dict.fromkeys(row["problem"] for row in rows):
        here = {row["policy"]: row for row in rows if row["problem"] == problem}
        others = [row for row in here.values() if row["policy"] not in drift_study.OURS]
        best = min(others, key=lambda row: row["mean"])
        untuned = min((row for row in others if not drift_tables.is_tuned_rival(row)), key=lambda row: row["mean"])
        named = [f"{tables.with_error(row['mean'], row['stderr'])} ({row['policy']})" for row in (best, untuned)]
        lines.append(
            (
                here[ours[0]]["title"],
                *(tables.with_error(here[policy]["mean"], here[policy]["stderr"]) for policy in ours),
                named[0],
                f"{here[ours[0]]['mean'] / best['mean']:.2f}",
                named[1],
            )
        )
    return _lines(lines)


def beside(stored: Stored, figure: str, *policies: str) -> str:
    """Return how many times the regret of the best rival, or of plain CORe, policies have: a row a world."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in stored["ratios"]:
        if row["policy"] in policies:
            said = "{ratio:.2f} [{ratio_low:.2f}, {ratio_high:.2f}]".format(**row)
            cells.setdefault((row["title"], row["beside"]), {})[row["policy"]] = said
    lines = [("world", *policies, "beside"), ("---",) * (2 + len(policies))]
    lines += [(title, *(said[policy] for policy in policies), other) for (title, other), said in cells.items()]
    return _lines(lines)


def stored_lines(stored: Stored, figure: str) -> str:
    """Return a table as a benchmark stored it: its head and its lines."""
    return _lines([tuple(stored["head"]), ("---",) * len(stored["head"]), *map(tuple, stored["lines"])])


BLOCKS: dict[str, Callable[..., str]] = {
    "table": table,
    "claims": claims,
    "evidence": evidence,
    "about": about,
    "settings": settings,
    "lowest": lowest,
    "ratios": ratios,
    "means": means,
    "differences": differences,
    "worlds": worlds,
    "beside": beside,
    "lines": stored_lines,
}


def number(stored: Stored, figure: str, problem: str, policy: str) -> str:
    """Return the mean regret of one policy on one problem, with its standard error."""
    row = _row(stored, figure, problem, policy)
    return tables.with_error(row["mean"], row["stderr"])


def _rows(stored: Stored, figure: str) -> list[Mapping[str, Any]]:
    """Return the rows of an experiment, or of the part that stands after a slash."""
    _, _, part = figure.partition("/")
    return [row for row in stored["rows"] if row["part"] == part]


def _row(stored: Stored, figure: str, problem: str, policy: str) -> Mapping[str, Any]:
    for row in _rows(stored, figure):
        if (row["problem"], row["policy"]) == (problem, policy):
            return dict(row)
    raise KeyError(f"there is no {policy} on {problem} in {figure}")


def filled(page: str, results: Mapping[str, Stored]) -> str:
    """Return a page with the numbers that were stored."""

    def block(mark: re.Match[str]) -> str:
        kind, figure, *which = shlex.split(mark[2])
        return f"{mark[1]}{BLOCKS[kind](results[figure.partition('/')[0]], figure, *which)}\n{mark[3]}"

    def inline(mark: re.Match[str]) -> str:
        figure, problem, policy = shlex.split(mark[2])
        return f"{mark[1]}{number(results[figure.partition('/')[0]], figure, problem, policy)}{mark[3]}"

    return INLINE.sub(inline, BLOCK.sub(block, page))


def _lines(rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)


def stored_results(folder: Path = STORE) -> dict[str, Stored]:
    """Return everything that is stored, by figure."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def main() -> None:
    """Store, fill in or check."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="write nothing, fail if a page differs")
    arguments.add_argument("--store", type=Path, help="a folder that `corebandit reproduce` has written")
    given = arguments.parse_args()
    if given.store:
        for path in store(given.store):
            print(f"stored {path.relative_to(ROOT)}")
    results, stale = stored_results(), []
    for name in PAGES:
        path = ROOT / name
        page = path.read_text(encoding="utf-8")
        if (new := filled(page, results)) != page:
            stale.append(name)
            if not given.check:
                path.write_text(new, encoding="utf-8")
    if given.check and stale:
        sys.exit(f"the numbers in {', '.join(stale)} are not those of docs/results: run scripts/fill_docs.py")
    print(f"{'checked' if given.check else 'filled in'} {len(PAGES)} pages, {len(stale)} of them changed")


if __name__ == "__main__":
    main()
