"""Which debug adapters there are, which one fits, and how it is started."""

from dapkit.catalog import launch_json
from dapkit.catalog.catalog import Catalog, load
from dapkit.catalog.choice import Choice
from dapkit.catalog.definition import AdapterDefinition, Traits
from dapkit.catalog.doctor import Checkup, doctor, render_doctor
from dapkit.catalog.errors import CatalogError, Incapable, LaunchFileError, MissingArgument, NoAdapter, NoProgram
from dapkit.catalog.files import DefinitionProblem
from dapkit.catalog.preparation import with_commands, with_sources_mapped
from dapkit.catalog.route import route_to
from dapkit.catalog.states import AdapterState, Explanation, render_states, render_why, states, why

__all__ = [
    "AdapterDefinition",
    "AdapterState",
    "Catalog",
    "CatalogError",
    "Checkup",
    "Choice",
    "DefinitionProblem",
    "Explanation",
    "Incapable",
    "LaunchFileError",
    "MissingArgument",
    "NoAdapter",
    "NoProgram",
    "Traits",
    "doctor",
    "launch_json",
    "load",
    "render_doctor",
    "render_states",
    "render_why",
    "route_to",
    "states",
    "why",
    "with_commands",
    "with_sources_mapped",
]
