"""Damage to everything that is kept in files: whatever is believed that should not be is an error.

`share` is how much of the full size an attack has. Each prints what it did.
"""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import corebandit as cb
from corebandit.catalogue import known_policies, neural_policies
from corebandit.contracts.atomic_files import unsealed
from corebandit.experiments.chunk_store import ChunkStore
from corebandit.experiments.playing import task_of
from corebandit.experiments.task import Wanted
from fresh_interpreter import run_python
from killed_savers import kill_savers

HORIZON = 10_000
DECIDE = """
import corebandit as cb
agent = cb.Agent(cb.CORe(), arms=range(5), seed=3)
arms = []
for turn in range(200):
    decision = agent.ask()
    arms.append(decision.arm)
    agent.tell(decision, 0.1 * decision.arm + turn % 3)
print(arms)
"""


def flips(content: bytes, n_flips: int, seed: int) -> Iterator[bytes]:
    """Yield copies of content with one random bit flipped."""
    rng = np.random.default_rng(seed)
    for place in rng.integers(len(content), size=n_flips):
        copy = bytearray(content)
        copy[place] ^= 1 << int(rng.integers(8))
        yield bytes(copy)


def trained(policy: cb.AnyPolicy) -> cb.Agent | cb.RankingAgent:
    """Return an agent of any kind that has made some decisions."""
    rng = np.random.default_rng(0)
    if isinstance(policy, cb.RankingPolicy):
        ranker = cb.RankingAgent(policy, list("abcde"), 2, seed=0, horizon=HORIZON)
        for _ in range(40):
            ranking = ranker.ask()
            ranker.tell(ranking, [ranking.items[0]] if rng.random() < 0.5 else [])
        return ranker
    by_features = isinstance(policy, cb.FeaturePolicy)
    agent = cb.Agent(policy, list("abcd"), seed=0, horizon=HORIZON)
    rows = rng.normal(size=(4, 3))
    for _ in range(40):
        decision = agent.ask(rows) if by_features else agent.ask()
        agent.tell(decision, float(rng.random() < 0.5))
    return agent


def attack_agents(folder: Path, share: float) -> None:
    """Flip bits of saved agents of every policy; what still loads must be what was saved."""
    seen: Counter[str] = Counter()
    for index, (name, recipe) in enumerate(known_policies().items()):
        if not recipe.can_be_rebuilt or name in neural_policies():
            continue
        agent, path = trained(recipe()), folder / "agent.json"
        agent.save(path)
        whole, content = path.read_bytes(), agent.to_dict()
        for damaged in flips(whole, round(350 * share) + 1, index):
            path.write_bytes(damaged)
            try:
                again = type(agent).load(path)
            except cb.BadInput:
                seen["refused"] += 1
            else:
                assert again.to_dict() == content, f"{name}: a flipped bit was believed"
                seen["the same"] += 1
    print("agents:", dict(seen))


def attack_chunks(folder: Path, share: float) -> None:
    """Flip bits of a stored chunk, and copy chunks over each other."""
    experiment = cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=200, runs=20)
    cb.run(experiment, folder=folder)
    store, paths = ChunkStore(folder), sorted(folder.glob("*.chunk"))
    key, wanted = paths[0].name.partition(".")[0], Wanted(task_of(experiment, "UCB1"), 0, 20)
    assert [first for first, _ in store.find(key, wanted)] == [0, 10]
    whole = paths[0].read_bytes()
    n_flips = round(4000 * share)
    for damaged in flips(whole, n_flips, 1):
        paths[0].write_bytes(damaged)
        assert [first for first, _ in store.find(key, wanted)] == [10], "a damaged chunk was believed"
    paths[0].write_bytes(paths[1].read_bytes())
    assert [first for first, _ in store.find(key, wanted)] == [10], "a copied chunk was believed"
    print(f"chunks: {n_flips} damaged and 1 copied, all played again")


def attack_machine_code(folder: Path, share: float) -> None:
    """Flip a bit in every file of machine code: it is compiled again, and decides the same."""
    wanted = run_python(DECIDE, folder)
    files = sorted((folder / "cache").rglob("*.nbc"))
    n_flips = 0
    for index, path in enumerate(files):
        whole = path.read_bytes()
        for damaged in flips(whole, round(400 * share), index):
            n_flips += 1
            with contextlib.suppress(cb.DamagedFile):
                unsealed(damaged)
                raise AssertionError("damaged machine code was believed")
        path.write_bytes(next(flips(whole, 1, index)))
    started = time.process_time()
    assert run_python(DECIDE, folder) == wanted
    assert run_python(DECIDE, folder) == wanted
    print(f"machine code: {n_flips} flips in {len(files)} files refused; all damaged: the same decisions", end="")
    print(f" ({time.process_time() - started:.1f} s here)")


def attack_results(folder: Path, share: float) -> None:
    """Flip bits of a saved result."""
    result = cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=200, runs=20))
    result.save(folder)
    seen: Counter[str] = Counter()
    for name in sorted(path.name for path in folder.iterdir() if path.suffix in (".npz", ".json")):
        whole = (folder / name).read_bytes()
        for damaged in flips(whole, round(1000 * share), 1):
            (folder / name).write_bytes(damaged)
            try:
                again = cb.Result.load(folder)
            except cb.DamagedFile:
                seen["refused"] += 1
            else:
                assert again.frame.equals(result.frame), "a damaged result was believed"
                assert again.experiments == result.experiments
                seen["the same"] += 1
        (folder / name).write_bytes(whole)
    print("results:", dict(seen))


def attack_savers(folder: Path, share: float) -> None:
    """Kill processes in which three threads save to one path; save and load one agent's file from threads."""
    kills = round(120 * share) + 1
    kill_savers(folder, kills)
    agent, path, failures = trained(cb.CORe()), folder / "agent.json", []
    agent.save(path)
    counts: Counter[str] = Counter()

    def repeat(what: str, call: Callable[[], object]) -> None:
        try:
            for _ in range(round(1000 * share) + 1):
                call()
                counts[what] += 1
        except BaseException as error:
            failures.append(error)

    jobs = [("save", lambda: agent.save(path))] * 3 + [("load", lambda: cb.Agent.load(path))] * 2
    threads = [threading.Thread(target=repeat, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    print(f"savers: {kills} kills, {dict(counts)}, no torn file")
