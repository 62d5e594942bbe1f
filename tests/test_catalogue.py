import json

import numpy as np
import pytest

import corebandit as cb
from corebandit import clicks as ranking
from corebandit.catalogue import (
    arm_policies,
    feature_policies,
    known_policies,
    known_problems,
    policy_from,
    problem_from,
    ranking_policies,
    signature,
    split_specs,
)


@pytest.mark.parametrize(
    ("spec", "policy"),
    [
        ("CORe", cb.CORe()),
        ("core", cb.CORe()),
        (" CORe( alpha = 0.4 , sampler = 'exact' ) ", cb.CORe(alpha=0.4, sampler="exact")),
        ("CORe(sampler=exact)", cb.CORe(sampler="exact")),
        ("PHE(0.5, pseudo=gaussian)", cb.PHE(a=0.5, pseudo="gaussian")),
        ({"name": "UCB1", "sigma": 2.0}, cb.UCB1(sigma=2.0)),
        ("EpsilonGreedy(epsilon=None)", cb.EpsilonGreedy()),
        ("NPTS(any_reward=false)", cb.NPTS()),
        ("NPTS(any_reward=true)", cb.NPTS(any_reward=True)),
        ("TopRank", cb.TopRank()),
        ("Ranked(CORe)", cb.Ranked(cb.CORe())),
        ("ranked(CORe(alpha=0.4), observes=all)", cb.Ranked(cb.CORe(alpha=0.4), observes="all")),
        ("RankedBandits(policy=BernoulliTS())", cb.RankedBandits(cb.BernoulliTS())),
        ("PBMUCB([1, 0.5])", cb.PBMUCB(examination=(1, 0.5))),
        ({"name": "Ranked", "policy": {"name": "CORe", "alpha": 0.4}}, cb.Ranked(cb.CORe(alpha=0.4))),
    ],
)
def test_a_spec_names_a_policy(spec, policy):
    assert policy_from(spec) == policy


def test_a_problem_may_name_the_law_of_each_arm():
    wanted = cb.FixedArms([cb.Bernoulli(0.3), cb.Gaussian(0.5, sigma=2)])
    assert problem_from("arms([bernoulli(0.3), gaussian(0.5, sigma=2)])") == wanted
    table = {"name": "arms", "laws": [{"name": "bernoulli", "p": 0.3}, {"name": "gaussian", "mu": 0.5, "sigma": 2}]}
    assert problem_from(table) == wanted


def test_a_ranking_problem_may_name_its_click_model():
    wanted = cb.RankingBandit(ranking.PBM([0.4, 0.2, 0.1], [1.0, 0.5]), n_positions=2)
    assert problem_from("ranking(PBM([0.4, 0.2, 0.1], examination=[1, 0.5]), n_positions=2)") == wanted
    model = {"name": "PBM", "attraction": [0.4, 0.2, 0.1], "examination": [1, 0.5]}
    assert problem_from({"name": "ranking", "model": model, "n_positions": 2}) == wanted
    assert problem_from("yandex_like(query=3)") == cb.YandexLike(query=3)
    with pytest.raises(ValueError, match=r"unknown law or click model 'PBN': did you mean 'PBM'\?"):
        problem_from("ranking(PBN([0.4]))")


def test_a_problem_may_be_a_query_of_a_file(tmp_path):
    path = tmp_path / "models.json"
    ranking.write_models(path, {"9982_0": {"PBM": ranking.PBM([0.4, 0.2, 0.1], [1.0, 0.5])}})
    problem = problem_from(f"stored_query(file='{path}', query='9982_0', model='PBM', n_positions=2)")
    assert problem == cb.StoredQuery(str(path), "9982_0", "PBM", 2)
    table = {"name": "stored_query", "file": str(path), "query": "9982_0", "model": "PBM", "n_positions": 2}
    assert problem_from(table) == problem


def test_every_policy_and_problem_can_be_named():
    assert known_policies() == {**arm_policies(), **feature_policies(), **ranking_policies()}
    for name, policy in known_policies().items():
        assert policy_from(name) == policy()
        if policy.can_be_rebuilt:
            assert policy_from(f"{name}({signature(policy)})") == policy()


def test_every_label_is_a_spec_of_itself():
    for policy in (
        *(cls() for cls in {**arm_policies(), **feature_policies()}.values()),
        cb.CORe(alpha=0.3, pool_size=10),
    ):
        assert policy_from(policy.label) == policy
    for problem in (
        cb.GaussianBandit(sigma=0.2),
        cb.MixedBandit(n_arms=3),
        cb.FixedArms([cb.Uniform(), cb.Beta(1, 2), cb.StudentT(0.5), cb.Purchase(0.1)]),
        cb.PurchaseBandit(n_arms=3),
        cb.LinearBandit(rewards="gaussian", sigma=0.2),
        cb.ContextualBandit(n_arms=3, rewards="beta"),
        cb.FixedLinear([[1.0, 0.0], [0.5, 0.5]], theta=[0.2, 0.4]),
        cb.LogisticBandit(n_arms=20),
        cb.PoissonBandit(rate=50.0),
        cb.NonlinearBandit("cosine", n_arms=3),
        cb.ClassificationBandit("wine"),
        cb.ChangingBandit("season", rewards="gaussian"),
        cb.ChangedArms([0.3, 0.4], [0.5, 0.4], lasts=100),
        cb.QuietlyBetter(lasts=100),
        cb.ChangingLinearBandit("smooth", contextual=True),
    ):
        assert problem_from(problem.label) == problem
    assert set(known_problems()) == {
        *("bernoulli", "beta", "gaussian", "mixed", "student_t", "unequal", "purchase", "arms"),
        *("linear", "contextual", "fixed_linear", "logistic", "poisson"),
        *("nonlinear", "classification", "fixed_classification"),
        *("changing", "changed_arms", "changed_best", "quietly_better", "changing_linear"),
        *("ranking", "yandex_like", "stored_query"),
    }


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("CORE2", "unknown policy 'CORE2': did you mean 'CORe'?"),
        ("nonsense", "unknown policy 'nonsense': there is AdaUCB, BatchRank, BernoulliTS, BootstrapTS, "),
        ("CORe(alhpa=0.4)", "unknown parameter of CORe 'alhpa': did you mean 'alpha'?"),
        ("CORe(alpha=-1)", "alpha must be a number of at least 0, not -1"),
        ("CORe(z=1)", "z must be a number above 0 and below 1, not 1"),
        ("CORe(alpha='x')", "alpha must be a number of at least 0, not 'x'"),
        (
            "CORe(0.1,0.1,1,'fast',None,'plain',7)",
            r"CORe takes \(alpha, z, warm_up, sampler, pool_size, pool, extra, growth\)",
        ),
        ("CORe(alpha=0.4", "is written as a name with parameters"),
        ("CORe(alpha=__import__('os'))", "unknown policy for arms '__import__'"),
        ("Ranked(CORee(alpha=0.4))", "unknown policy for arms 'CORee': did you mean 'CORe'?"),
        ("Ranked(CORe(alhpa=0.4))", "unknown parameter of CORe 'alhpa': did you mean 'alpha'?"),
        ("Ranked(TopRank())", "unknown policy for arms 'TopRank'"),
        ("CORe(alpha=1+1j*x)", "cannot read the parameter"),
        ("no_such_file.py:Mine", "there is no file 'no_such_file.py'"),
        ({"alpha": 0.4}, "a policy needs a name"),
        ("CORe(alpha=0.4)(z=0.5)", "is written as a name with parameters"),
        ("CORe(alpha=0.4, alpha=0.5)", "is written as a name with parameters"),
        ("NPTS(any_reward=no)", "any_reward must be True or False, not 'no'"),
    ],
)
def test_a_bad_spec_is_answered_with_a_sentence(spec, sentence):
    with pytest.raises(ValueError, match=sentence):
        policy_from(spec)


def test_specs_are_split_outside_parentheses_only():
    assert split_specs("CORe(alpha=0.4, z=0.5), UCB1,,arms([bernoulli(0.1), beta(1, 2)])") == [
        "CORe(alpha=0.4, z=0.5)",
        "UCB1",
        "arms([bernoulli(0.1), beta(1, 2)])",
    ]


def test_a_policy_is_read_from_the_users_file(tmp_path):
    path = tmp_path / "spec_policies.py"
    path.write_text(
        "from dataclasses import dataclass\nimport corebandit as cb\n"
        "@dataclass(frozen=True)\nclass Mine(cb.UCB1):\n    sigma: float = 0.7\n"
    )
    policy = policy_from(f"{path}:Mine(sigma=0.9)")
    assert policy.label == "Mine(sigma=0.9)"
    assert type(policy_from(f"{path}:Mine")) is type(policy)
    with pytest.raises(ValueError, match="has no policy 'Other'"):
        policy_from(f"{path}:Other")


def test_a_file_that_cannot_be_imported_is_named(tmp_path):
    path = tmp_path / "broken_file.py"
    path.write_text("def broken(:")
    with pytest.raises(ValueError, match=r"broken_file.py' cannot be imported: SyntaxError"):
        policy_from(f"{path}:Mine")


def test_how_what_lies_beside_a_file_is_found_is_said(tmp_path):
    (tmp_path / "beside_the_file.py").write_text("C = 1.0")
    (tmp_path / "own.py").write_text("import beside_the_file")
    (tmp_path / "other.py").write_text("import nowhere_at_all")
    with pytest.raises(cb.BadInput, match=r"No module named 'beside_the_file'; it is found if the folder of own.py"):
        policy_from(f"{tmp_path / 'own.py'}:Mine")
    with pytest.raises(cb.BadInput, match=r"No module named 'nowhere_at_all'$"):
        policy_from(f"{tmp_path / 'other.py'}:Mine")


def test_numpy_numbers_are_numbers():
    policy = cb.CORe(alpha=np.float64(0.4), pool_size=np.int64(7))
    assert policy.label == "CORe(alpha=0.4, pool_size=7)"
    assert json.loads(json.dumps(policy.describe()))["pool_size"] == 7
