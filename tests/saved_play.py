"""What is played to make, and to continue, agents saved by an older version: nothing is random but the agents."""

N_MORE = 40  # decisions after loading


def reward_of(step, arm, is_turned):
    """Return a reward in [0, 1] with many distinct values. Arm c is best by a little; turned, only a pays."""
    place = "abcde".index(arm) if isinstance(arm, str) else arm
    if is_turned and place > 0:
        return 0.0
    return 0.9 * ((step * 37 + place * 11) % 97) / 97 + (0.1 if place == 2 else 0.02 * place)


def clicks_of(step, items, is_turned):
    """Return the items that are clicked; turned, the others."""
    return [item for place, item in enumerate(items) if ((step * ord(item) + place) % 7 < 2) != is_turned]


def decide(agent, step, by_features):
    """Return the agent's next decision; features are others in every step, and so is their number without arms."""
    if not by_features:
        return agent.ask()
    n_rows = len(agent.arms) or 2 + step % 4
    return agent.ask([[((step * 7 + row * 13 + j * 29) % 31 - 15) / 15 for j in range(3)] for row in range(n_rows)])


def play(agent, first, last, *, by_features=False, is_turned=False):
    """Play some steps, telling some rewards late, and return the arms."""
    arms, late = [], []
    for step in range(first, last):
        decision = decide(agent, step, by_features)
        arms.append(decision.arm)
        if step % 10 == 3:
            late.append((step, decision))
        else:
            agent.tell(decision, reward_of(step, decision.arm, is_turned))
        if step % 10 == 8:
            for then, waiting in late:
                agent.tell(waiting, reward_of(then, waiting.arm, is_turned))
            late.clear()
    return arms


def play_rankings(agent, first, last, *, is_turned=False):
    """Play some steps of rankings and return what was shown."""
    shown = []
    for step in range(first, last):
        ranking = agent.ask()
        shown.append(list(ranking.items))
        agent.tell(ranking, clicks_of(step, ranking.items, is_turned))
    return shown


def continuation(agent, first, *, ranks=False, by_features=False):
    """Return what an agent does after it was saved: what it chooses, and where its random numbers are then."""
    for waiting, what in agent.pending.items():
        agent.tell(waiting, clicks_of(waiting, what, False) if ranks else reward_of(waiting, what, False))
    if ranks:
        chosen = play_rankings(agent, first, first + N_MORE, is_turned=True)
    else:
        chosen = play(agent, first, first + N_MORE, by_features=by_features, is_turned=True)
    return {"chosen": chosen, "random_words": [int(word) for word in agent._desk.rng.words]}
