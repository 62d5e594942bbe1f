"""Regrets that must not move unless somebody means it: a change here needs a line in CHANGELOG.md.

To write them anew: uv run python tests/test_golden.py
"""

import json
from pathlib import Path

import pytest

import corebandit as cb
from corebandit.catalogue import arm_policies, feature_policies, neural_policies
from corebandit.contracts.recipe import FeaturePolicy
from often import often

GOLDEN = Path(__file__).with_name("golden.json")
OLD = {"alpha": 0.6, "warm_up": 0.5, "extra": 0}  # what was recommended until version 0.4
VARIANTS = [
    *(cb.RecommendedCORe(**OLD, growth=0.0), cb.RecommendedLinCORe(**OLD)),
    *(cb.CORe(sampler="exact"), cb.CORe(pool_size=50), cb.CORe(sampler="exact", pool="plain")),
    *(cb.SSMC(window="last"), cb.PHE(pseudo="gaussian")),
    *(cb.BootstrapTS(weights="poisson", replicate="round"), cb.WeightedBootstrap(weights="gaussian")),
    *(cb.RewardExchange(probability=0.15, kept=False), cb.RewardExchange(probability=5.0, decay=1.0)),
    *(cb.RandUCB(optimistic=False, coupled=False), cb.LinRewardExchange(probability=0.15, kept=False)),
    *(cb.LinCORe(sampler="exact"), cb.LinUCB(scaling="authors"), cb.LinPHE(pseudo="gaussian")),
]
POLICIES = [
    policy() for name, policy in {**arm_policies(), **feature_policies()}.items() if name not in neural_policies()
]
POLICIES += VARIANTS
SOME = [
    *(cb.CORe(), cb.CORe(sampler="exact"), cb.CORe(pool_size=50), cb.UCB1(), cb.BernoulliTS(), cb.SSMC(), cb.PHE()),
    *(cb.LinCORe(), cb.LinCORe(sampler="exact"), cb.LinTS(), cb.GLMCORe()),
]


def regrets(policy):
    """Return the regret of three short runs, on Gaussian rewards where the policy takes them and else on beta ones."""
    is_bounded = policy.reward_range[0] == 0 or isinstance(policy, cb.NPTS)
    if isinstance(policy, FeaturePolicy):
        problem = cb.LinearBandit(n_arms=20, n_features=5, rewards="beta" if is_bounded else "gaussian")
    else:
        problem = cb.BetaBandit(n_arms=5) if is_bounded else cb.GaussianBandit(n_arms=5)
    result = cb.run(cb.Experiment(problem, {"it": policy}, horizon=1000, runs=3, seed=2021), jobs=1)
    return result.regret("it")[:, [9, 49, 99]].tolist()


@pytest.mark.parametrize("policy", often(SOME, POLICIES, pytest.mark.thorough), ids=lambda policy: policy.label)
def test_regrets_are_what_they_were(policy):
    golden = json.loads(GOLDEN.read_text())
    assert set(golden) == {policy.label for policy in POLICIES}
    for run, expected in zip(regrets(policy), golden[policy.label], strict=True):
        assert run == pytest.approx(expected, rel=1e-9)


if __name__ == "__main__":
    lines = [f"{json.dumps(policy.label)}: {json.dumps(regrets(policy))}" for policy in POLICIES]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
