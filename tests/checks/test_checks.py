import json
from dataclasses import InitVar, dataclass
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.catalogue import arm_policies, feature_policies, neural_policies
from corebandit.checks.game_checks import N_ROUNDS, ArmGame, FeatureGame
from corebandit.checks.policy_checks import (
    check_added_arm,
    check_agent,
    check_compiled,
    check_interpreted,
    check_refusals,
    check_saving,
    check_state,
)
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import IntScratch
from often import often

VARIANTS = [
    cb.CORe(sampler="exact"),
    cb.CORe(sampler="halving"),
    cb.CORe(sampler="exact", pool="plain"),
    cb.CORe(pool_size=30),
    cb.KLUCB(family="gaussian"),
    cb.SSMC(window="last"),
    cb.NPTS(any_reward=True),
    cb.BootstrapTS(weights="poisson", replicate="round"),
    cb.RewardExchange(probability=0.15, kept=False),
    cb.LinCORe(sampler="exact"),
    cb.LinUCB(radius="determinant"),
    cb.WindowCORe(window=100),
    cb.SWUCB(window=100),
    cb.DriftingCORe(lasts=5),
    cb.WindowLinCORe(window=100),
]
# Settings that the tests of each policy look at closely.
FURTHER = [
    cb.CORe(warm_up=0.0, alpha=2.0),
    cb.PHE(pseudo="gaussian"),
    cb.WeightedBootstrap(weights="gaussian"),
    cb.LinRewardExchange(probability=0.15, kept=False),
    cb.LinRandUCB(coupled=False),
    cb.LinUCB(scaling="authors"),
    cb.LinPHE(pseudo="gaussian"),
]


POLICIES = [
    cls() for name, cls in {**arm_policies(), **feature_policies()}.items() if name not in neural_policies()
]  # tests/neural has those


QUICK = [cb.CORe(), cb.LinCORe()]
# Twins of others that are checked with features of both kinds: here with fixed ones, as test_golden.py compiles them.
TWINS = [
    *(cb.UCBGLM(), cb.GLMRandUCB(), cb.GLMTSL(), cb.GLMFPL(), cb.LogEpsilonGreedy()),
    *(cb.LinGreedy(), cb.LinEpsilonGreedy(), cb.LinRandUCB(), cb.LinRewardExchange()),
]
SLOW = [cb.Giro(), cb.EstimatorCORe()]
SELDOM = [*FURTHER, *TWINS, *SLOW]
HEAVY = [cb.UCB1(), cb.SSMC(), cb.LinTS(), cb.PHE(), cb.NPTS(), cb.GLMCORe(), cb.DriftingCORe()]
FIRST = often(QUICK, [*QUICK, *HEAVY], pytest.mark.heavy)
REST = often(
    [], [each for each in [*POLICIES, *VARIANTS] if each not in [*QUICK, *HEAVY, *SELDOM]], pytest.mark.thorough
)


@pytest.mark.parametrize("policy", [*FIRST, *REST, *often([], SELDOM)], ids=lambda p: p.label)
def test_every_policy_keeps_the_contract(policy):
    cb.check_policy(policy)


@pytest.mark.heavy
@pytest.mark.parametrize("policy", often(SLOW, [*TWINS, *SLOW], pytest.mark.thorough), ids=lambda p: p.label)
def test_twins_and_slow_policies_keep_most_of_the_contract(policy):
    if isinstance(policy, FeaturePolicy):
        game = FeatureGame(policy, N_ROUNDS, is_contextual=False)
    else:
        game = ArmGame(policy, N_ROUNDS)
    for check in (check_state, check_interpreted, check_compiled, check_agent, check_saving):
        check(game)
    check_added_arm(game)
    check_refusals(game)


@pytest.mark.parametrize(
    "policy",
    often(
        [cb.CORe(), cb.LinCORe()],
        [cb.CORe(), cb.EpsilonGreedy(epsilon=0.3), cb.UCBV(exploration="anytime"), cb.LinCORe()],
        pytest.mark.thorough,
    ),
    ids=lambda p: p.label,
)
def test_policies_keep_the_contract_without_a_horizon(policy):
    cb.check_policy(policy, horizon=None)


@pytest.mark.parametrize(
    "problem",
    [
        cb.BernoulliBandit(),
        cb.BetaBandit(v=0.5),
        cb.GaussianBandit(sigma=2.0),
        cb.MixedBandit(),
        cb.FixedArms([cb.Bernoulli(0.3), cb.Beta(0.5, 0.2), cb.Gaussian(1e9), cb.Uniform(-1, 3), cb.Exponential(2.0)]),
        cb.StudentTBandit(),
        cb.UnequalBandit(),
        cb.PurchaseBandit(),
        cb.LinearBandit(),
        cb.ContextualBandit(rewards="beta"),
        cb.FixedLinear([[1, 0], [0, 1], [1, 1]], theta=[0.2, 0.4], rewards="gaussian"),
        pytest.param(cb.NonlinearBandit("quadratic"), marks=pytest.mark.endurance),  # tests/problems has one
        cb.FixedClassification([[1, 0], [0, 1], [1, 1]], labels=[0, 1, 0]),
        cb.ChangingBandit(),
        cb.ChangingLinearBandit(),
    ],
    ids=lambda problem: problem.name,
)
def test_every_problem_keeps_the_contract(problem):
    cb.check_problem(problem)


class State(NamedTuple):
    counts: np.ndarray

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = -self.counts[arm]

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0


@dataclass(frozen=True)
class Good(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return State(np.zeros(n_arms))


def test_a_users_policy_is_accepted():
    cb.check_policy(Good())


class NanState(State):
    def score(self, rng, scores):
        scores[0] = 1.0


class FavouriteState(State):
    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = -float(arm)


class ForgetfulState(State):
    def update(self, arm, reward):
        self.counts[arm] += 1.0


class NoUpdate(NamedTuple):
    counts: np.ndarray

    def score(self, rng, scores):
        scores[:] = 0.0


class ScaledState(NamedTuple):
    counts: np.ndarray
    scale: float

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = -self.counts[arm]

    def update(self, arm, reward, rng):
        self.counts[arm] += self.scale


class LearningByScoreState(State):
    def score(self, rng, scores):
        self.counts[0] += 0.5
        for arm in range(scores.size):
            scores[arm] = -self.counts[arm]


class TalkativeState(NamedTuple):
    counts: np.ndarray
    calls: IntScratch

    def score(self, rng, scores):
        self.calls[0] += 1
        for arm in range(scores.size):
            scores[arm] = -self.counts[arm] + (100.0 if self.calls[0] % 2 else -100.0) * arm

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0


class RoundlessState(State):
    def begin_round(self, current_round):
        pass


SHARED = np.zeros(100)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda n, c: NanState(np.zeros(n)), "score left NaN in"),
        (lambda n, c: FavouriteState(np.zeros(n)), "depend on the order of the arms"),
        (lambda n, c: ForgetfulState(np.zeros(n)), r"update must take \(arm, reward, rng\), not \(arm, reward\)"),
        (lambda n, c: NoUpdate(np.zeros(n)), r"its state has no method update\(arm, reward, rng\)"),
        (lambda n, c: State(SHARED[:n]), "two states share an array"),
        (lambda n, c: [np.zeros(n)], "start must return a NamedTuple"),
        (lambda n, c: State(np.zeros(2 * n)[::2]), "an array of its state is a view with gaps"),
        (lambda n, c: ScaledState(np.zeros(n), max(1, n / 2)), "fields of the same types at all sizes"),
        (
            lambda n, c: LearningByScoreState(np.zeros(n)),
            r"in round 1 score changed counts of its state: what is learnt changes in update, or in prepare\(rng\)",
        ),
        (
            lambda n, c: TalkativeState(np.zeros(n), np.zeros(1, np.int64)),
            "what it chooses depends on how often score was called",
        ),
        (
            lambda n, c: RoundlessState(np.zeros(n)),
            r"begin_round must take \(decided, left, pending\), not \(current_round\)",
        ),
    ],
)
def test_a_broken_state_is_told_what_is_wrong(make, sentence):
    @dataclass(frozen=True)
    class Broken(cb.Policy):
        def start(self, n_arms, horizon, capacity):
            return make(n_arms, capacity)

    with pytest.raises(cb.CheckFailed, match=f"Broken: .*{sentence}"):
        cb.check_policy(Broken())


class WritesPastItsEnd(NamedTuple):
    rewards: np.ndarray
    counts: np.ndarray

    def score(self, rng, scores):
        scores[:] = -self.counts

    def update(self, arm, reward, rng):
        self.rewards[int(self.counts.sum())] = reward
        self.counts[arm] += 1.0


@dataclass(frozen=True)
class Overflowing(cb.Policy):
    size: str

    def start(self, n_arms, horizon, capacity):
        size = {"small": 200, "horizon": horizon, "blocks": capacity // 10 * 10}[self.size]
        return WritesPastItsEnd(np.zeros(size), np.zeros(n_arms))


@pytest.mark.parametrize(
    ("policy", "index"),
    [
        (Overflowing("small"), 200),
        (Overflowing("horizon"), 700),  # agents go on beyond a horizon
        (Overflowing("blocks"), 250),  # of their first 256
        (cb.Ranked(Overflowing("small")), 200),
    ],
)
def test_code_that_would_write_past_an_array_is_not_compiled_first(policy, index):
    """Compiled, it would write to other memory and end the process, or not."""
    sentence = f"{policy.name} fails in .*, update: IndexError: index {index} is out of bounds"
    with pytest.raises(cb.CheckFailed, match=sentence):
        cb.check_policy(policy)


@dataclass(frozen=True)
class ForFour(cb.Policy):
    n_arms: int = 4

    def start(self, n_arms, horizon, capacity):
        return State(np.zeros(self.n_arms))


def test_room_for_a_number_of_arms_of_its_own_is_told_before_an_arm_is_added():
    with pytest.raises(cb.CheckFailed, match=r"ForFour fails in .*, score: IndexError: index 4 is out of bounds"):
        cb.check_policy(ForFour())


@dataclass(frozen=True)
class Sized(Good):
    c: float = 2.0


class Shadowing(Sized):
    c: float = 1.0


@dataclass(frozen=True)
class Untyped(Sized):
    c = 1.0


class Initialised(Good):
    def __init__(self, c=1.0):
        object.__setattr__(self, "c", c)


class Fixed(Sized):
    def __init__(self):
        super().__init__(c=3.0)


@pytest.mark.parametrize(
    ("cls", "sentence"),
    [
        (Shadowing, "Shadowing: c of Shadowing is no parameter, so that .*: a parameter has a type and stands in"),
        (Untyped, "Untyped: c of Untyped is no parameter, so that"),
        (Initialised, "Initialised: Initialised takes c, which is no parameter, so that"),
        (Fixed, r"Fixed: it cannot be made again from its description \{.*\}: .*'c'"),
    ],
)
def test_parameters_that_no_description_has_are_told(cls, sentence):
    """Made again from such a description it would be another policy, or none."""
    with pytest.raises(cb.CheckFailed, match=sentence):
        cb.check_policy(cls())


@dataclass(frozen=True)
class TakesOver(Shadowing):
    c: float = 5.0


@dataclass(frozen=True)
class Converts(Sized):
    twice: InitVar[float | None] = None

    def __post_init__(self, twice):
        if twice is not None:
            object.__setattr__(self, "c", 2.0 * twice)


@dataclass(frozen=True, slots=True)
class Slotted(Sized):
    d: float = 1.0


class Documented(Sized):
    """Says again what is there."""

    c: float


@pytest.mark.parametrize("policy", [TakesOver(), Converts(twice=1.5), Slotted(c=1.0, d=2.0), Documented(c=1.0)])
def test_whatever_is_made_again_from_its_description_is_as_good(policy):
    cb.check_policy(policy)


class Constant(Sized):
    SCALE: float = 1.0

    def __init__(self, c=4.0, **others):
        super().__init__(c=c, **others)


def test_classes_without_parameters_of_their_own_need_not_be_dataclasses():
    cb.check_policy(Constant(c=1.0))


class RowState(NamedTuple):
    """Averages of the rewards times the features: simple, but a policy."""

    totals: np.ndarray  # (d,)
    counts: np.ndarray  # (n_arms,)

    def score(self, features, rng, scores):
        for row in range(scores.size):
            scores[row] = rng.random()
            for j in range(self.totals.size):
                scores[row] += features[row, j] * self.totals[j] / (1.0 + self.counts[0])

    def update(self, arm, x, reward, rng):
        self.counts[0] += 1.0
        for j in range(x.size):
            self.totals[j] += x[j] * reward


@dataclass(frozen=True)
class GoodByFeatures(FeaturePolicy):
    def start(self, n_arms, n_features, horizon, capacity):
        return RowState(np.zeros(n_features), np.zeros(n_arms))


def test_a_users_policy_by_features_is_accepted():
    cb.check_policy(GoodByFeatures())


class RowNanState(RowState):
    def score(self, features, rng, scores):
        scores[0] = 1.0


class RowOverreachingState(RowState):
    def score(self, features, rng, scores):
        for row in range(self.counts.size):
            scores[row] = features[row, 0]


class RowFavouriteState(RowState):
    def score(self, features, rng, scores):
        for row in range(scores.size):
            scores[row] = -float(row)


class RowNarrowState(RowState):
    def score(self, features, rng, scores):
        for row in range(scores.size):
            scores[row] = rng.random() if row < 4 else -1.0


class RowScalingState(RowState):
    def score(self, features, rng, scores):
        for row in range(scores.size):
            features[row, 0] *= 0.5
            scores[row] = features[row, 0]


class RowUsingUpState(RowState):
    def update(self, arm, x, reward, rng):
        x[0] = 0.0


class RowWithoutRngState(RowState):
    def update(self, arm, x, reward):
        self.counts[arm] += 1.0


class RowForArmsState(RowState):
    def score(self, rng, scores):
        scores[:] = 0.0


class RowTwoFacedState(RowState):
    def score(self, features, rng, scores):
        for row in range(scores.size):
            scores[row] = features[row, 0] if scores[row] == scores[row] else -features[row, 0]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda n, d: RowNanState(np.zeros(d), np.zeros(n)), "after 0 rounds score left NaN in"),
        (
            lambda n, d: RowOverreachingState(np.zeros(d), np.zeros(n)),
            "offered 3 rows where there are up to 7",
        ),
        pytest.param(
            *(lambda n, d: RowFavouriteState(np.zeros(d), np.zeros(n)), "depend on the order of the rows"),
            marks=pytest.mark.thorough,  # as of arms, above
        ),
        pytest.param(
            *(lambda n, d: RowNarrowState(np.zeros(d), np.zeros(n)), "of 50 rows it never chose one after the first 4"),
            marks=pytest.mark.thorough,
        ),
        (lambda n, d: RowScalingState(np.zeros(d), np.zeros(n)), "score changed the features it was given"),
        (lambda n, d: RowUsingUpState(np.zeros(d), np.zeros(n)), "update changed the features x it was given"),
        (
            lambda n, d: RowTwoFacedState(np.zeros(d), np.zeros(n)),
            "compiled and as plain Python it chooses differently",
        ),
        (
            lambda n, d: RowWithoutRngState(np.zeros(d), np.zeros(n)),
            r"update must take \(arm, x, reward, rng\), not \(arm, x, reward\)",
        ),
        (
            lambda n, d: RowForArmsState(np.zeros(d), np.zeros(n)),
            r"score must take \(features, rng, scores\), not \(rng, scores\)",
        ),
        (lambda n, d: NoUpdate(np.zeros(n)), r"score must take \(features, rng, scores\), not \(rng, scores\)"),
        (lambda n, d: RowState(SHARED[:d], np.zeros(n)), "two states share an array"),
        (lambda n, d: np.zeros(n), "start must return a NamedTuple"),
    ],
)
def test_a_broken_state_by_features_is_told_what_is_wrong(make, sentence):
    @dataclass(frozen=True)
    class Broken(FeaturePolicy):
        def start(self, n_arms, n_features, horizon, capacity):
            return make(n_arms, n_features)

    with pytest.raises(cb.CheckFailed, match=f"Broken: .*{sentence}"):
        cb.check_policy(Broken())


def test_rewards_nobody_pays_cannot_be_checked():
    @dataclass(frozen=True)
    class Picky(GoodByFeatures):
        @property
        def reward_range(self):
            return 2.0, 3.0

    with pytest.raises(cb.CheckFailed, match=r"Picky: no rewards to check it with: its range is \[2, 3\]"):
        cb.check_policy(Picky())


@pytest.mark.parametrize("policy", [None, cb.CORe, cb.BernoulliBandit()])
def test_what_is_no_policy_is_told_so(policy):
    with pytest.raises(cb.CheckFailed, match="derives from Policy or FeaturePolicy"):
        cb.check_policy(policy)


def test_a_recipe_that_is_not_ready_for_json_is_told_so():
    @dataclass(frozen=True)
    class Odd(Good):
        parameter: object = object()

    with pytest.raises(cb.CheckFailed, match="Odd: its parameters must be ready for JSON"):
        cb.check_policy(Odd())
    assert json.dumps(Good().describe())


class Liar(NamedTuple):
    means: np.ndarray
    shift: float

    @property
    def n_arms(self):
        return 2

    @property
    def support(self):
        return 0.0, 1.0

    def pull(self, arm, rng):
        return self.means[arm] + self.shift

    def mean(self, arm):
        return self.means[arm]

    def best_mean(self):
        return self.means[0]


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (Liar(np.array([0.5, 0.2]), 0.1), "arm 0 paid 0.6 on average, but says its mean is 0.5"),
        (Liar(np.array([0.2, 0.5]), 0.0), r"best_mean\(\) is 0.2, but the highest mean is 0.5"),
        (Liar(np.array([2.0, 0.5]), 0.0), r"arm 0 paid 2.0 to 2.0, outside \[0, 1\]"),
        (State(np.zeros(2)), "it lacks n_arms, pull, mean, best_mean"),
    ],
)
def test_a_broken_problem_is_told_what_is_wrong(problem, sentence):
    with pytest.raises(cb.CheckFailed, match=sentence):
        cb.check_problem(problem)


class Market(NamedTuple):
    """Stalls that pay what their features say; each field breaks one rule."""

    theta: np.ndarray  # (2,)
    shift: float = 0.0
    noise: float = 0.0
    says_new_from: int = 1
    says_old_from: int = 1000
    fills: int = 3
    uses_up: bool = False

    @property
    def n_arms(self):
        return 3

    @property
    def n_features(self):
        return 2

    @property
    def support(self):
        return -10.0, 10.0

    def offer(self, current_round, rng, features):
        for arm in range(self.fills):
            features[arm, 0] = rng.random() + self.noise * np.random.default_rng().random()
            features[arm, 1] = 1.0
        return self.says_new_from <= current_round < self.says_old_from

    def mean(self, arm, x):
        return self.theta[0] * x[0] + self.theta[1] * x[1]

    def pull(self, arm, x, rng):
        reward = self.mean(arm, x) + self.shift
        if self.uses_up:
            x[1] = 0.0
        return reward + (0.1 if rng.random() < 0.5 else -0.1)


class Silent(NamedTuple):
    n_arms: int = 3

    def offer(self, current_round, rng, features):
        return True


FAIR = np.array([1.0, 2.0])


def test_a_users_problem_with_features_is_accepted():
    cb.check_problem(Market(FAIR))


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (Market(FAIR, shift=0.5), r"Market: arm 0 paid .* on average, but says its mean is"),
        (Market(FAIR, noise=0.5), "Market: in round 1 it offers different features from the same stream"),
        (Market(FAIR, says_new_from=2), "Market: in round 1 all features are new, so offer must return True"),
        (Market(FAIR, says_old_from=5), "Market: in round 5 offer changed features but did not return True"),
        (Market(FAIR, fills=2), "Market: what it offers in round 1: features must be finite .* row 2, column 0 is nan"),
        (Market(FAIR, uses_up=True), "Market: mean or pull changed the features x"),
        (Market(10 * FAIR), r"Market: arm . paid .* outside \[-10, 10\]"),
        (Market(FAIR * np.inf), "Market: its means must be finite"),
        (Silent(), "it lacks pull, mean, n_features"),
    ],
)
def test_a_broken_problem_with_features_is_told_what_is_wrong(problem, sentence):
    with pytest.raises(cb.CheckFailed, match=sentence):
        cb.check_problem(problem)
