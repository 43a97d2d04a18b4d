"""`python -m dapkit.python`: the debug adapter for Python."""

from dapkit import import_path  # noqa: F401 - before anything else is imported

# isort: split
from dapkit.adapter import run
from dapkit.python.adapter import PythonAdapter

if __name__ == "__main__":
    run(PythonAdapter, program="python -m dapkit.python", distribution="dapkit")
