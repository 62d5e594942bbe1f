"""Read a Result into a polars frame: every run at every checkpoint, ready for questions of your own."""

import tempfile

import polars as pl

import corebandit as cb

experiment = cb.Experiment(
    cb.MixedBandit(),  # arms of different laws and variances in one problem
    {"CORe": cb.CORe(), "CORe, warm-up 2": cb.CORe(warm_up=2), "GaussianTS": cb.GaussianTS()},
    horizon=5000,
    runs=50,
)
result = cb.run(experiment)
with tempfile.TemporaryDirectory() as folder:
    result.save(folder)  # all runs, the description that made them, and results.parquet for other programs
    frame = cb.Result.load(folder).frame
print(frame.head(3))

# Which share of the runs went bad: more than three times the median regret?
final = frame.filter(pl.col("round") == pl.col("round").max())
median = pl.col("regret").median().over("policy")
print(final.group_by("policy", maintain_order=True).agg((pl.col("regret") > 3 * median).mean().alias("share gone bad")))

# The comparison is paired: every policy met the same problems and the same rewards.
print(result.differences(baseline="CORe").select("policy", "mean", "ci_low", "ci_high", "share_better"))
