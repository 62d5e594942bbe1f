"""What tests of several rooms need."""

import io

import pytest


@pytest.fixture
def undrawn(monkeypatch):
    """Leave figures undrawn, which is most of the work of a command that publishes: tests/report draws them."""

    def write_little(figure, file, **settings):
        file.write('<svg viewBox="0 0 1 1"/>' if isinstance(file, io.TextIOBase) else b"undrawn")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", write_little)
