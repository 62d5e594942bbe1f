"""Forge saved agents and play on with them: no file may make compiled code crash, hang, or leave its memory.

Policies are attacked in a process of their own with checked indices, so an index that is off is an error instead of
silence; a process that dies or stands still is started again behind the forgery that did it.
"""

import faulthandler
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

import corebandit as cb
from corebandit.agents.codec import array_to_json, fill_from_json, write_content
from corebandit.catalogue import feature_policies, known_policies, neural_policies, policy_from, ranking_policies
from corebandit.contracts.recipe import LARGEST_REWARD
from corebandit.policies.neural.network import pytorch

# Settings that make the state another one than the default's.
VARIANTS = (
    "CORe(pool_size=50)",
    "CORe(sampler='exact')",
    "CORe(sampler='exact', pool='plain')",
    "AdaUCB(logarithm='plain')",
    "GLRKLUCB(restarts='local', family='gaussian')",
    "KLUCB(family='gaussian')",
    "MaillardSampling(family='bernoulli')",
    "PHE(pseudo='gaussian')",
    "SSMC(window='last')",
    "UCBV(exploration='anytime')",
    "WeightedBootstrap(weights='gaussian')",
    "BootstrapTS(weights='poisson')",
    "RewardExchange(probability=0.3)",
    "RewardExchange(kept=False)",
    "LinCORe(sampler='exact')",
    "LinPHE(pseudo='gaussian')",
    "LinUCB(radius='determinant')",
    "LinRewardExchange(probability=0.3)",
    "LinRewardExchange(kept=False)",
    "GLMCORe(link='identity', sampler='exact')",
    "GLMCORe(link='poisson')",
    "EstimatorCORe(refit='geometric')",
    "Ranked(CORe(), observes='all')",
    "Ranked(CORe(), warm_up='displayed')",
    "Ranked(NPTS())",
    "Ranked(SSMC())",
    "RankedBandits(CORe())",
    "RankedBandits(Giro())",
)
HORIZON = 10_000
SECONDS = 20.0  # that a forged agent may take to be loaded and play; none takes one
N_FEATURES = 3
N_POSITIONS = 2


def attacked() -> list[str]:
    """Return the specs of all policies there are, as they come and in the settings that matter."""
    names = [name for name in known_policies() if name not in neural_policies() or has_pytorch()]
    return [*names, *VARIANTS]


def has_pytorch() -> bool:
    """Tell whether there is PyTorch."""
    try:
        pytorch("a test")
    except ValueError:
        return False
    return True


# Playing ----------------------------------------------------------------------------------------------------------


def new_agent(policy: Any, horizon: int | None = HORIZON, seed: int = 5) -> Any:
    """Return an agent with three arms, or five items."""
    if policy.name in ranking_policies():
        return cb.RankingAgent(policy, [f"item {k}" for k in range(5)], N_POSITIONS, seed=seed, horizon=horizon)
    return cb.Agent(policy, ["red", "green", "blue"], seed=seed, horizon=horizon)


class Player:
    """Someone who asks an agent and answers with rewards or clicks, the same for the same seed."""

    def __init__(self, seed: int = 3, kind: str = "clicks", origin: float = 0.5, scale: float = 0.3) -> None:
        self.rng, self.kind, self.origin, self.scale = np.random.default_rng(seed), kind, origin, scale
        self.rows = np.random.default_rng(1).normal(size=(20, N_FEATURES))

    def reward(self, policy: Any) -> float:
        """Return a reward that the policy takes."""
        if self.kind == "clicks":
            return float(self.rng.random() < 0.4)
        low, high = policy.reward_range
        low, high = max(low, -LARGEST_REWARD), min(high, LARGEST_REWARD)
        return float(min(max(self.origin + self.scale * self.rng.normal(), low), high))

    def features(self, agent: Any, n: int) -> Any:
        """Return rows of features, if the policy wants any."""
        if agent.policy.name not in feature_policies():
            return None
        return self.rng.normal(size=(n, N_FEATURES)) if self.kind == "numbers" else self.rows[:n]

    def play(self, agent: Any, n_rounds: int) -> list[Any]:
        """Decide and learn; return what was chosen."""
        return [self.play_once(agent) for _ in range(n_rounds)]

    def play_once(self, agent: Any) -> Any:
        """Decide and learn once; now and then the reward comes late, or never, or someone else has chosen."""
        late = self.rng.random() < 0.1
        if isinstance(agent, cb.RankingAgent):
            ranking = agent.ask()
            clicks = [item for item in ranking.items if self.rng.random() < 0.3]
            if not late:
                agent.tell(ranking, clicks)
            elif agent.pending and self.rng.random() < 0.7:
                first = next(iter(agent.pending))
                agent.tell(first, agent.pending[first][:1])
            elif self.rng.random() < 0.5:
                agent.observe(agent.items[-N_POSITIONS:], agent.items[-1:])
            return ranking.items
        decision = agent.ask(self.features(agent, len(agent.arms)))
        reward = self.reward(agent.policy)
        if not late:
            agent.tell(decision, reward)
        elif agent.pending and self.rng.random() < 0.7:
            agent.tell(next(iter(agent.pending)), reward)
        elif self.rng.random() < 0.5:
            x = self.features(agent, 1)
            agent.observe(agent.arms[-1], reward, None if x is None else x[0])
        return decision.arm


def change_options(agent: Any, name: str) -> None:
    """Add an option, and take another off offer, if the policy allows it."""
    if isinstance(agent, cb.RankingAgent):
        if agent.policy.items_may_change:
            agent.add_item(name)
            agent.retire_item(agent.items[0])
    else:
        agent.add_arm(name)
        agent.retire_arm(agent.arms[0])


def trained(spec: str, kind: str) -> Any:
    """Return an agent that has played for a while."""
    agent = new_agent(policy_from(spec))
    player = Player(kind=kind)
    player.play(agent, 120)
    change_options(agent, "added")
    player.play(agent, 180)
    agent.ask(player.features(agent, len(agent.arms))) if isinstance(agent, cb.Agent) else agent.ask()
    return agent


# Forging ----------------------------------------------------------------------------------------------------------


def content_of(agent: Any) -> dict[str, Any]:
    """Return what `save` would write."""
    content: dict[str, Any] = json.loads(json.dumps(agent.to_dict()))
    return content


def array_from_json(saved: dict[str, Any]) -> Any:
    """Return the array that was saved."""
    array = np.empty(saved["shape"], saved["dtype"])
    fill_from_json(array, saved)
    return array


def forged_arrays(array: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Yield arrays of the same kind, each wrong in another way."""
    kind, size = array.dtype.kind, array.size
    if size == 0:
        return
    if kind == "f":
        whole = {"NaN": np.nan, "inf": np.inf, "-inf": -np.inf, "huge": 1e308, "-huge": -1e308, "tiny": 5e-324}
    else:
        info = np.iinfo(array.dtype)
        whole = {"largest": info.max, "smallest": info.min, "2^40": 2**40}
    whole |= {"zeros": 0, "ones": 1, "twos": 2, "thousands": 1000}
    if kind != "u":
        whole["minus ones"] = -1
    for name, value in whole.items():
        yield name, np.full_like(array, value)
        if name not in ("zeros", "ones"):
            for where, place in {"first": 0, "last": -1, "any": int(rng.integers(size))}.items():
                yield f"{name} at {where}", with_one(array, place, value)
    used = np.flatnonzero(array)
    if used.size:
        for name, value in whole.items():
            yield f"{name} at one that is used", with_one(array, int(rng.choice(used)), value)
        place = int(rng.choice(used))
        more, less = array + array.dtype.type(1), array - array.dtype.type(1)
        yield "one more", with_one(array, place, more.flat[place])
        yield "one less", with_one(array, place, less.flat[place])
        yield "first one more", with_one(array, 0, more.flat[0])
        yield "first one less", with_one(array, 0, less.flat[0])
        yield "doubled", array + array
        yield "two exchanged", exchanged(array, int(rng.choice(used)), int(rng.choice(used)))
    yield "reversed", array.ravel()[::-1].reshape(array.shape)
    yield "shuffled", rng.permutation(array.ravel()).reshape(array.shape)
    yield "bytes", np.frombuffer(rng.bytes(array.nbytes), array.dtype).reshape(array.shape)
    yield "small numbers", rng.integers(0, 300, array.shape).astype(array.dtype)
    if kind == "f":
        yield "normal", rng.normal(size=array.shape)
        yield "of all sizes", rng.normal(size=array.shape) * 10.0 ** rng.uniform(-300, 300, array.shape)
    for _ in range(3):  # what a bad disk does
        flipped = bytearray(array.tobytes())
        bit = int(rng.integers(8 * len(flipped)))
        flipped[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit} flipped", np.frombuffer(bytes(flipped), array.dtype).reshape(array.shape)


def with_one(array: Any, place: int, value: Any) -> Any:
    """Return a copy with another value in one place."""
    changed = array.copy()
    changed.flat[place] = value
    return changed


def exchanged(array: Any, one: int, other: int) -> Any:
    """Return a copy with two values exchanged."""
    changed = array.copy()
    changed.flat[one], changed.flat[other] = array.flat[other], array.flat[one]
    return changed


NUMBERS = (0, 1, -1, 4, 255, 256, 257, 512, 10**5, 10**9, 10**15, 2**63, 10**400, 2.5, "7", None, True, [], {})


def forgeries(content: dict[str, Any], seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what was forged and the content of a file, in the same order for the same seed."""
    rng = np.random.default_rng(seed)

    def changed(**parts: Any) -> dict[str, Any]:
        return {**deepcopy(content), **parts}

    yield "nothing", changed()
    for index, saved in enumerate(content["state"]):
        for name, array in forged_arrays(array_from_json(saved), rng):
            state = [*content["state"][:index], array_to_json(array), *content["state"][index + 1 :]]
            yield f"array {index} {saved['dtype']} {saved['shape']}: {name}", changed(state=state)
    for name, array in forged_arrays(array_from_json(content["rng"]), rng):
        yield f"rng: {name}", changed(rng=array_to_json(array))
    for field in ("n_observations", "capacity", "n_rows", "n_features", "seed", "horizon", "n_positions"):
        if field in content:
            near = [content[field] + step for step in (1, -1)] if isinstance(content[field], int) else []
            for value in (*near, *NUMBERS):
                yield f"{field}: {value!r:.20}", changed(**{field: value})
    for n in (10**6, 10**12):
        yield (
            f"n_observations and capacity: {n}",
            changed(n_observations=n, capacity=256 * 2 ** (n // 256).bit_length()),
        )
    for value in ([0], [10**6], [-1], [0, 0], list(range(99)), ["0"], [None], 3, None, {}):
        yield f"retired: {value!r:.20}", changed(retired=value)
    known = content["pending"][0][0]
    for value in (0, 99, -1, [0, 99], [0, 0], 10**400, True, None):
        yield f"pending for {value!r:.20}", changed(pending=[[known, value, 0.0]])
        yield f"expired for {value!r:.20}", changed(pending=[], expired=[[known, value]])
        yield f"expired for [{value!r:.20}]", changed(pending=[], expired=[[known, [value]]])
    for value in ([["x-0", 0, 0.0]], [[10**9, 0, 0.0]], [[known, 0]], [[known] * 3], [0], [[]], None, {}):
        yield f"pending: {value!r:.20}", changed(pending=value)
        yield f"expired: {value!r:.20}", changed(expired=value)
    for value in NUMBERS:
        yield f"ids: {value!r:.20}", changed(ids=value)
        yield f"tallies: {value!r:.20}", changed(tallies=value)
        yield f"n_numbers: {value!r:.20}", changed(ids={**content["ids"], "n_numbers": value})
        yield f"sessions: {value!r:.20}", changed(ids={**content["ids"], "sessions": {"x": value}})
        yield f"recent: {value!r:.20}", changed(settings={"max_share": 0.5}, recent=[value])
        yield f"time: {value!r:.20}", changed(pending=[[*content["pending"][0][:2], value]])
        for name, column in content["tallies"].items():
            yield f"all {name}: {value!r:.20}", changed(tallies={**content["tallies"], name: value})
            forged_column = [value, *column[1:]]
            yield f"{name}: {value!r:.20}", changed(tallies={**content["tallies"], name: forged_column})
        for name in ("window", "default_reward", "max_open", "patience", "max_share"):
            yield f"{name}: {value!r:.20}", changed(settings={name: value})
    bomb = {**content["rng"], "shape": [2**40]}
    for value in ([], [bomb], [bomb] * len(content["state"]), content["state"][:-1], None, {}, [None]):
        yield f"state: {value!r:.20}", changed(state=value)
    if "pending_rows" in content:
        for name, array in forged_arrays(array_from_json(content["pending_rows"]), rng):
            yield f"pending_rows: {name}", changed(pending_rows=array_to_json(array))


def outcome(path: Path, spec: str, n_rounds: int, kind: str) -> str:
    """Load a forged agent and play on; return "refused", "played", or what went wrong."""
    policy = policy_from(spec)
    cls = cb.RankingAgent if policy.name in ranking_policies() else cb.Agent
    try:
        agent = cls.load(path, policy)
    except ValueError as error:
        return "refused" if "or damaged" in str(error) else f"refused otherwise: {error}"
    except Exception as error:
        return f"load failed: {type(error).__name__}: {error}"
    try:
        player = Player(seed=11, kind=kind)
        player.play(agent, n_rounds)
        change_options(agent, "another")
        player.play(agent, n_rounds)
        agent.save(path)
        cls.load(path, policy).ask(player.features(agent, len(agent.arms))) if cls is cb.Agent else None
    except Exception as error:
        return f"play failed: {type(error).__name__}: {error}"
    return "played"


def attack_here(specs: list[str], kind: str, first: list[int], n_rounds: int, share: float, seed: int) -> None:
    """Attack policies from one and its forgery on, and print each forgery before and its outcome after."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forged.json"
        for place, spec in enumerate(specs[first[0] :], first[0]):
            rng = np.random.default_rng([seed, place])
            for index, (name, forged) in enumerate(forgeries(content_of(trained(spec, kind)), seed)):
                is_chosen = index == 0 or rng.random() < share
                if not is_chosen or [place, index] < first:
                    continue
                print(json.dumps([place, index, name]), flush=True)
                write_content(path, forged)
                faulthandler.dump_traceback_later(SECONDS, exit=True)
                found = outcome(path, spec, n_rounds, kind)
                faulthandler.cancel_dump_traceback_later()
                print(json.dumps(found), flush=True)


def attack(
    specs: list[str], kind: str, n_rounds: int = 150, share: float = 1.0, seed: int = 0
) -> Iterator[tuple[str, str, str]]:
    """Attack policies with a share of the forgeries; yield the policy, the forgery, and what came of it."""
    first = [0, 0]
    while True:
        arguments = json.dumps([specs, kind, first, n_rounds, share, seed])
        process = subprocess.Popen(
            [sys.executable, __file__, arguments],
            env={**os.environ, "NUMBA_BOUNDSCHECK": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun = None
        for line in process.stdout or ():
            said = json.loads(line)
            if isinstance(said, list):
                begun = said
            else:
                yield specs[begun[0]], begun[2], said
                begun = None
        _, errors = process.communicate()
        if process.returncode == 0:
            return
        if begun is None:
            raise RuntimeError(f"the attack failed:\n{errors[-3000:]}")
        yield specs[begun[0]], begun[2], "stood still" if "Timeout" in errors else f"died with {process.returncode}"
        first = [begun[0], begun[1] + 1]


def is_harmless(result: str) -> bool:
    """Tell whether a forged agent was refused, or could be played on with."""
    return result in ("refused", "played")


if __name__ == "__main__":
    attack_here(*json.loads(sys.argv[1]))
