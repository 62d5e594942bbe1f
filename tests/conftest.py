"""What tests of several rooms need."""

import io

import pytest


@pytest.fixture(scope="session")
def write_little():
    """Return what stands in for `Figure.savefig` where figures are left undrawn."""

    def write_little(figure, file, **settings):
        file.write('<svg viewBox="0 0 1 1"/>' if isinstance(file, io.TextIOBase) else b"undrawn")

    return write_little


@pytest.fixture
def undrawn(monkeypatch, write_little):
    """Leave figures undrawn, which is most of the work of a command that publishes: tests/report draws them."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", write_little)
