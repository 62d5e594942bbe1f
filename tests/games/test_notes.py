"""What loops note of a run is what happened in it: told again from the actions, one round after the other."""

from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.games.kinds import ARMS, FEATURES, RANKINGS
from corebandit.games.notes import in_short, joined, new_notes
from corebandit.randomness.stream import Stream, stream
from corebandit.statistics.estimates import mean_intervals

GAMES = {
    "arms": (ARMS, cb.BernoulliBandit(4), cb.CORe()),
    "features": (FEATURES, cb.LinearBandit(n_arms=6, n_features=3), cb.LinTS()),
    "contexts": (FEATURES, cb.ContextualBandit(n_arms=4, n_features=3), cb.LinTS()),
    "rankings": (RANKINGS, cb.YandexLike(query=0), cb.Ranked(cb.BernoulliTS())),
}
N_ROUNDS = 400
ROUNDS = np.array([1, 7, 100, N_ROUNDS])


def played(kind, *, compiled=True, realised=False, n_noted=N_ROUNDS):
    game, problem, policy = GAMES[kind]
    instance = problem.draw(stream(3, kind))
    state = policy.start_on(instance, N_ROUNDS, game.n_observations(instance, N_ROUNDS))
    notes, regret = game.notes(instance, ROUNDS.size, n_noted), np.zeros(ROUNDS.size)
    loop = game.loop.prepared(compiled=compiled)
    loop(state, instance, *game.needs(instance, (1, kind, 1)), ROUNDS, -1, realised, regret, notes)
    return instance, notes, regret


@pytest.mark.parametrize("realised", [False, True])
def test_notes_of_arms_are_what_the_actions_say(realised):
    instance, notes, _ = played("arms", realised=realised)
    arms = notes.actions[:, 0]
    means = np.array([instance.mean(arm) for arm in range(4)])
    assert notes.means.tolist() == means.tolist()
    assert notes.pulls.tolist() == np.bincount(arms, minlength=4).tolist()
    is_best = np.cumsum(means[arms] == means.max())
    assert notes.best_rounds.tolist() == is_best[ROUNDS - 1].tolist()
    assert 0 < notes.best_rounds[-1] < N_ROUNDS
    for checkpoint, last in enumerate(ROUNDS):
        pulls = np.bincount(arms[:last], minlength=4)
        favourites = np.flatnonzero(pulls == pulls.max())
        assert notes.simple_regret[checkpoint] in means.max() - means[favourites]


def test_notes_of_fixed_features_are_what_the_actions_say():
    instance, notes, regret = played("features")
    arms = notes.actions[:, 0]
    assert notes.pulls.tolist() == np.bincount(arms, minlength=6).tolist()
    gaps = notes.means.max() - notes.means
    np.testing.assert_allclose(np.cumsum(gaps[arms])[ROUNDS - 1], regret, atol=1e-9)
    assert notes.best_rounds.tolist() == np.cumsum(gaps[arms] == 0.0)[ROUNDS - 1].tolist()
    assert notes.simple_regret[-1] == gaps[np.argmax(notes.pulls)]
    features = np.zeros((6, 3))
    instance.offer(1, stream(9), features)
    assert notes.means.tolist() == [instance.mean(arm, features[arm]) for arm in range(6)]


def test_arms_that_are_new_in_every_round_have_no_simple_regret():
    _, notes, regret = played("contexts")
    assert np.isnan(notes.means).all()
    assert np.isnan(notes.simple_regret[1:]).all()  # after one round nobody can tell
    assert notes.pulls.sum() == N_ROUNDS
    assert 0 < notes.best_rounds[-1] < N_ROUNDS
    assert regret[-1] > 0.0


def test_notes_of_rankings_are_what_was_shown():
    instance, notes, regret = played("rankings")
    assert notes.actions.shape == (N_ROUNDS, instance.n_positions)
    assert notes.pulls.tolist() == np.bincount(notes.actions.ravel(), minlength=instance.n_items).tolist()
    gaps = [instance.best_value() - instance.value(ranking.astype(np.int64)) for ranking in notes.actions]
    np.testing.assert_allclose(np.cumsum(gaps)[ROUNDS - 1], regret, atol=1e-9)
    assert notes.best_rounds.tolist() == np.cumsum(np.abs(gaps) < 1e-9)[ROUNDS - 1].tolist()
    assert np.isnan(notes.simple_regret).all()


@pytest.mark.heavy
@pytest.mark.parametrize("kind", GAMES)
def test_plain_python_notes_the_same(kind):
    for compiled, interpreted in zip(played(kind)[1], played(kind, compiled=False)[1], strict=True):
        np.testing.assert_allclose(compiled, interpreted, rtol=1e-12, atol=1e-12)


def test_actions_are_noted_where_there_is_room():
    assert played("arms", n_noted=0)[1].actions.shape == (0, 1)
    assert played("arms", n_noted=3)[1].actions.tolist() == played("arms")[1].actions[:3].tolist()


class Twins(NamedTuple):
    """Two arms that are best, one by a rounding error less."""

    n_arms: int

    def pull(self, arm: int, rng: Stream) -> float:
        return rng.random()

    def mean(self, arm: int) -> float:
        return (0.3, 0.1 + 0.2, 0.2)[arm]

    def best_mean(self) -> float:
        return 0.1 + 0.2


def test_arms_that_tie_are_all_the_best():
    result = cb.run(cb.Experiment(Twins(3), [cb.UCB1()], horizon=300, runs=2))
    notes = result.notes("UCB1")
    assert notes.best_rounds[:, -1].tolist() == notes.pulls[:, :2].sum(axis=1).tolist()


class FeatureTwins(NamedTuple):
    """The same, but with a feature, which says nothing."""

    n_arms: int
    n_features: int = 1

    def offer(self, current_round: int, contexts: Stream, features: np.ndarray) -> bool:
        features[:] = 1.0
        return current_round == 1

    def pull(self, arm: int, x: np.ndarray, rng: Stream) -> float:
        return rng.random()

    def mean(self, arm: int, x: np.ndarray) -> float:
        return Twins(3).mean(arm)


class Told:
    """A state that chooses the arms it was told to."""

    def __init__(self, *arms):
        self.arms = list(arms)

    def score(self, *given):
        scores = given[-1]
        scores[:] = 0.0
        scores[self.arms.pop(0)] = 1.0

    def update(self, *given):
        pass


def told(game, instance, *arms):
    notes = game.notes(instance, len(arms))
    needs, rounds = game.needs(instance, (1, "told", 0)), np.arange(1, len(arms) + 1)
    game.loop.in_python(Told(*arms), instance, *needs, rounds, -1, False, np.zeros(len(arms)), notes)
    return notes


WITH_TWINS = pytest.mark.parametrize(("game", "instance"), [(ARMS, Twins(3)), (FEATURES, FeatureTwins(3))])


@WITH_TWINS
def test_rounds_with_either_of_two_best_arms_are_counted(game, instance):
    assert told(game, instance, 0, 1, 2, 0).best_rounds.tolist() == [1, 2, 2, 3]


@WITH_TWINS
def test_simple_regret_is_that_of_the_arm_chosen_most_often_not_last(game, instance):
    assert told(game, instance, 2, 2, 0).simple_regret == pytest.approx([0.1, 0.1, 0.1])
    assert told(game, instance, 0, 0, 2).simple_regret == pytest.approx([0.0, 0.0, 0.0])
    assert told(game, instance, 2, 0, 0).simple_regret[[0, 2]] == pytest.approx([0.1, 0.0])


def test_notes_of_few_bytes_hold_the_same_numbers():
    notes = new_notes(2, 3)._replace(pulls=np.array([70_000, 1, 0]), best_rounds=np.array([3, 255]))
    short = in_short(notes)
    assert short.pulls.dtype == np.uint32
    assert short.best_rounds.dtype == np.uint8
    assert short.pulls.tolist() == [[70_000, 1, 0]]
    both = joined([short, in_short(new_notes(2, 5))])
    assert both.pulls.tolist() == [[70_000, 1, 0, 0, 0], [0, 0, 0, 0, 0]]
    assert np.isnan(both.means[0, 3:]).all()


# In results -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noted():
    experiment = cb.Experiment(cb.BernoulliBandit(4), [cb.CORe(), cb.UCB1()], horizon=200, runs=12, actions=True)
    return experiment, cb.run(experiment)


def test_a_result_keeps_notes_and_actions(noted):
    experiment, result = noted
    actions, notes = result.actions("CORe"), result.notes("CORe")
    assert actions.shape == (12, 200)
    assert [np.bincount(row, minlength=4).tolist() for row in actions] == notes.pulls.tolist()
    for run in (0, 11):  # of two chunks
        instance = experiment.instance(run)
        assert notes.means[run].tolist() == [instance.mean(arm) for arm in range(4)]
    assert result.notes("UCB1").means.tolist() == notes.means.tolist()
    runs = result.runs().filter(policy="CORe")
    gaps = np.sort(notes.means, axis=1)
    assert runs["gap"].to_list() == (gaps[:, -1] - gaps[:, -2]).tolist()
    assert runs["pulls"].to_list() == notes.pulls.tolist()
    assert runs["regret"].to_list() == result.regret("CORe")[:, -1].tolist()
    assert runs["best_arm_share"].to_list() == (notes.best_rounds[:, -1] / 200).tolist()


def test_a_summary_has_quantiles_and_what_was_noted(noted):
    _, result = noted
    row = result.summary().row(0, named=True)
    finals = result.regret("CORe")[:, -1]
    assert [row["q10"], row["median"], row["q90"]] == np.quantile(finals, [0.1, 0.5, 0.9]).tolist()
    notes = result.notes("CORe")
    assert row["best_arm_share"] == pytest.approx(notes.best_rounds[:, -1].mean() / 200)
    assert row["simple_regret"] == pytest.approx(notes.simple_regret[:, -1].mean())
    curves = result.mean_curves("best-arm share").filter(policy="CORe")
    assert curves["mean"].to_numpy() == pytest.approx(notes.best_rounds.mean(axis=0) / curves["round"].to_numpy())
    last = curves.row(-1, named=True)
    band = mean_intervals(notes.best_rounds[:, -1:] / 200)
    assert (last["mean"], last["ci_low"], last["ci_high"]) == pytest.approx(tuple(end[0] for end in band))
    with pytest.raises(cb.BadInput, match="of must be 'regret' or 'best-arm share' or 'simple regret', not 'luck'"):
        result.mean_curves("luck")


def test_notes_are_saved_with_a_result_and_found_again_in_a_folder(noted, tmp_path):
    experiment, result = noted
    result.save(tmp_path / "saved")
    cb.run(experiment, folder=tmp_path / "chunks")
    for again in (cb.Result.load(tmp_path / "saved"), cb.run(experiment, folder=tmp_path / "chunks")):
        for policy in experiment.policies:
            for one, other in zip(result.notes(policy), again.notes(policy), strict=True):
                np.testing.assert_array_equal(one, other)
    path = next((tmp_path / "saved").glob("runs-1-*.npz"))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(cb.DamagedFile, match=r"damaged: runs-1-.*npz does not fit its digest"):
        cb.Result.load(tmp_path / "saved")


def test_numbers_do_not_depend_on_whether_actions_are_kept(noted):
    experiment, result = noted
    plain = cb.run(cb.Experiment(cb.BernoulliBandit(4), [cb.CORe(), cb.UCB1()], horizon=200, runs=12))
    assert plain.frame.equals(result.frame)
    assert cb.Experiment.from_dict(experiment.to_dict()) == experiment
    assert "actions" not in plain.experiments[0]
    with pytest.raises(cb.BadInput, match="kept where it is asked for: Experiment"):
        plain.actions("CORe")


def test_actions_that_no_machine_could_hold_are_refused():
    with pytest.raises(cb.BadInput, match=r"actions of 100 runs with 1,000,000,000,000 choices each need .* of memory"):
        cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=10**12, actions=True)


@pytest.mark.parametrize("what", ["regret", "best-arm share", "simple regret", "pulls", "regret by gap"])
def test_each_quantity_has_a_figure(noted, what):
    _, result = noted
    (axes,) = result.plot(what).axes
    assert len(axes.lines) == 2
    if what == "best-arm share":
        shown = axes.lines[0].get_ydata()
        assert shown[-1] == pytest.approx(result.summary()["best_arm_share"][0])
    if what == "pulls":
        notes = result.notes("CORe")
        order = np.argsort(-notes.means, axis=1)
        shares = np.take_along_axis(notes.pulls / 200, order, axis=1).mean(axis=0)
        assert axes.lines[0].get_ydata() == pytest.approx(shares)
    if what == "regret by gap":
        assert axes.lines[0].get_xdata() == pytest.approx(result.runs()["gap"][:12].to_numpy())


def test_a_figure_of_arms_that_are_not_fixed_says_so():
    result = cb.run(cb.Experiment(GAMES["contexts"][1], [cb.LinTS()], horizon=50, runs=2))
    result.plot("best-arm share")
    for what in ("simple regret", "pulls", "regret by gap"):
        with pytest.raises(cb.BadInput, match="there is no"):
            result.plot(what)
    with pytest.raises(cb.BadInput, match="what must be 'regret' or"):
        result.plot("luck")
