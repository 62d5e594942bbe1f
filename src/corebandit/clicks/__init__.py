"""Click models: fitted from logs, compared, simulated. The names are listed in `__init__.pyi`."""

from pathlib import Path

from corebandit.contracts.public_names import importing, names_in

_HOMES = names_in(Path(__file__).with_suffix(".pyi"))
__all__ = list(_HOMES)
__getattr__ = importing(__name__, _HOMES)
