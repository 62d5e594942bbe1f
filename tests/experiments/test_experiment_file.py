import pytest

import corebandit as cb
from corebandit.contracts.errors import BadInput
from corebandit.experiments.experiment_file import read_experiments

GOOD = """
horizon = 500
runs = 5
problems = ["bernoulli", { name = "gaussian", sigma = 0.2 }]
policies = ["CORe", { name = "CORe", alpha = 0.4, label = "small" }]
"""


def write(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return path


def test_every_policy_meets_every_problem(tmp_path):
    experiments = read_experiments(write(tmp_path, GOOD), seed=3)
    assert [experiment.problem for experiment in experiments] == [cb.BernoulliBandit(), cb.GaussianBandit(sigma=0.2)]
    for experiment in experiments:
        assert experiment.policies == {"CORe": cb.CORe(), "small": cb.CORe(alpha=0.4)}
        assert (experiment.horizon, experiment.runs, experiment.seed, experiment.name) == (500, 5, 3, "mine")


def test_a_file_may_describe_rankings(tmp_path):
    text = """
    problems = ["yandex_like(query=3)", { name = "yandex_like", query = 4, click_model = "PBM" }]
    policies = ["Ranked(CORe(alpha=0.4))", "TopRank", { name = "Ranked", policy = { name = "UCB1" }, label = "bounds" }]
    """
    experiments = read_experiments(write(tmp_path, text))
    assert [each.problem for each in experiments] == [cb.YandexLike(3), cb.YandexLike(4, click_model="PBM")]
    assert experiments[0].policies == {
        "CORe(alpha=0.4)": cb.Ranked(cb.CORe(alpha=0.4)),
        "TopRank": cb.TopRank(),
        "bounds": cb.Ranked(cb.UCB1()),
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (GOOD + "horizn = 3", "mine.toml: unknown key 'horizn': did you mean 'horizon'?"),
        (GOOD.replace("runs = 5", "runs = 0"), "runs must be a whole number of at least 1, not 0"),
        (GOOD.replace("runs = 5", "runs = '5'"), "runs must be a whole number of at least 1, not '5'"),
        ("policies = ['CORe']", r"problems is missing, for instance problems = \[\"bernoulli\"\]"),
        ("problems = ['bernoulli']", "policies is missing"),
        (GOOD.replace("bernoulli", "bernouli"), "unknown problem 'bernouli': did you mean 'bernoulli'?"),
        (GOOD.replace("alpha", "alhpa"), "unknown parameter of CORe 'alhpa': did you mean 'alpha'?"),
        (GOOD.replace(', label = "small"', "").replace("alpha = 0.4", "alpha = 0.6"), "two entries labelled 'CORe'"),
        ("horizon = ", "is not a TOML file"),
        ("problems = []\npolicies = ['CORe']", "problems must name at least one problem"),
    ],
)
def test_a_mistake_in_the_file_is_answered_with_a_sentence(tmp_path, text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_experiments(write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*none.toml: No such file"):
        read_experiments(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "name", [".", "..", "...", " ", "../up", "/etc", "a/b", "a\\\\b", "a\\nb", "a\\u0000b", "n" * 300]
)
def test_results_never_go_to_another_folder_than_one_of_their_own(tmp_path, name):
    path = write(tmp_path, GOOD.replace("horizon", f'name = "{name}"\nhorizon', 1))
    with pytest.raises(BadInput, match="name must be a plain name"):
        read_experiments(path)


def test_a_file_without_a_name_is_refused_where_its_own_is_none(tmp_path):
    path = tmp_path / "...toml"  # the stem of which is ..
    path.write_text(GOOD)
    with pytest.raises(BadInput, match="name must be a plain name"):
        read_experiments(path)


@pytest.mark.parametrize("name", ["mine", "CORe: small, 2nd", "zażółć", ".hidden", "a..b"])
def test_plain_names_are_taken(tmp_path, name):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace("horizon", f'name = "{name}"\nhorizon', 1), encoding="utf-8")
    assert read_experiments(path)[0].name == name


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 100_000,
        "problems = " + "[" * 5000 + "]" * 5000,
        "policies = [" + "{name = " * 5000,
        GOOD.replace('"CORe"', '"CORe(alpha=' + "[" * 150 + "]" * 150 + ')"'),
        GOOD.replace('"CORe"', '"CORe(alpha=' + "-" * 20_000 + '1)"'),
        GOOD.replace('"CORe"', '"CORe(' + "(" * 20_000 + '"'),
        GOOD.replace("500", "9" * 5000),
    ],
    ids=range(7),
)
def test_what_is_nested_too_deep_or_too_long_is_answered_with_a_short_sentence(tmp_path, text):
    with pytest.raises(BadInput) as caught:
        read_experiments(write(tmp_path, text))
    assert len(str(caught.value)) < 600


def test_a_huge_value_is_not_quoted_in_full(tmp_path):
    with pytest.raises(BadInput) as caught:
        read_experiments(write(tmp_path, GOOD.replace("500", '"' + "x" * 1_000_000 + '"')))
    assert len(str(caught.value)) < 600
