"""`python -m dapkit.python`: the debug adapter for Python."""

import anyio

from dapkit.adapter import serve
from dapkit.python.adapter import PythonAdapter

if __name__ == "__main__":
    anyio.run(serve, PythonAdapter)
