"""Which debug adapters there are, which one fits, and how it is started."""

from dapkit.catalog import launch_json
from dapkit.catalog.catalog import Catalog, load
from dapkit.catalog.choice import Choice
from dapkit.catalog.definition import AdapterDefinition
from dapkit.catalog.errors import CatalogError, LaunchFileError, MissingArgument, NoAdapter, NoProgram
from dapkit.catalog.files import Problem
from dapkit.catalog.starting import start

__all__ = [
    "AdapterDefinition",
    "Catalog",
    "CatalogError",
    "Choice",
    "LaunchFileError",
    "MissingArgument",
    "NoAdapter",
    "NoProgram",
    "Problem",
    "launch_json",
    "load",
    "start",
]
