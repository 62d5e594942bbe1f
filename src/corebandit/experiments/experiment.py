"""An experiment is data: one problem, the policies to compare on it, how long, how often, from which seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.instances import check_instance
from corebandit.contracts.recipe import AnyPolicy, Problem, Recipe, digest
from corebandit.contracts.state import IntArray
from corebandit.contracts.validate import check_choice, check_count, range_in_words, shortened
from corebandit.experiments.description import FILES, Point, described_arguments, files_of, with_files
from corebandit.experiments.memory_need import check_memory, check_memory_of_actions
from corebandit.experiments.task import drawn
from corebandit.games.blame import blaming, is_foreign
from corebandit.games.kinds import game_of
from corebandit.parts.warm_up import warn_if_endless
from corebandit.problems.given import Given
from corebandit.randomness.stream import stream

REGRETS = ("expected", "realised")
N_CHECKPOINTS = 100
LONGEST_TITLE = 60  # characters: of a problem that lists its arms the label has no end
LONGEST = 10**15  # rounds: up to here floats count them one by one


@dataclass(frozen=True)
class Experiment:
    """Policies compared on the same random problems with the same rewards.

    Parameters
    ----------
    problem
        A recipe such as `BernoulliBandit()`, drawn anew for each run, or an instance of a class of your own.
    policies
        Recipes, in a list or by the label to show them under.
    horizon, runs, seed
        Rounds in a run; runs of each policy; where all randomness starts.
    regret
        "expected": best mean minus mean of the chosen arm; "realised": best mean minus reward, noisier. The reward of
        a ranking is the number of clicks.
    name, part, title
        What the experiment is called in results; which part of what has that name it is, if there are several, such as
        "parameter search"; what stands above its panel in a figure.
    also_at
        Rounds at which regret is recorded besides the 100 evenly spaced ones.
    actions
        Whether to keep what was chosen in every round of every run, for `Result.actions`.
    horizon_known
        Whether policies are told the horizon; if not, they run in their anytime forms.
    shown
        Whether tables and figures show it; claims of ours may rest on what none shows.
    points
        Where policies stand in a study of parameters, by label; `sweep` fills this in.

    >>> from corebandit.policies import CORe, UCB1
    >>> from corebandit.problems import BernoulliBandit
    >>> list(Experiment(BernoulliBandit(), [CORe(), CORe(alpha=0.4), UCB1()], horizon=1000, runs=10).policies)
    ['CORe', 'CORe(alpha=0.4)', 'UCB1']
    """

    problem: Problem
    policies: Mapping[str, AnyPolicy]
    horizon: int = 10_000
    runs: int = 100
    seed: int = 0
    regret: str = "expected"
    name: str = "comparison"
    part: str = ""
    title: str = field(default="")
    also_at: Sequence[int] = ()
    points: Mapping[str, Point] = field(default_factory=dict)
    actions: bool = False
    shown: bool = True
    horizon_known: bool = True

    def __init__(
        self,
        problem: Problem | Any,
        policies: Mapping[str, AnyPolicy] | Sequence[AnyPolicy],
        horizon: int = 10_000,
        runs: int = 100,
        seed: int = 0,
        regret: str = "expected",
        name: str = "comparison",
        part: str = "",
        title: str = "",
        also_at: Sequence[int] = (),
        points: Mapping[str, Point] | None = None,
        actions: bool = False,
        shown: bool = True,
        horizon_known: bool = True,
    ) -> None:
        """Validate everything, so that a mistake shows before any work is done."""
        if isinstance(problem, list | tuple) and any(isinstance(each, Problem) for each in problem):
            raise BadInput(
                f"problem must be one problem, not {len(problem)} of them: make an experiment for each, and run() "
                "takes them all in a list"
            )
        problem = problem if isinstance(problem, Problem) else Given(problem)
        labelled = _labelled(policies)
        check_count("horizon", horizon, at_least=2)
        if horizon > LONGEST:
            raise BadInput(f"horizon must be a whole number of at most {LONGEST:,}, not {shortened(horizon)}")
        check_count("runs", runs)
        check_count("seed", seed, at_least=0)
        check_choice("regret", regret, REGRETS)
        with blaming(problem):
            instance = problem.draw(stream(0))
            check_instance(problem, instance)
        for flag, what in ((actions, "actions"), (shown, "shown"), (horizon_known, "horizon_known")):
            if not isinstance(flag, bool):
                raise BadInput(f"{what} must be True or False, not {shortened(flag)}")
        game, told = game_of(instance), horizon if horizon_known else None
        for policy in labelled.values():
            game.check(policy, problem)
            check_rewards_fit(policy, problem)
            with blaming(policy):
                policy.start_on(instance, told, 2)  # a policy that cannot start under these settings says so now
                check_memory(policy, instance, horizon)
            if horizon_known:
                _warn_of_endless_warm_up(policy, game.sizes(instance), horizon)
        for current_round in also_at:
            if check_count("also_at", current_round) > horizon:
                raise BadInput(f"also_at must name rounds up to the horizon, {horizon}, not {current_round}")
        for text, what in ((name, "name"), (part, "part"), (title, "title")):
            if not isinstance(text, str):
                raise BadInput(f"{what} must be a text, not {shortened(text)}")
        if actions:
            check_memory_of_actions(int(horizon) * game.choices(instance)[1], int(runs) * len(labelled))
        for label in points or {}:
            if label not in labelled:
                raise BadInput(f"points must be of policies that are compared, not of {shortened(label)}")
        values = (problem, labelled, int(horizon), int(runs), int(seed), regret, name, part)
        rounds = tuple(int(current_round) for current_round in also_at)
        more = (title or _short_title(problem), rounds, dict(points or {}), actions, shown, horizon_known)
        for attribute, value in zip(self.__dataclass_fields__, (*values, *more), strict=True):
            object.__setattr__(self, attribute, value)

    def describe(self) -> dict[str, Any]:
        """Return all that decides its numbers and how they are shown, ready for JSON."""
        return {
            "name": self.name,
            **({"part": self.part} if self.part else {}),
            "title": self.title,
            "label": self.problem.label,
            "problem": self.problem.describe(),
            "policies": {label: policy.describe() for label, policy in self.policies.items()},
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "regret": self.regret,
            **({"also_at": list(self.also_at)} if self.also_at else {}),
            **({"actions": True} if self.actions else {}),
            **({} if self.shown else {"shown": False}),
            **({} if self.horizon_known else {"horizon_known": False}),
            **({"points": {label: point.describe() for label, point in self.points.items()}} if self.points else {}),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the whole experiment, ready for JSON, for `from_dict`; files with recipes of your own are in it."""
        policies = {label: with_files(policy) for label, policy in self.policies.items()}
        problem = with_files(self.problem)
        files = files_of([problem, *policies.values()])
        return {**self.describe(), "problem": problem, "policies": policies, **({FILES: files} if files else {})}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], own: Sequence[Recipe | Any] = ()) -> "Experiment":
        """Return the experiment that `to_dict` described.

        `own` lists policies and problems that can be made from no file and no name: of a notebook, around an object, or
        instances.

        >>> from corebandit import CORe, BernoulliBandit
        >>> experiment = Experiment(BernoulliBandit(), [CORe()], horizon=500, runs=4)
        >>> Experiment.from_dict(experiment.to_dict()) == experiment
        True
        """
        if not isinstance(own, list | tuple) or hasattr(own, "_fields"):
            raise BadInput(f"own must be a list of policies and problems, not {shortened(own)}")
        for each in own:
            if isinstance(each, type):
                raise BadInput(f"own lists policies and problems as they were: {each.__name__}(…), not {each.__name__}")
        recipes = [each if isinstance(each, Recipe) else Given(each) for each in own]
        return cls(**described_arguments(description, recipes))

    def with_policies(self, policies: Mapping[str, AnyPolicy]) -> "Experiment":
        """Return the same experiment with other policies."""
        return replace(self, policies=policies)

    def instance(self, run: int) -> Any:
        """Return the problem that a run plays, drawn again: all policies meet the same.

        >>> from corebandit import BernoulliBandit, CORe
        >>> instance = Experiment(BernoulliBandit(), [CORe()], runs=4).instance(3)
        >>> [round(instance.mean(arm), 2) for arm in range(3)]
        [0.69, 0.57, 0.62]
        """
        if check_count("run", run, at_least=0) >= self.runs:
            raise BadInput(f"run must be one of {self.runs}, counted from 0, not {run}")
        return drawn(self.problem, digest(self.problem.describe()), self.seed, run)

    @property
    def told_horizon(self) -> int | None:
        """Return what policies are told of the horizon."""
        return self.horizon if self.horizon_known else None

    @property
    def id(self) -> str:
        """Return a name that changes when the content does."""
        return digest(self.describe())

    @property
    def rounds(self) -> IntArray:
        """Return the rounds at which regret is recorded: 100, evenly spaced, the last is the horizon, and `also_at`."""
        steps = np.arange(1, N_CHECKPOINTS + 1) * self.horizon / N_CHECKPOINTS
        return np.unique(np.concatenate([np.ceil(steps), self.also_at]).astype(np.int64))


def _short_title(problem: Problem) -> str:
    """Return the label of a problem, without its parameters if there is no room for them above a panel."""
    return problem.label if len(problem.label) <= LONGEST_TITLE else f"{problem.name}(…)"


def check_rewards_fit(policy: AnyPolicy, problem: Problem) -> None:
    """Raise BadInput if the problem pays rewards that the policy is not made for."""
    low, high = policy.reward_range
    least, most = problem.support
    if least < low or most > high:
        switch = ", or say any_reward=True to run it outside its assumptions" if hasattr(policy, "any_reward") else ""
        raise BadInput(
            f"{policy.label} is made for rewards {range_in_words(low, high)}, but {problem.label} pays rewards "
            f"{range_in_words(least, most)}: choose another policy{switch}{_unsaid(problem)}"
        )


def _unsaid(problem: Problem) -> str:
    """Say how a problem that is not ours says what it pays."""
    if not is_foreign(problem) or type(problem).support is not Problem.support:
        return ""
    return f"; or let {problem.name} say what it pays: a property support that returns (0.0, 1.0), if it is that"


def _warn_of_endless_warm_up(policy: Any, sizes: tuple[int, ...], horizon: int) -> None:
    if hasattr(policy, "warm_up_rounds"):
        warn_if_endless(policy.label, policy.warm_up_rounds(*sizes, horizon), horizon, stacklevel=4)


def _labelled(policies: Mapping[str, AnyPolicy] | Sequence[AnyPolicy]) -> dict[str, AnyPolicy]:
    if isinstance(policies, AnyPolicy):
        policies = [policies]
    if not isinstance(policies, Mapping):
        policies = list(policies)
        by_label = {getattr(policy, "label", repr(policy)): policy for policy in policies}
        if len(by_label) < len(policies):
            raise BadInput("policies must have different labels; give a dict of labels to compare a policy to itself")
        policies = by_label
    if not policies:
        raise BadInput("policies must name at least one policy, for instance [CORe()]")
    for label, policy in policies.items():
        if not isinstance(policy, AnyPolicy):
            raise BadInput(f"policies must be recipes such as CORe(), not {shortened(policy)}")
        if not isinstance(label, str):
            raise BadInput(f"policies must have labels that are texts, not {shortened(label)}")
    return dict(policies)
