"""Launch configurations as VS Code keeps them in `.vscode/launch.json`."""

from dapkit.catalog.launch_json.file import Compound, Configuration, LaunchFile, Plan, find, read

__all__ = ["Compound", "Configuration", "LaunchFile", "Plan", "find", "read"]
