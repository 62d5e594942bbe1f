"""Rankings in experiments, beside arms and features."""

import numpy as np
import polars as pl
import pytest

import corebandit as cb
from corebandit.clicks.models import CM, PBM
from corebandit.ranking.policies import CascadeKLUCB, Ranked, RankedBandits, TopRank
from corebandit.ranking.ranking_problems import RankingBandit, YandexLike

PROBLEM = RankingBandit(CM((0.5, 0.1, 0.3, 0.2, 0.4, 0.05)), n_positions=3)


def regrets(result, label, at):
    return result.frame.filter((pl.col("policy") == label) & (pl.col("round") == at)).sort("run")["regret"].to_numpy()


def test_an_experiment_compares_ranking_policies():
    policies = [Ranked(), Ranked(cb.UniformRandom()), CascadeKLUCB()]
    result = cb.run(cb.Experiment(PROBLEM, policies, horizon=3000, runs=12), jobs=2)
    ours, at_random, bounds = (regrets(result, policy.label, 3000) for policy in policies)
    assert (ours < 0.3 * at_random).all()
    assert (bounds < 0.3 * at_random).all()


def test_policies_meet_the_same_users_whoever_else_is_there():
    alone = cb.run(cb.Experiment(PROBLEM, [TopRank()], horizon=500, runs=3))
    together = cb.run(cb.Experiment(PROBLEM, [Ranked(cb.UCB1()), TopRank()], horizon=500, runs=3), jobs=2)
    np.testing.assert_array_equal(regrets(alone, "TopRank", 500), regrets(together, "TopRank", 500))


@pytest.mark.parametrize("model", [PROBLEM.model, PBM(PROBLEM.model.attraction, examination=(1.0, 0.7, 0.4))])
def test_realised_regret_is_the_same_on_average(model):
    problem = RankingBandit(model, n_positions=3)
    policy = Ranked(cb.UniformRandom())
    expected, realised = (
        regrets(cb.run(cb.Experiment(problem, [policy], horizon=1000, runs=20, regret=kind)), policy.label, 1000)
        for kind in ("expected", "realised")
    )
    difference = realised - expected
    assert difference.std() > 1.0
    assert abs(difference.mean()) < 4.0 * difference.std() / np.sqrt(20)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "policies",
    [
        [Ranked(cb.SSMC()), RankedBandits(cb.Giro())],
        pytest.param([Ranked(cb.Giro()), RankedBandits(cb.SSMC())], marks=pytest.mark.endurance),
    ],
)
def test_histories_have_room_for_every_position(policies):
    # SSMC and Giro keep every observation; with several clicks in each round all positions are observed.
    problem = RankingBandit(PBM((0.9,) * 6, examination=(1.0, 1.0, 1.0)), n_positions=3)
    result = cb.run(cb.Experiment(problem, policies, horizon=400, runs=1))
    assert np.isfinite(result.frame["regret"].to_numpy()).all()


@pytest.mark.parametrize(
    ("problem", "policy", "sentence"),
    [
        (YandexLike(), cb.CORe(), r"CORe does not rank, but yandex_like shows rankings: say Ranked\(CORe\)"),
        (
            YandexLike(),
            cb.LinCORe(),
            "LinCORe does not rank, but yandex_like shows rankings: choose a policy that does",
        ),
        (cb.BernoulliBandit(), TopRank(), "TopRank ranks items, but bernoulli shows no rankings"),
        (cb.LinearBandit(), Ranked(), "Ranked ranks items, but linear shows no rankings"),
    ],
)
def test_policies_and_problems_of_different_kinds_are_refused(problem, policy, sentence):
    with pytest.raises(ValueError, match=sentence):
        cb.Experiment(problem, [policy], horizon=100)


@pytest.mark.parametrize("warm_up", ["observed", "displayed"])
def test_a_warm_up_without_an_end_is_warned_of(warm_up):
    policy = Ranked(cb.CORe(), warm_up=warm_up)
    with pytest.warns(UserWarning, match="spends all 36 rounds on its warm-up, which would take 44"):
        cb.Experiment(PROBLEM, [policy], horizon=36)  # 130.3 feedbacks, three in a round at the most


def test_several_problems_need_several_experiments():
    with pytest.raises(ValueError, match=r"problem must be one problem, not 2 of them: .* run\(\) takes them all"):
        cb.Experiment([PROBLEM, YandexLike()], [TopRank()])


def test_where_all_is_looked_at_the_readings_of_the_warm_up_differ_by_one_round_at_most():
    readings = [Ranked(cb.CORe(), "all", reading) for reading in ("observed", "displayed")]
    rounds = np.array([[policy.warm_up_rounds(10, 5, n) for policy in readings] for n in range(500, 60_000, 500)])
    assert set((rounds[:, 1] - rounds[:, 0]).tolist()) == {0, 1}


def test_warm_ups_of_equal_length_are_the_same_where_all_is_looked_at():
    problem = YandexLike(3, click_model="PBM")
    policies = {reading: Ranked(cb.CORe(), "all", reading) for reading in ("observed", "displayed")}
    result = cb.run(cb.Experiment(problem, policies, horizon=1500, runs=3))
    np.testing.assert_array_equal(result.regret("observed"), result.regret("displayed"))


def test_an_experiment_with_rankings_can_be_described():
    experiment = cb.Experiment(YandexLike(3), [Ranked()], horizon=100)
    assert experiment.describe()["problem"] == {
        "name": "yandex_like",
        "query": 3,
        "n_positions": 5,
        "click_model": "CM",
    }
    assert experiment.describe()["policies"]["CORe"]["policy"]["name"] == "CORe"
