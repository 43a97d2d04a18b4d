"""The half of the Python debugger that talks to the client: starts, attends and ends programs."""

from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch
from dapkit.python.adapter.session.adapter import PythonAdapter

__all__ = ["PythonAdapter", "PythonAttach", "PythonLaunch"]
