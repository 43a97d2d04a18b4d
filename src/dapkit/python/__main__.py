"""`python -m dapkit.python`: the debug adapter for Python."""

from dapkit.system import safe_import_path  # noqa: F401 - before anything else is imported

# isort: split
import os

from dapkit.system.gc_freeze import frozen_imports, import_when_used, postpone_ssl

if __name__ == "__main__":
    import_when_used()
    with frozen_imports():
        postpone_ssl()
        from dapkit.adapter import run
        from dapkit.system.platform_support import end_if_unsupported
        from dapkit.transport.group_reaper import MARK

        end_if_unsupported(2)
        from dapkit.python.adapter import PythonAdapter  # which needs Linux already to be imported

    os.environ.pop(MARK, None)  # of dapkit alone: a program's children are ended by its parent process
    run(PythonAdapter, program="python -m dapkit.python", distribution="dapkit")
