"""The HTML page: complete, self-contained, safe, and the same every time."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest

from corebandit.report.about import About
from corebandit.report.page import render_fragment, render_page
from corebandit.report.provenance import Provenance
from corebandit.report.report import Drawing, Frames, Report
from corebandit.report.sweep_drawings import heat_map, sweep_lines

pytestmark = pytest.mark.heavy  # every page is drawn

VOID = {"meta", "link", "img", "br", "hr", "input", "base", "source", "embed"}


class Page(HTMLParser):
    """Tags, ids and texts of a page, with a check that every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.attributes, self.texts, self.open = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip() and "style" not in self.open:
            self.texts.append(" ".join(data.split()))

    @property
    def text(self):
        return " ".join(self.texts)


def page_of(title, frames, claims, settings, *, sweeps=None, **more):
    """Return a page; `settings` are what it says of how it was made, and the experiments."""
    made = {name: settings[name] for name in ("command", "seconds", "versions") if name in settings}
    frames = frames if sweeps is None else frames._replace(sweeps=sweeps)
    return render_page(Report(frames, settings.get("experiments", ()), About(title, **made), claims, **more))


@pytest.fixture(scope="module")
def page(frames, verdicts, settings):
    return page_of("The paper", frames, verdicts, settings)


@pytest.fixture(scope="module")
def page_with_sweeps(swept, verdicts, settings):
    frames, sweeps = swept
    theory = Drawing("theory", "Regret against n", "Points are means & lines are laws.", sweep_lines(sweeps))
    extra = Drawing("figure1", "Another view", "What is seen.", heat_map(sweeps))
    return page_of("Sweeps", frames, verdicts, settings, sweeps=sweeps, drawings=[theory, extra])


@pytest.fixture(params=["page", "page_with_sweeps"])
def any_page(request):
    return request.getfixturevalue(request.param)


def test_the_page_says_what_was_run(page):
    text = Page(page).text
    assert "5 policies on 2 problems, 11 runs of 10,000 rounds each, paired" in text
    assert "rounds played 1.1 million" in text
    assert "time spent 3 min 13 s" in text
    assert "CPU time 15.0 s" in text
    assert "Lowest mean regret: CORe (warm-up 2) on Bernoulli bandit (83.0 ± 3.3), Beta bandit (83.0 ± 3.3)." in text


@pytest.mark.usefixtures("undrawn")
def test_tables_are_wide_enough_for_long_words(make, verdicts, settings):
    for policy, is_long in (("CORe (warm-up 2)", False), ("EstimatorCORe", True)):
        page = page_of("One", make({policy: 90.0, "TS": 95.0}, baseline=policy), verdicts, settings)
        assert page.count('class="tables roomy"') == (2 if is_long else 0)


@pytest.mark.usefixtures("undrawn")
def test_a_caption_says_what_a_figure_is_about(frames, verdicts, settings):
    captions = {"figure1": "Bandits with <arms>.", "figure9": "Another figure."}
    page = Page(page_of("The paper", frames, verdicts, settings, captions=captions))
    assert "Bandits with <arms>. Lowest mean regret" in page.text
    assert "Another figure" not in page.text


def test_the_page_shows_every_number_of_the_frames(page):
    text = Page(page).text
    assert text.count("440 ± 18 [396, 484] 1.5 s") == 2
    assert text.count("TS +9 [−21, 39] unclear 25 %") == 2
    assert text.count("CORe (warm-up 2) −24 [−54, 6] unclear 25 %") == 2
    assert text.count("minus CORe, run by run") == 2


@pytest.mark.usefixtures("undrawn")
def test_every_figure_has_its_section_with_one_panel_per_problem(make, verdicts, settings):
    parts = make(), make({"LinCORe": 90.0, "LinTS": 95.0}, {"hard": "Hard"}, experiment="my own", baseline="LinCORe")
    both = Frames(*(pl.concat(pair) for pair in zip(*(part[:4] for part in parts), strict=True)))
    page = Page(page_of("Two", both, verdicts, settings))
    assert [name for name in page.ids if name in ("figure-1", "figure-2")] == ["figure-1", "figure-2"]
    assert page.text.count("my own") == 2
    labels = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert labels == [
        "Bernoulli bandit: cumulative regret, log scale",
        "Beta bandit: cumulative regret, log scale",
        "Bernoulli bandit: final regret of a run, log scale",
        "Beta bandit: final regret of a run, log scale",
        "Hard: cumulative regret, log scale",
        "Hard: final regret of a run, log scale",
    ]


def test_claims_come_with_both_verdicts_evidence_and_details(page):
    text = Page(page).text
    assert "F1.a CORe is below UCB1 warm-up 4 holds what decided six of six" in text
    assert "CORe minus UCB1 −333.2 [−341.5, −325.0] holds warm-up 2 does not hold" in text
    assert "With warm-up factor 4, of 3 claims 2 hold, 1 is undecided." in text
    assert "With warm-up factor 2, of 3 claims 1 holds, 1 does not hold, 1 looks as if it holds." in text
    assert "claims that hold, warm-up 2 1 of 2 judged" in text
    assert "undecided one by one: holds what decided 1.02" in text
    assert "claims that hold, warm-up 4 2 of 3 judged" in text


@pytest.mark.usefixtures("undrawn")
def test_other_readings_are_judged_beside_and_counted_apart(frames, verdicts, settings):
    same = replace(verdicts[0], reading="UCB1 (other)")
    text = Page(page_of("Readings", frames, [*verdicts, same], settings)).text
    assert "each reading is judged; none changes a verdict" in text
    assert "With warm-up factor 4, of 3 claims 2 hold, 1 is undecided." in text
    changed = replace(same, verdict="undecided", uncorrected="undecided")
    text = Page(page_of("Readings", frames, [*verdicts, changed], settings)).text
    assert "F1.a, UCB1 (other), warm-up 4: undecided (as drawn: holds)" in text
    assert "UCB1 (other) warm-up 4 undecided says otherwise" in text


@pytest.mark.usefixtures("undrawn")
def test_policies_without_a_curve_are_named_and_have_no_line(frames, page, verdicts, settings):
    drawn = frames._replace(curves=frames.curves.filter(frames.curves["policy"] != "TS"))
    text = Page(page_of("Fewer", drawn, verdicts, settings)).text
    assert "4 policies on 2 problems, 11 runs of 10,000 rounds each. Lower is better." in text
    assert "In the tables only: TS." in text
    assert "In the tables only" not in Page(page).text


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_where_parameters_come_from(frames, page, verdicts, settings):
    row = Provenance("figure1", "PHE", "a", "the best", "1.1 & more", "PHE: 1.1", "they <agree>")
    told = Page(page_of("Origins", frames, verdicts, settings, provenance=[row]))
    assert "provenance" in told.ids
    assert "Figure 1: 1 row policy" in told.text
    assert "PHE a the best 1.1 & more PHE: 1.1 they <agree>" in told.text
    assert "provenance" not in Page(page).ids


@pytest.mark.usefixtures("undrawn")
def test_long_tables_are_folded(swept, settings, monkeypatch):
    frames, sweeps = swept
    assert "Easy: 12 rows" not in page_of("Short", frames, [], settings, sweeps=sweeps)
    monkeypatch.setattr("corebandit.report.page.LONGEST_TABLE", 11)
    assert "Easy: 12 rows" in page_of("Long", frames, [], settings, sweeps=sweeps)


@pytest.mark.usefixtures("undrawn")
def test_without_verdicts_there_is_no_section_of_claims(frames, settings):
    page = Page(page_of("Comparison", frames, [], settings))
    assert "claims" not in page.ids
    assert "Claims" not in page.text
    assert "claims that hold" not in page.text


def test_settings_tell_how_to_make_it_again(page):
    text = Page(page).text
    assert "corebandit reproduce --quick" in text
    assert "numpy 2.2.1" in text
    assert "Figure 1: bernoulli, Bernoulli bandit problem RandomBernoulli parameters arms = 10" in text
    assert "rounds 10,000 runs 11 seed 77 regret expected" in text
    assert "alpha = 0.6, warm_up = 4.0" in text


@pytest.mark.usefixtures("undrawn")
def test_experiments_that_differ_only_in_their_problem_are_told_as_one(frames, settings):
    (one,) = settings["experiments"]
    queries = [{**one, "label": f"query {name}", "problem": {"name": "stored", "query": name}} for name in "abc"]
    text = page_of("Queries", frames, [], {**settings, "experiments": [*queries, {**one, "horizon": 20_000}]})
    assert text.count('<div class="experiment">') == 2
    assert "<summary>3 problems</summary>" in text
    for name in "abc":
        assert f"<td>query {name}</td><td>stored</td><td>query = {name}</td>" in text


@pytest.mark.usefixtures("undrawn")
def test_settings_may_be_empty(frames):
    page = Page(page_of("Comparison", frames, [], {}))
    assert "The same numbers come from" not in page.text
    assert "time spent" not in page.text


def test_the_page_loads_nothing(any_page):
    assert "http" not in any_page
    assert "//" not in re.sub(r"data:image/png;base64,[A-Za-z0-9+/=\s]+", "", any_page)
    parsed = Page(any_page)
    assert not {"script", "link", "img", "iframe", "object", "base"} & set(parsed.tags)
    targets = [value for _, name, value in parsed.attributes if name in ("src", "href", "xlink:href")]
    assert targets
    assert all(value.startswith(("#", "data:")) for value in targets)
    assert "@import" not in any_page
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", any_page))


def test_a_page_with_many_runs_carries_its_images(make, settings):
    parsed = Page(page_of("Many", make(runs=1000), [], settings))
    targets = [value for tag, name, value in parsed.attributes if (tag, name) == ("image", "href")]
    assert len(targets) >= 2
    assert all(value.startswith("data:image/png;base64,") for value in targets)


def test_ids_are_unique_and_links_lead_somewhere(any_page):
    parsed = Page(any_page)
    assert len(parsed.ids) == len(set(parsed.ids))
    links = [value for _, name, value in parsed.attributes if name == "href"]
    assert {link[1:] for link in links if not link.startswith("data:")} <= set(parsed.ids)


def test_labels_cannot_inject_anything(make, verdicts, settings):
    evil = "<script>alert('x')</script>"
    made = make({evil: 10.0, "CORe": 9.0}, {evil: evil}, experiment=evil)
    claims = [replace(verdict, claim=evil, evidence=evil) for verdict in verdicts]
    settings = {**settings, "command": evil, "versions": {evil: evil}}
    for text in (page_of(evil, made, claims, settings), render_fragment(made)):
        assert "<script" not in text.lower()
        assert "&lt;script&gt;" in text
        assert evil in Page(text).text


def test_one_run_of_one_policy_makes_a_page(make):
    made = make({"mine": 20.0}, {"bernoulli": "B"}, runs=1)
    text = Page(page_of("Mine", made, [], {})).text
    assert made.differences.is_empty()
    assert "1 policy on 1 problem, 1 run of 10,000 rounds each." in text
    assert "Lowest mean regret" not in text
    assert "Paired differences" not in text
    assert "mine 20.00 –" in text


@pytest.mark.usefixtures("undrawn")
def test_twenty_policies_and_negative_regrets_make_a_page(make):
    made = make({f"policy {index}": 10.0 * index - 40 for index in range(20)}, {"a": "A"})
    text = Page(page_of("Many", made, [], {})).text
    assert "policy 0 −40.0 ± 1.6 [−44.0, −36.0]" in text
    assert all(text.count(f"policy {index} ") >= 2 for index in range(20))


def test_a_figure_without_curves_still_has_its_table(frames, settings):
    other = frames._replace(curves=frames.curves.filter(problem="none"), finals=frames.finals.clear())
    page = Page(page_of("Table", other, [], settings))
    assert "440 ± 18" in page.text
    assert "figure" not in page.tags


def section(page, anchor):
    return Page(re.search(rf'<section id="{anchor}">.*?</section>', page, re.DOTALL)[0])


def test_settings_of_sweeps_are_not_counted_as_policies(page_with_sweeps):
    text = Page(page_with_sweeps).text
    assert "5 policies on 4 problems, 73 parameter settings, 11 to 100 runs of 10,000 rounds each, paired" in text
    assert "policies 5 problems 4 parameter settings 73" in text


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_sweeps_alone_counts_settings_of_policies(swept):
    frames, sweeps = swept
    only = frames.summary.filter(pl.col("experiment") != "figure1")
    nothing = Frames(only, *(frame.clear() for frame in frames[1:4]))
    text = Page(page_of("Sweeps", nothing, [], {}, sweeps=sweeps)).text
    assert "3 policies on 2 problems, 73 parameter settings, 100 runs of 10,000 rounds each" in text


def test_a_search_shows_lines_and_a_compact_table(page_with_sweeps):
    part = section(page_with_sweeps, "figure-2")
    labels = [value for tag, name, value in part.attributes if (tag, name) == ("svg", "aria-label")]
    assert labels == ["Easy: regret at the end", "Hard: regret at the end"]
    assert "Figure 2: parameter search Lowest mean regret" in part.text
    assert "Easy: LinTS sigma=0.4 (100 [90, 110]), LinPHE sigma=0.8 (100 [90, 110])" in part.text
    assert part.text.count("sigma LinTS LinPHE 0.1 190 590 0.2 140 460") == 2
    assert part.texts.count("Easy") >= 2
    assert "Paired differences" not in part.text
    assert "95 % interval CPU" not in part.text
    best = [value for tag, name, value in part.attributes if (tag, name) == ("td", "class") and "key" in value]
    assert len(best) == 4
    assert ("td", "title", "95 % interval: [171, 209]") in part.attributes


def test_a_heat_map_has_its_numbers_in_a_folded_table(page_with_sweeps):
    part = section(page_with_sweeps, "figure-3")
    labels = [value for tag, name, value in part.attributes if (tag, name) == ("svg", "aria-label")]
    assert labels == ["Hard: LinCORe: regret at the end"]
    assert "Hard: LinCORe alpha=0.6 z=0.4 (100 [90, 110])" in part.text
    assert "details" in part.tags
    assert "z \\ alpha 0.2 0.4 0.6 0.8 1 1.2 1.4 0.8 6400 3200 1600 3200 6400 12.8k 25.6k 0.7" in part.text


@pytest.mark.usefixtures("undrawn")
def test_policies_beside_a_sweep_keep_their_table(swept):
    frames, sweeps = swept
    beside = frames.summary.filter(problem="beta").with_columns(
        experiment=pl.lit("figure2"), part=pl.lit("parameter search")
    )
    page = page_of("Sweeps", frames._replace(summary=pl.concat([frames.summary, beside])), [], {}, sweeps=sweeps)
    assert "Other policies" in section(page, "figure-2").text
    assert section(page, "figure-2").text.count("440 ± 18 [396, 484] 1.5 s") == 1
    assert "Other policies" not in section(page, "figure-3").text


def test_drawings_stand_in_their_section_or_in_one_of_their_own(page_with_sweeps):
    first, last = section(page_with_sweeps, "figure-1"), section(page_with_sweeps, "figure-4")
    assert first.text.index("Another view. What is seen.") < first.text.index("Regret over the rounds.")
    assert last.text.startswith("Theory ")
    assert last.text.endswith("Regret against n. Points are means & lines are laws.")
    assert last.tags.count("svg") == 1
    assert "table" not in last.tags
    assert Page(page_with_sweeps).text.count("Theory") == 2


@pytest.mark.endurance
def test_the_same_sweeps_make_the_same_page(swept):
    assert len({page_of("Sweeps", swept[0], [], {}, sweeps=swept[1]) for _ in range(2)}) == 1


def test_the_same_data_make_the_same_page_and_empty_sweeps_change_nothing(frames, verdicts, settings, page, search):
    assert page_of("The paper", frames, verdicts, settings, sweeps=search.clear()) == page


def test_labels_of_sweeps_cannot_inject_anything(frames, search, grid):
    evil = "<script>alert('x')</script>"
    sweeps = pl.concat([search, grid.with_columns(y_name=pl.lit(evil))])
    sweeps = sweeps.with_columns(
        title=pl.lit(evil), series=pl.lit(evil), x_name=pl.lit(evil), experiment=pl.lit("figure1"), part=pl.lit("")
    )
    sweeps = sweeps.with_columns(policy=pl.lit("UCB1"))
    drawing = Drawing(evil, evil, evil, sweep_lines(sweeps))
    for text in (
        page_of("Evil", frames, [], {}, sweeps=sweeps, drawings=[drawing]),
        render_fragment(frames._replace(sweeps=sweeps)),
    ):
        assert "<script" not in text.lower()
        assert evil in Page(text).text


@pytest.mark.usefixtures("undrawn")
def test_a_fragment_shows_sweeps(swept):
    frames, sweeps = swept
    parsed = Page(render_fragment(frames._replace(sweeps=sweeps)))
    labels = [value for tag, name, value in parsed.attributes if (tag, name) == ("svg", "aria-label")]
    assert labels[2:] == ["Easy: regret at the end", "Hard: regret at the end", "Hard: LinCORe: regret at the end"]
    assert "sigma LinTS LinPHE 0.1 190 590" in parsed.text
    assert "LinTS(sigma=0.1)" not in parsed.text


@pytest.fixture(scope="module")
def fragment(frames):
    return render_fragment(frames)


def test_a_fragment_has_the_table_and_the_curves_and_no_document(frames, fragment):
    parsed = Page(fragment)
    assert "html" not in parsed.tags
    assert parsed.tags[0] == "div"
    assert parsed.text.count("440 ± 18 [396, 484]") == 2
    labels = [value for tag, name, value in parsed.attributes if (tag, name) == ("svg", "aria-label")]
    assert labels == ["Bernoulli bandit: cumulative regret, log scale", "Beta bandit: cumulative regret, log scale"]
    assert "http" not in fragment
    assert fragment == render_fragment(frames)


def test_fragments_of_different_results_share_no_ids(fragment, make):
    other = make({"TS": 50.0, "CORe": 40.0})
    ids = [set(Page(text).ids) for text in (fragment, render_fragment(other))]
    assert ids[0]
    assert not ids[0] & ids[1]
