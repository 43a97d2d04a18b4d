"""Launch configurations as VS Code keeps them in `.vscode/launch.json`."""

from dapkit.catalog.launch_json.file import Compound, Configuration, LaunchFile, Plan, find, read
from dapkit.catalog.launch_json.inputs import Input

__all__ = ["Compound", "Configuration", "Input", "LaunchFile", "Plan", "find", "read"]
