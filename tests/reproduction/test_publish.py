"""What a report leaves to its tables."""

import polars as pl

from corebandit.reproduction import publish


def test_policies_that_are_undrawn_are_so_in_every_part_of_their_study():
    frame = pl.DataFrame(
        {
            "figure": ["drift", "drift-linear", "drift", "figure1", "drifting"],
            "policy": ["few", "few", "shown", "few", "few"],
        }
    )
    drawn = publish._drawn(frame, [("drift", "few")])
    assert drawn.rows() == [("drift", "shown"), ("figure1", "few"), ("drifting", "few")]
    assert publish._drawn(frame, []).equals(frame)
