"""Rivals as published: for each parameter of a figure's policies what the paper's text and its authors' code say.

What the authors' code does was learnt by reading it (the release, notebooks and drafts); where a source is silent it
says so. What runs here is not written here: `provenance.py` reads it off the experiments.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

NOT_SAID, SAME = "not said", "the same"
LINEAR = ("figure2", "figure3")
CORES, LINCORES = ("CORe", "CORe (warm-up 2)"), ("LinCORe", "LinCORe (warm-up 2)")
RANKED = tuple(
    f"CORe{small}{ending}"
    for small in ("", " 0.4")
    for ending in ("", " (warm-up 2)", " (displayed)", " (displayed, warm-up 2)")
)
LINTS, LINPHE = ("LinTS (tuned)", "LinTS (sigma = 0.5)"), ("LinPHE (tuned)", "LinPHE (a = 0.5)")
TUNED_LINTS = ("LinTS for easy", "LinTS for hard")
TUNED_LINPHE = ("LinPHE for easy", "LinPHE for hard")
OWN_NOISE = tuple(f"{label} (problem's noise)" for label in TUNED_LINPHE)
LINUCBS = ("LinUCB", "LinUCB (textbook)")


class Source(NamedTuple):
    """What is said about parameters of a policy, which may run under several labels.

    If a parameter is `searched`, that is the series of the search.
    """

    figures: Sequence[str]
    policy: str
    labels: Sequence[str]
    parameters: Sequence[str]
    paper: str
    code: str
    why: str
    searched: str = ""


def _core(figures: Sequence[str], policy: str, labels: Sequence[str], code: str, inside: str = "") -> Iterator[Source]:
    """Yield what is said about CORe in every form; `inside` comes before the names of parameters."""
    yield Source(
        figures,
        policy,
        labels,
        (f"{inside}warm_up",),
        "factor 4: 4 log n / (z - 1 - log z) + 1 rounds, and no fewer than d",
        code,
        "they disagree: both run, and claims are judged for both. The arm pulled least comes first, ties at random, "
        "instead of by index",
    )
    yield Source(
        figures,
        policy,
        labels,
        (f"{inside}pool", f"{inside}sampler"),
        "all rewards, centred and mirrored, a fresh draw for each past reward; performs alike without this processing",
        "not mirrored; centred with features only",
        "the text's pool. Sums of draws come from their normal limit (fast); --sampler exact draws one by one. T5 "
        "compares the pools",
    )


SOURCES = (
    Source(("figure1",), "CORe", CORES, ("alpha", "z"), "0.6 and 0.6 on all classes", SAME, "they agree"),
    *_core(("figure1",), "CORe", CORES, "factor 2, and no fewer than K rounds"),
    Source(("figure1",), "CORe", CORES, ("pool_size",), "all rewards", SAME, "they agree; None keeps all"),
    Source(
        ("figure1",),
        "TS (Bernoulli, beta)",
        ("TS", "TS (scale 0.5)"),
        ("scale",),
        "prior Beta(1, 1), the posterior as it is",
        "both parameters of the posterior times 4, by default: half its standard deviation",
        "they disagree: both run",
    ),
    Source(
        ("figure1",),
        "TS (Gaussian)",
        ("TS",),
        ("sigma", "prior_mean", "prior_sigma"),
        "prior N(0.5, sigma^2), sigma that of the rewards, 0.5",
        SAME,
        "they agree; a prior_sigma of None is sigma",
    ),
    Source(
        ("figure1",),
        "PHE",
        ("PHE", "PHE (a = 0.5)"),
        ("a",),
        "the values best in PHE's own paper; Gaussian: tuned in 0.1 to 2",
        "1.1 is the notebook's label; a draft has 0.5 for beta; Gaussian: 0.5",
        "they disagree on beta rewards: both run there; on Gaussian ones 0.5, in the range that the paper searched",
    ),
    Source(
        ("figure1",),
        "PHE",
        ("PHE", "PHE (a = 0.5)"),
        ("pseudo", "sigma", "any_reward"),
        "Bernoulli pseudo-rewards; Gaussian ones of standard deviation 0.5 on Gaussian rewards",
        "Bernoulli(1/2); N(0.5, 0.5^2)",
        "they agree; rewards are used as they are, not rounded",
    ),
    Source(
        ("figure1",),
        "NP-TS",
        ("NP-TS",),
        ("upper", "any_reward"),
        NOT_SAID,
        "support up to 1, on Gaussian rewards too",
        "as the code. Gaussian rewards are outside of its assumptions",
    ),
    Source(
        ("figure1",),
        "SSMC",
        ("SSMC", "SSMC (all windows)"),
        ("window",),
        "names the method, whose own paper takes the lowest of all windows of the leader",
        "only the leader's last window",
        "they disagree: the code's is drawn, both run",
    ),
    Source(
        ("figure1",),
        "UCB1",
        ("UCB1",),
        ("sigma",),
        NOT_SAID,
        "width sqrt(2 log t / N) on all classes",
        "as the code: this is the width for sigma = 0.5",
    ),
    Source(
        ("figure1",),
        "UCB-V",
        ("UCB-V", "UCB-V (anytime)"),
        ("exploration", "zeta"),
        "names the method, whose own paper explores by zeta log t",
        "log 3 + 2 log n in all rounds (horizon)",
        "they disagree: the code's is drawn, both run. zeta is for the anytime form, 1.2 as is usual",
    ),
    Source(
        ("figure1",),
        "UCB-V",
        ("UCB-V", "UCB-V (anytime)"),
        ("c", "width", "any_reward"),
        NOT_SAID,
        "c = 1, range 1, on Gaussian rewards too",
        "as the code. Gaussian rewards are outside of its assumptions",
    ),
    Source(
        LINEAR, "LinCORe", LINCORES, ("alpha", "z"), "0.6 and 0.6 everywhere but in the heat map", SAME, "they agree"
    ),
    *_core(LINEAR, "LinCORe", LINCORES, "factor 2, and no fewer than K rounds"),
    Source(LINEAR, "LinCORe", LINCORES, ("lam",), NOT_SAID, "0.001", "as the code"),
    Source(
        ("figure2",),
        "LinTS",
        LINTS,
        ("sigma",),
        "searched in 0.1 to 2",
        "0.5 in the notebook; 0.3 in other runs on Bernoulli rewards",
        "searched on problems of its own, as in the text; the notebook's value runs too",
        searched="LinTS",
    ),
    Source(("figure2",), "LinTS", LINTS, ("prior",), NOT_SAID, "N(0, I)", "as the code"),
    Source(
        ("figure2",),
        "LinPHE",
        LINPHE,
        ("a",),
        "searched in 0.1 to 2",
        "0.5 in the notebook",
        "searched on problems of its own, as in the text; the notebook's value runs too",
        searched="LinPHE",
    ),
    Source(
        ("figure2",),
        "LinPHE",
        LINPHE,
        ("pseudo", "sigma", "any_reward"),
        "Bernoulli pseudo-rewards; Gaussian ones on Gaussian rewards, of unsaid variance",
        "Bernoulli(1/2); Gaussian ones of the problem's standard deviation, here 0.5",
        "as the code, with mean 0.5; the code's is sigma, which is the same here",
    ),
    Source(
        ("figure2",),
        "LinPHE",
        LINPHE,
        ("lam",),
        NOT_SAID,
        "0.001, and every arm tried once at first",
        "the code's ridge; only arms that point out of all seen so far are tried first",
    ),
    Source(
        ("figure2",),
        "LinUCB",
        LINUCBS,
        ("scaling",),
        "names the method of Abbasi-Yadkori et al. (2011)",
        "its regression is divided by sigma^2 but its radius is not: sigma times the bonus",
        "they disagree: the code's is drawn, both run",
    ),
    Source(
        ("figure2",),
        "LinUCB",
        LINUCBS,
        ("sigma", "lam", "delta", "theta_norm", "row_norm", "radius"),
        NOT_SAID,
        "sigma 0.5, prior variance 1, delta 1/n, length of theta up to sqrt(d), n in place of the round",
        "as the code; None is 1/n, sqrt(d) and the longest row",
    ),
    Source(("figure3",), "LinTS", TUNED_LINTS, ("sigma",), "0.2 for easy, 1 for hard", SAME, "they agree"),
    Source(("figure3",), "LinTS", TUNED_LINTS, ("prior",), NOT_SAID, "N(0, I)", "as the code"),
    Source(
        ("figure3",), "LinPHE", (*TUNED_LINPHE, *OWN_NOISE), ("a",), "0.2 for easy, 1 for hard", NOT_SAID, "as the text"
    ),
    Source(
        ("figure3",),
        "LinPHE",
        (*TUNED_LINPHE, *OWN_NOISE),
        ("sigma",),
        "0.5 for arms; not said here",
        "the problem's: 0.2 on easy, 1 on hard",
        "they may disagree, and F3.b and F3.c depend on it: both run. Which made the printed figure is not known; "
        "neither gives its numbers on the hard problem",
    ),
    Source(
        ("figure3",),
        "LinPHE",
        (*TUNED_LINPHE, *OWN_NOISE),
        ("pseudo", "lam", "any_reward"),
        NOT_SAID,
        "Gaussian pseudo-rewards of mean sigma; ridge 0.001",
        "as the code, but for the mean, 0.5: the constant feature takes up the difference",
    ),
    Source(
        ("figure4",),
        "CORe",
        RANKED,
        ("policy.alpha", "policy.z"),
        "0.6 and 0.6; tuned, 0.4 and 0.4",
        SAME,
        "they agree",
    ),
    *_core(("figure4",), "CORe", RANKED, "factor 2", inside="policy."),
    Source(("figure4",), "CORe", RANKED, ("policy.pool_size",), "all rewards", "all feedback", "None keeps all"),
    Source(
        ("figure4",),
        "CORe",
        RANKED,
        ("warm_up", "observes"),
        "not said what a round of the warm-up counts as",
        "items displayed, whether looked at or not; in stored order, which is that of the result page",
        "both run; feedback observed is drawn, as it is what fills the pool. Items come in random order",
    ),
    Source(
        ("figure4",), "Ber-TS", ("Ber-TS",), ("policy.scale", "warm_up", "observes"), NOT_SAID, "scale 1", "as the code"
    ),
    Source(
        ("figure4",),
        "Ber-PHE",
        ("Ber-PHE",),
        ("policy.a", "policy.pseudo", "policy.sigma", "policy.any_reward", "warm_up", "observes"),
        "a = 0.5, Bernoulli pseudo-rewards",
        SAME,
        "they agree; sigma is for Gaussian ones",
    ),
    Source(
        ("figure4",),
        "CascadeKL-UCB",
        ("CascadeKL-UCB",),
        ("c",),
        "names the method, whose own paper has log t + 3 log log t",
        "log t + 3 log(log t + 1)",
        "as the method's own paper",
    ),
    Source(
        ("figure4",),
        "KL-UCB",
        ("KL-UCB",),
        ("policy.c", "policy.family", "policy.sigma", "warm_up", "observes"),
        "not in it",
        "not in it",
        "takes the place of CascadeKL-UCB where users look at all positions",
    ),
    Source(
        ("figure4",),
        "TopRank",
        ("TopRank",),
        (),
        "left out, as known to be worse than CascadeKL-UCB",
        "a simpler form, which starts its counts at 1",
        "beyond the paper, as in the method's own",
    ),
    Source(
        ("figure4",), "BatchRank", ("BatchRank",), (), "not in it", NOT_SAID, "beyond the paper, as in the method's own"
    ),
)
