"""The policies, one file each, by kind. A new one is a file and a line in the list of public names, `__init__.pyi`."""

from corebandit.contracts.public_names import HOMES, importing

__getattr__ = importing(__name__, {name: home for name, home in HOMES.items() if home.startswith(__name__)})
