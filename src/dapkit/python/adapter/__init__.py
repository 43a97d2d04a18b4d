"""The half of the Python debugger that talks to the client: starts, attends and ends programs."""

from dapkit.python.adapter.adapter import PythonAdapter
from dapkit.python.adapter.arguments import PythonAttach, PythonLaunch

__all__ = ["PythonAdapter", "PythonAttach", "PythonLaunch"]
